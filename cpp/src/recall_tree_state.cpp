// The Recall Tree's state as arrays, and what can be seen of it from outside.
#include <algorithm>

#include "recalltree/mapped_recall_tree.hpp"
#include "recalltree/recall_tree.hpp"

namespace recalltree {

NodeSummary RecallTree::node(NodeId n) const {
  const Node& node = tree_[n];
  const double unit = inflation(static_cast<double>(n_examples_) - 1);
  return {node.left,
          node.right,
          node.parent,
          node.depth,
          node.router,
          node.histogram.size(),
          node.histogram.total() / unit,
          recall(n, fitted_candidates_, unit, false)};
}

std::vector<LabelHistogram::Candidate> RecallTree::ranked_labels(NodeId n) const {
  const double unit = inflation(static_cast<double>(n_examples_) - 1);
  std::vector<LabelHistogram::Candidate> all;
  tree_[n].histogram.ranked(all);
  for (auto& c : all) c.count /= unit;
  return all;
}

State RecallTree::save() {
  State state;
  save_common(state);
  predictors_->save("predictors", state);
  routers_->save("routers", state);
  path_weights_.save("path", state);
  save_interactions(state);
  const std::size_t n_nodes = tree_.size();
  std::vector<std::uint32_t> left, right, parent, depth, router, labels, arrivals;
  std::vector<double> counts, sums;
  std::vector<std::uint64_t> offsets{0};
  std::vector<LabelHistogram::Candidate> ranked;
  for (NodeId n = 0; n < n_nodes; ++n) {
    const Node& node = tree_[n];
    left.push_back(node.left);
    right.push_back(node.right);
    parent.push_back(node.parent);
    depth.push_back(node.depth);
    router.push_back(node.router);
    const auto s = node.histogram.sums();
    sums.insert(sums.end(), {s.total, s.sum_xlogx, s.candidate_mass});
    // Ranked, so that the candidates come first whatever reads them.
    node.histogram.ranked(ranked);
    for (const auto& c : ranked) {
      labels.push_back(c.label);
      arrivals.push_back(c.arrival);
      counts.push_back(c.count);
    }
    offsets.push_back(labels.size());
  }
  state.put("tree.left", std::move(left));
  state.put("tree.right", std::move(right));
  state.put("tree.parent", std::move(parent));
  state.put("tree.depth", std::move(depth));
  state.put("tree.router", std::move(router));
  state.put("histograms.offsets", std::move(offsets));
  state.put("histograms.labels", std::move(labels));
  state.put("histograms.arrivals", std::move(arrivals));
  state.put("histograms.counts", std::move(counts));
  state.put("histograms.sums", std::move(sums), {n_nodes, 3});
  state.put("tree.max_candidates", std::vector<std::uint32_t>{fitted_candidates_});
  state.put("tree.decay_origin", std::vector<double>{decay_origin_});
  return state;
}

// In the order of their keys, so that a row can be found by searching for its key.
void RecallTree::save_interactions(State& state) const {
  std::vector<std::pair<std::uint64_t, RowId>> pairs(interaction_rows_.begin(),
                                                     interaction_rows_.end());
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::uint64_t> keys;
  std::vector<RowId> rows;
  for (const auto& [key, row] : pairs) {
    keys.push_back(key);
    rows.push_back(row);
  }
  interactions_->save("interactions", state, rows);
  state.put("interactions.node_and_class", std::move(keys));
}

void RecallTree::load(const State& state) {
  // A view of the state checks it all, before anything is taken from it.
  const MappedRecallTree view(recall_config_, state);
  view.check();
  load_common(state);
  predictors_->load("predictors", state);
  routers_->load("routers", state);
  path_weights_.load("path", state);
  interactions_->load("interactions", state);
  const auto offsets = state.get<std::uint64_t>("histograms.offsets");
  const auto labels = state.get<std::uint32_t>("histograms.labels");
  const auto arrivals = state.get<std::uint32_t>("histograms.arrivals");
  const auto counts = state.get<double>("histograms.counts");
  const auto sums = state.get<double>("histograms.sums");
  fitted_candidates_ = state.get<std::uint32_t>("tree.max_candidates")[0];
  decay_origin_ = state.get<double>("tree.decay_origin")[0];
  std::vector<ClassId> arrived;
  std::vector<double> arrived_counts;
  for (NodeId n = 0; n < view.n_nodes(); ++n) {
    const NodeSummary summary = view.node(n);
    Node& node = tree_[tree_.create(summary.parent, summary.depth)];
    node.left = summary.left;
    node.right = summary.right;
    node.router = summary.router;
    arrived.resize(summary.n_labels);
    arrived_counts.resize(summary.n_labels);
    for (std::size_t i = offsets[n]; i < offsets[n + 1]; ++i) {
      arrived[arrivals[i]] = labels[i];
      arrived_counts[arrivals[i]] = counts[i];
    }
    node.histogram.restore(arrived.data(), arrived_counts.data(), summary.n_labels,
                           {sums[3 * n], sums[3 * n + 1], sums[3 * n + 2]}, fitted_candidates_);
  }
  const auto keys = state.get<std::uint64_t>("interactions.node_and_class");
  for (std::size_t i = 0; i < keys.size(); ++i)
    interaction_rows_.emplace(keys[i], static_cast<RowId>(i));
}

std::vector<std::pair<std::string, std::size_t>> RecallTree::memory() const {
  return {{"predictors", predictors_->bytes()},
          {"routers", routers_->bytes()},
          {"path_features", path_weights_.bytes()},
          {"path_interactions", interactions_->bytes() + interaction_rows_.size() * 32},
          {"nodes", tree_.node_bytes()},
          {"histograms", tree_.histogram_bytes()},
          {"feature_scale", learner_.scale.bytes()}};
}

}  // namespace recalltree
