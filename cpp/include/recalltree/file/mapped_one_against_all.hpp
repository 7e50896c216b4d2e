// One-against-all, viewed where it was saved.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/file/mapped_model.hpp"
#include "recalltree/file/mapped_weights.hpp"

namespace recalltree {

class MappedOneAgainstAll final : public MappedModel {
 public:
  MappedOneAgainstAll(const OneAgainstAllConfig& config, State state);

  const OneAgainstAllConfig& config() const { return all_config_; }
  const MappedWeights& predictors() const { return *predictors_; }

  bool is_complete() const override { return predictors_->has_accumulators(); }
  void check() const override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  void score(const Rows& rows, std::size_t i, Workspace& ws) const override;
  void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                  const Emit& emit) const override;
  std::shared_ptr<const void> prepare_prediction(std::size_t n_rows) const override;

 private:
  OneAgainstAllConfig all_config_;
  std::unique_ptr<MappedWeights> predictors_;
  std::vector<ClassId> order_;  // classes in the order in which they were first seen
};

}  // namespace recalltree
