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

std::vector<NodeId> OneAgainstSome::key_nodes(const Rows& rows, std::size_t i) const {
  Workspace ws;
  read_example(rows, i, 0.0, ws);
  forest_.descend(ws.x, n_classes_seen(), unit(), ws.voting, ws.work, false);
  std::vector<NodeId> nodes;
  for (const NodeKey& key : ws.voting.node_keys) nodes.push_back(key.node);
  return nodes;
}

OneAgainstSome::Explanation OneAgainstSome::explain(const Rows& rows, std::size_t i,
                                                    const std::vector<ClassId>& classes) const {
  Workspace ws;
  read_example(rows, i, 0.0, ws);
  Explanation found;
  // The features of the predictors' rows are all those of the example; the pairs' the same ones.
  if (has_dense_predictors())
    for (std::uint32_t j = 0; j < config_.n_features; ++j) {
      if (ws.x.dense.data()[j] != 0.0f) found.features.push_back(j);
    }
  else
    for (const ActiveKey& key : ws.voting.keys) found.features.push_back(key.key);
  std::vector<float> node_votes(n_classes(), 0.0f);
  if (forest_.n_trees() > 0) {
    forest_.descend(ws.x, n_classes_seen(), unit(), ws.voting, ws.work, false);
    forest_.vote(ws.voting.node_keys, false,
                 [&](ClassId label, float vote) { node_votes[label] += vote; });
  }
  const float A = features_vote_ ? feature_scale_.value : 0.0f;
  for (const ClassId y : classes) {
    found.bias.push_back(ranked_[y].bias);
    found.path.push_back(node_scale_.value * node_votes[y]);
    const ClassPairs::Table& table = pairs_[y];
    std::size_t k = 0;  // the keys are sorted like the features, and are some of them
    for (const std::uint32_t feature : found.features) {
      float vote = 0.0f, predictor = 0.0f;
      while (k < ws.voting.keys.size() && ws.voting.keys[k].key < feature) ++k;
      if (k < ws.voting.keys.size() && ws.voting.keys[k].key == feature) {
        const ActiveKey& key = ws.voting.keys[k];
        if (const std::uint32_t slot = table.find(feature); slot != ClassPairs::kNone) {
          vote = A * key.pull * std::sqrt(table.values(slot).count) * ranked_[y].inverse_norm;
          predictor = key.value * table.values(slot).weight;
        }
      }
      if (has_dense_predictors())
        predictor = predictors_.values(y)[feature] * ws.x.dense.data()[feature];
      found.votes.push_back(vote);
      found.predictors.push_back(predictor);
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
  forest_.save(state);
  predictors_.save("predictors", state);
  centring_.save(state);
  state.put("vote.scales", std::vector<float>{feature_scale_.value, feature_scale_.accumulator,
                                              node_scale_.value, node_scale_.accumulator});
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
  forest_.load(state, n);
  predictors_.load("predictors", state);
  if (predictors_.size() != (has_dense_predictors() ? n : 0))
    throw std::invalid_argument("state: predictors and classes differ in number");
  centring_.load(state);
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
  const auto scales = state.get<float>("vote.scales", 4);
  feature_scale_ = {scales[0], scales[1]};
  node_scale_ = {scales[2], scales[3]};
  const auto examples = state.get<double>("counted.examples", 2);
  examples_ = examples[0];
  unit_origin_ = examples[1];
  n_counted_ = state.get<std::uint64_t>("counted.n", 1)[0];
}

std::vector<std::pair<std::string, std::size_t>> OneAgainstSome::memory() const {
  return {{"histograms", histograms_.bytes() + forest_.tree().histogram_bytes()},
          {"pairs", pairs_.bytes()},
          {"predictors", predictors_.bytes()},
          {"routers", forest_.routers().bytes()},
          {"nodes", forest_.tree().node_bytes()},
          {"classes", classes_.bytes() + ranked_.size() * sizeof(Ranked)},
          {"feature_scale", learner_.scale.bytes() + centring_.bytes()}};
}

}  // namespace recalltree
