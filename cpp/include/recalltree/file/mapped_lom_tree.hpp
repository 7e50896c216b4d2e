// A LOMTree, viewed where it was saved.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/file/mapped_model.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/paper/lom_tree.hpp"

namespace recalltree {

class MappedLOMTree final : public MappedModel {
 public:
  MappedLOMTree(const LOMTreeConfig& config, State state);

  const LOMTreeConfig& config() const { return lom_config_; }
  const MappedWeights& routers() const { return *routers_; }
  std::size_t n_nodes() const { return left_.size(); }
  NodeId root() const { return root_; }
  LOMTree::Node node(NodeId n) const;
  RowId router(NodeId n) const { return is_leaf(n) ? kNoRow : router_[n]; }
  void route(const Rows& rows, std::size_t i, std::vector<NodeId>& route) const;
  std::vector<std::pair<ClassId, double>> leaf_labels(NodeId leaf) const;

  bool is_complete() const override {
    return routers_->has_accumulators() && state_.has("tree.margins");
  }
  void check() const override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  void score(const Rows& rows, std::size_t i, Workspace& ws) const override;

 private:
  void descend(const Example& x, std::vector<NodeId>& route) const;
  bool is_leaf(NodeId n) const { return left_[n] == kNoNode; }
  void check_tree() const;
  template <class Visit>
  void for_each_label(NodeId n, Visit visit) const;

  LOMTreeConfig lom_config_;
  std::unique_ptr<MappedWeights> routers_;
  std::span<const std::uint32_t> left_, right_, parent_, router_, majority_;
  std::span<const double> min_count_;
  std::span<const double> margins_;         // sum and weight of each node; empty in a model that
                                            // only predicts
  std::span<const std::uint64_t> offsets_;  // of each node's labels
  std::span<const ClassId> labels_;
  std::span<const double> values_;  // two per label: a count and 0, or a margin's sum and weight
  NodeId root_ = 0;
};

}  // namespace recalltree
