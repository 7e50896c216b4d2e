// Number of rows in which each feature was seen so far, and the weight that follows (tf-idf).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/text/row.hpp"

namespace recalltree {

class DocumentFrequencies {
 public:
  explicit DocumentFrequencies(std::size_t n_columns) : counts_(n_columns) {}

  std::uint64_t n_documents() const { return n_documents_; }
  const std::vector<std::uint32_t>& counts() const { return counts_; }
  void restore(std::uint64_t n_documents, const std::uint32_t* counts) {
    n_documents_ = n_documents;
    counts_.assign(counts, counts + counts_.size());
  }

  // A row with each column once.
  void count(const Row& row) {
    ++n_documents_;
    for (const std::uint32_t j : row.columns) counts_[j] += counts_[j] != ~std::uint32_t{0};
  }

  // Multiplies the values by idf = 1 + ln((1 + n_documents) / (1 + count)).
  void weigh(Row& row) const {
    const double all = 1.0 + static_cast<double>(n_documents_);
    for (std::size_t k = 0; k < row.columns.size(); ++k) {
      const double idf = 1.0 + std::log(all / (1.0 + counts_[row.columns[k]]));
      row.values[k] = static_cast<float>(row.values[k] * idf);
    }
  }

 private:
  std::uint64_t n_documents_ = 0;
  std::vector<std::uint32_t> counts_;  // by column
};

}  // namespace recalltree
