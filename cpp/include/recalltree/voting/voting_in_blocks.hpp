// Many rows as prediction sees them, scored together: all vote, then the candidates are completed
// class by class. The scores are the same, bit by bit, as those of the rows one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "recalltree/voting/voted_rows.hpp"
#include "recalltree/voting/voting.hpp"

namespace recalltree {

// Rows that are scored together: enough that several name the same class, few enough that what is
// kept of them, about half a kilobyte each, stays in the caches.
inline std::size_t rows_to_score_at_once(std::size_t n_classes) {
  constexpr std::size_t kFew = 4096, kMany = 16384;
  return std::clamp(n_classes / 4, kFew, kMany);
}

// Of a model whose predictors' weights are in the pairs.
template <class Model, class Emit>
void score_rows_by_votes(const Model& model, const Rows& rows, std::size_t begin, std::size_t end,
                         std::size_t n_classes, OneAgainstSomeWorkspace& ws, const Emit& emit) {
  VotingWorkspace& v = ws.voting;
  VotedRows& voted = v.voted;
  voted.clear();
  for (std::size_t i = begin; i < end; ++i) {
    if (i + 1 < end) model.prefetch_row(rows, i + 1);
    read_example(model, rows, i, 0.0, ws);
    if (model.n_trees() > 0) model.descend(ws.x, n_classes, v, ws.work, ws.threads);
    find_candidates(model, {}, ws);
    find_unread(v);
    voted.add(v.unread, v.candidates);
  }
  auto& named = voted.by_class(model.n_classes());
  const VoteScales scales = scales_of_votes(model);
  // So many candidates together, and memory is told what the next ones will read.
  constexpr std::size_t kTogether = 32;
  for (std::size_t begin = 0; begin < named.size(); begin += kTogether) {
    const auto some = [&](std::size_t ahead) {
      const std::size_t first = std::min(begin + ahead * kTogether, named.size());
      return std::span(named).subspan(first, std::min(kTogether, named.size() - first));
    };
    for (const auto& next : some(2)) {
      const auto keys = voted.keys(next.row);
      model.prefetch_class(next.label);
      prefetch(keys.data(), keys.size());
    }
    for (const auto& next : some(1)) model.prefetch_pairs(next.label);
    std::size_t n_keys = 0, i = 0;
    for (const auto& candidate : some(0)) n_keys += voted.keys(candidate.row).size();
    v.guesses.begin(n_keys);
    for (const auto& candidate : some(0))
      v.guesses.add(model.find_pairs(candidate.label, voted.keys(candidate.row), ws.threads,
                                     v.guesses.next()));
    for (auto& candidate : some(0)) {
      const ClassId label = candidate.label;
      add_pairs(model, label, voted.keys(candidate.row), v.guesses[i++], nullptr, candidate.sums,
                ws.work, ws.threads);
      voted.score(candidate,
                  scales.score(candidate.sums, model.inverse_norm(label), model.bias(label)));
    }
  }
  ws.work.predictor_evaluations += named.size();
  voted.emit([&](std::size_t row, const ClassId* labels, const float* scores, std::size_t n) {
    emit(begin + row, labels, scores, n);
  });
}

}  // namespace recalltree
