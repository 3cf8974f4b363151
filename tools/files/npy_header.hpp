// The header of a NumPy .npy file: magic, version, a Python dictionary of descr, fortran_order and shape.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/files/stored_tensor.hpp"

namespace thimble::detail {

struct NpyHeader {
  StoredType type = StoredType::kF32;
  std::vector<std::uint64_t> shape;
  std::size_t data_begin = 0;  // from the start of the .npy file
};

/// Reads versions 1.0, 2.0 and 3.0. `Error` at `where` for anything but little-endian F16, F32 or F64 in C
/// order, and for a dictionary that has not exactly the three keys.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& where);

/// A header of version 1.0 for F32 or F64, padded with spaces to a multiple of 64 bytes.
std::string npy_header_text(StoredType type, std::span<const std::uint64_t> shape);

}  // namespace thimble::detail
