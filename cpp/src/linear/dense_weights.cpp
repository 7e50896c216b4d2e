#include "recalltree/linear/dense_weights.hpp"

#include <algorithm>

#include "recalltree/kernels/kernels.hpp"
#include "recalltree/linear/adagrad.hpp"
#include "recalltree/linear/dense_scoring.hpp"

namespace recalltree {
ModelId DenseWeights::add_model() {
  return static_cast<ModelId>(models_.add([this](Model& model) {
    model.values = static_cast<float*>(values_.allocate(n_ * sizeof(float)));
    if (rates_ == Rates::per_weight)
      model.accumulators = static_cast<float*>(accumulators_.allocate(n_ * sizeof(float)));
  }));
}

float DenseWeights::bias(ModelId model) const { return bias_ ? models_[model].bias : 0.0f; }

void DenseWeights::scores(const ModelId* models, std::size_t n, const Example& x,
                          float* out) const {
  score_dense_models(
      models, n, x, n_, [&](ModelId model, std::size_t) { return models_[model].values; }, out);
  for (std::size_t i = 0; i < n; ++i) out[i] += bias(models[i]);
}

void DenseWeights::accumulate(const ModelId* models, std::size_t n, const Example& x,
                              const float* weighted_g2, Steps& steps, double* c, LookupCache*,
                              std::size_t) {
  const bool per_model = rates_ == Rates::per_model;
  const float squares = per_model ? kernels().dot(x.dense.data(), x.dense.data(), n_) : 0.0f;
  if (!per_model) steps.r.reserve(kBlock * n_);
  for (std::size_t i = 0; i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    Model& model = models_[models[i]];
    float moved = 0.0f;
    if (bias_ || per_model) {
      float G = model.bias_accumulator;
      steps.bias_r[i] = adagrad(G, weighted_g2[i], 1.0f);
      model.bias_accumulator = G;
      if (bias_) moved += steps.bias_r[i];
    }
    moved += per_model ? squares * steps.bias_r[i]
                       : kernels().accumulate(model.accumulators, x.dense.data(), weighted_g2[i],
                                              steps.r.data() + i * n_, n_);
    c[i] += moved;
  }
}

void DenseWeights::apply(const ModelId* models, std::size_t n, const Example& x,
                         const float* weighted_g2, const Steps& steps, const float* h,
                         const float* shrinkage) {
  for (std::size_t i = 0; i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    Model& model = models_[models[i]];
    if (rates_ == Rates::per_model) {
      const float r = steps.bias_r[i];
      move(models[i], x, h[i] * r, std::max(0.0f, 1.0f - shrinkage[i] * r));
    } else {
      if (shrinkage[i] > 0.0f)
        kernels().shrink(model.values, model.accumulators, x.dense.data(), shrinkage[i], n_);
      kernels().step(model.values, steps.r.data() + i * n_, h[i], n_);
    }
    if (bias_) model.bias = model.bias + h[i] * steps.bias_r[i];
  }
}

void DenseWeights::move(ModelId id, const Example& x, float h, float kept) {
  float* const values = models_[id].values;
  const float* const z = x.dense.data();
  if (kept != 1.0f)
    for (std::size_t j = 0; j < n_; ++j)
      if (z[j] != 0.0f) values[j] = values[j] * kept;
  kernels().step(values, z, h, n_);
}

ModelId DenseWeights::renew(ModelId id, ModelId) {
  Model& model = models_[id];
  std::fill_n(model.values, n_, 0.0f);
  if (model.accumulators != nullptr) std::fill_n(model.accumulators, n_, 0.0f);
  model.bias = model.bias_accumulator = 0.0f;
  return id;
}

ModelContents DenseWeights::contents(ModelId id) const {
  const Model& model = models_[id];
  ModelContents all;
  all.weights.assign(model.values, model.values + n_features_);
  if (model.accumulators != nullptr)
    all.accumulators.assign(model.accumulators, model.accumulators + n_features_);
  else
    all.accumulators.assign(n_features_, model.bias_accumulator);
  all.bias = model.bias;
  all.bias_accumulator = model.bias_accumulator;
  for (std::uint32_t j = 0; j < n_features_; ++j) all.features.push_back(j);
  return all;
}

void DenseWeights::save(const std::string& name, State& state,
                        const std::vector<ModelId>& models) const {
  DenseArrays<Owned> saved{n_, rates_};
  saved.weights.reserve(models.size() * n_);
  for (const ModelId id : models) {
    const Model& model = models_[id];
    saved.weights.insert(saved.weights.end(), model.values, model.values + n_);
    if (model.accumulators != nullptr)
      saved.accumulators.insert(saved.accumulators.end(), model.accumulators,
                                model.accumulators + n_);
    saved.bias.push_back(model.bias);
    saved.bias_accumulators.push_back(model.bias_accumulator);
  }
  put_fields(std::move(saved), state, name + ".");
}

void DenseWeights::load(const std::string& name, const State& state) {
  DenseArrays<Viewed> saved{n_, rates_};
  view_fields(saved, state, name + ".");
  for (std::size_t i = 0; i < saved.bias.size(); ++i) {
    Model& model = models_[add_model()];
    std::copy_n(saved.weights.begin() + i * n_, n_, model.values);
    if (model.accumulators != nullptr)
      std::copy_n(saved.accumulators.begin() + i * n_, n_, model.accumulators);
    model.bias = saved.bias[i];
    model.bias_accumulator = saved.bias_accumulators[i];
  }
}

}  // namespace recalltree
