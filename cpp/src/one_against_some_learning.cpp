// One-against-some: how it learns.
#include <algorithm>
#include <cmath>

#include "recalltree/intended_race.hpp"
#include "recalltree/one_against_some.hpp"

namespace recalltree {
namespace {

// Sizes of AdaGrad's steps at learning_rate = 1, and what keeps the first of them finite.
constexpr double kFeatureRate = 0.1, kNodeRate = 0.025;  // of A and B
constexpr double kKeyRate = 0.2, kPairRate = 0.6, kRowRate = 0.1, kBiasRate = 0.3;
constexpr double kVoteOffset = 0.1, kPredictorOffset = 0.03;
// How much larger than the others the score of the right class has to be, for dense predictors.
constexpr double kMargin = 2.0;
// Steps of later passes are shorter by this factor.
constexpr double kLaterPass = 0.5;

// G += w g^2 and the step -rate w g / sqrt(G).
double adagrad(float& accumulator, double gradient, double weight, double rate, double offset) {
  const auto G = static_cast<float>(relaxed_load(accumulator) + weight * gradient * gradient);
  relaxed_store(accumulator, G);
  return -rate * weight * gradient / std::sqrt(G + offset);
}

}  // namespace

void OneAgainstSome::learn_one(const Rows& rows, std::size_t i, ClassId y, double weight,
                               Workspace& ws, bool shared) {
  VotingWorkspace& v = ws.voting;
  const std::size_t n_known = n_classes_seen();
  if (shared)
    std::atomic_ref(n_examples_).fetch_add(1);
  else
    ++n_examples_;
  see(y);
  if (!shared && first_pass_) rebase_unit();
  const double counted = weight * unit();

  const bool has_trees = forest_.n_trees() > 0;
  read_example(*this, rows, i, first_pass_ ? 0.0 : counted, ws);
  if (has_trees || has_dense_predictors()) ws.x.rate = centring_.rate(ws.x);
  if (has_trees) descend(ws.x, n_known, v, ws.work, shared);
  const Own own = first_pass_ ? Own{y} : leave_out(y, weight, v, shared);
  find_candidates(*this, own, ws, shared);
  score_candidates(*this, 0, own, ws, shared);
  count_progress(!v.candidates.empty(), y, weight, ws);

  std::size_t at = 0;
  while (at < v.candidates.size() && v.candidates[at].label != y) ++at;
  const bool found = at < v.n_voted;
  if (at == v.candidates.size()) {
    v.candidates.push_back({y, 0.0f, v.own_node_vote});
    score_candidates(*this, at, own, ws, shared);
  }
  softmax(at, v);
  const double rate = config_.learning_rate * (first_pass_ ? 1.0 : kLaterPass);
  // A class that its keys did not find says nothing about how much they should count.
  if (found) update_votes(weight, rate, v);
  update_predictors(at, weight, rate, ws, shared);
  update_own_pairs(y, v.gradient[at], weight, rate, first_pass_ ? counted : 0.0, ws, shared);
  if (!first_pass_) return;

  if (has_trees) {
    forest_.update_routers(ws.x, y, weight, unit(), learner_, ws, shared);
    forest_.count(v.routes, y, counted, ws.work, shared);
  }
  if (has_trees || has_dense_predictors()) centring_.learn(ws.before.dense, ws.x, weight);
  count(y, counted, ws, shared);
}

void OneAgainstSome::count_progress(bool predicts, ClassId y, double weight, Workspace& ws) const {
  const std::vector<float>& score = ws.voting.score;
  const auto best = std::max_element(score.begin(), score.end());
  // Another thread may have seen a class that nobody has counted yet: then there are no candidates.
  const bool right =
      predicts && best != score.end() && ws.voting.candidates[best - score.begin()].label == y;
  ws.progress.count(weight, !right);
}

// Gradients of the softmax's loss with respect to the scores; the right class has to win by a
// margin if there is one.
void OneAgainstSome::softmax(std::size_t y_at, VotingWorkspace& v) const {
  const double margin = has_dense_predictors() ? kMargin : 0.0;
  v.gradient.assign(v.score.begin(), v.score.end());
  v.gradient[y_at] -= margin;
  const double largest = *std::max_element(v.gradient.begin(), v.gradient.end());
  double sum = 0.0;
  for (double& g : v.gradient) sum += g = std::exp(g - largest);
  for (double& g : v.gradient) g /= sum;
  v.gradient[y_at] -= 1.0;
}

// Steps on A, B and the weights u of the features.
void OneAgainstSome::update_votes(double weight, double rate, VotingWorkspace& v) {
  double features = 0.0, nodes = 0.0;
  for (std::size_t c = 0; c < v.candidates.size(); ++c) {
    features += v.gradient[c] * v.vote[c];
    nodes += v.gradient[c] * v.candidates[c].node_vote;
  }
  if (rules_.features_vote) update_key_weights(weight, rate, v);
  const auto update = [&](Adaptive& scale, double gradient, double pace) {
    const double moved = adagrad(scale.accumulator, gradient, weight, rate * pace, kVoteOffset);
    relaxed_store(scale.value,
                  static_cast<float>(std::max(0.0, relaxed_load(scale.value) + moved)));
  };
  if (rules_.features_vote) update(feature_scale_, features, kFeatureRate);
  if (forest_.n_trees() > 0) update(node_scale_, nodes, kNodeRate);
}

void OneAgainstSome::update_key_weights(double weight, double rate, VotingWorkspace& v) {
  const double A = relaxed_load(feature_scale_.value);
  v.key_gradient.assign(v.keys.size(), 0.0);
  std::size_t hit = 0;
  for (std::size_t c = 0; c < v.candidates.size(); ++c) {
    const double pull = v.gradient[c] * A * v.inverse_norm[c];
    for (; hit < v.hits_end[c]; ++hit) v.key_gradient[v.hits[hit].key] += pull * v.hits[hit].root;
  }
  for (std::size_t k = 0; k < v.keys.size(); ++k) {
    const double gradient = v.key_gradient[k] * std::fabs(v.keys[k].value);
    if (v.keys[k].histogram == nullptr || gradient == 0.0) continue;
    auto& key = const_cast<KeyHistograms::Key&>(*v.keys[k].histogram);
    const double moved = adagrad(key.accumulator, gradient, weight, rate * kKeyRate, kVoteOffset);
    relaxed_store(key.weight, static_cast<float>(std::max(0.0, relaxed_load(key.weight) + moved)));
  }
}

// All candidates that are wrong enough, but for the pairs of the example's own class.
void OneAgainstSome::update_predictors(std::size_t y_at, double weight, double rate, Workspace& ws,
                                       bool shared) {
  VotingWorkspace& v = ws.voting;
  for (std::size_t c = 0; c < v.candidates.size(); ++c) {
    if (std::fabs(v.gradient[c]) < small_gradient_) continue;
    const float G = update_bias(ws.rows[c], v.gradient[c], weight, rate, shared);
    if (rules_.weights_in_pairs && c != y_at) update_pairs(c, weight, rate, v, shared);
    if (has_dense_predictors()) {
      // Features of one spread share a rate: that of the bias.
      const double pace = rate * kRowRate * weight / std::sqrt(G + kPredictorOffset);
      predictors_.move(ws.rows[c], ws.x, static_cast<float>(-pace * v.gradient[c]),
                       static_cast<float>(std::max(0.0, 1.0 - pace * config_.l2)));
    }
  }
}

// A class learns what is not it by the features that it has met.
void OneAgainstSome::update_pairs(std::size_t c, double weight, double rate,
                                  const VotingWorkspace& v, bool shared) {
  ClassPairs::Table& table = pairs_[v.candidates[c].label];
  SpinLock::Guard guard(table.lock, shared);
  for (std::size_t h = c > 0 ? v.hits_end[c - 1] : 0; h < v.hits_end[c]; ++h) {
    const ActiveKey& key = v.keys[v.hits[h].key];
    // Another thread may have moved the pairs.
    const std::uint32_t slot = shared ? table.find(key.key) : v.hits[h].slot;
    if (slot != ClassPairs::kNone)
      step(table.values(slot), table.accumulator(slot), key.value, v.gradient[c], weight, rate);
  }
}

void OneAgainstSome::step(ClassPairs::Values& values, float& accumulator, float value,
                          double gradient, double weight, double rate) const {
  const double moved =
      adagrad(accumulator, gradient * value, weight, rate * kPairRate, kPredictorOffset);
  double kept = 1.0;
  if (config_.l2 > 0.0)
    kept = std::max(0.0, 1.0 - rate * kPairRate * weight * config_.l2 /
                                   std::sqrt(accumulator + kPredictorOffset));
  values.weight = static_cast<float>(values.weight * kept + moved);
}

float OneAgainstSome::update_bias(ClassId z, double gradient, double weight, double rate,
                                  bool shared) {
  ClassSums& sums = classes_[z];
  SpinLock::Guard guard(sums.lock, shared);
  const double moved =
      adagrad(sums.bias_accumulator, gradient, weight, rate * kBiasRate, kPredictorOffset);
  relaxed_store(ranked_[z].bias, static_cast<float>(relaxed_load(ranked_[z].bias) + moved));
  return sums.bias_accumulator;
}

void OneAgainstSome::update_own_pairs(ClassId y, double gradient, double weight, double rate,
                                      double counted, Workspace& ws, bool shared) {
  const bool learns = rules_.weights_in_pairs && std::fabs(gradient) >= small_gradient_;
  double added = 0.0;
  for (const ActiveKey& key : ws.voting.keys) {
    float before, after;
    {
      ClassPairs::Table& table = pairs_[y];
      SpinLock::Guard guard(table.lock, shared);
      const std::uint32_t slot =
          counted > 0.0 ? pairs_.find_or_add(table, key.key) : table.find(key.key);
      if (slot == ClassPairs::kNone) continue;
      ClassPairs::Values& pair = table.values(slot);
      if (learns) step(pair, table.accumulator(slot), key.value, gradient, weight, rate);
      before = pair.count;
      pair.count += static_cast<float>(key.share * counted);
      after = pair.count;
    }
    if (counted == 0.0) continue;
    added += key.share * counted;
    KeyHistograms::Key& histogram = histograms_.touch(key.key);
    SpinLock::Guard guard(histogram.lock, shared);
    relaxed_store(histogram.examples, histogram.examples + counted);
    if (rules_.features_vote)
      ws.work.histogram_touches +=
          histograms_.raise(histogram, y, std::sqrt(before), std::sqrt(after));
  }
  if (added == 0.0) return;
  ClassSums& sums = classes_[y];
  SpinLock::Guard guard(sums.lock, shared);
  sums.count += added;
  relaxed_store(ranked_[y].inverse_norm, inverse_norm_of(sums.count));
}

void OneAgainstSome::count(ClassId y, double counted, Workspace& ws, bool shared) {
  float before, after;
  {
    ClassSums& sums = classes_[y];
    SpinLock::Guard guard(sums.lock, shared);
    before = static_cast<float>(sums.examples);
    sums.examples += counted;
    after = static_cast<float>(sums.examples);
  }
  SpinLock::Guard guard(everywhere_.lock, shared);
  ws.work.histogram_touches +=
      histograms_.raise(everywhere_, y, std::sqrt(before), std::sqrt(after));
  relaxed_store(examples_, examples_ + counted);
  relaxed_store(n_counted_, n_counted_ + 1);
}

}  // namespace recalltree
