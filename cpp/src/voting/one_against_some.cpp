// One-against-some: how it learns.
#include "recalltree/voting/one_against_some.hpp"

#include <cmath>
#include <span>
#include <utility>

namespace recalltree {
namespace {

// Sizes of AdaGrad's steps at learning_rate = 1: of A and S, of B, and of u.
constexpr double kFeatureRate = 1.8, kNodeRate = 0.045, kKeyRate = 0.11;
// Where counts fade, a class forgets these parts of its weights, and of the squared gradients that
// shorten its steps, times the square of how wrong it is.
constexpr double kForgottenWeights = 0.03, kForgottenSteps = 0.3;

}  // namespace

OneAgainstSome::OneAgainstSome(const OneAgainstSomeConfig& config)
    : OneAgainstSomePrediction(config.learner),
      given_(config),
      store_(config),
      budget_(config.memory_budget, learner_.scale.bytes(), store_),
      dropout_(config.feature_dropout, config.seed) {}

void OneAgainstSome::learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                               Workspace& workspace) {
  auto& ws = static_cast<VotingWorkspace&>(workspace);
  if (first_pass_) store_.rebase_unit();
  study_row(rows, i, labels, weight, 0, ws);
  ++n_examples_;
  for (const ClassId y : labels) see(y);

  const Studied x{ws, ws.x, ws.before.dense, ws.dense.row, ws.dense.x, labels, weight};
  for (std::size_t l = 0; l < ws.lessons.size(); ++l) teach_lesson(x, l, ws.work);
  begin_labels(ws);
  for (std::size_t l = 0; l < labels.size(); ++l) teach_label(x, l, ws.work);
  for (std::size_t hit = 0; hit < ws.hits.size(); ++hit) tell_key(x, hit);
  for (std::size_t k = 0; k < ws.keys.size(); ++k) teach_key(x, k, ws.work);
  if (store_.rules.has_cells) teach_cells(x, ws);
  if (first_pass_ && ws.has_linear_models) {
    if (store_.forest.n_trees() > 0) teach_forest(x, ws);
    store_.centring.learn(x.features, x.x, weight);
  }
  teach_all(x, ws.work);
  budget_.end_example(labels, n_classes());
}

// --- Classes

PredictorStep OneAgainstSome::step_of(double gradient, const Studied& x) const {
  const double wrong = given_.count_decay > 0.0 ? gradient * gradient : 0.0;
  return {gradient,
          x.weight,
          x.notes.rate,
          config_.l2,
          {1.0 - kForgottenWeights * wrong, 1.0 - kForgottenSteps * wrong}};
}

// Teaches a class, except the pairs of the example's own labels.
void OneAgainstSome::teach_lesson(const Studied& x, std::size_t lesson, Work& work) {
  RowNotes& notes = x.notes;
  const std::size_t c = notes.lessons[lesson].candidate;
  const ClassId z = notes.candidates[c].label;
  const PredictorStep step = step_of(notes.gradient[c], x);
  float G = 0.0f;
  if (!store_.rules.has_cells)
    G = step.learn_bias(store_.class_terms[z].bias, store_.class_sums[z].bias_accumulator);
  if (store_.rules.has_dense_predictors) {
    const PredictorStep::Row row = step.row(G);
    store_.dense_predictors.move(z, x.x, row.step, row.kept);
  }
  const std::size_t begin = lesson > 0 ? notes.lessons[lesson - 1].hits_end : 0;
  const auto hits = std::span(notes.hits).subspan(begin, notes.lessons[lesson].hits_end - begin);
  if (!store_.rules.weights_in_pairs || notes.roles[c] != Role::other) {
    for (Hit& hit : hits) hit.slot = ClassPairs::kNone;
    return;
  }
  // A class that is not the label learns by the features that it has met.
  ClassPairs::Table& table = store_.pairs[z];
  for (Hit& hit : hits) {
    const ActiveKey& key = notes.keys[hit.key];
    // Another example may have moved the pairs.
    hit.slot = table.find(key.key, hit.slot);
    if (hit.slot == ClassPairs::kNone) continue;
    ClassPairs::Pair& pair = table[hit.slot];
    step.learn(pair, key.value);
    ++work.pairs_changed;
    hit.weight = pair.weight;
    hit.root = std::sqrt(pair.count);
  }
}

void OneAgainstSome::begin_labels(RowNotes& notes) const {
  notes.own_pairs.assign(notes.keys.size() * notes.own.size(), {});
  notes.own_counts.resize(notes.own.size());
}

