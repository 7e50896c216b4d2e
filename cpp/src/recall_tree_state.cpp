// The Recall Tree's state as arrays, and what can be seen of it from outside.
#include <algorithm>

#include "recalltree/recall_tree.hpp"

namespace recalltree {

double RecallTree::node_total(NodeId n) const {
  return tree_[n].histogram.total() / inflation(static_cast<double>(n_examples_) - 1);
}

double RecallTree::node_recall_bound(NodeId n) const {
  return recall(n, fitted_candidates_, inflation(static_cast<double>(n_examples_) - 1), false);
}

std::vector<LabelHistogram::Candidate> RecallTree::ranked_labels(NodeId n) const {
  const LabelHistogram& histogram = tree_[n].histogram;
  const double unit = inflation(static_cast<double>(n_examples_) - 1);
  std::vector<LabelHistogram::Candidate> all;
  for (std::uint32_t i = 0; i < histogram.size(); ++i)
    all.push_back({histogram.labels()[i], i, histogram.counts()[i]});
  std::sort(all.begin(), all.end(), LabelHistogram::better);
  for (auto& c : all) c.count /= unit;
  return all;
}

State RecallTree::save() {
  State state;
  save_common(state);
  predictors_->save("predictors", state);
  routers_->save("routers", state);
  path_weights_.save("path", state);
  interactions_->save("interactions", state);
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
  state.put("tree.left", left);
  state.put("tree.right", right);
  state.put("tree.parent", parent);
  state.put("tree.depth", depth);
  state.put("tree.router", router);
  state.put("histograms.offsets", offsets);
  state.put("histograms.labels", labels);
  state.put("histograms.counts", counts);
  state.put("histograms.sums", sums, {tree_.size(), 3});
  state.put("tree.max_candidates", std::vector<std::uint32_t>{fitted_candidates_});
  state.put("tree.decay_origin", std::vector<double>{decay_origin_});
  std::vector<std::pair<std::uint64_t, RowId>> pairs(interaction_rows_.begin(),
                                                     interaction_rows_.end());
  std::sort(pairs.begin(), pairs.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<std::uint64_t> keys;
  for (const auto& pair : pairs) keys.push_back(pair.first);
  state.put("interactions.node_and_class", keys);
  return state;
}

void RecallTree::load(const State& state) {
  load_common(state);
  predictors_->load("predictors", state);
  routers_->load("routers", state);
  path_weights_.load("path", state);
  interactions_->load("interactions", state);
  const auto left = state.get<std::uint32_t>("tree.left");
  const std::size_t n_nodes = left.size();
  const auto right = state.get<std::uint32_t>("tree.right", n_nodes);
  const auto parent = state.get<std::uint32_t>("tree.parent", n_nodes);
  const auto depth = state.get<std::uint32_t>("tree.depth", n_nodes);
  const auto router = state.get<std::uint32_t>("tree.router", n_nodes);
  const auto offsets = state.get<std::uint64_t>("histograms.offsets", n_nodes + 1);
  const auto labels = state.get<std::uint32_t>("histograms.labels", offsets.back());
  const auto counts = state.get<double>("histograms.counts", offsets.back());
  const auto sums = state.get<double>("histograms.sums", n_nodes * 3);
  fitted_candidates_ = state.get<std::uint32_t>("tree.max_candidates", 1)[0];
  decay_origin_ = state.get<double>("tree.decay_origin", 1)[0];
  const auto check = [](bool fine, const char* what) {
    if (!fine) throw std::invalid_argument(std::string("state: ") + what);
  };
  check(predictors_->size() == n_classes() && path_weights_.size() == n_classes(),
        "predictors and classes differ in number");
  check(fitted_candidates_ > 0 || n_nodes == 0, "max_candidates is zero");
  // Children come after their parents and name them, so there are no cycles and every node is
  // reached once.
  const auto is_child = [&](NodeId child, NodeId n) {
    return child == kNoNode ||
           (child > n && child < n_nodes && parent[child] == n && depth[child] == depth[n] + 1);
  };
  for (NodeId n = 0; n < n_nodes; ++n) {
    check(n > 0 ? parent[n] < n : parent[n] == kNoNode && depth[n] == 0, "a node has no parent");
    check(is_child(left[n], n) && is_child(right[n], n) &&
              (left[n] != right[n] || left[n] == kNoNode),
          "a node's children are not its own");
    check(router[n] == kNoRow || router[n] < routers_->size(), "a router does not exist");
    check(offsets[n] <= offsets[n + 1] && offsets[n + 1] <= labels.size(),
          "histogram offsets are not increasing");
    Node& node = tree_[tree_.create(parent[n], depth[n])];
    node.left = left[n];
    node.right = right[n];
    node.router = router[n];
    for (std::size_t i = offsets[n]; i < offsets[n + 1]; ++i)
      check(labels[i] < n_classes(), "a label does not exist");
    node.histogram.restore(labels.data() + offsets[n], counts.data() + offsets[n],
                           offsets[n + 1] - offsets[n],
                           {sums[3 * n], sums[3 * n + 1], sums[3 * n + 2]}, fitted_candidates_);
  }
  const auto keys = state.get<std::uint64_t>("interactions.node_and_class", interactions_->size());
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
