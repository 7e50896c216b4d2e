#include "recalltree/cells/class_vectors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "recalltree/kernels/kernels.hpp"

namespace recalltree {
namespace {

// AdaGrad's steps at a rate of 1, and what keeps the first of them finite.
constexpr double kWeightRate = 2.5, kBiasRate = 0.15, kOffset = 0.03;
// Classes with many rows know more than their mean: steps on weights grow with 1 plus the rows over
// this number, up to twice as long.
constexpr double kFewRows = 32.0, kLongestStep = 2.0;

}  // namespace

void ClassVectors::grow_to(std::size_t n_classes) {
  // The room that is taken depends on the number of classes alone, not on how they came.
  if (classes_.capacity() < n_classes) classes_.reserve(std::bit_ceil(n_classes));
  while (classes_.size() < n_classes) {
    Class added;
    added.mean = static_cast<float*>(arena_.allocate(2 * width_ * sizeof(float)));
    classes_.push_back(added);
  }
}

void ClassVectors::count(const float* x, ClassId y, double weight) {
  add_to_mean(x, y, weight);
  ++classes_[y].rows;
}

void ClassVectors::add_to_mean(const float* x, ClassId y, double weight) {
  float* const mean = classes_[y].mean;
  kernels().step(mean, x, static_cast<float>(weight), width_);
  const float squares = kernels().dot(mean, mean, width_);
  classes_[y].inverse_norm = squares > 0.0f ? 1.0f / std::sqrt(squares) : 0.0f;
}

ClassVectors::Step ClassVectors::learn(const float* x, ClassId y, const Gradient& gradient,
                                       Kept kept) {
  Class& known = classes_[y];
  const double g = gradient.size;
  known.squares = static_cast<float>(kept.squares * known.squares + gradient.weight * g * g);
  const double pace = gradient.rate * gradient.weight / std::sqrt(known.squares + kOffset);
  known.bias = static_cast<float>(known.bias - kBiasRate * pace * g);
  const double longer = std::min(kLongestStep, std::sqrt(1.0 + known.rows / kFewRows));
  const Step step{static_cast<float>(-kWeightRate * longer * pace * g),
                  static_cast<float>(kept.weights * std::max(0.0, 1.0 - pace * gradient.l2))};
  add_to_weights(x, y, step.size, step.kept);
  return step;
}

void ClassVectors::add_to_weights(const float* x, ClassId y, float step, float kept) {
  float* const w = weights(y);
  if (kept != 1.0f)
    for (std::size_t j = 0; j < width_; ++j) w[j] *= kept;
  kernels().step(w, x, step, width_);
}

void ClassVectors::clear_vectors() {
  for (Class& known : classes_) {
    std::fill_n(known.mean, 2 * width_, 0.0f);
    known.inverse_norm = 0.0f;
  }
}

void ClassVectors::rescale(float factor_of_all) {
  // A mean has a direction however old its rows are.
  constexpr float kShortest = 1e-12f;
  for (Class& known : classes_) {
    const float factor = std::max(factor_of_all, kShortest * known.inverse_norm);
    for (std::size_t j = 0; j < width_; ++j) known.mean[j] *= factor;
    known.inverse_norm = known.inverse_norm > 0.0f ? known.inverse_norm / factor : 0.0f;
  }
}

void ClassVectors::save(State& state) const {
  ClassVectorArrays<Owned> saved{width_};
  saved.mean_scale = {mean_scale_};
  saved.vectors.reserve(2 * width_ * size());
  for (const Class& known : classes_) {
    saved.vectors.insert(saved.vectors.end(), known.mean, known.mean + 2 * width_);
    saved.bias.push_back(known.bias);
    saved.inverse_norms.push_back(known.inverse_norm);
    saved.accumulators.push_back(known.squares);
    saved.n_rows.push_back(known.rows);
  }
  put_fields(std::move(saved), state);
}

void ClassVectors::load(const State& state) {
  ClassVectorArrays<Viewed> saved{width_};
  view_fields(saved, state);
  mean_scale_ = saved.mean_scale[0];
  grow_to(saved.bias.size());
  const auto* const vectors = static_cast<const float*>(saved.vectors.data);
  for (std::size_t y = 0; y < size(); ++y) {
    Class& known = classes_[y];
    std::copy_n(vectors + y * 2 * width_, 2 * width_, known.mean);
    known.bias = saved.bias[y];
    known.inverse_norm = saved.inverse_norms[y];
    known.squares = saved.accumulators[y];
    known.rows = saved.n_rows[y];
  }
}

}  // namespace recalltree
