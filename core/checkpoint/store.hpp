#pragma once
/// Checkpoints in a flash, safe against a power failure at any instant.
///
/// The flash is cut into slots of equal size, each whole erase blocks. A slot begins with its mark (magic, sequence
/// number, CRC-32C), in program units of its own; the checkpoint follows. A save goes to the slot after the newest
/// whole checkpoint's, in turn, so that all wear alike, and never touches the newest: with two slots or more there is
/// a whole checkpoint at every instant after the first save. A checkpoint counts only when it reads back whole, commit
/// included, so a save that was cut is as if it had not been. Recovery reads and never writes, so it may be cut too.

#include <string_view>

#include "core/checkpoint/flash.hpp"
#include "core/checkpoint/reader.hpp"
#include "core/checkpoint/writer.hpp"

namespace thimble {

class CheckpointStore {
 public:
  static constexpr int kMostSlots = 16;

  /// The mark of a slot takes whole program units.
  static constexpr std::uint32_t mark_bytes(const FlashGeometry& g) {
    return (kMarkSize + g.program_bytes - 1) / g.program_bytes * g.program_bytes;
  }
  /// Erase blocks for a checkpoint of so many bytes.
  static constexpr std::uint32_t blocks_for(const FlashGeometry& g, std::uint64_t checkpoint_bytes) {
    return std::uint32_t((checkpoint_bytes + mark_bytes(g) + g.erase_bytes - 1) / g.erase_bytes);
  }

  /// How many slots a flash has room for, at most `most`; fewer than two are of no use.
  static constexpr int slots_for(const FlashGeometry& g, std::uint64_t checkpoint_bytes, int most = 4) {
    if (g.erase_bytes == 0 || g.program_bytes == 0) return 0;
    const std::uint32_t count = g.block_count / blocks_for(g, checkpoint_bytes);
    return count < std::uint32_t(most) ? int(count) : most;
  }

  /// `slots` slots (2..kMostSlots) in the flash's blocks; blocks left over are not used. Call `recover` next.
  CheckpointStore(const Flash& flash, int slots) : flash_(flash), slots_(slots) {}

  /// Finds the newest whole checkpoint. Call after power-on, before anything else.
  void recover();

  /// Can this flash, cut into so many slots, hold checkpoints at all?
  bool usable() const;
  /// Is there a checkpoint?
  bool holds() const { return newest_ >= 0; }
  /// Number of the newest checkpoint's save, from 1 on; 0 without one.
  std::uint64_t sequence() const { return newest_ < 0 ? 0 : marks_[newest_]; }
  /// The newest checkpoint, up to the end of its slot (read it with AfterCommit::anything). Valid until `source` is
  /// called again, or the next save but one has begun.
  ByteSource source();
  /// Its length in bytes, commit included.
  std::uint64_t byte_count() const { return byte_count_; }

  /// Saves what `write` writes. write(writer) gives header, metadata and tensors to a CheckpointWriter and returns
  /// its first fault; the store adds the commit and reads the slot back. Where a slot's flash fails, the next one is
  /// tried. On a fault the newest checkpoint is the one before.
  template <class Write>
  Fault save(Write write) {
    Fault fault{FaultKind::write_failed, "store"};
    for (int attempt = 0; attempt < (newest_ < 0 ? slots_ : slots_ - 1); ++attempt) {
      if (!begin_save()) continue;
      CheckpointWriter writer({this, program_more});
      fault = write(writer);
      if (!fault) fault = writer.commit();
      if (!fault) fault = end_save();
      if (!fault || fault.kind == FaultKind::bad_value) break;
    }
    return fault;
  }

 private:
  static constexpr std::uint32_t kMarkSize = 20;

  std::uint32_t slot_blocks() const { return flash_.geometry.block_count / std::uint32_t(slots_); }
  std::uint32_t slot_bytes() const { return slot_blocks() * flash_.geometry.erase_bytes; }
  std::uint32_t content_address(int slot) const {
    return std::uint32_t(slot) * slot_bytes() + mark_bytes(flash_.geometry);
  }
  /// A slot's bytes after its mark. The view stays as long as the store.
  struct SlotView {
    CheckpointStore* store = nullptr;
    int slot = -1;
  };
  ByteSource source_of(SlotView& view, int slot);
  bool read_mark(int slot, std::uint64_t& sequence) const;
  bool is_whole(int slot, std::uint64_t& byte_count);
  bool begin_save();
  static bool program_more(void* self, std::span<const std::byte> bytes);
  bool program_page();
  Fault end_save();

  Flash flash_;
  int slots_;
  int newest_ = -1;
  int target_ = -1;
  int last_target_ = -1;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t byte_count_ = 0;
  std::uint64_t marks_[kMostSlots] = {};  ///< sequence number per slot; 0: none
  SlotView newest_view_;  ///< of source()
  SlotView checked_view_;
  std::uint32_t address_ = 0;  ///< of the page being filled
  std::uint32_t fill_ = 0;
  alignas(8) std::byte page_[kFlashPage];
};

}  // namespace thimble
