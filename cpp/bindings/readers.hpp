// Text -> arrays.
#pragma once

#include <nanobind/nanobind.h>

namespace recalltree::bindings {

void bind_readers(nanobind::module_& m);

}  // namespace recalltree::bindings
