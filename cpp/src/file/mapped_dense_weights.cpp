// One contiguous row per model, padded with zeros to a multiple of kLanes.
#include <algorithm>
#include <cmath>

#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/linear/dense_scoring.hpp"

namespace recalltree {
namespace {

template <class Stored>
class MappedDenseWeights final : public MappedWeights {
 public:
  MappedDenseWeights(const std::string& name, const State& state, std::size_t n_features,
                     DenseWeights::Rates rates)
      : MappedWeights(name, state, rates == DenseWeights::Rates::per_weight),
        n_(padded(n_features)),
        n_features_(n_features),
        values_(state.get<Stored>(name + ".weights")) {
    // Division, because a product of lengths from a file may overflow.
    const bool fits = values_.size() / n_ == size() && values_.size() % n_ == 0;
    if (!fits) fail("weights' does not have one row of weights per bias");
    if (has_accumulators_ && rates == DenseWeights::Rates::per_weight)
      State::check_length(name + ".accumulators", accumulators_.size(), values_.size());
    // The kernels want whole cache lines; memory that does not start at one is copied.
    if constexpr (kInPlace)
      if (reinterpret_cast<std::uintptr_t>(values_.data()) % 64 != 0) {
        copy_.resize(values_.size());
        std::copy(values_.begin(), values_.end(), copy_.data());
        values_ = {copy_.data(), values_.size()};
      }
  }

  void scores(const ModelId* rows, std::size_t n, const Example& x, float* out,
              Threads) const override {
    if constexpr (kInPlace) {
      score_dense_rows(rows, n, x, n_, [&](ModelId row, std::size_t) { return values(row); }, out);
    } else {
      thread_local AlignedFloats wide;
      wide.reserve(2 * kDenseRowsAtOnce * n_);
      const auto widened = [&](ModelId row, std::size_t place) {
        const Stored* const narrow = values_.data() + row * n_;
        std::transform(narrow, narrow + n_, wide.data() + place * n_,
                       [](Stored v) { return widen(v); });
        return wide.data() + place * n_;
      };
      score_dense_rows(rows, n, x, n_, widened, out);
    }
    for (std::size_t i = 0; i < n; ++i) out[i] += bias(rows[i]);
  }

  ModelContents contents(ModelId row) const override {
    ModelContents all = bias_contents(row);
    for (std::size_t j = 0; j < n_features_; ++j) {
      all.keys.push_back(static_cast<std::uint32_t>(j));
      all.weights.push_back(widen(values_[row * n_ + j]));
      all.accumulators.push_back(accumulators_.empty() ? all.bias_accumulator
                                                       : accumulators_[row * n_ + j]);
    }
    return all;
  }

  void check() const override {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const float value = widen(values_[i]);
      if (!std::isfinite(value))
        fail("weights' holds " + std::to_string(value) + " at position " + std::to_string(i));
    }
    for (std::size_t row = 0; row < size(); ++row)
      for (std::size_t j = n_features_; j < n_; ++j)
        if (widen(values_[row * n_ + j]) != 0.0f ||
            (!accumulators_.empty() && accumulators_[row * n_ + j] != 0.0f))
          fail("weights' or '.accumulators' is not padded with zeros");
    check_finite("accumulators", accumulators_);
    check_finite("bias", bias_);
    check_finite("bias_accumulators", bias_accumulators_);
  }

  std::size_t bytes() const override {
    return values_.size_bytes() + accumulators_.size_bytes() + bias_.size_bytes() +
           bias_accumulators_.size_bytes();
  }

  const float* values(ModelId row) const override {
    if constexpr (kInPlace)
      return values_.data() + row * n_;
    else
      return nullptr;
  }

 private:
  static constexpr bool kInPlace = std::is_same_v<Stored, float>;
  std::size_t n_, n_features_;
  std::span<const Stored> values_;
  AlignedFloats copy_;
};

}  // namespace

std::unique_ptr<MappedWeights> map_dense_weights(const std::string& name, const State& state,
                                                 std::size_t n_features,
                                                 DenseWeights::Rates rates) {
  if (n_features == 0) throw std::invalid_argument("state: a model has at least 1 feature");
  switch (state.array(name + ".weights").kind) {
    case 'e':
      return std::make_unique<MappedDenseWeights<Float16>>(name, state, n_features, rates);
    case 'H':
      return std::make_unique<MappedDenseWeights<BFloat16>>(name, state, n_features, rates);
    default:
      return std::make_unique<MappedDenseWeights<float>>(name, state, n_features, rates);
  }
}

}  // namespace recalltree
