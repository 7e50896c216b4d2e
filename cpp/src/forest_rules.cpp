#include "recalltree/forest_rules.hpp"

#include <algorithm>
#include <bit>

namespace recalltree {
namespace {

// Depth of trees whose leaves vote, if there are enough classes.
constexpr std::uint32_t kMaxDepth = 7;
// Labels in the histogram of a leaf: it has met more, but the others hardly count.
constexpr std::uint32_t kMaxLabels = 128;
// The random hyperplane at which a router begins: its norm, and of dense examples the features.
constexpr float kRandomNorm = 0.5f;
constexpr std::uint64_t kRandomFeatures = 16;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// How many labels the histogram of a node holds. On the path they are the candidates; every other
// tree has two keys, which share the entries that an example may read.
std::uint32_t labels_of_node(const OneAgainstSomeConfig& config, std::size_t n_trees) {
  if (config.keys == Keys::path)
    return std::min({config.max_labels, config.max_candidates, config.max_entries});
  const auto keys = static_cast<std::uint32_t>(std::max<std::size_t>(1, 2 * n_trees));
  return std::min({config.max_labels, kMaxLabels, std::max(1u, config.max_entries / keys)});
}

}  // namespace

ForestRules::ForestRules(const OneAgainstSomeConfig& config)
    : learner_(config.learner),
      n_trees_(config.keys == Keys::features ? 0
               : config.keys == Keys::path   ? 1
                                             : config.n_trees),
      max_labels_(labels_of_node(config, n_trees_)),
      max_depth_(config.max_depth),
      stops_early_(config.keys == Keys::path),
      bound_lambda_(config.bound_lambda),
      seed_(config.seed) {}

std::uint32_t ForestRules::max_depth(std::size_t n_classes) const {
  if (max_depth_ > 0) return max_depth_;
  const auto bits = static_cast<std::uint32_t>(std::bit_width(std::max<std::size_t>(n_classes, 2)));
  return stops_early_ ? bits - 1 : std::min(kMaxDepth, bits);
}

float ForestRules::random_margin(std::uint64_t place, std::size_t tree, const Example& x) const {
  const std::uint64_t seed = mix(seed_ ^ mix(place ^ (std::uint64_t{tree} << 48)));
  float sum = 0.0f;
  if (learner_.sparse) {
    for (std::size_t i = 0; i < x.keys.size(); ++i)
      sum += mix(seed ^ x.keys[i]) & 1 ? x.values[i] : -x.values[i];
    return kRandomNorm * sum;
  }
  for (std::uint64_t i = 0; i < kRandomFeatures; ++i) {
    const std::uint64_t bits = mix(seed + i);
    const float value = x.dense.data()[(bits >> 1) % learner_.n_features];
    sum += bits & 1 ? value : -value;
  }
  return kRandomNorm / 4.0f * sum;  // 4 = sqrt(kRandomFeatures)
}

}  // namespace recalltree
