#include "recalltree/one_against_all.hpp"

#include <nanobind/stl/string.h>

#include "explanation.hpp"
#include "learner.hpp"
#include "learners.hpp"
#include "options.hpp"
#include "recalltree/mapped_one_against_all.hpp"
#include "weights.hpp"

namespace recalltree::bindings {
namespace {

OneAgainstAllConfig make_config(std::uint32_t n_features, bool sparse, const std::string& loss,
                                double learning_rate, double l2, std::uint32_t negative_samples,
                                std::uint64_t seed) {
  return {learner_config(n_features, sparse, loss, learning_rate, l2), negative_samples, seed};
}

template <class Class, class Init, class... First>
void bind_init(Class& c, Init init, First... first) {
  c.def("__init__", init, first..., nb::kw_only(), "n_features"_a, "sparse"_a = false,
        "loss"_a = "logistic", "learning_rate"_a = 1.0, "l2"_a = 0.0, "negative_samples"_a = 0,
        "seed"_a = 0);
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

template <class Model, class Class>
void bind_views(Class& c) {
  c.def_prop_ro("config", &config_of<Model>);
  c.def("predictor", &predictor<Model>, "class_id"_a);
}

}  // namespace

void bind_one_against_all(nb::module_& m) {
  auto learner = nb::class_<OneAgainstAll>(m, "OneAgainstAll");
  bind_init(learner, [](OneAgainstAll* self, std::uint32_t n_features, bool sparse,
                        const std::string& loss, double learning_rate, double l2,
                        std::uint32_t negative_samples, std::uint64_t seed) {
    new (self) OneAgainstAll(
        make_config(n_features, sparse, loss, learning_rate, l2, negative_samples, seed));
  });
  bind_views<OneAgainstAll>(learner);
  bind_explain_classes<OneAgainstAll>(learner);
  bind_common<OneAgainstAll>(learner);
  bind_from_state<OneAgainstAll>(learner);

  auto mapped = nb::class_<MappedOneAgainstAll>(m, "MappedOneAgainstAll");
  bind_init(
      mapped,
      [](MappedOneAgainstAll* self, const nb::dict& state, std::uint32_t n_features, bool sparse,
         const std::string& loss, double learning_rate, double l2, std::uint32_t negative_samples,
         std::uint64_t seed) {
        new (self) MappedOneAgainstAll(
            make_config(n_features, sparse, loss, learning_rate, l2, negative_samples, seed),
            to_state(state));
      },
      "state"_a);
  bind_views<MappedOneAgainstAll>(mapped);
  bind_explain_classes<MappedOneAgainstAll>(mapped);
  bind_prediction<MappedOneAgainstAll>(mapped);
  bind_mapped<MappedOneAgainstAll>(mapped);
}

}  // namespace recalltree::bindings
