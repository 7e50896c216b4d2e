// Sketch: the leading directions of a vector in one byte each, and what a byte is worth.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "recalltree/base/types.hpp"
#include "recalltree/kernels/int8_kernels.hpp"

namespace recalltree {

// Directions that a sketch has, at most: two cache lines.
inline constexpr std::size_t kSketchWidth = 128;

// Width of a sketch of this many features: a multiple of what kernels compare at a time.
inline std::size_t sketch_width(std::size_t n_features) {
  return std::clamp(padded(n_features), kLanes, kSketchWidth);
}

struct Sketch {
  alignas(64) std::uint8_t bytes[kSketchWidth] = {};
  float scale = 0.0f;  // value of the byte 1

  // Sketch of a query row: signed bytes from -127 to 127.
  void draw_row(const float* values, std::size_t width) { draw(values, width, 127.0f, 0.0f); }
  // Sketch of a stored vector: bytes as int8_kernels.hpp stores them.
  void draw_vector(const float* values, std::size_t width) {
    draw(values, width, kInt8Largest, kInt8Offset);
  }
  const std::int8_t* row() const { return reinterpret_cast<const std::int8_t*>(bytes); }

 private:
  void draw(const float* values, std::size_t width, float most, float offset) {
    float largest = 0.0f;
    for (std::size_t j = 0; j < width; ++j)
      largest = std::fabs(values[j]) > largest ? std::fabs(values[j]) : largest;
    const bool is_normal = largest > std::numeric_limits<float>::min();
    const float per_value = is_normal ? most / largest : 0.0f;
    scale = is_normal ? largest / most : 0.0f;
    // Adding and subtracting 1.5 * 2^23 rounds to the nearest whole number, halves to even.
    constexpr float kMagic = 12582912.0f;
    for (std::size_t j = 0; j < width; ++j) {
      const float rounded = (values[j] * per_value + kMagic) - kMagic;
      const float known = std::fabs(rounded) <= most ? rounded : 0.0f;  // not of NaN
      bytes[j] = static_cast<std::uint8_t>(static_cast<std::int32_t>(known + offset));
    }
  }
};

}  // namespace recalltree
