#include "recalltree/text/row.hpp"

#include <algorithm>

namespace recalltree {

bool Row::sort(std::vector<std::uint64_t>& scratch) {
  const std::size_t n = columns.size();
  bool ascending = true;
  for (std::size_t k = 1; k < n; ++k) ascending &= columns[k - 1] < columns[k];
  if (ascending) return false;
  // The position breaks ties: sums do not depend on how the library sorts.
  scratch.resize(n);
  for (std::size_t k = 0; k < n; ++k) scratch[k] = std::uint64_t{columns[k]} << 32 | k;
  std::sort(scratch.begin(), scratch.end());
  const std::vector<float> written = values;
  std::size_t kept = 0;
  for (const std::uint64_t key : scratch) {
    const auto column = static_cast<std::uint32_t>(key >> 32);
    const float value = written[key & 0xffffffff];
    if (kept > 0 && columns[kept - 1] == column) {
      values[kept - 1] += value;
      continue;
    }
    columns[kept] = column;
    values[kept++] = value;
  }
  columns.resize(kept);
  values.resize(kept);
  return kept < n;
}

}  // namespace recalltree
