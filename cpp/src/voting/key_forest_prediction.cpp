#include "recalltree/voting/key_forest_prediction.hpp"

#include <algorithm>
#include <bit>

#include "recalltree/base/random_bits.hpp"

namespace recalltree {
namespace {

// Depth of trees whose leaves vote, if there are enough classes.
constexpr std::uint32_t kMaxDepth = 7;
// Labels in the histogram of a leaf: it has met more, but the others hardly count.
constexpr std::uint32_t kMaxLabels = 128;
// Norm of the random hyperplane at which a router begins.
constexpr float kRandomNorm = 0.5f;
// Places of each tree whose hyperplanes are cached: those above depth 8.
constexpr std::size_t kPlacesKept = 256;

std::size_t trees_of(const OneAgainstSomeConfig& config) {
  if (config.keys == Keys::features || config.keys == Keys::cells) return 0;
  return config.keys == Keys::path ? 1 : config.n_trees;
}

// Number of labels in the histogram of a node. On the path they are the candidates; every other
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
      n_trees_(trees_of(config)),
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

std::uint64_t ForestRules::seed_of(std::uint64_t place, std::size_t tree) const {
  return mix(seed_ ^ mix(place ^ (std::uint64_t{tree} << 48)));
}

Hyperplane ForestRules::hyperplane(std::uint64_t place, std::size_t tree) const {
  const std::uint64_t seed = seed_of(place, tree);
  Hyperplane made{true, {}};
  for (std::size_t i = 0; i < made.features.size(); ++i) {
    const std::uint64_t bits = mix(seed + i);
    made.features[i] =
        static_cast<std::uint32_t>(2 * ((bits >> 1) % learner_.n_features) + !(bits & 1));
  }
  return made;
}

float ForestRules::random_margin(std::uint64_t place, std::size_t tree, VotingWorkspace& ws) const {
  const Example& x = ws.x;
  float sum = 0.0f;
  if (learner_.sparse) {
    const std::uint64_t seed = seed_of(place, tree);
    for (std::size_t i = 0; i < x.features.size(); ++i)
      sum += mix(seed ^ x.features[i]) & 1 ? x.values[i] : -x.values[i];
    return kRandomNorm * sum;
  }
  // Hyperplanes of upper nodes are needed again and again, so they are cached.
  Hyperplane made;
  const Hyperplane* hyperplane = &made;
  if (place < kPlacesKept) {
    ws.hyperplanes.resize(n_trees_ * kPlacesKept);
    Hyperplane& kept = ws.hyperplanes[tree * kPlacesKept + place];
    if (!kept.is_known) kept = this->hyperplane(place, tree);
    hyperplane = &kept;
  } else {
    made = this->hyperplane(place, tree);
  }
  for (const std::uint32_t feature : hyperplane->features) {
    const float value = x.dense.data()[feature / 2];
    sum += feature & 1 ? -value : value;
  }
  return kRandomNorm / 4.0f * sum;  // 4 = sqrt(number of features)
}

}  // namespace recalltree
