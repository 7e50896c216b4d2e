// Rows of weights that can be read but not changed, viewed where they lie: in a mapped file, or in
// arrays of Python. The layouts are those that DenseWeights and SparseWeights save.
//
// A view believes nothing that it did not check when it was made: numbers that a file holds are
// bounded where they are used, so that a file which changes under the view can make it answer
// nonsense but not read outside of its arrays.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/example.hpp"
#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/dense_weights.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

class MappedWeights : public ReadWeights {
 public:
  std::size_t size() const final { return bias_.size(); }
  float bias(ModelId row) const final { return bias_[row]; }
  // Whether learning could go on from here.
  bool has_accumulators() const { return has_accumulators_; }
  // Throws std::invalid_argument where a number is not finite, or out of order. Reads everything.
  virtual void check() const = 0;

 protected:
  // Not all weights have accumulators of their own where a row has one rate.
  MappedWeights(const std::string& name, const State& state, bool rate_per_weight);
  // A model without them, which only predicts, has neither.
  float accumulator(std::size_t i) const { return has_accumulators_ ? accumulators_[i] : 0.0f; }
  ModelContents bias_contents(ModelId row) const;
  void check_finite(const char* part, std::span<const float> values) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  bool has_accumulators_;
  std::span<const float> bias_, bias_accumulators_, accumulators_;
};

// The weights called `name`, of rows over n_features. Throws std::invalid_argument if the arrays do
// not fit each other.
std::unique_ptr<MappedWeights> map_dense_weights(
    const std::string& name, const State& state, std::size_t n_features,
    DenseWeights::Rates rates = DenseWeights::Rates::per_weight);
std::unique_ptr<MappedWeights> map_sparse_weights(const std::string& name, const State& state,
                                                  std::size_t n_features);
inline std::unique_ptr<MappedWeights> map_weights(const std::string& name, const State& state,
                                                  const LearnerConfig& config) {
  if (config.n_features == 0) throw std::invalid_argument("state: a model has at least 1 feature");
  return config.sparse ? map_sparse_weights(name, state, config.n_features)
                       : map_dense_weights(name, state, config.n_features);
}

}  // namespace recalltree
