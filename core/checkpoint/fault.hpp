#pragma once
/// What is wrong with a checkpoint: which record, which field, at which byte, what was expected and what was found.

#include <cstdint>

namespace thimble {

enum class FaultKind : std::uint8_t {
  none,
  read_failed,          ///< the source gave no bytes
  write_failed,         ///< the sink took no bytes
  truncated,            ///< the bytes end inside a record or before the commit
  bad_length,           ///< a length that does not fit what it counts
  bad_message,          ///< not a protobuf message of the schema
  bad_order,            ///< a record or field where another must stand
  bad_crc,              ///< the bytes are not those that were written
  bad_digest,           ///< the numbers are not those that were written
  bad_value,            ///< a field's value is outside its range
  unsupported_format,   ///< written by a later version
  differs,              ///< a whole checkpoint, but of another model, profile or number type
  trailing_bytes,       ///< something follows the commit
  no_checkpoint,        ///< a store without one
};

/// A fault, or none. Texts are literals.
struct Fault {
  FaultKind kind = FaultKind::none;
  const char* field = "";        ///< as in the schema: "header.format_version"
  std::uint32_t record = 0;      ///< counted from 0
  std::uint64_t offset = 0;      ///< bytes from the start of the checkpoint
  std::uint64_t expected = 0;
  std::uint64_t found = 0;

  constexpr explicit operator bool() const { return kind != FaultKind::none; }
};

/// A short English text.
constexpr const char* text_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::none: return "no fault";
    case FaultKind::read_failed: return "could not be read";
    case FaultKind::write_failed: return "could not be written";
    case FaultKind::truncated: return "ends too early";
    case FaultKind::bad_length: return "has a length that does not fit";
    case FaultKind::bad_message: return "is not a message of the schema";
    case FaultKind::bad_order: return "stands where another must stand";
    case FaultKind::bad_crc: return "has damaged bytes (CRC-32C)";
    case FaultKind::bad_digest: return "has damaged numbers (digest)";
    case FaultKind::bad_value: return "has a value outside its range";
    case FaultKind::unsupported_format: return "is of a later format";
    case FaultKind::differs: return "is of another model or build";
    case FaultKind::trailing_bytes: return "is followed by other bytes";
    case FaultKind::no_checkpoint: return "holds no checkpoint";
  }
  return "unknown fault";
}

}  // namespace thimble
