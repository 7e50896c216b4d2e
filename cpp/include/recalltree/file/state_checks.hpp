// What views of a state ask of its arrays. All throw std::invalid_argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "recalltree/base/fields.hpp"

namespace recalltree {

inline void require(bool fine, const char* what) {
  if (!fine) throw std::invalid_argument(std::string("state: ") + what);
}

// Offsets of lists that lie end to end: from 0, increasing, to `end`.
void check_offsets(std::span<const std::uint64_t> offsets, std::size_t end, const char* name);
void check_class_ids(std::span<const std::uint32_t> ids, std::size_t n_classes, const char* name);
void check_finite(std::span<const double> values, const char* name);
void check_finite(std::span<const float> values, const char* name);
void check_finite(const Array& weights, const char* name);
inline void check_finite(std::span<const std::uint32_t>, const char*) {}
inline void check_finite(std::span<const std::uint64_t>, const char*) {}

// All numbers of a struct of arrays (base/fields.hpp).
template <class Arrays>
void check_finite_fields(const Arrays& arrays) {
  Arrays::fields(
      arrays, [](const char* name, const auto& values, Field = {}) { check_finite(values, name); });
}

}  // namespace recalltree
