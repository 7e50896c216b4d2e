// One-against-some: the keys of an example vote for a few candidates, and only these are compared.
//
//   vote(y | x)  = A sum over the features k of x of  u_k |v_k| sqrt(c(y, k) / n_y)
//                + B sum over the nodes k that x belongs to of  s_k sqrt(c(y, k) / n_k)
//   candidates   = the F classes with the largest vote(y | x) + b_y, from histograms of limited
//   size score(y | x) = vote(y | x) + w_y . v + b_y, with exact counts
//
// v is the weighted example, c(y, k) how often class y met key k, n_y the sum of a class's counts
// over the features, n_k that of a node's over the classes. The vote of the features is the
// affinity (Bhattacharyya's) of the example and the class as distributions over features, each with
// a weight u_k of its own. A, B, u, w and b are learned by a softmax over the candidates.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "class_pairs.hpp"
#include "config.hpp"
#include "dense_weights.hpp"
#include "feature_centring.hpp"
#include "feature_weighting.hpp"
#include "key_forest.hpp"
#include "key_histograms.hpp"
#include "learner.hpp"

namespace recalltree {

class OneAgainstSome final : public Learner {
 public:
  explicit OneAgainstSome(const OneAgainstSomeConfig& config);

  const OneAgainstSomeConfig& config() const { return given_; }
  std::uint32_t max_candidates() const { return some_config_.max_candidates; }
  const KeyHistograms& histograms() const { return histograms_; }
  const ClassPairs& pairs() const { return pairs_; }
  const KeyForest& forest() const { return forest_; }
  // Of dense rows where trees vote; otherwise the weights are in the pairs.
  const DenseWeights& predictors() const { return predictors_; }
  bool has_dense_predictors() const { return !weights_in_pairs_; }
  // A and B.
  std::pair<float, float> vote_scales() const { return {feature_scale_.value, node_scale_.value}; }
  // The nodes that vote on row i: where it ends, one per tree, then the second ones.
  std::vector<NodeId> key_nodes(const Rows& rows, std::size_t i) const;
  // Counts are kept in growing units instead of letting the old ones fade; this is the latest unit.
  double unit() const;
  // Of a class: weight of its examples, sum of its counts, both in units of today; its bias.
  struct ClassView {
    double examples, count;
    float bias, bias_accumulator;
  };
  ClassView class_view(ClassId y) const;
  // The most frequent classes and the weight of their examples, as many as a histogram holds.
  std::vector<std::pair<ClassId, double>> frequent_classes() const;

  // What the keys and the predictors of row i add to the scores of some classes. The score of class
  // i is bias[i] + path[i] + the sum of row i of votes and predictors.
  struct Explanation {
    std::vector<std::uint32_t> features;   // those of the example that are not zero
    std::vector<float> bias, path;         // by class
    std::vector<float> votes, predictors;  // one row per class
  };
  Explanation explain(const Rows& rows, std::size_t i, const std::vector<ClassId>& classes) const;

  State save() override;
  void load(const State& state) override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  void learn_one(const Rows& rows, std::size_t i, ClassId y, double weight, Workspace& ws,
                 bool shared) override;
  void score(const Rows& rows, std::size_t i, Workspace& ws) const override;
  void begin_batch(const Batch& batch) override;
  void learn_batch(const Batch& batch, std::vector<Workspace>& team, bool first_pass) override;

 private:
  struct ClassSums {
    double examples = 0.0, count = 0.0;
    float bias_accumulator = 0.0f;
    SpinLock lock;  // guards the sums while several threads learn
  };
  // What ranking candidates needs of a class, and nothing else.
  struct Ranked {
    float inverse_norm = 0.0f;
    float bias = 0.0f;
  };
  static float inverse_norm_of(double count) {
    return count > 0.0 ? static_cast<float>(1.0 / std::sqrt(count)) : 0.0f;
  }
  // The example that is learned, as far as it is already counted: on later passes it is left out of
  // its own counts.
  struct Own {
    ClassId y = kNoClass;
    double count = 0.0;  // of its weight, in growing units
    float inverse_norm = 0.0f;
  };

  // A number that learns by AdaGrad.
  struct Adaptive {
    float value, accumulator = 0.0f;
  };

  void read_example(const Rows& rows, std::size_t i, double own, Workspace& ws) const;
  Own leave_out(ClassId y, double weight, VotingWorkspace& v, bool shared) const;
  void find_candidates(const Own& own, Workspace& ws, bool shared) const;
  void vote_of_features(const Own& own, std::size_t max_entries, Workspace& ws, bool shared) const;
  void score_candidates(std::size_t from, const Own& own, Workspace& ws, bool shared) const;
  // Exact votes of the features, and the predictors that are kept with the pairs.
  void score_pairs(std::size_t from, const Own& own, VotingWorkspace& v, bool shared) const;
  float inverse_norm(ClassId z, const Own& own) const;

  void count_progress(bool predicts, ClassId y, double weight, Workspace& ws) const;
  void softmax(std::size_t y_at, VotingWorkspace& v) const;
  void update_votes(double weight, double rate, VotingWorkspace& v);
  void update_key_weights(double weight, double rate, VotingWorkspace& v);
  void update_predictors(std::size_t y_at, double weight, double rate, Workspace& ws, bool shared);
  void update_pairs(std::size_t c, double weight, double rate, const VotingWorkspace& v,
                    bool shared);
  void step(ClassPairs::Values& values, float& accumulator, float value, double gradient,
            double weight, double rate) const;
  // Returns the sum of squared gradients.
  float update_bias(ClassId z, double gradient, double weight, double rate, bool shared);
  // Teaches the pairs of the example's class, and counts the example if it is new.
  void update_own_pairs(ClassId y, double gradient, double weight, double rate, double counted,
                        Workspace& ws, bool shared);
  void count(ClassId y, double counted, Workspace& ws, bool shared);

  void rebase_unit();

  OneAgainstSomeConfig given_, some_config_;  // as given, and with what follows from it
  bool features_vote_, weights_in_pairs_;
  double small_gradient_;  // a candidate that is wrong by less does not learn
  FeatureWeighting weighting_;
  FeatureCentring centring_;
  KeyHistograms histograms_;
  ClassPairs pairs_;
  KeyForest forest_;
  DenseWeights predictors_;
  StableVector<ClassSums> classes_;
  std::vector<Ranked> ranked_;
  KeyHistograms::Key everywhere_;  // the key that every example has; its lock guards examples_, too
  Adaptive feature_scale_, node_scale_;  // A and B
  double examples_ = 0.0;                // weight of the counted examples, in growing units
  std::uint64_t n_counted_ = 0;          // how many they are
  double unit_origin_ = 0.0;             // after so many of them the unit was 1
  bool first_pass_ = true;
};

}  // namespace recalltree
