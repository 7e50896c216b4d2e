// One-against-all: a predictor per class, every class scored. The paper's statistical baseline.
#pragma once

#include <memory>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/stable_vector.hpp"
#include "recalltree/model/learner.hpp"
#include "recalltree/paper/one_against_all_prediction.hpp"

namespace recalltree {

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
  // With negative samples only: the positives and some random others.
  void learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                 Workspace& ws) override;
  bool learns_several_labels() const override { return true; }
  void begin_batch(const Batch& batch) override;
  void learn_batch(const Batch& batch, Team team, bool first_pass) override;

 private:
  struct Best;
  struct Chunk;
  void learn_chunk(const Batch& batch, std::size_t begin, std::size_t end, Chunk& chunk, Team team);
  void learn_block(std::size_t begin, std::size_t end, const Chunk& chunk, std::vector<Best>& best,
                   Workspace& ws);
  void sample_negatives(std::uint64_t example, Labels labels, std::size_t n_seen,
                        OneAgainstAllWorkspace& ws) const;

  OneAgainstAllConfig all_config_;
  std::unique_ptr<Weights> predictors_;
  StableVector<ClassId> order_;  // classes in the order in which they were first seen
};

}  // namespace recalltree
