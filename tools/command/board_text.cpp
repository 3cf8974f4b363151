#include "tools/command/board_text.hpp"

#include "tools/data/documents.hpp"

namespace thimble {

std::unique_ptr<DataSource> open_board_text(const BoardFlags& flags, const std::string& file, std::uint64_t seed) {
  const Model& m = find_model(flags.model);
  DataChoice choice;
  choice.in_order = flags.text.empty();
  (choice.in_order ? choice.documents : choice.text) = file;
  return open_data(choice, m, m.extent, seed);
}

std::optional<Symbols> board_symbols(const BoardFlags& f) {
  const Model& m = find_model(f.model);
  if (!m.takes_tokens()) throw Error("board", m.name + " takes no tokens: it is there for grad and gradcheck", "");
  const std::string& file = f.text.empty() ? f.documents : f.text;
  if (!file.empty()) return Symbols::from_json(open_board_text(f, file, 0)->metadata().at("tokenizer"), file);
  if (!f.serial.empty()) return std::nullopt;
  return Documents(kGeneratedNames, std::size_t(m.extent.context), std::size_t(m.vocabulary()), "the generated names")
      .symbols();
}

}  // namespace thimble
