#include "tools/command/board_record.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <limits>

namespace thimble {

std::uint64_t BoardRecord::median_ticks() const {
  std::vector<std::uint64_t> t;
  for (const auto& [number, step] : steps_) t.push_back(step.ticks);
  if (t.empty()) return 0;
  std::nth_element(t.begin(), t.begin() + std::ptrdiff_t(t.size() / 2), t.end());
  return t[t.size() / 2];
}

std::vector<double> BoardRecord::losses() const {
  if (steps_.empty()) return {};
  const std::uint64_t first = first_step();
  std::vector<double> all(steps_.rbegin()->first - first + 1, std::numeric_limits<double>::quiet_NaN());
  for (const auto& [number, step] : steps_) all[number - first] = step.loss;
  return all;
}

Json step_json(const BoardClient::Step& s) {
  Json j{{"step", s.step}, {"loss", s.loss}, {"learning_rate", s.learning_rate}, {"gradient_norm", s.gradient_norm},
         {"clipped", s.clipped}, {"tokens", s.tokens}, {"ticks", s.ticks}, {"digest", digest_text(s.digest)},
         {"arena_high_water", s.arena_high_water}, {"stack_high_water", s.stack_high_water}, {"saves", s.saves}};
  if (s.status != 0) j["rejected"] = text_of(Status(s.status));
  if (s.non_finite[0]) j["non_finite"] = s.non_finite;
  if (s.has_save_fault) j["save_fault"] = s.save_fault.field;
  return j;
}

std::map<std::string, Flops> op_multiply_adds(const Model& model, const std::string& recompute, DataSource& data,
                                              std::uint64_t begin, std::uint64_t end) {
  std::map<std::string, Flops> sums;
  const PlanData plan = model.plan(ProgramKind::train, recompute, {.extent = model.extent});
  for (std::uint64_t i = begin; i < end; ++i) {
    const Extent extent = data.batch(i).extent;
    for (const Step& step : plan.steps) {
      const Value& v = model.tape[step.value];
      const Flops f = op_flops(v, extent);
      Flops& sum = sums[std::string(op_name(v).view())];
      (step.kind == StepKind::forward ? sum.forward : sum.backward) += step.kind == StepKind::backward ? f.backward : f.forward;
    }
  }
  for (auto& [op, f] : sums) f = {f.forward / 2, f.backward / 2};
  return sums;
}

void print_profile(const Json& ops, std::uint64_t step_ticks) {
  std::cout << std::left << std::setw(22) << "op" << std::right << std::setw(12) << "forward" << std::setw(8) << "each"
            << std::setw(12) << "backward" << std::setw(8) << "each" << "\n" << std::fixed << std::setprecision(2);
  std::uint64_t all = 0;
  const auto pass = [&](const Json& op, const char* ticks, const char* multiply_adds) {
    const std::uint64_t count = op.value(multiply_adds, std::uint64_t(0)), spent = op[ticks].get<std::uint64_t>();
    all += count;
    std::cout << std::setw(12) << spent << std::setw(8);
    count > 0 ? std::cout << double(spent) / double(count) : std::cout << "";
  };
  for (const auto& op : ops) {
    std::cout << std::left << std::setw(22) << op["op"].get<std::string>() << std::right;
    pass(op, "forward", "forward_multiply_adds");
    pass(op, "backward", "backward_multiply_adds");
    std::cout << "\n";
  }
  if (all == 0) return;
  std::cout << "a whole step: " << double(step_ticks) / double(all) << " for each of " << all << " multiply-adds\n";
}

}  // namespace thimble
