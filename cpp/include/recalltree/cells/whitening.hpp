// Whitening: dense rows as class vectors see them.
//
//   z  = (x - mean) / deviation, feature by feature, cut at 2 deviations
//   x' = unit( diag(eigenvalue^-1/4) V z ),   V: principal directions of z, the largest first
//
// Dividing by deviations makes the answer independent of the units of features, cutting keeps a
// feature that is rarely far from its mean from drowning the others, and the exponent 1/4 stands
// between plain cosines (0) and a space where all directions count the same (1/2).
//
// Above kWidest features a full matrix is too dear. Features are then taken in blocks of kBlock
// neighbours, each with principal directions of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

class Whitening {
 public:
  static constexpr std::size_t kWidest = 1024, kBlock = 256;

  // Until it has learned, x' = unit(x), with features cut at 2.
  explicit Whitening(std::size_t n_features);

  std::size_t n_features() const { return n_features_; }
  // Floats of a row, and of a whitened row: features and zeros at the end.
  std::size_t width() const { return padded(n_features_); }

  // From n rows, one after another.
  void learn(const float* rows, std::size_t n);

  // Whitens n rows. Each comes out the same whatever stands beside it. `scratch` may be shared by
  // calls of one thread.
  void apply(const float* rows, std::size_t n, float* out, AlignedFloats& scratch) const;

  std::size_t bytes() const {
    return 3 * n_features_ * sizeof(float) + matrix_.size() * sizeof(float);
  }

  // What a model file keeps.
  struct Arrays {
    std::vector<float> mean, rate, matrix;
    std::vector<std::uint32_t> position;
  };
  Arrays arrays() const;
  void load(const Arrays& arrays);

 private:
  struct Block {
    std::size_t begin, n;  // features
    std::size_t width() const { return padded(n); }
  };
  std::vector<Block> blocks() const;
  std::size_t matrix_floats() const;
  void standardise(const float* row, float* out) const;
  void learn_directions(const AlignedFloats& standardised, std::size_t n);

  std::size_t n_features_;
  AlignedFloats mean_, rate_;            // rate: one over the deviation; 0 if constant
  bool has_directions_ = false;          // otherwise features are only standardised
  AlignedFloats matrix_;                 // of each block, a row of weights per direction
  std::vector<std::uint32_t> position_;  // of each direction in x'
};

}  // namespace recalltree
