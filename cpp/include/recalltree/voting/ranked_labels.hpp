// The label histogram of a node that votes: of its labels those with the largest counts, in that
// order. Kept are the square roots of the counts, which is what a vote adds up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "recalltree/base/types.hpp"

namespace recalltree {

class RankedLabels {
 public:
  struct Entry {
    ClassId label;
    float root;  // square root of the label's count
    double count() const { return double(root) * double(root); }
  };

  // The largest root first; equal ones: the label that got there first.
  const std::vector<Entry>& entries() const { return entries_; }
  double total() const { return total_; }  // of all labels, listed or not
  // The sum of the counts that are listed.
  double mass() const {
    double mass = 0.0;
    for (const Entry& entry : entries_) mass += entry.count();
    return mass;
  }

  void add_to_total(double weight) { total_ += weight; }
  // The count of a label has grown, and its root with it. Lists at most `limit` labels, and returns
  // how many entries were touched.
  std::size_t raise(ClassId label, float before, float after, std::size_t limit) {
    std::size_t at = position(label, before, limit);
    if (at == entries_.size()) {
      if (at == limit) {
        if (after <= entries_.back().root) return 1;
        --at;
      } else {
        // An eighth more room than needed, not twice.
        if (at == entries_.capacity()) entries_.reserve(std::min(limit, at + at / 8 + 2));
        entries_.push_back({label, after});
      }
    } else if (after <= entries_[at].root) {
      return 1;  // another thread was quicker
    }
    const auto begin = entries_.begin(), old = begin + static_cast<std::ptrdiff_t>(at);
    const auto to = std::lower_bound(
        begin, old, after, [](const Entry& entry, float root) { return entry.root >= root; });
    std::move_backward(to, old, old + 1);
    *to = {label, after};
    return static_cast<std::size_t>(old - to) + 1;
  }

  // All counts times a factor whose root this is.
  void rescale(double root) {
    total_ *= root * root;
    for (Entry& entry : entries_) entry.root *= static_cast<float>(root);
  }

  std::size_t bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  // Where a label with this root stands, or the size if it is not there.
  std::size_t position(ClassId label, float root, std::size_t limit) const {
    // A label that fell behind the last of a full histogram is not there.
    if (root == 0.0f || (entries_.size() == limit && root < entries_.back().root))
      return entries_.size();
    // The histogram is sorted, so that only the labels with the same count need a look.
    const auto is_label = [label](const Entry& entry) { return entry.label == label; };
    auto at = std::lower_bound(entries_.begin(), entries_.end(), root,
                               [](const Entry& entry, float r) { return entry.root > r; });
    while (at != entries_.end() && at->root == root && !is_label(*at)) ++at;
    // Another thread may have been between the count and its root.
    if (at == entries_.end() || at->root != root)
      at = std::find_if(entries_.begin(), entries_.end(), is_label);
    return static_cast<std::size_t>(at - entries_.begin());
  }

  std::vector<Entry> entries_;
  double total_ = 0.0;
};

}  // namespace recalltree
