#include "recalltree/file/state_checks.hpp"

#include <algorithm>
#include <cmath>

namespace recalltree {
namespace {

template <class Value>
void check_all_finite(std::span<const Value> values, const char* name) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const auto value = widen(values[i]); !std::isfinite(value))
      throw std::invalid_argument(std::string("state: '") + name + "' holds " +
                                  std::to_string(value) + " at position " + std::to_string(i));
}

}  // namespace

void check_offsets(std::span<const std::uint64_t> offsets, std::size_t end, const char* name) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != end ||
      !std::is_sorted(offsets.begin(), offsets.end()))
    throw std::invalid_argument(std::string("state: '") + name + "' does not increase from 0 to " +
                                std::to_string(end));
}

void check_class_ids(std::span<const std::uint32_t> ids, std::size_t n_classes, const char* name) {
  std::uint32_t largest = 0;
  for (const std::uint32_t id : ids) largest = std::max(largest, id);
  if (!ids.empty() && largest >= n_classes)
    throw std::invalid_argument(std::string("state: '") + name + "' names class " +
                                std::to_string(largest) + " of " + std::to_string(n_classes));
}

void check_finite(std::span<const double> values, const char* name) {
  check_all_finite(values, name);
}
void check_finite(std::span<const float> values, const char* name) {
  check_all_finite(values, name);
}
void check_finite(const Array& weights, const char* name) {
  with_weights(weights, [&](const auto* values) {
    check_all_finite(std::span(values, weights.size), name);
  });
}

}  // namespace recalltree
