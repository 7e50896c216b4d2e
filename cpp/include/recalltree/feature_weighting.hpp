// How much a feature of an example weighs: logarithms of counts, inverse document frequencies and
// unit length, from what has been seen so far.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "config.hpp"
#include "intended_race.hpp"
#include "key_histograms.hpp"
#include "rows.hpp"

namespace recalltree {

// A feature that is not zero, as a key.
struct ActiveKey {
  std::uint32_t key;
  float share;  // what it adds to the counts of the example's class
  float value;  // what the linear predictors see of it
  float pull;   // how much its histogram's votes count: |value| times the key's weight
  const KeyHistograms::Key* histogram;  // null if no example had it yet
};

class FeatureWeighting {
 public:
  explicit FeatureWeighting(const FeatureWeightingConfig& config) : config_(config) {}

  // Row i, given the weight of the examples that were counted so far, in the units of the
  // histograms; `own` of them are this example itself, and left out. Shares hold no document
  // frequencies, so that they are the same whenever an example is read.
  void read(const Rows& rows, std::size_t i, const KeyHistograms& histograms, double examples,
            double own, double unit, std::vector<ActiveKey>& out) const {
    out.clear();
    rows.visit(i, [&](std::uint32_t j, float x) {
      if (x == 0.0f) return;
      const float term = config_.sublinear_tf ? std::copysign(std::log1p(std::fabs(x)), x) : x;
      out.push_back({j, std::fabs(term), term, 0.0f, histograms.find(j)});
    });
    double share_norm = 0.0, value_norm = 0.0;
    for (ActiveKey& key : out) {
      const double had = key.histogram ? relaxed_load(key.histogram->examples) : 0.0;
      if (config_.use_idf)
        key.value *= static_cast<float>(inverse_frequency(std::max(0.0, had - own) / unit,
                                                          std::max(0.0, examples - own) / unit));
      share_norm += double(key.share) * double(key.share);
      value_norm += double(key.value) * double(key.value);
    }
    const bool scaled = config_.normalize && value_norm > 0.0;
    const auto share_scale = static_cast<float>(scaled ? 1.0 / std::sqrt(share_norm) : 1.0);
    const auto value_scale = static_cast<float>(scaled ? 1.0 / std::sqrt(value_norm) : 1.0);
    for (ActiveKey& key : out) {
      key.share *= share_scale;
      key.value *= value_scale;
      const float weight = key.histogram ? relaxed_load(key.histogram->weight) : 1.0f;
      key.pull = std::fabs(key.value) * weight;
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
