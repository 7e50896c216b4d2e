#include "recalltree/file/mapped_recall_tree.hpp"

#include <algorithm>
#include <cmath>

namespace recalltree {

MappedRecallTree::MappedRecallTree(const RecallTreeConfig& config, State state)
    : RecallTreePrediction(config.learner, std::move(state)),
      recall_config_(config),
      tree_(state_, 1, n_classes()) {
  predictors_ = map_weights("predictors", state_, config.learner);
  routers_ = map_weights("routers", state_, config.learner);
  path_weights_ = map_sparse_weights("path", state_, n_nodes());
  interactions_ = map_weights("interactions", state_, config.learner);
  const bool has_no_path = config.path_features == PathFeatures::none && path_weights_->size() == 0;
  require(
      predictors_->size() == n_classes() && (has_no_path || path_weights_->size() == n_classes()),
      "predictors and classes differ in number");
  tree_.check_routers(routers_->size());

  interaction_keys_ =
      state_.get<std::uint64_t>("interactions.node_and_class", interactions_->size());
  require(std::adjacent_find(interaction_keys_.begin(), interaction_keys_.end(),
                             std::greater_equal<>()) == interaction_keys_.end(),
          "'interactions.node_and_class' is not increasing");

  const std::uint32_t max_candidates = state_.get<std::uint32_t>("tree.max_candidates", 1)[0];
  require(n_nodes() > 0 ? max_candidates == limits(n_classes_seen()).max_candidates
                        : max_candidates == 0 && n_classes_seen() == 0,
          "'tree.max_candidates' does not follow from the number of classes");
  decay_unit_ = decay_unit_of(config, state_.get<double>("tree.decay_origin", 1)[0],
                              static_cast<double>(n_examples_) - 1);
  state_.check_all_read();
}

bool MappedRecallTree::is_complete() const {
  return predictors_->has_accumulators() && routers_->has_accumulators() &&
         path_weights_->has_accumulators() && interactions_->has_accumulators() &&
         tree_.is_complete();
}

void MappedRecallTree::check() const {
  MappedModel::check();
  for (const auto* weights :
       {predictors_.get(), routers_.get(), path_weights_.get(), interactions_.get()})
    weights->check();
  tree_.check();
  require(std::isfinite(decay_unit_) && decay_unit_ > 0.0, "'tree.decay_origin' is out of range");
}

ModelId MappedRecallTree::interaction_model(ClassId y, NodeId n) const {
  const std::uint64_t key = std::uint64_t{n} << 32 | y;
  const auto it = std::lower_bound(interaction_keys_.begin(), interaction_keys_.end(), key);
  if (it == interaction_keys_.end() || *it != key) return kNoModel;
  return static_cast<ModelId>(it - interaction_keys_.begin());
}

std::vector<std::pair<std::string, std::size_t>> MappedRecallTree::memory() const {
  return {{"predictors", predictors_->bytes()},
          {"routers", routers_->bytes()},
          {"path_features", path_weights_->bytes()},
          {"path_interactions", interactions_->bytes() + interaction_keys_.size_bytes()},
          {"nodes", tree_.node_bytes() + packed_bytes()},
          {"histograms", tree_.histogram_bytes()},
          {"feature_scale", scale_.size_bytes()}};
}

}  // namespace recalltree
