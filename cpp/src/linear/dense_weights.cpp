#include "recalltree/linear/dense_weights.hpp"

#include <algorithm>
#include <cmath>

#include "recalltree/base/intended_race.hpp"
#include "recalltree/kernels/kernels.hpp"
#include "recalltree/linear/dense_scoring.hpp"

namespace recalltree {
ModelId DenseWeights::add_model() {
  return static_cast<ModelId>(rows_.add([this](Row& row) {
    row.values = static_cast<float*>(values_.allocate(n_ * sizeof(float)));
    if (rates_ == Rates::per_weight)
      row.accumulators = static_cast<float*>(accumulators_.allocate(n_ * sizeof(float)));
  }));
}

float DenseWeights::bias(ModelId row) const { return bias_ ? relaxed_load(rows_[row].bias) : 0.0f; }

void DenseWeights::scores(const ModelId* rows, std::size_t n, const Example& x, float* out,
                          Threads) const {
  score_dense_rows(
      rows, n, x, n_, [&](ModelId row, std::size_t) { return rows_[row].values; }, out);
  for (std::size_t i = 0; i < n; ++i) out[i] += bias(rows[i]);
}

void DenseWeights::accumulate(const ModelId* rows, std::size_t n, const Example& x,
                              const float* weighted_g2, Steps& steps, double* c, Threads,
                              LookupCache*, std::size_t) {
  const bool per_row = rates_ == Rates::per_row;
  const float squares = per_row ? kernels().dot(x.dense.data(), x.dense.data(), n_) : 0.0f;
  if (!per_row) steps.r.reserve(kBlock * n_);
  for (std::size_t i = 0; i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    Row& row = rows_[rows[i]];
    float moved = 0.0f;
    if (bias_ || per_row) {
      const float G = relaxed_load(row.bias_accumulator) + weighted_g2[i];
      relaxed_store(row.bias_accumulator, G);
      steps.bias_r[i] = 1.0f / std::sqrt(G + kAccumulatorOffset);
      if (bias_) moved += steps.bias_r[i];
    }
    moved += per_row ? squares * steps.bias_r[i]
                     : kernels().accumulate(row.accumulators, x.dense.data(), weighted_g2[i],
                                            steps.r.data() + i * n_, n_);
    c[i] += moved;
  }
}

void DenseWeights::apply(const ModelId* rows, std::size_t n, const Example& x,
                         const float* weighted_g2, const Steps& steps, const float* h,
                         const float* shrinkage, Threads) {
  for (std::size_t i = 0; i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    Row& row = rows_[rows[i]];
    if (rates_ == Rates::per_row) {
      const float r = steps.bias_r[i];
      move(rows[i], x, h[i] * r, std::max(0.0f, 1.0f - shrinkage[i] * r));
    } else {
      if (shrinkage[i] > 0.0f)
        kernels().shrink(row.values, row.accumulators, x.dense.data(), shrinkage[i], n_);
      kernels().step(row.values, steps.r.data() + i * n_, h[i], n_);
    }
    if (bias_) relaxed_store(row.bias, relaxed_load(row.bias) + h[i] * steps.bias_r[i]);
  }
}

void DenseWeights::move(ModelId id, const Example& x, float h, float kept) {
  float* const values = rows_[id].values;
  const float* const z = x.dense.data();
  if (kept != 1.0f)
    for (std::size_t j = 0; j < n_; ++j)
      if (z[j] != 0.0f) relaxed_store(values[j], relaxed_load(values[j]) * kept);
  kernels().step(values, z, h, n_);
}

ModelId DenseWeights::renew(ModelId id, ModelId) {
  Row& row = rows_[id];
  std::fill_n(row.values, n_, 0.0f);
  if (row.accumulators != nullptr) std::fill_n(row.accumulators, n_, 0.0f);
  row.bias = row.bias_accumulator = 0.0f;
  return id;
}

ModelContents DenseWeights::contents(ModelId id) const {
  const Row& row = rows_[id];
  ModelContents all;
  all.weights.assign(row.values, row.values + n_features_);
  if (row.accumulators != nullptr)
    all.accumulators.assign(row.accumulators, row.accumulators + n_features_);
  else
    all.accumulators.assign(n_features_, row.bias_accumulator);
  all.bias = row.bias;
  all.bias_accumulator = row.bias_accumulator;
  for (std::uint32_t j = 0; j < n_features_; ++j) all.keys.push_back(j);
  return all;
}

// Padded, so that a file of them can be used where it lies.
void DenseWeights::save(const std::string& name, State& state,
                        const std::vector<ModelId>& rows) const {
  std::vector<float> weights, accumulators, bias, bias_accumulators;
  weights.reserve(rows.size() * n_);
  for (const ModelId id : rows) {
    const Row& row = rows_[id];
    weights.insert(weights.end(), row.values, row.values + n_);
    if (row.accumulators != nullptr)
      accumulators.insert(accumulators.end(), row.accumulators, row.accumulators + n_);
    bias.push_back(row.bias);
    bias_accumulators.push_back(row.bias_accumulator);
  }
  state.put(name + ".weights", std::move(weights), {rows.size(), n_});
  if (rates_ == Rates::per_weight)
    state.put(name + ".accumulators", std::move(accumulators), {rows.size(), n_});
  state.put(name + ".bias", std::move(bias));
  state.put(name + ".bias_accumulators", std::move(bias_accumulators));
}

void DenseWeights::load(const std::string& name, const State& state) {
  const auto bias = state.get<float>(name + ".bias");
  const auto bias_accumulators = state.get<float>(name + ".bias_accumulators", bias.size());
  const auto weights = state.get<float>(name + ".weights", bias.size() * n_);
  const std::size_t n_accumulators = rates_ == Rates::per_weight ? bias.size() * n_ : 0;
  const auto accumulators = n_accumulators > 0
                                ? state.get<float>(name + ".accumulators", n_accumulators)
                                : decltype(weights){};
  for (std::size_t i = 0; i < bias.size(); ++i) {
    Row& row = rows_[add_model()];
    std::copy_n(weights.begin() + i * n_, n_, row.values);
    if (row.accumulators != nullptr)
      std::copy_n(accumulators.begin() + i * n_, n_, row.accumulators);
    row.bias = bias[i];
    row.bias_accumulator = bias_accumulators[i];
  }
}

}  // namespace recalltree
