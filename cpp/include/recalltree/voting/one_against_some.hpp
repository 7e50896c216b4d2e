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
// VoteStore holds the knowledge, OneAgainstSomePrediction predicts, this class learns, and
// MemoryBudget keeps the store within its bytes.
#pragma once

#include <span>
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

  // Mini-batches. First the classes that an example names, then their keys, then nodes of trees.
  bool learns_mini_batches() const override { return true; }
  std::size_t begin_mini_batch() override;
  void study_one(const MiniBatch& rows, std::size_t place, Workspace& ws) override;
  void study(const MiniBatch& rows, std::size_t begin, std::size_t end, Workspace& ws) override;
  std::size_t n_stages() const override { return store_.forest.n_trees() > 0 ? 3 : 2; }
  void apply(const MiniBatch& rows, std::size_t stage, Owner owner, Workspace& ws) override;
  void end_mini_batch(const MiniBatch& rows, Workspace& ws) override;

 private:
  // An example that has been studied.
  struct Studied {
    RowNotes& notes;
    const Example& x;               // as linear models see it,
    const AlignedFloats& features;  // and as it came
    const float *row, *whitened;    // of cells
    Labels labels;
    double weight;
  };
  // The same in a mini-batch, with what owners look for.
  struct Place {
    RowNotes notes;
    Example x;
    AlignedFloats features, row, whitened;
    Labels labels;
    double weight = 1.0;
    OwnedItems of_classes, of_keys, of_routers, of_nodes;

    Studied studied() { return {notes, x, features, row.data(), whitened.data(), labels, weight}; }
  };

  // Notes the lessons of row i, which is at a place in a mini-batch. Nothing is changed.
  void study_row(const Rows& rows, std::size_t i, Labels labels, double weight, std::size_t place,
                 VotingWorkspace& ws) const;
  // Row i as it is learned: on later passes without some features.
  void read(const Rows& rows, std::size_t i, Labels labels, std::uint64_t n_before,
            VotingWorkspace& ws) const;
  LeaveOut leave_out(Labels labels, VotingWorkspace& ws) const;
  // Roots of a label's counts of the keys, without the example. Returns the label's inverse norm.
  float leave_out_of(ClassId y, float* roots, const VotingWorkspace& ws) const;
  void count_progress(Labels labels, double weight, VotingWorkspace& ws) const;
  // Finds the example's labels among the candidates. They become candidates if they are not.
  void find_or_add_labels(const LeaveOut& own, VotingWorkspace& ws) const;
  // Finds the gradients by which candidates and votes learn.
  void find_gradients(VotingWorkspace& ws) const;
  // Collects the candidates that are wrong enough to learn, and what they have met.
  void find_lessons(const LeaveOut& own, VotingWorkspace& ws) const;
  // Finds the gradients of A and B, and of S and u.
  void find_vote_gradients(VotingWorkspace& ws) const;
  void find_feature_gradients(VotingWorkspace& ws) const;

  // Teach a candidate that is wrong enough, and a label, which is counted, too.
  void teach_lesson(const Studied& x, std::size_t lesson, Work& work);
  void begin_labels(RowNotes& notes) const;  // before the first of them
  void teach_label(const Studied& x, std::size_t label, Work& work);
  // The histogram of a key is told what a candidate has learned; and what a key learns, when all
  // candidates have been told.
  void tell_key(const Studied& x, std::size_t hit);
  void teach_key(const Studied& x, std::size_t key, Work& work);
  void publish(const ActiveKey& key, ClassId z, float root, float weight);
  Cells::Lesson cells_lesson(const Studied& x) const;
  void teach_cells(const Studied& x, VotingWorkspace& ws);
  void teach_forest(const Studied& x, VotingWorkspace& ws);
  // A, B, S, marginals, and what is counted of all examples.
  void teach_all(const Studied& x, Work& work);

  // Lists the items of a mini-batch by owner.
  void list_items(Place& place) const;
  void apply_to_classes(Place& place, Owner owner, VotingWorkspace& ws);
  void show_cells(VotingWorkspace& ws);
  void arrive(std::span<Place> places);
  void apply_to_keys(Place& place, Owner owner, VotingWorkspace& ws);
  void apply_to_nodes(Place& place, Owner owner, VotingWorkspace& ws);
  void learn_centring(std::span<Place> places, Owner owner);

  double added(const RowNotes& notes) const { return first_pass_ ? notes.counted : 0.0; }
  PredictorStep step_of(double gradient, const Studied& x) const;
  bool drops_features() const { return !first_pass_ && dropout_.is_on(); }
  // Small gradients are not worth a step.
  bool is_lesson(double gradient) const;

  OneAgainstSomeConfig given_;
  VoteStore store_;
  MemoryBudget budget_;
  FeatureDropout dropout_;
  Marginals marginals_;
  bool first_pass_ = true;
  bool has_lists_ = false;     // of labels, in this batch
  double rate_ = 0.0;          // of this pass
  std::vector<Place> places_;  // of a mini-batch, while several threads learn
};

}  // namespace recalltree
