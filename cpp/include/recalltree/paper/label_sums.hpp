// Two sums for each of the labels that came to a node of LOMTree: a leaf's counts, or a router's
// margins. A label and its sums lie together, so that finding them costs at most one miss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "recalltree/base/hints.hpp"
#include "recalltree/base/probing.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

struct Margin {
  double sum = 0.0, weight = 0.0;
  double mean() const { return weight > 0.0 ? sum / weight : 0.0; }
  void add(double w, double margin) { sum += w * margin, weight += w; }
};

class LabelSums {
 public:
  // A count is a sum without a weight.
  struct Entry : Margin {
    ClassId label = kNoClass;   // none: free
    std::uint32_t arrival = 0;  // how many labels came before
  };

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return capacity_ * sizeof(Entry); }

  // Null if the label is not there, or is none.
  const Entry* find(ClassId label) const {
    if (size_ == 0 || label == kNoClass) return nullptr;
    const Entry& entry = *place(label);
    return entry.label == label ? &entry : nullptr;
  }

  // Stays where it is until another label is added.
  Entry& find_or_add(ClassId label) {
    if (capacity_ > 0) {
      Entry* const entry = place(label);
      if (entry->label == label) return *entry;
    }
    if ((size_ + 1) * 5 > capacity_ * 4) grow();  // some stay free
    Entry* const entry = place(label);
    entry->label = label;
    entry->arrival = size_++;
    return *entry;
  }

  void prefetch(ClassId label) const {
    if (capacity_ > 0) recalltree::prefetch(entries_.get() + home(label));
  }

  // Calls visit(entry) for all labels, in any order.
  template <class Visit>
  void visit(Visit visit) const {
    for (std::uint32_t i = 0; i < capacity_; ++i)
      if (entries_[i].label != kNoClass) visit(entries_[i]);
  }

  std::vector<Entry> in_order_of_arrival() const {
    std::vector<Entry> all(size_);
    visit([&](const Entry& entry) { all[entry.arrival] = entry; });
    return all;
  }

 private:
  std::size_t home(ClassId label) const { return home_of(label, capacity_); }
  // Entry of the label, or the free entry where it belongs.
  Entry* place(ClassId label) const {
    return entries_.get() + probe(home(label), capacity_, [&](std::size_t i) {
             return entries_[i].label == label || entries_[i].label == kNoClass;
           });
  }

  void grow() {
    const std::unique_ptr<Entry[]> old = std::move(entries_);
    const std::uint32_t n = capacity_;
    capacity_ = n + n / 2 + 2;
    entries_ = std::make_unique<Entry[]>(capacity_);
    for (std::uint32_t i = 0; i < n; ++i)
      if (old[i].label != kNoClass) *place(old[i].label) = old[i];
  }

  std::unique_ptr<Entry[]> entries_;  // an open addressing table
  std::uint32_t capacity_ = 0, size_ = 0;
};

}  // namespace recalltree
