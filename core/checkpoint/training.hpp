#pragma once
/// Training runs to checkpoints and back.

#include "core/base/arithmetic.hpp"
#include "core/checkpoint/reader.hpp"
#include "core/checkpoint/training_state.hpp"
#include "core/checkpoint/wire.hpp"
#include "core/checkpoint/writer.hpp"

namespace thimble {

/// A hash of the names and shapes of a model's weights, in order.
template <class Names>
constexpr std::uint64_t tensor_table_hash(const Names& entry, int count) {
  std::uint64_t h = 0xCBF29CE484222325ull;
  const auto add = [&](std::uint64_t byte) { h = (h ^ (byte & 0xFF)) * 0x100000001B3ull; };
  for (int i = 0; i < count; ++i) {
    const TensorEntry e = entry(i);
    for (const char c : e.name) add(std::uint64_t(c));
    add(0);
    add(e.rank);
    for (int k = 0; k < e.rank; ++k) {
      for (int shift = 0; shift < 32; shift += 8) add(e.sizes[k] >> shift);
    }
  }
  return h;
}

/// The tensors of an engine's checkpoint, role by role.
template <class real>
class CheckpointTensors {
 public:
  /// in_window: with the gradients of a window under way. moments: with the optimizer's state.
  CheckpointTensors(const Engine<real>& engine, bool moments, bool in_window) : engine_(&engine) {
    const ParameterSlots& first = engine.layout().parameters[0];
    add(thimble_checkpoint_Role_ROLE_WEIGHT, true);
    add(thimble_checkpoint_Role_ROLE_FIRST_MOMENT, moments && first.first_moment != kNoPlace);
    add(thimble_checkpoint_Role_ROLE_SECOND_MOMENT, moments && first.second_moment != kNoPlace);
    add(thimble_checkpoint_Role_ROLE_GRADIENT, moments && in_window && first.gradient != kNoPlace);
  }

  int count() const { return roles_ * parameters(); }
  int parameters() const { return int(engine_->layout().parameters.size()); }
  TensorEntry entry(int i) const {
    const Value& v = engine_->layout().tape[slots(i).value];
    return entry_of(v.name, v.shape, role(i), kNumberTypeOf<real>);
  }
  std::byte* data(int i) const {
    const ParameterSlots& p = slots(i);
    ArenaPlace place = p.weight;
    if (role(i) == thimble_checkpoint_Role_ROLE_FIRST_MOMENT) place = p.first_moment;
    if (role(i) == thimble_checkpoint_Role_ROLE_SECOND_MOMENT) place = p.second_moment;
    if (role(i) == thimble_checkpoint_Role_ROLE_GRADIENT) place = p.gradient;
    return reinterpret_cast<std::byte*>(engine_->at(place));
  }
  std::uint64_t hash() const {
    return tensor_table_hash([&](int i) { return entry(i); }, parameters());
  }

 private:
  void add(TensorRole role, bool present) {
    if (present) role_[roles_++] = role;
  }
  TensorRole role(int i) const { return role_[i / parameters()]; }
  const ParameterSlots& slots(int i) const { return engine_->layout().parameters[std::size_t(i % parameters())]; }

  const Engine<real>* engine_;
  TensorRole role_[4] = {};
  int roles_ = 0;
};

/// A note for host tools.
struct CheckpointNote {
  std::string_view key;
  std::string_view value;
};

/// Writes all but the commit. `state.engine` is taken from the engine.
template <class real>
Fault write_training(CheckpointWriter& writer, const Engine<real>& engine, TrainingState state,
                     std::span<const CheckpointNote> notes = {}) {
  state.engine = engine.state();
  const CheckpointTensors<real> table(engine, true, state.engine.window.micro_batches > 0);
  CheckpointHeader header = header_of(state);
  header.number_type = kNumberTypeOf<real>;
  header.tensor_table_hash = table.hash();
  header.tensor_count = std::uint32_t(table.count());
  Fault fault = writer.header(header);
  for (std::size_t i = 0; i < notes.size() && !fault; ++i) fault = writer.metadata(notes[i].key, notes[i].value);
  for (int i = 0; i < table.count() && !fault; ++i) fault = writer.tensor(table.entry(i), table.data(i));
  return fault;
}

/// Writes a whole checkpoint.
template <class real>
Fault save_training(const ByteSink& sink, const Engine<real>& engine, const TrainingState& state,
                    std::span<const CheckpointNote> notes = {}) {
  CheckpointWriter writer(sink);
  const Fault fault = write_training(writer, engine, state, notes);
  return fault ? fault : writer.commit();
}

/// What to take from a checkpoint.
enum class LoadWhat : std::uint8_t {
  everything,  ///< to go on with the run, bit by bit
  weights,     ///< of any profile, arithmetic and optimizer; the engine's own state stays
};

namespace detail {

/// Compares a checkpoint with an engine; on the second pass also takes the numbers.
template <class real>
class TrainingLoader : public CheckpointHandler {
 public:
  TrainingLoader(const Engine<real>& engine, LoadWhat what, TrainingState& state)
      : engine_(engine), what_(what), state_(state), table_(engine, what == LoadWhat::everything, false) {}

  void take_numbers() {
    takes_ = true;
    next_ = 0;
  }

