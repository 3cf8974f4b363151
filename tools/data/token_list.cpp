#include "tools/data/token_list.hpp"

#include <nlohmann/json.hpp>

#include "tools/data/window.hpp"
#include "tools/files/error.hpp"
#include "tools/files/json_text.hpp"
#include "tools/files/text_file.hpp"

namespace thimble {
namespace {

/// Takes the parser's events one by one: no tree is built, however large or deep the file.
class TokenReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  TokenReader(std::size_t vocabulary, std::size_t context, const std::string& where)
      : vocabulary_(vocabulary), context_(context), where_(where) {}

  TokenList take() {
    if (!found_) throw Error(where_, "has no field \"tokens\" and is not a list of steps");
    return std::move(list_);
  }

  bool null() override { return other("null"); }
  bool boolean(bool) override { return other("a boolean"); }
  bool string(string_t& value) override { return other("the text " + in_quotes(value)); }
  bool binary(binary_t&) override { return other("binary data"); }
  bool number_float(number_float_t, const string_t& text) override { return other("the number " + text); }

  bool number_integer(number_integer_t value) override {
    if (!in_row()) return other("the number " + std::to_string(value));
    if (value != kIgnoredTarget) refuse_id(std::to_string(value));
    list_.ids.push_back(kIgnoredTarget);
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (!in_row()) return other("the number " + std::to_string(value));
    if (value >= vocabulary_) refuse_id(std::to_string(value));
    list_.ids.push_back(static_cast<std::int32_t>(value));
    return true;
  }

  bool start_object(std::size_t) override {
    if (!started_) {
      started_ = in_object_ = true;
      return true;
    }
    if (!skipping()) other("an object");
    ++skipped_depth_;
    return true;
  }

  bool key(string_t& value) override {
    if (skipped_depth_ > 0) return true;
    is_tokens_ = value == "tokens";
    if (is_tokens_ && found_) throw Error(where_, "has the field \"tokens\" twice");
    return true;
  }

  bool end_object() override {
    if (skipped_depth_ > 0) --skipped_depth_;
    return true;
  }

  bool start_array(std::size_t) override {
    started_ = true;
    if (skipping()) {
      ++skipped_depth_;
      return true;
    }
    if (depth_ == 3) other("a list");
    found_ = true;
    ++depth_;
    if (depth_ == 2) rows_in_step_ = 0;
    if (depth_ == 3) row_begin_ = list_.ids.size();
    return true;
  }

  bool end_array() override {
    if (skipping()) {
      --skipped_depth_;
      return true;
    }
    if (depth_ == 3) finish_row();
    if (depth_ == 2) finish_step();
    if (depth_ == 1 && list_.step_count == 0) throw Error(where_, "the list of steps is empty");
    --depth_;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    throw Error(where_, "bad JSON: " + detail::json_reason(error.what()));
  }

 private:
  /// Inside a field that is not looked at.
  bool skipping() const { return skipped_depth_ > 0 || (in_object_ && !is_tokens_); }

  bool in_row() const { return depth_ == 3 && !skipping(); }

  /// "tokens[3][0][5]", as deep as the reader stands.
  std::string place() const {
    std::string text = "tokens";
    if (depth_ >= 1) text += "[" + std::to_string(list_.step_count) + "]";
    if (depth_ >= 2) text += "[" + std::to_string(rows_in_step_) + "]";
    if (depth_ >= 3) text += "[" + std::to_string(list_.ids.size() - row_begin_) + "]";
    return text;
  }

  /// Anything but what belongs here: skipped in other fields, refused among tokens.
  bool other(const std::string& found) {
    if (skipping()) return true;
    if (!started_) throw Error(where_, "is " + found + ", not a list of steps");
    constexpr const char* kExpected[] = {"a list of steps", "a list of rows", "a row of ids", "an integer"};
    throw Error(where_, place() + " is " + found + ", but should be " + kExpected[depth_],
                "the form is [step][row][T + 1]");
  }

  [[noreturn]] void refuse_id(const std::string& id) const {
    throw Error(where_, place() + " is " + id + ", but the model's ids are 0 to " +
                            std::to_string(vocabulary_ - 1) + " (and -1 for an ignored target)");
  }

  void finish_row() {
    const std::size_t length = list_.ids.size() - row_begin_;
    const std::string row =
        "tokens[" + std::to_string(list_.step_count) + "][" + std::to_string(rows_in_step_) + "]";
    if (length < 2) {
      throw Error(where_,
                  row + " has " + std::to_string(length) + " ids; the least is 2, an input and its target");
    }
    if (length - 1 > context_) {
      throw Error(where_, row + " has " + std::to_string(length) + " ids, but the model's context of " +
                              std::to_string(context_) + " allows " + std::to_string(context_ + 1));
    }
    if (list_.window_length == 0) list_.window_length = length;
    if (length != list_.window_length) {
      throw Error(where_, row + " has " + std::to_string(length) + " ids, but the rows before it have " +
                              std::to_string(list_.window_length));
    }
    for (std::size_t i = 0; i < length; ++i) {
      if (list_.ids[row_begin_ + i] != kIgnoredTarget) continue;
      const bool is_input = i == 0 || (i + 1 < length && list_.ids[row_begin_ + i + 1] != kIgnoredTarget);
      if (!is_input) continue;
      throw Error(where_, row + "[" + std::to_string(i) + "] is -1, but as an input it must be a token",
                  "-1, an ignored target, may only fill the end of a row");
    }
    ++rows_in_step_;
  }

  void finish_step() {
    const std::string step = "tokens[" + std::to_string(list_.step_count) + "]";
    if (rows_in_step_ == 0) throw Error(where_, step + " has no rows");
    if (list_.row_count == 0) list_.row_count = rows_in_step_;
    if (rows_in_step_ != list_.row_count) {
      throw Error(where_, step + " has " + std::to_string(rows_in_step_) +
                              " rows, but the steps before it have " + std::to_string(list_.row_count));
    }
    ++list_.step_count;
  }

  std::size_t vocabulary_;
  std::size_t context_;
  std::string where_;
  TokenList list_;
  bool started_ = false;    // the outermost value has begun
  bool in_object_ = false;  // and is an object
  bool is_tokens_ = false;  // whose current field is "tokens"
  bool found_ = false;
  std::size_t skipped_depth_ = 0;
  std::size_t depth_ = 0;  // 1: in the list of steps, 2: in a step, 3: in a row
  std::size_t rows_in_step_ = 0;
  std::size_t row_begin_ = 0;
};

}  // namespace

TokenList parse_token_list(std::string_view text, std::size_t vocabulary, std::size_t context,
                           const std::string& where) {
  detail::refuse_zero_byte(text, where);
  TokenReader reader(vocabulary, context, where);
  nlohmann::json::sax_parse(text, &reader);
  return reader.take();
}

TokenList read_token_list(const std::filesystem::path& path, std::size_t vocabulary, std::size_t context) {
  return parse_token_list(read_file(path), vocabulary, context, path.string());
}

}  // namespace thimble
