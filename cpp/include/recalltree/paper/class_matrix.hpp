// Dense predictors of all classes as one matrix: scores are a matrix product, blocked so that a
// block of classes meets all rows while it is in cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "recalltree/base/types.hpp"
#include "recalltree/kernels/kernels.hpp"
#include "recalltree/model/workspace.hpp"

namespace recalltree {

struct ClassMatrix {
  std::vector<ClassId> labels;
  std::vector<const float*> rows;  // each padded(n_features) long
  std::vector<float> bias;

  void add(ClassId label, const float* weights, float offset) {
    labels.push_back(label);
    rows.push_back(weights);
    bias.push_back(offset);
  }

  // For rows [begin, end): read(row, ws.x), then emit(row, labels, scores, number of them).
  template <class Read, class Emit>
  void score(std::size_t n_features, std::size_t begin, std::size_t end, Workspace& ws, Read read,
             const Emit& emit) const {
    const std::size_t n_classes = labels.size(), stride = padded(n_features);
    constexpr std::size_t kScoresInCache = std::size_t{1} << 18, kClassBlock = 64;
    const std::size_t block =
        std::clamp<std::size_t>(kScoresInCache / std::max<std::size_t>(n_classes, 1), 4, 64);
    ws.block.reserve(block * stride);
    ws.scores.resize(block * n_classes);
    for (std::size_t first = begin; first < end; first += block) {
      const std::size_t n = std::min(block, end - first);
      for (std::size_t i = 0; i < n; ++i) {
        read(first + i, ws.x);
        std::copy_n(ws.x.dense.data(), stride, ws.block.data() + i * stride);
      }
      for (std::size_t c = 0; c < n_classes; c += kClassBlock) {
        const std::size_t columns = std::min(kClassBlock, n_classes - c);
        kernels().dot_block(ws.block.data(), stride, n, rows.data() + c, columns, stride,
                            ws.scores.data() + c, n_classes);
      }
      for (std::size_t i = 0; i < n; ++i) {
        float* scores = ws.scores.data() + i * n_classes;
        for (std::size_t c = 0; c < n_classes; ++c) scores[c] += bias[c];
        emit(first + i, labels.data(), scores, n_classes);
      }
    }
    ws.work.predictor_evaluations += (end - begin) * n_classes;
  }
};

}  // namespace recalltree
