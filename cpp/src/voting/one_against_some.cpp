// One-against-some: how it learns.
#include "recalltree/voting/one_against_some.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <span>
#include <utility>

#include "recalltree/base/intended_race.hpp"

namespace recalltree {
namespace {

// A candidate that is wrong by less is not worth its cache misses, of which a table has many and a
// dense row few.
constexpr double kSmallGradientOfPairs = 0.03, kSmallGradientOfRows = 0.003;
// How much larger than the others the score of a label has to be, for dense predictors.
constexpr double kMargin = 2.0;
// Sizes of AdaGrad's steps at learning_rate = 1: of A and S, of B, and of u.
constexpr double kFeatureRate = 1.8, kNodeRate = 0.045, kKeyRate = 0.11;
// Where counts fade, a class forgets these parts of its weights, and of the squared gradients that
// shorten its steps, times the square of how wrong it is.
constexpr double kForgottenWeights = 0.03, kForgottenSteps = 0.3;

bool has_role(Role role, const VotingWorkspace& ws) {
  return std::find(ws.roles.begin(), ws.roles.end(), role) != ws.roles.end();
}

}  // namespace

void OneAgainstSome::learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                               Workspace& ws) {
  {
    const auto learning = budget_.begin_example(ws.threads);
    learn_example(rows, i, labels, weight, static_cast<VotingWorkspace&>(ws));
  }
  budget_.end_example(labels, n_classes(), ws.threads);
}

void OneAgainstSome::learn_example(const Rows& rows, std::size_t i, Labels labels, double weight,
                                   VotingWorkspace& ws) {
  if (first_pass_ && ws.threads == Threads::one) store_.rebase_unit();
  const double counted = weight * store_.decay_unit();
  read(rows, i, labels, counted, ws);

  const LeaveOut own = first_pass_ ? LeaveOut{ws.own, labels} : leave_out(labels, counted, ws);
  find_candidates(store_, own, ws);
  score_candidates(store_, 0, own, ws);
  count_progress(labels, weight, ws);
  if (first_pass_ && has_lists_) marginals_.learn(ws.labels, ws.scores, labels, weight);

  find_or_add_labels(own, ws);
  find_gradients(ws);
  find_lessons(own, ws);

  if (has_role(Role::label, ws)) {
    update_feature_votes(weight, ws);
    update_votes(weight, ws);
  }
  update_predictors(weight, ws);
  const double added = first_pass_ ? counted : 0.0;
  for (const OwnLabel& label : ws.own)
    update_own_pairs(label.label, step_of(ws.gradient[label.candidate], weight), added, ws);
  if (store_.rules.has_cells) teach_cells(labels, weight, added, ws);
  if (first_pass_) count(labels, weight, counted, ws);
}

OneAgainstSome::OneAgainstSome(const OneAgainstSomeConfig& config)
    : OneAgainstSomePrediction(config.learner),
      given_(config),
      store_(config),
      budget_(config.memory_budget, learner_.scale.bytes(), store_),
      dropout_(config.feature_dropout, config.seed) {}

// --- Reading

void OneAgainstSome::read(const Rows& rows, std::size_t i, Labels labels, double counted,
                          VotingWorkspace& ws) {
  const std::size_t n_known = n_classes_seen();
  const std::uint64_t before =
      ws.threads == Threads::several ? std::atomic_ref(n_examples_).fetch_add(1) : n_examples_++;
  ws.own.clear();
  for (const ClassId y : labels) {
    see(y);
    store_.prefetch_class(y);  // which is often not among the candidates
    ws.own.push_back({y});
  }
  const double own = first_pass_ ? 0.0 : counted;
  if (drops_features()) {
    const Rows row = dropout_.without(rows, i, before, ws.row);
    if (store_.rules.has_cells) whiten_rows(store_, row, 1, [](std::size_t) { return 0; }, ws);
    read_example(store_, row, 0, own, n_known, ws);
  } else {
    read_example(store_, rows, i, own, n_known, ws);
  }
  if (store_.rules.has_cells) ws.dense.take_next();
  ask_for_all(ws);
  for (const ClassId y : labels) store_.prefetch_pairs(y);
  if (ws.has_linear_models) ws.x.rate = store_.centring.rate(ws.x);
}

LeaveOut OneAgainstSome::leave_out(Labels labels, double counted, VotingWorkspace& ws) const {
  const std::size_t n_keys = ws.keys.size();
  ws.own_roots.assign(n_keys * ws.own.size(), 0.0f);
  for (std::size_t j = 0; j < ws.own.size(); ++j) {
    float* const roots = ws.own_roots.data() + j * n_keys;
    ws.own[j].roots = roots;
    ws.own[j].inverse_norm = leave_out_of(ws.own[j].label, counted, roots, ws);
  }
  return {ws.own, labels, counted};
}

