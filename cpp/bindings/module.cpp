// Arrays in, arrays out. No logic: what the learners do is in cpp/src, what users may do is in the
// Python package. One file per noun; each adds what it binds to the module.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "labels.hpp"
#include "learners.hpp"
#include "merging.hpp"
#include "readers.hpp"
#include "reading.hpp"
#include "recalltree/kernels/kernels.hpp"
#include "rows.hpp"

NB_MODULE(_core, m) {
  namespace bindings = recalltree::bindings;
  m.doc() = "The compiled core: learners over plain arrays.";
  // A process may leave while a thread still reads rows: what that thread holds is no leak, and
  // nothing to tell users about.
  nanobind::set_leak_warnings(false);
  m.def(
      "simd", [] { return std::string(recalltree::kernels().name); },
      "The instruction set in use.");
  m.def("simd_levels", &recalltree::simd_levels, "The instruction sets this machine can use.");
  // A wrong RECALLTREE_SIMD is an error at import, not in the middle of training.
  recalltree::kernels();

  bindings::bind_labels(m);
  bindings::bind_rows(m);
  bindings::bind_moment(m);
  bindings::BoundLearner::bind_all(m);
  bindings::bind_readers(m);
  bindings::bind_merging(m);
}
