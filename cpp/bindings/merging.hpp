// The part of merging that the core does: joining lists, ranking them, placing classes in cells.
#pragma once

#include <nanobind/nanobind.h>

namespace recalltree::bindings {

void bind_merging(nanobind::module_& m);

}  // namespace recalltree::bindings
