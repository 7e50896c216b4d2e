#include "recalltree/voting/key_forest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "recalltree/paper/criteria.hpp"
#include "recalltree/paper/saved_tree.hpp"
#include "recalltree/voting/ranked_labels.hpp"

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

std::size_t NodeHistogram::raise(ClassId label, float before, float after, std::size_t limit) {
  return raise_ranked(std::span(entries_), limit, before, Entry{label, after}, [&] {
    // An eighth more room than needed, not twice.
    if (size() == entries_.capacity()) entries_.reserve(std::min(limit, size() + size() / 8 + 2));
    entries_.push_back({});
    return std::span(entries_);
  });
}

void NodeHistogram::rescale(double root) {
  total_ *= root * root;
  for (Entry& entry : entries_) entry.root *= static_cast<float>(root);
}

KeyForest::KeyForest(const OneAgainstSomeConfig& config)
    : KeyForestPrediction(config), routers_(make_routers(config.learner)) {
  for (std::size_t t = 0; t < n_trees(); ++t)
    tree_.create(kNoNode, [&](KeyNode& root) { root.tree = static_cast<std::uint32_t>(t); });
}

NodeId KeyForest::child_or_new(NodeId n, bool is_right) {
  return tree_.child_or_new(n, is_right, [&](KeyNode& child) {
    child.tree = tree_[n].tree;
    child.place = 2 * tree_[n].place + is_right;
  });
}

// How many examples of each label, by weight, passed the nodes on the way and those beside them.
void KeyForest::find_passed(Labels labels, VotingWorkspace& ws) const {
  ws.passed.resize(std::max(ws.passed.size(), labels.size()));
  for (std::size_t l = 0; l < labels.size(); ++l) find_passed(labels[l], ws.passed[l], ws);
}

void KeyForest::find_passed(ClassId y, std::vector<std::vector<Passed>>& passed_of_y,
                            VotingWorkspace& ws) const {
  passed_of_y.resize(n_trees());
  for (std::size_t t = 0; t < n_trees(); ++t) passed_of_y[t].assign(ws.routes[t].size() + 1, {});
  class_nodes_.visit(y, [&](NodeId n, float count) {
    const KeyNode& node = tree_[n];
    const Route& route = ws.routes[node.tree];
    // Where the ways part, or the shorter one ends.
    const auto end = static_cast<std::uint32_t>(route.size() - 1);
    std::uint32_t depth = std::min(end, node.depth);
    while (depth > 0 && node.place >> (node.depth - depth) != route[depth].place) --depth;
    auto& passed = passed_of_y[node.tree];
    if (node.depth == depth) {
      passed[depth].on += count;
    } else if (!stops_early() || node.depth == depth + 1) {
      // A route that stops early has a next node.
      const bool is_right = node.place >> (node.depth - depth - 1) & 1;
      const bool is_on = depth == end && is_right == (route[depth].margin > 0.0f);
      (is_on ? passed[depth + 1].on : passed[depth + 1].beside) += count;
    }
  });
  // On a path, examples were counted at all nodes, otherwise at the last one.
  if (stops_early()) return;
  for (auto& passed : passed_of_y)
    for (std::size_t d = passed.size() - 1; d > 0; --d)
      passed[d - 1].on += passed[d].on + passed[d].beside;
}

void KeyForest::find_router_lessons(Labels labels, double weight, double decay_unit,
                                    VotingWorkspace& ws) const {
  find_passed(labels, ws);
  for (std::size_t t = 0; t < n_trees(); ++t)
    for (std::size_t d = 0; d < ws.routes[t].size(); ++d)
      if (!ws.routes[t][d].is_last) find_router_lesson(t, d, labels.size(), weight, decay_unit, ws);
}

// As in the Recall Tree: the side on which the example leaves less entropy, and as important as the
// difference in total entropy.
void KeyForest::find_router_lesson(std::size_t tree, std::size_t depth, std::size_t n_labels,
                                   double weight, double decay_unit, VotingWorkspace& ws) const {
  const RouteStep& step = ws.routes[tree][depth];
  const double added = weight * decay_unit;
  const auto growth = [&](bool is_right) {
    const NodeId child = tree_.child(step.node, is_right);
    if (child == kNoNode) return 0.0;
    ++ws.work.histogram_touches;
    const double n = tree_[child].passed;
    const bool is_on = is_right == (step.margin > 0.0f);
    return entropy_growth(n, n_labels, added, [&](std::size_t l) {
      const Passed& below = ws.passed[l][tree][depth + 1];
      return std::min(n, is_on ? below.on : below.beside);
    });
  };
  const double delta = growth(false) - growth(true);
  if (std::fabs(delta) / added < kGrowthFloor) return;
  ws.router_lessons.push_back({step, delta > 0.0 ? 1.0f : -1.0f, std::fabs(delta) / decay_unit});
}

