// The vocabulary of the core: plain ids and constants, nothing that owns memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace recalltree {

using ClassId = std::uint32_t;  // position of a class in the estimator's classes_
// Labels of an example, each of them once.
using Labels = std::span<const ClassId>;
inline bool is_among(Labels labels, ClassId y) {
  return std::find(labels.begin(), labels.end(), y) != labels.end();
}
using NodeId = std::uint32_t;   // nodes are numbered in the order of their creation; the root is 0
using ModelId = std::uint32_t;  // one linear model: a row of weights

inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();
inline constexpr ModelId kNoModel = std::numeric_limits<ModelId>::max();
inline constexpr ClassId kNoClass = std::numeric_limits<ClassId>::max();
inline constexpr std::size_t kLanes = 16;  // floats a kernel works on at a time, on every CPU

// Updates with a smaller gradient change nothing a float32 score could show.
inline constexpr double kGradientFloor = 1e-6;
// Keeps 1/sqrt finite for a weight that has not been updated yet.
inline constexpr float kAccumulatorOffset = 1e-30f;

constexpr std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

}  // namespace recalltree
