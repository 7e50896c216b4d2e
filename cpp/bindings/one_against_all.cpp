#include "recalltree/one_against_all.hpp"

#include <nanobind/stl/string.h>

#include "explanation.hpp"
#include "learner.hpp"
#include "learners.hpp"
#include "options.hpp"
#include "weights.hpp"

namespace recalltree::bindings {
namespace {

nb::dict config_of(const OneAgainstAll& model) {
  nb::dict out;
  put(out, model.config().learner);
  out["negative_samples"] = model.config().negative_samples;
  out["seed"] = model.config().seed;
  return out;
}

nb::dict predictor(const OneAgainstAll& model, ClassId y) {
  check_class(model, y);
  nb::dict out = row_dict(model.predictors(), y, model.config().learner.n_features);
  put_path(out, {});
  return out;
}

}  // namespace

void bind_one_against_all(nb::module_& m) {
  auto one_against_all = nb::class_<OneAgainstAll>(m, "OneAgainstAll");
  one_against_all
      .def(
          "__init__",
          [](OneAgainstAll* self, std::uint32_t n_features, bool sparse, const std::string& loss,
             double learning_rate, double l2, std::uint32_t negative_samples, std::uint64_t seed) {
            new (self) OneAgainstAll({learner_config(n_features, sparse, loss, learning_rate, l2),
                                      negative_samples, seed});
          },
          nb::kw_only(), "n_features"_a, "sparse"_a = false, "loss"_a = "logistic",
          "learning_rate"_a = 1.0, "l2"_a = 0.0, "negative_samples"_a = 0, "seed"_a = 0)
      .def(
          "predictor", [](const OneAgainstAll& t, ClassId y) { return predictor(t, y); },
          "class_id"_a);
  one_against_all.def_prop_ro("config", &config_of);
  bind_common<OneAgainstAll>(one_against_all);
  bind_explain_classes<OneAgainstAll>(one_against_all);
  bind_from_state<OneAgainstAll>(one_against_all);
}

}  // namespace recalltree::bindings
