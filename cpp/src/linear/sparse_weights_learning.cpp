// Sparse weights: scores that look weights up for learning, and the first half of learning.
#include <algorithm>

#include "recalltree/base/hints.hpp"
#include "recalltree/linear/adagrad.hpp"
#include "recalltree/linear/sparse_scoring.hpp"
#include "recalltree/linear/sparse_weights.hpp"

namespace recalltree {
void SparseWeights::find_columns(const Example& x, LookupCache& found) {
  for (const std::uint32_t feature : x.features) {
    found.columns.push_back(&columns_.touch(feature));
    found.buckets.push_back(nullptr);
  }
}

float* SparseWeights::add_weight(SparseColumn& column, ModelId model) {
  models_[model].n_slots.fetch_add(1, std::memory_order_relaxed);
  return column.add(model);
}

void SparseWeights::accumulate_bias(const ModelId* models, std::size_t n, const float* weighted_g2,
                                    Steps& steps, const float* moved, double* c) {
  for (std::size_t i = 0; i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    float gained = moved[i];
    if (bias_) {
      Model& model = models_[models[i]];
      float G = model.bias_accumulator;
      steps.bias_r[i] = adagrad(G, weighted_g2[i], 1.0f);
      model.bias_accumulator = G;
      gained += steps.bias_r[i];
    }
    c[i] += gained;
  }
}

void SparseWeights::scores(const ModelId* models, std::size_t n, const Example& x, float* out,
                           LookupCache& found) {
  if (n == 0) return;
  const std::size_t m = x.features.size();
  if (found.columns.empty()) {
    find_columns(x, found);
    for (std::size_t k = 0; k < m; ++k) found.buckets[k] = found.columns[k]->buckets;
  }
  SparseColumn* const* const columns = found.columns.data();
  const std::size_t first = found.add_models(n);
  float** const weights = found.weights_of(first);
  for (std::size_t i = 0; i < n; ++i) out[i] = bias_ ? models_[models[i]].bias : 0.0f;
  const auto score = [&](const ModelId* models, std::size_t n, float* scores) {
    add_scores(
        models, n, x, scores,
        [&](std::size_t k) {
          if (!columns[k]->empty())
            for (std::size_t i = 0; i < n; ++i) columns[k]->prefetch(models[i]);
        },
        [&](std::size_t k, auto use) {
          if (!columns[k]->empty()) use(SparseBuckets(*columns[k]));
        },
        [&](std::size_t i, std::size_t k, float* weight) { weights[i * m + k] = weight; });
  };
  if (n > 1) {
    score(models, n, out);
  } else {
    // A router is asked alone: nothing loops over models, and the score stays in a register.
    const ModelId model = *models;
    float alone = *out;
    score(&model, 1, &alone);
    *out = alone;
  }
  if (found.made != nullptr && !found.made->empty()) add_made(models, n, x, out, found, first);
}

// Scores with weights that are not in the columns yet, added up in the order of the features.
void SparseWeights::add_made(const ModelId* models, std::size_t n, const Example& x, float* out,
                             LookupCache& found, std::size_t first) const {
  for (std::size_t i = 0; i < n; ++i) {
    float** const weights = found.weights_of(first + i);
    bool made = false;
    for (std::size_t k = 0; k < x.features.size(); ++k) {
      if (weights[k] != nullptr) continue;
      weights[k] = found.made->find(x.features[k], models[i]);
      made |= weights[k] != nullptr;
    }
    if (made) scores_again(models + i, 1, x, out + i, found, first + i);
  }
}

void SparseWeights::find_columns(const Example& x, ExampleColumns& known) const {
  known.columns.assign(x.features.size(), SparseColumn{});
  for (std::size_t k = 0; k < x.features.size(); ++k)
    if (const SparseColumn* const column = columns_.peek(x.features[k])) known.columns[k] = *column;
}

void SparseWeights::scores(const ModelId* models, std::size_t n, const Example& x, float* out,
                           const ExampleColumns& known) const {
  for (std::size_t i = 0; i < n; ++i) out[i] = bias(models[i]);
  add_scores(
      models, n, x, out,
      [&](std::size_t k) {
        if (const SparseBuckets column = known.columns[k]; !column.empty())
          for (std::size_t i = 0; i < n; ++i) column.prefetch(models[i]);
      },
      [&](std::size_t k, auto use) {
        if (!known.columns[k].empty()) use(SparseBuckets(known.columns[k]));
      },
      [](std::size_t, std::size_t, float*) {});
}

void SparseWeights::settle(Owner owner) {
  for (const NewWeights& made : new_weights_)
    made.visit(owner, [&](std::uint32_t feature, ModelId model, float value, float accumulated) {
      SparseColumn& column = columns_.touch(feature);
      make_room(column, 1);
      float* const weight = add_weight(column, model);
      *weight = value;
      *column.accumulator(weight) = accumulated;
    });
}

void SparseWeights::scores_again(const ModelId* models, std::size_t n, const Example& x, float* out,
                                 const LookupCache& found, std::size_t first) const {
  const std::size_t m = x.features.size();
  SparseColumn* const* const columns = found.columns.data();
  const void* const* const buckets = found.buckets.data();
  const float* const z = x.values.data();
  for (std::size_t i = 0; i < n; ++i) {
    float* const* const weights = found.weights_of(first + i);
    float score = bias_ ? models_[models[i]].bias : 0.0f;
    for (std::size_t k = 0; k < m; ++k) {
      const SparseColumn& column = *columns[k];
      if (column.buckets == buckets[k]) {
        if (weights[k] != nullptr) score += *weights[k] * z[k];
      } else if (const float* const weight = column.find(models[i])) {
        score += *weight * z[k];
      }
    }
    out[i] = score;
  }
}

// Model by model, so that the roots of many features are taken at once.
void SparseWeights::accumulate(const ModelId* models, std::size_t n, const Example& x,
                               const float* weighted_g2, Steps& steps, double* c,
                               LookupCache* known, std::size_t first) {
  if (std::all_of(weighted_g2, weighted_g2 + n, [](float g2) { return g2 == 0.0f; })) return;
  if (known == nullptr || known->columns.empty()) {
    known = &steps.own;
    known->clear();
    find_columns(x, *known);
    first = known->add_models(n);
  }
  steps.found = known;
  steps.first = first;
  LookupCache& found = *known;
  const std::size_t m = x.features.size();
  steps.r.reserve(m * n);
  const float* const z = x.values.data();
  SparseColumn* const* const columns = found.columns.data();
  const void* const* const buckets = found.buckets.data();
  std::size_t learning[kBlock], n_learning = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (weighted_g2[i] != 0.0f) learning[n_learning++] = i;

  // The weight of the k-th feature, or null.
  const auto find = [&](std::size_t i, std::size_t k) {
    const SparseColumn& column = *columns[k];
    if (column.buckets == buckets[k]) return found.weights_of(first + i)[k];
    return column.buckets != nullptr ? column.find(models[i]) : nullptr;
  };
  // A new one, for the l-th model that learns. If the column must grow, all that follow find room.
  const auto add = [&](std::size_t l, std::size_t k) {
    if (found.made != nullptr) return found.made->add(x.features[k], models[learning[l]]);
    if (!columns[k]->has_room_for(columns[k]->n_models + 1)) {
      std::size_t missing = 0;
      for (std::size_t other = l; other < n_learning; ++other)
        missing += find(learning[other], k) == nullptr;
      make_room(*columns[k], missing);
    }
    return add_weight(*columns[k], models[learning[l]]);
  };
  // The weights have just been read for the scores, but not their accumulators: the next model's
  // come while one is worked on.
  const auto fetch = [&](std::size_t l) {
    float* const* const weights = found.weights_of(first + learning[l]);
    for (std::size_t k = 0; k < m; ++k)
      if (weights[k] != nullptr && columns[k]->buckets == buckets[k])
        prefetch(found.accumulator(k, weights[k]));
  };

  steps.G.reserve(m);
  steps.accumulators.resize(m);
  float* const G = steps.G.data();
  float** const accumulators = steps.accumulators.data();
  float moved[kBlock] = {};
  fetch(0);
  for (std::size_t l = 0; l < n_learning; ++l) {
    if (l + 1 < n_learning) fetch(l + 1);
    const std::size_t i = learning[l];
    float** const weights = found.weights_of(first + i);
    for (std::size_t k = 0; k < m; ++k) {
      weights[k] = find(i, k);
      if (weights[k] == nullptr) weights[k] = add(l, k);
      accumulators[k] = found.accumulator(k, weights[k]);
      G[k] = *accumulators[k];
    }
    float* const r = steps.r.data() + i * m;
    const float g2 = weighted_g2[i];
    for (std::size_t k = 0; k < m; ++k) r[k] = adagrad(G[k], g2, z[k]);
    for (std::size_t k = 0; k < m; ++k) {
      *accumulators[k] = G[k];
      moved[i] += z[k] * r[k];
    }
  }
  accumulate_bias(models, n, weighted_g2, steps, moved, c);
}

}  // namespace recalltree
