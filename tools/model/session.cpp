#include "tools/model/session.hpp"

#include "tools/files/error.hpp"

namespace thimble {

namespace {

template <class real>
const KernelSets<real>& sets_of(const Model& m) {
  if constexpr (sizeof(real) == 4) {
    return m.f32;
  } else {
    return m.f64;
  }
}

Isa choose_isa(const SessionOptions& o) {
  const Isa isa = o.isa.value_or(best_isa());
  if (!can_run(isa)) {
    throw Error("--isa", "this processor cannot run " + std::string(text_of(isa)),
                "take --isa auto (here: " + std::string(text_of(best_isa())) + ")");
  }
  return isa;
}

template <class real>
std::unique_ptr<PreparedModel<real>> prepare(const Model& m, const SessionOptions& o) {
  PlanOptions plan{o.extent, o.threads, int(sizeof(real)), o.moments, o.gradients, o.fuse_update};
  const KernelTable<real> kernels = choose_kernels<real>(m, o);
  if constexpr (sizeof(real) == 4) {
    return m.prepare_f32(o.recompute, plan, kernels);
  } else {
    return m.prepare_f64(o.recompute, plan, kernels);
  }
}

std::string name_kernels(const SessionOptions& o) {
  if (o.reference) return "reference";
  if (o.profile == Profile::separate) return "plain, separate";
  return std::string(text_of(choose_isa(o)));
}

}  // namespace

template <class real>
KernelTable<real> choose_kernels(const Model& model, const SessionOptions& o) {
  const KernelSets<real>& sets = sets_of<real>(model);
  KernelTable<real> (*table)() = nullptr;
  std::string wanted = name_kernels(o);
  if (o.reference) {
    table = sets.reference;
  } else if (o.profile == Profile::separate) {
    if (o.isa && *o.isa != Isa::plain) {
      throw Error("--profile separate", "runs on the plain lanes only", "leave out --isa, or give --isa plain");
    }
    table = sets.separate;
  } else {
    const Isa isa = choose_isa(o);
    table = sets.by_isa[int(isa)];
    if (table == nullptr && !o.isa) table = sets.by_isa[int(Isa::plain)];
  }
  if (table == nullptr) throw Error("--isa", "this program was built without kernels for " + wanted, "");
  return table();
}

template <class real>
Session<real>::Session(const Model& model, const SessionOptions& o)
    : model_(model),
      threads_(o.threads),
      kernels_name_(name_kernels(o)),
      prepared_(prepare<real>(model, o)),
      arena_(prepared_->layout.arena_bytes),
      team_(o.threads),
      engine_(prepared_->layout, {arena_.data()}, team_.team()) {}

template KernelTable<float> choose_kernels(const Model&, const SessionOptions&);
template KernelTable<double> choose_kernels(const Model&, const SessionOptions&);
template class Session<float>;
template class Session<double>;

}  // namespace thimble
