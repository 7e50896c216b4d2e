#include "recalltree/cells/class_vectors.hpp"

#include <algorithm>
#include <cmath>

#include "recalltree/base/hints.hpp"
#include "recalltree/kernels/kernels.hpp"

namespace recalltree {
namespace {

constexpr float kMeanScale = 20.0f;  // A
// AdaGrad's steps at a rate of 1, and what keeps the first of them finite.
constexpr double kWeightRate = 2.0, kBiasRate = 0.6, kOffset = 0.03;
// Classes with many rows know more than their mean: steps on weights grow with 1 plus the rows over
// this number, up to twice as long.
constexpr double kFewRows = 32.0, kLongestStep = 2.0;
// A mean is nothing if leaving a row out leaves less than this share of its square.
constexpr float kNothingLeft = 1e-6f;

}  // namespace

void ClassVectors::grow_to(std::size_t n_classes) {
  while (classes_.size() < n_classes) {
    Class added;
    added.mean = static_cast<float*>(arena_.allocate(2 * width_ * sizeof(float)));
    classes_.push_back(added);
  }
}

void ClassVectors::prefetch(ClassId y) const { recalltree::prefetch(classes_[y].mean, 2 * width_); }

void ClassVectors::score(const float* x, std::span<const ClassId> labels, Own own, float* out,
                         Scratch& scratch) const {
  scratch.pointers.resize(2 * labels.size());
  scratch.products.resize(2 * labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    scratch.pointers[2 * i] = classes_[labels[i]].mean;
    scratch.pointers[2 * i + 1] = weights(labels[i]);
  }
  // A few classes ahead are on their way while some are compared.
  constexpr std::size_t kAhead = 4;
  for (std::size_t i = 0; i < std::min(kAhead, labels.size()); ++i) prefetch(labels[i]);
  for (std::size_t i = 0; i < labels.size(); i += 2) {
    for (std::size_t k = i + kAhead; k < std::min(i + kAhead + 2, labels.size()); ++k)
      prefetch(labels[k]);
    const std::size_t n = std::min<std::size_t>(2, labels.size() - i);
    kernels().dot_block(x, width_, 1, scratch.pointers.data() + 2 * i, 2 * n, width_,
                        scratch.products.data() + 2 * i, 2 * n);
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Class& known = classes_[labels[i]];
    float along = scratch.products[2 * i], inverse_norm = known.inverse_norm;
    if (labels[i] == own.label && own.weight > 0.0 && inverse_norm > 0.0f) {
      const auto weight = static_cast<float>(own.weight);
      const float squares = 1.0f / (inverse_norm * inverse_norm);
      const float length = kernels().dot(x, x, width_);
      const float rest = squares - 2.0f * weight * along + weight * weight * length;
      along -= weight * length;
      inverse_norm = rest > kNothingLeft * squares ? 1.0f / std::sqrt(rest) : 0.0f;
    }
    out[i] = kMeanScale * (along * inverse_norm) + scratch.products[2 * i + 1] + known.bias;
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

float ClassVectors::learn(const float* x, ClassId y, double gradient, double weight, double rate,
                          Kept kept) {
  Class& known = classes_[y];
  known.squares = static_cast<float>(kept.squares * known.squares + weight * gradient * gradient);
  const double pace = rate * weight / std::sqrt(known.squares + kOffset);
  known.bias = static_cast<float>(known.bias - kBiasRate * pace * gradient);
  const double longer = std::min(kLongestStep, std::sqrt(1.0 + known.rows / kFewRows));
  const auto step = static_cast<float>(-kWeightRate * longer * pace * gradient);
  add_to_weights(x, y, step, static_cast<float>(kept.weights));
  return step;
}

void ClassVectors::add_to_weights(const float* x, ClassId y, float step, float kept) {
  float* const w = weights(y);
  if (kept != 1.0f)
    for (std::size_t j = 0; j < width_; ++j) w[j] *= kept;
  kernels().step(w, x, step, width_);
}

void ClassVectors::combined(ClassId y, std::size_t n, float* out) const {
  const Class& known = classes_[y];
  const float* const w = weights(y);
  const float factor = kMeanScale * known.inverse_norm;
  const std::size_t filled = std::min(n, width_);
  for (std::size_t j = 0; j < filled; ++j) out[j] = factor * known.mean[j] + w[j];
  std::fill(out + filled, out + n, 0.0f);
}

void ClassVectors::clear_vectors() {
  for (Class& known : classes_) {
    std::fill_n(known.mean, 2 * width_, 0.0f);
    known.inverse_norm = 0.0f;
  }
}

void ClassVectors::rescale(float factor) {
  for (Class& known : classes_) {
    for (std::size_t j = 0; j < width_; ++j) known.mean[j] *= factor;
    known.inverse_norm = known.inverse_norm > 0.0f ? known.inverse_norm / factor : 0.0f;
  }
}

}  // namespace recalltree
