#include "tools/board/board_client.hpp"

#include <pb_decode.h>
#include <pb_encode.h>

#include <algorithm>

#include "core/checkpoint/fault.hpp"
#include "tools/files/error.hpp"

namespace thimble {

namespace {

constexpr std::size_t kLongestLine = 200;
constexpr std::chrono::milliseconds kQuiet{200};   ///< a frame has no such pause inside
constexpr std::chrono::milliseconds kGlance{100};  ///< between two calls of on_silence

const char* text_of(thimble_board_Result result) {
  switch (result) {
    case thimble_board_Result_RESULT_DONE: return "done";
    case thimble_board_Result_RESULT_BUSY: return "the board is training: stop it first";
    case thimble_board_Result_RESULT_BAD_VALUE: return "a value is none that this model can use";
    case thimble_board_Result_RESULT_NO_FLASH: return "the board has no flash for checkpoints";
    case thimble_board_Result_RESULT_NO_CHECKPOINT: return "there is no such checkpoint in the board's flash";
    case thimble_board_Result_RESULT_FAULT: return "it failed";
    case thimble_board_Result_RESULT_NO_RUN: return "the board has no run to go on with, or no text";
    default: return "unknown result";
  }
}

std::string text_of(const thimble_board_Fault& f) {
  std::string text = std::string(f.field) + " " + thimble::text_of(FaultKind(f.kind));
  if (f.offset > 0) text += " at byte " + std::to_string(f.offset);
  if (f.expected != f.found) text += ", expected " + std::to_string(f.expected) + ", found " + std::to_string(f.found);
  return text;
}

}  // namespace

std::string text_of(const BoardClient::Reply& reply) {
  std::string text = text_of(reply.result);
  if (reply.has_fault && reply.fault.kind != 0) text += ": " + text_of(reply.fault);
  return text;
}

void BoardClient::send(const Command& command) {
  pb_byte_t payload[thimble_board_Command_size];
  pb_ostream_t out = pb_ostream_from_buffer(payload, sizeof(payload));
  if (!pb_encode(&out, thimble_board_Command_fields, &command)) throw Error("board", "a command could not be encoded", "");
  std::byte frame[kFrameBytes];
  channel_.write({frame, make_frame(std::as_bytes(std::span(payload, out.bytes_written)), frame)});
}

/// A line of nothing but printable bytes, after a line's end, is what a board says in plain words. A frame may have such
/// bytes inside: what has come since the last zero is said once it is known to be no frame.
void BoardClient::take(std::byte b) {
  const bool whole = reader_.take(b);
  const char c = char(b);
  if (c == 0) {
    if (whole) lines_.clear();
    say_lines();
    text_.clear();
    plain_ = false;
    since_zero_ = 0;
    if (whole) take_report();
    return;
  }
  ++since_zero_;
  if (c == '\n') {
    if (plain_ && !text_.empty()) lines_.push_back(text_);
    text_.clear();
    plain_ = true;
    if (since_zero_ > kFrameBytes) say_lines();
  } else if (c != '\r') {
    plain_ = plain_ && c >= ' ' && c <= '~' && text_.size() < kLongestLine;
    if (plain_) text_ += c;
  }
}

void BoardClient::say_lines() {
  const std::vector<std::string> lines = std::move(lines_);
  lines_.clear();
  if (!on_text) return;
  for (const std::string& line : lines) on_text(line);
}

bool BoardClient::listen(std::chrono::milliseconds wait) {
  std::byte bytes[512];
  std::size_t count = 0;
  try {
    count = channel_.read(bytes, wait);
  } catch (...) {
    say_lines();  // the last words before the line went dead
    throw;
  }
  if (count > 0) heard_at_ = channel_.now();
  if (count == 0 && !lines_.empty() && channel_.now() - heard_at_ >= kQuiet) say_lines();
  for (std::size_t i = 0; i < count; ++i) take(bytes[i]);
  return count > 0;
}

void BoardClient::take_report() {
  const auto payload = reader_.payload();
  thimble_board_Report report = thimble_board_Report_init_zero;
  pb_istream_t in = pb_istream_from_buffer(reinterpret_cast<const pb_byte_t*>(payload.data()), payload.size());
  if (!pb_decode(&in, thimble_board_Report_fields, &report)) return;
  heard_ = true;
  switch (report.which_what) {
    case thimble_board_Report_reply_tag:
      if (report.what.reply.id == waited_for_) reply_ = report.what.reply;
      break;
    case thimble_board_Report_step_tag:
      if (on_step) on_step(report.what.step);
      break;
    case thimble_board_Report_state_tag:
      if (on_state) on_state(report.what.state);
      break;
    case thimble_board_Report_want_tag: answer_want(report.what.want.offset); break;
    default: break;
  }
}

void BoardClient::answer_want(std::uint32_t offset) {
  if (pushed_.empty()) return;
  Command c = thimble_board_Command_init_zero;
  c.id = next_id_++;
  c.which_action = thimble_board_Command_checkpoint_bytes_tag;
  thimble_board_CheckpointBytes& to = c.action.checkpoint_bytes;
  to.offset = offset;
  to.total_bytes = std::uint32_t(pushed_.size());
  const std::size_t left = offset < pushed_.size() ? pushed_.size() - offset : 0;
  to.bytes.size = pb_size_t(std::min(left, sizeof(to.bytes.bytes)));
  if (left > 0) std::copy_n(pushed_.begin() + offset, to.bytes.size, reinterpret_cast<std::byte*>(to.bytes.bytes));
  send(c);
}

BoardClient::Reply BoardClient::command(Command c, const char* what) {
  c.id = next_id_++;
  waited_for_ = c.id;
  reply_.reset();
  const auto began = channel_.now();
  for (int attempt = 0; attempt < patience_.tries; ++attempt) {
    if (attempt > 0) ++repeated_;
    send(c);
    // As long as the board says anything it is at work, and the command is not said again.
    do {
      heard_ = false;
      const auto end = channel_.now() + patience_.reply;
      while (!reply_ && channel_.now() < end) {
        const std::chrono::milliseconds left = end - channel_.now();
        if (!listen(on_silence ? std::min(left, kGlance) : left) && on_silence) on_silence(channel_.now() - began);
      }
      if (reply_) return *reply_;
    } while (heard_ && !pushed_.empty());
  }
  throw Error(channel_.name(), std::string("no answer to ") + what,
              "is the board running this program, and the line free? It was said " + std::to_string(patience_.tries) +
                  " times");
}

BoardClient::Reply BoardClient::command(pb_size_t action, const char* what) {
  Command c = thimble_board_Command_init_zero;
  c.which_action = action;
  return command(c, what);
}

BoardClient::State BoardClient::ask() {
  return command(thimble_board_Command_ask_tag, "a question for its state").what.state;
}

BoardClient::Reply BoardClient::require(Command c, const char* what) {
  const Reply r = command(c, what);
  if (r.result != thimble_board_Result_RESULT_DONE) throw Error(std::string("board, ") + what, text_of(r), "");
  return r;
}

BoardClient::Reply BoardClient::require(pb_size_t action, const char* what) {
  Command c = thimble_board_Command_init_zero;
  c.which_action = action;
  return require(c, what);
}

std::vector<std::byte> BoardClient::pull() {
  std::vector<std::byte> checkpoint;
  std::uint64_t save = 0;
  for (;;) {
    Command c = thimble_board_Command_init_zero;
    c.which_action = thimble_board_Command_read_checkpoint_tag;
    c.action.read_checkpoint = {save, std::uint32_t(checkpoint.size())};
    const Reply r = command(c, "a request for checkpoint bytes");
    if (r.result == thimble_board_Result_RESULT_NO_CHECKPOINT && save != 0) {
      // A newer one has taken its place: begin again with that.
      save = 0;
      checkpoint.clear();
      continue;
    }
    if (r.result != thimble_board_Result_RESULT_DONE) throw Error("board, pull", text_of(r), "");
    const thimble_board_CheckpointBytes& bytes = r.what.checkpoint;
    save = bytes.save;
    const auto* const begin = reinterpret_cast<const std::byte*>(bytes.bytes.bytes);
    checkpoint.insert(checkpoint.end(), begin, begin + bytes.bytes.size);
    if (checkpoint.size() >= bytes.total_bytes || bytes.bytes.size == 0) return checkpoint;
  }
}

void BoardClient::push(std::span<const std::byte> checkpoint) {
  if (checkpoint.empty()) throw Error("board, push", "the checkpoint is empty", "");
  pushed_ = checkpoint;
  try {
    require(thimble_board_Command_receive_checkpoint_tag, "push");
  } catch (...) {
    pushed_ = {};
    throw;
  }
  pushed_ = {};
}

}  // namespace thimble
