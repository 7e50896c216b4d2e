// A LOMTree in a mapped file.
#pragma once

#include <memory>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/file/mapped_model.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/paper/lom_tree.hpp"

namespace recalltree {

class MappedLOMTree final : public LOMTreePrediction<MappedLOMTree, MappedModel> {
 public:
  MappedLOMTree(const LOMTreeConfig& config, State state);

  const LOMTreeConfig& config() const { return lom_config_; }
  const MappedWeights& routers() const { return *routers_; }
  std::size_t n_nodes() const { return arrays_.left.size(); }
  NodeId root() const { return root_; }
  LOMTree::Node node(NodeId n) const;
  ModelId router(NodeId n) const { return is_leaf(n) ? kNoModel : arrays_.router[n]; }
  bool is_leaf(NodeId n) const { return arrays_.left[n] == kNoNode; }
  // The child that the file names, or kNoNode if that is outside of the tree or further up.
  NodeId child(NodeId n, bool right) const {
    const NodeId child = (right ? arrays_.right : arrays_.left)[n];
    return child < n_nodes() && depth_[child] == depth_[n] + 1 ? child : kNoNode;
  }
  ClassId majority(NodeId n) const {
    return arrays_.majority[n] < n_classes() ? arrays_.majority[n] : kNoClass;
  }
  void leaf_counts(NodeId n, RankedLabels& out) const {
    for_each_label(
        n, [&](std::size_t i) { out.emplace_back(arrays_.labels[i], arrays_.values[2 * i]); });
  }
  void prefetch_labels(NodeId n) const;

  bool is_complete() const override {
    return routers_->has_accumulators() && has_learning_fields(arrays_, state_);
  }
  void check() const override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 private:
  void check_tree();
  // Calls visit with the place of each of a node's labels, those that exist.
  template <class Visit>
  void for_each_label(NodeId n, Visit visit) const {
    const std::size_t end = std::min<std::size_t>(arrays_.offsets[n + 1], arrays_.labels.size());
    for (std::size_t i = std::min<std::size_t>(arrays_.offsets[n], end); i < end; ++i)
      if (arrays_.labels[i] < n_classes()) visit(i);
  }

  LOMTreeConfig lom_config_;
  std::unique_ptr<MappedWeights> routers_;
  LOMTreeArrays<Viewed> arrays_;
  std::vector<std::uint32_t> depth_;  // of each node, when the file was opened
  NodeId root_ = 0;
};

}  // namespace recalltree
