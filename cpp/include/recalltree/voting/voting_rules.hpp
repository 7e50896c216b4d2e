// Rules of one-against-some that follow from its parameters, for the learner and the mapped model.
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "recalltree/base/config.hpp"
#include "recalltree/cells/cells.hpp"
#include "recalltree/voting/feature_weighting.hpp"

namespace recalltree {

struct VotingRules {
  explicit VotingRules(const OneAgainstSomeConfig& given)
      : config(resolved(given)),
        has_cells(config.keys == Keys::cells || config.keys == Keys::cells_and_trees),
        features_vote(config.keys == Keys::features || config.keys == Keys::both ||
                      (has_cells && given.learner.sparse)),
        weights_in_pairs(given.learner.sparse || config.keys == Keys::features),
        has_dense_predictors(!weights_in_pairs && !has_cells),
        n_key_features(given.learner.n_features - config.n_dense_features),
        weighting(given.weighting) {}

  CellsConfig cells() const {
    const LearnerConfig& learner = config.learner;
    return {learner.sparse ? config.n_dense_features : learner.n_features,
            {config.cells_read, config.idle_cells}};
  }
  // Leaves of shallow trees cannot tell so many classes from each other: beside cells they end.
  static constexpr std::size_t kMostClassesOfTrees = 4096;
  bool trees_end(std::size_t n_classes) const {
    return has_cells && n_classes > kMostClassesOfTrees;
  }

  // The unit of counts grows to 2 to this power.
  static constexpr double kMaxHalfLives = 40.0;
  // Counts are kept in growing units instead of letting the old ones fade: the unit after n
  // examples, if it was 1 after `origin`.
  double decay_unit(double n, double origin) const {
    return config.count_decay <= 0.0 ? 1.0 : std::exp2((n - origin) / config.count_decay);
  }

  OneAgainstSomeConfig config;  // nothing in it is automatic
  bool has_cells;
  bool features_vote;
  bool weights_in_pairs;       // of the linear predictors, for features that were met
  bool has_dense_predictors;   // linear predictors that are rows of all features
  std::size_t n_key_features;  // that keys and pairs are made of; the others are for cells
  FeatureWeighting weighting;

 private:
  // Features of dense rows from which cells are used: fewer directions say too little.
  static constexpr std::uint32_t kManyFeatures = 100;

  static OneAgainstSomeConfig resolved(OneAgainstSomeConfig config) {
    if (config.keys == Keys::automatic)
      config.keys = config.n_dense_features > 0                  ? Keys::cells
                    : config.learner.sparse                      ? Keys::features
                    : config.learner.n_features >= kManyFeatures ? Keys::cells_and_trees
                                                                 : Keys::trees;
    if (config.max_candidates == 0) config.max_candidates = candidates_of(config.keys);
    check(config);
    return config;
  }
  static std::uint32_t candidates_of(Keys keys) {
    if (keys == Keys::features) return 24;
    return keys == Keys::cells || keys == Keys::cells_and_trees ? 32 : 100;
  }
  static void check(const OneAgainstSomeConfig& config) {
    const bool has_cells = config.keys == Keys::cells || config.keys == Keys::cells_and_trees;
    const auto refuse = [](const char* why) {
      throw std::invalid_argument(std::string("n_dense_features: ") + why);
    };
    if (config.n_dense_features > config.learner.n_features) refuse("there are fewer features");
    if (config.n_dense_features > 0 && !config.learner.sparse) refuse("rows are dense");
    if (config.n_dense_features > 0 && !has_cells) refuse("these keys have no cells");
    if (has_cells && config.learner.sparse && config.n_dense_features == 0)
      refuse("cells need a dense block");
  }
};

}  // namespace recalltree
