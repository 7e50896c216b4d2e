#include "recalltree/mapped_key_forest.hpp"

#include "recalltree/state_checks.hpp"

namespace recalltree {

MappedKeyForest::MappedKeyForest(const OneAgainstSomeConfig& config, const State& state,
                                 std::size_t n_classes)
    : rules_(config),
      tree_(state, rules_.n_trees(), n_classes),
      routers_(config.learner.sparse
                   ? map_sparse_weights("routers", state, config.learner.n_features)
                   : map_dense_weights("routers", state, config.learner.n_features,
                                       DenseWeights::Rates::per_row)) {
  require(tree_.size() >= n_trees(), "a tree has no root");
  tree_.check_routers(routers_->size());
}

void MappedKeyForest::descend(const Example& x, std::size_t n_classes, double unit,
                              VotingWorkspace& v, Work& work) const {
  rules_.descend(
      x, n_classes, v, work, [&](NodeId n, bool right) { return tree_.child(n, right); },
      [&](NodeId n, float begun) {
        const RowId router = tree_.router(n);
        return router < routers_->size() ? begun + routers_->score(router, x) : begun;
      },
      [&](NodeId n) {
        return recall_lower_bound(tree_.recall(n, rules_.max_labels()), tree_.total(n) / unit,
                                  rules_.bound_lambda());
      });
}

}  // namespace recalltree
