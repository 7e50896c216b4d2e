#include "recalltree/key_forest.hpp"

#include <cmath>

#include "recalltree/criteria.hpp"
#include "recalltree/mapped_key_forest.hpp"

namespace recalltree {
namespace {

// Differences of growth below this, per unit of weight, are rounding, not preference.
constexpr double kGrowthFloor = 1e-6;

// Dense features are seen with one spread, sparse ones are not.
std::unique_ptr<Weights> make_routers(const LearnerConfig& config) {
  if (config.sparse) return std::make_unique<SparseWeights>(true);
  return std::make_unique<DenseWeights>(config.n_features, true, DenseWeights::Rates::per_row);
}

}  // namespace

KeyForest::KeyForest(const OneAgainstSomeConfig& config)
    : rules_(config), routers_(make_routers(config.learner)) {
  for (std::size_t t = 0; t < n_trees(); ++t) tree_.create(kNoNode, 0);
}

double KeyForest::recall(NodeId n, double unit, bool shared) const {
  auto& node = const_cast<Node&>(tree_[n]);
  SpinLock::Guard guard(node.lock, shared);
  return recall_lower_bound(node.histogram.recall(), node.histogram.total() / unit,
                            rules_.bound_lambda());
}

void KeyForest::descend(const Example& x, std::size_t n_classes, double unit, VotingWorkspace& v,
                        Work& work, bool shared) const {
  rules_.descend(
      x, n_classes, v, work, [&](NodeId n, bool right) { return tree_.child(n, right); },
      [&](NodeId n, float begun) {
        const RowId router = tree_[n].router.load(std::memory_order_acquire);
        return router == kNoRow ? begun : begun + routers_->score(router, x, shared);
      },
      [&](NodeId n) { return recall(n, unit, shared); });
}

void KeyForest::update_routers(const std::vector<Route>& routes, const Example& x, ClassId y,
                               double weight, double unit, const LinearLearner& learner,
                               LinearLearner::Workspace& ws, Work& work, bool shared) {
  for (const Route& route : routes)
    for (const RouteStep& step : route)
      if (!step.is_last) update_router(step, x, y, weight, unit, learner, ws, work, shared);
}

// As in the Recall Tree: the side on which the example leaves less entropy, and as important as the
// difference in total entropy.
void KeyForest::update_router(const RouteStep& step, const Example& x, ClassId y, double weight,
                              double unit, const LinearLearner& learner,
                              LinearLearner::Workspace& ws, Work& work, bool shared) {
  const double added = weight * unit;
  // How much more entropy there is in all of a child's examples with one more of this label.
  const auto growth = [&](bool right) {
    const NodeId child = tree_.child(step.node, right);
    if (child == kNoNode) return 0.0;
    Node& node = tree_[child];
    SpinLock::Guard guard(node.lock, shared);
    ++work.histogram_touches;
    const LabelHistogram& histogram = node.histogram;
    return (histogram.total() + added) * histogram.entropy_with(histogram.count(y), added) -
           histogram.total() * histogram.entropy();
  };
  const double delta = growth(false) - growth(true);
  if (std::fabs(delta) / added < kGrowthFloor) return;

  Node& node = tree_[step.node];
  RowId router = node.router.load(std::memory_order_acquire);
  if (router == kNoRow) {
    SpinLock::Guard guard(node.lock, shared);
    router = node.router.load(std::memory_order_relaxed);
    if (router == kNoRow) {
      router = routers_->add_row();
      node.router.store(router, std::memory_order_release);
    }
  }
  const float target = delta > 0.0 ? 1.0f : -1.0f;
  const double importance = std::fabs(delta) / unit;
  const Part part{routers_.get(), &router, &x, false};
  learner.learn({&part, 1}, 1, &step.margin, &target, &importance, x.rate, ws, shared);
}

void KeyForest::count(const std::vector<Route>& routes, ClassId y, double counted, Work& work,
                      bool shared) {
  const auto add = [&](NodeId n) {
    Node& node = tree_[n];
    SpinLock::Guard guard(node.lock, shared);
    work.histogram_touches += node.histogram.add(y, counted, rules_.max_labels());
  };
  for (const Route& route : routes) {
    for (const RouteStep& step : route) add(step.node);
    if (const RouteStep& last = route.back(); !last.is_last)
      add(tree_.child_or_new(last.node, last.margin > 0.0f, shared));
  }
}

void KeyForest::rescale(double factor) {
  for (NodeId n = 0; n < tree_.size(); ++n) tree_[n].histogram.rescale(factor);
}

void KeyForest::save(State& state) const {
  routers_->save("routers", state);
  tree_.save(state);
}

void KeyForest::load(const MappedKeyForest& view, const State& state) {
  routers_->load("routers", state);
  tree_.load(view.tree(), rules_.max_labels());
}

}  // namespace recalltree
