#include "recalltree/file/mapped_one_against_some.hpp"

namespace recalltree {

MappedOneAgainstSome::MappedOneAgainstSome(const OneAgainstSomeConfig& config, State state)
    : OneAgainstSomePrediction(config.learner, std::move(state)),
      given_(config),
      store_(config, state_, n_classes(), n_examples_) {
  state_.check_all_read();
}

void MappedOneAgainstSome::check() const {
  MappedModel::check();
  store_.check();
}

std::vector<std::pair<std::string, std::size_t>> MappedOneAgainstSome::memory() const {
  auto parts = store_.memory();
  parts.back().second += scale_.size_bytes();  // of the feature scale
  return parts;
}

}  // namespace recalltree
