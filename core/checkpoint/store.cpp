#include "core/checkpoint/store.hpp"

#include "core/checkpoint/crc32c.hpp"
#include "core/checkpoint/numbers.hpp"

namespace thimble {

namespace {

constexpr std::uint32_t kMagic = 0x426D6854;  // "ThmB"
constexpr std::uint32_t kMarkVersion = 1;
constexpr std::uint64_t kMostSequence = std::uint64_t(1) << 62;  // more saves than any flash survives

void put_word(std::byte* p, std::uint32_t x) {
  for (int k = 0; k < 4; ++k) p[k] = std::byte(x >> (8 * k));
}

/// Notes where the checkpoint ends.
struct EndFinder : CheckpointHandler {
  std::uint64_t byte_count = 0;
  void whole(std::uint64_t bytes) override { byte_count = bytes; }
};

}  // namespace

bool CheckpointStore::usable() const {
  const FlashGeometry& g = flash_.geometry;
  const bool units = g.program_bytes > 0 && g.program_bytes <= kFlashPage && g.erase_bytes >= g.program_bytes &&
                     g.erase_bytes % g.program_bytes == 0;
  const bool addressable = std::uint64_t(g.block_count) * g.erase_bytes <= 0xFFFFFFFFu;
  return slots_ >= 2 && slots_ <= kMostSlots && units && addressable && slot_blocks() > 0 &&
         slot_bytes() > mark_bytes(g);
}

ByteSource CheckpointStore::source_of(SlotView& view, int slot) {
  view = {this, slot};
  const auto read = [](void* state, std::uint64_t offset, std::span<std::byte> to) {
    const SlotView& v = *static_cast<SlotView*>(state);
    const CheckpointStore& s = *v.store;
    return s.flash_.read(s.flash_.state, s.content_address(v.slot) + std::uint32_t(offset), to);
  };
  return {&view, read, slot_bytes() - mark_bytes(flash_.geometry)};
}

ByteSource CheckpointStore::source() {
  return newest_ < 0 ? ByteSource{nullptr, nullptr, 0} : source_of(newest_view_, newest_);
}

bool CheckpointStore::read_mark(int slot, std::uint64_t& sequence) const {
  std::byte mark[kMarkSize];
  if (!flash_.read(flash_.state, std::uint32_t(slot) * slot_bytes(), std::span(mark))) return false;
  Crc32c crc;
  crc.add(std::span(mark).first(16));
  const bool good = detail::word_at(mark) == kMagic && detail::word_at(mark + 4) == kMarkVersion &&
                    detail::word_at(mark + 16) == crc.value();
  sequence = detail::word_at(mark + 8) | std::uint64_t(detail::word_at(mark + 12)) << 32;
  return good && sequence != 0 && sequence <= kMostSequence;
}

bool CheckpointStore::is_whole(int slot, std::uint64_t& byte_count) {
  EndFinder finder;
  if (read_checkpoint(source_of(checked_view_, slot), finder, AfterCommit::anything)) return false;
  byte_count = finder.byte_count;
  return true;
}

void CheckpointStore::recover() {
  newest_ = last_target_ = -1;
  last_sequence_ = byte_count_ = 0;
  if (!usable()) return;
  for (int s = 0; s < slots_; ++s) {
    if (!read_mark(s, marks_[s])) marks_[s] = 0;
    if (marks_[s] <= last_sequence_) continue;
    last_sequence_ = marks_[s];
    last_target_ = s;
  }
  // From the newest mark down: the first that is followed by a whole checkpoint.
  std::uint64_t below = ~std::uint64_t(0);
  while (newest_ < 0) {
    int next = -1;
    for (int s = 0; s < slots_; ++s) {
      if (marks_[s] != 0 && marks_[s] < below && (next < 0 || marks_[s] > marks_[next])) next = s;
    }
    if (next < 0) return;
    if (is_whole(next, byte_count_)) newest_ = next;
    below = marks_[next];
  }
}

bool CheckpointStore::begin_save() {
  const FlashGeometry& g = flash_.geometry;
  if (!usable()) return false;
  target_ = (last_target_ + 1) % slots_;
  if (target_ == newest_) target_ = (target_ + 1) % slots_;
  last_target_ = target_;
  marks_[target_] = 0;
  for (std::uint32_t b = 0; b < slot_blocks(); ++b) {
    if (!flash_.erase(flash_.state, std::uint32_t(target_) * slot_blocks() + b)) return false;
  }
  address_ = std::uint32_t(target_) * slot_bytes();
  fill_ = 0;
  std::byte mark[kMarkSize];
  const std::uint64_t sequence = last_sequence_ + 1;
  put_word(mark, kMagic);
  put_word(mark + 4, kMarkVersion);
  put_word(mark + 8, std::uint32_t(sequence));
  put_word(mark + 12, std::uint32_t(sequence >> 32));
  Crc32c crc;
  crc.add(std::span<const std::byte>(mark).first(16));
  put_word(mark + 16, crc.value());
  for (std::size_t i = 0; i < kMarkSize; ++i) page_[i] = mark[i];
  fill_ = kMarkSize;
  while (fill_ < mark_bytes(g)) page_[fill_++] = std::byte{0xFF};
  last_sequence_ = sequence;
  return program_page();
}

/// Programs the whole units of the page, the last one filled up with ones, and begins the next page.
bool CheckpointStore::program_page() {
  const std::uint32_t unit = flash_.geometry.program_bytes;
  while (fill_ % unit != 0) page_[fill_++] = std::byte{0xFF};
  const bool done = flash_.program(flash_.state, address_, {page_, fill_});
  address_ += fill_;
  fill_ = 0;
  return done;
}

bool CheckpointStore::program_more(void* self, std::span<const std::byte> bytes) {
  CheckpointStore& s = *static_cast<CheckpointStore*>(self);
  const std::uint32_t page = kFlashPage / s.flash_.geometry.program_bytes * s.flash_.geometry.program_bytes;
  const std::uint32_t end = std::uint32_t(s.target_ + 1) * s.slot_bytes();
  if (bytes.size() > end - s.address_ - s.fill_) return false;
  for (const std::byte b : bytes) {
    s.page_[s.fill_++] = b;
    if (s.fill_ == page && !s.program_page()) return false;
  }
  return true;
}

Fault CheckpointStore::end_save() {
  if (fill_ > 0 && !program_page()) return {FaultKind::write_failed, "store"};
  EndFinder finder;
  const Fault fault = read_checkpoint(source_of(checked_view_, target_), finder, AfterCommit::anything);
  if (fault) return fault;
  std::uint64_t sequence = 0;
  if (!read_mark(target_, sequence)) return {FaultKind::bad_crc, "store.mark"};
  marks_[target_] = sequence;
  newest_ = target_;
  byte_count_ = finder.byte_count;
  return {};
}

}  // namespace thimble
