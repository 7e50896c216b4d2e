#include "recalltree/paper/one_against_all.hpp"

#include <nanobind/stl/string.h>

#include "explanation.hpp"
#include "learner.hpp"
#include "learners.hpp"
#include "recalltree/file/mapped_one_against_all.hpp"
#include "weights.hpp"

namespace recalltree::bindings {
namespace {

OneAgainstAllConfig make_config(const LearnerConfig& learner, std::uint32_t negative_samples,
                                std::uint64_t seed) {
  return {learner, negative_samples, seed};
}

template <class Model>
nb::dict config_of(const Model& model) {
  nb::dict out;
  put(out, model.config().learner);
  out["negative_samples"] = model.config().negative_samples;
  out["seed"] = model.config().seed;
  return out;
}

template <class Model>
nb::dict predictor(const Model& model, ClassId y) {
  check_class(model, y);
  nb::dict out = row_dict(model.predictors(), y, model.config().learner.n_features);
  put_path(out, {});
  return out;
}

template <class Model>
void bind(nb::module_& m, const char* name) {
  nb::class_<Model> c(m, name);
  const OneAgainstAllConfig standard;
  bind_init(c, make_config, "negative_samples"_a = standard.negative_samples,
            "seed"_a = standard.seed);
  c.def_prop_ro("config", &config_of<Model>);
  c.def("predictor", reading(&predictor<Model>), "class_id"_a);
  bind_explain_classes(c);
  bind_common<MappedOneAgainstAll>(c);
}

void bind_one_against_all(nb::module_& m) {
  bind<OneAgainstAll>(m, "OneAgainstAll");
  bind<MappedOneAgainstAll>(m, "MappedOneAgainstAll");
}
const BoundLearner bound(&bind_one_against_all);

}  // namespace

}  // namespace recalltree::bindings
