// Cells in a mapped file. Class vectors and cells are read where they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/state.hpp"
#include "recalltree/cells/cells.hpp"
#include "recalltree/file/aligned_array.hpp"

namespace recalltree {

class MappedClassVectors : public ClassScores<MappedClassVectors> {
 public:
  MappedClassVectors(const State& state, std::size_t width, std::size_t n_classes);

  std::size_t size() const { return arrays_.bias.size(); }
  std::size_t width() const { return arrays_.width; }
  float mean_scale() const { return arrays_.mean_scale[0]; }
  std::size_t n_parts() const { return n_parts_; }
  const float* parts(ClassId y, std::size_t place, Scratch& scratch) const;
  float inverse_norm(ClassId y) const { return arrays_.inverse_norms[y]; }
  float bias(ClassId y) const { return arrays_.bias[y]; }
  void prefetch(ClassId y) const;

  // Rows of a class that were counted. Not of a model that only predicts.
  std::uint32_t rows(ClassId y) const { return arrays_.n_rows[y]; }
  bool is_complete() const;
  void check(std::size_t n_features) const;
  std::size_t bytes() const { return bytes_of_fields(arrays_); }

 private:
  std::size_t n_parts_ = 2;
  ClassVectorArrays<Viewed> arrays_;
  AlignedArray<float> floats_;  // empty where numbers take half of that
};

class MappedCellTree : public CellTreePrediction<MappedCellTree> {
 public:
  MappedCellTree(const State& state, std::size_t sketch_width, CellsToRead to_read);

  std::size_t sketch_width() const { return arrays_.sketch_width; }
  CellsToRead to_read() const { return to_read_; }
  NodeId root() const { return root_; }
  std::uint32_t root_level() const { return root_level_; }
  std::uint32_t level(NodeId id) const { return arrays_.levels[id]; }
  std::size_t n_nodes() const { return nodes_.size(); }
  CellNode node(NodeId id) const {
    const auto [begin, size] = nodes_[id];
    return {size, sketches_.data() + begin * sketch_width(), scales_.data() + begin,
            biases_.data() + begin, arrays_.ids.data() + begin};
  }

  bool is_complete() const { return has_learning_; }
  // Calls visit(y) for the classes of all cells.
  template <class Visit>
  void visit_classes(Visit visit) const {
    for (NodeId id = 0; id < n_nodes(); ++id)
      if (arrays_.levels[id] == 0)
        for (std::size_t slot = 0; slot < nodes_[id].size; ++slot) visit(node(id).ids[slot]);
  }
  void check() const;
  std::size_t bytes() const { return bytes_of_fields(arrays_) + nodes_.size() * sizeof(Place); }

 private:
  // Place of a node among the entries: a copy, because the file may change.
  struct Place {
    std::size_t begin, size;
  };
  void check_links() const;

  CellsToRead to_read_;
  CellTreeArrays<Viewed> arrays_;
  AlignedArray<std::uint8_t> sketches_;
  AlignedArray<float> scales_, biases_;
  std::vector<Place> nodes_;
  NodeId root_ = 0;
  std::uint32_t root_level_ = 0;
  bool has_learning_ = false;
};

class MappedCells : public CellsPrediction<MappedCells> {
 public:
  // Checks lengths, links and ids of nodes. Throws std::invalid_argument where they do not fit.
  MappedCells(const CellsConfig& config, const State& state, std::size_t n_classes);

  // For prediction.
  WhiteningView whitening() const {
    return {whitening_.n_features, mean_.data(), rate_.data(),
            position_.empty() ? nullptr : matrix_.data(), position_.data()};
  }
  const MappedClassVectors& vectors() const { return vectors_; }
  const MappedCellTree& tree() const { return tree_; }

  // True if learning can resume from here.
  bool is_complete() const {
    return vectors_.is_complete() && tree_.is_complete() && !first_.n.empty();
  }
  // Throws std::invalid_argument where a number is not finite, or out of order. Reads everything.
  void check() const;
  std::size_t bytes() const {
    return bytes_of_fields(whitening_) + vectors_.bytes() + tree_.bytes() + bytes_of_fields(first_);
  }

 private:
  void check_whitening() const;
  void check_first_rows() const;

  WhiteningArrays<Viewed> whitening_;
  AlignedArray<float> mean_, rate_, matrix_;
  std::vector<std::uint32_t> position_;  // checked, so that it is not read from the file again
  MappedClassVectors vectors_;
  MappedCellTree tree_;
  FirstRowArrays<Viewed> first_;
};

}  // namespace recalltree
