#include "recalltree/voting/vote_store.hpp"

#include <algorithm>
#include <cmath>

#include "recalltree/voting/label_loss.hpp"

namespace recalltree {
namespace {

// Where A, S and B begin: near where they end on the data they were chosen on.
constexpr float kAffinityScale = 15.0f, kShareScale = 10.0f, kNodeScale = 1.25f;

}  // namespace

VoteStore::VoteStore(const OneAgainstSomeConfig& config)
    : rules(config),
      centring(config.learner, config.center),
      histograms(config.max_labels),
      forest(rules.config),
      dense_predictors(config.learner.n_features, false, DenseWeights::Rates::per_model),
      affinity_scale{kAffinityScale},
      share_scale{kShareScale},
      node_scale{kNodeScale} {
  if (rules.has_cells) own_cells.emplace(rules.cells());
}

void VoteStore::grow_to(std::size_t n_classes) {
  pairs.grow_to(n_classes);
  while (class_sums.size() < n_classes) class_sums.add([](ClassSums&) {});
  if (rules.has_dense_predictors) dense_predictors.grow_to(n_classes);
  if (own_cells) own_cells->grow_to(n_classes);
  forest.grow_to(n_classes);
  class_terms.resize(n_classes);
}

OwnCount VoteStore::count_class(ClassId y, double counted) {
  ClassSums& sums = class_sums[y];
  const auto before = static_cast<float>(sums.examples);
  sums.examples += counted;
  return {before, static_cast<float>(sums.examples)};
}

std::size_t VoteStore::count_example(Labels labels, const std::vector<OwnCount>& of_labels,
                                     double counted) {
  examples_ += counted;
  ++n_counted_;
  n_labels_ += labels.size();
  std::size_t touched = 0;
  for (std::size_t l = 0; l < labels.size(); ++l)
    touched += histograms.raise(frequent, labels[l], std::sqrt(of_labels[l].before),
                                std::sqrt(of_labels[l].after), 0.0f);
  return touched;
}

// The factor is a power of four, so that counts and their roots keep all their digits.
double VoteStore::share_of_step(Labels labels, bool is_new) const {
  const std::uint64_t n_rows = n_counted_ + is_new;
  const std::uint64_t n_labels = n_labels_ + (is_new ? labels.size() : 0);
  if (n_labels <= n_rows && labels.size() <= 1) return 1.0;
  const double mean = static_cast<double>(n_labels) / static_cast<double>(n_rows);
  return recalltree::share_of_step(labels.size(), mean);
}

void VoteStore::rebase_unit() {
  if (rules.config.count_decay <= 0.0) return;
  const double half_lives =
      (static_cast<double>(n_counted_) - decay_origin_) / rules.config.count_decay;
  if (half_lives < VotingRules::kMaxHalfLives) return;
  const double whole = 2.0 * std::floor(half_lives / 2.0);
  const double factor = std::exp2(-whole), root = std::exp2(-whole / 2.0);
  histograms.rescale(static_cast<float>(root));
  pairs.rescale(static_cast<float>(factor));
  forest.rescale(factor);
  for (std::size_t y = 0; y < class_sums.size(); ++y) {
    class_sums[y].examples *= factor;
    class_sums[y].count *= factor;
    class_terms[y].inverse_norm = inverse_norm_of(class_sums[y].count);
  }
  for (std::size_t i = 0; i < frequent.size; ++i)
    frequent.entries[i].root *= static_cast<float>(root);
  if (own_cells) own_cells->rescale(static_cast<float>(factor));
  examples_ *= factor;
  decay_origin_ += whole * rules.config.count_decay;
}

void VoteStore::prefetch_row(const Rows& rows, std::size_t i) const {
  if (!rules.features_vote) return;
  const auto prefetch_key = [&](std::uint32_t j, float) {
    if (const KeyHistograms::Key* const key = histograms.find(j))
      prefetch(key->entries, kReadTogether + 1);
  };
  if (rules.n_key_features < rows.n_features)
    rows.visit_between(i, 0, rules.n_key_features, prefetch_key);
  else
    rows.visit(i, prefetch_key);
}

void VoteStore::save(State& state) const {
  ClassArrays<Owned> saved;
  for (std::size_t y = 0; y < n_classes(); ++y) {
    saved.sums.insert(saved.sums.end(), {class_sums[y].examples, class_sums[y].count});
    saved.bias.push_back(class_terms[y].bias);
    saved.bias_accumulators.push_back(class_sums[y].bias_accumulator);
  }
  for (const auto& entry : frequent.labels()) {
    saved.frequent.push_back(entry.label);
    saved.frequent_roots.push_back(entry.root);
  }
  for (const VoteWeight& scale : {affinity_scale, share_scale, node_scale})
    saved.scales.insert(saved.scales.end(), {scale.value, scale.accumulator});
  saved.counted = {examples_, decay_origin_};
  saved.n = {n_counted_};
  put_fields(std::move(saved), state);
  if (n_labels_ != n_counted_) state.put(kLabels, std::vector<std::uint64_t>{n_labels_});
  histograms.save(state);
  pairs.save(state);
  forest.save(state);
  dense_predictors.save("predictors", state);
  centring.save(state);
  if (own_cells) own_cells->save(state);
}

void VoteStore::load(const State& state, std::size_t n_classes) {
  ClassArrays<Viewed> saved;
  saved.n_classes = n_classes;
  view_fields(saved, state);
  dense_predictors.load("predictors", state);
  if (own_cells) own_cells->load(state);
  grow_to(n_classes);
  histograms.load(state);
  pairs.load(state);
  forest.load(state);
  centring.load(state);
  for (std::size_t y = 0; y < n_classes; ++y) {
    class_sums[y].examples = saved.sums[2 * y];
    class_sums[y].count = saved.sums[2 * y + 1];
    class_sums[y].bias_accumulator = saved.bias_accumulators[y];
    class_terms[y] = {inverse_norm_of(class_sums[y].count), saved.bias[y]};
  }
  for (std::size_t i = 0; i < saved.frequent.size(); ++i)
    histograms.raise(frequent, saved.frequent[i], 0.0f, saved.frequent_roots[i], 0.0f);
  affinity_scale = {saved.scales[0], saved.scales[1]};
  share_scale = {saved.scales[2], saved.scales[3]};
  node_scale = {saved.scales[4], saved.scales[5]};
  examples_ = saved.counted[0];
  decay_origin_ = saved.counted[1];
  n_counted_ = saved.n[0];
  n_labels_ = state.has(kLabels) ? state.get<std::uint64_t>(kLabels, 1)[0] : n_counted_;
}

std::vector<std::pair<std::string, std::size_t>> VoteStore::memory() const {
  return {{"histograms", histograms.bytes() + forest.histogram_bytes()},
          {"pairs", pairs.bytes()},
          {"predictors", dense_predictors.bytes()},
          {"cells", own_cells ? own_cells->bytes() : 0},
          {"routers", forest.routers().bytes()},
          {"nodes", forest.tree().node_bytes()},
          {"classes", class_sums.bytes() + class_terms.size() * sizeof(ClassTerms)},
          {"feature_scale", centring.bytes()}};
}

std::size_t VoteStore::bytes(std::size_t n_classes) const {
  return histograms.bytes() + pairs.bytes(n_classes) + forest.bytes(n_classes) +
         (rules.has_dense_predictors ? dense_predictors.bytes(n_classes) : 0) +
         (own_cells ? own_cells->bytes(n_classes) : 0) + StableVector<ClassSums>::bytes(n_classes) +
         n_classes * sizeof(ClassTerms) + centring.bytes();
}

}  // namespace recalltree