  Fault header(const CheckpointHeader& h) override {
    const TrainingState wanted = state_;
    if (const Fault f = read_header(h, state_)) return f;
    table_ = CheckpointTensors<real>(engine_, what_ == LoadWhat::everything, state_.engine.window.micro_batches > 0);
    if (what_ == LoadWhat::everything && engine_.fuses_update()) {
      if (const Fault f = needs_gradients()) return f;
    }
    if (!(state_.model == wanted.model)) return differs("header.model", wanted.model.hash, state_.model.hash);
    if (h.number_type != kNumberTypeOf<real>) return differs("header.number_type", kNumberTypeOf<real>, h.number_type);
    if (h.tensor_table_hash != table_.hash()) {
      return differs("header.tensor_table_hash", table_.hash(), h.tensor_table_hash);
    }
    if (what_ == LoadWhat::weights) return {};
    if (wanted.has_gpt && !(h.has_gpt && same(wanted.gpt, h.gpt))) return differs("header.gpt", 0, 0);
    if (h.arithmetic_version != kArithmeticVersion) {
      return differs("header.arithmetic_version", kArithmeticVersion, h.arithmetic_version);
    }
    if (state_.profile != wanted.profile) {
      return differs("header.profile", std::uint64_t(message_of(wanted.profile)), std::uint64_t(h.profile));
    }
    if (h.tensor_count != std::uint32_t(table_.count())) {
      return differs("header.tensor_count", std::uint64_t(table_.count()), h.tensor_count);
    }
    return {};
  }

  Fault tensor(const TensorEntry& found, const ByteRange&, std::byte*& to) override {
    if (what_ == LoadWhat::weights && found.role != thimble_checkpoint_Role_ROLE_WEIGHT) return {};
    if (next_ == table_.count()) return differs("tensor", std::uint64_t(table_.count()), std::uint64_t(next_) + 1);
    const TensorEntry e = table_.entry(next_);
    if (found.name != e.name) return differs("tensor.name", 0, 0);
    if (found.role != e.role) return differs("tensor.role", e.role, found.role);
    if (found.type != e.type) return differs("tensor.number_type", e.type, found.type);
    if (found.rank != e.rank) return differs("tensor.shape", e.rank, found.rank);
    for (int k = 0; k < e.rank; ++k) {
      if (found.sizes[k] != e.sizes[k]) return differs("tensor.shape", e.sizes[k], found.sizes[k]);
    }
    if (takes_) to = table_.data(next_);
    ++next_;
    return {};
  }

  Fault commit(const CheckpointCommit&) override {
    if (next_ == table_.count()) return {};
    return differs("header.tensor_count", std::uint64_t(table_.count()), std::uint64_t(next_));
  }

 private:
  static bool same(const thimble_checkpoint_GptConfig& a, const thimble_checkpoint_GptConfig& b) {
    return a.vocabulary == b.vocabulary && a.context == b.context && a.width == b.width && a.heads == b.heads &&
           a.layers == b.layers && a.norm == b.norm && a.norm_gain == b.norm_gain &&
           a.norm_after_embedding == b.norm_after_embedding && a.final_norm == b.final_norm && a.biases == b.biases &&
           a.activation == b.activation && a.tied_head == b.tied_head && a.epsilon == b.epsilon;
  }
  /// Is the run one for an engine that keeps gradients?
  Fault needs_gradients() const {
    const std::uint64_t in_window = std::uint64_t(state_.engine.window.micro_batches);
    if (state_.accumulate != 1) return differs("header.progress.accumulate", 1, std::uint64_t(state_.accumulate));
    if (in_window > 0) return differs("header.progress.window_micro_batches", 0, in_window);
    if (!allows_fused_update(state_.options.optimizer)) return differs("header.optimizer.clip", 0, 0);
    return {};
  }
  static Fault differs(const char* field, std::uint64_t expected, std::uint64_t found) {
    return {FaultKind::differs, field, 0, 0, expected, found};
  }

  const Engine<real>& engine_;
  LoadWhat what_;
  TrainingState& state_;
  CheckpointTensors<real> table_;
  int next_ = 0;
  bool takes_ = false;
};

}  // namespace detail

/// Loads a checkpoint into an engine of the same model. The first pass over the source checks everything, and only then
/// does the second change weights. `state` comes with the model and profile that are expected, and goes with what the
/// checkpoint says. A source that gives other bytes the second time leaves weights that are neither: the fault is
/// reported, and the engine has to be initialised or loaded anew.
template <class real>
Fault load_training(Engine<real>& engine, const ByteSource& source, TrainingState& state,
                    LoadWhat what = LoadWhat::everything, AfterCommit after = AfterCommit::end) {
  TrainingState loaded = state;
  detail::TrainingLoader<real> loader(engine, what, loaded);
  if (const Fault f = read_checkpoint(source, loader, after)) return f;
  loaded = state;
  loader.take_numbers();
  if (const Fault f = read_checkpoint(source, loader, after)) return f;
  if (what == LoadWhat::everything) engine.restore(loaded.engine);
  state = loaded;
  return {};
}

/// Most bytes that a checkpoint of a model can take: `moments` tensors of optimizer state a weight, with or without the
/// gradients of a window under way, and the records of the notes (metadata_record_bytes).
constexpr std::uint64_t most_checkpoint_bytes(TapeView tape, NumberType type, int moments, bool gradients,
                                              std::uint64_t note_bytes = 0) {
  std::uint64_t bytes = kHeaderRecordBytes + note_bytes + kCommitRecordBytes;
  for (int i = 0; i < tape.size; ++i) {
    if (tape[i].role != Role::parameter) continue;
    const TensorEntry e = entry_of(tape[i].name, tape[i].shape, thimble_checkpoint_Role_ROLE_WEIGHT, type);
    bytes += tensor_record_bytes(e) * std::uint64_t(1 + moments + gradients);
  }
  return bytes;
}

}  // namespace thimble
