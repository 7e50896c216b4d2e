// Sketch: the leading directions of a vector in one byte each, and what a byte is worth.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/kernels/int8_kernels.hpp"

namespace recalltree {

// Directions that a sketch has, at most: two cache lines.
inline constexpr std::size_t kSketchWidth = 128;

// Of rows with so many features: a multiple of what kernels compare at a time.
inline std::size_t sketch_width(std::size_t n_features) {
  const std::size_t lanes = (n_features + kInt8Lanes - 1) / kInt8Lanes * kInt8Lanes;
  return std::clamp(lanes, kInt8Lanes, kSketchWidth);
}

struct Sketch {
  alignas(64) std::int8_t bytes[kSketchWidth] = {};
  float scale = 0.0f;  // value of the byte 1

  // Of the first `width` numbers.
  void draw(const float* values, std::size_t width) {
    float largest = 0.0f;
    for (std::size_t j = 0; j < width; ++j) largest = std::max(largest, std::fabs(values[j]));
    const float per_value = largest > 0.0f ? 127.0f / largest : 0.0f;
    scale = std::isfinite(per_value) ? largest / 127.0f : 0.0f;
    // Adding and subtracting 1.5 * 2^23 rounds to the nearest whole number, halves to even.
    constexpr float kMagic = 12582912.0f;
    for (std::size_t j = 0; j < width; ++j) {
      const float rounded = (values[j] * (scale > 0.0f ? per_value : 0.0f) + kMagic) - kMagic;
      bytes[j] = static_cast<std::int8_t>(static_cast<std::int32_t>(rounded));
    }
  }
};

}  // namespace recalltree
