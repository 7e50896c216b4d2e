// Parameters of the learners. The estimators pass all of them; the defaults are for C++ alone, and
// a test holds them to those of the estimators (recalltree.parameters). 0 stands for Python's None.
#pragma once

#include <cstdint>

#include "recalltree/base/loss.hpp"

namespace recalltree {

enum class PathFeatures { none, leaf, path };
// Weight of an example that teaches a router. D is the difference in the children's average entropy
// between routing it left and right. total_entropy: |D| times the examples at the node; entropy:
// |D|; unit: 1.
enum class RouterWeighting { total_entropy, entropy, unit };
enum class RoutingOrder { route_first, update_first };

struct LearnerConfig {
  std::uint32_t n_features = 0;
  bool sparse = false;  // weights only for pairs of a model and a feature that were touched
  Loss loss = Loss::logistic;
  double learning_rate = 1.0;
  double l2 = 0.0;
};

struct RecallTreeConfig {
  LearnerConfig learner;
  std::uint32_t max_candidates = 0;  // F; 0: 4 log2 K, K the classes seen so far
  std::uint32_t max_depth = 0;       // 0: log2 K
  double bound_lambda = 1.0;
  PathFeatures path_features = PathFeatures::none;
  bool path_interactions = false;
  RouterWeighting router_weighting = RouterWeighting::total_entropy;
  RoutingOrder routing_order = RoutingOrder::route_first;
  double count_decay = 0.0;  // half-life of a count, in examples; 0: counts never fade
  // A candidate that is not the label does not learn from a gradient that is smaller.
  double min_gradient = 0.1;
};

struct OneAgainstAllConfig {
  LearnerConfig learner;
  std::uint32_t negative_samples = 0;  // 0: every other class is a negative
  std::uint64_t seed = 0;
};

// Keys find an example's candidates: its features, which vote; the leaves it reaches in several
// shallow trees; both; the node where the descent of one tree stops, as in the paper; cells of
// class vectors, for dense features; or cells and trees. Where examples are sparse, cells see the
// dense block at their end, and the other features vote. Automatic: features where examples are
// sparse, cells for a dense block; trees where they are dense, with cells if features are many.
enum class Keys { automatic, features, trees, both, path, cells, cells_and_trees };

struct FeatureWeightingConfig {
  bool sublinear_tf = true;  // x becomes log(1 + x)
  bool use_idf = true;       // times the root of the inverse document frequency
  bool normalize = true;     // to unit length
};

struct OneAgainstSomeConfig {
  LearnerConfig learner;
  Keys keys = Keys::automatic;
  std::uint32_t max_candidates = 0;  // F; 0: VotingRules chooses
  std::uint32_t max_labels = 512;    // M: labels in the histogram of a feature
  std::uint32_t max_entries = 1024;  // E: entries of histograms that vote on one example
  FeatureWeightingConfig weighting;
  bool center = true;           // dense rows: take off the mean of each feature
  std::uint32_t n_trees = 4;    // T
  std::uint32_t max_depth = 0;  // of the trees; 0: follows from the number of classes
  double bound_lambda = 1.0;    // of the recall bound that ends a path
  double count_decay = 0.0;     // half-life of a count, in examples; 0: counts never fade
  std::uint64_t seed = 0;       // of the routers' random beginnings, and of the dropout
  // Bytes that the model may take; 0: as many as it needs.
  std::uint64_t memory_budget = 0;
  // Share of the features that an example is learned without, in passes after the first.
  double feature_dropout = 0.0;
  std::uint32_t cells_read = 64;  // cells whose class vectors are compared with an example
  // Cells in a row that bring nothing, after which reading ends; 0: half of cells_read.
  std::uint32_t idle_cells = 16;
  std::uint32_t n_dense_features = 0;  // features at the end of sparse examples, for cells
};

struct LOMTreeConfig {
  LearnerConfig learner;
  std::uint32_t max_nodes = 0;  // internal nodes; 0: classes seen - 1
  double swap_resistance = 4.0;
};

}  // namespace recalltree
