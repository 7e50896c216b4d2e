// Base of the learners: learning rows with one or several threads, progressive validation, work
// counters, the classes seen.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

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

class Learner : public Predictor {
 public:
  explicit Learner(const LearnerConfig& config) : Predictor(config), learner_(config) {}

  // first_pass: the examples are new, so predictions made before learning them count as progressive
  // validation.
  void learn(const Batch& batch, std::size_t n_threads, bool first_pass);

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
  // Before and after a batch, while one thread works alone.
  virtual void begin_batch(const Batch&) {}
  virtual void end_batch() {}

  // Notes that a class has been learned; true the first time.
  bool see(ClassId y);
  Work& counted() { return work_; }
  void save_common(State& state) const;
  void load_common(const State& state);

  LinearLearner learner_;
  std::vector<std::uint8_t> seen_;

 private:
  Work work_;
};

}  // namespace recalltree
