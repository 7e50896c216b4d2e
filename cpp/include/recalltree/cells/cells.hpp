// Cells: dense rows with many classes. Whitened rows, a mean and weights for each class, and a tree
// of cells that finds the few classes worth comparing.
//
// To answer:  whiten, find, score.
// To learn:   whiten, find, score, then learn with the gradients of a softmax over the candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recalltree/base/state.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/cells/cell_tree.hpp"
#include "recalltree/cells/cells_prediction.hpp"
#include "recalltree/cells/class_vectors.hpp"
#include "recalltree/cells/first_rows.hpp"
#include "recalltree/cells/whitening.hpp"

namespace recalltree {

struct CellsConfig {
  std::size_t n_features = 0;
  CellsToRead to_read;
};

class Cells : public CellsPrediction<Cells> {
 public:
  explicit Cells(const CellsConfig& config);

  // Rows are whitened alike as long as this many of them at most are learned meanwhile.
  std::size_t rows_until_renewal() const;

  // One row, as it came and whitened. Classes with small gradients do not learn. Before it, every
  // label must have been grown to. `counted` is added to the means of the row's own labels: 0 in
  // passes after the first.
  struct Lesson {
    Labels own;
    double weight = 1.0, rate = 1.0, counted = 1.0;
    bool forgets = false;  // whether classes that are wrong forget, as counts do
    double l2 = 0.0;
  };
  void grow_to(std::size_t n_classes) { vectors_.grow_to(n_classes); }
  void learn(const float* row, const float* x, std::span<const ClassId> labels,
             std::span<const double> gradients, const Lesson& lesson, Scratch& scratch);

  // The same in parts. Of a class, whose owner calls these: a candidate learns and a label is
  // counted, then the class is shown as it is now.
  struct Change {
    bool is_there = false;
    ClassVectors::Step step = {};  // of a candidate
  };
  Change teach(const float* x, ClassId y, double gradient, const Lesson& lesson);
  // The change is there if the class may have moved to another cell.
  Change count(const float* x, ClassId y, double counted);
  void show(ClassId y, Scratch& scratch) {
    if (tree_.holds(y)) redraw(y, scratch);
  }
  // Of the rows that were learned, one after the other, while one thread works alone: by candidate
  // and by label of `lesson.own` what has changed. Then the whitening is renewed if it is due.
  void end_row(const float* row, std::span<const ClassId> labels, std::span<const Change> changes,
               const Lesson& lesson, Scratch& scratch);
  void end_rows(Scratch& scratch) {
    if (first_.is_open() && first_.is_renewal_due()) renew(scratch);
  }
  bool keeps_rows() const { return first_.is_open(); }

  // Called when the unit of counts changes.
  void rescale(float factor) {
    vectors_.rescale(factor);
    first_.rescale_counts(factor);
  }

  void save(State& state) const;
  // The state has been checked.
  void load(const State& state);

  WhiteningView whitening() const { return whitening_.view(); }
  const ClassVectors& vectors() const { return vectors_; }
  const CellTree& tree() const { return tree_; }
  std::size_t bytes() const {
    return whitening_.bytes() + vectors_.bytes() + tree_.bytes() + first_.bytes();
  }
  // Bytes for this many classes.
  std::size_t bytes(std::size_t n_classes) const {
    return bytes() - vectors_.bytes() + vectors_.bytes(n_classes);
  }

 private:
  void redraw(ClassId y, Scratch& scratch);
  void place(ClassId y, Scratch& scratch);
  void renew(Scratch& scratch);
  // Steps are kept as long as the first rows are, to be made again in `renew`.
  void keep_step(ClassId y, const ClassVectors::Step& step);
  void keep_count(ClassId y, double counted);

  std::size_t sketch_width_;
  Whitening whitening_;
  ClassVectors vectors_;
  CellTree tree_;
  FirstRows first_;
};

}  // namespace recalltree
