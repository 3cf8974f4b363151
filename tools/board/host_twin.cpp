#include "tools/board/host_twin.hpp"

#include "tools/files/error.hpp"

namespace thimble {

HostTwin::HostTwin(const Model& model, const SessionOptions& options, std::unique_ptr<DataSource> data,
                   const TrainOptions& train, int accumulate, std::uint64_t seed)
    : session_(model, options), data_(std::move(data)), options_(train), accumulate_(std::uint64_t(accumulate)) {
  session_.engine().initialise(seed);
  digests_.push_back(session_.engine().digest());
}

std::uint64_t HostTwin::digest_after(std::uint64_t step) {
  Engine<float>& engine = session_.engine();
  while (digests_.size() <= step) {
    // On the board the update may be a part of the pass: here it never is.
    for (std::uint64_t i = 0; i < accumulate_; ++i) {
      const TokenBatch b = data_->batch(cursor_++);
      const Status s = engine.accumulate(b.tokens, b.targets, b.extent);
      if (s != Status::ok) throw Error("training data", text_of(s), "");
    }
    losses_.push_back(engine.update(options_).loss);
    digests_.push_back(engine.digest());
  }
  return digests_[step];
}

}  // namespace thimble
