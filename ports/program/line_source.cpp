#include "ports/program/line_source.hpp"

namespace thimble {

bool LineSource::read(void* self, std::uint64_t offset, std::span<std::byte> to) {
  LineSource& s = *static_cast<LineSource*>(self);
  if (offset == 0) ++s.readings_;
  for (std::byte& b : to) {
    if ((offset < s.offset_ || offset >= s.offset_ + s.size_) && !s.fetch(offset)) return false;
    b = s.bytes_[offset++ - s.offset_];
  }
  return true;
}

/// Asks until the bytes at `offset` are here. Any command but these bytes ends the transfer, except the one that began
/// it, which the host may have said twice.
bool LineSource::fetch(std::uint64_t offset) {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    thimble_board_Report want = thimble_board_Report_init_zero;
    want.which_what = thimble_board_Report_want_tag;
    want.what.want.offset = std::uint32_t(offset);
    line_.report(want);
    const std::uint64_t began = port_.ticks(port_.state);
    while (port_.ticks(port_.state) - began < port_.ticks_per_second / kTriesPerSecond) {
      line_.listen();
      if (!line_.has_command()) continue;
      thimble_board_Command c;
      const bool read = line_.read_command(c);
      const bool bytes = read && c.which_action == thimble_board_Command_checkpoint_bytes_tag;
      if (!bytes && !(read && c.which_action == thimble_board_Command_receive_checkpoint_tag)) return false;
      line_.forget_command();
      if (bytes && take(c.action.checkpoint_bytes, offset)) return true;
    }
  }
  return false;
}

bool LineSource::take(const thimble_board_CheckpointBytes& c, std::uint64_t offset) {
  if (c.offset != offset || c.bytes.size == 0 || c.bytes.size > sizeof(bytes_)) return false;
  if (total_ != 0 && c.total_bytes != total_) return false;
  total_ = c.total_bytes;
  offset_ = offset;
  size_ = c.bytes.size;
  for (std::size_t i = 0; i < size_; ++i) bytes_[i] = std::byte(c.bytes.bytes[i]);
  return true;
}

}  // namespace thimble
