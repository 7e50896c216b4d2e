// Prediction with one-against-some, whatever it knows is stored in. Model is the learner or the
// mapped file, Base what it is beside that. A model has
//   config()
//   store()     see voting.hpp
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "recalltree/base/hints.hpp"
#include "recalltree/voting/voting.hpp"

namespace recalltree {

template <class Model, class Base>
class OneAgainstSomePrediction : public Base {
 public:
  using Base::Base;

  std::uint32_t max_candidates() const { return store().rules.config.max_candidates; }
  // The weight of the examples of every class, those of later passes not counted again.
  std::vector<double> class_examples() const {
    std::vector<double> examples(this->n_classes());
    for (ClassId y = 0; y < examples.size(); ++y)
      examples[y] = store().counts_of(y).examples / store().decay_unit();
    return examples;
  }
  // The most frequent classes, as many as a histogram holds.
  std::vector<ClassId> frequent_classes() const {
    std::vector<ClassId> labels;
    store().visit_frequent([&](ClassId label) {
      labels.push_back(label);
      return false;
    });
    return labels;
  }
  // Row i as the keys and the predictors see it.
  std::unique_ptr<VotingWorkspace> read_row(const Rows& rows, std::size_t i) const {
    auto ws = std::make_unique<VotingWorkspace>();
    if (store().rules.has_cells) {
      whiten_rows(store(), rows, 1, [i](std::size_t) { return i; }, *ws);
      ws->dense.take_next();
    }
    read_example(store(), rows, i, 0.0, this->n_classes_seen(), *ws);
    ask_for_all(*ws);
    return ws;
  }
  // Calls visit(position, slot, count, weight) for the keys of a row that a class has met.
  template <class Visit>
  void visit_pairs(ClassId y, VotingWorkspace& row, Visit visit) const {
    ask_pairs(
        store(), 1, row, [&](std::size_t) { return y; },
        [&](std::size_t) { return std::span<const AskedKey>(row.asked); },
        [&](std::size_t, std::span<const AskedKey>, auto visit_pairs) { visit_pairs(visit); });
  }

 protected:
  std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<VotingWorkspace>();
  }

  void prepare_prediction(std::size_t, std::size_t n_in_all, Team) const override {
    store().prepare_for(n_in_all);
  }

  void score(const Rows& rows, std::size_t i, Workspace& workspace) const override {
    auto& ws = static_cast<VotingWorkspace&>(workspace);
    if (store().rules.has_cells) {
      if (ws.dense.is_empty()) whiten_rows(store(), rows, 1, [i](std::size_t) { return i; }, ws);
      ws.dense.take_next();
    }
    read_example(store(), rows, i, 0.0, this->n_classes_seen(), ws);
    find_candidates(store(), {}, ws);
    score_candidates(store(), 0, {}, ws);
  }

  std::size_t rows_at_once() const override {
    if (!store().rules.has_cells) return RowBlock::max_rows(this->n_classes());
    // As many as stay in a cache that classes pass through.
    constexpr std::size_t kFloats = std::size_t{1} << 21;
    const std::size_t width = std::max<std::size_t>(1, store().cells().width());
    return std::clamp<std::size_t>(kFloats / width, Base::kPiece, kMostTogether);
  }

  // All rows vote, then the candidates are completed class by class. The scores are to the bit
  // those of the rows one by one.
  void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& workspace,
                  const typename Base::Emit& emit) const override {
    auto& ws = static_cast<VotingWorkspace&>(workspace);
    if (store().rules.has_cells) return score_whitened(rows, begin, end, ws, emit);
    if (!store().rules.weights_in_pairs) return Base::score_rows(rows, begin, end, workspace, emit);
    ws.block.clear();
    for (std::size_t i = begin; i < end; ++i) {
      if (i + 1 < end) store().prefetch_row(rows, i + 1);
      read_example(store(), rows, i, 0.0, this->n_classes_seen(), ws);
      find_candidates(store(), {}, ws);
      find_unread(ws);
      ws.block.add(ws.unread, ws.candidates);
    }
    score_block(ws);
    ws.block.emit([&](std::size_t row, const ClassId* labels, const float* scores, std::size_t n) {
      emit(begin + row, labels, scores, n);
    });
  }

 private:
  static constexpr std::size_t kMostTogether = 4096;

  const auto& store() const { return static_cast<const Model&>(*this).store(); }

  // Rows are whitened and searched for together, and what is found is scored class by class.
  void score_whitened(const Rows& rows, std::size_t begin, std::size_t end, VotingWorkspace& ws,
                      const typename Base::Emit& emit) const {
    whiten_rows(store(), rows, end - begin, [begin](std::size_t k) { return begin + k; }, ws);
    find_near_rows(store(), ws);
    if (store().rules.features_vote || has_linear_models(store(), this->n_classes_seen()))
      return Base::score_rows(rows, begin, end, ws, emit);
    const ClassesOfRows& near = ws.dense.near;
    ws.scores.resize(near.labels.size());
    store().cells().score_rows(ws.dense.whitened.data(), near, ws.scores.data(), ws.cells);
    for (float& score : ws.scores) score += 0.0f;  // of votes, as for single rows
    for (std::size_t i = begin; i < end; ++i) {
      const auto labels = near.of(i - begin);
      emit(i, labels.data(), ws.scores.data() + near.begin_of(i - begin), labels.size());
    }
    ws.work.predictor_evaluations += near.labels.size();
  }

  void score_block(VotingWorkspace& ws) const {
    // So many candidates together, and memory is told what the next ones will read.
    constexpr std::size_t kTogether = 32;
    const VoteScales scales = scales_of_votes(store());
    const auto all = ws.block.by_class(this->n_classes());
    for (std::size_t begin = 0; begin < all.size(); begin += kTogether) {
      const auto some = [&](std::size_t ahead) {
        const std::size_t first = std::min(begin + ahead * kTogether, all.size());
        return all.subspan(first, std::min(kTogether, all.size() - first));
      };
      for (const auto& next : some(2)) {
        const auto keys = ws.block.keys(next.row);
        store().prefetch_class(next.label);
        prefetch(keys.data(), keys.size());
      }
      for (const auto& next : some(1)) store().prefetch_pairs(next.label);
      const auto now = some(0);
      ask_pairs(
          store(), now.size(), ws, [&](std::size_t i) { return now[i].label; },
          [&](std::size_t i) { return ws.block.keys(now[i].row); },
          [&](std::size_t i, std::span<const AskedKey> keys, auto visit_pairs) {
            add_pairs(scales.share, keys, visit_pairs, nullptr, now[i].sums, ws.work);
            ws.block.set_score(now[i], scales.score(now[i].sums, store().terms(now[i].label)));
          });
    }
    ws.work.predictor_evaluations += all.size();
  }
};

}  // namespace recalltree
