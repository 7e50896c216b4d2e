// A learner's state as a dict of arrays. Neither direction copies: arrays keep alive what they
// view.
#pragma once

#include "arrays.hpp"
#include "recalltree/base/state.hpp"

namespace recalltree::bindings {

nb::dict to_dict(const State& state);
State to_state(const nb::dict& dict);

}  // namespace recalltree::bindings
