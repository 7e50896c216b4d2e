#include "recalltree/model/predictor.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "recalltree/base/thread_team.hpp"

namespace recalltree {

void Predictor::score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                           const Emit& emit) const {
  for (std::size_t i = begin; i < end; ++i) {
    score(rows, i, ws);
    emit(i, ws.labels.data(), ws.scores.data(), ws.labels.size());
  }
}

void Predictor::for_each_row(const Rows& rows, std::size_t n_threads, const Emit& emit) const {
  std::shared_lock lock(mutex_);
  const auto prepared = prepare_prediction(rows.n_rows);
  const std::size_t team = std::min(n_threads, rows.n_rows / kPiece + 1);
  // Several pieces for each of several threads, so that they end at about the same time.
  const std::size_t share = team > 1 ? rows.n_rows / (4 * team) : rows.n_rows;
  Pieces pieces(rows.n_rows, std::clamp(share, kPiece, rows_at_once()));
  run_team(team, [&](std::size_t, std::size_t) {
    Workspace ws;
    ws.prepared = prepared.get();
    for (std::size_t begin, end; pieces.next(begin, end);) score_rows(rows, begin, end, ws, emit);
    prediction_routers_ += ws.work.router_evaluations;
    prediction_predictors_ += ws.work.predictor_evaluations;
    prediction_touches_ += ws.work.histogram_touches;
    prediction_lookups_ += ws.work.pair_lookups;
    prediction_found_ += ws.work.pairs_found;
  });
  predicted_ += rows.n_rows;
}

void Predictor::predict(const Rows& rows, std::size_t n_threads, std::int32_t* out) const {
  for_each_row(rows, n_threads,
               [&](std::size_t row, const ClassId* labels, const float* scores, std::size_t n) {
                 const std::size_t best =
                     static_cast<std::size_t>(std::max_element(scores, scores + n) - scores);
                 out[row] = n > 0 ? static_cast<std::int32_t>(labels[best]) : -1;
               });
}

void Predictor::predict_topk(const Rows& rows, std::size_t k, std::size_t n_threads,
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

Candidates Predictor::candidates(const Rows& rows, std::size_t n_threads) const {
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

Work Predictor::work() const {
  Work all;
  all.examples_predicted = predicted_;
  all.router_evaluations = prediction_routers_;
  all.predictor_evaluations = prediction_predictors_;
  all.histogram_touches = prediction_touches_;
  all.pair_lookups = prediction_lookups_;
  all.pairs_found = prediction_found_;
  return all;
}

}  // namespace recalltree
