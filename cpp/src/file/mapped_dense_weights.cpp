// The weights of a model side by side, padded with zeros to a multiple of kLanes.
#include <algorithm>

#include "recalltree/file/aligned_array.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/linear/dense_scoring.hpp"

namespace recalltree {
namespace {

template <class Stored>
class MappedDenseWeights final : public MappedArrays<DenseArrays<Viewed, Stored>> {
 public:
  using MappedArrays<DenseArrays<Viewed, Stored>>::arrays_;

  MappedDenseWeights(const std::string& name, const State& state, std::size_t n_features,
                     Rates rates)
      : MappedArrays<DenseArrays<Viewed, Stored>>(name, state, {padded(n_features), rates}),
        n_(padded(n_features)),
        n_features_(n_features),
        values_(arrays_.weights) {
    // Division, because a product of lengths from a file may overflow.
    const bool fits = values_.size() / n_ == this->size() && values_.size() % n_ == 0;
    if (!fits) this->fail("weights' does not have one row of weights per bias");
    if constexpr (kInPlace) {
      in_place_ = AlignedArray(values_);
      values_ = {in_place_.data(), values_.size()};
    }
  }

  void scores(const ModelId* models, std::size_t n, const Example& x, float* out) const override {
    if constexpr (kInPlace) {
      score_dense_models(
          models, n, x, n_, [&](ModelId model, std::size_t) { return values(model); }, out);
    } else {
      thread_local AlignedFloats wide;
      wide.reserve(2 * kDenseModelsAtOnce * n_);
      const auto widened = [&](ModelId model, std::size_t place) {
        const Stored* const narrow = values_.data() + model * n_;
        std::transform(narrow, narrow + n_, wide.data() + place * n_,
                       [](Stored v) { return widen(v); });
        return wide.data() + place * n_;
      };
      score_dense_models(models, n, x, n_, widened, out);
    }
    for (std::size_t i = 0; i < n; ++i) out[i] += this->bias(models[i]);
  }

  ModelContents contents(ModelId model) const override {
    ModelContents all = this->bias_contents(model);
    const auto& accumulators = arrays_.accumulators;
    for (std::size_t j = 0; j < n_features_; ++j) {
      all.features.push_back(static_cast<std::uint32_t>(j));
      all.weights.push_back(widen(values_[model * n_ + j]));
      all.accumulators.push_back(accumulators.empty() ? all.bias_accumulator
                                                      : accumulators[model * n_ + j]);
    }
    return all;
  }

  void check() const override {
    check_finite_fields(arrays_, this->prefix_);
    const auto& accumulators = arrays_.accumulators;
    for (std::size_t model = 0; model < this->size(); ++model)
      for (std::size_t i = model * n_ + n_features_; i < (model + 1) * n_; ++i)
        if (widen(values_[i]) != 0.0f || (!accumulators.empty() && accumulators[i] != 0.0f))
          this->fail("weights' or '.accumulators' is not padded with zeros");
  }

  const float* values(ModelId model) const override {
    if constexpr (kInPlace)
      return values_.data() + model * n_;
    else
      return nullptr;
  }

 private:
  static constexpr bool kInPlace = std::is_same_v<Stored, float>;
  std::size_t n_, n_features_;
  std::span<const Stored> values_;
  AlignedArray<Stored> in_place_;
};

}  // namespace

std::unique_ptr<MappedWeights> map_dense_weights(const std::string& name, const State& state,
                                                 std::size_t n_features, Rates rates) {
  if (n_features == 0) throw std::invalid_argument("state: a model has at least 1 feature");
  return map_stored<MappedDenseWeights>(name, state, n_features, rates);
}

}  // namespace recalltree
