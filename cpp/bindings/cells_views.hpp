// Views of models that have cells.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "explanation.hpp"
#include "learner.hpp"
#include "reading.hpp"
#include "recalltree/cells/cells_explanation.hpp"
#include "rows.hpp"

namespace recalltree::bindings {

template <class Model>
const auto& cells_of(const Model& model) {
  if (!model.store().rules.has_cells) throw nb::value_error("there are no cells");
  return model.store().cells();
}

template <class Model>
nb::dict cells_for(const Model& model, const HeldRows& x, Vector<std::uint32_t> ids) {
  const Rows& rows = the_row(model, x, model.config().learner.n_features);
  const auto& cells = cells_of(model);
  const std::vector<ClassId> classes(ids.data(), ids.data() + ids.shape(0));
  for (const ClassId y : classes) check_class(model, y);
  const auto row = model.read_row(rows, 0);
  CellsExplanation found = explain_cells(cells, row->dense.x, model.max_candidates(), classes);
  nb::dict out;
  out["cells"] = to_numpy(std::move(found.cells));
  out["found"] = to_numpy(std::move(found.found));
  out["n_compared"] = found.n_compared;
  out["mean"] = to_numpy(std::move(found.mean));
  out["weights"] = to_numpy(std::move(found.weights));
  out["bias"] = to_numpy(std::move(found.bias));
  out["cell_of"] = to_numpy(std::move(found.cell_of));
  return out;
}

template <class Model>
nb::object class_vectors(const Model& model, Vector<std::uint32_t> ids) {
  const auto& cells = cells_of(model);
  const std::size_t width = cells.whitening().n_features();
  std::vector<float> out(ids.shape(0) * width);
  ClassScoresScratch scratch;
  for (std::size_t i = 0; i < ids.shape(0); ++i) {
    check_class(model, ids.data()[i]);
    cells.vectors().combined(ids.data()[i], width, out.data() + i * width, scratch);
  }
  return to_numpy(std::move(out), {ids.shape(0), width});
}

template <class Model>
void bind_cells(nb::class_<Model>& c) {
  c.def_prop_ro(
       "has_cells", +[](const Model& m) { return m.store().rules.has_cells; })
      .def("cells_for", reading(&cells_for<Model>), "rows"_a, "class_ids"_a)
      .def("class_cells", reading(+[](const Model& m) {
             return to_numpy(cells_of(m).tree().cells_of_classes(m.n_classes()));
           }))
      .def_prop_ro("n_cell_levels",
                   reading(+[](const Model& m) { return cells_of(m).tree().root_level() + 1; }))
      .def_prop_ro("n_cells", reading(+[](const Model& m) {
                     const auto& tree = cells_of(m).tree();
                     std::size_t n = 0;
                     for (NodeId id = 0; id < tree.n_nodes(); ++id) n += tree.level(id) == 0;
                     return n;
                   }))
      // True if the mean of a class has a part of its own in a score.
      .def_prop_ro("has_class_means",
                   reading(+[](const Model& m) { return cells_of(m).vectors().n_parts() == 2; }))
      .def("class_vectors", reading(&class_vectors<Model>), "class_ids"_a);
}

}  // namespace recalltree::bindings