void OneAgainstSome::teach_label(const Studied& x, std::size_t label, Work& work) {
  RowNotes& notes = x.notes;
  const OwnLabel& own = notes.own[label];
  const PredictorStep step = step_of(notes.gradient[own.candidate], x);
  const bool learns = store_.rules.weights_in_pairs && is_lesson(step.gradient);
  const double counted = added(notes);
  double sum = 0.0;
  ClassPairs::Table& table = store_.pairs[own.label];
  OwnPair* const pairs = notes.own_pairs.data() + label * notes.keys.size();
  for (std::size_t k = 0; k < notes.keys.size(); ++k) {
    const ActiveKey& key = notes.keys[k];
    const std::uint32_t slot =
        counted > 0.0 ? store_.pairs.find_or_add(table, key.key) : table.find(key.key);
    if (slot == ClassPairs::kNone) continue;
    ClassPairs::Pair& pair = table[slot];
    if (learns) step.learn(pair, key.value);
    const float before = pair.count;
    pair.count += static_cast<float>(key.share * counted);
    // Without a step the histogram of the key has the weight already.
    pairs[k] = {before, pair.count, pair.weight, learns || counted > 0.0};
    work.pairs_changed += learns || counted > 0.0;
    sum += key.share * counted;
  }
  if (sum != 0.0) {
    VoteStore::ClassSums& sums = store_.class_sums[own.label];
    sums.count += sum;
    store_.class_terms[own.label].inverse_norm = inverse_norm_of(sums.count);
  }
  if (first_pass_) notes.own_counts[label] = store_.count_class(own.label, counted);
}

// --- Keys

// Writes a class's weight next to its root in the key's histogram, if there is one.
void OneAgainstSome::publish(const ActiveKey& key, ClassId z, float root, float weight) {
  if (!store_.rules.features_vote || key.histogram == nullptr) return;
  store_.histograms.set_weight(store_.histograms.touch(key.key), z, root, weight);
}

void OneAgainstSome::tell_key(const Studied& x, std::size_t place) {
  const Hit& hit = x.notes.hits[place];
  if (hit.slot == ClassPairs::kNone) return;
  publish(x.notes.keys[hit.key], hit.label, hit.root, hit.weight);
}

void OneAgainstSome::teach_key(const Studied& x, std::size_t k, Work& work) {
  RowNotes& notes = x.notes;
  const ActiveKey& key = notes.keys[k];
  if (notes.shares_learn && key.histogram != nullptr && notes.key_gradient[k] != 0.0)
    store_.histograms.touch(key.key).weight.learn(notes.key_gradient[k], x.weight,
                                                  x.notes.rate * kKeyRate);
  const double counted = added(notes);
  // The row counts once, whatever the number of its labels.
  if (counted > 0.0) store_.histograms.touch(key.key).examples += counted;
  for (std::size_t l = 0; l < notes.own.size(); ++l) {
    const OwnPair& own = notes.own_pairs[l * notes.keys.size() + k];
    if (!own.is_known) continue;
    const ClassId y = notes.own[l].label;
    if (counted == 0.0)
      publish(key, y, std::sqrt(own.after), own.weight);
    else if (store_.rules.features_vote)
      work.histogram_touches +=
          store_.histograms.raise(store_.histograms.touch(key.key), y, std::sqrt(own.before),
                                  std::sqrt(own.after), own.weight);
  }
}

// --- Cells, trees, and what all examples share

Cells::Lesson OneAgainstSome::cells_lesson(const Studied& x) const {
  return {x.labels, x.weight, x.notes.rate, added(x.notes), given_.count_decay > 0.0, config_.l2};
}

// Class vectors decide by themselves which gradients are large enough.
void OneAgainstSome::teach_cells(const Studied& x, VotingWorkspace& ws) {
  Cells& cells = *store_.own_cells;
  cells.learn(x.row, x.whitened, ws.labels, x.notes.gradient, cells_lesson(x), ws.cells);
  for (const ClassId z : ws.labels) store_.class_terms[z].bias = cells.vectors().bias(z);
  ws.work.vectors_compared += std::exchange(ws.cells.search.vectors, 0);
}

void OneAgainstSome::teach_forest(const Studied& x, VotingWorkspace& ws) {
  store_.forest.arrive(x.notes);
  for (const RouterLesson& lesson : x.notes.router_lessons)
    store_.forest.teach(lesson, x.x, learner_, ws);
  for (Arrival& arrival : x.notes.arrivals) {
    const ClassId y = x.notes.own[arrival.label].label;
    if (arrival.is_key) store_.forest.count_label(arrival, y, x.notes.counted);
    ws.work.histogram_touches += store_.forest.count_node(arrival, y, x.notes.counted);
  }
}

void OneAgainstSome::teach_all(const Studied& x, Work& work) {
  const RowNotes& notes = x.notes;
  if (notes.shares_learn)
    store_.share_scale.learn(notes.share_gradient, x.weight, x.notes.rate * kFeatureRate);
  if (notes.votes_learn && store_.rules.features_vote)
    store_.affinity_scale.learn(notes.affinity_gradient, x.weight, x.notes.rate * kFeatureRate);
  if (notes.votes_learn && notes.nodes_learn)
    store_.node_scale.learn(notes.node_gradient, x.weight, x.notes.rate * kNodeRate);
  marginals_.learn(notes.marginal_gradient, x.weight);
  if (first_pass_)
    work.histogram_touches += store_.count_example(x.labels, notes.own_counts, notes.counted);
}

}  // namespace recalltree
