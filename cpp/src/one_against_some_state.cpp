// The state of one-against-some as arrays, and what can be seen of it from outside.
#include <cmath>
#include <stdexcept>

#include "recalltree/one_against_some.hpp"

namespace recalltree {

OneAgainstSome::ClassView OneAgainstSome::class_view(ClassId y) const {
  const ClassSums& sums = classes_[y];
  return {sums.examples / unit(), sums.count / unit(), ranked_[y].bias, sums.bias_accumulator};
}

std::vector<std::pair<ClassId, double>> OneAgainstSome::frequent_classes() const {
  std::vector<std::pair<ClassId, double>> all;
  for (const auto& entry : everywhere_.top(everywhere_.size))
    all.emplace_back(entry.label, classes_[entry.label].examples / unit());
  return all;
}

OneAgainstSome::Explanation OneAgainstSome::explain(const Rows& rows, std::size_t i,
                                                    const std::vector<ClassId>& classes) const {
  std::vector<ActiveKey> keys;
  weighting_.read(rows, i, histograms_, examples_, 0.0, unit(), keys);
  Explanation found;
  for (const ActiveKey& key : keys) found.features.push_back(key.key);
  for (const ClassId y : classes) {
    found.bias.push_back(ranked_[y].bias);
    found.path.push_back(0.0f);
    const ClassPairs::Table& table = pairs_[y];
    for (const ActiveKey& key : keys) {
      const std::uint32_t slot = table.find(key.key);
      const bool known = slot != ClassPairs::kNone;
      const ClassPairs::Values pair = known ? table.values(slot) : ClassPairs::Values{};
      found.votes.push_back(vote_scale_ * key.pull * std::sqrt(pair.count) *
                            ranked_[y].inverse_norm);
      found.predictors.push_back(key.value * pair.weight);
    }
  }
  return found;
}

State OneAgainstSome::save() {
  State state;
  save_common(state);
  histograms_.save(state);
  pairs_.save(state);
  std::vector<double> sums;
  std::vector<float> bias, bias_accumulators, roots;
  std::vector<std::uint32_t> frequent;
  for (std::size_t y = 0; y < n_classes(); ++y) {
    sums.insert(sums.end(), {classes_[y].examples, classes_[y].count});
    bias.push_back(ranked_[y].bias);
    bias_accumulators.push_back(classes_[y].bias_accumulator);
  }
  for (const auto& entry : everywhere_.top(everywhere_.size)) {
    frequent.push_back(entry.label);
    roots.push_back(entry.root);
  }
  state.put("classes.sums", sums, {n_classes(), 2});
  state.put("classes.bias", bias);
  state.put("classes.bias_accumulators", bias_accumulators);
  state.put("frequent.labels", frequent);
  state.put("frequent.roots", roots);
  state.put("vote.scale", std::vector<float>{vote_scale_, vote_accumulator_});
  state.put("counted.examples", std::vector<double>{examples_, unit_origin_});
  state.put("counted.n", std::vector<std::uint64_t>{n_counted_});
  return state;
}

void OneAgainstSome::load(const State& state) {
  load_common(state);
  const std::size_t n = n_classes();
  histograms_.load(state, config_.n_features, n);
  pairs_.load(state, config_.n_features, n);
  const auto sums = state.get<double>("classes.sums", 2 * n);
  const auto bias = state.get<float>("classes.bias", n);
  const auto bias_accumulators = state.get<float>("classes.bias_accumulators", n);
  begin_batch({});
  for (std::size_t y = 0; y < n; ++y) {
    classes_[y].examples = sums[2 * y];
    classes_[y].count = sums[2 * y + 1];
    classes_[y].bias_accumulator = bias_accumulators[y];
    ranked_[y] = {inverse_norm_of(classes_[y].count), bias[y]};
  }
  const auto frequent = state.get<std::uint32_t>("frequent.labels");
  const auto roots = state.get<float>("frequent.roots", frequent.size());
  for (std::size_t i = 0; i < frequent.size(); ++i) {
    if (frequent[i] >= n) throw std::invalid_argument("state: a label does not exist");
    histograms_.raise(everywhere_, frequent[i], 0.0f, roots[i]);
  }
  const auto scale = state.get<float>("vote.scale", 2);
  vote_scale_ = scale[0];
  vote_accumulator_ = scale[1];
  const auto examples = state.get<double>("counted.examples", 2);
  examples_ = examples[0];
  unit_origin_ = examples[1];
  n_counted_ = state.get<std::uint64_t>("counted.n", 1)[0];
}

std::vector<std::pair<std::string, std::size_t>> OneAgainstSome::memory() const {
  return {{"histograms", histograms_.bytes()},
          {"pairs", pairs_.bytes()},
          {"classes", classes_.bytes() + ranked_.size() * sizeof(Ranked)},
          {"feature_scale", learner_.scale.bytes()}};
}

}  // namespace recalltree
