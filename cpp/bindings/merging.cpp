#include "merging.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "recalltree/file/drawn_cells.hpp"
#include "recalltree/file/merged_lists.hpp"
#include "recalltree/file/ranked_lists.hpp"
#include "state.hpp"

namespace recalltree::bindings {
namespace {

using Offsets = Vector<std::uint64_t>;
using Ids = Vector<std::uint32_t>;
using Floats = std::optional<Vector<float>>;
using Lists = std::tuple<Offsets, Offsets, Ids, std::optional<Ids>, Floats, Floats, Floats>;
using Factors = std::tuple<double, double, double>;  // now, then, share

template <class T>
std::span<const T> view(const Vector<T>& values) {
  return {values.data(), values.shape(0)};
}

template <class T>
std::span<const T> view(const std::optional<Vector<T>>& values) {
  return values ? view(*values) : std::span<const T>();
}

std::vector<ListsOfModel> view(const std::vector<Lists>& models) {
  std::vector<ListsOfModel> lists;
  for (const auto& [begins, ends, ids, names, counts, weights, accumulators] : models)
    lists.push_back({view(begins), view(ends), view(ids), view(names), view(counts), view(weights),
                     view(accumulators)});
  return lists;
}

nb::object sizes(const std::vector<Lists>& models) {
  const auto lists = view(models);
  std::vector<std::uint64_t> found;
  {
    nb::gil_scoped_release release;
    found = merged_sizes(lists);
  }
  return to_numpy(std::move(found));
}

nb::tuple merge(const std::vector<Lists>& models, const std::vector<Factors>& factors,
                const std::string& rule, double offset) {
  auto lists = view(models);
  for (std::size_t m = 0; m < lists.size(); ++m)
    std::tie(lists[m].now, lists[m].then, lists[m].share) = factors.at(m);
  MergedLists merged;
  {
    nb::gil_scoped_release release;
    merged = merge_lists(lists, merge_rule(rule), offset);
  }
  return nb::make_tuple(to_numpy(std::move(merged.ids)), to_numpy(std::move(merged.counts)),
                        to_numpy(std::move(merged.weights)),
                        to_numpy(std::move(merged.accumulators)));
}

nb::tuple rank(const Offsets& offsets, const Ids& keys, const Vector<float>& counts,
               const std::optional<Vector<float>>& weights, const Ids& of_keys, std::size_t limit,
               std::size_t n_threads) {
  const CountedLists lists{view(offsets), view(keys), view(counts), view(weights)};
  RankedLists ranked;
  {
    nb::gil_scoped_release release;
    ranked = rank_lists(lists, view(of_keys), limit, n_threads);
  }
  return nb::make_tuple(to_numpy(std::move(ranked.offsets)), to_numpy(std::move(ranked.rows)),
                        to_numpy(std::move(ranked.roots)), to_numpy(std::move(ranked.weights)));
}

nb::dict draw(const nb::dict& class_vectors, std::size_t n_features, std::size_t n_classes) {
  const State state = to_state(class_vectors);
  State drawn;
  {
    nb::gil_scoped_release release;
    drawn = draw_cells(state, {n_features, {}}, n_classes);
  }
  return to_dict(drawn);
}

}  // namespace

void bind_merging(nb::module_& m) {
  m.def("merged_sizes", &sizes, "models"_a);
  m.def("merge_lists", &merge, "models"_a, "factors"_a, "rule"_a, "offset"_a);
  m.def("rank_lists", &rank, "offsets"_a, "keys"_a, "counts"_a, "weights"_a.none(), "of_keys"_a,
        "limit"_a, "n_threads"_a = 1);
  m.def("draw_cells", &draw, "class_vectors"_a, "n_features"_a, "n_classes"_a);
}

}  // namespace recalltree::bindings
