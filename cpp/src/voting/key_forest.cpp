#include "recalltree/voting/key_forest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "recalltree/base/intended_race.hpp"
#include "recalltree/file/mapped_key_forest.hpp"
#include "recalltree/paper/criteria.hpp"
#include "recalltree/paper/saved_tree.hpp"

namespace recalltree {
namespace {

// Differences of growth below this, per unit of weight, are rounding, not preference.
constexpr double kGrowthFloor = 1e-6;

// Dense features are seen with one spread, sparse ones are not.
std::unique_ptr<Weights> make_routers(const LearnerConfig& config) {
  if (config.sparse) return std::make_unique<SparseWeights>(true);
  return std::make_unique<DenseWeights>(config.n_features, true, DenseWeights::Rates::per_model);
}

}  // namespace

KeyForest::KeyForest(const OneAgainstSomeConfig& config)
    : rules_(config), routers_(make_routers(config.learner)) {
  for (std::size_t t = 0; t < n_trees(); ++t) add_node(kNoNode, false);
}

NodeId KeyForest::add_node(NodeId parent, bool is_right) {
  return static_cast<NodeId>(nodes_.add([&](KeyNode& node) {
    node.parent = parent;
    node.tree = static_cast<std::uint32_t>(nodes_.size());
    if (parent == kNoNode) return;
    node.tree = nodes_[parent].tree;
    node.depth = nodes_[parent].depth + 1;
    node.place = 2 * nodes_[parent].place + is_right;
  }));
}

NodeId KeyForest::child_or_new(NodeId n, bool is_right, Threads threads) {
  KeyNode& node = nodes_[n];
  if (const NodeId known = node.child(is_right); known != kNoNode) return known;
  SpinLock::Guard guard(node.lock, threads);
  if (const NodeId known = node.child(is_right); known != kNoNode)
    return known;  // another thread was quicker
  const NodeId made = add_node(n, is_right);
  (is_right ? node.right : node.left).store(made, std::memory_order_release);
  return made;
}

double KeyForest::recall(NodeId n, double unit, Threads threads) const {
  const KeyNode& node = nodes_[n];
  SpinLock::Guard guard(node.lock, threads);
  const RankedLabels& histogram = node.histogram;
  return rules_.recall_bound(histogram.entries().size(), histogram.mass(), histogram.total(), unit);
}

void KeyForest::descend(const Example& x, std::size_t n_classes, double unit, VotingWorkspace& v,
                        Work& work, Threads threads) const {
  rules_.descend(
      x, n_classes, v, work, [&](NodeId n, bool right) { return nodes_[n].child(right); },
      [&](NodeId n, float begun) {
        const ModelId router = nodes_[n].router.load(std::memory_order_acquire);
        return router == kNoModel ? begun : begun + routers_->score(router, x, threads);
      },
      [&](NodeId n) { return recall(n, unit, threads); });
}

// How many examples of y, by weight, passed the nodes on the way and those beside them.
void KeyForest::find_passed(ClassId y, VotingWorkspace& v, Threads threads) const {
  v.passed.resize(n_trees());
  for (std::size_t t = 0; t < n_trees(); ++t) v.passed[t].assign(v.routes[t].size() + 1, {});
  class_nodes_.visit(y, threads, [&](NodeId n, float count) {
    const KeyNode& node = nodes_[n];
    const Route& route = v.routes[node.tree];
    // Where the ways part, or the shorter one ends.
    const auto end = static_cast<std::uint32_t>(route.size() - 1);
    std::uint32_t depth = std::min(end, node.depth);
    while (depth > 0 && node.place >> (node.depth - depth) != route[depth].place) --depth;
    auto& passed = v.passed[node.tree];
    if (node.depth == depth) {
      passed[depth].on += count;
    } else if (!rules_.stops_early() || node.depth == depth + 1) {
      // A route that stops early has a next node.
      const bool is_right = node.place >> (node.depth - depth - 1) & 1;
      const bool is_on = depth == end && is_right == (route[depth].margin > 0.0f);
      (is_on ? passed[depth + 1].on : passed[depth + 1].beside) += count;
    }
  });
  // On a path, examples were counted at all nodes, otherwise at the last one.
  if (rules_.stops_early()) return;
  for (auto& passed : v.passed)
    for (std::size_t d = passed.size() - 1; d > 0; --d)
      passed[d - 1].on += passed[d].on + passed[d].beside;
}

void KeyForest::update_routers(const Example& x, ClassId y, double weight, double unit,
                               const LinearLearner& learner, OneAgainstSomeWorkspace& ws) {
  find_passed(y, ws.voting, ws.threads);
  for (std::size_t t = 0; t < n_trees(); ++t) {
    const Route& route = ws.voting.routes[t];
    for (std::size_t d = 0; d < route.size(); ++d) {
      if (route[d].is_last) continue;
      const Passed& below = ws.voting.passed[t][d + 1];
      const bool is_right = route[d].margin > 0.0f;
      const double passed_of_y[2] = {is_right ? below.beside : below.on,
                                     is_right ? below.on : below.beside};
      update_router(route[d], passed_of_y, x, weight, unit, learner, ws);
    }
  }
}

// As in the Recall Tree: the side on which the example leaves less entropy, and as important as the
// difference in total entropy.
void KeyForest::update_router(const RouteStep& step, const double (&passed_of_y)[2],
                              const Example& x, double weight, double unit,
                              const LinearLearner& learner, OneAgainstSomeWorkspace& ws) {
  const double added = weight * unit;
  KeyNode& node = nodes_[step.node];
  // How much more entropy there is in all of a child's examples, n log n less the sum of c log c,
  // with one more of this label.
  const auto growth = [&](bool is_right) {
    const NodeId child = node.child(is_right);
    if (child == kNoNode) return 0.0;
    ++ws.work.histogram_touches;
    const double n = relaxed_load(nodes_[child].passed), c = std::min(n, passed_of_y[is_right]);
    return xlogx(n + added) - xlogx(n) - xlogx(c + added) + xlogx(c);
  };
  const double delta = growth(false) - growth(true);
  if (std::fabs(delta) / added < kGrowthFloor) return;

  ModelId router = node.router.load(std::memory_order_acquire);
  if (router == kNoModel) {
    SpinLock::Guard guard(node.lock, ws.threads);
    router = node.router.load(std::memory_order_relaxed);
    if (router == kNoModel) {
      router = routers_->add_model();
      node.router.store(router, std::memory_order_release);
    }
  }
  const float target = delta > 0.0 ? 1.0f : -1.0f;
  const double importance = std::fabs(delta) / unit;
  const Part part{routers_.get(), &router, &x, false};
  learner.learn({&part, 1}, 1, &step.margin, &target, &importance, x.rate, ws);
}

void KeyForest::count(const std::vector<Route>& routes, ClassId y, double counted, Work& work,
                      Threads threads) {
  for (const Route& route : routes) {
    const RouteStep& last = route.back();
    const NodeId end =
        last.is_last ? last.node : child_or_new(last.node, last.margin > 0.0f, threads);
    for (NodeId n = end; n != kNoNode; n = nodes_[n].parent) {
      KeyNode& node = nodes_[n];
      const bool is_key = n == end || rules_.stops_early();
      const float before = is_key ? class_nodes_.add(y, n, counted, threads) : 0.0f;
      if (threads == Threads::several)
        std::atomic_ref(node.passed).fetch_add(counted, std::memory_order_relaxed);
      else
        node.passed += counted;
      if (!is_key) continue;
      SpinLock::Guard guard(node.lock, threads);
      node.histogram.add_to_total(counted);
      work.histogram_touches +=
          raise(node, y, std::sqrt(before), std::sqrt(static_cast<float>(before + counted)));
    }
  }
}

std::size_t KeyForest::raise(KeyNode& node, ClassId y, float before, float after) {
  const std::size_t bytes = node.histogram.bytes();
  const std::size_t touched = node.histogram.raise(y, before, after, rules_.max_labels());
  if (node.histogram.bytes() != bytes)
    label_bytes_.fetch_add(node.histogram.bytes() - bytes, std::memory_order_relaxed);
  return touched;
}

void KeyForest::rescale(double factor) {
  for (NodeId n = 0; n < nodes_.size(); ++n) {
    nodes_[n].passed *= factor;
    nodes_[n].histogram.rescale(std::sqrt(factor));
  }
  class_nodes_.rescale(static_cast<float>(factor));
}

// Labels are known by their rank alone.
void KeyForest::save(State& state) const {
  routers_->save("routers", state);
  class_nodes_.save(state);
  SavedTree saved;
  std::vector<double> passed;
  for (NodeId n = 0; n < nodes_.size(); ++n) {
    const KeyNode& node = nodes_[n];
    saved.add_node(node);
    passed.push_back(node.passed);
    double sum_xlogx = 0.0;
    std::uint32_t rank = 0;
    for (const auto& entry : node.histogram.entries()) {
      saved.add_label(entry.label, entry.count(), rank++);
      sum_xlogx += xlogx(entry.count());
    }
    saved.add_sums(node.histogram.total(), sum_xlogx, node.histogram.mass());
  }
  std::move(saved).put_into(state);
  state.put("tree.passed", std::move(passed));
}

void KeyForest::load(const MappedKeyForest& view, const State& state) {
  routers_->load("routers", state);
  class_nodes_.load(state);
  const MappedTree& tree = view.tree();
  const auto passed = state.get<double>("tree.passed");
  for (NodeId n = 0; n < tree.size(); ++n) {
    const NodeId parent = tree.parent(n);
    KeyNode& node = nodes_[n < n_trees() ? n : add_node(parent, tree.right(parent) == n)];
    node.left = tree.left(n);
    node.right = tree.right(n);
    node.router = tree.router(n);
    node.passed = passed[n];
    node.histogram.add_to_total(tree.total(n));
    tree.visit_labels(n, rules_.max_labels(), [&](ClassId label, double count, std::uint32_t) {
      raise(node, label, 0.0f, static_cast<float>(std::sqrt(count)));
    });
  }
}

}  // namespace recalltree
