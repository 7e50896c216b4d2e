#include "recalltree/file/mapped_one_against_all.hpp"

#include "recalltree/paper/class_matrix.hpp"

namespace recalltree {

MappedOneAgainstAll::MappedOneAgainstAll(const OneAgainstAllConfig& config, State state)
    : MappedModel(config.learner, std::move(state)),
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

void MappedOneAgainstAll::score(const Rows& rows, std::size_t i, Workspace& ws) const {
  read(rows, i, ws.x);
  ws.labels = order_;
  ws.scores.resize(order_.size());
  predictors_->scores(order_.data(), order_.size(), ws.x, ws.scores.data());
  ws.work.predictor_evaluations += order_.size();
}

std::shared_ptr<const void> MappedOneAgainstAll::prepare_prediction(std::size_t) const {
  if (order_.empty() || predictors_->values(0) == nullptr) return nullptr;
  auto matrix = std::make_shared<ClassMatrix>();
  for (const ClassId c : order_) matrix->add(c, predictors_->values(c), predictors_->bias(c));
  return matrix;
}

void MappedOneAgainstAll::score_rows(const Rows& rows, std::size_t begin, std::size_t end,
                                     Workspace& ws, const Emit& emit) const {
  const auto* matrix = static_cast<const ClassMatrix*>(ws.prepared);
  if (matrix == nullptr) return Predictor::score_rows(rows, begin, end, ws, emit);
  matrix->score(
      config_.n_features, begin, end, ws, [&](std::size_t row, Example& x) { read(rows, row, x); },
      emit);
}

std::vector<std::pair<std::string, std::size_t>> MappedOneAgainstAll::memory() const {
  return {{"predictors", predictors_->bytes()}, {"feature_scale", scale_.size_bytes()}};
}

}  // namespace recalltree
