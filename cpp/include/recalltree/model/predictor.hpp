// Base of all models that predict: going through rows with one or several threads, and turning
// scored candidates into answers. Prediction changes nothing but counts of the work done.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/model_lock.hpp"
#include "recalltree/base/rows.hpp"
#include "recalltree/base/state.hpp"
#include "recalltree/model/workspace.hpp"

namespace recalltree {

// The candidates of row i are those from offsets[i] to offsets[i + 1], in candidate order.
struct Candidates {
  std::vector<std::uint64_t> offsets;  // rows + 1
  std::vector<ClassId> labels;
  std::vector<float> scores;
};

// The k best of every row, best first, and the scores of all its candidates, over which its
// probabilities are normalised.
struct TopCandidates {
  std::vector<std::int32_t> ids;  // rows x k; -1 where there are fewer candidates
  std::vector<float> scores;      // rows x k; NaN there
  std::vector<std::uint64_t> offsets;
  std::vector<float> all_scores;
};

class Predictor {
 public:
  explicit Predictor(const LearnerConfig& config) : config_(config) {}
  virtual ~Predictor() = default;

  void predict(const Rows& rows, std::size_t n_threads, std::int32_t* out) const;
  TopCandidates predict_topk(const Rows& rows, std::size_t k, std::size_t n_threads) const;
  Candidates candidates(const Rows& rows, std::size_t n_threads) const;

  // Predictions share the lock, learning has it alone. What is read below while another thread
  // learns is read under it; whoever holds it sees one moment of the model.
  ModelLock& lock() const { return lock_; }

  // Row i as the linear models see it.
  virtual void read(const Rows& rows, std::size_t i, Example& x) const = 0;

  virtual std::size_t n_classes() const = 0;
  std::size_t n_classes_seen() const { return n_seen_; }
  std::uint64_t n_examples() const { return n_examples_; }
  // True if rows had lists of labels.
  bool has_lists() const { return has_lists_; }
  const Progress& progress() const { return progress_; }
  virtual Work work() const;
  // Bytes by part, without "total".
  virtual std::vector<std::pair<std::string, std::size_t>> memory() const = 0;

 protected:
  // Put the candidates of row i into ws.labels and ws.scores, in candidate order.
  virtual void score(const Rows& rows, std::size_t i, Workspace& ws) const = 0;

  using Emit = std::function<void(std::size_t row, const ClassId* labels, const float* scores,
                                  std::size_t n)>;
  // Scores rows [begin, end), in any order. Overridden where blocks of rows are quicker than single
  // rows.
  virtual void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                          const Emit& emit) const;
  // Rows that score_rows should be given at a time.
  virtual std::size_t rows_at_once() const { return kPiece; }
  virtual std::unique_ptr<Workspace> make_workspace() const = 0;
  // Prepares what the workspaces of a team share to predict n_rows. n_in_all counts rows of earlier
  // predictions, too, by which storage judges whether an index pays.
  virtual void prepare_prediction(std::size_t /*n_rows*/, std::size_t /*n_in_all*/, Team) const {}

  static constexpr std::size_t kPiece = 64;  // rows that a thread takes at a time, at least

  std::vector<std::unique_ptr<Workspace>> make_team(std::size_t n_threads) const;

  LearnerConfig config_;
  static constexpr const char* kHasLists = "has_lists";
  static bool has_lists_in(const State& state);

  std::uint64_t n_examples_ = 0;
  bool has_lists_ = false;
  std::atomic<std::size_t> n_seen_{0};  // also read without the lock
  Progress progress_;

 private:
  mutable ModelLock lock_;

  // Each thread has an Emit of its own, made for its number.
  void for_each_row(const Rows& rows, std::size_t n_threads,
                    const std::function<Emit(std::size_t thread)>& make_emit) const;

  mutable std::mutex work_mutex_;
  mutable Work work_;  // of predictions, guarded by the mutex
};

}  // namespace recalltree
