#include "recalltree/learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "recalltree/thread_team.hpp"

namespace recalltree {

void Learner::learn(const Batch& batch, std::size_t n_threads, bool first_pass) {
  std::unique_lock lock(mutex_);
  ClassId largest = 0;
  for (std::size_t i = 0; i < batch.n; ++i) largest = std::max(largest, batch.labels[batch.row(i)]);
  if (batch.n > 0 && seen_.size() <= largest) seen_.resize(std::size_t{largest} + 1, 0);
  begin_batch(batch);
  std::vector<Workspace> team(std::max<std::size_t>(1, n_threads));
  learn_batch(batch, team, first_pass);
  for (const Workspace& ws : team) {
    work_ += ws.work;
    if (first_pass) progress_ += ws.progress;
  }
  end_batch();
}

void Learner::learn_batch(const Batch& batch, std::vector<Workspace>& team, bool) {
  // Small pieces keep the threads near each other in the stream.
  Pieces pieces(batch.n, team.size() > 1 ? 16 : batch.n + 1);
  run_team(team.size(), [&](std::size_t t, std::size_t n_threads) {
    Workspace& ws = team[t];
    for (std::size_t begin, end; pieces.next(begin, end);) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t row = batch.row(i);
        learn_one(*batch.rows, row, batch.labels[row], batch.weight(row), ws, n_threads > 1);
        ++ws.work.examples_learned;
      }
    }
  });
}

bool Learner::see(ClassId y) {
  std::atomic_ref<std::uint8_t> seen(seen_[y]);
  if (seen.load(std::memory_order_relaxed) != 0) return false;
  if (seen.exchange(1, std::memory_order_relaxed) != 0) return false;
  n_seen_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

void Learner::score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                         const Emit& emit) const {
  for (std::size_t i = begin; i < end; ++i) {
    score(rows, i, ws);
    emit(i, ws.labels.data(), ws.scores.data(), ws.labels.size());
  }
}

void Learner::for_each_row(const Rows& rows, std::size_t n_threads, const Emit& emit) const {
  constexpr std::size_t kPiece = 64;
  std::shared_lock lock(mutex_);
  const auto prepared = prepare_prediction(rows.n_rows);
  Pieces pieces(rows.n_rows, kPiece);
  run_team(std::min(n_threads, rows.n_rows / kPiece + 1), [&](std::size_t, std::size_t) {
    Workspace ws;
    ws.prepared = prepared.get();
    for (std::size_t begin, end; pieces.next(begin, end);) score_rows(rows, begin, end, ws, emit);
    prediction_routers_ += ws.work.router_evaluations;
    prediction_predictors_ += ws.work.predictor_evaluations;
  });
  predicted_ += rows.n_rows;
}

void Learner::predict(const Rows& rows, std::size_t n_threads, std::int32_t* out) const {
  for_each_row(rows, n_threads,
               [&](std::size_t row, const ClassId* labels, const float* scores, std::size_t n) {
                 const std::size_t best =
                     static_cast<std::size_t>(std::max_element(scores, scores + n) - scores);
                 out[row] = n > 0 ? static_cast<std::int32_t>(labels[best]) : -1;
               });
}

void Learner::predict_topk(const Rows& rows, std::size_t k, std::size_t n_threads,
                           std::int32_t* ids, float* best_scores) const {
  for_each_row(rows, n_threads,
               [&](std::size_t row, const ClassId* labels, const float* scores, std::size_t n) {
                 std::vector<std::uint32_t> order(n);
                 std::iota(order.begin(), order.end(), 0u);
                 const std::size_t found = std::min(k, n);
                 std::partial_sort(order.begin(), order.begin() + found, order.end(),
                                   [&](std::uint32_t a, std::uint32_t b) {
                                     return scores[a] > scores[b] ||
                                            (scores[a] == scores[b] && a < b);
                                   });
                 for (std::size_t i = 0; i < k; ++i) {
                   ids[row * k + i] = i < found ? static_cast<std::int32_t>(labels[order[i]]) : -1;
                   best_scores[row * k + i] =
                       i < found ? scores[order[i]] : std::numeric_limits<float>::quiet_NaN();
                 }
               });
}

Candidates Learner::candidates(const Rows& rows, std::size_t n_threads) const {
  std::vector<std::vector<std::pair<ClassId, float>>> found(rows.n_rows);
  for_each_row(rows, n_threads,
               [&](std::size_t row, const ClassId* labels, const float* scores, std::size_t n) {
                 found[row].reserve(n);
                 for (std::size_t i = 0; i < n; ++i) found[row].emplace_back(labels[i], scores[i]);
               });
  Candidates all;
  all.offsets.push_back(0);
  for (auto& row : found) {
    for (const auto& [label, score] : row) {
      all.labels.push_back(label);
      all.scores.push_back(score);
    }
    all.offsets.push_back(all.labels.size());
    std::vector<std::pair<ClassId, float>>().swap(row);
  }
  return all;
}

Work Learner::work() const {
  Work all = work_;
  all.examples_predicted += predicted_;
  all.router_evaluations += prediction_routers_;
  all.predictor_evaluations += prediction_predictors_;
  return all;
}

void Learner::save_common(State& state) {
  learner_.save(state);
  state.put("classes.seen", std::vector<std::uint32_t>(seen_.begin(), seen_.end()));
  state.put("progress", std::vector<double>{progress_.weight, progress_.errors});
  state.put("n_examples", std::vector<std::uint64_t>{n_examples_});
}

void Learner::load_common(const State& state) {
  learner_.load(state);
  const auto seen = state.get<std::uint32_t>("classes.seen");
  seen_.assign(seen.begin(), seen.end());
  n_seen_ = static_cast<std::size_t>(std::count(seen_.begin(), seen_.end(), 1));
  const auto progress = state.get<double>("progress", 2);
  progress_ = {progress[0], progress[1]};
  n_examples_ = state.get<std::uint64_t>("n_examples", 1)[0];
}

}  // namespace recalltree
