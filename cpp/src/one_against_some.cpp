// Learning and prediction of one-against-some.
#include "recalltree/one_against_some.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recalltree/intended_race.hpp"

namespace recalltree {
namespace {

// Where A begins: near where it ends on text.
constexpr float kVoteScale = 15.0f;
// Sizes of AdaGrad's steps at learning_rate = 1, and what keeps the first of them finite.
constexpr double kVoteRate = 0.1, kKeyRate = 0.2, kPredictorRate = 0.6, kBiasRate = 0.3;
constexpr double kVoteOffset = 0.1, kPredictorOffset = 0.03;
// Steps of later passes are shorter by this factor.
constexpr double kLaterPass = 0.5;
// A candidate that is wrong by less is not worth its cache misses.
constexpr double kSmallGradient = 0.03;
// Units of counts grow to 2 to this power.
constexpr double kMaxHalfLives = 40.0;
// What is left of a count when it was the example's own, in shares of the example.
constexpr float kRounding = 1e-3f;

// G += w g^2 and the step -rate w g / sqrt(G).
double adagrad(float& accumulator, double gradient, double weight, double rate, double offset) {
  const auto G = static_cast<float>(relaxed_load(accumulator) + weight * gradient * gradient);
  relaxed_store(accumulator, G);
  return -rate * weight * gradient / std::sqrt(G + offset);
}

}  // namespace

OneAgainstSome::OneAgainstSome(const OneAgainstSomeConfig& config)
    : Learner(config.learner),
      some_config_(config),
      weighting_(config.weighting),
      histograms_(config.max_labels),
      vote_scale_(kVoteScale) {}

// --- Candidates
// ------------------------------------------------------------------------------------------------

OneAgainstSome::Own OneAgainstSome::leave_out(ClassId y, double weight, VotingWorkspace& v,
                                              bool shared) const {
  Own own{y, weight * unit(), 0.0f};
  auto& table = const_cast<ClassPairs::Table&>(pairs_[y]);
  v.own_root.assign(v.keys.size(), 0.0f);
  double left_out = 0.0;
  {
    SpinLock::Guard guard(table.lock, shared);
    for (std::size_t k = 0; k < v.keys.size(); ++k) {
      const auto share = static_cast<float>(v.keys[k].share * own.count);
      left_out += share;
      const std::uint32_t slot = table.find(v.keys[k].key);
      if (slot == ClassPairs::kNone) continue;
      const float rest = table.values(slot).count - share;
      if (rest > kRounding * share) v.own_root[k] = std::sqrt(rest);
    }
  }
  auto& sums = const_cast<ClassSums&>(classes_[y]);
  SpinLock::Guard guard(sums.lock, shared);
  const double rest = sums.count - left_out;
  if (rest > kRounding * left_out)
    own.inverse_norm = inverse_norm_of(rest);
  else
    std::fill(v.own_root.begin(), v.own_root.end(), 0.0f);
  return own;
}

float OneAgainstSome::inverse_norm(ClassId z, const Own& own) const {
  return z == own.y ? own.inverse_norm : relaxed_load(ranked_[z].inverse_norm);
}

// The keys vote, those that pull most first, until enough entries are read.
void OneAgainstSome::find_candidates(const Own& own, VotingWorkspace& v, Workspace& ws,
                                     bool shared) const {
  v.order.resize(v.keys.size());
  std::iota(v.order.begin(), v.order.end(), 0u);
  std::sort(v.order.begin(), v.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return v.keys[a].pull > v.keys[b].pull || (v.keys[a].pull == v.keys[b].pull && a < b);
  });
  v.votes.reserve(some_config_.max_entries);
  std::size_t left = some_config_.max_entries;
  for (const std::uint32_t k : v.order) {
    const ActiveKey& key = v.keys[k];
    if (key.histogram == nullptr) continue;
    SpinLock::Guard guard(const_cast<SpinLock&>(key.histogram->lock), shared);
    const auto entries = key.histogram->top(left);
    left -= entries.size();
    for (const auto& entry : entries) {
      const float root = entry.label == own.y ? v.own_root[k] : entry.root;
      if (root > 0.0f) v.votes.add(entry.label, key.pull * root);
    }
    if (left == 0) break;
  }
  ws.work.histogram_touches += some_config_.max_entries - left;
  const float scale = relaxed_load(vote_scale_);
  v.votes.take_best(some_config_.max_candidates, v.candidates, [&](ClassId z, float sum) {
    return scale * sum * inverse_norm(z, own) + relaxed_load(ranked_[z].bias);
  });
  if (!v.candidates.empty()) return;
  // Nothing is known of any of the keys: the most frequent classes.
  SpinLock::Guard guard(const_cast<SpinLock&>(everywhere_.lock), shared);
  for (const auto& entry : everywhere_.top(some_config_.max_candidates))
    v.candidates.push_back({entry.label, relaxed_load(ranked_[entry.label].bias)});
}

