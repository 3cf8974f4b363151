#include "tools/command/board_flags.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iostream>
#include <random>

#include "tools/board/programs.hpp"

namespace thimble {

void BoardFlags::add_names_to(CLI::App& c) {
  c.add_option("board", board, "The board's name, as thimble board list shows it")->required();
  c.add_option("model", model, "The model's name")->required();
}

void BoardFlags::add_image_to(CLI::App& c) {
  auto* const t = c.add_option("--text", text, "The text that the image carries: random windows of it are trained on")
                      ->check(file_name());
  c.add_option("--documents", documents,
               "The documents that it carries, one a line, trained on in order; default: a generated list of names")
      ->excludes(t)
      ->check(file_name());
  c.add_option("--recompute", recompute, kRecomputeHelp)
      ->check([](const std::string& text) {
        const auto odd = [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && !std::strchr(".,*_", c); };
        return std::any_of(text.begin(), text.end(), odd) ? in_quotes(text) + " is no list of names" : std::string();
      });
}

void BoardFlags::add_line_to(CLI::App& c) {
  c.add_option("--serial", serial, "A real board on this serial device; default: the board in QEMU")->check(file_name());
  c.add_option("--baud", baud, "Of the serial device")->check(whole_number(9600, 921600))->capture_default_str();
  c.add_option("--flash", flash,
               "File with the emulated board's flash, made where there is none: a run goes on from it; default: a board "
               "without a flash for checkpoints")
      ->check(file_name());
  c.add_flag("--free-running", free_running,
             "Emulate as fast as it goes; ticks are then not instructions");
}

ImageRequest BoardFlags::request() const {
  ImageRequest r;
  r.model = &find_model(model);
  r.documents = text.empty();
  r.text = text.empty() ? documents : text;
  r.recompute = recompute;
  r.fuse_update = fuse_update && allows_fused_update(r.model->training.optimizer);
  return r;
}

BoardLink::BoardLink(const BoardFlags& flags) : flags_(flags), board_(find_board(flags.board)) {
  find_model(flags.model);
  if (!flags.serial.empty()) {
    if (flags.flash) throw Error("--flash", "is the emulated board's; a real one has its own", "leave it out");
    return;
  }
  require_program(board_.qemu.at(0));
  if (flags.flash) flash_.emplace(*flags.flash, board_);
  if (!flags.json) std::cerr << "building " << flags.model << " for " << board_.name << "\n";
  image_ = build_image(board_, flags.request());
}

void BoardLink::open() {
  client_.reset();
  channel_.reset();
  if (emulated()) {
    channel_ = std::make_unique<QemuBoard>(
        board_, QemuOptions{image_->copy->path(), flash_ ? flash_->path() : "", !flags_.free_running});
  } else {
    channel_ = std::make_unique<SerialPort>(flags_.serial, flags_.baud);
  }
  client_ = std::make_unique<BoardClient>(*channel_, std::random_device()());
}

void BoardLink::cut_power() {
  if (auto* const q = dynamic_cast<QemuBoard*>(channel_.get())) q->kill();
}

int BoardLink::close() {
  auto* const q = dynamic_cast<QemuBoard*>(channel_.get());
  if (q == nullptr) return 0;
  client_->command(thimble_board_Command_exit_tag, "exit");
  return q->wait();
}

const char* text_of(thimble_board_Activity activity) {
  switch (activity) {
    case thimble_board_Activity_ACTIVITY_STOPPED: return "stopped";
    case thimble_board_Activity_ACTIVITY_TRAINING: return "training";
    case thimble_board_Activity_ACTIVITY_WAITING: return "waiting for data";
    case thimble_board_Activity_ACTIVITY_FINISHED: return "finished";
    case thimble_board_Activity_ACTIVITY_DIVERGED: return "diverged: several steps in a row were not finite";
    case thimble_board_Activity_ACTIVITY_FAILED: return "failed";
    default: return "unknown";
  }
}

}  // namespace thimble
