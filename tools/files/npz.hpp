#pragma once
/// Reading NumPy's .npz: a zip archive of .npy arrays, stored (numpy.savez) or deflated
/// (numpy.savez_compressed).

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/files/tensor_file.hpp"

namespace thimble {

/// An open .npz file. The constructor throws `Error` unless the whole archive is well-formed: one directory
/// that fills its place, members that do not overlap and match their CRC-32, every one NAME.npy with a
/// different NAME, each a C-ordered little-endian array of float16, float32 or float64 whose bytes are shape
/// times type. Tensors of stored members lie in the file; deflated ones are held in memory.
class NpzFile : public TensorFile {
 public:
  explicit NpzFile(const std::filesystem::path& path);

  /// The same from memory, which must outlive the object. `where` stands in messages as a path would.
  static NpzFile from_bytes(std::span<const std::byte> bytes, const std::filesystem::path& where);

 private:
  NpzFile(std::span<const std::byte> bytes, const std::filesystem::path& where);

  std::vector<std::vector<std::byte>> owned_;  // inflated members
};

}  // namespace thimble
