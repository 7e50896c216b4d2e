// Cells: dense rows with many classes. Whitened rows, a mean and weights for each class, and a tree
// of cells that finds the few classes worth comparing.
//
// To answer:  whiten, find, score.
// To learn:   whiten, find, score, then learn with the gradients of a softmax over the candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/cells/cell_tree.hpp"
#include "recalltree/cells/class_vectors.hpp"
#include "recalltree/cells/first_rows.hpp"
#include "recalltree/cells/whitening.hpp"

namespace recalltree {

struct CellsConfig {
  std::size_t n_features = 0;
  std::size_t cells_read = 64;
};

class Cells {
 public:
  explicit Cells(const CellsConfig& config);

  // What a thread needs.
  struct Scratch {
    AlignedFloats rows;
    CellTree::Search search;
    ClassVectors::Scratch vectors;
    Sketch sketch, row_sketch;
    std::vector<ClassId> labels;
  };

  // Floats of a row, which is padded with zeros, and of a whitened row.
  std::size_t width() const { return whitening_.width(); }
  std::size_t n_classes() const { return vectors_.size(); }

  // Rows are whitened alike as long as this many of them at most are learned meanwhile.
  std::size_t rows_until_renewal() const;
  void whiten(const float* rows, std::size_t n, float* out, Scratch& scratch) const {
    whitening_.apply(rows, n, out, scratch.rows);
  }
  // The n classes that look best. Valid until the scratch is used again.
  std::span<const ClassId> find(const float* x, std::size_t n, Scratch& scratch) const;
  void score(const float* x, std::span<const ClassId> labels, ClassVectors::Own own, float* out,
             Scratch& scratch) const {
    vectors_.score(x, labels, own, out, scratch.vectors);
  }

  // One row of class y, as it came and whitened. Classes with small gradients do not learn. Before
  // it, every label must have been grown to. `counted` is added to the mean of y: 0 in passes after
  // the first.
  struct Lesson {
    ClassId y;
    double weight = 1.0, rate = 1.0, counted = 1.0;
    bool forgets = false;  // whether classes that are wrong forget, as counts do
  };
  void grow_to(std::size_t n_classes) { vectors_.grow_to(n_classes); }
  void learn(const float* row, const float* x, std::span<const ClassId> labels,
             std::span<const double> gradients, const Lesson& lesson, Scratch& scratch);

  // When units of counts change.
  void rescale(float factor) { vectors_.rescale(factor); }

  const Whitening& whitening() const { return whitening_; }
  const ClassVectors& vectors() const { return vectors_; }
  const CellTree& tree() const { return tree_; }
  std::size_t bytes() const {
    return whitening_.bytes() + vectors_.bytes() + tree_.bytes() + first_.bytes();
  }

 private:
  void draw(ClassId y, Sketch& sketch) const;
  void place(ClassId y, Scratch& scratch);
  void renew(Scratch& scratch);

  std::size_t sketch_width_;
  Whitening whitening_;
  ClassVectors vectors_;
  CellTree tree_;
  FirstRows first_;
};

}  // namespace recalltree
