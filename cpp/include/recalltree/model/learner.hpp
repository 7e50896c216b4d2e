// Base of the learners: learning rows with one or several threads, progressive validation, work
// counters, the classes seen.
//
// One thread learns row by row (learn_one). Several threads learn mini-batches, so that nothing is
// locked and the model is the same, to the bit, however many threads there are:
//
//   begin_mini_batch()     by the caller alone.
//   study(rows)            any thread, rows in any order. Nobody changes the model: what a row
//                          teaches is noted at its place in the mini-batch.
//   arrange()              by the caller alone: makes what the rows need and is not there yet.
//   apply(stage, owner)    for stages 0, 1, ..., each begun when the one before has ended. There
//                          are always kOwners owners, shared out among the threads; each applies
//                          what the rows noted, in their order, to the classes, keys or nodes that
//                          it owns. It writes nothing else, and reads besides only what is not
//                          written in this stage.
//   end_mini_batch()       by the caller alone: what has no owner.
//
// In all of this n_examples_ is the number of examples before the mini-batch, and the classes seen
// are those from before it until its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "recalltree/base/mini_batch.hpp"
#include "recalltree/base/ownership.hpp"
#include "recalltree/base/rows.hpp"
#include "recalltree/base/state.hpp"
#include "recalltree/linear/linear_learner.hpp"
#include "recalltree/model/predictor.hpp"
#include "recalltree/model/workspace.hpp"

namespace recalltree {

struct Batch {
  const Rows* rows;
  const ClassId* labels;      // of row i the i-th, or those that label_offsets tells
  const float* weights;       // null: 1 each
  const std::int64_t* order;  // null: as they come
  std::size_t n;              // how many to visit
  // Row i has the labels from label_offsets[i] to label_offsets[i + 1]; null: one each.
  const std::int64_t* label_offsets = nullptr;

  std::size_t row(std::size_t i) const { return order ? static_cast<std::size_t>(order[i]) : i; }
  Labels labels_of(std::size_t row) const {
    if (label_offsets == nullptr) return {labels + row, 1};
    return {labels + label_offsets[row], labels + label_offsets[row + 1]};
  }
  double weight(std::size_t row) const { return weights ? weights[row] : 1.0; }
};

// The progress when so many examples have been learned.
struct Checkpoint {
  std::uint64_t n_examples;
  Progress progress;
};

// Rows that several threads learn together: n of a batch, from `begin` on.
struct MiniBatch {
  const Batch* batch;
  std::size_t begin, n;
  bool first_pass;

  const Rows& rows() const { return *batch->rows; }
  std::size_t row(std::size_t place) const { return batch->row(begin + place); }
  Labels labels_of(std::size_t place) const { return batch->labels_of(row(place)); }
  double weight(std::size_t place) const { return batch->weight(row(place)); }
};

class Learner : public Predictor {
 public:
  explicit Learner(const LearnerConfig& config) : Predictor(config), learner_(config) {}

  // first_pass: the examples are new, so predictions made before learning them count as progressive
  // validation. Their progress is noted at the checkpoints, which are in order and lie within the
  // batch.
  void learn(const Batch& batch, std::size_t n_threads, bool first_pass,
             std::span<Checkpoint> checkpoints = {});

  void read(const Rows& rows, std::size_t i, Example& x) const final {
    learner_.scale.read(rows, i, x);
  }
  std::size_t n_classes() const final { return seen_.size(); }
  Work work() const override;

  virtual State save() const = 0;
  virtual void load(const State& state) = 0;

 protected:
  // Learn row i and, if it can be told, count into ws.progress whether the model would have been
  // wrong.
  virtual void learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                         Workspace& ws) = 0;
  // Otherwise every example has one label.
  virtual bool learns_several_labels() const { return false; }
  // Row i will be learned after the one that is learned now: what it reads can come from memory
  // meanwhile.
  virtual void prefetch_next(const Rows&, std::size_t) const {}
  // Learns the rows [begin, end) of a batch one after the other.
  virtual void learn_rows(const Batch& batch, std::size_t begin, std::size_t end, Workspace& ws);
  virtual void learn_batch(const Batch& batch, Team team, bool first_pass);
  // The same in pieces. begin_piece() is called before each of them, while one thread works alone,
  // and says how many examples it has at most.
  void learn_in_pieces(const Batch& batch, Team team, bool first_pass,
                       const std::function<std::size_t()>& begin_piece);

  // Several threads learn mini-batches; otherwise one of them learns all rows.
  virtual bool learns_mini_batches() const { return false; }
  // Returns how many rows the next mini-batch has at most; it never has more than
  // kLargestMiniBatch.
  virtual std::size_t begin_mini_batch() { return kLargestMiniBatch; }
  // Studies the row at a place and, if it can be told, counts into ws.progress whether the model
  // would have been wrong.
  virtual void study_one(const MiniBatch&, std::size_t /*place*/, Workspace&) {}
  // Studies the rows at the places [begin, end), which are neighbours.
  virtual void study(const MiniBatch& rows, std::size_t begin, std::size_t end, Workspace& ws);
  // Most rows that study() gains from having at a time.
  virtual std::size_t studied_at_once() const { return 8; }
  virtual void arrange(const MiniBatch&, Workspace&) {}
  virtual std::size_t n_stages() const { return 0; }
  virtual void apply(const MiniBatch&, std::size_t /*stage*/, Owner, Workspace&) {}
  // Called when the classes of the mini-batch have been seen.
  virtual void end_mini_batch(const MiniBatch&, Workspace&) {}

  // Called before and after a batch, while one thread works alone.
  virtual void begin_batch(const Batch&) {}
  virtual void end_batch() {}

  // Notes the progress, now that so many examples have been learned, if a checkpoint is there.
  void reach(std::uint64_t n_examples, const Progress& progress) {
    if (checkpoints_.empty() || n_examples != checkpoints_.front().n_examples) return;
    checkpoints_.front().progress = progress;
    checkpoints_ = checkpoints_.subspan(1);
  }
  // Notes that a class has been learned; true the first time.
  bool see(ClassId y);
  Work& counted() { return work_; }
  void save_common(State& state) const;
  void load_common(const State& state);
  // Saves has_lists, for models without marginals, which imply it.
  void save_lists(State& state) const;

  LinearLearner learner_;
  std::vector<std::uint8_t> seen_;

 private:
  void learn_mini_batches(const Batch& batch, Team team, bool first_pass);

  Work work_;
  std::vector<Progress> progress_of_rows_;  // of a mini-batch
  std::unique_ptr<OwnersInTurn[]> owners_;  // by stage
  std::span<Checkpoint> checkpoints_;       // that are still to come in this batch
};

}  // namespace recalltree
