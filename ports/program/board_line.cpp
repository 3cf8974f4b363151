#include "ports/program/board_line.hpp"

#include <pb_decode.h>
#include <pb_encode.h>

namespace thimble {

static_assert(thimble_board_Report_size <= kFramePayload);
static_assert(thimble_board_Command_size <= kFramePayload);

void BoardLine::listen() {
  for (int i = 0; i < kMostBytesAtOnce && !has_command_; ++i) {
    std::byte b;
    if (port_.receive(port_.state, {&b, 1}) == 0) return;
    if (reader_.take(b)) take_frame();
  }
}

bool BoardLine::read_command(Command& command) const {
  command = thimble_board_Command_init_zero;
  const auto payload = reader_.payload();
  pb_istream_t in = pb_istream_from_buffer(reinterpret_cast<const pb_byte_t*>(payload.data()), payload.size());
  return pb_decode(&in, thimble_board_Command_fields, &command);
}

void BoardLine::take_frame() {
  Command command;
  if (!read_command(command) || command.id == 0 || command.which_action == 0) return;
  if (command.id == command_id_) {
    if (reply_bytes_ > 0) port_.send(port_.state, {reply_, reply_bytes_});
    return;
  }
  command_id_ = command.id;
  reply_bytes_ = 0;
  has_command_ = true;
}

std::size_t BoardLine::frame_of(const Report& report, std::span<std::byte, kFrameBytes> frame) const {
  pb_byte_t payload[thimble_board_Report_size];
  pb_ostream_t out = pb_ostream_from_buffer(payload, sizeof(payload));
  if (!pb_encode(&out, thimble_board_Report_fields, &report)) return 0;
  return make_frame(std::as_bytes(std::span(payload, out.bytes_written)), frame);
}

void BoardLine::reply(std::uint32_t id, const Reply& reply) {
  Report report = thimble_board_Report_init_zero;
  report.which_what = thimble_board_Report_reply_tag;
  report.what.reply = reply;
  report.what.reply.id = id;
  command_id_ = id;
  reply_bytes_ = frame_of(report, reply_);
  has_command_ = false;
  port_.send(port_.state, {reply_, reply_bytes_});
}

void BoardLine::report(const Report& report) {
  std::byte frame[kFrameBytes];
  port_.send(port_.state, {frame, frame_of(report, frame)});
}

}  // namespace thimble
