#include "recalltree/model/predictor.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <shared_mutex>
#include <stdexcept>
#include <vector>

#include "recalltree/base/thread_team.hpp"

namespace recalltree {

namespace {

// One list per row, filled by several threads in any order. Rows share the memory of their thread,
// so that a row allocates none.
template <class T>
class Lists {
 public:
  Lists(std::size_t n_rows, std::size_t n_threads)
      : places_(n_rows), parts_(std::max<std::size_t>(1, n_threads)) {}

  void put(std::size_t thread, std::size_t row, const T* values, std::size_t n) {
    std::vector<T>& part = parts_[thread];
    places_[row] = {thread, part.size(), n};
    part.insert(part.end(), values, values + n);
  }

  std::vector<std::uint64_t> offsets() const {
    std::vector<std::uint64_t> offsets{0};
    offsets.reserve(places_.size() + 1);
    for (const Place& place : places_) offsets.push_back(offsets.back() + place.n);
    return offsets;
  }

  // All lists, in the order of the rows.
  std::vector<T> joined() const {
    std::size_t n = 0;
    for (const std::vector<T>& part : parts_) n += part.size();
    std::vector<T> all;
    all.reserve(n);
    for (const Place& place : places_) {
      const auto begin = parts_[place.thread].begin() + static_cast<std::ptrdiff_t>(place.start);
      all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(place.n));
    }
    return all;
  }

 private:
  struct Place {
    std::size_t thread, start, n;
  };
  std::vector<Place> places_;
  std::vector<std::vector<T>> parts_;
};

}  // namespace

void Predictor::score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                           const Emit& emit) const {
  for (std::size_t i = begin; i < end; ++i) {
    score(rows, i, ws);
    emit(i, ws.labels.data(), ws.scores.data(), ws.labels.size());
  }
}

std::vector<std::unique_ptr<Workspace>> Predictor::make_team(std::size_t n_threads) const {
  std::vector<std::unique_ptr<Workspace>> team(std::max<std::size_t>(1, n_threads));
  for (auto& ws : team) ws = make_workspace();
  return team;
}

void Predictor::for_each_row(const Rows& rows, std::size_t n_threads,
                             const std::function<Emit(std::size_t)>& make_emit) const {
  std::shared_lock reading(lock());
  const auto team = make_team(std::min(n_threads, rows.n_rows / kPiece + 1));
  prepare_prediction(rows.n_rows, rows.n_rows + Predictor::work().examples_predicted, team);
  // Several pieces for each of several threads, so that they end at about the same time.
  const std::size_t share = team.size() > 1 ? rows.n_rows / (4 * team.size()) : rows.n_rows;
  Pieces pieces(rows.n_rows, std::clamp(share, kPiece, rows_at_once()));
  ThreadTeam(team.size()).run([&](std::size_t thread) {
    Workspace& ws = *team[thread];
    const Emit emit = make_emit(thread);
    for (std::size_t begin, end; pieces.next(begin, end);) score_rows(rows, begin, end, ws, emit);
  });
  std::lock_guard counting(work_mutex_);
  for (const auto& ws : team) work_ += ws->work;
  work_.examples_predicted += rows.n_rows;
}

bool Predictor::has_lists_in(const State& state) {
  if (state.has("marginals")) return true;  // which only rows with lists of labels teach
  if (!state.has(kHasLists)) return false;
  if (state.get<std::uint32_t>(kHasLists, 1)[0] != 1)
    throw std::invalid_argument("state: 'has_lists' holds something else than 1");
  return true;
}

void Predictor::predict(const Rows& rows, std::size_t n_threads, std::int32_t* out) const {
  for_each_row(rows, n_threads, [&](std::size_t) -> Emit {
    return [&](std::size_t row, const ClassId* labels, const float* scores, std::size_t n) {
      const std::size_t best =
          static_cast<std::size_t>(std::max_element(scores, scores + n) - scores);
      out[row] = n > 0 ? static_cast<std::int32_t>(labels[best]) : -1;
    };
  });
}

TopCandidates Predictor::predict_topk(const Rows& rows, std::size_t k,
                                      std::size_t n_threads) const {
  TopCandidates top;
  top.ids.assign(rows.n_rows * k, -1);
  top.scores.assign(rows.n_rows * k, std::numeric_limits<float>::quiet_NaN());
  Lists<float> all(rows.n_rows, n_threads);
  for_each_row(rows, n_threads, [&](std::size_t thread) -> Emit {
    return [&, thread, order = std::vector<std::uint32_t>()](
               std::size_t row, const ClassId* labels, const float* scores, std::size_t n) mutable {
      all.put(thread, row, scores, n);
      const std::size_t found = std::min(k, n);
      order.resize(n);
      std::iota(order.begin(), order.end(), 0u);
      std::partial_sort(order.begin(), order.begin() + found, order.end(),
                        [&](std::uint32_t a, std::uint32_t b) {
                          return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
                        });
      for (std::size_t i = 0; i < found; ++i) {
        top.ids[row * k + i] = static_cast<std::int32_t>(labels[order[i]]);
        top.scores[row * k + i] = scores[order[i]];
      }
    };
  });
  top.offsets = all.offsets();
  top.all_scores = all.joined();
  return top;
}

Candidates Predictor::candidates(const Rows& rows, std::size_t n_threads) const {
  Lists<ClassId> all_labels(rows.n_rows, n_threads);
  Lists<float> all_scores(rows.n_rows, n_threads);
  for_each_row(rows, n_threads, [&](std::size_t thread) -> Emit {
    return [&, thread](std::size_t row, const ClassId* labels, const float* scores, std::size_t n) {
      all_labels.put(thread, row, labels, n);
      all_scores.put(thread, row, scores, n);
    };
  });
  return {all_labels.offsets(), all_labels.joined(), all_scores.joined()};
}

Work Predictor::work() const {
  std::lock_guard counting(work_mutex_);
  return work_;
}

}  // namespace recalltree
