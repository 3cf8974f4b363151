#include "tools/checkpoint/fault_error.hpp"

#include <cinttypes>
#include <cstdio>

namespace thimble {

namespace {

/// Sums and hashes are read as hexadecimal numbers, everything else as decimal ones.
std::string number_text(const Fault& fault, std::uint64_t x) {
  const std::string field = fault.field;
  const bool is_hash = fault.kind == FaultKind::bad_crc || fault.kind == FaultKind::bad_digest ||
                       field.ends_with("_hash") || field == "header.model";
  char text[24];
  std::snprintf(text, sizeof text, is_hash ? "0x%" PRIx64 : "%" PRIu64, x);
  return text;
}

std::string advice_for(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::differs:
      return "it belongs to another model, number type or profile; thimble inspect shows what it is";
    case FaultKind::unsupported_format: return "read it with the version of thimble that wrote it, or a later one";
    case FaultKind::write_failed:
    case FaultKind::read_failed:
    case FaultKind::none: return "";
    default: return "the file is damaged; take an earlier checkpoint";
  }
}

}  // namespace

void throw_fault(const Fault& fault, const std::string& file) {
  std::string problem = std::string(fault.field) + " " + text_of(fault.kind);
  if (fault.expected != fault.found) {
    problem += " (expected " + number_text(fault, fault.expected) + ", found " + number_text(fault, fault.found) + ")";
  }
  const std::string where =
      file + ", record " + std::to_string(fault.record) + ", byte " + std::to_string(fault.offset);
  const bool whole = fault.kind == FaultKind::differs || fault.kind == FaultKind::unsupported_format ||
                     fault.kind == FaultKind::write_failed;
  if (whole) throw Error(where, problem, advice_for(fault));
  throw DamagedCheckpoint(where, problem, advice_for(fault));
}

}  // namespace thimble
