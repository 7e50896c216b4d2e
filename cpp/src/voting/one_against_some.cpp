// One-against-some: what it begins with, what it leaves out of counts, how counts fade.
#include "recalltree/voting/one_against_some.hpp"

#include <algorithm>
#include <cmath>

namespace recalltree {
namespace {

// Where A, S and B begin: near where they end on the data they were chosen on.
constexpr float kAffinityScale = 15.0f, kShareScale = 10.0f, kNodeScale = 1.25f;
// A candidate that is wrong by less is not worth its cache misses, of which a table has many and a
// dense row few.
constexpr double kSmallGradientOfPairs = 0.03, kSmallGradientOfRows = 0.003;
// Units of counts grow to 2 to this power.
constexpr double kMaxHalfLives = 40.0;

}  // namespace

OneAgainstSome::OneAgainstSome(const OneAgainstSomeConfig& config)
    : Learner(config.learner),
      given_(config),
      rules_(config),
      small_gradient_(rules_.weights_in_pairs ? kSmallGradientOfPairs : kSmallGradientOfRows),
      centring_(config.learner, config.center),
      histograms_(config.max_labels),
      forest_(rules_.config),
      dropout_(config.feature_dropout, config.seed),
      predictors_(config.learner.n_features, false, DenseWeights::Rates::per_model),
      affinity_scale_{kAffinityScale},
      share_scale_{kShareScale},
      node_scale_{kNodeScale} {
  limit_memory();
}

LeaveOut OneAgainstSome::leave_out(ClassId y, double weight, VotingWorkspace& v,
                                   Threads threads) const {
  LeaveOut own{y, weight * unit(), 0.0f};
  const ClassPairs::Table& table = pairs_[y];
  v.own_root.assign(v.keys.size(), 0.0f);
  double left_out = 0.0;
  {
    SpinLock::Guard guard(table.lock, threads);
    for (std::size_t k = 0; k < v.keys.size(); ++k) {
      const auto share = static_cast<float>(v.keys[k].share * own.count);
      left_out += share;
      const std::uint32_t slot = table.find(v.keys[k].key);
      if (slot == ClassPairs::kNone) continue;
      const float rest = table[slot].count - share;
      if (rest > kRounding * share) v.own_root[k] = std::sqrt(rest);
    }
  }
  const ClassSums& sums = classes_[y];
  SpinLock::Guard guard(sums.lock, threads);
  const double rest = sums.count - left_out;
  if (rest > kRounding * left_out)
    own.inverse_norm = inverse_norm_of(rest);
  else
    std::fill(v.own_root.begin(), v.own_root.end(), 0.0f);
  return own;
}

void OneAgainstSome::score(const Rows& rows, std::size_t i, Workspace& base) const {
  auto& ws = static_cast<OneAgainstSomeWorkspace&>(base);
  score_by_votes(*this, rows, i, n_classes_seen(), ws);
  ws.scores = ws.voting.score;
}

void OneAgainstSome::score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                                const Emit& emit) const {
  if (!rules_.weights_in_pairs) return Learner::score_rows(rows, begin, end, ws, emit);
  score_rows_by_votes(*this, rows, begin, end, n_classes_seen(),
                      static_cast<OneAgainstSomeWorkspace&>(ws), emit);
}

// --- Batches, decay
// --------------------------------------------------------------------------------------------

void OneAgainstSome::begin_batch(const Batch&) {
  pairs_.grow_to(n_classes());
  while (classes_.size() < n_classes()) classes_.add([](ClassSums&) {});
  if (has_dense_predictors()) predictors_.grow_to(n_classes());
  forest_.grow_to(n_classes());
  ranked_.resize(n_classes());
}

void OneAgainstSome::learn_batch(const Batch& batch, Team team, bool first_pass) {
  first_pass_ = first_pass;
  if (rules_.config.count_decay <= 0.0 || team.size() == 1)
    return Learner::learn_batch(batch, team, first_pass);
  // Units can only be changed while one thread works alone.
  const auto piece =
      static_cast<std::size_t>(std::max(1.0, kMaxHalfLives * rules_.config.count_decay));
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

// Before the units become too large for the numbers, all counts are written in new ones. The factor
// is a power of four, so that counts and their roots keep all their digits.
void OneAgainstSome::rebase_unit() {
  if (rules_.config.count_decay <= 0.0) return;
  const double half_lives =
      (static_cast<double>(n_counted_) - unit_origin_) / rules_.config.count_decay;
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
  for (std::size_t i = 0; i < global_counts_.size; ++i)
    global_counts_.entries[i].root *= static_cast<float>(root);
  examples_ *= factor;
  unit_origin_ += whole * rules_.config.count_decay;
}

}  // namespace recalltree
