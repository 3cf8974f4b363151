#pragma once
/// A tensor as a checkpoint holds it.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/name.hpp"
#include "core/checkpoint/checkpoint.pb.h"
#include "core/tape/shape.hpp"

namespace thimble {

using CheckpointHeader = thimble_checkpoint_Header;
using CheckpointCommit = thimble_checkpoint_Commit;
using TensorRole = thimble_checkpoint_Role;
using NumberType = thimble_checkpoint_NumberType;

inline constexpr std::uint32_t kFormatVersion = 1;

/// Messages in the file, by their number in `Record.content`.
enum class RecordKind : std::uint32_t { header = 1, metadata = 2, tensor = 3, commit = 4 };

/// The number of Record.crc32c.
inline constexpr std::uint32_t kCrcFieldNumber = 15;

/// Name, role and sizes of a tensor.
struct TensorEntry {
  std::string_view name;
  TensorRole role = thimble_checkpoint_Role_ROLE_UNSPECIFIED;
  NumberType type = thimble_checkpoint_NumberType_NUMBER_TYPE_UNSPECIFIED;
  std::uint8_t rank = 0;
  std::uint32_t sizes[2] = {};

  constexpr std::uint64_t count() const {
    return std::uint64_t(rank > 0 ? sizes[0] : 1) * (rank > 1 ? sizes[1] : 1);
  }
  constexpr std::uint64_t bytes() const {
    return count() * (type == thimble_checkpoint_NumberType_NUMBER_TYPE_F64 ? 8 : 4);
  }
};

template <class real>
inline constexpr NumberType kNumberTypeOf = sizeof(real) == 8 ? thimble_checkpoint_NumberType_NUMBER_TYPE_F64
                                                              : thimble_checkpoint_NumberType_NUMBER_TYPE_F32;

/// The entry of a parameter in one of its roles.
constexpr TensorEntry entry_of(const Name& name, const Shape& shape, TensorRole role, NumberType type) {
  TensorEntry e{name.view(), role, type, shape.rank, {}};
  if (shape.rank == 1) e.sizes[0] = std::uint32_t(shape.cols);
  if (shape.rank == 2) e.sizes[0] = std::uint32_t(shape.fixed_rows), e.sizes[1] = std::uint32_t(shape.cols);
  return e;
}

}  // namespace thimble
