// One-against-some: the keys of an example vote for a few candidates, and only these are compared.
//
//   vote(y | x)  = sum over the keys k of x of  u_k |v_k| sqrt(c(y, k) / n_y)
//   candidates   = the F classes with the largest A vote(y | x) + b_y, from histograms of limited size
//   score(y | x) = A vote(y | x) + w_y . v + b_y, with exact counts
//
// v is the weighted example, c(y, k) how often class y met key k, n_y the sum of its counts: the
// vote is the affinity (Bhattacharyya's) of the example and the class as distributions over keys,
// each key with a weight u_k of its own. A, u, w and b are learned by a softmax over the candidates.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "class_pairs.hpp"
#include "config.hpp"
#include "feature_weighting.hpp"
#include "key_histograms.hpp"
#include "learner.hpp"

namespace recalltree {

class OneAgainstSome final : public Learner {
 public:
  explicit OneAgainstSome(const OneAgainstSomeConfig& config);

  const OneAgainstSomeConfig& config() const { return some_config_; }
  const KeyHistograms& histograms() const { return histograms_; }
  const ClassPairs& pairs() const { return pairs_; }
  double vote_scale() const { return vote_scale_; }
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

  Own leave_out(ClassId y, double weight, VotingWorkspace& v, bool shared) const;
  void find_candidates(const Own& own, VotingWorkspace& v, Workspace& ws, bool shared) const;
  void score_candidates(std::size_t from, const Own& own, VotingWorkspace& v, Workspace& ws,
                        bool shared) const;
  float inverse_norm(ClassId z, const Own& own) const;

  void softmax(ClassId y, VotingWorkspace& v) const;
  void update_vote(double weight, double rate, VotingWorkspace& v);
  void update_predictor(ClassId z, double gradient, double weight, double rate,
                        std::size_t hits_begin, std::size_t hits_end, const VotingWorkspace& v,
                        bool shared);
  void step(ClassPairs::Values& values, float& accumulator, float value, double gradient,
            double weight, double rate) const;
  void update_bias(ClassId z, double gradient, double weight, double rate, bool shared);
  // Teaches the class of the example, and counts the example if it is new.
  void update_class(ClassId y, double gradient, double weight, double rate, double counted,
                    VotingWorkspace& v, Workspace& ws, bool shared);

  void rebase_unit();

  OneAgainstSomeConfig some_config_;
  FeatureWeighting weighting_;
  KeyHistograms histograms_;
  ClassPairs pairs_;
  StableVector<ClassSums> classes_;
  std::vector<Ranked> ranked_;
  KeyHistograms::Key everywhere_;  // the key that every example has; its lock guards examples_, too
  float vote_scale_;               // A
  float vote_accumulator_ = 0.0f;
  double examples_ = 0.0;        // weight of the counted examples, in growing units
  std::uint64_t n_counted_ = 0;  // how many they are
  double unit_origin_ = 0.0;     // after so many of them the unit was 1
  bool first_pass_ = true;
};

}  // namespace recalltree
