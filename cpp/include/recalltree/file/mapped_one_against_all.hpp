// One-against-all in a mapped file.
#pragma once

#include <memory>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/file/mapped_model.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/paper/one_against_all_prediction.hpp"

namespace recalltree {

class MappedOneAgainstAll final : public OneAgainstAllPrediction<MappedOneAgainstAll, MappedModel> {
 public:
  MappedOneAgainstAll(const OneAgainstAllConfig& config, State state);

  const OneAgainstAllConfig& config() const { return all_config_; }
  const MappedWeights& predictors() const { return *predictors_; }
  const std::vector<ClassId>& order() const { return order_; }

  bool is_complete() const override { return predictors_->has_accumulators(); }
  void check() const override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 private:
  OneAgainstAllConfig all_config_;
  std::unique_ptr<MappedWeights> predictors_;
  std::vector<ClassId> order_;  // classes in the order in which they were first seen
};

}  // namespace recalltree
