#include "tools/train/generate.hpp"

#include <cmath>

#include "core/base/philox.hpp"
#include "tools/files/error.hpp"

namespace thimble {

namespace {

/// Keeps the engine's cache in step with what has been said.
template <class real>
class Reader {
 public:
  explicit Reader(Session<real>& session) : session_(session), context_(session.engine().layout().limit.context) {}

  /// The logits after `token`, finite.
  std::span<const real> read(std::int32_t token) {
    said_.push_back(token);
    if (position_ == context_) {
      const std::size_t kept = std::size_t((context_ + 1) / 2);
      const std::vector<std::int32_t> again(said_.end() - std::ptrdiff_t(kept), said_.end());
      position_ = 0;
      for (std::int32_t t : again) step(t);
    } else {
      step(token);
    }
    const std::span<const real> logits(logits_, std::size_t(session_.model().vocabulary()));
    for (const real x : logits) {
      if (std::isfinite(x)) continue;
      throw Error("generation, position " + std::to_string(position_ - 1), "a logit is not a finite number",
                  "the weights have grown too large; take an earlier file");
    }
    return logits;
  }

 private:
  void step(std::int32_t token) {
    const Status s = session_.engine().decode(token, position_++, logits_);
    if (s != Status::ok) throw Error("generation", text_of(s), "");
  }

  Session<real>& session_;
  std::int32_t context_;
  std::int32_t position_ = 0;
  std::vector<std::int32_t> said_;
  const real* logits_ = nullptr;
};

}  // namespace

template <class real>
std::vector<std::int32_t> generate(Session<real>& session, std::span<const std::int32_t> prompt,
                                   const GenerateOptions& options,
                                   const std::function<void(std::int32_t)>& each) {
  if (!generates(session.model().tape)) {
    throw Error("sample", session.model().name + " does not end in logits: there is nothing to sample", "");
  }
  if (prompt.empty()) throw Error("--prompt", "generation needs at least one token to start from", "");
  Reader<real> reader(session);
  std::span<const real> logits;
  for (std::int32_t token : prompt) logits = reader.read(token);

  std::vector<std::int32_t> out;
  const std::uint64_t stream = (options.sequence << 8) | std::uint64_t(Stream::sample);
  while (std::int64_t(out.size()) < options.length) {
    const double u = uniform(options.seed, out.size(), stream);
    const std::size_t ids = options.id_count > 0 ? std::size_t(options.id_count) : logits.size();
    const std::int32_t token = sample_token(logits.first(ids), options.sampling, u);
    if (options.stop_at && token == *options.stop_at) break;
    out.push_back(token);
    if (each) each(token);
    if (std::int64_t(out.size()) < options.length) logits = reader.read(token);
  }
  return out;
}

template std::vector<std::int32_t> generate(Session<float>&, std::span<const std::int32_t>, const GenerateOptions&,
                                            const std::function<void(std::int32_t)>&);
template std::vector<std::int32_t> generate(Session<double>&, std::span<const std::int32_t>, const GenerateOptions&,
                                            const std::function<void(std::int32_t)>&);

}  // namespace thimble
