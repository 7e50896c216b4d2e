// Answers of cells, wherever they are stored: whiten, find, score. Model is Cells or those of a
// mapped file. It has
//   whitening()    a WhiteningView
//   tree()         see cell_search.hpp
//   vectors()      see class_scores.hpp
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/cells/cell_search.hpp"
#include "recalltree/cells/class_scores.hpp"
#include "recalltree/cells/sketch.hpp"
#include "recalltree/cells/whitening.hpp"

namespace recalltree {

// Work space of a thread.
struct CellsScratch {
  AlignedFloats rows;
  CellSearch search;
  ClassScoresScratch vectors;
  Sketch sketch, row_sketch;
  std::vector<ClassId> labels;
};

template <class Model>
class CellsPrediction {
 public:
  using Scratch = CellsScratch;

  // Floats of a row, which is padded with zeros, and of a whitened row.
  std::size_t width() const { return self().whitening().width(); }
  std::size_t n_classes() const { return self().vectors().size(); }

  void whiten(const float* rows, std::size_t n, float* out, Scratch& scratch) const {
    self().whitening().apply(rows, n, out, scratch.rows);
  }
  // The n classes that look best. Valid until the scratch is used again.
  std::span<const ClassId> find(const float* x, std::size_t n, Scratch& scratch) const {
    scratch.row_sketch.draw_row(x, self().tree().sketch_width());
    scratch.labels.clear();
    // A damaged file may name classes that do not exist.
    for (const BestOf::Found& found : self().tree().find(scratch.row_sketch, n, scratch.search))
      if (found.id < n_classes()) scratch.labels.push_back(found.id);
    return scratch.labels;
  }
  void score(const float* x, std::span<const ClassId> labels, OwnRow own, float* out,
             Scratch& scratch) const {
    self().vectors().score(x, labels, own, out, scratch.vectors);
  }

 private:
  const Model& self() const { return static_cast<const Model&>(*this); }
};

}  // namespace recalltree