// Exact counts and the linear predictors, from candidate `from` on.
void OneAgainstSome::score_candidates(std::size_t from, const Own& own, VotingWorkspace& v,
                                      Workspace& ws, bool shared) const {
  const std::size_t n = v.candidates.size();
  if (from == 0) {
    v.hits.clear();
    v.hits_end.clear();
  }
  v.vote.resize(n), v.inverse_norm.resize(n), v.score.resize(n), v.hits_end.resize(n);
  const float scale = relaxed_load(vote_scale_);
  constexpr std::size_t kAhead = 2;
  for (std::size_t c = from; c < n; ++c) {
    if (c + kAhead < n && !shared)
      for (const ActiveKey& key : v.keys) pairs_[v.candidates[c + kAhead].label].prefetch(key.key);
    const ClassId z = v.candidates[c].label;
    auto& table = const_cast<ClassPairs::Table&>(pairs_[z]);
    float vote = 0.0f, linear = 0.0f;
    {
      SpinLock::Guard guard(table.lock, shared);
      for (std::uint32_t k = 0; k < v.keys.size(); ++k) {
        const std::uint32_t slot = table.find(v.keys[k].key);
        if (slot == ClassPairs::kNone) continue;
        const ClassPairs::Values& pair = table.values(slot);
        const float root = z == own.y ? v.own_root[k] : std::sqrt(pair.count);
        vote += v.keys[k].pull * root;
        linear += v.keys[k].value * pair.weight;
        v.hits.push_back({k, slot, root});
      }
    }
    v.hits_end[c] = static_cast<std::uint32_t>(v.hits.size());
    v.inverse_norm[c] = inverse_norm(z, own);
    v.vote[c] = vote * v.inverse_norm[c];
    v.score[c] = scale * v.vote[c] + linear + relaxed_load(ranked_[z].bias);
  }
  ws.work.predictor_evaluations += n - from;
}

void OneAgainstSome::score(const Rows& rows, std::size_t i, Workspace& ws) const {
  VotingWorkspace& v = ws.voting;
  weighting_.read(rows, i, histograms_, examples_, 0.0, unit(), v.keys);
  find_candidates({}, v, ws, ws.shared);
  score_candidates(0, {}, v, ws, ws.shared);
  ws.labels.clear();
  for (const Candidate& candidate : v.candidates) ws.labels.push_back(candidate.label);
  ws.scores = v.score;
}

// --- Learning
// --------------------------------------------------------------------------------------------------

void OneAgainstSome::learn_one(const Rows& rows, std::size_t i, ClassId y, double weight,
                               Workspace& ws, bool shared) {
  VotingWorkspace& v = ws.voting;
  if (shared)
    std::atomic_ref(n_examples_).fetch_add(1);
  else
    ++n_examples_;
  see(y);
  if (!shared && first_pass_) rebase_unit();
  const double own_count = first_pass_ ? 0.0 : weight * unit();
  weighting_.read(rows, i, histograms_, relaxed_load(examples_), own_count, unit(), v.keys);
  Own own;
  if (!first_pass_) own = leave_out(y, weight, v, shared);
  find_candidates(own, v, ws, shared);
  score_candidates(0, own, v, ws, shared);

  const auto best = std::max_element(v.score.begin(), v.score.end());
  const bool right = best != v.score.end() && v.candidates[best - v.score.begin()].label == y;
  ws.progress.count(weight, !right);

  const auto is_y = [y](const Candidate& candidate) { return candidate.label == y; };
  std::size_t at = static_cast<std::size_t>(
      std::find_if(v.candidates.begin(), v.candidates.end(), is_y) - v.candidates.begin());
  const bool found = at < v.candidates.size();
  if (!found) {
    v.candidates.push_back({y, 0.0f});
    score_candidates(at, own, v, ws, shared);
  }
  softmax(y, v);
  const double rate = config_.learning_rate * (first_pass_ ? 1.0 : kLaterPass);
  const double gradient = v.gradient[at];
  // A class that its keys did not find says nothing about how much they should count.
  if (found) update_vote(weight, rate, v);
  for (std::size_t c = 0; c < v.candidates.size(); ++c)
    if (c != at && std::fabs(v.gradient[c]) >= kSmallGradient)
      update_predictor(v.candidates[c].label, v.gradient[c], weight, rate,
                       c > 0 ? v.hits_end[c - 1] : 0, v.hits_end[c], v, shared);
  update_class(y, gradient, weight, rate, first_pass_ ? weight * unit() : 0.0, v, ws, shared);
}

