#include "recalltree/file/drawn_cells.hpp"

#include "recalltree/cells/cell_tree.hpp"
#include "recalltree/file/mapped_cells.hpp"
#include "recalltree/file/state_checks.hpp"

namespace recalltree {

State draw_cells(const State& class_vectors, const CellsConfig& config, std::size_t n_classes) {
  const MappedClassVectors vectors(class_vectors, padded(config.n_features), n_classes);
  require(vectors.is_complete(), "class vectors lack what learning needs");
  const std::size_t width = sketch_width(config.n_features);
  CellTree tree(width, config.to_read);
  CellsScratch scratch;
  alignas(64) float leading[kSketchWidth];
  for (ClassId y = 0; y < n_classes; ++y) {
    if (vectors.rows(y) == 0) continue;
    vectors.combined(y, width, leading, scratch.vectors);
    scratch.sketch.draw_vector(leading, width);
    scratch.row_sketch.draw_row(leading, width);
    tree.place(y, scratch.sketch, scratch.row_sketch, vectors.bias(y), scratch.search);
  }
  State drawn;
  tree.save(drawn);
  return drawn;
}

}  // namespace recalltree
