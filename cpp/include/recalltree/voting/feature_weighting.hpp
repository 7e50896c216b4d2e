// Weights of an example's features: logarithms of counts, inverse document frequencies and
// unit length, from what has been seen so far.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/rows.hpp"
#include "recalltree/voting/key_histograms.hpp"

namespace recalltree {

// A count that was all the example's own leaves no more than this, in shares of the example.
inline constexpr float kRounding = 1e-3f;

// A feature that is not zero, as a key.
struct ActiveKey {
  std::uint32_t key;
  float share;               // what it adds to the counts of the example's class
  float value;               // what the linear predictors see of it
  float pull = 0.0f;         // how much its histogram's votes count: |value| times the key's weight
  float rarity = 0.0f;       // one over the square root of the weight of the examples that had it
  std::uint32_t n_read = 0;  // entries of its histogram that are read
  // Its histogram was not read, or not to the end: of the labels with a root at most this large
  // nothing is known yet.
  float unread = std::numeric_limits<float>::infinity();
  // Its histogram, in tables or in a mapped file; none if no example had it yet.
  const KeyHistograms::Key* histogram = nullptr;
  std::uint32_t place = kNoKey;

  static constexpr std::uint32_t kNoKey = ~std::uint32_t{0};
};

// A key as candidates are asked for it.
struct AskedKey {
  std::uint32_t key;
  float pull, rarity, value, unread;  // see ActiveKey
};

// Counts of a key: the weight of the examples that had it, and u.
struct KeyCounts {
  double examples = 0.0;
  float weight = 1.0f;
};

class FeatureWeighting {
 public:
  explicit FeatureWeighting(const FeatureWeightingConfig& config) : config_(config) {}

  // Row i, given what a store (see voting.hpp) has counted so far; `own` of that is this example
  // itself, and left out. Of its features the first `n_features` are keys. Shares hold no document
  // frequencies, so that they are the same whenever an example is read.
  template <class Store>
  void read(const Store& store, const Rows& rows, std::size_t i, std::size_t n_features, double own,
            std::vector<ActiveKey>& out) const {
    out.clear();
    const auto add = [&](std::uint32_t j, float x) {
      if (x == 0.0f) return;
      const float term = config_.sublinear_tf ? std::copysign(std::log1p(std::fabs(x)), x) : x;
      out.push_back({j, std::fabs(term), term});
      store.find_key(out.back());
    };
    if (n_features < rows.n_features)
      rows.visit_between(i, 0, n_features, add);
    else
      rows.visit(i, add);
    const double examples = store.examples(), unit = store.decay_unit();
    double share_norm = 0.0, value_norm = 0.0;
    for (ActiveKey& key : out) {
      const KeyCounts counts = store.counts_of(key);
      const double had = std::max(0.0, counts.examples - own);
      if (config_.use_idf)
        key.value *=
            static_cast<float>(inverse_frequency(had / unit, std::max(0.0, examples - own) / unit));
      if (had > kRounding * own) key.rarity = static_cast<float>(1.0 / std::sqrt(had));
      key.pull = counts.weight;
      share_norm += double(key.share) * double(key.share);
      value_norm += double(key.value) * double(key.value);
    }
    const bool scaled = config_.normalize && value_norm > 0.0;
    const auto share_scale = static_cast<float>(scaled ? 1.0 / std::sqrt(share_norm) : 1.0);
    const auto value_scale = static_cast<float>(scaled ? 1.0 / std::sqrt(value_norm) : 1.0);
    for (ActiveKey& key : out) {
      key.share *= share_scale;
      key.value *= value_scale;
      // 0 where it would be no number, as in a damaged file: keys are sorted by it.
      key.pull = std::max(0.0f, std::fabs(key.value) * key.pull);
    }
  }

  // The square root of the smoothed inverse document frequency; at least 1.
  static double inverse_frequency(double had, double examples) {
    return std::sqrt(1.0 + std::log(std::max(1.0, (examples + 1.0) / (had + 1.0))));
  }

 private:
  FeatureWeightingConfig config_;
};

}  // namespace recalltree
