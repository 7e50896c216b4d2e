#include "recalltree/file/mapped_key_forest.hpp"

#include "recalltree/file/state_checks.hpp"

namespace recalltree {
namespace {

// Places in a tree are 64-bit numbers.
constexpr std::uint32_t kMaxDepth = 60;

}  // namespace

MappedKeyForest::MappedKeyForest(const OneAgainstSomeConfig& config, const State& state,
                                 std::size_t n_classes)
    : rules_(config),
      tree_(state, rules_.n_trees(), n_classes),
      routers_(config.learner.sparse
                   ? map_sparse_weights("routers", state, config.learner.n_features)
                   : map_dense_weights("routers", state, config.learner.n_features,
                                       DenseWeights::Rates::per_model)) {
  require(tree_.size() >= n_trees(), "a tree has no root");
  tree_.check_routers(routers_->size());
  // All of this, or none of it.
  for (const char* name :
       {"tree.passed", "class_nodes.offsets", "class_nodes.nodes", "class_nodes.counts"})
    has_passed_ |= state.has(name);
  if (!has_passed_) return;
  passed_ = state.get<double>("tree.passed", tree_.size());
  class_offsets_ =
      state.get<std::uint64_t>("class_nodes.offsets", (n_trees() > 0 ? n_classes : 0) + 1);
  class_nodes_ = state.get<std::uint32_t>("class_nodes.nodes");
  class_counts_ = state.get<float>("class_nodes.counts", class_nodes_.size());
  check_offsets(class_offsets_, class_nodes_.size(), "class_nodes.offsets");
}

void MappedKeyForest::check() const {
  tree_.check();
  routers_->check();
  check_finite(passed_, "tree.passed");
  check_finite(class_counts_, "class_nodes.counts");
  for (const NodeId n : class_nodes_)
    require(n < tree_.size(), "'class_nodes.nodes' names a node that does not exist");
  for (NodeId n = 0; n < tree_.size(); ++n)
    require(tree_.depth(n) <= kMaxDepth && tree_.n_labels(n) <= rules_.max_labels(),
            "a tree is too deep, or a histogram too long");
}

void MappedKeyForest::descend(const Example& x, std::size_t n_classes, double unit,
                              VotingWorkspace& v, Work& work) const {
  rules_.descend(
      x, n_classes, v, work, [&](NodeId n, bool right) { return tree_.child(n, right); },
      [&](NodeId n, float begun) {
        const ModelId router = tree_.router(n);
        return router < routers_->size() ? begun + routers_->score(router, x) : begun;
      },
      [&](NodeId n) {
        return rules_.recall_bound(tree_.n_labels(n), tree_.candidate_mass(n), tree_.total(n),
                                   unit);
      });
}

}  // namespace recalltree
