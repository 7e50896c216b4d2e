// What the three learners share: going through rows with one or several threads, progressive
// validation, work counters, the classes seen, and turning scored candidates into answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "linear_learner.hpp"
#include "rows.hpp"
#include "state.hpp"
#include "workspace.hpp"

namespace recalltree {

struct Batch {
  const Rows* rows;
  const ClassId* labels;
  const float* weights;       // null: 1 each
  const std::int64_t* order;  // null: as they come
  std::size_t n;              // how many to visit

  std::size_t row(std::size_t i) const { return order ? static_cast<std::size_t>(order[i]) : i; }
  double weight(std::size_t row) const { return weights ? weights[row] : 1.0; }
};

struct Candidates {
  std::vector<std::uint64_t> offsets;  // rows + 1
  std::vector<ClassId> labels;
  std::vector<float> scores;
};

class Learner {
 public:
  explicit Learner(const LearnerConfig& config) : learner_(config), config_(config) {}
  virtual ~Learner() = default;

  // first_pass: the examples are new, so predictions made before learning them count as progressive
  // validation.
  void learn(const Batch& batch, std::size_t n_threads, bool first_pass);

  void predict(const Rows& rows, std::size_t n_threads, std::int32_t* out) const;
  // k best of every row, best first; where there are fewer candidates: class -1, score NaN.
  void predict_topk(const Rows& rows, std::size_t k, std::size_t n_threads, std::int32_t* ids,
                    float* scores) const;
  Candidates candidates(const Rows& rows, std::size_t n_threads) const;

  // Row i as the linear models see it.
  void read(const Rows& rows, std::size_t i, Example& x) const { learner_.scale.read(rows, i, x); }

  std::uint64_t n_examples() const { return n_examples_; }
  std::size_t n_classes() const { return seen_.size(); }
  std::size_t n_classes_seen() const { return n_seen_.load(std::memory_order_acquire); }
  const Progress& progress() const { return progress_; }
  Work work() const;

  virtual State save() = 0;
  virtual void load(const State& state) = 0;
  // By part; "total" is not among them.
  virtual std::vector<std::pair<std::string, std::size_t>> memory() const = 0;

 protected:
  // Learn row i and, if it can be told, count into ws.progress whether the model would have been
  // wrong.
  virtual void learn_one(const Rows& rows, std::size_t i, ClassId y, double weight, Workspace& ws,
                         bool shared) = 0;
  // Put the candidates of row i into ws.labels and ws.scores, in candidate order.
  virtual void score(const Rows& rows, std::size_t i, Workspace& ws) const = 0;

  using Emit = std::function<void(std::size_t row, const ClassId* labels, const float* scores,
                                  std::size_t n)>;
  // Scores rows [begin, end). Overridden where blocks of rows are quicker than single rows.
  virtual void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                          const Emit& emit) const;
  virtual void learn_batch(const Batch& batch, std::vector<Workspace>& team, bool first_pass);
  // Before and after a batch, while one thread works alone.
  virtual void begin_batch(const Batch&) {}
  virtual void end_batch() {}
  // Before a prediction over many rows; what it returns lives as long as the prediction.
  virtual std::shared_ptr<const void> prepare_prediction(std::size_t) const { return nullptr; }

  // Notes that a class has been learned; true the first time.
  bool see(ClassId y);
  Work& counted() { return work_; }
  void save_common(State& state);
  void load_common(const State& state);

  LinearLearner learner_;
  LearnerConfig config_;
  std::uint64_t n_examples_ = 0;
  std::vector<std::uint8_t> seen_;
  std::atomic<std::size_t> n_seen_{0};

 private:
  void for_each_row(const Rows& rows, std::size_t n_threads, const Emit& emit) const;

  Progress progress_;
  Work work_;
  mutable std::shared_mutex mutex_;  // predictions share, learning excludes
  mutable std::atomic<std::uint64_t> predicted_{0}, prediction_routers_{0},
      prediction_predictors_{0};
};

}  // namespace recalltree
