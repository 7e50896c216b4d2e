// Labels ranked by count: the largest first, of equal ones the label that got there first. Entries
// have a label and the square root of its count, which is what a vote adds up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "recalltree/base/types.hpp"

namespace recalltree {

// Place of a label with this root among at most `limit` labels, or the size if it is not there.
template <class Entry>
std::size_t find_ranked(std::span<const Entry> ranked, std::size_t limit, ClassId label,
                        float root) {
  // The root of the smallest float that has all its digits: the counts of smaller ones may be 0.
  constexpr float kFaded = 0x1p-63f;
  if (ranked.empty()) return 0;
  // A label that fell behind the last of a full list is not there. Without a count it is new,
  // unless its count has faded away; its root is then not far from it.
  const float last = ranked.back().root;
  if ((ranked.size() == limit && root < last) || (root == 0.0f && last > kFaded))
    return ranked.size();
  // Only the labels with the same count need a look.
  const auto is_label = [label](const Entry& entry) { return entry.label == label; };
  auto at = std::lower_bound(ranked.begin(), ranked.end(), root,
                             [](const Entry& entry, float r) { return entry.root > r; });
  while (at != ranked.end() && at->root == root && !is_label(*at)) ++at;
  // A root that is not exactly the listed one does not lose the label.
  if (at == ranked.end() || at->root != root)
    at = std::find_if(ranked.begin(), ranked.end(), is_label);
  return static_cast<std::size_t>(at - ranked.begin());
}

// The root of a label has grown from `before` to raised.root. A label that is new is listed if
// there is room, which add_room() makes, returning the list; or if it beats the last. Returns how
// many entries were touched.
template <class Entry, class AddRoom>
std::size_t raise_ranked(std::span<Entry> ranked, std::size_t limit, float before,
                         const Entry& raised, AddRoom add_room) {
  std::size_t at = find_ranked<Entry>(ranked, limit, raised.label, before);
  if (at < ranked.size()) {
    if (raised.root <= ranked[at].root) return 1;  // too little for a float
  } else if (at < limit) {
    ranked = add_room();
  } else {
    if (raised.root <= ranked.back().root) return 1;
    --at;
  }
  const auto begin = ranked.begin(), old = begin + static_cast<std::ptrdiff_t>(at);
  const auto to = std::lower_bound(
      begin, old, raised.root, [](const Entry& entry, float root) { return entry.root >= root; });
  std::move_backward(to, old, old + 1);
  *to = raised;
  return static_cast<std::size_t>(old - to) + 1;
}

}  // namespace recalltree
