// One-against-some: the keys of an example vote for a few candidates, and only these are compared.
//
//   vote(y | x)  = sum over the features k of x of  u_k |v_k| (A sqrt(c(y, k) / n_y)
//                                                             + S sqrt(c(y, k) / n_k))
//                + B sum over the nodes k that x belongs to of  s_k sqrt(c(y, k) / n_k)
//   score(y | x) = vote(y | x) + w_y . v + b_y
//   candidates   = the F classes with the largest score by the entries that were read
//
// v is the weighted example, c(y, k) how often class y met key k, n_y the sum of a class's counts
// over the features, n_k the examples that had key k. The first vote of the features is the
// affinity (Bhattacharyya's) of the example and the class as distributions over features, each with
// a weight u_k of its own; the second says how much of a feature is the class's. A, S, B, u, w and
// b are learned by a softmax over the candidates.
//
// What is known is in the VoteStore, prediction in OneAgainstSomePrediction, learning here; a
// MemoryBudget keeps what is known within its bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/model/learner.hpp"
#include "recalltree/voting/feature_dropout.hpp"
#include "recalltree/voting/marginals.hpp"
#include "recalltree/voting/memory_budget.hpp"
#include "recalltree/voting/one_against_some_prediction.hpp"
#include "recalltree/voting/vote_store.hpp"

namespace recalltree {

class OneAgainstSome final : public OneAgainstSomePrediction<OneAgainstSome, Learner> {
 public:
  explicit OneAgainstSome(const OneAgainstSomeConfig& config);

  const OneAgainstSomeConfig& config() const { return given_; }
  const VoteStore& store() const { return store_; }
  const Marginals& marginals() const { return marginals_; }

  State save() const override;
  void load(const State& state) override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  void learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                 Workspace& ws) override;
  bool learns_several_labels() const override { return true; }
  void prefetch_next(const Rows& rows, std::size_t i) const override {
    store_.prefetch_row(rows, i);
  }
  void begin_batch(const Batch&) override { store_.grow_to(n_classes()); }
  void end_batch() override { budget_.reach(n_classes()); }
  void learn_batch(const Batch& batch, Team team, bool first_pass) override;
  void learn_rows(const Batch& batch, std::size_t begin, std::size_t end, Workspace& ws) override;

 private:
  void learn_example(const Rows& rows, std::size_t i, Labels labels, double weight,
                     VotingWorkspace& ws);
  // Row i as it is learned: on later passes without some features. `counted` is the example's own.
  void read(const Rows& rows, std::size_t i, Labels labels, double counted, VotingWorkspace& ws);
  LeaveOut leave_out(Labels labels, double counted, VotingWorkspace& ws) const;
  // What a label knows of the keys, the example left out. Returns its inverse norm.
  float leave_out_of(ClassId y, double counted, float* roots, VotingWorkspace& ws) const;
  void count_progress(Labels labels, double weight, VotingWorkspace& ws) const;
  // Finds the example's labels among the candidates. They become candidates if they are not.
  void find_or_add_labels(const LeaveOut& own, VotingWorkspace& ws) const;
  // By which candidates learn, and by which votes do.
  void find_gradients(VotingWorkspace& ws) const;
  // Collects the candidates that are wrong enough to learn, and what they have met.
  void find_lessons(const LeaveOut& own, VotingWorkspace& ws) const;
  // Steps on A and B, and on S and u.
  void update_votes(double weight, VotingWorkspace& ws);
  void update_feature_votes(double weight, VotingWorkspace& ws);
  void update_predictors(double weight, VotingWorkspace& ws);
  void update_pairs(std::size_t lesson, const PredictorStep& step, VotingWorkspace& ws);
  void publish(const ActiveKey& key, ClassId z, float root, float weight, Threads threads);
  // Teaches the pairs of a label of the example, and counts them if the example is new.
  void update_own_pairs(ClassId y, const PredictorStep& step, double counted, VotingWorkspace& ws);
  void count(Labels labels, double weight, double counted, VotingWorkspace& ws);
  void teach_cells(Labels labels, double weight, double counted, VotingWorkspace& ws);

  PredictorStep step_of(double gradient, double weight) const;
  bool drops_features() const { return !first_pass_ && dropout_.is_on(); }
  // Whether a class is wrong enough to learn.
  bool is_lesson(double gradient) const;

  OneAgainstSomeConfig given_;
  VoteStore store_;
  MemoryBudget budget_;
  FeatureDropout dropout_;
  Marginals marginals_;
  bool first_pass_ = true;
  bool has_lists_ = false;  // of labels, in this batch
  double rate_ = 0.0;       // of this pass
};

}  // namespace recalltree
