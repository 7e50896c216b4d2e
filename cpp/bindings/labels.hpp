#pragma once

#include <nanobind/nanobind.h>

namespace recalltree::bindings {

void bind_labels(nanobind::module_& m);

}  // namespace recalltree::bindings
