// Base of mapped models: the state that they view, and its numbers of classes and features.
//
// A mapped model predicts what the learner predicted that was saved, bit for bit, and cannot learn.
// Making one checks the structure (types, lengths, offsets, links, ids) and reads little;
// check() reads everything.
#pragma once

#include <cstddef>
#include <span>

#include "recalltree/base/state.hpp"
#include "recalltree/file/state_checks.hpp"
#include "recalltree/linear/feature_scale.hpp"
#include "recalltree/model/predictor.hpp"

namespace recalltree {

class MappedModel : public Predictor {
 public:
  MappedModel(const LearnerConfig& config, State state);

  const State& state() const { return state_; }
  void read(const Rows& rows, std::size_t i, Example& x) const final {
    FeatureScale::read(config_, scale_.data(), rows, i, x);
  }
  std::size_t n_classes() const final { return n_classes_; }
  // True if a learner can continue from this state. Otherwise it is for prediction alone.
  virtual bool is_complete() const = 0;
  // Throws std::invalid_argument where a number is not finite, or out of order.
  virtual void check() const;

 protected:
  State state_;
  std::span<const float> scale_;

 private:
  std::size_t n_classes_ = 0;
};

}  // namespace recalltree
