// One-against-some in a mapped file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recalltree/file/mapped_model.hpp"
#include "recalltree/file/mapped_vote_store.hpp"
#include "recalltree/voting/one_against_some_prediction.hpp"

namespace recalltree {

class MappedOneAgainstSome final
    : public OneAgainstSomePrediction<MappedOneAgainstSome, MappedModel> {
 public:
  MappedOneAgainstSome(const OneAgainstSomeConfig& config, State state)
      : OneAgainstSomePrediction(config.learner, std::move(state)),
        given_(config),
        store_(config, state_, n_classes(), n_examples_) {
    state_.check_all_read();
  }

  const OneAgainstSomeConfig& config() const { return given_; }
  const MappedVoteStore& store() const { return store_; }

  bool is_complete() const override { return store_.is_complete(); }
  void check() const override {
    MappedModel::check();
    store_.check();
  }
  std::vector<std::pair<std::string, std::size_t>> memory() const override {
    auto parts = store_.memory();
    parts.back().second += scale_.size_bytes();  // of the feature scale
    return parts;
  }

 private:
  OneAgainstSomeConfig given_;
  MappedVoteStore store_;
};

}  // namespace recalltree
