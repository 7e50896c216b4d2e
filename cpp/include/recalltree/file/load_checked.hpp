// Loading a state that nobody vouches for: a view of it checks everything, before the learner,
// which trusts what it loads, takes anything from it.
#pragma once

#include <stdexcept>

#include "recalltree/base/state.hpp"

namespace recalltree {

template <class Mapped, class Learner>
void load_checked(Learner& learner, const State& state) {
  const Mapped view(learner.config(), state);
  view.check();
  if (!view.is_complete())
    throw std::invalid_argument("state: arrays for learning are missing; it can only predict");
  learner.load(state);
}

}  // namespace recalltree
