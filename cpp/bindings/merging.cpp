#include "merging.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "recalltree/file/drawn_cells.hpp"
#include "recalltree/file/joined_lists.hpp"
#include "recalltree/file/ranked_lists.hpp"
#include "state.hpp"

namespace recalltree::bindings {
namespace {

using Offsets = Vector<std::uint64_t>;
using Ids = Vector<std::uint32_t>;
using Lists = std::tuple<Offsets, Offsets, Ids, std::optional<Ids>>;

template <class T>
std::span<const T> view(const Vector<T>& values) {
  return {values.data(), values.shape(0)};
}

nb::tuple join(const std::vector<Lists>& models, bool only_sizes) {
  std::vector<ListsOfModel> lists;
  for (const auto& [begins, ends, ids, names] : models)
    lists.push_back({view(begins), view(ends), view(ids),
                     names ? view(*names) : std::span<const std::uint32_t>()});
  JoinedLists joined;
  {
    nb::gil_scoped_release release;
    joined = join_lists(lists, only_sizes);
  }
  nb::list places;
  for (auto& found : joined.places) places.append(to_numpy(std::move(found)));
  return nb::make_tuple(to_numpy(std::move(joined.sizes)), to_numpy(std::move(joined.ids)), places);
}

nb::tuple rank(const Offsets& offsets, const Ids& keys, const Vector<float>& counts,
               const std::optional<Vector<float>>& weights, const Ids& of_keys, std::size_t limit) {
  const CountedLists lists{view(offsets), view(keys), view(counts),
                           weights ? view(*weights) : std::span<const float>()};
  RankedLists ranked;
  {
    nb::gil_scoped_release release;
    ranked = rank_lists(lists, view(of_keys), limit);
  }
  return nb::make_tuple(to_numpy(std::move(ranked.offsets)), to_numpy(std::move(ranked.rows)),
                        to_numpy(std::move(ranked.roots)), to_numpy(std::move(ranked.weights)));
}

nb::dict draw(const nb::dict& class_vectors, std::size_t n_features, std::size_t cells_read,
              std::size_t n_classes) {
  const State state = to_state(class_vectors);
  State drawn;
  {
    nb::gil_scoped_release release;
    drawn = draw_cells(state, {n_features, cells_read}, n_classes);
  }
  return to_dict(drawn);
}

}  // namespace

void bind_merging(nb::module_& m) {
  m.def("join_lists", &join, "models"_a, "only_sizes"_a);
  m.def("rank_lists", &rank, "offsets"_a, "keys"_a, "counts"_a, "weights"_a.none(), "of_keys"_a,
        "limit"_a);
  m.def("draw_cells", &draw, "class_vectors"_a, "n_features"_a, "cells_read"_a, "n_classes"_a);
}

}  // namespace recalltree::bindings
