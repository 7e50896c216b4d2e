// A Recall Tree that is viewed where it was saved (figure 1 of the paper; nothing learns).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/file/mapped_model.hpp"
#include "recalltree/file/mapped_tree.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/paper/label_histogram.hpp"
#include "recalltree/paper/recall_rules.hpp"
#include "recalltree/paper/recall_tree.hpp"

namespace recalltree {

class MappedRecallTree final : public MappedModel {
 public:
  MappedRecallTree(const RecallTreeConfig& config, State state);

  const RecallTreeConfig& config() const { return recall_config_; }
  Limits limits(std::size_t n_classes) const { return limits_of(recall_config_, n_classes); }
  const MappedTree& tree() const { return tree_; }
  std::size_t n_nodes() const { return tree_.size(); }
  NodeSummary node(NodeId n) const;
  RowId router(NodeId n) const { return tree_.router(n); }  // kNoRow if there is none
  std::vector<LabelHistogram::Candidate> ranked_labels(NodeId n) const;
  void route(const Rows& rows, std::size_t i, std::vector<NodeId>& route) const;
  void path_features(const std::vector<NodeId>& route, Example& path) const {
    path_features_of(recall_config_, route, path);
  }

  const MappedWeights& predictors() const { return *predictors_; }
  const MappedWeights& routers() const { return *routers_; }
  const MappedWeights& path_weights() const { return *path_weights_; }
  const MappedWeights& interactions() const { return *interactions_; }
  RowId interaction_row(ClassId y, NodeId n) const;

  bool is_complete() const override;
  void check() const override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  void score(const Rows& rows, std::size_t i, Workspace& ws) const override;

 private:
  // Returns how many routers were evaluated.
  std::size_t descend(const Example& x, std::vector<NodeId>& route) const;
  float margin(NodeId n, const Example& x) const;
  double recall(NodeId n) const;

  RecallTreeConfig recall_config_;
  MappedTree tree_;
  std::unique_ptr<MappedWeights> predictors_, routers_, path_weights_, interactions_;
  std::span<const std::uint64_t> interaction_keys_;
  std::uint32_t max_candidates_ = 0;
  double unit_ = 1.0;
};

}  // namespace recalltree
