// Learners add themselves to the module: the file that binds one says
//
//   const BoundLearner bound(&bind_lom_tree);
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

namespace recalltree::bindings {

class BoundLearner {
 public:
  using Bind = void (*)(nanobind::module_&);

  explicit BoundLearner(Bind bind) { all().push_back(bind); }

  static void bind_all(nanobind::module_& m) {
    for (const Bind bind : all()) bind(m);
  }

 private:
  static std::vector<Bind>& all() {
    static std::vector<Bind> learners;
    return learners;
  }
};

}  // namespace recalltree::bindings
