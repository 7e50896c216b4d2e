// One-against-all: a predictor per class, every class scored. The paper's statistical baseline.
#pragma once

#include <memory>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/stable_vector.hpp"
#include "recalltree/base/thread_team.hpp"
#include "recalltree/model/learner.hpp"
#include "recalltree/paper/one_against_all_prediction.hpp"

namespace recalltree {

// Lesson of a row in a mini-batch: its own class and the negatives drawn for it.
struct OneAgainstAllNotes {
  Example x;
  ExampleColumns columns;
  std::vector<FeatureScale::Raise> raises;
  double norm = 0.0;  // squared
  std::vector<ClassId> labels;
  std::vector<float> targets;
  std::vector<double> importance;
  OwnedItems classes;  // by label
};

class OneAgainstAll final : public OneAgainstAllPrediction<OneAgainstAll, Learner> {
 public:
  explicit OneAgainstAll(const OneAgainstAllConfig& config);

  const OneAgainstAllConfig& config() const { return all_config_; }
  const Weights& predictors() const { return *predictors_; }
  const StableVector<ClassId>& order() const { return order_; }

  State save() const override;
  void load(const State& state) override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  // Learns the positives and some random others; for negative samples only.
  void learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                 Workspace& ws) override;
  bool learns_several_labels() const override { return true; }
  void begin_batch(const Batch& batch) override;
  void learn_batch(const Batch& batch, Team team, bool first_pass) override;

  // Used for negative samples only.
  bool learns_mini_batches() const override { return true; }
  std::size_t begin_mini_batch() override;
  void study_one(const MiniBatch& rows, std::size_t place, Workspace& ws) override;
  void arrange(const MiniBatch& rows, Workspace& ws) override;
  std::size_t n_stages() const override { return 2; }
  void apply(const MiniBatch& rows, std::size_t stage, Owner owner, Workspace& ws) override;
  void end_mini_batch(const MiniBatch& rows, Workspace& ws) override;

 private:
  struct Best;
  struct Chunk;
  void learn_chunk(const Batch& batch, std::size_t begin, std::size_t end, Chunk& chunk, Team team,
                   ThreadTeam& threads);
  void learn_block(std::size_t begin, std::size_t end, Chunk& chunk, std::vector<Best>& best,
                   OneAgainstAllWorkspace& ws);
  // Predicts every this many examples, for the progressive error. Prediction takes every class, and
  // is rare enough not to dominate.
  void predict_sometimes(const Rows& rows, std::size_t i, std::uint64_t example, Labels labels,
                         double weight, OneAgainstAllWorkspace& ws) const;
  void sample_negatives(std::uint64_t example, Labels labels, OneAgainstAllWorkspace& ws) const;
  // Into ws.targets and ws.importance. n_seen: classes, the example's labels among them.
  static void weigh_negatives(double weight, std::size_t n_labels, std::size_t n_seen,
                              OneAgainstAllWorkspace& ws);

  OneAgainstAllConfig all_config_;
  std::unique_ptr<Weights> predictors_;
  StableVector<ClassId> order_;            // classes in the order in which they were first seen
  std::vector<OneAgainstAllNotes> notes_;  // by place in the mini-batch
  OwnersInTurn learners_, settlers_;       // of chunks
};

}  // namespace recalltree
