// Many rows as prediction sees them, scored together: all vote, then the candidates are completed
// class by class. The scores are the same, bit by bit, as those of the rows one by one.
#pragma once

#include <algorithm>
#include <cstddef>

#include "voted_rows.hpp"
#include "voting.hpp"

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
                         std::size_t n_classes, Workspace& ws, bool shared, const Emit& emit) {
  VotingWorkspace& v = ws.voting;
  VotedRows& voted = v.voted;
  voted.clear();
  for (std::size_t i = begin; i < end; ++i) {
    read_example(model, rows, i, 0.0, ws);
    if (model.n_trees() > 0) model.descend(ws.x, n_classes, v, ws.work, shared);
    find_candidates(model, {}, ws, shared);
    find_unread(v);
    voted.add(v.unread, v.candidates);
  }
  auto& named = voted.by_class(model.n_classes());
  const VoteScales scales = scales_of_votes(model);
  // So many candidates ahead memory is told what will be read.
  constexpr std::size_t kFar = 12, kNear = 6;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (i + kFar < named.size()) {
      const auto keys = voted.keys(named[i + kFar].row);
      model.prefetch_class(named[i + kFar].label);
      prefetch(keys.data(), keys.size());
    }
    if (i + kNear < named.size())
      model.prefetch_pairs(named[i + kNear].label, voted.keys(named[i + kNear].row));
    const ClassId label = named[i].label;
    Sums& sums = named[i].sums;
    add_pairs(model, label, voted.keys(named[i].row), nullptr, sums, ws.work, shared);
    voted.score(named[i], scales.score(sums, model.inverse_norm(label), model.bias(label)));
  }
  ws.work.predictor_evaluations += named.size();
  voted.emit([&](std::size_t row, const ClassId* labels, const float* scores, std::size_t n) {
    emit(begin + row, labels, scores, n);
  });
}

}  // namespace recalltree
