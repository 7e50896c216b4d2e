// Answers of cells, wherever they are stored: whiten, find, score. Model is Cells or those of a
// mapped file. It has
//   whitening()    a WhiteningView
//   tree()         see cell_search.hpp
//   vectors()      see class_scores.hpp
#pragma once

#include <algorithm>
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
  RowsSearch rows_search;
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
  // The same for n_rows rows, one after the other; what is found for each comes to `found`.
  void find_rows(const float* x, std::size_t n_rows, std::size_t n, ClassesOfRows& found,
                 Scratch& scratch) const {
    const std::size_t together = rows_together();
    RowsSearch& search = scratch.rows_search;
    if (search.rows.size() < std::min(n_rows, together))
      search.rows.resize(std::min(n_rows, together));
    for (std::size_t begin = 0; begin < n_rows; begin += together) {
      const std::size_t n_now = std::min(together, n_rows - begin);
      for (std::size_t i = 0; i < n_now; ++i)
        search.rows[i].sketch.draw_row(x + (begin + i) * width(), self().tree().sketch_width());
      scratch.search.vectors += self().tree().find_rows(n_now, n, search);
      for (std::size_t i = 0; i < n_now; ++i) {
        for (const BestOf::Found& one : search.rows[i].best.finish())
          if (one.id < n_classes()) found.labels.push_back(one.id);
        found.ends.push_back(found.labels.size());
      }
    }
  }
  void score(const float* x, std::span<const ClassId> labels, OwnRow own, float* out,
             Scratch& scratch) const {
    self().vectors().score(x, labels, own, out, scratch.vectors);
  }
  void score_rows(const float* x, const ClassesOfRows& classes, float* out,
                  Scratch& scratch) const {
    self().vectors().score_rows(x, classes, out, scratch.vectors);
  }

 private:
  // Rows that are searched for together: so many that a cell is read by several of them.
  std::size_t rows_together() const {
    constexpr std::size_t kFewest = 512, kMost = 1024;
    return std::clamp(self().tree().n_nodes() / 8, kFewest, kMost);
  }

  const Model& self() const { return static_cast<const Model&>(*this); }
};

}  // namespace recalltree
