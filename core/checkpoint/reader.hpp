#pragma once
/// Reads a checkpoint from first to last byte and takes nothing on trust: lengths, order, CRC-32C, digests and the
/// commit's chain are all checked. Holds 512 bytes, whatever the sizes in the file.

#include "core/base/digest.hpp"
#include "core/checkpoint/bytes.hpp"
#include "core/checkpoint/entry.hpp"
#include "core/checkpoint/fault.hpp"

namespace thimble {

/// Where the bytes of a value stand in the checkpoint.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// What a reader of checkpoints wants to know of them. A fault that it returns ends the reading. Only `field`,
/// `kind`, `expected` and `found` of such a fault need be set.
class CheckpointHandler {
 public:
  virtual Fault header(const CheckpointHeader&) { return {}; }
  virtual Fault metadata(std::string_view /*key*/, const ByteRange& /*value*/) { return {}; }
  /// May set `to` (room for entry.bytes(), aligned for the numbers) to be given the data. The data's digest and the
  /// record's CRC are checked only after it is there.
  virtual Fault tensor(const TensorEntry&, const ByteRange& /*data*/, std::byte*& /*to*/) { return {}; }
  virtual Fault commit(const CheckpointCommit&) { return {}; }
  /// Everything is there and right.
  virtual void whole(std::uint64_t /*byte_count*/) {}

 protected:
  ~CheckpointHandler() = default;
};

/// Does a file end with the checkpoint, or may other bytes follow (a flash slot)?
enum class AfterCommit : std::uint8_t { end, anything };

/// Reads all records; the first fault, or none. `handler` sees each record's content before its CRC is checked.
Fault read_checkpoint(const ByteSource& source, CheckpointHandler& handler, AfterCommit after = AfterCommit::end);

}  // namespace thimble
