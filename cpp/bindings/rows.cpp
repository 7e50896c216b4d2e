#include "rows.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <string>

namespace recalltree::bindings {
namespace {

bool is_float64(const AnyArray& a, const char* name) {
  if (a.dtype() == nb::dtype<double>()) return true;
  if (a.dtype() == nb::dtype<float>()) return false;
  throw nb::type_error((std::string(name) + " must be float32 or float64").c_str());
}
bool is_int64(const AnyArray& a, const char* name) {
  if (a.dtype() == nb::dtype<std::int64_t>()) return true;
  if (a.dtype() == nb::dtype<std::int32_t>()) return false;
  throw nb::type_error((std::string(name) + " must be int32 or int64").c_str());
}

HeldRows dense_rows(AnyArray X) {
  if (X.ndim() != 2) throw nb::value_error("X must have two dimensions");
  HeldRows out;
  out.rows.float64 = is_float64(X, "X");
  out.rows.n_rows = X.shape(0);
  out.rows.n_features = X.shape(1);
  out.rows.data = X.data();
  out.rows.row_stride = X.stride(0);
  out.rows.column_stride = X.stride(1);
  out.held = {X};
  return out;
}

HeldRows csr_rows(AnyArray indptr, AnyArray indices, AnyArray data, std::size_t n_features) {
  HeldRows out;
  Rows& rows = out.rows;
  for (const AnyArray& a : {indptr, indices, data})
    if (a.ndim() != 1 || (a.shape(0) > 1 && a.stride(0) != 1))
      throw nb::value_error("indptr, indices and data must be contiguous vectors");
  if (indptr.shape(0) == 0) throw nb::value_error("indptr must not be empty");
  rows.sparse = true;
  rows.float64 = is_float64(data, "data");
  rows.long_indptr = is_int64(indptr, "indptr");
  rows.long_indices = is_int64(indices, "indices");
  rows.n_rows = indptr.shape(0) - 1;
  rows.n_features = n_features;
  rows.data = data.data();
  rows.indptr = indptr.data();
  rows.indices = indices.data();
  // Memory safety is checked here, once, so that the learners need not.
  const std::size_t stored = std::min(indices.shape(0), data.shape(0));
  for (std::size_t i = 0; i < rows.n_rows; ++i)
    if (rows.begin(i) > rows.begin(i + 1) || rows.begin(i + 1) > stored)
      throw nb::value_error("indptr does not describe indices and data");
  for (std::size_t k = rows.begin(0); k < rows.begin(rows.n_rows); ++k) {
    const std::int64_t j = rows.long_indices ? static_cast<const std::int64_t*>(rows.indices)[k]
                                             : static_cast<const std::int32_t*>(rows.indices)[k];
    if (j < 0 || static_cast<std::size_t>(j) >= n_features)
      throw nb::value_error("indices must be in [0, n_features)");
  }
  out.held = {indptr, indices, data};
  return out;
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<HeldRows>(m, "Rows")
      .def_static("dense", &dense_rows, "X"_a)
      .def_static("csr", &csr_rows, "indptr"_a, "indices"_a, "data"_a, "n_features"_a)
      .def("find_invalid", [](const HeldRows& x) { return x.rows.find_invalid(); })
      .def("__len__", [](const HeldRows& x) { return x.rows.n_rows; })
      .def_prop_ro("n_features", [](const HeldRows& x) { return x.rows.n_features; });
}

}  // namespace recalltree::bindings
