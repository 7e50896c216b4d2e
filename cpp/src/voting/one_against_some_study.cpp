// One-against-some: what an example teaches. Nothing is changed here.
#include <algorithm>
#include <cmath>
#include <span>

#include "recalltree/voting/one_against_some.hpp"

namespace recalltree {
namespace {

// A candidate that is wrong by less is not worth its cache misses, of which a table has many and a
// dense row few.
constexpr double kSmallGradientOfPairs = 0.03, kSmallGradientOfRows = 0.003;
// How much larger than the others the score of a label has to be, for dense predictors.
constexpr double kMargin = 2.0;

bool has_role(Role role, const VotingWorkspace& ws) {
  return std::find(ws.roles.begin(), ws.roles.end(), role) != ws.roles.end();
}

}  // namespace

void OneAgainstSome::study_row(const Rows& rows, std::size_t i, Labels labels, double weight,
                               std::size_t place, VotingWorkspace& ws) const {
  ws.counted = weight * store_.decay_unit_after(first_pass_ ? place : 0);
  ws.rate = rate_ * store_.share_of_step(labels, first_pass_);
  read(rows, i, labels, n_examples_ + place, ws);

  const LeaveOut own = first_pass_ ? LeaveOut{ws.own, labels} : leave_out(labels, ws);
  find_candidates(store_, own, ws);
  score_candidates(store_, 0, own, ws);
  count_progress(labels, weight, ws);
  ws.marginal_gradient = first_pass_ && has_lists_
                             ? marginals_.gradient(ws.labels, ws.scores, labels)
                             : MarginalGradient{};

  find_or_add_labels(own, ws);
  find_gradients(ws);
  find_lessons(own, ws);
  ws.votes_learn = has_role(Role::label, ws);
  ws.shares_learn = false;
  if (ws.votes_learn) {
    find_vote_gradients(ws);
    find_feature_gradients(ws);
  }
  ws.router_lessons.clear();
  if (first_pass_ && store_.forest.n_trees() > 0 && ws.has_linear_models)
    store_.forest.find_router_lessons(labels, weight, store_.decay_unit(), ws);
}

// --- Reading

void OneAgainstSome::read(const Rows& rows, std::size_t i, Labels labels, std::uint64_t n_before,
                          VotingWorkspace& ws) const {
  const std::size_t n_known = n_classes_seen();
  ws.own.clear();
  for (const ClassId y : labels) {
    store_.prefetch_class(y);  // which is often not among the candidates
    ws.own.push_back({y});
  }
  const double own = first_pass_ ? 0.0 : ws.counted;
  if (drops_features()) {
    const Rows row = dropout_.without(rows, i, n_before, ws.row);
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

LeaveOut OneAgainstSome::leave_out(Labels labels, VotingWorkspace& ws) const {
  const std::size_t n_keys = ws.keys.size();
  ws.own_roots.assign(n_keys * ws.own.size(), 0.0f);
  for (std::size_t j = 0; j < ws.own.size(); ++j) {
    float* const roots = ws.own_roots.data() + j * n_keys;
    ws.own[j].roots = roots;
    ws.own[j].inverse_norm = leave_out_of(ws.own[j].label, roots, ws);
  }
  return {ws.own, labels, ws.counted};
}

float OneAgainstSome::leave_out_of(ClassId y, float* roots, const VotingWorkspace& ws) const {
  double left_out = 0.0;
  const ClassPairs::Table& table = store_.pairs[y];
  for (std::size_t k = 0; k < ws.keys.size(); ++k) {
    const auto share = static_cast<float>(ws.keys[k].share * ws.counted);
    left_out += share;
    const std::uint32_t slot = table.find(ws.keys[k].key);
    if (slot == ClassPairs::kNone) continue;
    const float rest = table[slot].count - share;
    if (rest > kRounding * share) roots[k] = std::sqrt(rest);
  }
  const double rest = store_.class_sums[y].count - left_out;
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
  if (ws.own.empty()) {  // nothing to pick: every candidate is wrong by its marginal probability
    marginals_.probabilities(ws.scores, ws.gradient);
    return ws.vote_gradient.assign(ws.scores.size(), 0.0);
  }
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
          ws.hits.push_back(
              {label(l), k, slot, left_out != nullptr ? left_out->roots[k] : std::sqrt(count)});
        });
        ws.lessons[l].hits_end = ws.hits.size();
      });
  ws.work.pairs_found += ws.hits.size();
}

// --- Votes

void OneAgainstSome::find_vote_gradients(VotingWorkspace& ws) const {
  ws.affinity_gradient = ws.node_gradient = 0.0;
  for (std::size_t c = 0; c < ws.candidates.size(); ++c) {
    ws.affinity_gradient +=
        ws.vote_gradient[c] * ws.candidates[c].sums.affinity * ws.inverse_norm[c];
    ws.node_gradient += ws.vote_gradient[c] * ws.candidates[c].sums.nodes;
  }
  ws.nodes_learn = !ws.node_keys.empty();
}

// Only the classes that learn are asked for what they have met; so that those on the wrong side
// stand for all who are there, they share what the others are short of.
void OneAgainstSome::find_feature_gradients(VotingWorkspace& ws) const {
  double wrong = 0.0, short_of = 0.0;
  for (const Lesson& lesson : ws.lessons) {
    const double gradient = ws.vote_gradient[lesson.candidate];
    (gradient > 0.0 ? wrong : short_of) += std::fabs(gradient);
  }
  ws.shares_learn = store_.rules.features_vote && wrong != 0.0 && short_of != 0.0;
  if (!ws.shares_learn) return;
  const VoteScales scales = store_.scales();
  const double A = scales.affinity, S = scales.share;
  ws.key_gradient.assign(ws.keys.size(), 0.0);
  ws.share_gradient = 0.0;
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
      ws.share_gradient += root * key.pull * key.rarity;
    }
  }
  for (std::size_t k = 0; k < ws.keys.size(); ++k)
    ws.key_gradient[k] *= std::fabs(ws.keys[k].value);
}

}  // namespace recalltree