// Gradients of the softmax's loss with respect to the scores.
void OneAgainstSome::softmax(ClassId y, VotingWorkspace& v) const {
  const float largest = *std::max_element(v.score.begin(), v.score.end());
  v.gradient.resize(v.score.size());
  double sum = 0.0;
  for (std::size_t c = 0; c < v.score.size(); ++c)
    sum += v.gradient[c] = std::exp(double(v.score[c]) - double(largest));
  for (std::size_t c = 0; c < v.score.size(); ++c)
    v.gradient[c] = v.gradient[c] / sum - (v.candidates[c].label == y ? 1.0 : 0.0);
}

// Steps on A and on the weights u of the keys.
void OneAgainstSome::update_vote(double weight, double rate, VotingWorkspace& v) {
  const double scale = relaxed_load(vote_scale_);
  v.key_gradient.assign(v.keys.size(), 0.0);
  double scale_gradient = 0.0;
  std::size_t hit = 0;
  for (std::size_t c = 0; c < v.candidates.size(); ++c) {
    scale_gradient += v.gradient[c] * v.vote[c];
    const double pull = v.gradient[c] * scale * v.inverse_norm[c];
    for (; hit < v.hits_end[c]; ++hit) v.key_gradient[v.hits[hit].key] += pull * v.hits[hit].root;
  }
  for (std::size_t k = 0; k < v.keys.size(); ++k) {
    if (v.keys[k].histogram == nullptr) continue;
    auto& key = const_cast<KeyHistograms::Key&>(*v.keys[k].histogram);
    const double gradient = v.key_gradient[k] * std::fabs(v.keys[k].value);
    if (gradient == 0.0) continue;
    const double stepped = relaxed_load(key.weight) + adagrad(key.accumulator, gradient, weight,
                                                              rate * kKeyRate, kVoteOffset);
    relaxed_store(key.weight, static_cast<float>(std::max(0.0, stepped)));
  }
  const double stepped =
      scale + adagrad(vote_accumulator_, scale_gradient, weight, rate * kVoteRate, kVoteOffset);
  relaxed_store(vote_scale_, static_cast<float>(std::max(0.0, stepped)));
}

void OneAgainstSome::step(ClassPairs::Values& values, float& accumulator, float value,
                          double gradient, double weight, double rate) const {
  const double moved =
      adagrad(accumulator, gradient * value, weight, rate * kPredictorRate, kPredictorOffset);
  double kept = 1.0;
  if (config_.l2 > 0.0)
    kept = std::max(0.0, 1.0 - rate * kPredictorRate * weight * config_.l2 /
                                   std::sqrt(accumulator + kPredictorOffset));
  values.weight = static_cast<float>(values.weight * kept + moved);
}

void OneAgainstSome::update_bias(ClassId z, double gradient, double weight, double rate,
                                 bool shared) {
  ClassSums& sums = classes_[z];
  SpinLock::Guard guard(sums.lock, shared);
  const double moved =
      adagrad(sums.bias_accumulator, gradient, weight, rate * kBiasRate, kPredictorOffset);
  relaxed_store(ranked_[z].bias, static_cast<float>(relaxed_load(ranked_[z].bias) + moved));
}

// A class learns what is not it by the keys that it has met.
void OneAgainstSome::update_predictor(ClassId z, double gradient, double weight, double rate,
                                      std::size_t hits_begin, std::size_t hits_end,
                                      const VotingWorkspace& v, bool shared) {
  {
    ClassPairs::Table& table = pairs_[z];
    SpinLock::Guard guard(table.lock, shared);
    for (std::size_t h = hits_begin; h < hits_end; ++h) {
      const ActiveKey& key = v.keys[v.hits[h].key];
      // Another thread may have moved the pairs.
      const std::uint32_t slot = shared ? table.find(key.key) : v.hits[h].slot;
      if (slot == ClassPairs::kNone) continue;
      step(table.values(slot), table.accumulator(slot), key.value, gradient, weight, rate);
    }
  }
  update_bias(z, gradient, weight, rate, shared);
}

