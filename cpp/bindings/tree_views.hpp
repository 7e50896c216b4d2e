// Views of the nodes of a model, for inspection.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "reading.hpp"
#include "recalltree/base/types.hpp"
#include "rows.hpp"
#include "weights.hpp"

namespace recalltree::bindings {

inline void check_node(std::size_t n, std::size_t size) {
  if (n >= size) throw nb::index_error("no such node");
}

// Two arrays of pairs, or of things with a label and a count.
template <class Items>
nb::tuple labels_and_counts(const Items& items) {
  std::vector<std::uint32_t> labels;
  std::vector<double> counts;
  for (const auto& item : items) {
    if constexpr (requires { item.label; }) {
      labels.push_back(item.label);
      counts.push_back(item.count);
    } else {
      labels.push_back(item.first);
      counts.push_back(item.second);
    }
  }
  return nb::make_tuple(to_numpy(std::move(labels)), to_numpy(std::move(counts)));
}

template <class Model>
nb::tuple routes(const Model& m, const HeldRows& x) {
  if (x.rows.n_features != m.config().learner.n_features)
    throw nb::value_error("wrong number of features");
  if (m.n_classes_seen() == 0) throw nb::value_error("nothing has been learned yet");
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> nodes;
  std::vector<NodeId> route;
  for (std::size_t i = 0; i < x.rows.n_rows; ++i) {
    m.route(x.rows, i, route);
    nodes.insert(nodes.end(), route.begin(), route.end());
    offsets.push_back(static_cast<std::int64_t>(nodes.size()));
  }
  return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(nodes)));
}

// The route of a row through one tree, and the routers on it.
template <class Model>
void bind_routers(nb::class_<Model>& c) {
  c.def("route", reading(&routes<Model>), "rows"_a);
  c.def("router", reading(+[](const Model& m, std::size_t n) {
          check_node(n, m.n_nodes());
          return row_dict(m.routers(), m.router(static_cast<NodeId>(n)),
                          m.config().learner.n_features);
        }),
        "node"_a);
}

}  // namespace recalltree::bindings
