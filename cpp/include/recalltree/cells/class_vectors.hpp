// ClassVectors: what the dense part knows of each class, and its score.
//
//   score(y | x') = A cos(x', c_y) + w_y . x' + b_y
//
// c_y is the sum of the class's whitened rows, w_y and b_y are learned. The mean answers for a
// class after one row; the weights correct it where classes are confused. A class has one rate of
// learning, which shrinks with the squares of its gradients (AdaGrad).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recalltree/base/arena.hpp"
#include "recalltree/base/example.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

class ClassVectors {
 public:
  explicit ClassVectors(std::size_t width) : width_(width), arena_(64) {}

  std::size_t size() const { return classes_.size(); }
  void grow_to(std::size_t n_classes);

  // The row that a class has already counted, which a later pass leaves out of its mean.
  struct Own {
    ClassId label = kNoClass;
    double weight = 0.0;
  };
  struct Scratch {
    std::vector<const float*> pointers;
    std::vector<float> products;
  };
  // out[i] = score of labels[i]
  void score(const float* x, std::span<const ClassId> labels, Own own, float* out,
             Scratch& scratch) const;
  void prefetch(ClassId y) const;

  // Adds a row to the mean of its class.
  void count(const float* x, ClassId y, double weight);
  // Moves a class against its gradient. Returns the step on the weights, as a multiple of x'.
  // `kept` are the shares of weights and of squared gradients that the class does not forget.
  struct Kept {
    double weights = 1.0, squares = 1.0;
  };
  float learn(const float* x, ClassId y, double gradient, double weight, double rate, Kept kept);

  // The first n numbers of A c / |c| + w, which a sketch shows.
  void combined(ClassId y, std::size_t n, float* out) const;
  float bias(ClassId y) const { return classes_[y].bias; }
  std::uint32_t rows(ClassId y) const { return classes_[y].rows; }
  bool is_known(ClassId y) const { return y < classes_.size() && classes_[y].rows > 0; }

  // For a new whitening: all vectors become zero, then steps are taken again.
  void clear_vectors();
  void add_to_mean(const float* x, ClassId y, double weight);
  void add_to_weights(const float* x, ClassId y, float step, float kept);

  // When units of counts change (count_decay).
  void rescale(float factor);

  std::size_t bytes() const { return arena_.used() + classes_.capacity() * sizeof(Class); }

 private:
  struct Class {
    float* mean = nullptr;  // the sum of rows; the weights follow it
    float inverse_norm = 0.0f;
    float bias = 0.0f, squares = 0.0f;
    std::uint32_t rows = 0;
  };
  float* weights(ClassId y) { return classes_[y].mean + width_; }
  const float* weights(ClassId y) const { return classes_[y].mean + width_; }

  std::size_t width_;
  Arena arena_;
  std::vector<Class> classes_;
};

}  // namespace recalltree
