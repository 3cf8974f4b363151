#include "tools/gradient/report.hpp"

#include <cmath>

#include "tools/files/error.hpp"

namespace thimble {

namespace {

std::vector<std::int64_t> shape_of(const Value& v, const Extent& e) {
  if (v.shape.kind == RowKind::tokens) return {e.batch, e.context, v.shape.cols};
  if (v.shape.rank == 0) return {};
  if (v.shape.rank == 1) return {v.shape.cols};
  return {v.shape.fixed_rows, v.shape.cols};
}

template <class real>
std::vector<double> widened(const real* p, std::int64_t count) {
  return std::vector<double>(p, p + count);
}

/// Gathers gradients while a pass runs.
template <class real>
class Collector {
 public:
  Collector(const TapeView& tape, const ReportParts& parts, GradientReport& report)
      : tape_(tape), parts_(parts), report_(report) {
    observer_ = {this, before, after};
  }
  const StepObserver<real>* observer() const { return &observer_; }

 private:
  static void before(void* self, const ProgramStep<real>& step, const Call<real>& call) {
    if (step.kind == StepKind::backward) static_cast<Collector*>(self)->take_gradient(step, call);
  }
  static void after(void* self, const ProgramStep<real>& step, const Call<real>& call) {
    if (step.kind == StepKind::forward) static_cast<Collector*>(self)->take_value(step, call);
  }

  void take_value(const ProgramStep<real>& step, const Call<real>& call) {
    if (!parts_.values) return;
    const Value& v = tape_[step.value];
    add(report_.values, v.name.view(), shape_of(v, call.extent), widened(call.out, call.rows * v.shape.cols));
  }

  void take_gradient(const ProgramStep<real>& step, const Call<real>& call) {
    if (!parts_.stops) return;
    const Value& v = tape_[step.value];
    if (call.d_out != nullptr) {
      add(report_.stops, v.name.view(), shape_of(v, call.extent),
          widened(call.d_out, call.rows * v.shape.cols));
    }
    if (v.op == Attention::name.hash) take_attention(v, call);
    if (v.op == HeadCrossEntropy::name.hash) take_logits(v, call);
  }

  void take_attention(const Value& v, const Call<real>& call) {
    const std::vector<double> qkv = widened(call.in(0), call.rows * 3 * v.dims.in);
    const std::vector<double> d_out = widened(call.d_out, call.rows * v.dims.in);
    std::vector<double> saved = widened(call.saved, call.rows * v.saved_cols);
    Call<double> c;
    c.saved = saved.data();
    c.operands[0] = qkv.data();
    c.d_out = d_out.data();
    c.extent = call.extent;
    c.rows = call.rows;
    c.scalar = call.scalar;
    const std::int64_t t = call.extent.context;
    const std::vector<std::int64_t> shape = {call.extent.batch, v.dims.heads, t, t};
    std::vector<double> scores(std::size_t(call.rows * v.dims.heads * t)), probs(scores.size());
    attention_inner_gradients(c, v.dims, scores.data(), probs.data());
    const std::string block(v.name.view().substr(0, v.name.view().rfind('.') + 1));
    add(report_.stops, block + "scores", shape, std::move(scores));
    add(report_.stops, block + "probs", shape, std::move(probs));
  }

  void take_logits(const Value& v, const Call<real>& call) {
    const std::vector<double> x = widened(call.in(0), call.rows * v.dims.in);
    const std::vector<double> table = widened(call.in(1), std::int64_t(v.dims.out) * v.dims.in);
    Call<double> c;
    c.operands[0] = x.data();
    c.operands[1] = table.data();
    c.operands[2] = call.operands[2];
    c.extent = call.extent;
    c.rows = call.rows;
    std::vector<double> logits(std::size_t(call.rows * v.dims.out));
    head_inner_gradient(c, v.dims, logits.data());
    add(report_.stops, "logits", {call.extent.batch, call.extent.context, v.dims.out}, std::move(logits));
  }

  static void add(std::vector<NamedTensor>& list, std::string_view name, std::vector<std::int64_t> shape,
                  std::vector<double> data) {
    list.push_back({std::string(name), std::move(shape), std::move(data)});
  }

