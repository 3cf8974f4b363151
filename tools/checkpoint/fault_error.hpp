#pragma once
/// A checkpoint's fault in words.

#include <string>

#include "core/checkpoint/fault.hpp"
#include "tools/files/error.hpp"

namespace thimble {

/// A checkpoint whose bytes are not whole and right: an earlier one may be.
class DamagedCheckpoint : public Error {
 public:
  using Error::Error;
};

/// Throws an Error, or a DamagedCheckpoint: "runs/a.thimble, record 3, byte 1040: tensor.data has damaged bytes ..., expected 0x1, found 0x2".
[[noreturn]] void throw_fault(const Fault& fault, const std::string& file);

}  // namespace thimble
