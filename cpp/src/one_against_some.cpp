// One-against-some: how candidates are found and scored.
#include "recalltree/one_against_some.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recalltree/intended_race.hpp"

namespace recalltree {
namespace {

// Where A and B begin: near where they end on the data they were chosen on.
constexpr float kFeatureScale = 15.0f, kNodeScale = 1.25f;
// A candidate that is wrong by less is not worth its cache misses, of which a table has many and a
// dense row few.
constexpr double kSmallGradientOfPairs = 0.03, kSmallGradientOfRows = 0.003;
// Units of counts grow to 2 to this power.
constexpr double kMaxHalfLives = 40.0;
// What is left of a count when it was the example's own, in shares of the example.
constexpr float kRounding = 1e-3f;

OneAgainstSomeConfig resolved(OneAgainstSomeConfig config) {
  if (config.keys == Keys::automatic)
    config.keys = config.learner.sparse ? Keys::features : Keys::trees;
  if (config.max_candidates == 0) config.max_candidates = config.keys == Keys::features ? 40 : 100;
  return config;
}

}  // namespace

OneAgainstSome::OneAgainstSome(const OneAgainstSomeConfig& config)
    : Learner(config.learner),
      given_(config),
      some_config_(resolved(config)),
      features_vote_(some_config_.keys == Keys::features || some_config_.keys == Keys::both),
      weights_in_pairs_(config.learner.sparse || some_config_.keys == Keys::features),
      small_gradient_(weights_in_pairs_ ? kSmallGradientOfPairs : kSmallGradientOfRows),
      weighting_(config.weighting),
      centring_(config.learner, config.center),
      histograms_(config.max_labels),
      forest_(some_config_),
      predictors_(config.learner.n_features, false, DenseWeights::Rates::per_row),
      feature_scale_{kFeatureScale},
      node_scale_{kNodeScale} {}

// --- Candidates
// ------------------------------------------------------------------------------------------------

// What the keys, the routers and the predictors see of row i. Nothing is learned from it yet, so
// that prediction sees the same.
void OneAgainstSome::read_example(const Rows& rows, std::size_t i, double own,
                                  Workspace& ws) const {
  VotingWorkspace& v = ws.voting;
  v.keys.clear();
  if (features_vote_ || weights_in_pairs_)
    weighting_.read(rows, i, histograms_, relaxed_load(examples_), own, unit(), v.keys);
  if (weights_in_pairs_ && forest_.n_trees() == 0) return;
  if (config_.sparse) {
    ws.x.keys.clear(), ws.x.values.clear();
    for (const ActiveKey& key : v.keys) {
      ws.x.keys.push_back(key.key);
      ws.x.values.push_back(key.value);
    }
  } else {
    centring_.read(rows, i, ws.before.dense, ws.x);
  }
  ws.x.rate = centring_.rate(ws.x);
}

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
  return own.count > 0.0 && z == own.y ? own.inverse_norm : relaxed_load(ranked_[z].inverse_norm);
}

// The features vote, those that pull most first, until enough entries are read.
void OneAgainstSome::vote_of_features(const Own& own, std::size_t max_entries, Workspace& ws,
                                      bool shared) const {
  VotingWorkspace& v = ws.voting;
  v.order.resize(v.keys.size());
  std::iota(v.order.begin(), v.order.end(), 0u);
  std::sort(v.order.begin(), v.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return v.keys[a].pull > v.keys[b].pull || (v.keys[a].pull == v.keys[b].pull && a < b);
  });
  const ClassId left_out = own.count > 0.0 ? own.y : kNoClass;
  std::size_t left = max_entries;
  for (const std::uint32_t k : v.order) {
    const ActiveKey& key = v.keys[k];
    if (key.histogram == nullptr) continue;
    SpinLock::Guard guard(const_cast<SpinLock&>(key.histogram->lock), shared);
    const auto entries = key.histogram->top(left);
    left -= entries.size();
    for (const auto& entry : entries) {
      const float root = entry.label == left_out ? v.own_root[k] : entry.root;
      if (root > 0.0f) v.votes.add_feature_vote(entry.label, key.pull * root);
    }
    if (left == 0) break;
  }
  ws.work.histogram_touches += max_entries - left;
}

