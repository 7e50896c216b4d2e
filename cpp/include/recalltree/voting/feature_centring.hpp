// Dense examples as routers and predictors see them: less the mean of what was seen before, over
// the standard deviation, cut where they are far from the mean; and the learning rate that goes
// with their length.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/base/example.hpp"
#include "recalltree/base/fields.hpp"
#include "recalltree/base/rows.hpp"
#include "recalltree/kernels/kernels.hpp"

namespace recalltree {

template <template <class> class List>
struct CentringArrays {
  std::size_t n_features = 0;
  List<double> moments;  // mean and variance
  List<double> sums;     // of squared norms, of weights

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("centring.moments", self.moments, {.length = 2 * self.n_features, .width = 2});
    visit("centring.sums", self.sums, {.length = 2});
  }
};

class FeatureCentring {
 public:
  FeatureCentring(const LearnerConfig& config, bool center)
      : learning_rate_(config.learning_rate),
        center_(center),
        moments_(config.sparse ? 0 : config.n_features),
        lens_(moments_.size()) {}

  // Row i as it is, and as it is seen.
  void read(const Rows& rows, std::size_t i, AlignedFloats& row, Example& x) const {
    row.reserve(lens_.size());
    x.dense.reserve(lens_.size());
    float* const z = x.dense.data();
    if (rows.sparse) std::fill_n(row.data(), row.size(), 0.0f);
    rows.visit(i, [&](std::uint32_t j, float value) { row.data()[j] = value; });
    for (std::size_t j = 0; j < lens_.size(); ++j) {
      const auto [offset, factor] = lens_[j];
      // Distances between huge numbers may be infinite.
      const float seen = std::clamp((row.data()[j] - offset) * factor, -kCut, kCut);
      z[j] = factor > 0.0f ? seen : 0.0f;
    }
  }

  // The rate at which routers learn an example.
  double rate(const Example& x) const {
    const double mean = weight_sum_ > 0.0 ? norm_sum_ / weight_sum_ : squared_norm(x);
    return learning_rate_ / std::sqrt(mean);
  }

  // A row has been learned; x is how it was seen.
  void learn(const AlignedFloats& row, const Example& x, double weight) {
    double sum = weight_sum_;
    learn_features(0, moments_.size(), row, weight, sum);
    look_at(0, moments_.size());
    learn_length(x, weight);
  }
  // The same in parts: the features [begin, end) of one row after the other, `sum` being the weight
  // of the rows so far; then they are looked at again; and the lengths of all rows.
  double weight_sum() const { return weight_sum_; }
  std::size_t n_features() const { return moments_.size(); }
  void learn_features(std::size_t begin, std::size_t end, const AlignedFloats& row, double weight,
                      double& sum) {
    sum += weight;
    const double share = weight / sum;
    for (std::size_t j = begin; j < end; ++j) {
      Moments& m = moments_[j];
      const double value = row.data()[j], before = value - m.mean;
      const double mean = m.mean + share * before;
      m.mean = mean;
      m.variance += share * (before * (value - mean) - m.variance);
    }
  }
  void look_at(std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) look_at(j);
  }
  void learn_length(const Example& x, double weight) {
    norm_sum_ += weight * squared_norm(x);
    weight_sum_ += weight;
  }

  void save(State& state) const {
    CentringArrays<Owned> saved;
    for (const Moments& m : moments_)
      saved.moments.insert(saved.moments.end(), {m.mean, m.variance});
    saved.sums = {norm_sum_, weight_sum_};
    put_fields(std::move(saved), state);
  }
  void load(const State& state) {
    CentringArrays<Viewed> saved;
    saved.n_features = moments_.size();
    view_fields(saved, state);
    for (std::size_t j = 0; j < moments_.size(); ++j) {
      moments_[j] = {saved.moments[2 * j], saved.moments[2 * j + 1]};
      look_at(j);
    }
    norm_sum_ = saved.sums[0];
    weight_sum_ = saved.sums[1];
  }
  std::size_t bytes() const { return moments_.size() * (sizeof(Moments) + sizeof(Lens)); }

 private:
  // A feature further from its mean than this many standard deviations would drown the others.
  static constexpr float kCut = 2.0f;
  // A deviation that is smaller, relative to the root mean square, is rounding.
  static constexpr double kFlat = 1e-5;

  struct Moments {
    double mean = 0.0, variance = 0.0;
  };
  // Standardisation that follows from the moments: (value - offset) * factor is seen. The factor of
  // a feature that has not varied yet is 0.
  struct Lens {
    float offset = 0.0f, factor = 0.0f;
  };

  void look_at(std::size_t j) {
    const auto [mean, variance] = moments_[j];
    const double all = variance + mean * mean, square = center_ ? variance : all;
    lens_[j].offset = center_ ? static_cast<float>(mean) : 0.0f;
    const auto factor = static_cast<float>(1.0 / std::sqrt(square));
    lens_[j].factor = square > kFlat * kFlat * all && std::isfinite(factor) ? factor : 0.0f;
  }

  // The bias is a feature that is 1.
  static double squared_norm(const Example& x) {
    double sum = 1.0;
    for (const float value : x.values) sum += double(value) * double(value);
    if (x.features.empty()) sum += kernels().dot(x.dense.data(), x.dense.data(), x.dense.size());
    return sum;
  }

  double learning_rate_;
  bool center_;
  std::vector<Moments> moments_;
  std::vector<Lens> lens_;
  double norm_sum_ = 0.0, weight_sum_ = 0.0;
};

}  // namespace recalltree
