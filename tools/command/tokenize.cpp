/// thimble tokenize: standard input as GPT-2's tokens, and back.

#include <charconv>
#include <iostream>
#include <iterator>

#include "tools/command/common.hpp"
#include "tools/tokenizer/bpe_tokenizer.hpp"

namespace thimble {

namespace {

struct TokenizeFlags {
  std::string tokenizer;
  bool decode = false;
  bool json = false;
  bool lines = false;
  bool zero = false;
  bool ordinary = false;
};

/// The documents of the input: all of it, or its lines, or the stretches that a zero byte ends.
std::vector<std::string_view> documents_of(std::string_view text, const TokenizeFlags& flags) {
  if (!flags.lines && !flags.zero) return {text};
  const char end = flags.zero ? '\0' : '\n';
  std::vector<std::string_view> documents;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(end), text.size());
    documents.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return documents;
}

std::vector<std::int32_t> ids_in(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  std::vector<std::int32_t> ids;
  for (std::size_t at = text.find_first_not_of(kSpaces); at < text.size(); at = text.find_first_not_of(kSpaces, at)) {
    const std::string_view word = text.substr(at, text.find_first_of(kSpaces, at) - at);
    std::int32_t id = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), id);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size()) {
      throw Error("standard input", in_quotes(word) + " is not a token id", "ids are numbers separated by spaces");
    }
    ids.push_back(id);
    at += word.size();
  }
  return ids;
}

void write(const std::string& text) { std::cout.write(text.data(), std::streamsize(text.size())); }

std::string line_of(const std::vector<std::int32_t>& ids) {
  std::string line;
  for (const std::int32_t id : ids) line += (line.empty() ? "" : " ") + std::to_string(id);
  return line + "\n";
}

void run(const TokenizeFlags& flags) {
  const BpeTokenizer tokenizer(load_bpe(flags.tokenizer));
  const std::string input{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  Json results = Json::array();
  std::size_t tokens = 0;
  const auto documents = flags.decode && flags.zero ? documents_of(input, {.lines = true}) : documents_of(input, flags);
  for (const std::string_view document : documents) {
    const std::vector<std::int32_t> ids = flags.decode     ? ids_in(document)
                                          : flags.ordinary ? tokenizer.encode_ordinary(document)
                                                           : tokenizer.encode(document);
    tokens += ids.size();
    if (flags.decode) {
      std::string text = tokenizer.decode(ids);
      if (flags.json) {
        results.push_back(std::move(text));
      } else {
        write(flags.zero ? text + '\0' : flags.lines ? text + '\n' : text);
      }
    } else if (flags.json) {
      results.push_back(ids);
    } else {
      write(line_of(ids));
    }
  }
  if (!flags.json) return;
  const Json result{{flags.decode ? "texts" : "ids", std::move(results)},
                    {"tokens", tokens},
                    {"id_count", tokenizer.id_count()}};
  // Tokens may end inside a character; JSON holds the replacement character there.
  std::cout << result.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace

void add_tokenize_command(CLI::App& app) {
  const auto flags = std::make_shared<TokenizeFlags>();
  CLI::App* const c = app.add_subcommand("tokenize", "Turn standard input into GPT-2's tokens, or back");
  c->add_option("--tokenizer", flags->tokenizer,
                "A folder with tokenizer.json, or vocab.json and merges.txt, or one of these files")
      ->required();
  c->add_flag("--decode", flags->decode, "From ids (numbers separated by spaces) to text");
  auto* const lines = c->add_flag("--lines", flags->lines, "Each line is a document of its own");
  c->add_flag("-0,--zero", flags->zero, "Each document is ended by a zero byte; ids still stand one document a line")
      ->excludes(lines);
  c->add_flag("--ordinary", flags->ordinary, "Special tokens such as <|endoftext|> are read as any other text");
  c->add_flag("--json", flags->json, "One JSON object on standard output");
  c->callback([flags] { run(*flags); });
}

}  // namespace thimble
