#pragma once
/// A session's checkpoints in files: whole or not at all.

#include <filesystem>
#include <map>

#include "core/checkpoint/training.hpp"
#include "tools/model/session.hpp"

namespace thimble {

/// Notes for host tools, by key ("tokenizer").
using CheckpointNotes = std::map<std::string, std::string>;

/// The state of a run of this session before its first step: model, profile, seed, options.
template <class real>
TrainingState first_state(const Session<real>& session, Profile profile, const TrainOptions& options,
                          std::uint64_t seed);

/// Writes a checkpoint, synced and put in place in one step. Returns its size in bytes.
template <class real>
std::uint64_t save_checkpoint(const Session<real>& session, const TrainingState& state, const CheckpointNotes& notes,
                              const std::filesystem::path& path);

/// Loads a checkpoint of this session's model, all or nothing; an Error says what is wrong and where.
template <class real>
void load_checkpoint(Session<real>& session, TrainingState& state, const std::filesystem::path& path,
                     LoadWhat what = LoadWhat::everything);

/// The bytes of a mapped file as a source; they must outlive it.
ByteSource source_of(const std::span<const std::byte>& bytes);

}  // namespace thimble
