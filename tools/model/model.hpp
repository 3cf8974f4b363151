#pragma once
/// The models that this program carries, found by name, without their types.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/gpt.hpp"
#include "ports/host/cpu.hpp"
#include "tools/model/plan_data.hpp"

namespace thimble {

/// The kernels of one model for one number type and instruction set.
template <class real>
struct KernelTable {
  const OpKernels<real>* ops = nullptr;
  UpdateKernels<real> update;
  std::int64_t (*multiply_adds)(std::int64_t rounds) = nullptr;  ///< see tools/model/multiply_adds.hpp
};

/// The tables that make an Engine run, and the plans they come from.
template <class real>
struct PreparedModel {
  PlanData train_plan;
  PlanData evaluate_plan;
  PlanData decode_plan;
  std::vector<ProgramStep<real>> train;
  std::vector<ProgramStep<real>> evaluate;
  std::vector<ProgramStep<real>> decode;
  std::vector<ParameterSlots> parameters;
  std::vector<InputSlot> inputs;
  ModelLayout<real> layout;
};

/// A model's kernel sets.
template <class real>
struct KernelSets {
  KernelTable<real> (*by_isa[kIsaCount])() = {};       ///< profile fused; null where not built
  KernelTable<real> (*separate)() = nullptr;           ///< plain lanes, profile separate
  KernelTable<real> (*reference)() = nullptr;          ///< double only
};

struct Model {
  std::string name;
  std::string description;
  Extent extent;            ///< default batch and context
  TrainOptions training;    ///< default optimizer and schedule
  std::string recompute = "none";        ///< default --recompute: a text for schedule_of (core/tape/recompute.hpp)
  std::string board_recompute = "none";  ///< the same of images
  std::optional<GptConfig> gpt;  ///< where it is one of the family
  TapeView tape;
  KernelSets<float> f32;
  KernelSets<double> f64;
  std::unique_ptr<PreparedModel<float>> (*prepare_f32)(const std::string&, const PlanOptions&,
                                                       const KernelTable<float>&) = nullptr;
  std::unique_ptr<PreparedModel<double>> (*prepare_f64)(const std::string&, const PlanOptions&,
                                                        const KernelTable<double>&) = nullptr;
  PlanData (*plan)(ProgramKind, const std::string&, const PlanOptions&) = nullptr;

  std::int64_t parameter_count() const;
  int vocabulary() const { return vocabulary_of(tape); }
  int context_limit() const { return context_limit_of(tape, 1 << 20); }
  bool takes_tokens() const { return vocabulary() > 0; }
};

/// All models, by name.
const std::vector<Model>& all_models();

/// The model of that name; an Error that names the nearest one otherwise.
const Model& find_model(const std::string& name);

}  // namespace thimble
