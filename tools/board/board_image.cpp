#include "tools/board/board_image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tools/board/file_lock.hpp"
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

PlanOptions plan_options(const Model& m, bool fuse_update) {
  return {m.extent, 1, int(sizeof(float)), m.training.optimizer.moments(), true,
          fuse_update && allows_fused_update(m.training.optimizer)};
}

std::string largest_tensors(const Model& m, PlanData plan) {
  std::stable_sort(plan.tensors.begin(), plan.tensors.end(),
                   [](const Tensor& a, const Tensor& b) { return a.bytes > b.bytes; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, plan.tensors.size()); ++i) {
    const Tensor& t = plan.tensors[i];
    const std::string name = t.value == kNoValue ? "" : std::string(m.tape[t.value].name.view()) + " ";
    text += (i == 0 ? "" : ", ") + name + text_of(t.kind) + " " + std::to_string(t.bytes);
  }
  return text;
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

/// `there` says where the bytes are that there are.
[[noreturn]] void throw_no_flash(const std::string& what, std::int64_t needed, const fs::path& text,
                                 std::int64_t available, const std::string& there) {
  const std::string of_text =
      text.empty() ? "" : ", of which " + std::to_string(fs::file_size(text)) + " are the text";
  throw Error(what,
              "the image needs " + std::to_string(needed) + " bytes of flash" + of_text + ", but there are " +
                  std::to_string(available) + " " + there + ": " + std::to_string(needed - available) + " are missing",
              "give it a shorter text");
}

void run_or_throw(const std::vector<std::string>& command, const fs::path& log, const BoardInfo& board,
                  const ImageRequest& request) {
  if (run_program(command, log) == 0) return;
  const std::string what = request.model->name + " on " + board.name, printed = read_file(log.string());
  if (const std::int64_t missing = missing_flash(printed); missing > 0) {
    throw_no_flash(what, board.code_bytes + missing, request.text, board.code_bytes, "beside the checkpoints");
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

ImageArena image_arena(const Model& m, const BoardInfo& b, const std::string& schedule, bool fuse_update) {
  PlanOptions o = plan_options(m, fuse_update);
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

std::string board_schedule(const Model& m, const std::string& recompute) {
  return recompute.empty() ? m.board_recompute : recompute;
}

void require_room(const Model& m, const BoardInfo& b, const std::string& schedule, bool fuse_update) {
  const std::string what = m.name + " on " + b.name;
  if (!m.takes_tokens()) throw Error(what, "it takes no tokens, and a board trains on text", "");
  const ImageArena arena = image_arena(m, b, schedule, fuse_update);
  if (arena.fits()) return;
  const std::string second =
      arena.bytes[1] == 0 ? "" : " beside " + std::to_string(arena.bytes[1]) + " in the second region of RAM";
  const bool blocks_fit = image_arena(m, b, "blocks", fuse_update).fits();
  throw Error(what,
              "its arena takes " + std::to_string(arena.bytes[0]) + " bytes" + second + ", the board has " +
                  std::to_string(b.model_budget_bytes()) + " for it: " + std::to_string(arena.missing_bytes) +
                  " are missing; the largest tensors are " +
                  largest_tensors(m, m.plan(ProgramKind::train, schedule, plan_options(m, fuse_update))),
              blocks_fit ? "it fits with --recompute blocks" : "thimble board list shows what fits");
}

BoardImage build_image(const BoardInfo& board, const ImageRequest& request) {
  require_sources();
  const Model& model = *request.model;
  require_room(model, board, board_schedule(model, request.recompute), request.fuse_update);
  for (const char* const program : {"cmake", "ninja"}) require_program(program);
  require_program(board.compiler());
  const fs::path source = THIMBLE_SOURCE_DIR, folder = image_folder(board);
  fs::create_directories(folder);
  const fs::path text = request.text.empty() ? fs::path() : fs::absolute(request.text);
  if (!text.empty() && !fs::is_regular_file(text)) throw Error(text.string(), "is no file", "");
  const FileLock lock(folder / "lock");
  const fs::path log = folder / (model.name + ".log"), stamp = folder / "configured";
  fs::remove(log);
  const fs::path data = text.empty() ? fs::path() : staged(text, folder / "text");
  const std::vector<std::string> configure = {
      "cmake", "-S", source.string(), "-B", folder.string(), "-G", "Ninja",
      "--toolchain", (source / "tools/cmake/boards" / (board.family + ".cmake")).string(),
      "-DTHIMBLE_BOARD=" + board.name, "-DTHIMBLE_BOARD_MODELS=" + model.name,
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
  run_or_throw({"cmake", "--build", folder.string(), "--target", model.name}, log, board, request);
  BoardImage image;
  image.elf = folder / (model.name + ".elf");
  image.copy = std::make_shared<const PrivateCopy>(image.elf);
  image.text = text;
  image.documents = request.documents;
  if (text.empty()) image.text = folder / "generated" / "names.txt";
  image.size = image_size(image.elf, board);
  if (image.size.flash_bytes > board.qemu_flash_bytes) {
    throw_no_flash(model.name + " on " + board.name, image.size.flash_bytes, image.text, board.qemu_flash_bytes,
                   "that QEMU has memory for");
  }
  return image;
}

}  // namespace thimble
