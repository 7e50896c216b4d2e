#include "recalltree/file/state_checks.hpp"

#include <algorithm>

namespace recalltree {

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

}  // namespace recalltree
