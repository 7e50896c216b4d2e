#include "recalltree/file/mapped_model.hpp"

#include <cmath>

namespace recalltree {

MappedModel::MappedModel(const LearnerConfig& config, State state)
    : Predictor(config), state_(std::move(state)) {
  scale_ = state_.get<float>("scale.features", config.n_features);
  state_.get<double>("scale.sums", 2);
  const auto seen = state_.get<std::uint32_t>("classes.seen");
  std::size_t n_seen = 0;
  for (const std::uint32_t flag : seen) {
    require(flag <= 1, "'classes.seen' holds something else than 0 and 1");
    n_seen += flag;
  }
  n_classes_ = seen.size();
  n_seen_ = n_seen;
  const auto progress = state_.get<double>("progress", 2);
  progress_ = {progress[0], progress[1]};
  n_examples_ = state_.get<std::uint64_t>("n_examples", 1)[0];
  // Rows with lists of labels may have many of them, or none.
  has_lists_ = has_lists_in(state_);
  require(n_seen == 0 || n_examples_ > 0, "'n_examples' does not fit the number of classes seen");
  require(has_lists_ || (n_seen <= n_examples_ && (n_seen > 0) == (n_examples_ > 0)),
          "'n_examples' does not fit the number of classes seen");
}

void MappedModel::check() const {
  for (const float scale : scale_)
    require(std::isfinite(scale) && scale >= 0.0f,
            "'scale.features' holds a scale that is negative or not finite");
  check_finite(state_.get<double>("scale.sums"), "scale.sums");
  check_finite(state_.get<double>("progress"), "progress");
}

}  // namespace recalltree
