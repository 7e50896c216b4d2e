// One-against-some: how it keeps within its memory. Pairs of a class and a key, and their entries
// in the histograms, are all that grows with the examples; those that matter least are forgotten.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <tuple>

#include "recalltree/voting/one_against_some.hpp"
#include "recalltree/voting/pair_rank.hpp"

namespace recalltree {
namespace {

// Of the bytes that pairs and entries may take, so large a part is used after forgetting: then a
// part of all examples passes before the next time.
constexpr double kUsedAfter = 0.85;
// If the first try did not free enough, the next one keeps no more of the pairs than this.
constexpr double kKeptInNextTry = 0.97;
// Memory is taken from the system in blocks of at most this part of the budget.
constexpr std::size_t kBlocksOfBudget = 64;

}  // namespace

void OneAgainstSome::limit_memory() {
  if (given_.memory_budget == 0) return;
  for (Arena* arena : {&histograms_.arena(), &pairs_.arena()})
    arena->limit_blocks(given_.memory_budget / kBlocksOfBudget);
}

void OneAgainstSome::learn_one(const Rows& rows, std::size_t i, ClassId y, double weight,
                               Workspace& base) {
  auto& ws = static_cast<OneAgainstSomeWorkspace&>(base);
  if (given_.memory_budget == 0) return learn_example(rows, i, y, weight, ws);
  {
    std::shared_lock lock(learning_, std::defer_lock);
    if (ws.threads == Threads::several) lock.lock();
    learn_example(rows, i, y, weight, ws);
  }
  // Classes of the batch that have not been learned yet do not count, so that with one thread it
  // does not matter how examples are batched.
  if (ws.threads == Threads::one)
    n_reached_ = std::max<std::size_t>(n_reached_, std::size_t{y} + 1);
  const std::size_t n_reached = ws.threads == Threads::several ? n_classes() : n_reached_;
  if (bytes(n_reached) <= given_.memory_budget) return;
  // Nobody may learn meanwhile. Whoever learned something else comes here, too, and waits.
  std::unique_lock lock(learning_, std::defer_lock);
  if (ws.threads == Threads::several) lock.lock();
  hold_budget(n_reached);
}

std::size_t OneAgainstSome::bytes(std::size_t n_classes) const {
  return histograms_.bytes() + pairs_.bytes(n_classes) + forest_.bytes(n_classes) +
         (has_dense_predictors() ? predictors_.bytes(n_classes) : 0) +
         StableVector<ClassSums>::bytes(n_classes) + n_classes * sizeof(ClassTerms) +
         learner_.scale.bytes() + centring_.bytes();
}

void OneAgainstSome::hold_budget(std::size_t n_classes) {
  const std::size_t taken = bytes(n_classes), budget = given_.memory_budget;
  if (taken <= budget) return;  // another thread was quicker
  const auto evictable = [this] {
    return static_cast<double>(histograms_.arena().used() + pairs_.arena().used());
  };
  const double room = static_cast<double>(budget) - (static_cast<double>(taken) - evictable());
  const double aim = kUsedAfter * room;
  const std::vector<KeyWorth> worths = key_worths();
  for (double most_kept = 1.0; evictable() > aim; most_kept = kKeptInNextTry) {
    std::size_t n_pairs = 0;
    for (ClassId y = 0; y < pairs_.size(); ++y) n_pairs += pairs_[y].size();
    if (n_pairs == 0) break;
    const double kept = std::max(0.0, std::min(most_kept, aim / evictable()));
    const auto n_kept = static_cast<std::size_t>(kept * static_cast<double>(n_pairs));
    forget_pairs(n_pairs - std::min(n_kept, n_pairs - 1), n_pairs, worths);
  }
  histograms_.arena().tidy();
  pairs_.arena().tidy();
  if (bytes(n_classes) <= budget) return;
  // With the classes of the rest of the batch.
  const std::size_t least = bytes(this->n_classes());
  throw std::invalid_argument("memory_budget=" + std::to_string(budget) +
                              " is too small: what cannot be forgotten, that is classes, "
                              "features, trees and dense predictors, takes " +
                              std::to_string(least) + " bytes so far. Give at least " +
                              std::to_string(2 * least) +
                              " bytes, as there may be more of them, or None for no limit.");
}

// What a pair adds to the score of its class when an example has the key, times how often that is
// to be expected: its count, squared. Counts are in growing units, which are the same for all.
std::vector<OneAgainstSome::KeyWorth> OneAgainstSome::key_worths() const {
  std::vector<KeyWorth> worths(histograms_.size());
  const double A = rules_.features_vote ? affinity_scale_.value : 0.0;
  const double S = rules_.features_vote ? share_scale_.value : 0.0;
  for (std::uint32_t k = 0; k < histograms_.size(); ++k) {
    const KeyHistograms::Key* const key = histograms_.find(k);
    if (key == nullptr || key->examples <= 0.0) continue;
    if (rules_.features_vote && key->size == 0) continue;  // no pair is left of it
    const double rarity =
        FeatureWeighting::inverse_frequency(key->examples / unit(), examples_ / unit());
    const double votes = rarity * key->weight;
    worths[k] = {static_cast<float>(votes * A),
                 static_cast<float>(votes * S / std::sqrt(key->examples)),
                 static_cast<float>(rules_.weights_in_pairs ? rarity : 0.0)};
  }
  return worths;
}

void OneAgainstSome::forget_pairs(std::size_t n, std::size_t n_pairs,
                                  const std::vector<KeyWorth>& key_worths) {
  const auto rank = [&](ClassId y, const ClassPairs::Pair& pair) {
    const std::uint32_t k = pair.key();
    // Only a damaged file has pairs of keys that no example had.
    const KeyWorth key = k < key_worths.size() ? key_worths[k] : KeyWorth{};
    const float votes =
        std::sqrt(pair.count) * (key.affinity * ranked_[y].inverse_norm + key.share);
    const float adds = votes + key.weight * std::fabs(pair.weight);
    return pair_rank(pair.count * pair.count * adds, y, k);
  };
  const auto visit_ranks = [&](auto visit) {
    for (ClassId y = 0; y < pairs_.size(); ++y)
      pairs_[y].visit([&](const ClassPairs::Pair& pair, std::uint32_t) { visit(rank(y, pair)); });
  };
  const std::uint64_t first_kept = n < n_pairs ? nth_rank(n, visit_ranks) : ~std::uint64_t{0};
  for (ClassId y = 0; y < pairs_.size(); ++y)
    pairs_.filter(pairs_[y],
                  [&](const ClassPairs::Pair& pair) { return rank(y, pair) >= first_kept; });
  if (rules_.features_vote) forget_entries();
}

// Histograms list no pair that is forgotten. Those that were full may have room now for pairs that
// they did not list.
void OneAgainstSome::forget_entries() {
  const std::uint32_t max_labels = histograms_.max_labels();
  std::vector<bool> was_full(histograms_.size());
  for (std::uint32_t k = 0; k < histograms_.size(); ++k)
    if (histograms_.find(k) != nullptr) {
      KeyHistograms::Key& key = histograms_.touch(k);
      was_full[k] = key.size == max_labels;
      histograms_.filter(key, [&](ClassId y) { return pairs_[y].find(k) != ClassPairs::kNone; });
    }
  std::vector<std::tuple<std::uint32_t, float, ClassId>> unlisted;  // by key, largest root first
  for (ClassId y = 0; y < pairs_.size(); ++y)
    pairs_[y].visit([&](const ClassPairs::Pair& pair, std::uint32_t) {
      const std::uint32_t k = pair.key();
      if (k >= was_full.size() || !was_full[k]) return;
      const auto listed = histograms_.find(k)->top(max_labels);
      const float root = std::sqrt(pair.count);
      if (listed.size() == max_labels || (!listed.empty() && root > listed.back().root)) return;
      const auto is_label = [y](const KeyHistograms::Entry& entry) { return entry.label == y; };
      if (std::none_of(listed.begin(), listed.end(), is_label)) unlisted.emplace_back(k, -root, y);
    });
  std::sort(unlisted.begin(), unlisted.end());
  for (const auto& [k, root, y] : unlisted)
    histograms_.append(histograms_.touch(k), {y, -root, pairs_[y][pairs_[y].find(k)].weight});
}

OneAgainstSome::PairsMemory OneAgainstSome::pairs_memory() const {
  return {histograms_.arena().used() + pairs_.arena().used(),
          histograms_.arena().most_held() + pairs_.arena().most_held()};
}

}  // namespace recalltree
