#include "tools/tokenizer/number_tokenizers.hpp"

#include <sstream>

#include "tools/files/error.hpp"

namespace thimble {

namespace {

template <class Number>
std::vector<Number> numbers_in(std::string_view prompt) {
  std::istringstream in{std::string(prompt)};
  std::vector<Number> numbers;
  for (std::string word; in >> word;) {
    std::istringstream one(word);
    Number n;
    if (!(one >> n) || !one.eof()) {
      throw Error("--prompt", in_quotes(word) + " is not a number", "this model reads numbers, separated by spaces");
    }
    numbers.push_back(n);
  }
  return numbers;
}

}  // namespace

std::vector<std::int32_t> BinTokenizer::encode(std::string_view prompt) const {
  return bins_.encode(numbers_in<double>(prompt));
}

std::string BinTokenizer::decode(std::span<const std::int32_t> tokens) const {
  std::ostringstream out;
  for (std::int32_t t : tokens) out << bins_.decode(t) << "\n";
  return out.str();
}

std::vector<std::int32_t> IdTokenizer::encode(std::string_view prompt) const {
  const auto ids = numbers_in<std::int32_t>(prompt);
  for (const std::int32_t id : ids) {
    if (id < 0 || std::size_t(id) >= vocabulary_) {
      throw Error("--prompt", "id " + std::to_string(id) + " is not from 0 to " + std::to_string(vocabulary_ - 1));
    }
  }
  return ids;
}

std::string IdTokenizer::decode(std::span<const std::int32_t> tokens) const {
  std::ostringstream out;
  for (std::int32_t t : tokens) out << t << " ";
  return out.str();
}

}  // namespace thimble
