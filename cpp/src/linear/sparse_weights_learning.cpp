// Learning. One thread alone keeps what it finds of an example's weights and goes from row to row;
// one of several goes from feature to feature, each of which it locks once.
#include <algorithm>
#include <cmath>

#include "recalltree/base/hints.hpp"
#include "recalltree/base/intended_race.hpp"
#include "recalltree/linear/sparse_weights.hpp"

namespace recalltree {
namespace {

// A weight after a step of length h along r = z / sqrt(G).
inline float stepped(float weight, float shrinkage, float r, float z, float h) {
  if (shrinkage > 0.0f) weight *= std::max(0.0f, 1.0f - shrinkage * (r / z));
  return weight + h * r;
}

}  // namespace

void SparseWeights::find_columns(const Example& x, LookupCache& found) {
  for (const std::uint32_t key : x.keys) {
    found.columns.push_back(&columns_.touch(key));
    found.buckets.push_back(nullptr);
  }
}

float* SparseWeights::add_weight(SparseColumn& column, ModelId row) {
  rows_[row].n_slots.fetch_add(1, std::memory_order_relaxed);
  return column.add(row);
}

void SparseWeights::accumulate_bias(const ModelId* rows, std::size_t n, const float* weighted_g2,
                                    Steps& steps, const float* moved, double* c) {
  for (std::size_t i = 0; i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    float gained = moved[i];
    if (bias_) {
      Row& row = rows_[rows[i]];
      const float sum = relaxed_load(row.bias_accumulator) + weighted_g2[i];
      relaxed_store(row.bias_accumulator, sum);
      steps.bias_r[i] = 1.0f / std::sqrt(sum + kAccumulatorOffset);
      gained += steps.bias_r[i];
    }
    c[i] += gained;
  }
}

// --- One thread alone
// -------------------------------------------------------------------------------------------

void SparseWeights::scores(const ModelId* rows, std::size_t n, const Example& x, float* out,
                           LookupCache& found) {
  if (n == 0) return;
  if (found.columns.empty()) {
    find_columns(x, found);
    for (std::size_t k = 0; k < x.keys.size(); ++k) found.buckets[k] = found.columns[k]->buckets;
  }
  const std::size_t m = x.keys.size(), first = found.add_rows(n);
  SparseColumn* const* const columns = found.columns.data();
  float** const weights = found.row(first);
  if (n == 1) {
    *out = score_alone(*rows, x, columns, weights);
    return;
  }
  for (std::size_t i = 0; i < n; ++i) out[i] = bias_ ? rows_[rows[i]].bias : 0.0f;
  const auto fetch = [&](std::size_t k) {
    if (k < m && columns[k]->buckets != nullptr)
      for (std::size_t i = 0; i < n; ++i) prefetch(columns[k]->home(rows[i]));
  };
  const std::size_t ahead = 1 + kInFlight / n;
  for (std::size_t k = 0; k < ahead; ++k) fetch(k);
  for (std::size_t k = 0; k < m; ++k) {
    fetch(k + ahead);
    const SparseBuckets column = *columns[k];
    if (column.buckets == nullptr) continue;
    const float z = x.values[k];
    for (std::size_t i = 0; i < n; ++i)
      if (float* const weight = column.find(rows[i])) {
        weights[i * m + k] = weight;
        out[i] += *weight * z;
      }
  }
}

float SparseWeights::score_alone(ModelId row, const Example& x, SparseColumn* const* columns,
                                 float** weights) const {
  const std::size_t m = x.keys.size();
  const float* const z = x.values.data();
  for (std::size_t k = 0; k < m; ++k)
    if (columns[k]->buckets != nullptr) prefetch(columns[k]->home(row));
  float score = bias_ ? rows_[row].bias : 0.0f;
  for (std::size_t k = 0; k < m; ++k) {
    if (columns[k]->buckets == nullptr) continue;
    if (float* const weight = columns[k]->find(row)) {
      weights[k] = weight;
      score += *weight * z[k];
    }
  }
  return score;
}

void SparseWeights::scores_again(const ModelId* rows, std::size_t n, const Example& x, float* out,
                                 const LookupCache& found, std::size_t first) const {
  const std::size_t m = x.keys.size();
  SparseColumn* const* const columns = found.columns.data();
  const void* const* const buckets = found.buckets.data();
  const float* const z = x.values.data();
  for (std::size_t i = 0; i < n; ++i) {
    float* const* const weights = found.row(first + i);
    float score = bias_ ? rows_[rows[i]].bias : 0.0f;
    for (std::size_t k = 0; k < m; ++k) {
      const SparseColumn& column = *columns[k];
      if (column.buckets == buckets[k]) {
        if (weights[k] != nullptr) score += *weights[k] * z[k];
      } else if (const float* const weight = column.find(rows[i])) {
        score += *weight * z[k];
      }
    }
    out[i] = score;
  }
}

void SparseWeights::accumulate_alone(const ModelId* rows, std::size_t n, const Example& x,
                                     const float* weighted_g2, Steps& steps, double* c) {
  LookupCache& found = *steps.found;
  const std::size_t m = x.keys.size(), first = steps.first;
  const float* const z = x.values.data();
  SparseColumn* const* const columns = found.columns.data();
  const void* const* const buckets = found.buckets.data();
  std::size_t learning[kBlock], n_learning = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (weighted_g2[i] != 0.0f) learning[n_learning++] = i;

  // The weight of the k-th feature, or null.
  const auto find = [&](std::size_t i, std::size_t k) {
    const SparseColumn& column = *columns[k];
    if (column.buckets == buckets[k]) return found.row(first + i)[k];
    return column.buckets != nullptr ? column.find(rows[i]) : nullptr;
  };
  // A new one, for the l-th row that learns. If the column must grow, all that follow find room.
  const auto add = [&](std::size_t l, std::size_t k) {
    if (!columns[k]->has_room_for(columns[k]->n_rows + 1)) {
      std::size_t missing = 0;
      for (std::size_t other = l; other < n_learning; ++other)
        missing += find(learning[other], k) == nullptr;
      make_room(*columns[k], missing);
    }
    return add_weight(*columns[k], rows[learning[l]]);
  };
  // The weights have just been read for the scores, but not their accumulators: the next row's come
  // while one is worked on.
  const auto fetch = [&](std::size_t l) {
    float* const* const weights = found.row(first + learning[l]);
    for (std::size_t k = 0; k < m; ++k)
      if (weights[k] != nullptr && columns[k]->buckets == buckets[k])
        prefetch(columns[k]->accumulator(weights[k]));
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
    float** const weights = found.row(first + i);
    for (std::size_t k = 0; k < m; ++k) {
      weights[k] = find(i, k);
      if (weights[k] == nullptr) weights[k] = add(l, k);
      accumulators[k] = columns[k]->accumulator(weights[k]);
      G[k] = *accumulators[k];
    }
    float* const r = steps.r.data() + i * m;
    const float g2 = weighted_g2[i];
    for (std::size_t k = 0; k < m; ++k) {
      G[k] += g2 * (z[k] * z[k]);
      r[k] = z[k] / std::sqrt(G[k] + kAccumulatorOffset);
    }
    for (std::size_t k = 0; k < m; ++k) {
      *accumulators[k] = G[k];
      moved[i] += z[k] * r[k];
    }
  }
  accumulate_bias(rows, n, weighted_g2, steps, moved, c);
}

void SparseWeights::apply_alone(const ModelId* rows, std::size_t n, const Example& x,
                                const float* weighted_g2, const Steps& steps, const float* h,
                                const float* shrinkage) {
  const LookupCache& found = *steps.found;
  const std::size_t m = x.keys.size();
  SparseColumn* const* const columns = found.columns.data();
  const void* const* const buckets = found.buckets.data();
  for (std::size_t i = 0; i < n; ++i) {
    if (weighted_g2[i] == 0.0f) continue;
    float* const* const weights = found.row(steps.first + i);
    const float* const r = steps.r.data() + i * m;
    for (std::size_t k = 0; k < m; ++k) {
      const bool moved = columns[k]->buckets != buckets[k];
      float& weight = moved ? *columns[k]->find(rows[i]) : *weights[k];
      weight = stepped(weight, shrinkage[i], r[k], x.values[k], h[i]);
    }
  }
}

// --- One of several
// ---------------------------------------------------------------------------------------------

void SparseWeights::accumulate_shared(const ModelId* rows, std::size_t n, const Example& x,
                                      const float* weighted_g2, Steps& steps, double* c) {
  LookupCache& found = *steps.found;
  float moved[kBlock] = {}, G[kBlock] = {};
  float* accumulators[kBlock];
  for (std::size_t k = 0; k < x.keys.size(); ++k) {
    SparseColumn& column = *found.columns[k];
    SpinLock::Guard guard(column.lock, Threads::several);
    const auto find = [&](std::size_t i) {
      return column.buckets == nullptr ? nullptr : column.find(rows[i]);
    };
    if (!column.has_room_for(column.n_rows + n)) {
      // Nearly full: make room for those that learn and are really new.
      std::size_t missing = 0;
      for (std::size_t i = 0; i < n; ++i) missing += weighted_g2[i] != 0.0f && find(i) == nullptr;
      make_room(column, missing);
    }
    found.buckets[k] = column.buckets;
    for (std::size_t i = 0; i < n; ++i) {
      if (weighted_g2[i] == 0.0f) continue;
      float* weight = find(i);
      if (weight == nullptr) weight = add_weight(column, rows[i]);
      found.row(steps.first + i)[k] = weight;
      accumulators[i] = column.accumulator(weight);
      G[i] = relaxed_load(*accumulators[i]);
    }
    const float z = x.values[k];
    float* const r = steps.r.data() + k * n;
    for (std::size_t i = 0; i < n; ++i) {
      G[i] += weighted_g2[i] * (z * z);
      r[i] = z / std::sqrt(G[i] + kAccumulatorOffset);
      moved[i] += z * r[i];
    }
    for (std::size_t i = 0; i < n; ++i)
      if (weighted_g2[i] != 0.0f) relaxed_store(*accumulators[i], G[i]);
  }
  accumulate_bias(rows, n, weighted_g2, steps, moved, c);
}

void SparseWeights::apply_shared(const ModelId* rows, std::size_t n, const Example& x,
                                 const float* weighted_g2, const Steps& steps, const float* h,
                                 const float* shrinkage) {
  for (std::size_t k = 0; k < x.keys.size(); ++k) {
    SparseColumn& column = *steps.found->columns[k];
    SpinLock::Guard guard(column.lock, Threads::several);
    // Another thread may have moved the feature to more buckets.
    const bool moved = column.buckets != steps.found->buckets[k];
    for (std::size_t i = 0; i < n; ++i) {
      if (weighted_g2[i] == 0.0f) continue;
      float& weight = moved ? *column.find(rows[i]) : *steps.found->row(steps.first + i)[k];
      const float r = steps.r.data()[k * n + i];
      relaxed_store(weight, stepped(relaxed_load(weight), shrinkage[i], r, x.values[k], h[i]));
    }
  }
}

}  // namespace recalltree