float OneAgainstSome::leave_out_of(ClassId y, double counted, float* roots,
                                   VotingWorkspace& ws) const {
  double left_out = 0.0;
  {
    const ClassPairs::Table& table = store_.pairs[y];
    SpinLock::Guard guard(table.lock, ws.threads);
    for (std::size_t k = 0; k < ws.keys.size(); ++k) {
      const auto share = static_cast<float>(ws.keys[k].share * counted);
      left_out += share;
      const std::uint32_t slot = table.find(ws.keys[k].key);
      if (slot == ClassPairs::kNone) continue;
      const float rest = table[slot].count - share;
      if (rest > kRounding * share) roots[k] = std::sqrt(rest);
    }
  }
  const VoteStore::ClassSums& sums = store_.class_sums[y];
  SpinLock::Guard guard(sums.lock, ws.threads);
  const double rest = sums.count - left_out;
  if (rest > kRounding * left_out) return inverse_norm_of(rest);
  std::fill(roots, roots + ws.keys.size(), 0.0f);
  return 0.0f;
}

// --- Candidates that learn

void OneAgainstSome::count_progress(Labels labels, double weight, VotingWorkspace& ws) const {
  if (labels.empty()) return;
  const auto best = std::max_element(ws.scores.begin(), ws.scores.end());
  // Before anything is counted there are no candidates.
  const auto is_best = [&](ClassId y) { return y == ws.labels[best - ws.scores.begin()]; };
  const bool right = best != ws.scores.end() && std::any_of(labels.begin(), labels.end(), is_best);
  ws.progress.count(weight, !right);
}

void OneAgainstSome::find_or_add_labels(const LeaveOut& own, VotingWorkspace& ws) const {
  const std::size_t n_scored = ws.labels.size();
  for (OwnLabel& label : ws.own) {
    const auto scored = ws.labels.begin() + static_cast<std::ptrdiff_t>(n_scored);
    const auto found = std::find(ws.labels.begin(), scored, label.label);
    label.candidate = static_cast<std::size_t>(found - ws.labels.begin());
    if (found != scored) continue;
    label.candidate = ws.candidates.size();
    ws.candidates.push_back({label.label, 0.0f, {.nodes = label.node_vote}});
  }
  if (ws.candidates.size() > n_scored) score_candidates(store_, n_scored, own, ws);
  ws.roles.assign(ws.candidates.size(), Role::other);
  for (const OwnLabel& label : ws.own)
    ws.roles[label.candidate] = label.candidate < ws.n_voted ? Role::label : Role::missed_label;
}

// A label that its keys did not find says nothing about how much they should count.
void OneAgainstSome::find_gradients(VotingWorkspace& ws) const {
  const double margin = store_.rules.has_dense_predictors ? kMargin : 0.0;
  label_loss_gradients(ws.scores, ws.roles, margin, true, ws.gradient);
  if (has_role(Role::missed_label, ws))
    label_loss_gradients(ws.scores, ws.roles, margin, false, ws.vote_gradient);
  else
    ws.vote_gradient = ws.gradient;
}

bool OneAgainstSome::is_lesson(double gradient) const {
  return std::fabs(gradient) >=
         (store_.rules.has_dense_predictors ? kSmallGradientOfRows : kSmallGradientOfPairs);
}

void OneAgainstSome::find_lessons(const LeaveOut& own, VotingWorkspace& ws) const {
  ws.lessons.clear(), ws.hits.clear();
  for (std::size_t c = 0; c < ws.candidates.size(); ++c)
    if (is_lesson(ws.gradient[c])) {
      ws.lessons.push_back({c, 0});
      prefetch(&store_.class_sums[ws.labels[c]]);
    }
  const auto label = [&](std::size_t l) { return ws.labels[ws.lessons[l].candidate]; };
  ask_pairs(
      store_, ws.lessons.size(), ws, label,
      [&](std::size_t) { return std::span<const AskedKey>(ws.asked); },
      [&](std::size_t l, std::span<const AskedKey>, auto visit_pairs) {
        const OwnLabel* const left_out = own.find(label(l));
        visit_pairs([&](std::uint32_t k, std::uint32_t slot, float count, float) {
          ws.hits.push_back({k, slot, left_out != nullptr ? left_out->roots[k] : std::sqrt(count)});
        });
        ws.lessons[l].hits_end = ws.hits.size();
      });
  ws.work.pairs_found += ws.hits.size();
}

// --- Votes

