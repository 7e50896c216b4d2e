// One-against-some: how it learns.
#include <algorithm>
#include <cmath>
#include <span>

#include "recalltree/base/intended_race.hpp"
#include "recalltree/voting/one_against_some.hpp"

namespace recalltree {
namespace {

// Sizes of AdaGrad's steps at learning_rate = 1, and what keeps the first of them finite.
constexpr double kFeatureRate = 1.8, kNodeRate = 0.045;  // of A and S, and of B
constexpr double kKeyRate = 0.11, kPairRate = 0.6, kRowRate = 0.1, kBiasRate = 0.3;
constexpr double kVoteOffset = 0.1, kPredictorOffset = 0.03;
// How much larger than the others the score of the right class has to be, for dense predictors.
constexpr double kMargin = 2.0;
// Steps of later passes are shorter by this factor.
constexpr double kLaterPass = 0.5;

// Where counts fade, a class forgets these parts of its weights, and of the squared gradients that
// shorten its steps, times the square of how wrong it is.
constexpr double kForgottenWeights = 0.03, kForgottenSteps = 0.3;

// G = kept G + w g^2
double accumulate(float& accumulator, double gradient, double weight, double kept = 1.0) {
  const auto G =
      static_cast<float>(kept * relaxed_load(accumulator) + weight * gradient * gradient);
  relaxed_store(accumulator, G);
  return G;
}

// The step of A, S, B and u. They learn from so many examples that they have to settle: their steps
// shrink with G^(3/4), not with its root.
double vote_step(float& accumulator, double gradient, double weight, double rate) {
  const double root = std::sqrt(accumulate(accumulator, gradient, weight) + kVoteOffset);
  return -rate * weight * gradient / (root * std::sqrt(root));
}

}  // namespace

void OneAgainstSome::learn_example(const Rows& rows, std::size_t i, ClassId y, double weight,
                                   OneAgainstSomeWorkspace& ws) {
  VotingWorkspace& v = ws.voting;
  const std::size_t n_known = n_classes_seen();
  const std::uint64_t before =
      ws.threads == Threads::several ? std::atomic_ref(n_examples_).fetch_add(1) : n_examples_++;
  see(y);
  if (ws.threads == Threads::one && first_pass_) rebase_unit();
  const double counted = weight * unit();

  const bool has_trees = forest_.n_trees() > 0;
  prefetch_class(y);  // which is often not among the candidates
  if (first_pass_ || !dropout_.is_on())
    read_example(*this, rows, i, first_pass_ ? 0.0 : counted, ws);
  else
    read_example(*this, dropout_.without(rows, i, before, v.row), 0, counted, ws);
  pairs_[y].prefetch_tags();
  if (has_trees || has_dense_predictors()) ws.x.rate = centring_.rate(ws.x);
  if (has_trees) descend(ws.x, n_known, v, ws.work, ws.threads);
  const LeaveOut own = first_pass_ ? LeaveOut{y} : leave_out(y, weight, v, ws.threads);
  find_candidates(*this, own, ws);
  score_candidates(*this, 0, own, ws);
  count_progress(y, weight, ws);

  std::size_t at = 0;
  while (at < v.candidates.size() && v.candidates[at].label != y) ++at;
  const bool found = at < v.n_voted;
  if (at == v.candidates.size()) {
    v.candidates.push_back({y, 0.0f, {.nodes = v.own_node_vote}});
    score_candidates(*this, at, own, ws);
  }
  softmax(at, v);
  const double rate = config_.learning_rate * (first_pass_ ? 1.0 : kLaterPass);
  find_lessons(own, ws);
  // A class that its keys did not find says nothing about how much they should count.
  if (found && rules_.features_vote) update_feature_votes(at, weight, rate, v);
  if (found) update_votes(weight, rate, v);
  update_predictors(at, weight, rate, ws);
  update_own_pairs(y, v.gradient[at], weight, rate, first_pass_ ? counted : 0.0, ws);
  if (!first_pass_) return;

  if (has_trees) {
    forest_.update_routers(ws.x, y, weight, unit(), learner_, ws);
    forest_.count(v.routes, y, counted, ws.work, ws.threads);
  }
  if (has_trees || has_dense_predictors()) centring_.learn(ws.before.dense, ws.x, weight);
  count(y, counted, ws);
}

// What its features' histograms begin with.
void OneAgainstSome::prefetch_row(const Rows& rows, std::size_t i) const {
  if (!rules_.features_vote) return;
  rows.visit(i, [&](std::uint32_t j, float) {
    if (const KeyHistograms::Key* const key = histograms_.find(j))
      prefetch(relaxed_load(key->entries), kReadTogether + 1);
  });
}

void OneAgainstSome::count_progress(ClassId y, double weight, OneAgainstSomeWorkspace& ws) const {
  const VotingWorkspace& v = ws.voting;
  const auto best = std::max_element(v.score.begin(), v.score.end());
  // Before anything is counted there are no candidates.
  const bool right = best != v.score.end() && v.candidates[best - v.score.begin()].label == y;
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

void OneAgainstSome::find_lessons(const LeaveOut& own, OneAgainstSomeWorkspace& ws) const {
  VotingWorkspace& v = ws.voting;
  v.lessons.clear(), v.hits.clear();
  for (std::size_t c = 0; c < v.candidates.size(); ++c)
    if (std::fabs(v.gradient[c]) >= small_gradient_) {
      v.lessons.push_back({c, 0});
      prefetch(&classes_[v.candidates[c].label]);
    }
  v.guesses.begin(v.lessons.size() * v.keys.size());
  for (const Lesson& lesson : v.lessons)
    v.guesses.add(
        find_pairs(v.candidates[lesson.candidate].label, v.keys, ws.threads, v.guesses.next()));
  for (std::size_t l = 0; l < v.lessons.size(); ++l) {
    Lesson& lesson = v.lessons[l];
    const ClassId z = v.candidates[lesson.candidate].label;
    const bool is_left_out = z == own.y && own.count > 0.0;
    const ClassPairs::Table& table = pairs_[z];
    SpinLock::Guard guard(table.lock, ws.threads);
    for (const auto& [k, guessed] : v.guesses[l]) {
      const std::uint32_t slot = table.find(v.keys[k].key, guessed);
      if (slot == ClassPairs::kNone) continue;
      v.hits.push_back({k, slot, is_left_out ? v.own_root[k] : std::sqrt(table[slot].count)});
    }
    lesson.hits_end = v.hits.size();
  }
  ws.work.pair_lookups += v.lessons.size() * v.keys.size();
  ws.work.pairs_found += v.hits.size();
}

void OneAgainstSome::Adaptive::step(double gradient, double weight, double rate) {
  const double moved = vote_step(accumulator, gradient, weight, rate);
  relaxed_store(value, static_cast<float>(std::max(0.0, relaxed_load(value) + moved)));
}

void OneAgainstSome::update_votes(double weight, double rate, VotingWorkspace& v) {
  double affinity = 0.0, nodes = 0.0;
  for (std::size_t c = 0; c < v.candidates.size(); ++c) {
    affinity += v.gradient[c] * v.candidates[c].sums.affinity * v.inverse_norm[c];
    nodes += v.gradient[c] * v.candidates[c].sums.nodes;
  }
  if (rules_.features_vote) affinity_scale_.step(affinity, weight, rate * kFeatureRate);
  if (forest_.n_trees() > 0) node_scale_.step(nodes, weight, rate * kNodeRate);
}

// Only the classes that learn are asked for what they have met; so that those on the wrong side
// stand for all who are there, they share what the example's class is short of.
void OneAgainstSome::update_feature_votes(std::size_t y_at, double weight, double rate,
                                          VotingWorkspace& v) {
  double wrong = 0.0;
  for (const Lesson& lesson : v.lessons)
    if (lesson.candidate != y_at) wrong += v.gradient[lesson.candidate];
  if (wrong == 0.0 || std::fabs(v.gradient[y_at]) < small_gradient_) return;
  const double A = relaxed_load(affinity_scale_.value), S = relaxed_load(share_scale_.value);
  v.key_gradient.assign(v.keys.size(), 0.0);
  double shares = 0.0;
  std::size_t hit = 0;
  for (const Lesson& lesson : v.lessons) {
    const std::size_t c = lesson.candidate;
    const double gradient = c == y_at ? v.gradient[c] : v.gradient[c] * -v.gradient[y_at] / wrong;
    const double norm = A * v.inverse_norm[c];
    for (; hit < lesson.hits_end; ++hit) {
      const ActiveKey& key = v.keys[v.hits[hit].key];
      const double root = gradient * v.hits[hit].root;
      v.key_gradient[v.hits[hit].key] += root * (norm + S * key.rarity);
      shares += root * key.pull * key.rarity;
    }
  }
  for (std::size_t k = 0; k < v.keys.size(); ++k) {
    const double gradient = v.key_gradient[k] * std::fabs(v.keys[k].value);
    if (v.keys[k].histogram == nullptr || gradient == 0.0) continue;
    auto& key = const_cast<KeyHistograms::Key&>(*v.keys[k].histogram);
    const double moved = vote_step(key.accumulator, gradient, weight, rate * kKeyRate);
    relaxed_store(key.weight, static_cast<float>(std::max(0.0, relaxed_load(key.weight) + moved)));
  }
  share_scale_.step(shares, weight, rate * kFeatureRate);
}

OneAgainstSome::Memory OneAgainstSome::memory(double gradient) const {
  const double wrong = rules_.config.count_decay > 0.0 ? gradient * gradient : 0.0;
  return {1.0 - kForgottenWeights * wrong, 1.0 - kForgottenSteps * wrong};
}

// All candidates that are wrong enough, but for the pairs of the example's own class.
void OneAgainstSome::update_predictors(std::size_t y_at, double weight, double rate,
                                       OneAgainstSomeWorkspace& ws) {
  VotingWorkspace& v = ws.voting;
  for (std::size_t l = 0; l < v.lessons.size(); ++l) {
    const std::size_t c = v.lessons[l].candidate;
    const float G = update_bias(ws.labels[c], v.gradient[c], weight, rate);
    if (rules_.weights_in_pairs && c != y_at) update_pairs(l, weight, rate, ws);
    if (has_dense_predictors()) {
      // Features of one spread share a rate: that of the bias.
      const double pace = rate * kRowRate * weight / std::sqrt(G + kPredictorOffset);
      const double kept = memory(v.gradient[c]).weights * std::max(0.0, 1.0 - pace * config_.l2);
      predictors_.move(ws.labels[c], ws.x, static_cast<float>(-pace * v.gradient[c]),
                       static_cast<float>(kept));
    }
  }
}

// A class learns what is not it by the features that it has met.
void OneAgainstSome::update_pairs(std::size_t lesson, double weight, double rate,
                                  OneAgainstSomeWorkspace& ws) {
  VotingWorkspace& v = ws.voting;
  const std::size_t c = v.lessons[lesson].candidate;
  const ClassId z = v.candidates[c].label;
  const std::size_t begin = lesson > 0 ? v.lessons[lesson - 1].hits_end : 0;
  const auto hits = std::span(v.hits).subspan(begin, v.lessons[lesson].hits_end - begin);
  {
    ClassPairs::Table& table = pairs_[z];
    SpinLock::Guard guard(table.lock, ws.threads);
    for (Hit& hit : hits) {
      const ActiveKey& key = v.keys[hit.key];
      // Another thread may have moved the pairs, or forgotten this one.
      hit.slot = table.find(key.key, hit.slot);
      if (hit.slot == ClassPairs::kNone) continue;
      ClassPairs::Pair& pair = table[hit.slot];
      step(pair, key.value, v.gradient[c], weight, rate);
      ++ws.work.pairs_changed;
      hit.weight = pair.weight;
      hit.root = std::sqrt(pair.count);
    }
  }
  if (!rules_.features_vote) return;
  for (const Hit& hit : hits)
    if (hit.slot != ClassPairs::kNone)
      publish(v.keys[hit.key], z, hit.root, hit.weight, ws.threads);
}

// Beside its root in the key's histogram, where there is one.
void OneAgainstSome::publish(const ActiveKey& key, ClassId z, float root, float weight,
                             Threads threads) {
  if (key.histogram == nullptr) return;
  auto& histogram = const_cast<KeyHistograms::Key&>(*key.histogram);
  SpinLock::Guard guard(histogram.lock, threads);
  histograms_.set_weight(histogram, z, root, weight);
}

void OneAgainstSome::step(ClassPairs::Pair& pair, float value, double gradient, double weight,
                          double rate) const {
  const auto g = static_cast<float>(gradient * value);
  const Memory kept = memory(gradient);
  pair.accumulator =
      static_cast<float>(kept.steps) * pair.accumulator + static_cast<float>(weight) * g * g;
  const float pace = static_cast<float>(rate * kPairRate * weight) /
                     std::sqrt(pair.accumulator + static_cast<float>(kPredictorOffset));
  pair.weight *= static_cast<float>(kept.weights);
  if (config_.l2 > 0.0) pair.weight *= std::max(0.0f, 1.0f - pace * static_cast<float>(config_.l2));
  pair.weight -= pace * g;
}

// Without a lock: classes that many examples name would wait for each other, and a step that is
// lost here and there does no harm.
float OneAgainstSome::update_bias(ClassId z, double gradient, double weight, double rate) {
  const double G =
      accumulate(classes_[z].bias_accumulator, gradient, weight, memory(gradient).steps);
  const double pace = rate * kBiasRate * weight / std::sqrt(G + kPredictorOffset);
  relaxed_store(ranked_[z].bias,
                static_cast<float>(relaxed_load(ranked_[z].bias) - pace * gradient));
  return static_cast<float>(G);
}

void OneAgainstSome::update_own_pairs(ClassId y, double gradient, double weight, double rate,
                                      double counted, OneAgainstSomeWorkspace& ws) {
  const bool learns = rules_.weights_in_pairs && std::fabs(gradient) >= small_gradient_;
  VotingWorkspace& v = ws.voting;
  v.own_pairs.assign(v.keys.size(), {});
  double added = 0.0;
  {
    ClassPairs::Table& table = pairs_[y];
    SpinLock::Guard guard(table.lock, ws.threads);
    for (std::size_t k = 0; k < v.keys.size(); ++k) {
      const ActiveKey& key = v.keys[k];
      const std::uint32_t slot =
          counted > 0.0 ? pairs_.find_or_add(table, key.key) : table.find(key.key);
      if (slot == ClassPairs::kNone) continue;
      ClassPairs::Pair& pair = table[slot];
      if (learns) step(pair, key.value, gradient, weight, rate);
      OwnPair& own = v.own_pairs[k];
      own.before = pair.count;
      pair.count += static_cast<float>(key.share * counted);
      own.after = pair.count;
      own.weight = pair.weight;
      own.is_known = true;
      ws.work.pairs_changed += learns || counted > 0.0;
      added += key.share * counted;
    }
  }
  for (std::size_t k = 0; k < v.keys.size(); ++k) {
    const ActiveKey& key = v.keys[k];
    const OwnPair& own = v.own_pairs[k];
    if (!own.is_known) continue;
    if (counted == 0.0) {
      if (learns && rules_.features_vote)
        publish(key, y, std::sqrt(own.after), own.weight, ws.threads);
      continue;
    }
    KeyHistograms::Key& histogram = histograms_.touch(key.key);
    SpinLock::Guard guard(histogram.lock, ws.threads);
    relaxed_store(histogram.examples, histogram.examples + counted);
    if (rules_.features_vote)
      ws.work.histogram_touches +=
          histograms_.raise(histogram, y, std::sqrt(own.before), std::sqrt(own.after), own.weight);
  }
  if (added == 0.0) return;
  ClassSums& sums = classes_[y];
  SpinLock::Guard guard(sums.lock, ws.threads);
  sums.count += added;
  relaxed_store(ranked_[y].inverse_norm, inverse_norm_of(sums.count));
}

void OneAgainstSome::count(ClassId y, double counted, OneAgainstSomeWorkspace& ws) {
  float before, after;
  {
    ClassSums& sums = classes_[y];
    SpinLock::Guard guard(sums.lock, ws.threads);
    before = static_cast<float>(sums.examples);
    sums.examples += counted;
    after = static_cast<float>(sums.examples);
  }
  SpinLock::Guard guard(global_counts_.lock, ws.threads);
  ws.work.histogram_touches +=
      histograms_.raise(global_counts_, y, std::sqrt(before), std::sqrt(after), 0.0f);
  relaxed_store(examples_, examples_ + counted);
  relaxed_store(n_counted_, n_counted_ + 1);
}

}  // namespace recalltree
