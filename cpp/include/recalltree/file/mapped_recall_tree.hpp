// A Recall Tree in a mapped file.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/file/mapped_model.hpp"
#include "recalltree/file/mapped_tree.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/paper/recall_tree_prediction.hpp"

namespace recalltree {

class MappedRecallTree final : public RecallTreePrediction<MappedRecallTree, MappedModel> {
 public:
  MappedRecallTree(const RecallTreeConfig& config, State state);

  const RecallTreeConfig& config() const { return recall_config_; }
  const MappedTree& tree() const { return tree_; }
  double decay_unit() const { return decay_unit_; }
  const MappedWeights& predictors() const { return *predictors_; }
  const MappedWeights& routers() const { return *routers_; }
  const MappedWeights& path_weights() const { return *path_weights_; }
  const MappedWeights& interactions() const { return *interactions_; }
  ModelId interaction_model(ClassId y, NodeId n) const;

  bool is_complete() const override;
  void check() const override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 private:
  RecallTreeConfig recall_config_;
  MappedTree tree_;
  std::unique_ptr<MappedWeights> predictors_, routers_, path_weights_, interactions_;
  std::span<const std::uint64_t> interaction_keys_;
  double decay_unit_ = 1.0;
};

}  // namespace recalltree