void OneAgainstSome::update_votes(double weight, VotingWorkspace& ws) {
  double affinity = 0.0, nodes = 0.0;
  for (std::size_t c = 0; c < ws.candidates.size(); ++c) {
    affinity += ws.vote_gradient[c] * ws.candidates[c].sums.affinity * ws.inverse_norm[c];
    nodes += ws.vote_gradient[c] * ws.candidates[c].sums.nodes;
  }
  if (store_.rules.features_vote)
    store_.affinity_scale.learn(affinity, weight, rate_ * kFeatureRate);
  if (!ws.node_keys.empty()) store_.node_scale.learn(nodes, weight, rate_ * kNodeRate);
}

// Only the classes that learn are asked for what they have met; so that those on the wrong side
// stand for all who are there, they share what the others are short of.
void OneAgainstSome::update_feature_votes(double weight, VotingWorkspace& ws) {
  double wrong = 0.0, short_of = 0.0;
  for (const Lesson& lesson : ws.lessons) {
    const double gradient = ws.vote_gradient[lesson.candidate];
    (gradient > 0.0 ? wrong : short_of) += std::fabs(gradient);
  }
  if (!store_.rules.features_vote || wrong == 0.0 || short_of == 0.0) return;
  const VoteScales scales = store_.scales();
  const double A = scales.affinity, S = scales.share;
  ws.key_gradient.assign(ws.keys.size(), 0.0);
  double shares = 0.0;
  std::size_t hit = 0;
  for (const Lesson& lesson : ws.lessons) {
    const std::size_t c = lesson.candidate;
    const double gradient =
        ws.vote_gradient[c] < 0.0 ? ws.vote_gradient[c] : ws.vote_gradient[c] * short_of / wrong;
    const double norm = A * ws.inverse_norm[c];
    for (; hit < lesson.hits_end; ++hit) {
      const ActiveKey& key = ws.keys[ws.hits[hit].key];
      const double root = gradient * ws.hits[hit].root;
      ws.key_gradient[ws.hits[hit].key] += root * (norm + S * key.rarity);
      shares += root * key.pull * key.rarity;
    }
  }
  for (std::size_t k = 0; k < ws.keys.size(); ++k) {
    const double gradient = ws.key_gradient[k] * std::fabs(ws.keys[k].value);
    if (ws.keys[k].histogram != nullptr && gradient != 0.0)
      store_.histograms.touch(ws.keys[k].key).weight.learn(gradient, weight, rate_ * kKeyRate);
  }
  store_.share_scale.learn(shares, weight, rate_ * kFeatureRate);
}

// --- Predictors

PredictorStep OneAgainstSome::step_of(double gradient, double weight) const {
  const double wrong = given_.count_decay > 0.0 ? gradient * gradient : 0.0;
  return {gradient,
          weight,
          rate_,
          config_.l2,
          {1.0 - kForgottenWeights * wrong, 1.0 - kForgottenSteps * wrong}};
}

// All candidates that are wrong enough, but for the pairs of the example's own labels.
void OneAgainstSome::update_predictors(double weight, VotingWorkspace& ws) {
  for (std::size_t l = 0; l < ws.lessons.size(); ++l) {
    const std::size_t c = ws.lessons[l].candidate;
    const ClassId z = ws.labels[c];
    const PredictorStep step = step_of(ws.gradient[c], weight);
    float G = 0.0f;
    if (!store_.rules.has_cells)
      G = step.learn_bias(store_.class_terms[z].bias, store_.class_sums[z].bias_accumulator);
    if (store_.rules.weights_in_pairs) {
      if (ws.roles[c] == Role::other) update_pairs(l, step, ws);
    } else if (store_.rules.has_dense_predictors) {
      const PredictorStep::Row row = step.row(G);
      store_.dense_predictors.move(z, ws.x, row.step, row.kept);
    }
  }
}

// A class learns what is not it by the features that it has met.
void OneAgainstSome::update_pairs(std::size_t lesson, const PredictorStep& step,
                                  VotingWorkspace& ws) {
  const ClassId z = ws.labels[ws.lessons[lesson].candidate];
  const std::size_t begin = lesson > 0 ? ws.lessons[lesson - 1].hits_end : 0;
  const auto hits = std::span(ws.hits).subspan(begin, ws.lessons[lesson].hits_end - begin);
  {
    ClassPairs::Table& table = store_.pairs[z];
    SpinLock::Guard guard(table.lock, ws.threads);
    for (Hit& hit : hits) {
      const ActiveKey& key = ws.keys[hit.key];
      // Another thread may have moved the pairs, or forgotten this one.
      hit.slot = table.find(key.key, hit.slot);
      if (hit.slot == ClassPairs::kNone) continue;
      ClassPairs::Pair& pair = table[hit.slot];
      step.learn(pair, key.value);
      ++ws.work.pairs_changed;
      hit.weight = pair.weight;
      hit.root = std::sqrt(pair.count);
    }
  }
  for (const Hit& hit : hits)
    if (hit.slot != ClassPairs::kNone)
      publish(ws.keys[hit.key], z, hit.root, hit.weight, ws.threads);
}