void OneAgainstSome::find_candidates(const Own& own, Workspace& ws, bool shared) const {
  VotingWorkspace& v = ws.voting;
  v.votes.reserve(some_config_.max_entries);
  v.own_node_vote = 0.0f;
  std::size_t read = 0;
  if (forest_.n_trees() > 0) {
    read = forest_.vote(v.node_keys, shared, [&](ClassId label, float vote) {
      v.votes.add_node_vote(label, vote);
      if (label == own.y) v.own_node_vote += vote;
    });
    ws.work.histogram_touches += read;
  }
  if (features_vote_)
    vote_of_features(
        own, some_config_.max_entries - std::min<std::size_t>(read, some_config_.max_entries), ws,
        shared);
  const float A = relaxed_load(feature_scale_.value), B = relaxed_load(node_scale_.value);
  v.votes.take_best(
      some_config_.max_candidates, v.candidates, [&](ClassId z, float features, float nodes) {
        return A * features * inverse_norm(z, own) + B * nodes + relaxed_load(ranked_[z].bias);
      });
  v.n_voted = v.candidates.size();
  if (v.n_voted >= some_config_.max_candidates) return;
  // The keys know too few classes: the most frequent ones fill up.
  SpinLock::Guard guard(const_cast<SpinLock&>(everywhere_.lock), shared);
  for (const auto& entry : everywhere_.top(everywhere_.size)) {
    const auto voted = v.candidates.begin() + static_cast<std::ptrdiff_t>(v.n_voted);
    const auto is_entry = [&](const Candidate& c) { return c.label == entry.label; };
    if (std::any_of(v.candidates.begin(), voted, is_entry)) continue;
    v.candidates.push_back({entry.label, relaxed_load(ranked_[entry.label].bias)});
    if (v.candidates.size() == some_config_.max_candidates) break;
  }
}

void OneAgainstSome::score_pairs(std::size_t from, const Own& own, VotingWorkspace& v,
                                 bool shared) const {
  const std::size_t n = v.candidates.size();
  const ClassId left_out = own.count > 0.0 ? own.y : kNoClass;
  const float A = features_vote_ ? relaxed_load(feature_scale_.value) : 0.0f;
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
        const float root = z == left_out ? v.own_root[k] : std::sqrt(pair.count);
        vote += v.keys[k].pull * root;
        linear += v.keys[k].value * pair.weight;
        v.hits.push_back({k, slot, root});
      }
    }
    v.hits_end[c] = static_cast<std::uint32_t>(v.hits.size());
    v.inverse_norm[c] = inverse_norm(z, own);
    v.vote[c] = vote * v.inverse_norm[c];
    v.score[c] += A * v.vote[c] + linear;
  }
}

// From candidate `from` on, with exact counts.
void OneAgainstSome::score_candidates(std::size_t from, const Own& own, Workspace& ws,
                                      bool shared) const {
  VotingWorkspace& v = ws.voting;
  const std::size_t n = v.candidates.size();
  if (from == 0) v.hits.clear();
  v.vote.resize(n), v.inverse_norm.resize(n), v.score.resize(n), v.hits_end.resize(n);
  ws.rows.resize(n);
  for (std::size_t c = from; c < n; ++c) {
    ws.rows[c] = v.candidates[c].label;
    v.vote[c] = v.inverse_norm[c] = v.score[c] = 0.0f;
    v.hits_end[c] = static_cast<std::uint32_t>(v.hits.size());
  }
  if (has_dense_predictors())
    predictors_.scores(ws.rows.data() + from, n - from, ws.x, v.score.data() + from, shared);
  if (!v.keys.empty()) score_pairs(from, own, v, shared);
  const float B = relaxed_load(node_scale_.value);
  for (std::size_t c = from; c < n; ++c)
    v.score[c] += B * v.candidates[c].node_vote + relaxed_load(ranked_[ws.rows[c]].bias);
  ws.work.predictor_evaluations += n - from;
}

void OneAgainstSome::score(const Rows& rows, std::size_t i, Workspace& ws) const {
  read_example(rows, i, 0.0, ws);
  if (forest_.n_trees() > 0)
    forest_.descend(ws.x, n_classes_seen(), unit(), ws.voting, ws.work, ws.shared);
  find_candidates({}, ws, ws.shared);
  score_candidates(0, {}, ws, ws.shared);
  ws.labels.assign(ws.rows.begin(), ws.rows.end());
  ws.scores = ws.voting.score;
}

// --- Batches, decay
// --------------------------------------------------------------------------------------------

void OneAgainstSome::begin_batch(const Batch&) {
  pairs_.grow_to(n_classes());
  while (classes_.size() < n_classes()) classes_.add([](ClassSums&) {});
  if (has_dense_predictors()) predictors_.grow_to(n_classes());
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
  const auto n = static_cast<double>(relaxed_load(n_counted_));
  return std::exp2((n - unit_origin_) / some_config_.count_decay);
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
  forest_.rescale(factor);
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
