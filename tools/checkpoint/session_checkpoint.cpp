#include "tools/checkpoint/session_checkpoint.hpp"

#include <cstring>
#include <vector>

#include "models/gpt_message.hpp"
#include "tools/checkpoint/checkpoint_sink.hpp"
#include "tools/files/mapped_file.hpp"

namespace thimble {

namespace {

/// A file that cannot be mapped (missing, empty) is a checkpoint that is not there: an earlier one may be.
MappedFile map_checkpoint(const std::filesystem::path& path) {
  try {
    return MappedFile(path);
  } catch (const Error& e) {
    throw DamagedCheckpoint(e.where(), e.problem(), e.advice());
  }
}

}  // namespace

template <class real>
TrainingState first_state(const Session<real>& session, Profile profile, const TrainOptions& options,
                          std::uint64_t seed) {
  TrainingState s;
  s.model = Name(session.model().name.c_str());
  s.profile = profile;
  s.options = options;
  s.seed = seed;
  s.has_gpt = session.model().gpt.has_value();
  if (s.has_gpt) s.gpt = gpt_message(*session.model().gpt);
  return s;
}

template <class real>
std::uint64_t save_checkpoint(const Session<real>& session, const TrainingState& state, const CheckpointNotes& notes,
                              const std::filesystem::path& path) {
  std::vector<CheckpointNote> list;
  for (const auto& [key, value] : notes) list.push_back({key, value});
  CheckpointSink sink(path);
  sink.require(save_training(sink.bytes(), session.engine(), state, list));
  return sink.commit();
}

template <class real>
void load_checkpoint(Session<real>& session, TrainingState& state, const std::filesystem::path& path, LoadWhat what) {
  const MappedFile file = map_checkpoint(path);
  const std::span<const std::byte> bytes = file.bytes();
  if (const Fault f = load_training(session.engine(), source_of(bytes), state, what)) throw_fault(f, path.string());
}

ByteSource source_of(const std::span<const std::byte>& bytes) {
  const auto read = [](void* from, std::uint64_t offset, std::span<std::byte> to) {
    const auto& all = *static_cast<const std::span<const std::byte>*>(from);
    if (to.size() > all.size() || offset > all.size() - to.size()) return false;
    std::memcpy(to.data(), all.data() + offset, to.size());
    return true;
  };
  return {const_cast<std::span<const std::byte>*>(&bytes), read, bytes.size()};
}

#define THIMBLE_INSTANTIATE(real)                                                                              \
  template TrainingState first_state(const Session<real>&, Profile, const TrainOptions&, std::uint64_t);       \
  template std::uint64_t save_checkpoint(const Session<real>&, const TrainingState&, const CheckpointNotes&,   \
                                         const std::filesystem::path&);                                        \
  template void load_checkpoint(Session<real>&, TrainingState&, const std::filesystem::path&, LoadWhat);
THIMBLE_INSTANTIATE(float)
THIMBLE_INSTANTIATE(double)
#undef THIMBLE_INSTANTIATE

}  // namespace thimble
