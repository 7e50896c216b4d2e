// Contributions of features, as a dict of arrays.
#pragma once

#include "arrays.hpp"
#include "reading.hpp"
#include "recalltree/model/explanation.hpp"
#include "recalltree/model/predictor.hpp"
#include "rows.hpp"

namespace recalltree::bindings {

nb::dict to_dict(Contributions found);
// The one row that is to be explained, of the right width.
const Rows& the_row(const Predictor& model, const HeldRows& x, std::size_t n_features);

template <class Model>
void bind_explain_classes(nb::class_<Model>& c) {
  c.def("explain_classes",
        reading(+[](const Model& m, const HeldRows& x, Vector<std::uint32_t> ids) {
          const Rows& rows = the_row(m, x, m.config().learner.n_features);
          const std::vector<ClassId> classes(ids.data(), ids.data() + ids.shape(0));
          for (const ClassId y : classes)
            if (y >= m.n_classes()) throw nb::index_error("no such class");
          return to_dict(explain_classes(m, rows, 0, classes));
        }),
        "rows"_a, "class_ids"_a);
}

template <class Model>
void bind_explain_routers(nb::class_<Model>& c) {
  c.def("explain_routers",
        reading(+[](const Model& m, const HeldRows& x, Vector<std::uint32_t> ids) {
          const Rows& rows = the_row(m, x, m.config().learner.n_features);
          const std::vector<NodeId> nodes(ids.data(), ids.data() + ids.shape(0));
          for (const NodeId n : nodes)
            if (n >= m.n_nodes()) throw nb::index_error("no such node");
          return to_dict(explain_routers(m, rows, 0, nodes));
        }),
        "rows"_a, "nodes"_a);
}

}  // namespace recalltree::bindings
