#include "recalltree/file/mapped_key_forest.hpp"

#include "recalltree/file/state_checks.hpp"

namespace recalltree {
namespace {

// Places in a tree are 64-bit numbers.
constexpr std::uint32_t kMaxDepth = 60;

}  // namespace

MappedKeyForest::MappedKeyForest(const OneAgainstSomeConfig& config, const State& state,
                                 std::size_t n_classes)
    : KeyForestPrediction(config),
      tree_(state, n_trees(), n_classes),
      routers_(config.learner.sparse
                   ? map_sparse_weights("routers", state,
                                        config.learner.n_features - config.n_dense_features)
                   : map_dense_weights("routers", state, config.learner.n_features,
                                       DenseWeights::Rates::per_model)) {
  require(tree_.size() >= n_trees(), "a tree has no root");
  tree_.check_routers(routers_->size());
  learning_.n_nodes = tree_.size();
  learning_.n_classes = n_trees() > 0 ? n_classes : 0;
  has_learning_ = has_learning_fields(learning_, state);
  if (!has_learning_) return;
  view_fields(learning_, state);
  check_offsets(learning_.offsets, learning_.nodes.size(), "class_nodes.offsets");
}

void MappedKeyForest::check() const {
  tree_.check();
  routers_->check();
  check_finite_fields(learning_);
  for (const NodeId n : learning_.nodes)
    require(n < tree_.size(), "'class_nodes.nodes' names a node that does not exist");
  for (NodeId n = 0; n < tree_.size(); ++n)
    require(tree_.depth(n) <= kMaxDepth && tree_.n_labels(n) <= max_labels(),
            "a tree is too deep, or a histogram too long");
}

}  // namespace recalltree
