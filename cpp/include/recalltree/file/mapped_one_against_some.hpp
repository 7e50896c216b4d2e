// One-against-some in a mapped file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recalltree/file/mapped_model.hpp"
#include "recalltree/file/mapped_vote_store.hpp"
#include "recalltree/voting/marginals.hpp"
#include "recalltree/voting/one_against_some_prediction.hpp"

namespace recalltree {

class MappedOneAgainstSome final
    : public OneAgainstSomePrediction<MappedOneAgainstSome, MappedModel> {
 public:
  MappedOneAgainstSome(const OneAgainstSomeConfig& config, State state)
      : OneAgainstSomePrediction(config.learner, std::move(state)),
        given_(config),
        store_(config, state_, n_classes(), n_examples_) {
    marginals_.load(state_);
    state_.check_all_read();
  }

  const OneAgainstSomeConfig& config() const { return given_; }
  const MappedVoteStore& store() const { return store_; }
  const Marginals& marginals() const { return marginals_; }

  bool is_complete() const override { return store_.is_complete(); }
  void check() const override {
    MappedModel::check();
    store_.check();
    if (marginals_.are_known()) check_finite(state_.get<float>(Marginals::kName), Marginals::kName);
  }
  std::vector<std::pair<std::string, std::size_t>> memory() const override {
    auto parts = store_.memory();
    parts.back().second += scale_.size_bytes();  // of the feature scale
    return parts;
  }

 private:
  OneAgainstSomeConfig given_;
  MappedVoteStore store_;
  Marginals marginals_;
};

}  // namespace recalltree
