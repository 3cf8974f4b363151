#include "tools/board/board_image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tools/board/programs.hpp"
#include "tools/files/error.hpp"
#include "tools/files/text_file.hpp"

namespace thimble {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostWordsOfCompiler = 4000;

template <class Header, class Section>
void add_sections(const std::string& file, const BoardInfo& board, const fs::path& where, ImageSize& size) {
  Header h;
  const auto read = [&](void* to, std::size_t offset, std::size_t count) {
    if (offset > file.size() || count > file.size() - offset) throw Error(where.string(), "is cut short", "build it again");
    std::memcpy(to, file.data() + offset, count);
  };
  read(&h, 0, sizeof(h));
  Section names;
  read(&names, h.e_shoff + std::size_t(h.e_shstrndx) * sizeof(Section), sizeof(Section));
  for (std::size_t i = 0; i < h.e_shnum; ++i) {
    Section s;
    read(&s, h.e_shoff + i * sizeof(Section), sizeof(Section));
    if ((s.sh_flags & SHF_ALLOC) == 0 || names.sh_offset + s.sh_name >= file.size()) continue;
    const std::string name = file.c_str() + names.sh_offset + s.sh_name;
    const bool second = board.second_ram_bytes > 0 && (name == ".stack" || name == ".second");
    if ((s.sh_flags & SHF_WRITE) != 0) (second ? size.second_ram_bytes : size.ram_bytes) += std::int64_t(s.sh_size);
    if (s.sh_type != SHT_NOBITS) size.flash_bytes += std::int64_t(s.sh_size);
  }
}

/// The end of what a build printed, from its first error on.
std::string first_error(const std::string& text) {
  std::size_t first = text.size();
  for (const char* const mark : {"CMake Error", "In instantiation of", "error:", "/ld: "}) {
    first = std::min(first, text.find(mark));
  }
  const std::size_t line = first == text.size() ? 0 : text.rfind('\n', first) + 1;
  return text.substr(line, kMostWordsOfCompiler);
}

/// How many bytes of flash the linker lacked; 0 where it was something else.
std::int64_t missing_flash(const std::string& text) {
  const std::string_view mark = "region `FLASH' overflowed by ";
  const std::size_t at = text.find(mark);
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + mark.size());
}

/// The file under a name that no build tool minds, whatever its own is.
fs::path staged(const fs::path& text, const fs::path& to) {
  const std::string bytes = read_file(text.string());
  if (!fs::exists(to) || read_file(to.string(), EmptyFile::kAllowed) != bytes) write_file(to, bytes);
  return to;
}

void require_sources() {
  if (fs::exists(fs::path(THIMBLE_SOURCE_DIR) / "ports" / "api")) return;
  throw Error("board", "images are built from thimble's sources, which are not at " THIMBLE_SOURCE_DIR " any more",
              "build the command again where they are");
}

/// The last configuration, so that nothing is done where it is the same.
std::string configuration(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += word + "\n";
  return text;
}

void run_or_throw(const std::vector<std::string>& command, const fs::path& log, const BoardInfo& board,
                  const ImageRequest& request) {
  if (run_program(command, log) == 0) return;
  const std::string what = request.model + " on " + board.name, printed = read_file(log.string());
  if (const std::int64_t missing = missing_flash(printed); missing > 0) {
    const std::string text =
        request.text.empty() ? "" : ", of which " + std::to_string(fs::file_size(request.text)) + " are the text";
    throw Error(what,
                "the image needs " + std::to_string(board.code_bytes + missing) + " bytes of flash" + text +
                    ", but there are " + std::to_string(board.code_bytes) + " beside the checkpoints",
                "give it a shorter text");
  }
  throw Error(what, "the image could not be built:\n" + first_error(printed), "all that was printed is in " + log.string());
}

}  // namespace

fs::path image_folder(const BoardInfo& board) {
  return fs::path(THIMBLE_SOURCE_DIR) / "build" / "boards" / board.name;
}