  TapeView tape_;
  ReportParts parts_;
  GradientReport& report_;
  StepObserver<real> observer_;
};

/// Where block 0 takes the embedding itself, that value is also called h.0.in.
void add_block_input_alias(const TapeView& tape, std::vector<NamedTensor>& stops) {
  for (const NamedTensor& s : stops) {
    if (s.name == "h.0.in") return;
  }
  for (std::size_t i = 0; i < stops.size(); ++i) {
    for (int v = 0; v < tape.size; ++v) {
      if (tape[v].name.view() == "embed" && tape[v].boundary && stops[i].name == "embed") {
        NamedTensor alias = stops[i];
        alias.name = "h.0.in";
        stops.push_back(std::move(alias));
        return;
      }
    }
  }
}

void check(Status s) {
  if (s != Status::ok) throw Error("tokens", text_of(s), "");
}

}  // namespace

template <class real>
GradientReport report_gradients(Session<real>& session, std::span<const std::int32_t> tokens,
                                std::span<const std::int32_t> targets, const Extent& extent,
                                const ReportParts& parts) {
  GradientReport report;
  Engine<real>& engine = session.engine();
  const TapeView tape = session.model().tape;
  const Collector<real> collector(tape, parts, report);
  engine.begin_window();
  engine.set_observer(collector.observer());
  const Status status = engine.accumulate(tokens, targets, extent);
  engine.set_observer(nullptr);
  check(status);

  report.loss = engine.mean_loss();
  report.valid = engine.valid_in_window();
  report.loss_per_position = widened(engine.result(), tape[tape.size - 1].shape.count(extent));
  for (const ParameterSlots& p : session.prepared().parameters) {
    const auto g = engine.gradient(p);
    report.weights.push_back({std::string(session.name_of(p)), shape_of(tape[p.value], extent),
                              std::vector<double>(g.begin(), g.end())});
  }
  const double scale = report.valid > 0 ? 1.0 / double(report.valid) : 0;
  for (auto* list : {&report.weights, &report.stops}) {
    for (NamedTensor& t : *list) {
      for (double& x : t.data) x *= scale;
    }
  }
  add_block_input_alias(tape, report.stops);
  engine.begin_window();
  return report;
}

template <class real>
NamedTensor report_influence(Session<real>& session, std::span<const std::int32_t> tokens,
                             std::span<const std::int32_t> targets, const Extent& extent) {
  const std::int64_t t = extent.context;
  NamedTensor influence{"influence", {t, t}, std::vector<double>(std::size_t(t * t))};
  const Extent row{1, extent.context};
  for (std::int64_t i = 0; i < t; ++i) {
    std::vector<std::int32_t> only(std::size_t(t), kIgnoredTarget);
    only[std::size_t(i)] = targets[std::size_t(i)];
    const GradientReport r = report_gradients(session, tokens.first(std::size_t(t)), only, row);
    for (const NamedTensor& s : r.stops) {
      if (s.name != "embed") continue;
      const std::int64_t width = s.shape.back();
      for (std::int64_t j = 0; j < t; ++j) {
        double sum = 0;
        for (std::int64_t c = 0; c < width; ++c) sum += std::pow(s.data[std::size_t(j * width + c)], 2);
        influence.data[std::size_t(i * t + j)] = std::sqrt(sum);
      }
    }
  }
  return influence;
}

template GradientReport report_gradients(Session<float>&, std::span<const std::int32_t>,
                                         std::span<const std::int32_t>, const Extent&, const ReportParts&);
template GradientReport report_gradients(Session<double>&, std::span<const std::int32_t>,
                                         std::span<const std::int32_t>, const Extent&, const ReportParts&);
template NamedTensor report_influence(Session<float>&, std::span<const std::int32_t>,
                                      std::span<const std::int32_t>, const Extent&);
template NamedTensor report_influence(Session<double>&, std::span<const std::int32_t>,
                                      std::span<const std::int32_t>, const Extent&);

}  // namespace thimble
