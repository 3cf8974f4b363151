#pragma once
/// An image's program: trains a few steps, and prints what one of them costs by op; then the model's matrix products
/// beside plain loop nests that are compiled with the same flags.

#include "board_config.hpp"
#include "ports/api/board_port.hpp"
#include "ports/api/image_data.hpp"
#include "ports/bare/text_line.hpp"
#include "ports/image/image_trainer.hpp"
#include "ports/image/loop_nest.hpp"
#include "ports/image/step_costs.hpp"

namespace thimble {

template <class Model>
class CostsImage {
 public:
  explicit CostsImage(Engine<float>& engine) : engine_(engine), port_(board_port()) {}

  int run() {
    constexpr int kStepsBefore = 10;  // until the moments are no longer those of the start
    engine_.initialise(/*seed=*/1);
    for (int i = 0; i < kStepsBefore; ++i) {
      if (step() != Status::ok) return 1;
    }
    const std::uint64_t began = now();
    if (step() != Status::ok) return 1;
    const std::uint64_t whole = now() - began, update = now() - accumulated_;
    line("digest ", "").hexadecimal(engine_.digest());
    std::int64_t flops = 0;
    {
      StepCosts costs(engine_, port_);
      if (step() != Status::ok) return 1;
      for (int i = 0; i < costs.profile().count(); ++i) {
        const OpProfile::Entry& e = costs.profile()[i];
        const Flops f = costs.flops(e.op);
        flops += f.forward + f.backward;
        line("op ", OpProfile::name_of(e.op).view()).number(e.forward).number(f.forward / 2).number(e.backward).number(
            f.backward / 2);
      }
    }
    line("step ", "update").number(update);
    line("step ", "whole").number(whole).number(flops / 2);
    products();
    line("end", "");
    return 0;
  }

 private:
  static constexpr auto kTokens = std::size_t(Model::kExtent.tokens());
  using S = Simd<float, Plain<kBoard.profile>>;

  /// A training step on the next context of the image's bytes.
  Status step() {
    std::int32_t tokens[kTokens], targets[kTokens];
    for (std::size_t i = 0; i < kTokens; ++i) {
      tokens[i] = token(place_ + i);
      targets[i] = token(place_ + i + 1);
    }
    place_ += kTokens;
    const Status s = engine_.accumulate(tokens, targets, Model::kExtent);
    accumulated_ = now();
    return s == Status::ok ? engine_.update(Model::kTraining).status : s;
  }
  std::int32_t token(std::size_t place) const {
    const std::span<const std::byte> data = image_data();
    return std::int32_t(std::to_integer<unsigned>(data[place % data.size()]) % unsigned(engine_.layout().vocabulary));
  }

  /// A line of text that is sent when it goes out of scope.
  class Line {
   public:
    Line(const Port& port, const char* first, std::string_view second) : port_(port) {
      text_.text(first);
      for (const char c : second) {
        const char letter[] = {c, 0};
        text_.text(letter);
      }
    }
    ~Line() {
      text_.text("\n");
      port_.send(port_.state, text_.bytes());
    }
    Line(const Line&) = delete;
    Line& number(std::uint64_t n) {
      text_.text(" ").decimal(n);
      return *this;
    }
    Line& hexadecimal(std::uint64_t n) {
      text_.hexadecimal(n, 8);
      return *this;
    }

   private:
    const Port& port_;
    TextLine text_;
  };

  Line line(const char* first, std::string_view second) { return Line(port_, first, second); }
  std::uint64_t now() const { return port_.ticks(port_.state); }

  /// Every matrix product of the linear layers and the head.
  void products() {
    const TapeView tape = engine_.layout().tape;
    for (int i = 0; i < tape.size; ++i) {
      const Value& v = tape[i];
      const std::int64_t rows = v.shape.rows(Model::kExtent), in = v.dims.in, out = v.dims.out;
      if (v.op == Linear::name.hash && !seen_before(tape, i)) {
        compare<ProductKind::nn>("nn", {rows, out, in}, in, out);
        compare<ProductKind::nt>("nt", {rows, in, out}, out, out);
        compare<ProductKind::tn>("tn", {in, out, rows}, in, out);
      }
      if (v.op == HeadCrossEntropy::name.hash) {
        const std::int64_t tile = rows < v.dims.option ? rows : v.dims.option;
        compare<ProductKind::nt>("nt", {tile, out, in}, in, in);
        compare<ProductKind::nn>("nn", {tile, in, out}, out, in);
        compare<ProductKind::tn>("tn", {out, in, tile}, out, in);
      }
    }
  }

  static bool seen_before(TapeView tape, int i) {
    for (int j = 0; j < i; ++j) {
      if (tape[j].op == tape[i].op && tape[j].dims == tape[i].dims) return true;
    }
    return false;
  }

  /// Both read weights, and write where gradients lie: only the time counts.
  template <ProductKind kind>
  void compare(const char* name, ProductArgs<float> args, std::int64_t lda, std::int64_t ldb) {
    const ParameterSlots& p = engine_.layout().parameters[0];
    args.a = engine_.at(p.first_moment);
    args.b = engine_.at(p.second_moment);
    args.c = engine_.at(p.gradient);
    args.lda = lda;
    args.ldb = ldb;
    args.ldc = args.n;
    const std::uint64_t began = now();
    product<S, kind>(args, {});
    const std::uint64_t ours = now() - began;
    const std::uint64_t digest = digest_of(args);
    const std::uint64_t again = now();
    loop_nest<S::profile, kind>(args);
    const std::uint64_t nest = now() - again;
    line("product ", name).number(args.m).number(args.n).number(args.k).number(ours).number(nest);
    if (digest != digest_of(args)) line("differs", "");
  }
  static std::uint64_t digest_of(const ProductArgs<float>& args) {
    Digest d;
    d.add(args.c, std::size_t(args.m * args.n));
    return d.value();
  }

  Engine<float>& engine_;
  const Port& port_;
  std::uint64_t accumulated_ = 0;
  std::size_t place_ = 0;
};

}  // namespace thimble
