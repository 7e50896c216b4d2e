// Learning by several threads: figure 2 of the paper in two phases. Rows are studied against a tree
// that stays as it is; then each owner applies what they teach, in their order.
#include <algorithm>
#include <cmath>

#include "recalltree/paper/recall_tree.hpp"

namespace recalltree {

// Models on products with path features are made for pairs of a class and a node, on the way.
bool RecallTree::learns_mini_batches() const { return !recall_config_.path_interactions; }

std::size_t RecallTree::begin_mini_batch() {
  notes_.resize(kLargestMiniBatch);
  for (Weights* weights :
       {predictors_.get(), routers_.get(), static_cast<Weights*>(&path_weights_)})
    weights->prepare_owners();
  tree_.root_or_new();
  fit_nodes();
  // Routers begin with the first rows: a tree that was far behind them would never become balanced.
  const auto most = std::clamp<std::uint64_t>(n_examples_ / 64, 1, kLargestMiniBatch);
  if (recall_config_.count_decay <= 0.0) return most;
  rebase_decay(static_cast<double>(n_examples_));
  // A mini-batch is short against the range of a double.
  return static_cast<std::size_t>(
      std::clamp(400.0 * recall_config_.count_decay, 1.0, static_cast<double>(most)));
}

// --- Phase one: figure 1, and what follows from it

void RecallTree::study_one(const MiniBatch& rows, std::size_t place, Workspace& base) {
  auto& ws = static_cast<RecallTreeWorkspace&>(base);
  RecallTreeNotes& notes = notes_[place];
  const Labels labels = rows.labels_of(place);
  const double weight = rows.weight(place);
  notes.norm = learner_.scale.study(rows.rows(), rows.row(place), weight, notes.x, notes.raises);
  routers_->find_columns(notes.x, notes.of_routers);
  predictors_->find_columns(notes.x, notes.of_predictors);
  study_route(notes, ws);
  notes.nodes.begin(kOwners);
  if (!labels.empty()) {
    notes.nodes.add(0);
    for (std::size_t d = 0; d < notes.n_passed; ++d) notes.nodes.add(notes.route[d]);
  }
  const bool right = study_candidates(notes, labels, weight * decay_unit_of_row(place), ws);
  if (!labels.empty()) ws.progress.count(weight, !right);
}

void RecallTree::study_route(RecallTreeNotes& notes, RecallTreeWorkspace& ws) {
  const Limits now = limits(n_classes_seen());
  const double unit = decay_unit();
  notes.n_passed = 0;
  notes.next = kNoNode;
  notes.lacks_routers = false;
  notes.totals.clear();
  const auto recall = [&](NodeId n) {
    const LabelHistogram& histogram = tree_[n].histogram;
    return recall_lower_bound(histogram.recall(), histogram.total() / unit,
                              recall_config_.bound_lambda);
  };
  NodeId n = 0;
  notes.route.assign(1, n);
  double recall_n = recall(n);
  while (tree_[n].depth < now.max_depth) {
    const ModelId router = tree_.router(n);
    notes.lacks_routers |= router == kNoModel;
    notes.totals.push_back(tree_[n].histogram.total());
    float margin = 0.0f;
    if (router != kNoModel) routers_->scores(&router, 1, notes.x, &margin, notes.of_routers);
    notes.is_right = margin > 0.0f;
    ++notes.n_passed;
    const NodeId r = tree_.child(n, notes.is_right);
    if (r == kNoNode) break;
    const double recall_r = recall(r);
    if (recall_n > recall_r) {
      notes.next = r;
      break;
    }
    n = r;
    recall_n = recall_r;
    notes.route.push_back(n);
  }
  ws.work.router_evaluations += notes.n_passed;
}

// Returns whether prediction is right.
bool RecallTree::study_candidates(RecallTreeNotes& notes, Labels labels, double added,
                                  RecallTreeWorkspace& ws) {
  const LabelHistogram& histogram = tree_[notes.route.back()].histogram;
  histogram.candidates(ws.candidates);
  ws.labels.clear();
  for (const auto& c : ws.candidates) ws.labels.push_back(c.label);
  const std::size_t n_candidates = ws.labels.size();
  const std::uint32_t max_candidates = limits(n_classes_seen()).max_candidates;
  // Labels learn if they are candidates once they are counted.
  const double of_label = added / static_cast<double>(std::max<std::size_t>(labels.size(), 1));
  bool learns = labels.empty();
  for (const ClassId y : labels) {
    if (!histogram.would_be_candidate(y, of_label, max_candidates)) continue;
    learns = true;
    if (!is_among({ws.labels.data(), n_candidates}, y)) ws.labels.push_back(y);
  }
  ws.counts_before.clear();
  for (const ClassId y : labels) ws.counts_before.push_back(histogram.count(y));
  notes.labels.clear();
  notes.targets.clear();
  notes.classes.begin(kOwners);
  path_features(notes.route, notes.path);
  if (!learns) return false;  // a candidate that wins would be one of the labels

  const std::size_t n = ws.labels.size();
  ws.scores.resize(n);
  predictors_->scores(ws.labels.data(), n, notes.x, ws.scores.data(), notes.of_predictors);
  if (!notes.path.features.empty()) {
    path_weights_.find_columns(notes.path, notes.of_path_weights);
    ws.path_scores.resize(n);
    path_weights_.scores(ws.labels.data(), n, notes.path, ws.path_scores.data(),
                         notes.of_path_weights);
    for (std::size_t i = 0; i < n; ++i) ws.scores[i] += ws.path_scores[i];
  }
  ws.work.predictor_evaluations += n;
  ws.targets.resize(n);
  for (std::size_t i = 0; i < n; ++i) ws.targets[i] = is_among(labels, ws.labels[i]) ? 1.0f : -1.0f;
  ws.gradients.resize(n);
  learner_.gradients(ws.scores.data(), ws.targets.data(), ws.gradients.data(), n);
  for (std::size_t i = 0; i < n; ++i) {
    const double floor = ws.targets[i] < 0.0f ? negative_floor() : kGradientFloor;
    if (std::fabs(ws.gradients[i]) < floor) continue;
    notes.labels.push_back(ws.labels[i]);
    notes.targets.push_back(ws.targets[i]);
    // The first classes and the first nodes, of which every row has some, have other owners.
    notes.classes.add(~neighbourhood_of(ws.labels[i]));
  }
  return n_candidates > 0 && wins(labels, ws);
}

// --- Between the phases

void RecallTree::arrange(const MiniBatch& rows, Workspace&) {
  for (std::size_t place = 0; place < rows.n; ++place) {
    RecallTreeNotes& notes = notes_[place];
    if (rows.labels_of(place).empty()) continue;
    if (notes.lacks_routers)
      for (std::size_t d = 0; d < notes.n_passed; ++d)
        tree_.router_or_new(notes.route[d], *routers_);
    if (notes.n_passed == notes.route.size() && notes.next == kNoNode)
      notes.next = tree_.child_or_new(notes.route.back(), notes.is_right);
  }
  if (passed_.size() < tree_.size()) passed_.resize(tree_.size() + tree_.size() / 2);
  ++mini_batch_;
}

// --- Phase two: figure 2

// Stage 0: nodes and classes; stage 1: features.
void RecallTree::apply(const MiniBatch& rows, std::size_t stage, Owner owner, Workspace& base) {
  auto& ws = static_cast<RecallTreeWorkspace&>(base);
  if (stage == 1) {
    predictors_->settle(owner);
    routers_->settle(owner);
    path_weights_.settle(owner);
    return;
  }
  ws.routers_found.made = routers_->new_weights(owner);
  ws.predictors_found.made = predictors_->new_weights(owner);
  ws.path_found.made = path_weights_.new_weights(owner);
  for (std::size_t place = 0; place < rows.n; ++place) {
    apply_to_nodes(rows, place, owner, ws);
    apply_to_classes(rows, place, owner, ws);
  }
}

void RecallTree::apply_to_nodes(const MiniBatch& rows, std::size_t place, Owner owner,
                                RecallTreeWorkspace& ws) {
  RecallTreeNotes& notes = notes_[place];
  const Labels labels = rows.labels_of(place);
  const double weight = rows.weight(place), unit = decay_unit_of_row(place);
  const std::uint32_t max_candidates = limits(n_classes_seen()).max_candidates;
  bool begun = false;
  notes.nodes.visit(owner, [&](std::uint32_t item) {
    if (item == 0) {
      update_candidates(0, labels, weight, unit, max_candidates, ws);
      return;
    }
    const std::size_t d = item - 1;
    const NodeId n = notes.route[d];
    Passed& passed = passed_[n];
    if (passed.mini_batch != mini_batch_) passed = {mini_batch_, notes.totals[d]};
    passed.total += weight * unit;
    const RouterLesson lesson = router_lesson(n, passed.total, labels, weight, unit, ws);
    if (lesson.importance > 0.0) {
      const ModelId router = tree_.router(n);
      if (!begun) ws.routers_found.begin(notes.of_routers);
      begun = true;
      const std::size_t at = ws.routers_found.n_models;
      float f;
      routers_->scores(&router, 1, notes.x, &f, ws.routers_found);
      ++ws.work.router_evaluations;
      const Part part{routers_.get(), &router, &notes.x, true, &ws.routers_found, at};
      learner_.learn({&part, 1}, 1, &f, &lesson.target, &lesson.importance, notes.x.rate, ws);
    }
    update_candidates(notes.child(d), labels, weight, unit, max_candidates, ws);
  });
}

// Scores are taken again: classes may have learned from earlier rows of the mini-batch.
void RecallTree::apply_to_classes(const MiniBatch& rows, std::size_t place, Owner owner,
                                  RecallTreeWorkspace& ws) {
  RecallTreeNotes& notes = notes_[place];
  ws.labels.clear();
  ws.targets.clear();
  notes.classes.visit(owner, [&](std::uint32_t item) {
    ws.labels.push_back(notes.labels[item]);
    ws.targets.push_back(notes.targets[item]);
  });
  const std::size_t n = ws.labels.size();
  if (n == 0) return;
  ws.importance.assign(n, rows.weight(place));
  ws.scores.resize(n);
  ws.predictors_found.begin(notes.of_predictors);
  predictors_->scores(ws.labels.data(), n, notes.x, ws.scores.data(), ws.predictors_found);
  Part parts[2] = {{predictors_.get(), ws.labels.data(), &notes.x, true, &ws.predictors_found, 0},
                   {&path_weights_, ws.labels.data(), &notes.path, false, &ws.path_found, 0}};
  std::size_t n_parts = 1;
  if (!notes.path.features.empty()) {
    n_parts = 2;
    ws.path_scores.resize(n);
    ws.path_found.begin(notes.of_path_weights);
    path_weights_.scores(ws.labels.data(), n, notes.path, ws.path_scores.data(), ws.path_found);
    for (std::size_t i = 0; i < n; ++i) ws.scores[i] += ws.path_scores[i];
  }
  ws.work.predictor_evaluations += n;
  learner_.learn({parts, n_parts}, n, ws.scores.data(), ws.targets.data(), ws.importance.data(),
                 notes.x.rate, ws, negative_floor());
}

void RecallTree::end_mini_batch(const MiniBatch& rows, Workspace&) {
  for (std::size_t place = 0; place < rows.n; ++place)
    learner_.scale.take(notes_[place].raises, rows.weight(place), notes_[place].norm);
}

}  // namespace recalltree
