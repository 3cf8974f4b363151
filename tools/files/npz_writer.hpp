// Writing NumPy's .npz: an uncompressed zip archive of .npy arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tools/files/atomic_file.hpp"
#include "tools/files/stored_tensor.hpp"

namespace thimble {

/// When to write the 64-bit fields. They are needed from 4 GiB or 65535 arrays on, and legal always.
enum class Zip64 : std::uint8_t { kWhereNeeded, kAlways };

/// Writes one array a call and holds none. Until `commit` returns nothing changes under the final name;
/// without it nothing is left behind. The same arrays give the same bytes, as no time is written. The data of
/// every array begin at a multiple of 64 bytes in the file.
///
///     NpzWriter writer("model.npz");
///     writer.append("wte.weight", StoredType::kF32, shape, std::as_bytes(weights));
///     writer.commit();
///
/// Broken calls (a repeated or empty name, a type other than F32 and F64, bytes that do not fill the shape)
/// are `std::logic_error`; what the disk refuses is `Error`.
class NpzWriter {
 public:
  explicit NpzWriter(const std::filesystem::path& path, Zip64 zip64 = Zip64::kWhereNeeded);

  /// Adds the array NAME.npy: row-major, little-endian `bytes`.
  void append(const std::string& name, StoredType type, std::span<const std::uint64_t> shape,
              std::span<const std::byte> bytes);

  /// Writes the archive's directory and puts the file in place. Call once, last.
  void commit();

 private:
  struct Member {
    std::string name;
    std::uint32_t crc;
    std::uint64_t byte_count;
    std::uint64_t offset;
  };

  bool in_64_bits(std::uint64_t value) const;
  std::string local_header(const Member& member) const;
  std::string central_header(const Member& member) const;
  std::string end_records(std::uint64_t directory_offset, std::uint64_t directory_bytes) const;
  void write(std::span<const std::byte> bytes);

  AtomicFile file_;
  Zip64 zip64_;
  std::uint64_t position_ = 0;
  std::vector<Member> members_;
  std::set<std::string> names_;
};

}  // namespace thimble