void KeyForest::arrive(RowNotes& notes) {
  for (const RouterLesson& lesson : notes.router_lessons)
    tree_.router_or_new(lesson.step.node, *routers_);
  notes.arrivals.clear();
  for (const Route& route : notes.routes) {
    const RouteStep& last = route.back();
    const NodeId end = last.is_last ? last.node : child_or_new(last.node, last.margin > 0.0f);
    for (NodeId n = end; n != kNoNode; n = tree_.parent(n))
      for (std::uint32_t l = 0; l < notes.own.size(); ++l)
        notes.arrivals.push_back({n, l, 0.0f, n == end || stops_early()});
  }
}

void KeyForest::teach(const RouterLesson& lesson, const Example& x, const LinearLearner& learner,
                      LinearLearner::Workspace& ws) {
  const ModelId router = tree_.router(lesson.step.node);
  const Part part{routers_.get(), &router, &x, false};
  learner.learn({&part, 1}, 1, &lesson.step.margin, &lesson.target, &lesson.importance, x.rate, ws);
}

void KeyForest::count_label(Arrival& arrival, ClassId y, double counted) {
  arrival.before = class_nodes_.add(y, arrival.node, counted);
}

std::size_t KeyForest::count_node(const Arrival& arrival, ClassId y, double counted) {
  KeyNode& node = tree_[arrival.node];
  node.passed += counted;
  if (!arrival.is_key) return 0;
  node.histogram.add_to_total(counted);
  return raise(node, y, std::sqrt(arrival.before),
               std::sqrt(static_cast<float>(arrival.before + counted)));
}

std::size_t KeyForest::raise(KeyNode& node, ClassId y, float before, float after) {
  const std::size_t bytes = node.histogram.bytes();
  const std::size_t touched = node.histogram.raise(y, before, after, max_labels());
  if (node.histogram.bytes() != bytes)
    label_bytes_.fetch_add(node.histogram.bytes() - bytes, std::memory_order_relaxed);
  return touched;
}

void KeyForest::rescale(double factor) {
  for (NodeId n = 0; n < tree_.size(); ++n) {
    tree_[n].passed *= factor;
    tree_[n].histogram.rescale(std::sqrt(factor));
  }
  class_nodes_.rescale(static_cast<float>(factor));
}

// Labels are known by their rank alone.
void KeyForest::save(State& state) const {
  routers_->save("routers", state);
  ForestArrays<Owned> learning;
  SavedTree saved;
  for (NodeId n = 0; n < tree_.size(); ++n) {
    const KeyNode& node = tree_[n];
    saved.add_node(node);
    learning.passed.push_back(node.passed);
    double sum_xlogx = 0.0;
    std::uint32_t rank = 0;
    for (const auto& entry : node.histogram.entries()) {
      saved.add_label(entry.label, entry.count(), rank++);
      sum_xlogx += xlogx(entry.count());
    }
    saved.add_sums(node.histogram.total(), sum_xlogx, node.histogram.mass());
  }
  std::move(saved).put_into(state);
  learning.offsets = {0};
  for (ClassId y = 0; y < class_nodes_.size(); ++y) {
    class_nodes_.visit(y, [&](NodeId n, float count) {
      learning.nodes.push_back(n);
      learning.counts.push_back(count);
    });
    learning.offsets.push_back(learning.nodes.size());
  }
  put_fields(std::move(learning), state);
}

void KeyForest::load(const State& state) {
  routers_->load("routers", state);
  TreeArrays<Viewed> saved;
  view_fields(saved, state);
  ForestArrays<Viewed> learning;
  learning.n_nodes = saved.left.size();
  learning.n_classes = class_nodes_.size();
  view_fields(learning, state);
  for (NodeId n = 0; n < saved.left.size(); ++n) {
    const NodeId parent = saved.parent[n];
    KeyNode& node = tree_[n < n_trees() ? n : child_or_new(parent, saved.right[parent] == n)];
    node.router = saved.router[n];
    node.passed = learning.passed[n];
    node.histogram.add_to_total(saved.sums[3 * n]);
    for (std::size_t i = saved.offsets[n]; i < saved.offsets[n + 1]; ++i)
      raise(node, saved.labels[i], 0.0f, static_cast<float>(std::sqrt(saved.counts[i])));
  }
  for (ClassId y = 0; y < class_nodes_.size(); ++y)
    for (std::size_t i = learning.offsets[y]; i < learning.offsets[y + 1]; ++i)
      class_nodes_.append(y, learning.nodes[i], learning.counts[i]);
}

}  // namespace recalltree
