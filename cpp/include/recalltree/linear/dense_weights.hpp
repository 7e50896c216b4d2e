// The weights of a model side by side.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "recalltree/base/arena.hpp"
#include "recalltree/base/fields.hpp"
#include "recalltree/base/stable_vector.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

// Learning rates: one per weight, or one per model, that of its bias. The latter suits features of
// one spread and takes half the memory.
enum class Rates { per_weight, per_model };

// Weights as they are saved: padded, so that a mapped file can be used directly. Stored: float, or
// half of one in models that only predict.
template <template <class> class List, class Stored = float>
struct DenseArrays {
  std::size_t width;  // weights of a model
  Rates rates;
  List<Stored> weights = {};
  List<float> accumulators = {}, bias = {}, bias_accumulators = {};

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("bias", self.bias);
    visit("weights", self.weights, {.width = self.width});
    const std::size_t n = self.bias.size(), n_weights = self.weights.size();
    if (self.rates == Rates::per_weight)
      visit("accumulators", self.accumulators,
            {.length = n_weights, .width = self.width, .for_learning = true});
    visit("bias_accumulators", self.bias_accumulators, {.length = n, .for_learning = true});
  }
};

class DenseWeights final : public Weights {
 public:
  using Rates = recalltree::Rates;

  DenseWeights(std::size_t n_features, bool bias, Rates rates = Rates::per_weight)
      : n_(padded(n_features)), n_features_(n_features), bias_(bias), rates_(rates) {}

  ModelId add_model() override;
  std::size_t size() const override { return models_.size(); }
  void scores(const ModelId* models, std::size_t n, const Example& x, float* out) const override;
  void accumulate(const ModelId* models, std::size_t n, const Example& x, const float* weighted_g2,
                  Steps& steps, double* c, LookupCache* found, std::size_t first) override;
  void apply(const ModelId* models, std::size_t n, const Example& x, const float* weighted_g2,
             const Steps& steps, const float* h, const float* shrinkage) override;
  // One model alone: after w *= kept wherever x is not zero, w += h x.
  void move(ModelId model, const Example& x, float h, float kept);
  ModelId renew(ModelId model, ModelId) override;
  ModelContents contents(ModelId model) const override;
  using Weights::save;
  void save(const std::string& name, State& state,
            const std::vector<ModelId>& models) const override;
  void load(const std::string& name, const State& state) override;
  std::size_t bytes() const override {
    return values_.used() + accumulators_.used() + models_.bytes();
  }

  // Bytes for this many models.
  std::size_t bytes(std::size_t models) const {
    const std::size_t values = rates_ == Rates::per_weight ? 2 * n_ : n_;
    return models * values * sizeof(float) + StableVector<Model>::bytes(models);
  }

  const float* values(ModelId model) const override { return models_[model].values; }
  float bias(ModelId model) const override;
  std::size_t stride() const { return n_; }

 private:
  struct Model {
    float* values = nullptr;
    float* accumulators = nullptr;  // none if the model has one rate
    float bias = 0.0f, bias_accumulator = 0.0f;
  };
  std::size_t n_, n_features_;
  bool bias_;
  Rates rates_;
  Arena values_, accumulators_;  // apart, so that prediction streams through values only
  StableVector<Model> models_;
};

}  // namespace recalltree
