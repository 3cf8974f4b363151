/// thimble board: boards, their images, and checkpoints to and from them.

#include <iomanip>
#include <iostream>

#include "core/checkpoint/store.hpp"
#include "core/checkpoint/training.hpp"
#include "tools/board/file_flash.hpp"
#include "tools/board/programs.hpp"
#include "tools/checkpoint/checkpoint_file.hpp"
#include "tools/command/board_flags.hpp"
#include "tools/command/board_run.hpp"
#include "tools/command/board_text.hpp"
#include "tools/files/atomic_file.hpp"
#include "tools/files/mapped_file.hpp"

namespace thimble {

namespace {

Json size_json(const BoardInfo& b, const ImageSize& s) {
  return {{"ram_bytes", s.ram_bytes},
          {"ram_spare_bytes", b.ram_bytes - s.ram_bytes},
          {"second_ram_bytes", s.second_ram_bytes},
          {"flash_bytes", s.flash_bytes},
          {"flash_spare_bytes", b.code_bytes - s.flash_bytes}};
}

void print_size(const std::string& name, const BoardInfo& b, const ImageSize& s) {
  std::cout << "  " << std::left << std::setw(12) << name << std::right << " RAM " << std::setw(7) << s.ram_bytes << " of "
            << b.ram_bytes << " bytes, " << b.ram_bytes - s.ram_bytes << " spare; flash " << std::setw(7) << s.flash_bytes
            << " of " << b.code_bytes << ", " << b.code_bytes - s.flash_bytes << " spare\n";
}

void list(bool json) {
  Json boards = Json::array();
  for (const BoardInfo& b : all_boards()) {
    Json j{{"name", b.name}, {"part", b.part}, {"profile", b.profile == Profile::fused ? "fused" : "separate"},
           {"ram_bytes", b.ram_bytes}, {"second_ram_bytes", b.second_ram_bytes}, {"flash_bytes", b.flash_bytes},
           {"checkpoint_flash_bytes", b.flash_bytes - b.code_bytes}, {"compiler", b.compiler()}, {"emulator", b.qemu.at(0)},
           {"ready", has_program(b.compiler()) && has_program(b.qemu.at(0))}};
    Json images = Json::object(), fits = Json::array();
    for (const Model& m : all_models()) {
      const std::filesystem::path elf = image_folder(b) / (m.name + ".elf");
      if (std::filesystem::exists(elf)) images[m.name] = size_json(b, image_size(elf, b));
      if (m.takes_tokens() && image_arena(m, b, m.board_recompute).fits()) fits.push_back(m.name);
    }
    j["images"] = images;
    j["fits"] = fits;
    boards.push_back(j);
    if (json) continue;
    std::cout << std::left << std::setw(14) << b.name << std::setw(31) << b.part << std::setw(9)
              << (b.profile == Profile::fused ? "fused" : "separate") << std::right << std::setw(6) << b.ram_bytes / 1024
              << " KiB RAM" << std::setw(6) << b.flash_bytes / 1024 << " KiB flash  fits:";
    for (const auto& name : fits) std::cout << " " << name.get<std::string>();
    std::cout << (j["ready"].get<bool>() ? "" : "  (compiler or QEMU missing)") << "\n";
    for (const auto& [name, size] : images.items()) {
      print_size(name, b, image_size(image_folder(b) / (name + ".elf"), b));
    }
  }
  if (json) print_json({{"boards", boards}});
}

void build(const BoardFlags& flags) {
  const BoardInfo& b = find_board(flags.board);
  static_cast<void>(board_symbols(flags));
  const BoardImage image = build_image(b, flags.request());
  if (flags.json) {
    const Model& m = find_model(flags.model);
    const ImageArena arena = image_arena(m, b, board_schedule(m, flags.recompute));
    Json j{{"board", b.name},
           {"model", flags.model},
           {"image", image.elf.string()},
           {"arena_bytes", arena.bytes[0] + arena.bytes[1]},
           {"text_bytes", std::filesystem::file_size(image.text)}};
    j.update(size_json(b, image.size));
    print_json(j);
    return;
  }
  std::cout << image.elf.string() << "\n";
  print_size(flags.model, b, image.size);
}

/// Stops the board for as long as `work` takes.
template <class Work>
void while_stopped(const BoardFlags& flags, Work work) {
  BoardLink link(flags);
  link.open();
  BoardClient& client = link.client();
  const BoardClient::State before = client.ask();
  client.require(thimble_board_Command_stop_tag, "stop");
  work(client, before);
  const bool was_training = before.activity == thimble_board_Activity_ACTIVITY_TRAINING ||
                            before.activity == thimble_board_Activity_ACTIVITY_WAITING;
  if (was_training && !link.emulated()) client.command(thimble_board_Command_start_tag, "start");
  link.close();
}

/// From the flash of an emulated board, or over the line from a real one.
std::vector<std::byte> pulled(const BoardFlags& flags) {
  std::vector<std::byte> bytes;
  if (flags.flash) {
    const BoardInfo& b = find_board(flags.board);
    const Model& m = find_model(flags.model);
    FileFlash flash(*flags.flash, b);
    const std::uint64_t most =
        most_checkpoint_bytes(m.tape, kNumberTypeOf<float>, m.training.optimizer.moments(), true);
    return newest_checkpoint(flash.flash(), CheckpointStore::slots_for(b.checkpoint_flash, most), *flags.flash);
  }
  if (flags.serial.empty()) throw Error("board pull", "from where?", "give --flash FILE or --serial DEVICE");
  while_stopped(flags, [&](BoardClient& client, const BoardClient::State& before) {
    if (before.activity != thimble_board_Activity_ACTIVITY_FAILED) client.require(thimble_board_Command_save_tag, "save");
    bytes = client.pull();
  });
  return bytes;
}

/// An Error unless a checkpoint is of the board's model and profile.
void require_match(const CheckpointHeader& h, const std::string& where, const BoardFlags& flags) {
  if (flags.model != h.model) throw Error(where, std::string("is a checkpoint of ") + h.model + ", not of " + flags.model);
  if (h.profile != message_of(find_board(flags.board).profile)) {
    throw Error(where, "was trained with other multiply-adds (fused or separate) than the board's", "");
  }
}

void pull(BoardFlags flags, const std::string& file) {
  AtomicFile out(file);
  const std::vector<std::byte> bytes = pulled(flags);
  const std::string where = flags.flash.value_or(flags.serial);
  const CheckpointHeader header = checked_header(bytes, where);
  require_match(header, where, flags);
  out.write_at(0, bytes);
  out.commit();
  const std::uint64_t step = header.progress.step;
  if (flags.json) return print_json({{"file", file}, {"bytes", bytes.size()}, {"step", step}});
  std::cout << file << ": " << bytes.size() << " bytes, after step " << step << "\n";
}

void push(BoardFlags flags, const std::string& file) {
  if (!flags.flash && flags.serial.empty()) {
    throw Error("board push", "where to?", "give --flash FILE, for the emulated board's flash, or --serial DEVICE");
  }
  const MappedFile mapped(file);
  require_match(checked_header(mapped.bytes(), file), file, flags);
  flags.free_running = true;  // nothing is measured
  while_stopped(flags, [&](BoardClient& client, const BoardClient::State&) {
    client.push(mapped.bytes());
    const BoardClient::State after = client.ask();
    if (flags.json) {
      print_json({{"file", file}, {"step", after.step}, {"digest", digest_text(after.digest)}});
    } else {
      std::cout << "the board goes on from step " << after.step << ", digest " << digest_text(after.digest) << "\n";
    }
  });
}

CLI::App* transfer_command(CLI::App& board, const char* name, const char* help, const char* file_help,
                           void (*run)(BoardFlags, const std::string&)) {
  const auto flags = std::make_shared<BoardFlags>();
  const auto file = std::make_shared<std::string>();
  CLI::App* const c = board.add_subcommand(name, help);
  flags->add_names_to(*c);
  c->add_option("file", *file, file_help)->required();
  flags->add_image_to(*c);
  flags->add_line_to(*c);
  c->add_flag("--json", flags->json, "Print one JSON object");
  c->callback([=] { run(*flags, *file); });
  return c;
}

}  // namespace

void add_board_command(CLI::App& app) {
  CLI::App* const board = app.add_subcommand("board", "Train on boards: in QEMU, or on a serial line");
  board->require_subcommand(1);
  const auto json = std::make_shared<bool>(false);
  CLI::App* const l = board->add_subcommand("list", "The boards, what fits them, and what the images built so far take");
  l->add_flag("--json", *json, "Print one JSON object");
  l->callback([json] { list(*json); });

  const auto flags = std::make_shared<BoardFlags>();
  CLI::App* const b = board->add_subcommand("build", "Build an image");
  flags->add_names_to(*b);
  flags->add_image_to(*b);
  b->add_flag("--json", flags->json, "Print one JSON object");
  b->callback([flags] { build(*flags); });

  add_board_run_command(*board);
  transfer_command(*board, "pull", "Fetch the board's checkpoint", "Where to write it", pull);
  transfer_command(*board, "push", "Give the board a checkpoint to go on from", "A checkpoint of its model", push);
}

}  // namespace thimble
