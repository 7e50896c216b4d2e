// Input: a view of somebody else's rows, dense or CSR, float32 or float64. Never owns, never
// writes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace recalltree {

struct Rows {
  bool sparse = false;
  bool float64 = false;
  bool long_indptr = false, long_indices = false;
  std::size_t n_rows = 0, n_features = 0;
  const void* data = nullptr;                        // dense: first element; CSR: values
  std::ptrdiff_t row_stride = 0, column_stride = 0;  // dense only, in elements
  const void* indptr = nullptr;
  const void* indices = nullptr;

  // Calls visit(feature, value as float) for every stored value of row i, in stored order.
  template <class Visit>
  void visit(std::size_t i, Visit visit) const {
    if (float64)
      visit_as<double>(i, visit);
    else
      visit_as<float>(i, visit);
  }

  // The same for the features [first, last). Those of a CSR row are in ascending order.
  template <class Visit>
  void visit_between(std::size_t i, std::size_t first, std::size_t last, Visit visit) const {
    if (float64)
      visit_part<double>(i, first, last, visit);
    else
      visit_part<float>(i, first, last, visit);
  }

  // First (row, column) whose value is not finite as float32.
  std::optional<std::pair<std::size_t, std::size_t>> find_invalid() const {
    for (std::size_t i = 0; i < n_rows; ++i) {
      std::optional<std::size_t> bad;
      visit(i, [&](std::uint32_t j, float v) {
        if (!std::isfinite(v) && !bad) bad = j;
      });
      if (bad) return std::pair{i, *bad};
    }
    return std::nullopt;
  }

  std::size_t begin(std::size_t i) const {
    return long_indptr ? static_cast<const std::int64_t*>(indptr)[i]
                       : static_cast<const std::int32_t*>(indptr)[i];
  }

 private:
  template <class Value, class Visit>
  void visit_part(std::size_t i, std::size_t first, std::size_t last, Visit& visit) const {
    if (!sparse) {
      const Value* row =
          static_cast<const Value*>(data) + static_cast<std::ptrdiff_t>(i) * row_stride;
      for (std::size_t j = first; j < std::min(last, n_features); ++j)
        visit(static_cast<std::uint32_t>(j),
              static_cast<float>(row[static_cast<std::ptrdiff_t>(j) * column_stride]));
    } else if (long_indices) {
      visit_csr_part<Value>(static_cast<const std::int64_t*>(indices), i, first, last, visit);
    } else {
      visit_csr_part<Value>(static_cast<const std::int32_t*>(indices), i, first, last, visit);
    }
  }

  template <class Value, class Index, class Visit>
  void visit_csr_part(const Index* columns, std::size_t i, std::size_t first, std::size_t last,
                      Visit& visit) const {
    const Value* values = static_cast<const Value*>(data);
    const Index* const end = columns + begin(i + 1);
    for (const Index* at = std::lower_bound(columns + begin(i), end, static_cast<Index>(first));
         at < end && static_cast<std::size_t>(*at) < last; ++at)
      visit(static_cast<std::uint32_t>(*at), static_cast<float>(values[at - columns]));
  }

  template <class Value, class Visit>
  void visit_as(std::size_t i, Visit& visit) const {
    if (!sparse) {
      const Value* row =
          static_cast<const Value*>(data) + static_cast<std::ptrdiff_t>(i) * row_stride;
      if (column_stride == 1)
        for (std::size_t j = 0; j < n_features; ++j)
          visit(static_cast<std::uint32_t>(j), static_cast<float>(row[j]));
      else
        for (std::size_t j = 0; j < n_features; ++j)
          visit(static_cast<std::uint32_t>(j),
                static_cast<float>(row[static_cast<std::ptrdiff_t>(j) * column_stride]));
    } else if (long_indices) {
      visit_csr<Value>(static_cast<const std::int64_t*>(indices), i, visit);
    } else {
      visit_csr<Value>(static_cast<const std::int32_t*>(indices), i, visit);
    }
  }

  template <class Value, class Index, class Visit>
  void visit_csr(const Index* columns, std::size_t i, Visit& visit) const {
    const Value* values = static_cast<const Value*>(data);
    for (std::size_t k = begin(i), end = begin(i + 1); k < end; ++k)
      visit(static_cast<std::uint32_t>(columns[k]), static_cast<float>(values[k]));
  }
};

}  // namespace recalltree
