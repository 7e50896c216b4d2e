#include "recalltree/key_forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "recalltree/criteria.hpp"

namespace recalltree {
namespace {

// Differences in total entropy below this, per unit of weight, are rounding, not preference.
constexpr double kEntropyFloor = 1e-6;
// Depth of trees whose leaves vote, if there are enough classes.
constexpr std::uint32_t kMaxDepth = 7;
// The random hyperplane at which a router begins: its norm, and of dense examples the features.
constexpr float kRandomNorm = 0.5f;
constexpr std::uint64_t kRandomFeatures = 16;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// Dense features are seen with one spread, sparse ones are not.
std::unique_ptr<Weights> make_routers(const LearnerConfig& config) {
  if (config.sparse) return std::make_unique<SparseWeights>(true);
  return std::make_unique<DenseWeights>(config.n_features, true, DenseWeights::Rates::per_row);
}

}  // namespace

KeyForest::KeyForest(const OneAgainstSomeConfig& config)
    : config_(config),
      n_trees_(config.keys == Keys::features ? 0
               : config.keys == Keys::path   ? 1
                                             : config.n_trees),
      max_labels_(config.max_labels),
      stops_early_(config.keys == Keys::path),
      routers_(make_routers(config.learner)) {
  if (config.keys == Keys::path) max_labels_ = config.max_candidates;
  const std::size_t keys = std::max<std::size_t>(1, stops_early_ ? n_trees_ : 2 * n_trees_);
  max_labels_ =
      std::min({max_labels_, std::max(1u, config.max_entries / static_cast<std::uint32_t>(keys)),
                LabelHistogram::kMaxCandidates});
  for (std::size_t t = 0; t < n_trees_; ++t) tree_.create(kNoNode, 0);
}

std::uint32_t KeyForest::max_depth(std::size_t n_classes) const {
  if (config_.max_depth > 0) return config_.max_depth;
  const auto bits = static_cast<std::uint32_t>(std::bit_width(std::max<std::size_t>(n_classes, 2)));
  return stops_early_ ? bits - 1 : std::min(kMaxDepth, bits);
}

float KeyForest::random_margin(std::uint64_t place, std::size_t tree, const Example& x) const {
  const std::uint64_t seed = mix(config_.seed ^ mix(place ^ (std::uint64_t{tree} << 48)));
  float sum = 0.0f;
  if (config_.learner.sparse) {
    for (std::size_t i = 0; i < x.keys.size(); ++i)
      sum += mix(seed ^ x.keys[i]) & 1 ? x.values[i] : -x.values[i];
    return kRandomNorm * sum;
  }
  for (std::uint64_t i = 0; i < kRandomFeatures; ++i) {
    const std::uint64_t bits = mix(seed + i);
    const float value = x.dense.data()[(bits >> 1) % config_.learner.n_features];
    sum += bits & 1 ? value : -value;
  }
  return kRandomNorm / 4.0f * sum;  // 4 = sqrt(kRandomFeatures)
}

float KeyForest::margin(NodeId node, std::uint64_t place, std::size_t tree, const Example& x,
                        bool shared) const {
  const float begun = random_margin(place, tree, x);
  const RowId router = tree_[node].router.load(std::memory_order_acquire);
  return router == kNoRow ? begun : begun + routers_->score(router, x, shared);
}

double KeyForest::recall(NodeId n, double unit, bool shared) const {
  auto& node = const_cast<Node&>(tree_[n]);
  SpinLock::Guard guard(node.lock, shared);
  return recall_lower_bound(node.histogram.recall(), node.histogram.total() / unit,
                            config_.bound_lambda);
}

void KeyForest::descend(const Example& x, std::size_t n_classes, double unit, VotingWorkspace& v,
                        Work& work, bool shared) const {
  const std::uint32_t bottom = max_depth(n_classes);
  v.routes.resize(n_trees_);
  v.node_keys.clear();
  for (std::size_t t = 0; t < n_trees_; ++t) {
    Route& route = v.routes[t];
    route.assign(1, {static_cast<NodeId>(t), 1});
    for (std::uint32_t d = 0; d < bottom; ++d) {
      RouteStep& step = route.back();
      step.margin = margin(step.node, step.place, t, x, shared);
      ++work.router_evaluations;
      const bool right = step.margin > 0.0f;
      const NodeId child = tree_.child(step.node, right);
      if (child == kNoNode) break;
      if (stops_early_ && recall(step.node, unit, shared) > recall(child, unit, shared)) break;
      const std::uint64_t place = 2 * step.place + right;
      route.push_back({child, place});
    }
    route.back().is_last = route.size() == bottom + 1;
    v.node_keys.push_back({route.back().node, 1.0f});
  }
  if (!stops_early_)
    for (std::size_t t = 0; t < n_trees_; ++t) find_second_key(x, bottom, t, v, work, shared);
}

// Behind the least sure router that has another side.
void KeyForest::find_second_key(const Example& x, std::uint32_t bottom, std::size_t tree,
                                VotingWorkspace& v, Work& work, bool shared) const {
  const RouteStep* least = nullptr;
  for (const RouteStep& step : v.routes[tree])
    if (!step.is_last && tree_.child(step.node, step.margin <= 0.0f) != kNoNode &&
        (least == nullptr || std::fabs(step.margin) < std::fabs(least->margin)))
      least = &step;
  if (least == nullptr) return;
  bool right = least->margin <= 0.0f;
  NodeId node = tree_.child(least->node, right);
  std::uint64_t place = 2 * least->place + right;
  while (tree_[node].depth < bottom) {
    right = margin(node, place, tree, x, shared) > 0.0f;
    ++work.router_evaluations;
    const NodeId child = tree_.child(node, right);
    if (child == kNoNode) break;
    node = child;
    place = 2 * place + right;
  }
  // The odds of the other side, as the router sees them.
  v.node_keys.push_back({node, std::exp(-std::fabs(least->margin))});
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
  if (std::fabs(delta) / added < kEntropyFloor) return;

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
    work.histogram_touches += node.histogram.add(y, counted, max_labels_);
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

// --- State
// -----------------------------------------------------------------------------------------------------

void KeyForest::save(State& state) const {
  routers_->save("routers", state);
  std::vector<std::uint32_t> left, right, parent, depth, router, labels;
  std::vector<double> counts, sums;
  std::vector<std::uint64_t> offsets{0};
  for (NodeId n = 0; n < tree_.size(); ++n) {
    const Node& node = tree_[n];
    left.push_back(node.left);
    right.push_back(node.right);
    parent.push_back(node.parent);
    depth.push_back(node.depth);
    router.push_back(node.router);
    const auto s = node.histogram.sums();
    sums.insert(sums.end(), {s.total, s.sum_xlogx, s.candidate_mass});
    labels.insert(labels.end(), node.histogram.labels().begin(), node.histogram.labels().end());
    counts.insert(counts.end(), node.histogram.counts().begin(), node.histogram.counts().end());
    offsets.push_back(labels.size());
  }
  state.put("trees.left", left);
  state.put("trees.right", right);
  state.put("trees.parent", parent);
  state.put("trees.depth", depth);
  state.put("trees.router", router);
  state.put("histograms.offsets", offsets);
  state.put("histograms.labels", labels);
  state.put("histograms.counts", counts);
  state.put("histograms.sums", sums, {tree_.size(), 3});
}

void KeyForest::load(const State& state, std::size_t n_classes) {
  routers_->load("routers", state);
  const auto left = state.get<std::uint32_t>("trees.left");
  const std::size_t n_nodes = left.size();
  const auto right = state.get<std::uint32_t>("trees.right", n_nodes);
  const auto parent = state.get<std::uint32_t>("trees.parent", n_nodes);
  const auto depth = state.get<std::uint32_t>("trees.depth", n_nodes);
  const auto router = state.get<std::uint32_t>("trees.router", n_nodes);
  const auto offsets = state.get<std::uint64_t>("histograms.offsets", n_nodes + 1);
  const auto labels = state.get<std::uint32_t>("histograms.labels", offsets.back());
  const auto counts = state.get<double>("histograms.counts", offsets.back());
  const auto sums = state.get<double>("histograms.sums", n_nodes * 3);
  const auto check = [](bool fine, const char* what) {
    if (!fine) throw std::invalid_argument(std::string("state: ") + what);
  };
  check(n_nodes >= n_trees_, "a tree has no root");
  // Children come after their parents and name them, so there are no cycles and every node is
  // reached once.
  const auto is_child = [&](NodeId child, NodeId n) {
    return child == kNoNode ||
           (child > n && child < n_nodes && parent[child] == n && depth[child] == depth[n] + 1);
  };
  for (NodeId n = 0; n < n_nodes; ++n) {
    check(n < n_trees_ ? parent[n] == kNoNode && depth[n] == 0 : parent[n] < n,
          "a node has no parent");
    check(is_child(left[n], n) && is_child(right[n], n) &&
              (left[n] != right[n] || left[n] == kNoNode),
          "a node's children are not its own");
    check(router[n] == kNoRow || router[n] < routers_->size(), "a router does not exist");
    check(offsets[n] <= offsets[n + 1] && offsets[n + 1] <= labels.size(),
          "histogram offsets are not increasing");
    for (std::size_t i = offsets[n]; i < offsets[n + 1]; ++i)
      check(labels[i] < n_classes, "a label does not exist");
    Node& node = tree_[n < n_trees_ ? n : tree_.create(parent[n], depth[n])];
    node.left = left[n];
    node.right = right[n];
    node.router = router[n];
    node.histogram.restore(labels.data() + offsets[n], counts.data() + offsets[n],
                           offsets[n + 1] - offsets[n],
                           {sums[3 * n], sums[3 * n + 1], sums[3 * n + 2]}, max_labels_);
  }
}

}  // namespace recalltree
