#include "recalltree/model/learner.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "recalltree/base/thread_team.hpp"

namespace recalltree {

void Learner::learn(const Batch& batch, std::size_t n_threads, bool first_pass,
                    std::span<Checkpoint> checkpoints) {
  if (batch.label_offsets != nullptr && !learns_several_labels())
    throw std::invalid_argument("this model learns one label for each row");
  std::unique_lock alone(lock());
  has_lists_ |= batch.label_offsets != nullptr;
  ClassId largest = 0;
  bool has_labels = false;
  for (std::size_t i = 0; i < batch.n; ++i)
    for (const ClassId y : batch.labels_of(batch.row(i))) {
      largest = std::max(largest, y);
      has_labels = true;
    }
  if (has_labels && seen_.size() <= largest) seen_.resize(std::size_t{largest} + 1, 0);
  begin_batch(batch);
  const auto team = make_team(n_threads);
  // Progress is summed in the order of the rows: sums of fractions depend on it.
  team[0]->progress = progress_;
  checkpoints_ = checkpoints;
  learn_batch(batch, team, first_pass);
  checkpoints_ = {};
  for (const auto& ws : team) work_ += ws->work;
  if (first_pass) progress_ = team[0]->progress;
  end_batch();
}

void Learner::learn_batch(const Batch& batch, Team team, bool first_pass) {
  if (team.size() > 1 && learns_mini_batches()) return learn_mini_batches(batch, team, first_pass);
  learn_rows(batch, 0, batch.n, *team[0]);
}

void Learner::learn_rows(const Batch& batch, std::size_t begin, std::size_t end, Workspace& ws) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t row = batch.row(i);
    if (i + 1 < end) prefetch_next(*batch.rows, batch.row(i + 1));
    learn_one(*batch.rows, row, batch.labels_of(row), batch.weight(row), ws);
    ++ws.work.examples_learned;
    reach(n_examples_, ws.progress);
  }
}

void Learner::learn_in_pieces(const Batch& batch, Team team, bool first_pass,
                              const std::function<std::size_t()>& begin_piece) {
  std::vector<std::int64_t> order(batch.n);
  for (std::size_t i = 0; i < batch.n; ++i) order[i] = static_cast<std::int64_t>(batch.row(i));
  Batch piece = batch;
  for (std::size_t begin = 0; begin < batch.n; begin += piece.n) {
    piece.order = order.data() + begin;
    piece.n = std::min(begin_piece(), batch.n - begin);
    Learner::learn_batch(piece, team, first_pass);
  }
}

void Learner::learn_mini_batches(const Batch& batch, Team team, bool first_pass) {
  Progress progress = std::exchange(team[0]->progress, {});
  ThreadTeam threads(team.size());
  if (!owners_) owners_ = std::make_unique<OwnersInTurn[]>(n_stages());
  for (MiniBatch rows{&batch, 0, 0, first_pass}; rows.begin < batch.n; rows.begin += rows.n) {
    const std::size_t most = std::clamp<std::size_t>(begin_mini_batch(), 1, kLargestMiniBatch);
    rows.n = std::min<std::size_t>({most, rows_of_mini_batch(n_examples_), batch.n - rows.begin});
    progress_of_rows_.assign(rows.n, {});
    Pieces pieces(rows.n, studied_at_once(), threads.size());
    threads.run([&](std::size_t t) {
      for (std::size_t begin, end; pieces.next(begin, end);) study(rows, begin, end, *team[t]);
    });
    arrange(rows, *team[0]);
    for (std::size_t stage = 0; stage < n_stages(); ++stage) {
      OwnersInTurn& owners = owners_[stage];
      owners.begin();
      threads.run([&](std::size_t t) {
        owners.take([&](Owner owner) { apply(rows, stage, owner, *team[t]); });
      });
    }
    for (std::size_t place = 0; place < rows.n; ++place) {
      for (const ClassId y : rows.labels_of(place)) see(y);
      progress += progress_of_rows_[place];
      reach(n_examples_ + place + 1, progress);
    }
    end_mini_batch(rows, *team[0]);
    n_examples_ += rows.n;
  }
  team[0]->progress = progress;
}

void Learner::study(const MiniBatch& rows, std::size_t begin, std::size_t end, Workspace& ws) {
  for (std::size_t place = begin; place < end; ++place) {
    if (place + 1 < end) prefetch_next(rows.rows(), rows.row(place + 1));
    study_one(rows, place, ws);
    progress_of_rows_[place] = std::exchange(ws.progress, {});
    ++ws.work.examples_learned;
  }
}

bool Learner::see(ClassId y) {
  if (seen_[y] != 0) return false;
  seen_[y] = 1;
  ++n_seen_;
  return true;
}

Work Learner::work() const {
  Work all = work_;
  all += Predictor::work();
  return all;
}

void Learner::save_common(State& state) const {
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
  has_lists_ = has_lists_in(state);
}

void Learner::save_lists(State& state) const {
  if (has_lists_) state.put(kHasLists, std::vector<std::uint32_t>{1});
}

}  // namespace recalltree
