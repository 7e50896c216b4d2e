#include "recalltree/file/mapped_weights.hpp"

#include <cmath>
#include <stdexcept>

namespace recalltree {

MappedWeights::MappedWeights(const std::string& name, const State& state, bool rate_per_weight)
    : name_(name),
      has_accumulators_(state.has(name + ".accumulators") ||
                        state.has(name + ".bias_accumulators")),
      bias_(state.get<float>(name + ".bias")) {
  if (!has_accumulators_) return;
  if (rate_per_weight) accumulators_ = state.get<float>(name + ".accumulators");
  bias_accumulators_ = state.get<float>(name + ".bias_accumulators", bias_.size());
}

ModelContents MappedWeights::bias_contents(ModelId row) const {
  ModelContents all;
  all.bias = bias_[row];
  if (has_accumulators_) all.bias_accumulator = bias_accumulators_[row];
  return all;
}

void MappedWeights::check_finite(const char* part, std::span<const float> values) const {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      fail(std::string(part) + "' holds " + std::to_string(values[i]) + " at position " +
           std::to_string(i));
}

void MappedWeights::fail(const std::string& what) const {
  throw std::invalid_argument("state: array '" + name_ + "." + what);
}

}  // namespace recalltree
