#pragma once
/// What a board told of its run: its steps, and where their time went.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/board/board_client.hpp"
#include "tools/command/common.hpp"
#include "tools/train/data_source.hpp"

namespace thimble {

/// The steps that were reported, by number: a run may be resumed, or fall back at a power cut.
class BoardRecord {
 public:
  void add(const BoardClient::Step& step) { steps_[step.step] = {step.loss, step.ticks}; }
  std::size_t size() const { return steps_.size(); }
  /// Not of an empty record.
  std::uint64_t first_step() const { return steps_.begin()->first; }
  std::uint64_t median_ticks() const;
  /// From the first step that was seen; not a number for one whose report was lost.
  std::vector<double> losses() const;

 private:
  struct Step {
    double loss;
    std::uint64_t ticks;
  };
  std::map<std::uint64_t, Step> steps_;
};

/// A step as --log writes it.
Json step_json(const BoardClient::Step& step);

/// Half the floating-point operations of each op, by its name, in the micro-batches [begin, end) of `data`; what
/// `recompute` (a text for schedule_of) computes again counts as backward, like its ticks.
std::map<std::string, Flops> op_multiply_adds(const Model& model, const std::string& recompute, DataSource& data,
                                              std::uint64_t begin, std::uint64_t end);

/// By op, then the whole step of `step_ticks`; `each` is for each multiply-add. ops: as --profile --json has them.
void print_profile(const Json& ops, std::uint64_t step_ticks);

}  // namespace thimble
