// Weights in two bytes, as compacted models keep them: read, never computed with.
#pragma once

#include <bit>
#include <cstdint>

namespace recalltree {

struct Float16 {
  std::uint16_t bits;
};
// The upper half of a float32.
struct BFloat16 {
  std::uint16_t bits;
};

inline float widen(float value) { return value; }
inline double widen(double value) { return value; }

inline float widen(BFloat16 half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half.bits) << 16);
}

inline float widen(Float16 half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (half.bits >> 10) & 0x1fu, fraction = half.bits & 0x3ffu;
  if (exponent == 0x1f)  // infinity and NaN
    return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  // Subnormal: a whole number of the smallest steps.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return (sign != 0) ? -magnitude : magnitude;
}

}  // namespace recalltree
