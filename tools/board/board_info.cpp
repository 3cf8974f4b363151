#include "tools/board/board_info.hpp"

#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/files/error.hpp"

namespace thimble {

namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

BoardInfo info_of(const nlohmann::json& j) {
  BoardInfo b;
  b.name = j.at("name");
  b.part = j.at("part");
  b.family = j.at("family");
  b.profile = j.at("profile") == "separate" ? Profile::separate : Profile::fused;
  b.qemu = words_of(j.at("qemu"));
  b.ram_bytes = j.at("ram_bytes");
  b.second_ram_bytes = j.at("second_ram_bytes");
  b.stack_bytes = j.at("stack_bytes");
  b.reserve_bytes = j.at("reserve_bytes");
  b.flash_bytes = j.at("flash_bytes");
  b.code_bytes = j.at("code_bytes");
  b.qemu_flash_bytes = j.at("qemu_flash_bytes");
  const auto& blocks = j.at("checkpoint_blocks");
  b.checkpoint_flash = {blocks.at(0), blocks.at(1), blocks.at(2)};
  return b;
}

}  // namespace

const std::vector<BoardInfo>& all_boards() {
  static const std::vector<BoardInfo> boards = [] {
    std::vector<BoardInfo> list;
    for (const auto& j : nlohmann::json::parse(kBoardFacts)) list.push_back(info_of(j));
    return list;
  }();
  return boards;
}

const BoardInfo& find_board(const std::string& name) {
  std::string names;
  for (const BoardInfo& b : all_boards()) {
    if (b.name == name) return b;
    names += (names.empty() ? "" : ", ") + b.name;
  }
  throw Error("board", "there is no board " + in_quotes(name), "there are: " + names);
}

}  // namespace thimble
