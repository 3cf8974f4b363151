#pragma once
/// A checkpoint as a file of tensors.

#include "core/checkpoint/entry.hpp"
#include "tools/files/tensor_file.hpp"

namespace thimble {

/// Opens a checkpoint and checks all of it; an Error says what is wrong and where. `tensors` are the weights; metadata
/// has the header's "model", "config" and "step" beside the notes.
class CheckpointFile : public TensorFile {
 public:
  explicit CheckpointFile(const std::filesystem::path& path);

  const CheckpointHeader& header() const { return header_; }
  std::uint64_t weights_digest() const { return weights_digest_; }
  /// Moments and gradients, named "first_moment of wte.weight" and so on.
  const std::vector<StoredTensor>& other_tensors() const { return other_tensors_; }

  /// Do these first bytes of a file look like a checkpoint's?
  static bool recognises(std::span<const std::byte> first_bytes);

 private:
  struct Contents;

  CheckpointHeader header_ = {};
  std::uint64_t weights_digest_ = 0;
  std::vector<StoredTensor> other_tensors_;
};

/// Checks all of a checkpoint in memory; its header. An Error names `where`.
CheckpointHeader checked_header(std::span<const std::byte> bytes, const std::string& where);

}  // namespace thimble
