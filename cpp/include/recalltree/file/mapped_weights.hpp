// Linear models that can be read but not changed, viewed where they lie: in a mapped file, or in
// arrays of Python. The layouts are those that DenseWeights and SparseWeights save.
//
// A view believes nothing that it did not check when it was made: numbers that a file holds are
// bounded where they are used, so that a file which changes under the view can make it answer
// nonsense but not read outside of its arrays.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "recalltree/base/config.hpp"
#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/file/state_checks.hpp"
#include "recalltree/linear/dense_weights.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

class MappedWeights : public ReadWeights {
 public:
  // True if learning can continue from here.
  bool has_accumulators() const { return has_accumulators_; }
  // Throws std::invalid_argument where a number is not finite, or out of order. Reads everything.
  virtual void check() const = 0;

 protected:
  bool has_accumulators_ = false;
};

// Arrays: DenseArrays or SparseArrays, viewed.
template <class Arrays>
class MappedArrays : public MappedWeights {
 public:
  std::size_t size() const final { return arrays_.bias.size(); }
  float bias(ModelId model) const final { return arrays_.bias[model]; }
  std::size_t bytes() const override { return bytes_of_fields(arrays_); }

 protected:
  MappedArrays(const std::string& name, const State& state, Arrays arrays)
      : prefix_(name + "."), arrays_(std::move(arrays)) {
    view_fields(arrays_, state, prefix_);
    has_accumulators_ = has_learning_fields(arrays_, state, prefix_);
  }
  // Without weights. A model that only predicts has no accumulators.
  ModelContents bias_contents(ModelId model) const {
    ModelContents all;
    all.bias = bias(model);
    if (has_accumulators_) all.bias_accumulator = arrays_.bias_accumulators[model];
    return all;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("state: array '" + prefix_ + what);
  }

  std::string prefix_;
  Arrays arrays_;
};

// The models called `name`, over n_features. Throws std::invalid_argument if the arrays do not fit
// each other.
std::unique_ptr<MappedWeights> map_dense_weights(const std::string& name, const State& state,
                                                 std::size_t n_features,
                                                 Rates rates = Rates::per_weight);
std::unique_ptr<MappedWeights> map_sparse_weights(const std::string& name, const State& state,
                                                  std::size_t n_features);
inline std::unique_ptr<MappedWeights> map_weights(const std::string& name, const State& state,
                                                  const LearnerConfig& config) {
  if (config.n_features == 0) throw std::invalid_argument("state: a model has at least 1 feature");
  return config.sparse ? map_sparse_weights(name, state, config.n_features)
                       : map_dense_weights(name, state, config.n_features);
}

// Weights<Stored>, made of the arguments, for weights that are stored as float32, float16 or
// bfloat16.
template <template <class> class Weights, class... Arguments>
std::unique_ptr<MappedWeights> map_stored(const std::string& name, const State& state,
                                          const Arguments&... arguments) {
  switch (state.array(name + ".weights").kind) {
    case 'e':
      return std::make_unique<Weights<Float16>>(name, state, arguments...);
    case 'H':
      return std::make_unique<Weights<BFloat16>>(name, state, arguments...);
    default:
      return std::make_unique<Weights<float>>(name, state, arguments...);
  }
}

}  // namespace recalltree
