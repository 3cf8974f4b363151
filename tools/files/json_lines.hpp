// A log of one JSON object a line, safe to read while it grows and after a crash.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace thimble {

/// Appends to `path`, creating it where missing. Each line reaches the system in one write, so an interrupted
/// program loses no finished line. Where an earlier program was cut in the middle of a line, the log goes on
/// with a new line.
class JsonLinesWriter {
 public:
  explicit JsonLinesWriter(const std::filesystem::path& path);
  ~JsonLinesWriter();
  JsonLinesWriter(const JsonLinesWriter&) = delete;
  JsonLinesWriter& operator=(const JsonLinesWriter&) = delete;

  /// Writes one line, fields in the order they were given. Bytes that are not UTF-8 become the replacement
  /// character; a non-finite number becomes null.
  void write(const nlohmann::ordered_json& value);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace thimble