ImageSize image_size(const fs::path& elf, const BoardInfo& board) {
  const std::string file = read_file(elf.string());
  if (file.size() < EI_NIDENT || file.compare(0, SELFMAG, ELFMAG) != 0) throw Error(elf.string(), "is no ELF file", "");
  ImageSize size;
  if (file[EI_CLASS] == ELFCLASS64) {
    add_sections<Elf64_Ehdr, Elf64_Shdr>(file, board, elf, size);
  } else {
    add_sections<Elf32_Ehdr, Elf32_Shdr>(file, board, elf, size);
  }
  return size;
}

ImageArena image_arena(const Model& m, const BoardInfo& b, const RecomputeChoice& schedule) {
  PlanOptions o{m.extent, 1, int(sizeof(float)), m.training.optimizer.moments(), true,
                allows_fused_update(m.training.optimizer)};
  ImageArena arena;
  for (const std::int64_t second : {std::int64_t(0), b.second_budget_bytes()}) {
    o.second_region_bytes = second;
    RegionUse most[2];
    for (const ProgramKind kind : {ProgramKind::train, ProgramKind::evaluate, ProgramKind::decode}) {
      const PlanData plan = m.plan(kind, schedule, o);
      for (int r = 0; r < 2; ++r) {
        most[r] = {plan.region[r].persistent_bytes, std::max(most[r].transient_bytes, plan.region[r].transient_bytes)};
        arena.bytes[r] = most[r].persistent_bytes + most[r].transient_bytes;
      }
    }
    arena.missing_bytes = std::max<std::int64_t>(0, arena.bytes[0] - b.model_budget_bytes());
    if (arena.fits()) break;
  }
  return arena;
}

BoardImage build_image(const BoardInfo& board, const ImageRequest& request) {
  require_sources();
  for (const char* const program : {"cmake", "ninja"}) require_program(program);
  require_program(board.family == "riscv" ? "riscv64-unknown-elf-g++" : "arm-none-eabi-g++");
  const fs::path source = THIMBLE_SOURCE_DIR, folder = image_folder(board);
  fs::create_directories(folder);
  const fs::path text = request.text.empty() ? fs::path() : fs::absolute(request.text);
  if (!text.empty() && !fs::is_regular_file(text)) throw Error(text.string(), "is no file", "");
  const fs::path log = folder / (request.model + ".log"), stamp = folder / "configured";
  fs::remove(log);
  const fs::path data = text.empty() ? fs::path() : staged(text, folder / "text");
  const std::vector<std::string> configure = {
      "cmake", "-S", source.string(), "-B", folder.string(), "-G", "Ninja",
      "--toolchain", (source / "tools/cmake/boards" / (board.family + ".cmake")).string(),
      "-DTHIMBLE_BOARD=" + board.name, "-DTHIMBLE_BOARD_MODELS=" + request.model,
      "-DTHIMBLE_BOARD_DATA=" + data.string(),
      std::string("-DTHIMBLE_BOARD_DOCUMENTS=") + (request.documents ? "ON" : "OFF"),
      "-DTHIMBLE_BOARD_RECOMPUTE=" + request.recompute,
      std::string("-DTHIMBLE_BOARD_FUSE_UPDATE=") + (request.fuse_update ? "ON" : "OFF")};
  const bool same = fs::exists(stamp) && read_file(stamp.string()) == configuration(configure);
  if (!same) {
    fs::remove(stamp);
    run_or_throw(configure, log, board, request);
    std::ofstream(stamp) << configuration(configure);
  }
  run_or_throw({"cmake", "--build", folder.string(), "--target", request.model}, log, board, request);
  BoardImage image{folder / (request.model + ".elf"), text, request.documents, {}};
  if (text.empty()) image.text = folder / "generated" / "names.txt";
  image.size = image_size(image.elf, board);
  return image;
}

}  // namespace thimble
