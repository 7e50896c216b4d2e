// What follows from the Recall Tree's parameters alone, for the tree that learns and for the one
// that is mapped.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/example.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/paper/label_histogram.hpp"

namespace recalltree {

// F and the maximum depth.
struct Limits {
  std::uint32_t max_candidates, max_depth;
};

inline Limits limits_of(const RecallTreeConfig& config, std::size_t n_classes) {
  const auto log2_floor = [](std::size_t k) {
    return k <= 1 ? 0u : static_cast<std::uint32_t>(std::bit_width(k) - 1);
  };
  const std::uint32_t log2_ceil = n_classes <= 1 ? 0 : log2_floor(n_classes - 1) + 1;
  const std::uint32_t set = std::min(config.max_candidates, LabelHistogram::kMaxCandidates);
  // Depth is rounded down: there are always fewer routers than classes.
  return {set ? set : std::max(1u, 4 * log2_ceil),
          config.max_depth ? config.max_depth : std::max(1u, log2_floor(n_classes))};
}

// Counts are kept in growing units instead of letting the old ones fade: an example learned as the
// n-th adds its weight times this.
inline double inflation_of(const RecallTreeConfig& config, double decay_origin, double n) {
  if (config.count_decay <= 0.0) return 1.0;
  return std::exp2((n - decay_origin) / config.count_decay);
}

// What the class predictors see of a route.
inline void path_features_of(const RecallTreeConfig& config, const std::vector<NodeId>& route,
                             Example& path) {
  path.keys.clear();
  if (config.path_features == PathFeatures::path)
    path.keys.assign(route.begin() + 1, route.end());
  else if (config.path_features == PathFeatures::leaf && route.size() > 1)
    path.keys.assign(1, route.back());
  path.values.assign(path.keys.size(), 1.0f);
}

}  // namespace recalltree
