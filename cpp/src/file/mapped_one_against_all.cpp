#include "recalltree/file/mapped_one_against_all.hpp"

namespace recalltree {

MappedOneAgainstAll::MappedOneAgainstAll(const OneAgainstAllConfig& config, State state)
    : OneAgainstAllPrediction(config.learner, std::move(state)),
      all_config_(config),
      predictors_(map_weights("predictors", state_, config.learner)) {
  require(predictors_->size() == n_classes(), "predictors and classes differ in number");
  const auto order = state_.get<std::uint32_t>("classes.order", n_classes_seen());
  check_class_ids(order, n_classes(), "classes.order");
  const auto seen = state_.get<std::uint32_t>("classes.seen");
  std::vector<bool> listed(n_classes(), false);
  for (const ClassId c : order) {
    require(seen[c] == 1, "'classes.order' names a class that was not seen");
    require(!listed[c], "'classes.order' repeats a class");
    listed[c] = true;
  }
  order_.assign(order.begin(), order.end());
  state_.check_all_read();
}

void MappedOneAgainstAll::check() const {
  MappedModel::check();
  predictors_->check();
}

std::vector<std::pair<std::string, std::size_t>> MappedOneAgainstAll::memory() const {
  return {{"predictors", predictors_->bytes()}, {"feature_scale", scale_.size_bytes()}};
}

}  // namespace recalltree
