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
#include "recalltree/base/fields.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

template <template <class> class List>
struct WhiteningArrays {
  std::size_t n_features;
  List<float> mean = {},
              rate = {};  // padded with zeros; rate: one over the deviation, 0 if constant
  // For each block, a row of weights per direction, padded with zeros, and where the direction
  // is in x'. Both are empty where features are only standardised.
  List<float> matrix = {};
  List<std::uint32_t> position = {};

  template <class Self, class Visit>
  static void fields(Self& self, Visit visit) {
    const std::size_t width = padded(self.n_features);
    visit("whitening.mean", self.mean, {.length = width, .width = width});
    visit("whitening.rate", self.rate, {.length = width, .width = width});
    visit("whitening.position", self.position);
    visit("whitening.matrix", self.matrix, {.width = kLanes});
  }
};

// The learned transform, wherever it is stored. The arrays are aligned to 64 bytes.
class WhiteningView {
 public:
  static constexpr std::size_t kWidest = 1024, kBlock = 256;

  WhiteningView() = default;
  WhiteningView(std::size_t n_features, const float* mean, const float* rate, const float* matrix,
                const std::uint32_t* position)
      : n_features_(n_features), mean_(mean), rate_(rate), matrix_(matrix), position_(position) {}

  std::size_t n_features() const { return n_features_; }
  // Floats of a row, and of a whitened row: features and zeros at the end.
  std::size_t width() const { return padded(n_features_); }

  // Whitens n rows. Each comes out the same whatever stands beside it. `scratch` may be shared by
  // calls of one thread.
  void apply(const float* rows, std::size_t n, float* out, AlignedFloats& scratch) const;
  void standardise(const float* row, float* out) const;

  // Features that are turned together.
  struct Block {
    std::size_t begin, n;
    std::size_t width() const { return padded(n); }
  };
  static std::vector<Block> blocks(std::size_t n_features);
  static std::size_t matrix_floats(std::size_t n_features);

 private:
  std::size_t n_features_ = 0;
  const float *mean_ = nullptr, *rate_ = nullptr, *matrix_ = nullptr;  // no matrix: no directions
  const std::uint32_t* position_ = nullptr;
};

class Whitening {
 public:
  // Identity until it has learned: x' = unit(x), with features cut at 2.
  explicit Whitening(std::size_t n_features);

  std::size_t n_features() const { return n_features_; }
  std::size_t width() const { return padded(n_features_); }
  WhiteningView view() const {
    return {n_features_, mean_.data(), rate_.data(), has_directions_ ? matrix_.data() : nullptr,
            position_.data()};
  }

  // Learns from n rows, stored one after another.
  void learn(const float* rows, std::size_t n);

  void save(State& state) const;
  // The state has been checked.
  void load(const State& state);
  std::size_t bytes() const {
    return (mean_.size() + rate_.size() + matrix_.size()) * sizeof(float) +
           position_.size() * sizeof(position_[0]);
  }

 private:
  using Block = WhiteningView::Block;
  std::vector<Block> blocks() const { return WhiteningView::blocks(n_features_); }
  void learn_directions(const AlignedFloats& standardised, std::size_t n);

  std::size_t n_features_;
  AlignedFloats mean_, rate_, matrix_;
  bool has_directions_ = false;  // otherwise features are only standardised
  std::vector<std::uint32_t> position_;
};

}  // namespace recalltree