void OneAgainstSome::update_class(ClassId y, double gradient, double weight, double rate,
                                  double counted, VotingWorkspace& v, Workspace& ws, bool shared) {
  const bool learns = std::fabs(gradient) >= kSmallGradient;
  double added = 0.0;
  for (const ActiveKey& key : v.keys) {
    float before, after;
    {
      ClassPairs::Table& table = pairs_[y];
      SpinLock::Guard guard(table.lock, shared);
      const std::uint32_t slot = counted > 0.0 ? pairs_.find_or_add(table, key.key)
                                               : table.find(key.key);
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
    ws.work.histogram_touches +=
        histograms_.raise(histogram, y, std::sqrt(before), std::sqrt(after));
  }
  if (learns) update_bias(y, gradient, weight, rate, shared);
  if (counted == 0.0) return;

  float before, after;
  {
    ClassSums& sums = classes_[y];
    SpinLock::Guard guard(sums.lock, shared);
    before = static_cast<float>(sums.examples);
    sums.examples += counted;
    sums.count += added;
    after = static_cast<float>(sums.examples);
    relaxed_store(ranked_[y].inverse_norm, inverse_norm_of(sums.count));
  }
  SpinLock::Guard guard(everywhere_.lock, shared);
  histograms_.raise(everywhere_, y, std::sqrt(before), std::sqrt(after));
  relaxed_store(examples_, examples_ + counted);
  relaxed_store(n_counted_, n_counted_ + 1);
}

// --- Batches, decay
// --------------------------------------------------------------------------------------------

void OneAgainstSome::begin_batch(const Batch&) {
  pairs_.grow_to(n_classes());
  while (classes_.size() < n_classes()) classes_.add([](ClassSums&) {});
  ranked_.resize(n_classes());
}

void OneAgainstSome::learn_batch(const Batch& batch, std::vector<Workspace>& team,
                                 bool first_pass) {
  first_pass_ = first_pass;
  if (some_config_.count_decay <= 0.0 || team.size() == 1)
    return Learner::learn_batch(batch, team, first_pass);
  // Units can only be changed while one thread works alone.
  const auto piece =
      static_cast<std::size_t>(std::max(1.0, kMaxHalfLives * some_config_.count_decay));
  std::vector<std::int64_t> order(batch.n);
  for (std::size_t i = 0; i < batch.n; ++i) order[i] = static_cast<std::int64_t>(batch.row(i));
  for (std::size_t begin = 0; begin < batch.n; begin += piece) {
    rebase_unit();
    Batch part = batch;
    part.order = order.data() + begin;
    part.n = std::min(piece, batch.n - begin);
    Learner::learn_batch(part, team, first_pass);
  }
}

double OneAgainstSome::unit() const {
  if (some_config_.count_decay <= 0.0) return 1.0;
  return std::exp2((static_cast<double>(relaxed_load(n_counted_)) - unit_origin_) / some_config_.count_decay);
}

// Before the units become too large for the numbers, all counts are written in new ones. The factor
// is a power of four, so that counts and their roots keep all their digits.
void OneAgainstSome::rebase_unit() {
  if (some_config_.count_decay <= 0.0) return;
  const double half_lives =
      (static_cast<double>(n_counted_) - unit_origin_) / some_config_.count_decay;
  if (half_lives < kMaxHalfLives) return;
  const double whole = 2.0 * std::floor(half_lives / 2.0);
  const double factor = std::exp2(-whole), root = std::exp2(-whole / 2.0);
  histograms_.rescale(static_cast<float>(root));
  pairs_.rescale(static_cast<float>(factor));
  for (std::size_t y = 0; y < classes_.size(); ++y) {
    classes_[y].examples *= factor;
    classes_[y].count *= factor;
    ranked_[y].inverse_norm = inverse_norm_of(classes_[y].count);
  }
  for (std::size_t i = 0; i < everywhere_.size; ++i)
    everywhere_.entries[i].root *= static_cast<float>(root);
  examples_ *= factor;
  unit_origin_ += whole * some_config_.count_decay;
}

}  // namespace recalltree
