// Checks that all mapped models share. They throw std::invalid_argument.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "recalltree/base/fields.hpp"

namespace recalltree {

inline void require(bool fine, const char* what) {
  if (!fine) throw std::invalid_argument(std::string("state: ") + what);
}
// offsets increase from 0 to `end`.
void check_offsets(std::span<const std::uint64_t> offsets, std::size_t end, const char* name);
// All ids are below n_classes.
void check_class_ids(std::span<const std::uint32_t> ids, std::size_t n_classes, const char* name);

template <class Value>
void check_finite(std::span<const Value> values, const std::string& name) {
  if constexpr (!std::is_integral_v<Value>)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const auto value = widen(values[i]); !std::isfinite(value))
        throw std::invalid_argument("state: '" + name + "' holds " + std::to_string(value) +
                                    " at position " + std::to_string(i));
}
inline void check_finite(const Array& weights, const std::string& name) {
  with_weights(weights,
               [&](const auto* values) { check_finite(std::span(values, weights.size), name); });
}
// All numbers of a struct of arrays (base/fields.hpp).
template <class Arrays>
void check_finite_fields(const Arrays& arrays, const std::string& prefix = "") {
  Arrays::fields(arrays, [&](const char* name, const auto& values, Field = {}) {
    check_finite(values, prefix + name);
  });
}

}  // namespace recalltree
