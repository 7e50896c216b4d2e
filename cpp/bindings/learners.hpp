// One function per learner, which adds it to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace recalltree::bindings {

void bind_recall_tree(nanobind::module_& m);
void bind_one_against_all(nanobind::module_& m);
void bind_one_against_some(nanobind::module_& m);
void bind_lom_tree(nanobind::module_& m);

}  // namespace recalltree::bindings
