#pragma once
/// The host training the same run beside a board, step by step, to compare digests.

#include <memory>
#include <vector>

#include "tools/model/session.hpp"
#include "tools/train/data_source.hpp"

namespace thimble {

class HostTwin {
 public:
  /// The session must be of the board's arithmetic profile. Weights are initialised from the seed.
  HostTwin(const Model& model, const SessionOptions& options, std::unique_ptr<DataSource> data, const TrainOptions& train,
           int accumulate, std::uint64_t seed);

  /// The digest of the weights after `step` steps (0: the first weights). Any step may be asked for again.
  std::uint64_t digest_after(std::uint64_t step);
  /// The loss of a step, counted from 1.
  double loss_of(std::uint64_t step) {
    digest_after(step);
    return losses_.at(step - 1);
  }

 private:
  Session<float> session_;
  std::unique_ptr<DataSource> data_;
  TrainOptions options_;
  std::uint64_t accumulate_;
  std::uint64_t cursor_ = 0;
  std::vector<std::uint64_t> digests_;
  std::vector<double> losses_;
};

}  // namespace thimble
