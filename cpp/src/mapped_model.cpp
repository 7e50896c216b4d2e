#include "recalltree/mapped_model.hpp"

#include <algorithm>
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
  require(n_seen <= n_examples_ && (n_seen > 0) == (n_examples_ > 0),
          "'n_examples' does not fit the number of classes seen");
}

void MappedModel::check() const {
  for (const float scale : scale_)
    require(std::isfinite(scale) && scale >= 0.0f,
            "'scale.features' holds a scale that is negative or not finite");
  check_finite(state_.get<double>("scale.sums"), "scale.sums");
  check_finite(state_.get<double>("progress"), "progress");
}

void MappedModel::check_offsets(std::span<const std::uint64_t> offsets, std::size_t end,
                                const char* name) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != end ||
      !std::is_sorted(offsets.begin(), offsets.end()))
    throw std::invalid_argument(std::string("state: '") + name + "' does not increase from 0 to " +
                                std::to_string(end));
}

void MappedModel::check_class_ids(std::span<const std::uint32_t> ids, const char* name) const {
  std::uint32_t largest = 0;
  for (const std::uint32_t id : ids) largest = std::max(largest, id);
  if (!ids.empty() && largest >= n_classes_)
    throw std::invalid_argument(std::string("state: '") + name + "' names class " +
                                std::to_string(largest) + " of " + std::to_string(n_classes_));
}

void MappedModel::check_finite(std::span<const double> values, const char* name) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw std::invalid_argument(std::string("state: '") + name + "' holds " +
                                  std::to_string(values[i]) + " at position " + std::to_string(i));
}

}  // namespace recalltree
