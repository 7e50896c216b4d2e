#include "recalltree/voting/memory_budget.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>

namespace recalltree {
namespace {

// Share of the bytes for pairs and entries that is in use after forgetting: then a
// part of all examples passes before the next time.
constexpr double kUsedAfter = 0.85;
// If the first try did not free enough, the next one keeps no more of the pairs than this.
constexpr double kKeptInNextTry = 0.97;
// Memory is taken from the system in blocks of at most this part of the budget.
constexpr std::size_t kBlocksOfBudget = 64;

// The order in which pairs are forgotten: by what they are worth, which is not negative. Of pairs
// that are worth the same, any may be the first, but the same ones however their tables lie in
// memory.
std::uint64_t pair_rank(float worth, ClassId y, std::uint32_t key) {
  std::uint64_t mixed = (std::uint64_t{y} << 32 | key) * 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93u;
  // Floats that are not negative are in the order of their bits.
  return std::uint64_t{std::bit_cast<std::uint32_t>(worth)} << 32 | mixed >> 32;
}

// The rank below which n pairs are, of more than n. visit_ranks(visit) calls visit(rank) for each
// of them; it is called twice, so that not all have to be kept.
template <class VisitRanks>
std::uint64_t nth_rank(std::size_t n, VisitRanks visit_ranks) {
  constexpr int kBucketBits = 16;
  std::vector<std::size_t> buckets(std::size_t{1} << kBucketBits);
  const auto bucket_of = [](std::uint64_t rank) { return rank >> (64 - kBucketBits); };
  visit_ranks([&](std::uint64_t rank) { ++buckets[bucket_of(rank)]; });
  std::size_t bucket = 0;
  while (n >= buckets[bucket]) n -= buckets[bucket++];
  std::vector<std::uint64_t> ranks;
  ranks.reserve(buckets[bucket]);
  visit_ranks([&](std::uint64_t rank) {
    if (bucket_of(rank) == bucket) ranks.push_back(rank);
  });
  const auto nth = ranks.begin() + static_cast<std::ptrdiff_t>(n);
  std::nth_element(ranks.begin(), nth, ranks.end());
  return *nth;
}

}  // namespace

MemoryBudget::MemoryBudget(std::size_t limit, std::size_t other_bytes, VoteStore& store)
    : limit_(limit), other_bytes_(other_bytes), store_(store) {
  if (!is_limited()) return;
  for (Arena* arena : {&store_.histograms.arena(), &store_.pairs.arena()})
    arena->limit_blocks(limit_ / kBlocksOfBudget);
}

void MemoryBudget::hold(std::size_t n_classes) {
  const std::size_t taken = bytes(n_reached_);
  if (!is_limited() || taken <= limit_) return;
  ClassPairs& pairs = store_.pairs;
  const auto evictable = [&] {
    return static_cast<double>(store_.histograms.arena().used() + pairs.arena().used());
  };
  const double room = static_cast<double>(limit_) - (static_cast<double>(taken) - evictable());
  const double aim = kUsedAfter * room;
  const std::vector<KeyWorth> worths = key_worths();
  for (double most_kept = 1.0; evictable() > aim; most_kept = kKeptInNextTry) {
    std::size_t n_pairs = 0;
    for (ClassId y = 0; y < pairs.size(); ++y) n_pairs += pairs[y].size();
    if (n_pairs == 0) break;
    const double kept = std::max(0.0, std::min(most_kept, aim / evictable()));
    const auto n_kept = static_cast<std::size_t>(kept * static_cast<double>(n_pairs));
    forget_pairs(n_pairs - std::min(n_kept, n_pairs - 1), n_pairs, worths);
  }
  store_.histograms.arena().tidy();
  pairs.arena().tidy();
  if (bytes(n_reached_) <= limit_) return;
  // With the classes of the rest of the batch.
  const std::size_t least = bytes(n_classes);
  throw std::invalid_argument("memory_budget=" + std::to_string(limit_) +
                              " is too small: what cannot be forgotten, that is classes, "
                              "features, trees and dense predictors, takes " +
                              std::to_string(least) + " bytes so far. Give at least " +
                              std::to_string(2 * least) +
                              " bytes, as there may be more of them, or None for no limit.");
}

// The worth of a pair is what it adds to the score of its class when an example has the key, times
// how often that is to be expected: its count, squared. Counts are in growing units, which are the
// same for all.
std::vector<MemoryBudget::KeyWorth> MemoryBudget::key_worths() const {
  const VotingRules& rules = store_.rules;
  const KeyHistograms& histograms = store_.histograms;
  std::vector<KeyWorth> worths(histograms.size());
  const double A = rules.features_vote ? store_.affinity_scale.value : 0.0;
  const double S = rules.features_vote ? store_.share_scale.value : 0.0;
  const double unit = store_.decay_unit();
  for (std::uint32_t k = 0; k < histograms.size(); ++k) {
    const KeyHistograms::Key* const key = histograms.find(k);
    if (key == nullptr || key->examples <= 0.0) continue;
    if (rules.features_vote && key->size == 0) continue;  // no pair is left of it
    const double rarity =
        FeatureWeighting::inverse_frequency(key->examples / unit, store_.examples() / unit);
    const double votes = rarity * key->weight.value;
    worths[k] = {static_cast<float>(votes * A),
                 static_cast<float>(votes * S / std::sqrt(key->examples)),
                 static_cast<float>(rules.weights_in_pairs ? rarity : 0.0)};
  }
  return worths;
}

void MemoryBudget::forget_pairs(std::size_t n, std::size_t n_pairs,
                                const std::vector<KeyWorth>& key_worths) {
  ClassPairs& pairs = store_.pairs;
  const auto rank = [&](ClassId y, const ClassPairs::Pair& pair) {
    const std::uint32_t k = pair.key();
    // Only a damaged file has pairs of keys that no example had.
    const KeyWorth key = k < key_worths.size() ? key_worths[k] : KeyWorth{};
    const float votes =
        std::sqrt(pair.count) * (key.affinity * store_.class_terms[y].inverse_norm + key.share);
    const float adds = votes + key.weight * std::fabs(pair.weight);
    return pair_rank(pair.count * pair.count * adds, y, k);
  };
  const auto visit_ranks = [&](auto visit) {
    for (ClassId y = 0; y < pairs.size(); ++y)
      pairs[y].visit([&](const ClassPairs::Pair& pair, std::uint32_t) { visit(rank(y, pair)); });
  };
  const std::uint64_t first_kept = n < n_pairs ? nth_rank(n, visit_ranks) : ~std::uint64_t{0};
  for (ClassId y = 0; y < pairs.size(); ++y)
    pairs.filter(pairs[y],
                 [&](const ClassPairs::Pair& pair) { return rank(y, pair) >= first_kept; });
  if (store_.rules.features_vote) forget_entries();
}

// Histograms list no pair that is forgotten. Those that were full may have room now for pairs that
// they did not list.
void MemoryBudget::forget_entries() {
  KeyHistograms& histograms = store_.histograms;
  const ClassPairs& pairs = store_.pairs;
  const std::uint32_t max_labels = histograms.max_labels();
  std::vector<bool> was_full(histograms.size());
  for (std::uint32_t k = 0; k < histograms.size(); ++k)
    if (histograms.find(k) != nullptr) {
      KeyHistograms::Key& key = histograms.touch(k);
      was_full[k] = key.size == max_labels;
      histograms.filter(key, [&](ClassId y) { return pairs[y].find(k) != ClassPairs::kNone; });
    }
  std::vector<std::tuple<std::uint32_t, float, ClassId>> unlisted;  // by key, largest root first
  for (ClassId y = 0; y < pairs.size(); ++y)
    pairs[y].visit([&](const ClassPairs::Pair& pair, std::uint32_t) {
      const std::uint32_t k = pair.key();
      if (k >= was_full.size() || !was_full[k]) return;
      const auto listed = histograms.find(k)->labels();
      const float root = std::sqrt(pair.count);
      if (listed.size() == max_labels || (!listed.empty() && root > listed.back().root)) return;
      const auto is_label = [y](const KeyHistograms::Entry& entry) { return entry.label == y; };
      if (std::none_of(listed.begin(), listed.end(), is_label)) unlisted.emplace_back(k, -root, y);
    });
  std::sort(unlisted.begin(), unlisted.end());
  for (const auto& [k, root, y] : unlisted)
    histograms.append(histograms.touch(k), {y, -root, pairs[y][pairs[y].find(k)].weight});
}

}  // namespace recalltree
