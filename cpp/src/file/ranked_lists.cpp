#include "recalltree/file/ranked_lists.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "recalltree/base/thread_team.hpp"
#include "recalltree/file/state_checks.hpp"

namespace recalltree {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

// Place of each key among the sorted ones. Memory is taken for neighbourhoods that have a key.
class PlacesOfKeys {
 public:
  explicit PlacesOfKeys(std::span<const std::uint32_t> keys) {
    if (!keys.empty()) groups_.resize(keys.back() / kGroup + 1);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      require(i == 0 || keys[i - 1] < keys[i], "keys are not increasing");
      auto& group = groups_[keys[i] / kGroup];
      if (!group) {
        group = std::make_unique<std::uint32_t[]>(kGroup);
        std::fill_n(group.get(), kGroup, kNone);
      }
      group[keys[i] % kGroup] = static_cast<std::uint32_t>(i);
    }
  }
  std::uint32_t operator[](std::uint32_t key) const {
    const std::size_t group = key / kGroup;
    const bool is_known = group < groups_.size() && groups_[group];
    const std::uint32_t place = is_known ? groups_[group][key % kGroup] : kNone;
    require(place != kNone, "a pair has a key that no example had");
    return place;
  }

 private:
  static constexpr std::uint32_t kGroup = 1024;
  std::vector<std::unique_ptr<std::uint32_t[]>> groups_;
};

struct Entry {
  float count;
  std::uint32_t row;
  float weight;
  bool ranks_before(const Entry& other) const {
    return count > other.count || (count == other.count && row < other.row);
  }
};

bool before(const Entry& a, const Entry& b) { return a.ranks_before(b); }

// Places of keys that one thread ranks: as many pairs as the others have, about.
std::vector<std::size_t> share_out(const std::vector<std::uint64_t>& pairs_before,
                                   std::size_t n_threads) {
  std::vector<std::size_t> edges(n_threads + 1, pairs_before.size() - 1);
  edges[0] = 0;
  for (std::size_t t = 1; t < n_threads; ++t) {
    const std::uint64_t pairs = pairs_before.back() * t / n_threads;
    const auto edge = std::lower_bound(pairs_before.begin(), pairs_before.end() - 1, pairs);
    edges[t] = static_cast<std::size_t>(edge - pairs_before.begin());
  }
  return edges;
}

}  // namespace

RankedLists rank_lists(const CountedLists& lists, std::span<const std::uint32_t> keys,
                       std::size_t limit, std::size_t n_threads) {
  const std::size_t n_rows = lists.offsets.empty() ? 0 : lists.offsets.size() - 1;
  const std::size_t n = lists.keys.size();
  const bool has_weights = !lists.weights.empty();
  require(lists.counts.size() == n && (!has_weights || lists.weights.size() == n),
          "keys and counts differ in number");
  require(n_rows == 0 ? n == 0 : lists.offsets.front() == 0 && lists.offsets.back() == n,
          "lists do not fill their array");
  const PlacesOfKeys places(keys);

  RankedLists ranked;
  ranked.offsets.assign(keys.size() + 1, 0);
  for (const std::uint32_t key : lists.keys) ++ranked.offsets[places[key] + 1];
  std::vector<std::uint64_t> pairs_before(keys.size() + 1, 0);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    pairs_before[k + 1] = pairs_before[k] + ranked.offsets[k + 1];
    ranked.offsets[k + 1] =
        ranked.offsets[k] + std::min<std::uint64_t>(ranked.offsets[k + 1], limit);
  }
  for (std::size_t row = 0; row < n_rows; ++row)
    require(lists.offsets[row] <= lists.offsets[row + 1] && lists.offsets[row + 1] <= n,
            "a list ends beyond its array");
  const std::size_t n_entries = ranked.offsets.back();
  ranked.rows.resize(n_entries);
  ranked.roots.resize(n_entries);
  if (has_weights) ranked.weights.resize(n_entries);
  const auto edges = share_out(pairs_before, n_threads);

  // Each thread goes through all lists and ranks the entries of its own keys. A list that is full
  // is a heap with the entry that ranks last on top.
  ThreadTeam(n_threads).run([&](std::size_t thread) {
    const std::size_t low = edges[thread], high = edges[thread + 1];
    if (low == high) return;
    const std::uint32_t lowest = keys[low], highest = keys[high - 1];
    const std::uint64_t start = ranked.offsets[low];
    std::vector<Entry> entries(ranked.offsets[high] - start);
    std::vector<std::uint32_t> filled(high - low, 0);
    for (std::size_t row = 0; row < n_rows; ++row)
      for (std::size_t i = lists.offsets[row]; i < lists.offsets[row + 1]; ++i) {
        if (lists.keys[i] < lowest || lists.keys[i] > highest) continue;
        const std::uint32_t k = places[lists.keys[i]];
        Entry* const begin = entries.data() + (ranked.offsets[k] - start);
        const std::size_t room = ranked.offsets[k + 1] - ranked.offsets[k];
        const Entry entry{lists.counts[i], static_cast<std::uint32_t>(row),
                          has_weights ? lists.weights[i] : 0.0f};
        std::uint32_t& n_filled = filled[k - low];
        if (n_filled < room) {
          begin[n_filled++] = entry;
          if (n_filled == room) std::make_heap(begin, begin + room, before);
        } else if (room > 0 && entry.ranks_before(*begin)) {
          std::pop_heap(begin, begin + room, before);
          begin[room - 1] = entry;
          std::push_heap(begin, begin + room, before);
        }
      }
    for (std::size_t k = low; k < high; ++k)
      std::sort(entries.data() + (ranked.offsets[k] - start),
                entries.data() + (ranked.offsets[k + 1] - start), before);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ranked.rows[start + i] = entries[i].row;
      ranked.roots[start + i] = std::sqrt(entries[i].count);
      if (has_weights) ranked.weights[start + i] = entries[i].weight;
    }
  });
  return ranked;
}

}  // namespace recalltree
