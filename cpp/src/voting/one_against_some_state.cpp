// One-against-some: what is saved of it.
#include "recalltree/voting/one_against_some.hpp"

namespace recalltree {

State OneAgainstSome::save() const {
  State state;
  save_common(state);
  store_.save(state);
  marginals_.save(state);
  return state;
}

void OneAgainstSome::load(const State& state) {
  load_common(state);
  store_.load(state, n_classes());
  marginals_.load(state);
  budget_.reach(n_classes());
}

std::vector<std::pair<std::string, std::size_t>> OneAgainstSome::memory() const {
  auto parts = store_.memory();
  parts.back().second += learner_.scale.bytes();  // of the feature scale
  return parts;
}

}  // namespace recalltree
