#pragma once
/// The program of a board: trains a model on the text in flash or on windows from the host, reports every step, keeps
/// its checkpoints in flash and goes on from the newest one after a reset, and does what the host asks for
/// (ports/protocol/board.proto).
///
/// It is the same code on every port and knows its model as an engine and a few facts.

#include "core/checkpoint/store.hpp"
#include "core/checkpoint/training.hpp"
#include "core/train/layout.hpp"
#include "core/train/sampling.hpp"
#include "ports/program/board_line.hpp"
#include "ports/program/op_profile.hpp"
#include "ports/program/text_data.hpp"

namespace thimble {

/// What a program knows of its model beside its engine. Constant data.
struct BoardModel {
  Name name;
  Profile profile = Profile::fused;
  bool has_gpt = false;
  thimble_checkpoint_GptConfig gpt = {};
  TrainOptions training;  ///< where the host says nothing else
  RunPlan run;
};

/// What Configure says of training; and State.run_hash, its fingerprint.
thimble_board_Configure training_of(const TrainOptions& options, std::int32_t accumulate, bool data_from_host);
std::uint32_t run_hash(const thimble_board_Configure& training);

/// The fault of a board whose run in flash was on another text than its image has.
inline constexpr const char* kAnotherText = "another text in flash";

class BoardProgram {
 public:
  static constexpr std::uint32_t kProtocolVersion = 1;

  /// ids: room for twice the tokens of a batch. `observer` is called around every step of the model's program too; null:
  /// nobody. Everything must outlive the program. Call `start` next.
  BoardProgram(Engine<float>& engine, const BoardModel& model, TextData& text, std::span<std::int32_t> ids,
               const Port& port, const StepObserver<float>* observer = nullptr);

  /// After a reset: goes on from the newest checkpoint in flash, or begins the model's own run.
  void start();
  /// Does one piece of work: a command, a micro-batch. False: there is none.
  bool poll();
  /// Works until the host says `exit`; returns the exit status.
  int run();

  /// Slots of the store that a board keeps in its flash.
  static int slots(const ModelLayout<float>& layout, const FlashGeometry& geometry) {
    const ParameterSlots& p = layout.parameters[0];
    const int moments = (p.first_moment != kNoPlace) + (p.second_moment != kNoPlace);
    return CheckpointStore::slots_for(geometry,
                                      most_checkpoint_bytes(layout.tape, kNumberTypeOf<float>, moments, true));
  }

  bool exited() const { return exited_; }
  thimble_board_Activity activity() const { return activity_; }
  const Fault& fault() const { return fault_; }
  std::uint64_t steps_done() const;

 private:
  using Activity = thimble_board_Activity;
  using Reply = thimble_board_Reply;
  using Result = thimble_board_Result;

  // Runs (board_program.cpp).
  void begin_run(std::uint64_t seed, const TrainOptions& options, const RunPlan& run, std::int32_t accumulate);
  void set_activity(Activity activity);
  void go_on();
  bool at_end() const;
  const char* prepare_text();
  Status train_on(const Extent& extent);
  void end_step(const UpdateResult& result, const Extent& extent);
  bool finite_weights() const;
  Fault save();
  Fault load(const ByteSource& source, AfterCommit after);
  std::uint32_t stack_high_water() const;

  // Commands (board_commands.cpp).
  void do_command();
  Result configure(const thimble_board_Configure& command, Fault& fault);
  Result begin();
  Result take_window(const thimble_board_Window& command, Fault& fault);
  Result sample(const thimble_board_Sample& command, Reply& reply);
  Result read_checkpoint_bytes(const thimble_board_ReadCheckpoint& command, Reply& reply);
  Result receive_checkpoint(Fault& fault);
  Result get_profile(const thimble_board_GetProfile& command, Reply& reply) const;
  void describe(thimble_board_State& state) const;
  void report_state();

  static void before_kernel(void* self, const ProgramStep<float>& step, const Call<float>& call);
  static void after_kernel(void* self, const ProgramStep<float>& step, const Call<float>& call);

  Engine<float>& engine_;
  const BoardModel& model_;
  TextData& text_;
  std::span<std::int32_t> ids_;
  const Port& port_;
  const StepObserver<float>* also_;
  StepObserver<float> observer_;
  BoardLine line_;
  CheckpointStore store_;
  OpProfile profile_;
  TrainingState state_;
  Fault fault_;
  Activity activity_ = thimble_board_Activity_ACTIVITY_STOPPED;
  std::uint64_t step_ticks_ = 0;
  std::uint64_t kernel_began_ = 0;
  int rejected_in_a_row_ = 0;
  bool exited_ = false;
};

}  // namespace thimble
