#include "recalltree/file/ranked_lists.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

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

}  // namespace

RankedLists rank_lists(const CountedLists& lists, std::span<const std::uint32_t> keys,
                       std::size_t limit) {
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
  for (std::size_t k = 0; k < keys.size(); ++k)
    ranked.offsets[k + 1] =
        ranked.offsets[k] + std::min<std::uint64_t>(ranked.offsets[k + 1], limit);

  // A list that is full is a heap with the entry that ranks last on top.
  std::vector<Entry> entries(ranked.offsets.back());
  std::vector<std::uint32_t> filled(keys.size(), 0);
  for (std::size_t row = 0; row < n_rows; ++row) {
    require(lists.offsets[row] <= lists.offsets[row + 1] && lists.offsets[row + 1] <= n,
            "a list ends beyond its array");
    for (std::size_t i = lists.offsets[row]; i < lists.offsets[row + 1]; ++i) {
      const std::uint32_t k = places[lists.keys[i]];
      Entry* const begin = entries.data() + ranked.offsets[k];
      const std::size_t room = ranked.offsets[k + 1] - ranked.offsets[k];
      const Entry entry{lists.counts[i], static_cast<std::uint32_t>(row),
                        has_weights ? lists.weights[i] : 0.0f};
      if (filled[k] < room) {
        begin[filled[k]++] = entry;
        if (filled[k] == room) std::make_heap(begin, begin + room, before);
      } else if (room > 0 && entry.ranks_before(*begin)) {
        std::pop_heap(begin, begin + room, before);
        begin[room - 1] = entry;
        std::push_heap(begin, begin + room, before);
      }
    }
  }
  for (std::size_t k = 0; k < keys.size(); ++k)
    std::sort(entries.data() + ranked.offsets[k], entries.data() + ranked.offsets[k + 1], before);
  ranked.rows.resize(entries.size());
  ranked.roots.resize(entries.size());
  if (has_weights) ranked.weights.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ranked.rows[i] = entries[i].row;
    ranked.roots[i] = std::sqrt(entries[i].count);
    if (has_weights) ranked.weights[i] = entries[i].weight;
  }
  return ranked;
}

}  // namespace recalltree
