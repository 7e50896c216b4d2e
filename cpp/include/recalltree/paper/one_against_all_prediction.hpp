// Prediction with one-against-all, whatever the predictors are stored in. Model is the learner or
// the mapped file, Base what it is beside that. A model has predictors() and order(): the classes
// in the order in which they were first seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "recalltree/base/types.hpp"
#include "recalltree/kernels/kernels.hpp"
#include "recalltree/model/predictor.hpp"

namespace recalltree {

// Dense predictors of all classes as one matrix: scores are a matrix product.
struct ClassMatrix {
  std::vector<ClassId> labels;
  std::vector<const float*> weights;
  std::vector<float> bias;
};

struct OneAgainstAllWorkspace : Workspace {
  std::shared_ptr<const ClassMatrix> matrix;  // of a prediction by dense predictors
  AlignedFloats block;                        // several rows, side by side
  std::vector<ClassId> stand_ins;             // by label: the class that is drawn in its place
  LookupCache found;                          // of learning
  std::vector<ClassId> seen_labels;           // of an example: classes that were seen before
  std::vector<std::uint64_t> stamps;          // by class: when it was last drawn as a negative
  std::uint64_t stamp = 0;
};

template <class Model, class Base>
class OneAgainstAllPrediction : public Base {
 public:
  using Base::Base;

 protected:
  std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<OneAgainstAllWorkspace>();
  }
  void score(const Rows& rows, std::size_t i, Workspace& ws) const override {
    this->read(rows, i, ws.x);
    copy_order(ws.labels);
    ws.scores.resize(ws.labels.size());
    self().predictors().scores(ws.labels.data(), ws.labels.size(), ws.x, ws.scores.data());
    ws.work.predictor_evaluations += ws.labels.size();
  }

  void prepare_prediction(std::size_t, std::size_t n_in_all, Team team) const override {
    const auto& predictors = self().predictors();
    predictors.prepare_for(n_in_all, ReadWeights::Asked::together);
    auto matrix = std::make_shared<ClassMatrix>();
    copy_order(matrix->labels);
    if (matrix->labels.empty() || predictors.values(matrix->labels[0]) == nullptr) return;
    for (const ClassId c : matrix->labels) {
      matrix->weights.push_back(predictors.values(c));
      matrix->bias.push_back(predictors.bias(c));
    }
    for (const auto& each : team) static_cast<OneAgainstAllWorkspace&>(*each).matrix = matrix;
  }

  void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& base,
                  const typename Base::Emit& emit) const override {
    auto& ws = static_cast<OneAgainstAllWorkspace&>(base);
    if (ws.matrix != nullptr)
      score_by_product(*ws.matrix, rows, begin, end, ws, emit);
    else
      score_by_feature(rows, begin, end, ws, emit);
  }

 private:
  const Model& self() const { return static_cast<const Model&>(*this); }
  void copy_order(std::vector<ClassId>& classes) const {
    const auto& order = self().order();
    classes.resize(order.size());
    for (std::size_t c = 0; c < classes.size(); ++c) classes[c] = order[c];
  }

  // Blocked so that a block of classes meets all rows while it is in cache.
  void score_by_product(const ClassMatrix& matrix, const Rows& rows, std::size_t begin,
                        std::size_t end, OneAgainstAllWorkspace& ws,
                        const typename Base::Emit& emit) const {
    const std::size_t n_classes = matrix.labels.size(), stride = padded(rows.n_features);
    constexpr std::size_t kScoresInCache = std::size_t{1} << 18, kClassBlock = 64;
    const std::size_t block =
        std::clamp<std::size_t>(kScoresInCache / std::max<std::size_t>(n_classes, 1), 4, 64);
    ws.block.reserve(block * stride);
    ws.scores.resize(block * n_classes);
    for (std::size_t first = begin; first < end; first += block) {
      const std::size_t n = std::min(block, end - first);
      for (std::size_t i = 0; i < n; ++i) {
        this->read(rows, first + i, ws.x);
        std::copy_n(ws.x.dense.data(), stride, ws.block.data() + i * stride);
      }
      for (std::size_t c = 0; c < n_classes; c += kClassBlock) {
        const std::size_t columns = std::min(kClassBlock, n_classes - c);
        kernels().dot_block(ws.block.data(), stride, n, matrix.weights.data() + c, columns, stride,
                            ws.scores.data() + c, n_classes);
      }
      for (std::size_t i = 0; i < n; ++i) {
        float* scores = ws.scores.data() + i * n_classes;
        for (std::size_t c = 0; c < n_classes; ++c) scores[c] += matrix.bias[c];
        emit(first + i, matrix.labels.data(), scores, n_classes);
      }
    }
    ws.work.predictor_evaluations += (end - begin) * n_classes;
  }

  void score_by_feature(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                        const typename Base::Emit& emit) const {
    constexpr std::size_t kScoresAtOnce = std::size_t{1} << 20;  // of one row at least
    copy_order(ws.labels);
    const std::size_t n = ws.labels.size();
    const std::size_t at_once =
        std::max<std::size_t>(1, kScoresAtOnce / std::max<std::size_t>(n, 1));
    const auto read = [&](std::size_t row, Example& x) { this->read(rows, row, x); };
    for (std::size_t next; begin < end; begin = next) {
      next = std::min(end, begin + at_once);
      ws.scores.resize((next - begin) * n);
      self().predictors().score_groups({{ws.labels.data(), n, begin, next}}, read,
                                       ws.scores.data());
      ws.work.predictor_evaluations += ws.scores.size();
      for (std::size_t row = begin; row < next; ++row)
        emit(row, ws.labels.data(), ws.scores.data() + (row - begin) * n, n);
    }
  }
};

}  // namespace recalltree
