// Rows in which each class has a few features of its own, dense and sparse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "recalltree/base/rows.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/model/learner.hpp"

namespace recalltree {

class ClassData {
 public:
  std::vector<ClassId> labels;

  ClassData(std::size_t n_rows, std::size_t n_features, std::size_t n_classes, unsigned seed)
      : dense_(n_rows * n_features, 0.0f) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < n_rows; ++i) {
      labels.push_back(static_cast<ClassId>(random() % n_classes));
      for (std::size_t j = 0; j < n_features; ++j) {
        if ((labels[i] * 7 + j * 13) % 5 > 1 && random() % 8) continue;
        const float value = 1.0f + static_cast<float>(random() % 8) / 8.0f;
        dense_[i * n_features + j] = value;
        indices_.push_back(static_cast<std::int32_t>(j));
        values_.push_back(value);
      }
      offsets_.push_back(static_cast<std::int64_t>(values_.size()));
    }
    dense_rows_.n_rows = sparse_rows_.n_rows = n_rows;
    dense_rows_.n_features = sparse_rows_.n_features = n_features;
    dense_rows_.data = dense_.data();
    dense_rows_.row_stride = static_cast<std::ptrdiff_t>(n_features);
    dense_rows_.column_stride = 1;
    sparse_rows_.sparse = true;
    sparse_rows_.long_indptr = true;
    sparse_rows_.data = values_.data();
    sparse_rows_.indices = indices_.data();
    sparse_rows_.indptr = offsets_.data();
  }
  ClassData(const ClassData&) = delete;  // its rows point into it

  const Rows& rows(bool sparse) const { return sparse ? sparse_rows_ : dense_rows_; }
  // The first n rows.
  Batch batch(bool sparse, std::size_t n) const {
    return {&rows(sparse), labels.data(), nullptr, nullptr, n};
  }

 private:
  std::vector<float> dense_, values_;
  std::vector<std::int32_t> indices_;
  std::vector<std::int64_t> offsets_{0};
  Rows dense_rows_, sparse_rows_;
};

}  // namespace recalltree
