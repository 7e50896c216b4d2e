// Rows over arrays of Python.
#pragma once

#include <vector>

#include "arrays.hpp"
#include "recalltree/base/rows.hpp"

namespace recalltree::bindings {

// Rows and the arrays they look at.
struct HeldRows {
  Rows rows;
  std::vector<AnyArray> held;
};

void bind_rows(nb::module_& m);

}  // namespace recalltree::bindings