// Beside its root in the key's histogram, where there is one.
void OneAgainstSome::publish(const ActiveKey& key, ClassId z, float root, float weight,
                             Threads threads) {
  if (!store_.rules.features_vote || key.histogram == nullptr) return;
  KeyHistograms::Key& histogram = store_.histograms.touch(key.key);
  SpinLock::Guard guard(histogram.lock, threads);
  store_.histograms.set_weight(histogram, z, root, weight);
}

void OneAgainstSome::update_own_pairs(ClassId y, const PredictorStep& step, double counted,
                                      VotingWorkspace& ws) {
  const bool learns = store_.rules.weights_in_pairs && is_lesson(step.gradient);
  ws.own_pairs.assign(ws.keys.size(), {});
  double added = 0.0;
  {
    ClassPairs::Table& table = store_.pairs[y];
    SpinLock::Guard guard(table.lock, ws.threads);
    for (std::size_t k = 0; k < ws.keys.size(); ++k) {
      const ActiveKey& key = ws.keys[k];
      const std::uint32_t slot =
          counted > 0.0 ? store_.pairs.find_or_add(table, key.key) : table.find(key.key);
      if (slot == ClassPairs::kNone) continue;
      ClassPairs::Pair& pair = table[slot];
      if (learns) step.learn(pair, key.value);
      const float before = pair.count;
      pair.count += static_cast<float>(key.share * counted);
      ws.own_pairs[k] = {before, pair.count, pair.weight, true};
      ws.work.pairs_changed += learns || counted > 0.0;
      added += key.share * counted;
    }
  }
  for (std::size_t k = 0; k < ws.keys.size(); ++k) {
    const ActiveKey& key = ws.keys[k];
    const OwnPair& own = ws.own_pairs[k];
    if (!own.is_known) continue;
    if (counted == 0.0) {
      if (learns) publish(key, y, std::sqrt(own.after), own.weight, ws.threads);
      continue;
    }
    KeyHistograms::Key& histogram = store_.histograms.touch(key.key);
    SpinLock::Guard guard(histogram.lock, ws.threads);
    // With its first label, so that an example counts once.
    if (y == ws.own.front().label) relaxed_store(histogram.examples, histogram.examples + counted);
    if (store_.rules.features_vote)
      ws.work.histogram_touches += store_.histograms.raise(histogram, y, std::sqrt(own.before),
                                                           std::sqrt(own.after), own.weight);
  }
  if (added == 0.0) return;
  VoteStore::ClassSums& sums = store_.class_sums[y];
  SpinLock::Guard guard(sums.lock, ws.threads);
  sums.count += added;
  relaxed_store(store_.class_terms[y].inverse_norm, inverse_norm_of(sums.count));
}

// --- Cells

// Class vectors decide by themselves which gradients are large enough.
void OneAgainstSome::teach_cells(Labels labels, double weight, double counted,
                                 VotingWorkspace& ws) {
  Cells& cells = *store_.own_cells;
  const Cells::Lesson lesson{labels, weight, rate_, counted, given_.count_decay > 0.0, config_.l2};
  cells.learn(ws.dense.row, ws.dense.x, ws.labels, ws.gradient, lesson, ws.cells);
  for (const ClassId z : ws.labels)
    relaxed_store(store_.class_terms[z].bias, cells.vectors().bias(z));
  ws.work.vectors_compared += std::exchange(ws.cells.search.vectors, 0);
}

// --- Counting

void OneAgainstSome::count(Labels labels, double weight, double counted, VotingWorkspace& ws) {
  if (store_.forest.n_trees() > 0 && ws.has_linear_models) {
    store_.forest.update_routers(labels, weight, store_.decay_unit(), learner_, ws);
    store_.forest.count(labels, counted, ws);
  }
  if (ws.has_linear_models) store_.centring.learn(ws.before.dense, ws.x, weight);
  if (labels.empty())
    for (const ActiveKey& key : ws.keys) {
      KeyHistograms::Key& histogram = store_.histograms.touch(key.key);
      SpinLock::Guard guard(histogram.lock, ws.threads);
      relaxed_store(histogram.examples, histogram.examples + counted);
    }
  ws.work.histogram_touches += store_.count(labels, counted, ws.threads);
}

}  // namespace recalltree
