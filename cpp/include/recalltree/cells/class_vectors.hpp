// ClassVectors: what the dense part knows of each class, and its score.
//
//   score(y | x') = A cos(x', c_y) + w_y . x' + b_y
//
// c_y is the sum of the class's whitened rows, w_y and b_y are learned. The mean answers for a
// class after one row; the weights correct it where classes are confused. A class has one rate of
// learning, which shrinks with the squares of its gradients (AdaGrad).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recalltree/base/arena.hpp"
#include "recalltree/base/fields.hpp"
#include "recalltree/base/hints.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/cells/class_scores.hpp"

namespace recalltree {

template <template <class> class List>
struct ClassVectorArrays {
  std::size_t width;            // of a row
  List<float> mean_scale = {};  // A
  List<float> bias = {}, inverse_norms = {}, accumulators = {};
  List<std::uint32_t> n_rows = {};
  List<Narrowable> vectors = {};  // the mean of each class, then its weights

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    visit("class_vectors.mean_scale", self.mean_scale, {.length = 1});
    visit("class_vectors.bias", self.bias);
    const std::size_t n = self.bias.size();
    visit("class_vectors.inverse_norms", self.inverse_norms, {.length = n});
    visit("class_vectors.accumulators", self.accumulators, {.length = n, .for_learning = true});
    visit("class_vectors.n_rows", self.n_rows, {.length = n, .for_learning = true});
    visit("class_vectors.vectors", self.vectors, {.width = 2 * self.width});
  }
};

class ClassVectors : public ClassScores<ClassVectors> {
 public:
  explicit ClassVectors(std::size_t width) : width_(width), arena_(64) {}

  void grow_to(std::size_t n_classes);

  // For prediction.
  std::size_t size() const { return classes_.size(); }
  std::size_t width() const { return width_; }
  float mean_scale() const { return mean_scale_; }
  std::size_t n_parts() const { return 2; }
  const float* parts(ClassId y, std::size_t, Scratch&) const { return classes_[y].mean; }
  float inverse_norm(ClassId y) const { return classes_[y].inverse_norm; }
  float bias(ClassId y) const { return classes_[y].bias; }
  void prefetch(ClassId y) const { recalltree::prefetch(classes_[y].mean, 2 * width_); }

  // Adds a row to the mean of its class.
  void count(const float* x, ClassId y, double weight);
  // Moves a class against its gradient. Returns the step on the weights, as a multiple of x', and
  // the share of them that stayed. `kept` are the shares of weights and of squared gradients that
  // the class does not forget.
  struct Kept {
    double weights = 1.0, squares = 1.0;
  };
  struct Gradient {
    double size, weight, rate, l2 = 0.0;
  };
  struct Step {
    float size, kept;
  };
  Step learn(const float* x, ClassId y, const Gradient& gradient, Kept kept);

  float squares(ClassId y) const { return classes_[y].squares; }
  std::uint32_t rows(ClassId y) const { return classes_[y].rows; }
  bool is_known(ClassId y) const { return y < classes_.size() && classes_[y].rows > 0; }

  // For a new whitening: all vectors become zero, then steps are taken again.
  void clear_vectors();
  void add_to_mean(const float* x, ClassId y, double weight);
  void add_to_weights(const float* x, ClassId y, float step, float kept);

  // Called when the unit of counts changes (count_decay).
  void rescale(float factor);

  void save(State& state) const;
  // The state has been checked.
  void load(const State& state);
  std::size_t bytes() const { return bytes(size()); }
  // Bytes for this many classes.
  std::size_t bytes(std::size_t n_classes) const {
    return n_classes * 2 * width_ * sizeof(float) + std::bit_ceil(n_classes) * sizeof(Class);
  }

 private:
  struct Class {
    float* mean = nullptr;  // the sum of rows; the weights follow it
    float inverse_norm = 0.0f;
    float bias = 0.0f, squares = 0.0f;
    std::uint32_t rows = 0;
  };
  float* weights(ClassId y) { return classes_[y].mean + width_; }

  std::size_t width_;
  float mean_scale_ = 20.0f;
  Arena arena_;
  std::vector<Class> classes_;
};

}  // namespace recalltree
