/// What a board does for its host.

#include <pb_encode.h>

#include "core/base/arithmetic.hpp"
#include "core/checkpoint/crc32c.hpp"
#include "ports/program/board_program.hpp"
#include "ports/program/line_source.hpp"
#include "ports/program/put_text.hpp"

namespace thimble {

namespace {

using Result = thimble_board_Result;
constexpr Result kDone = thimble_board_Result_RESULT_DONE;
constexpr Result kBusy = thimble_board_Result_RESULT_BUSY;
constexpr Result kBadValue = thimble_board_Result_RESULT_BAD_VALUE;
constexpr Result kNoFlash = thimble_board_Result_RESULT_NO_FLASH;
constexpr Result kNoCheckpoint = thimble_board_Result_RESULT_NO_CHECKPOINT;
constexpr Result kFault = thimble_board_Result_RESULT_FAULT;
constexpr Result kNoRun = thimble_board_Result_RESULT_NO_RUN;

thimble_board_Fault message_of(const Fault& f) {
  thimble_board_Fault m = thimble_board_Fault_init_zero;
  m.kind = std::uint32_t(f.kind);
  put_text(m.field, f.field);
  m.offset = f.offset;
  m.expected = f.expected;
  m.found = f.found;
  return m;
}

}  // namespace

thimble_board_Configure training_of(const TrainOptions& options, std::int32_t accumulate, bool data_from_host) {
  thimble_board_Configure c = thimble_board_Configure_init_zero;
  c.accumulate = std::uint32_t(accumulate);
  c.data_from_host = data_from_host;
  c.has_optimizer = c.has_schedule = true;
  c.optimizer = message_of(options.optimizer);
  c.schedule = message_of(options.schedule);
  return c;
}

std::uint32_t run_hash(const thimble_board_Configure& training) {
  pb_byte_t bytes[thimble_board_Configure_size];
  pb_ostream_t stream = pb_ostream_from_buffer(bytes, sizeof(bytes));
  pb_encode(&stream, thimble_board_Configure_fields, &training);
  Crc32c crc;
  crc.add(std::as_bytes(std::span(bytes, stream.bytes_written)));
  return crc.value();
}

void BoardProgram::do_command() {
  thimble_board_Command c;
  if (!line_.read_command(c)) return line_.forget_command();
  Reply reply = thimble_board_Reply_init_zero;
  Fault fault;
  reply.result = kDone;
  switch (c.which_action) {
    case thimble_board_Command_configure_tag: reply.result = configure(c.action.configure, fault); break;
    case thimble_board_Command_start_tag: reply.result = begin(); break;
    case thimble_board_Command_stop_tag:
      if (activity_ == thimble_board_Activity_ACTIVITY_TRAINING || activity_ == thimble_board_Activity_ACTIVITY_WAITING) {
        set_activity(thimble_board_Activity_ACTIVITY_STOPPED);
      }
      break;
    case thimble_board_Command_window_tag: reply.result = take_window(c.action.window, fault); break;
    case thimble_board_Command_sample_tag: reply.result = sample(c.action.sample, reply); break;
    case thimble_board_Command_save_tag:
      fault = store_.usable() ? save() : Fault{};
      reply.result = !store_.usable() ? kNoFlash : fault ? kFault : kDone;
      break;
    case thimble_board_Command_read_checkpoint_tag:
      reply.result = read_checkpoint_bytes(c.action.read_checkpoint, reply);
      break;
    case thimble_board_Command_receive_checkpoint_tag: reply.result = receive_checkpoint(fault); break;
    case thimble_board_Command_profile_tag: reply.result = get_profile(c.action.profile, reply); break;
    case thimble_board_Command_exit_tag: exited_ = true; break;
    case thimble_board_Command_ask_tag: break;
    default: return line_.forget_command();  // bytes that nobody waits for any more, or a later host's command
  }
  if (reply.which_what == 0) {
    reply.which_what = thimble_board_Reply_state_tag;
    describe(reply.what.state);
  }
  reply.has_fault = bool(fault);
  reply.fault = message_of(fault);
  line_.reply(c.id, reply);
}

/// Nothing changes where a value is none.
BoardProgram::Result BoardProgram::configure(const thimble_board_Configure& c, Fault& fault) {
  TrainOptions options = model_.training;
  if (c.has_optimizer) fault = read_message(c.optimizer, options.optimizer);
  if (!fault && c.has_schedule) fault = read_message(c.schedule, options.schedule);
  const std::uint32_t accumulate = c.accumulate == 0 ? 1 : c.accumulate;
  if (!fault && accumulate > 0xFFFF) fault = {FaultKind::bad_value, "configure.accumulate", 0, 0, 0xFFFF, accumulate};
  if (!fault && engine_.fuses_update()) {
    if (accumulate > 1) fault = {FaultKind::bad_value, "configure.accumulate", 0, 0, 1, accumulate};
    if (!allows_fused_update(options.optimizer)) fault = {FaultKind::bad_value, "configure.optimizer.clip"};
  }
  if (!fault && c.steps == 0 && model_.run.steps == 0) fault = {FaultKind::bad_value, "configure.steps", 0, 0, 1, 0};
  if (!fault && c.steps > std::uint64_t(1) << 53) {
    fault = {FaultKind::bad_value, "configure.steps", 0, 0, std::uint64_t(1) << 53, c.steps};
  }
  if (!fault && options.optimizer.kind != model_.training.optimizer.kind) {
    fault = {FaultKind::bad_value, "configure.optimizer.kind"};
  }
  if (fault) return kBadValue;
  RunPlan run = model_.run;
  if (c.steps > 0) run.steps = c.steps;
  run.save_every = c.save_every;
  run.report_every = c.report_every;
  run.data_from_host = c.data_from_host;
  begin_run(c.seed, options, run, std::int32_t(accumulate));
  fault_ = {};
  if (const char* const wrong = prepare_text()) fault_ = {FaultKind::bad_value, wrong};
  set_activity(fault_ ? thimble_board_Activity_ACTIVITY_FAILED : thimble_board_Activity_ACTIVITY_STOPPED);
  return kDone;
}

/// The first checkpoint holds the run as it was configured, so that a reset before the second goes on with that run.
BoardProgram::Result BoardProgram::begin() {
  if (activity_ == thimble_board_Activity_ACTIVITY_FAILED || at_end()) return kNoRun;
  if (activity_ != thimble_board_Activity_ACTIVITY_STOPPED) return kDone;
  if (state_.data_cursor == 0 && state_.run.save_every > 0 && store_.usable()) {
    if (save()) return kFault;
  }
  go_on();
  return kDone;
}

BoardProgram::Result BoardProgram::take_window(const thimble_board_Window& w, Fault& fault) {
  if (activity_ != thimble_board_Activity_ACTIVITY_WAITING) return kNoRun;
  if (w.index < state_.data_cursor) return kDone;
  if (w.index > state_.data_cursor) {
    fault = {FaultKind::bad_value, "window.index", 0, 0, state_.data_cursor, w.index};
    return kBadValue;
  }
  const std::size_t count = w.ids.size / 2;
  const Extent extent{1, std::int32_t(count) - 1};
  fault = {FaultKind::bad_value, "window.ids", 0, 0, ids_.size() / 2 + 1, count};
  if (count < 2 || extent.context > engine_.layout().limit.context) return kBadValue;
  const auto id = [&](std::size_t i) { return std::int32_t(w.ids.bytes[2 * i] | w.ids.bytes[2 * i + 1] << 8); };
  for (std::size_t t = 0; t + 1 < count; ++t) {
    ids_[t] = id(t);
    ids_[ids_.size() / 2 + t] = id(t + 1);
  }
  if (train_on(extent) != Status::ok) return kBadValue;
  fault = {};
  return kDone;
}

/// The prompt and what follows stand in the cache of the decode program; when it is full, the newer half of the context
/// is read again.
BoardProgram::Result BoardProgram::sample(const thimble_board_Sample& s, Reply& reply) {
  if (activity_ == thimble_board_Activity_ACTIVITY_TRAINING || activity_ == thimble_board_Activity_ACTIVITY_WAITING) {
    return kBusy;
  }
  if (state_.data_hash == 0 || !generates(engine_.layout().tape)) return kNoRun;
  auto& out = reply.what.sampled;
  reply.which_what = thimble_board_Reply_sampled_tag;
  const std::size_t length = s.length < sizeof(out.bytes) ? s.length : sizeof(out.bytes);
  const std::int32_t context = engine_.layout().limit.context;
  const std::int32_t kept = (context + 1) / 2;
  std::int32_t* const said = ids_.data();  // the newest ids, at most `context`
  std::int32_t said_count = 0;
  const float* logits = nullptr;
  const auto read = [&](std::int32_t id) {
    if (said_count == context) {
      for (std::int32_t i = 0; i < kept - 1; ++i) said[i] = said[context - (kept - 1) + i];
      for (said_count = 0; said_count < kept - 1; ++said_count) {
        if (engine_.decode(said[said_count], said_count, logits) != Status::ok) return false;
      }
    }
    said[said_count] = id;
    return engine_.decode(id, said_count++, logits) == Status::ok;
  };
  if (s.prompt.size == 0 && !read(text_.first_id())) return kBadValue;
  if (s.prompt.size > 0 && text_.end_id() >= 0 && !read(text_.first_id())) return kBadValue;
  for (std::size_t i = 0; i < s.prompt.size; ++i) {
    const std::int32_t id = text_.id_of(std::byte(s.prompt.bytes[i]));
    if (id < 0 || !read(id)) return kBadValue;
  }
  const SamplingOptions options{s.temperature, std::int32_t(s.top_k)};
  for (std::size_t n = 0; n < length; ++n) {
    const std::span<const float> choices(logits, std::size_t(text_.id_count()));
    const double u = uniform(s.seed, n, std::uint64_t(Stream::sample));
    const std::int32_t id = sample_token<float>(choices, options, u);
    if (id == text_.end_id()) break;
    out.bytes[out.size++] = pb_byte_t(text_.byte_of(id));
    if (n + 1 < length && !read(id)) break;
  }
  return kDone;
}

BoardProgram::Result BoardProgram::read_checkpoint_bytes(const thimble_board_ReadCheckpoint& c, Reply& reply) {
  if (!store_.usable()) return kNoFlash;
  if (!store_.holds() || (c.save != 0 && c.save != store_.sequence())) return kNoCheckpoint;
  reply.which_what = thimble_board_Reply_checkpoint_tag;
  thimble_board_CheckpointBytes& to = reply.what.checkpoint;
  to.offset = c.offset;
  to.save = store_.sequence();
  to.total_bytes = std::uint32_t(store_.byte_count());
  if (c.offset >= to.total_bytes) return kDone;
  const std::uint32_t left = to.total_bytes - c.offset;
  to.bytes.size = pb_size_t(left < sizeof(to.bytes.bytes) ? left : sizeof(to.bytes.bytes));
  const ByteSource source = store_.source();
  return source.read(source.state, c.offset, std::as_writable_bytes(std::span(to.bytes.bytes, to.bytes.size)))
             ? kDone
             : kNoCheckpoint;
}

/// The checkpoint is checked as a whole before a weight changes. Should the line fail on the second reading, the one in
/// flash is loaded again.
BoardProgram::Result BoardProgram::receive_checkpoint(Fault& fault) {
  if (activity_ == thimble_board_Activity_ACTIVITY_TRAINING || activity_ == thimble_board_Activity_ACTIVITY_WAITING) {
    return kBusy;
  }
  const bool kept = store_.usable() && !fault_;
  if (kept) fault = save();
  if (fault) return kFault;
  LineSource line(line_, port_);
  fault = line.open() ? load(line.source(), AfterCommit::end) : Fault{FaultKind::read_failed, "line"};
  if (fault) {
    if (!line.changed_weights()) return kFault;
    fault_ = kept ? load(store_.source(), AfterCommit::anything) : fault;
    if (fault_) set_activity(thimble_board_Activity_ACTIVITY_FAILED);
    return kFault;
  }
  fault_ = {};
  if (const char* const wrong = prepare_text()) fault_ = {FaultKind::bad_value, wrong};
  set_activity(fault_     ? thimble_board_Activity_ACTIVITY_FAILED
               : at_end() ? thimble_board_Activity_ACTIVITY_FINISHED
                          : thimble_board_Activity_ACTIVITY_STOPPED);
  if (store_.usable()) fault = save();
  return fault ? kFault : kDone;
}

BoardProgram::Result BoardProgram::get_profile(const thimble_board_GetProfile& c, Reply& reply) const {
  reply.which_what = thimble_board_Reply_op_ticks_tag;
  thimble_board_OpTicks& to = reply.what.op_ticks;
  to.count = std::uint32_t(profile_.count());
  to.steps = profile_.steps();
  if (c.index >= to.count) return kDone;
  const OpProfile::Entry& e = profile_[int(c.index)];
  put_text(to.op, OpProfile::name_of(e.op).view());
  to.forward = e.forward;
  to.backward = e.backward;
  return kDone;
}

void BoardProgram::describe(thimble_board_State& s) const {
  s.protocol_version = kProtocolVersion;
  put_text(s.model, model_.name.view());
  s.profile = message_of(model_.profile);
  s.arithmetic_version = kArithmeticVersion;
  s.activity = activity_;
  s.step = steps_done();
  s.steps = state_.run.steps;
  s.data_cursor = state_.data_cursor;
  s.digest = engine_.digest();
  s.data_hash = state_.data_hash;
  s.saves = store_.sequence();
  s.arena_bytes = std::uint32_t(engine_.layout().arena_bytes);
  s.stack_bytes = port_.stack_bytes;
  s.stack_high_water = stack_high_water();
  s.tick_unit = thimble_board_TickUnit(int(port_.tick_unit) + 1);
  s.seed = state_.seed;
  s.has_fault = bool(fault_);
  s.fault = message_of(fault_);
  s.damaged_frames = line_.damaged_frames();
  s.context = std::uint32_t(engine_.layout().limit.context);
  s.vocabulary = std::uint32_t(engine_.layout().vocabulary);
  s.loss = state_.running_loss;
  s.run_hash = run_hash(training_of(state_.options, state_.accumulate, state_.run.data_from_host));
}

void BoardProgram::report_state() {
  thimble_board_Report report = thimble_board_Report_init_zero;
  report.which_what = thimble_board_Report_state_tag;
  describe(report.what.state);
  line_.report(report);
}

}  // namespace thimble
