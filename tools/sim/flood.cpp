#include "tools/sim/flood.hpp"

#include <pb_encode.h>

#include <algorithm>

namespace thimble {

namespace {

bool has_frame(FrameReader& reader, std::span<const std::byte> bytes) {
  bool found = false;
  for (const std::byte b : bytes) found |= reader.take(b);
  return found;
}

}  // namespace

std::span<const std::byte> Flood::next() {
  for (;;) {
    if (kind_ == Kind::random) {
      bytes_ = random_bytes(1 + below(kMostBytes));
    } else {
      bytes_ = command_frame();
      for (std::uint32_t count = 1 + below(3); count > 0; --count) mutate(bytes_);
      bytes_.resize(std::min(bytes_.size(), kMostBytes));
    }
    // Neither behind what came before nor on a line that is at rest.
    FrameReader at_rest, behind = reader_;
    if (has_frame(at_rest, bytes_) || has_frame(behind, bytes_)) continue;
    reader_ = behind;
    return bytes_;
  }
}

Flood::Bytes Flood::random_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::byte& b : bytes) b = std::byte(random_());
  return bytes;
}

Flood::Bytes Flood::command_frame() {
  constexpr pb_size_t kFirst = thimble_board_Command_ask_tag, kLast = thimble_board_Command_exit_tag;
  thimble_board_Command c = thimble_board_Command_init_zero;
  c.id = random_() | 1u;
  c.which_action = pb_size_t(kFirst + below(kLast - kFirst + 1));
  const auto fill = [this](auto& bytes) {
    bytes.size = pb_size_t(below(sizeof(bytes.bytes) + 1));
    std::ranges::generate_n(bytes.bytes, bytes.size, [this] { return pb_byte_t(random_()); });
  };
  switch (c.which_action) {
    case thimble_board_Command_configure_tag:
      c.action.configure.seed = random_();
      c.action.configure.steps = below(1000);
      break;
    case thimble_board_Command_window_tag:
      c.action.window.index = below(1000);
      fill(c.action.window.ids);
      break;
    case thimble_board_Command_sample_tag:
      c.action.sample.length = below(192);
      fill(c.action.sample.prompt);
      break;
    case thimble_board_Command_checkpoint_bytes_tag:
      c.action.checkpoint_bytes.offset = below(100'000);
      fill(c.action.checkpoint_bytes.bytes);
      break;
    default: break;
  }
  pb_byte_t payload[thimble_board_Command_size];
  pb_ostream_t out = pb_ostream_from_buffer(payload, sizeof(payload));
  pb_encode(&out, thimble_board_Command_fields, &c);
  std::byte frame[kFrameBytes];
  const std::size_t size = make_frame(std::as_bytes(std::span(payload, out.bytes_written)), frame);
  return {frame, frame + size};
}

void Flood::mutate(Bytes& frame) {
  const auto place = [&](std::size_t i) { return frame.begin() + std::ptrdiff_t(i); };
  const std::size_t at = below(frame.size()), end = at + below(frame.size() - at);
  switch (below(6)) {
    case 0: frame[at] ^= std::byte(1u << below(8)); break;
    case 1: frame[at] = std::byte(random_()); break;
    case 2: frame.erase(place(at), place(end)); break;
    case 3: {
      const Bytes more = random_bytes(1 + below(8));
      frame.insert(place(at), more.begin(), more.end());
      break;
    }
    case 4: {
      const Bytes again(place(at), place(end));
      frame.insert(place(end), again.begin(), again.end());
      break;
    }
    default: {  // the rest is another command's
      const Bytes other = command_frame();
      frame.resize(at + 1);
      frame.insert(frame.end(), other.begin() + std::ptrdiff_t(below(other.size())), other.end());
    }
  }
  if (frame.empty()) frame.push_back(std::byte(random_()));
}

}  // namespace thimble
