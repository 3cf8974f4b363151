#pragma once
/// A model ready to run on the host: arena, threads, tables, engine.

#include "ports/host/arena.hpp"
#include "ports/host/threads.hpp"
#include "tools/model/model.hpp"

namespace thimble {

/// What a session is made with.
struct SessionOptions {
  Extent extent;
  std::string recompute = "none";  ///< a text for schedule_of (core/tape/recompute.hpp)
  int moments = 2;
  bool gradients = true;  ///< false: weights only
  bool fuse_update = false;  ///< each weight is updated within the backward pass (Engine::train_step)
  int threads = 1;
  std::optional<Isa> isa;  ///< nothing: the best this processor can run
  Profile profile = Profile::fused;
  bool reference = false;  ///< the reference kernels (double only)
};

/// The kernel table that the options ask for; an Error where it is not built or cannot run here.
template <class real>
KernelTable<real> choose_kernels(const Model& model, const SessionOptions& options);

template <class real>
class Session {
 public:
  Session(const Model& model, const SessionOptions& options);

  const Model& model() const { return model_; }
  const PreparedModel<real>& prepared() const { return *prepared_; }
  Engine<real>& engine() { return engine_; }
  const Engine<real>& engine() const { return engine_; }
  const std::string& kernels_name() const { return kernels_name_; }
  int threads() const { return threads_; }

  /// The parameter's name on the tape (Hugging Face's GPT-2 names for the gpt family).
  std::string_view name_of(const ParameterSlots& p) const { return model_.tape[p.value].name.view(); }

 private:
  const Model& model_;
  int threads_;
  std::string kernels_name_;
  std::unique_ptr<PreparedModel<real>> prepared_;
  HostArena arena_;
  ThreadTeam team_;
  Engine<real> engine_;
};

}  // namespace thimble
