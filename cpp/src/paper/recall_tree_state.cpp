// The Recall Tree's state as arrays, and what can be seen of it from outside.
#include <algorithm>

#include "recalltree/file/mapped_recall_tree.hpp"
#include "recalltree/paper/recall_tree.hpp"

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
  tree_.save(state);
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
  fitted_candidates_ = state.get<std::uint32_t>("tree.max_candidates")[0];
  decay_origin_ = state.get<double>("tree.decay_origin")[0];
  tree_.load(view.tree(), fitted_candidates_);
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
