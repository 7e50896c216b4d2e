// Scores of many examples at a time. Every score is added up in the same order as by scores(), so
// that it does not depend on what is scored beside it.
#include <algorithm>
#include <bit>

#include "recalltree/inlining.hpp"
#include "recalltree/prefetch.hpp"
#include "recalltree/sparse_weights.hpp"

namespace recalltree {
namespace {

// The distinct features of some examples, in order of appearance.
class FeatureNumbers {
 public:
  void clear(std::size_t n_at_most) {
    keys_.clear();
    table_.assign(std::bit_ceil(2 * n_at_most + 1), 0);
  }
  std::uint32_t add(std::uint32_t key) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = (key * 0x9E3779B1u >> 7) & mask;
    for (; table_[at] != 0; at = (at + 1) & mask)
      if (keys_[table_[at] - 1] == key) return table_[at] - 1;
    keys_.push_back(key);
    table_[at] = static_cast<std::uint32_t>(keys_.size());
    return table_[at] - 1;
  }
  const std::vector<std::uint32_t>& keys() const { return keys_; }

 private:
  std::vector<std::uint32_t> keys_, table_;  // table: numbers, plus 1; 0 where free
};

}  // namespace

void SparseWeights::look_up(const Example& x, ActiveFeatures& active) const {
  active.example = &x;
  active.features.clear();
  for (std::size_t k = 0; k < x.keys.size(); ++k)
    if (const SparseColumn* const here = column(x.keys, k))
      active.features.push_back({*here, x.values[k]});
}

void SparseWeights::score_each(const RowId* rows, const ActiveFeatures* const* xs, std::size_t n,
                               float* out) const {
  constexpr std::size_t kAhead = 2;
  const auto fetch = [&](std::size_t i) RECALLTREE_INLINED_LAMBDA {
    if (i >= n || rows[i] == kNoRow) return;
    for (const auto& feature : xs[i]->features) prefetch(feature.home(rows[i]));
  };
  for (std::size_t i = 0; i < kAhead; ++i) fetch(i);
  for (std::size_t i = 0; i < n; ++i) {
    fetch(i + kAhead);
    out[i] = 0.0f;
    if (rows[i] == kNoRow) continue;
    float score = bias_ ? rows_[rows[i]].bias : 0.0f;
    for (const auto& feature : xs[i]->features)
      if (const float* const weight = feature.find(rows[i])) score += *weight * feature.value;
    out[i] = score;
  }
}

void SparseWeights::score_all(const RowId* rows, std::size_t n, const Example* xs, std::size_t m,
                              float* out) const {
  // Weights, at most. The more examples share what was looked up the better, as long as it stays in
  // a cache.
  constexpr std::size_t kGathered = std::size_t{1} << 21;
  for (std::size_t begin = 0, end = 0; begin < m; begin = end) {
    std::size_t features = 0;
    for (; end < m && (end == begin || (features + xs[end].keys.size()) * n <= kGathered); ++end)
      features += xs[end].keys.size();
    if (end - begin == 1)
      scores(rows, n, xs[begin], out + begin * n, false);
    else
      score_together(rows, n, xs + begin, end - begin, out + begin * n);
  }
}

// What the rows weigh a feature is looked up once, for all examples that have it.
void SparseWeights::score_together(const RowId* rows, std::size_t n, const Example* xs,
                                   std::size_t m, float* out) const {
  thread_local FeatureNumbers features;
  thread_local std::vector<std::uint32_t> numbers;  // of the examples' features, end to end
  thread_local std::vector<float> weights;          // n per distinct feature
  std::size_t total = 0;
  for (std::size_t e = 0; e < m; ++e) total += xs[e].keys.size();
  features.clear(total);
  numbers.clear();
  for (std::size_t e = 0; e < m; ++e)
    for (const std::uint32_t key : xs[e].keys) numbers.push_back(features.add(key));

  const std::vector<std::uint32_t>& keys = features.keys();
  thread_local std::vector<SparseBuckets> columns;
  columns.clear();
  for (std::size_t f = 0; f < keys.size(); ++f) {
    const SparseColumn* const here = column(keys, f);
    columns.push_back(here != nullptr ? SparseBuckets{*here} : SparseBuckets{});
  }
  weights.assign(keys.size() * n, 0.0f);
  const auto fetch = [&](std::size_t f) RECALLTREE_INLINED_LAMBDA {
    if (f < columns.size() && columns[f].buckets != nullptr)
      for (std::size_t i = 0; i < n; ++i) prefetch(columns[f].home(rows[i]));
  };
  fetch(0);
  for (std::size_t f = 0; f < columns.size(); ++f) {
    fetch(f + 1);
    if (columns[f].buckets == nullptr) continue;
    const SparseBuckets here = columns[f];
    float* const of_rows = weights.data() + f * n;
    for (std::size_t i = 0; i < n; ++i)
      if (const float* const weight = here.find(rows[i])) of_rows[i] = *weight;
  }

  const std::uint32_t* number = numbers.data();
  for (std::size_t e = 0; e < m; ++e) {
    float* const scores = out + e * n;
    for (std::size_t i = 0; i < n; ++i) scores[i] = bias_ ? rows_[rows[i]].bias : 0.0f;
    for (const float z : xs[e].values) {
      const float* const w = weights.data() + *number++ * n;
      for (std::size_t i = 0; i < n; ++i) scores[i] += w[i] * z;
    }
  }
}

}  // namespace recalltree
