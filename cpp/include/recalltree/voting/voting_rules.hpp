// What follows from the parameters of one-against-some, for the learner and for the mapped model.
#pragma once

#include <cmath>

#include "recalltree/base/config.hpp"
#include "recalltree/voting/feature_weighting.hpp"

namespace recalltree {

struct VotingRules {
  explicit VotingRules(const OneAgainstSomeConfig& given)
      : config(resolved(given)),
        features_vote(config.keys == Keys::features || config.keys == Keys::both),
        weights_in_pairs(given.learner.sparse || config.keys == Keys::features),
        weighting(given.weighting) {}

  // The unit of counts grows to 2 to this power.
  static constexpr double kMaxHalfLives = 40.0;
  // Counts are kept in growing units instead of letting the old ones fade: the unit after n
  // examples, if it was 1 after `origin`.
  double decay_unit(double n, double origin) const {
    return config.count_decay <= 0.0 ? 1.0 : std::exp2((n - origin) / config.count_decay);
  }

  OneAgainstSomeConfig config;  // nothing in it is automatic
  bool features_vote;
  bool weights_in_pairs;  // of the linear predictors; otherwise they are rows of all features
  FeatureWeighting weighting;

 private:
  static OneAgainstSomeConfig resolved(OneAgainstSomeConfig config) {
    if (config.keys == Keys::automatic)
      config.keys = config.learner.sparse ? Keys::features : Keys::trees;
    if (config.max_candidates == 0)
      config.max_candidates = config.keys == Keys::features ? 24 : 100;
    return config;
  }
};

}  // namespace recalltree
