// The state of one-against-some as arrays, and what can be seen of it from outside.
#include "recalltree/file/mapped_one_against_some.hpp"
#include "recalltree/voting/one_against_some.hpp"

namespace recalltree {

ClassView OneAgainstSome::class_view(ClassId y) const {
  const ClassSums& sums = classes_[y];
  return {sums.examples / unit(), sums.count / unit(), ranked_[y].bias, sums.bias_accumulator};
}

std::vector<double> OneAgainstSome::class_examples() const {
  std::vector<double> all;
  for (ClassId y = 0; y < n_classes(); ++y) all.push_back(classes_[y].examples / unit());
  return all;
}

std::vector<std::pair<ClassId, double>> OneAgainstSome::frequent_classes() const {
  std::vector<std::pair<ClassId, double>> all;
  for (const auto& entry : global_counts_.top(global_counts_.size))
    all.emplace_back(entry.label, classes_[entry.label].examples / unit());
  return all;
}

State OneAgainstSome::save() const {
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
  for (const auto& entry : global_counts_.top(global_counts_.size)) {
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
  state.put("vote.scales", std::vector<float>{affinity_scale_.value, affinity_scale_.accumulator,
                                              share_scale_.value, share_scale_.accumulator,
                                              node_scale_.value, node_scale_.accumulator});
  state.put("counted.examples", std::vector<double>{examples_, unit_origin_});
  state.put("counted.n", std::vector<std::uint64_t>{n_counted_});
  return state;
}

void OneAgainstSome::load(const State& state) {
  // A view of the state checks it all, before anything is taken from it.
  const MappedOneAgainstSome view(given_, state);
  view.check();
  load_common(state);
  histograms_.load(state);
  pairs_.load(state);
  forest_.load(view.forest(), state);
  predictors_.load("predictors", state);
  centring_.load(state);
  begin_batch({});
  n_reached_ = n_classes();
  const auto sums = state.get<double>("classes.sums");
  const auto bias = state.get<float>("classes.bias");
  const auto bias_accumulators = state.get<float>("classes.bias_accumulators");
  for (std::size_t y = 0; y < n_classes(); ++y) {
    classes_[y].examples = sums[2 * y];
    classes_[y].count = sums[2 * y + 1];
    classes_[y].bias_accumulator = bias_accumulators[y];
    ranked_[y] = {inverse_norm_of(classes_[y].count), bias[y]};
  }
  const auto frequent = state.get<std::uint32_t>("frequent.labels");
  const auto roots = state.get<float>("frequent.roots");
  for (std::size_t i = 0; i < frequent.size(); ++i)
    histograms_.raise(global_counts_, frequent[i], 0.0f, roots[i], 0.0f);
  const auto scales = state.get<float>("vote.scales");
  affinity_scale_ = {scales[0], scales[1]};
  share_scale_ = {scales[2], scales[3]};
  node_scale_ = {scales[4], scales[5]};
  const auto examples = state.get<double>("counted.examples");
  examples_ = examples[0];
  unit_origin_ = examples[1];
  n_counted_ = state.get<std::uint64_t>("counted.n")[0];
}

std::vector<std::pair<std::string, std::size_t>> OneAgainstSome::memory() const {
  return {{"histograms", histograms_.bytes() + forest_.histogram_bytes()},
          {"pairs", pairs_.bytes()},
          {"predictors", predictors_.bytes()},
          {"routers", forest_.routers().bytes()},
          {"nodes", forest_.node_bytes()},
          {"classes", classes_.bytes() + ranked_.size() * sizeof(ClassTerms)},
          {"feature_scale", learner_.scale.bytes() + centring_.bytes()}};
}

}  // namespace recalltree
