#include "tools/files/safetensors_header.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "tools/files/error.hpp"
#include "tools/files/json_text.hpp"

namespace thimble::detail {
namespace {

std::string offsets_text(const HeaderEntry& entry) {
  return shape_text(entry.offsets);
}

/// Takes the parser's events straight into the header, so that a hostile nesting or size never becomes a
/// tree.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::string& where) : where_(where) {}
  Header take() { return std::move(header_); }

  bool null() override { refuse("null"); }
  bool boolean(bool) override { refuse("a boolean"); }
  bool number_integer(number_integer_t value) override {
    refuse("the negative number " + std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& text) override { refuse("the number " + text); }
  bool binary(binary_t&) override { refuse("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::kShape) {
      entry_.shape.push_back(value);
    } else if (place_ == Place::kOffsets) {
      if (offset_count_ == 2) fail("has more than two data_offsets");
      entry_.offsets[offset_count_++] = value;
    } else {
      refuse("the number " + std::to_string(value));
    }
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::kMetadata) {
      header_.metadata[key_] = value;
    } else if (place_ == Place::kTensor && key_ == "dtype") {
      set_type(value);
    } else {
      refuse("the text " + in_quotes(value));
    }
    return true;
  }

  bool key(string_t& value) override {
    if (place_ == Place::kTensor) {
      if (value != "dtype" && value != "shape" && value != "data_offsets") {
        fail("has the unknown field " + in_quotes(value));
      }
      if (!fields_.insert(value).second) fail("has the field " + in_quotes(value) + " twice");
    } else if (place_ == Place::kMetadata) {
      if (header_.metadata.contains(value))
        throw Error(where_, "__metadata__ has " + in_quotes(value) + " twice");
    } else if (!names_.insert(value).second) {
      throw Error(where_, "the header has the name " + in_quotes(value) + " twice");
    }
    key_ = value;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::kOutside) {
      place_ = Place::kRoot;
    } else if (place_ == Place::kRoot && key_ == "__metadata__") {
      place_ = Place::kMetadata;
    } else if (place_ == Place::kRoot) {
      place_ = Place::kTensor;
      entry_ = HeaderEntry{};
      entry_.name = key_;
      fields_.clear();
      offset_count_ = 0;
    } else {
      refuse("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kTensor) finish_tensor();
    place_ = place_ == Place::kRoot ? Place::kOutside : Place::kRoot;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::kTensor && key_ == "shape") {
      place_ = Place::kShape;
    } else if (place_ == Place::kTensor && key_ == "data_offsets") {
      place_ = Place::kOffsets;
    } else {
      refuse("an array");
    }
    return true;
  }

  bool end_array() override {
    place_ = Place::kTensor;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    throw Error(where_, "bad JSON: " + json_reason(error.what()));
  }

 private:
  enum class Place { kOutside, kRoot, kMetadata, kTensor, kShape, kOffsets };

  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(where_, "tensor " + in_quotes(entry_.name) + " " + problem);
  }

  [[noreturn]] void refuse(const std::string& found) const {
    switch (place_) {
      case Place::kOutside:
        throw Error(where_, "the header is " + found + ", not an object");
      case Place::kRoot:
        throw Error(where_, "header field " + in_quotes(key_) + " is " + found + ", not an object");
      case Place::kMetadata:
        throw Error(where_, "__metadata__ " + in_quotes(key_) + " is " + found + ", not a text");
      case Place::kTensor:
        fail("has " + found + " as " + key_);
      case Place::kShape:
        fail("has " + found + " in its shape");
      case Place::kOffsets:
        fail("has " + found + " in its data_offsets");
    }
    fail("has " + found);
  }

  void set_type(const std::string& name) {
    const std::optional<StoredType> type = stored_type_named(name);
    if (!type) {
      throw Error(where_, "tensor " + in_quotes(entry_.name) + " has the unknown dtype " + in_quotes(name),
                  did_you_mean(name, stored_type_names()));
    }
    entry_.type = *type;
  }

  void finish_tensor() {
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.contains(field)) fail(std::string("has no ") + field);
    }
    if (offset_count_ != 2) fail("has " + std::to_string(offset_count_) + " data_offsets instead of two");
    if (entry_.offsets[1] < entry_.offsets[0])
      fail("ends before it begins: data_offsets " + offsets_text(entry_));
    const std::string described =
        shape_text(entry_.shape) + " of " + std::string(stored_type_name(entry_.type));
    const std::optional<std::uint64_t> needed = stored_bytes(entry_.shape, entry_.type);
    if (!needed) fail("has the shape " + described + ", more bytes than 64 bits can count");
    const std::uint64_t given = entry_.offsets[1] - entry_.offsets[0];
    if (given != *needed) {
      fail("takes " + std::to_string(*needed) + " bytes (" + described + "), but its data_offsets " +
           offsets_text(entry_) + " hold " + std::to_string(given));
    }
    header_.entries.push_back(entry_);
  }

  std::string where_;
  Header header_;
  Place place_ = Place::kOutside;
  std::string key_;
  HeaderEntry entry_;
  std::size_t offset_count_ = 0;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> fields_;
};

}  // namespace

Header parse_header(std::string_view text, const std::string& where) {
  if (!text.starts_with('{'))
    throw Error(where, "the header does not begin with '{'; this is not safetensors");
  refuse_zero_byte(text, where);
  HeaderReader reader(where);
  nlohmann::json::sax_parse(text, &reader);
  return reader.take();
}

void check_coverage(const Header& header, std::uint64_t data_bytes, const std::string& where) {
  std::vector<const HeaderEntry*> order;
  for (const HeaderEntry& entry : header.entries) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(),
                   [](const HeaderEntry* a, const HeaderEntry* b) { return a->offsets < b->offsets; });
  std::uint64_t covered = 0;
  const HeaderEntry* before = nullptr;
  for (const HeaderEntry* entry : order) {
    const std::string named = "tensor " + in_quotes(entry->name) + " at data_offsets " + offsets_text(*entry);
    const std::string after =
        before == nullptr ? "the data begin at 0"
                          : "tensor " + in_quotes(before->name) + " ends at " + std::to_string(covered);
    if (entry->offsets[1] > data_bytes) {
      throw Error(where, named + " reaches past the end of the file, which holds " +
                             std::to_string(data_bytes) + " bytes of data");
    }
    if (entry->offsets[0] < covered) throw Error(where, named + " overlaps: " + after);
    if (entry->offsets[0] > covered) throw Error(where, named + " leaves a gap: " + after);
    covered = entry->offsets[1];
    before = entry;
  }
  if (covered != data_bytes) {
    throw Error(where, "the tensors end at byte " + std::to_string(covered) +
                           " of the data, but the file holds " + std::to_string(data_bytes) + " bytes");
  }
}

}  // namespace thimble::detail
