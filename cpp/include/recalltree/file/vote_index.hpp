// Shortcuts through a mapped one-against-some: where keys and pairs are, and what ranking needs of
// each class. They take about 5 bytes per pair, 4 per key and 32 per class, and are built when many
// rows are predicted.
//
// They say what the file said when they were built. Whoever follows one checks where it leads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "recalltree/base/hints.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/voting/tagged_slots.hpp"
#include "recalltree/voting/votes.hpp"

namespace recalltree {

class VoteIndex {
 public:
  // keys: sorted, as all lists of keys are.
  explicit VoteIndex(std::span<const std::uint32_t> keys) {
    if (keys.empty()) return;
    const std::uint32_t last = keys.back();
    shift_ = static_cast<unsigned>(std::bit_width(last / keys.size()));  // a key or two in each
    for (std::uint32_t i = 0; i < keys.size(); ++i)
      while (buckets_.size() <= std::min(keys[i], last) >> shift_) buckets_.push_back(i);
    buckets_.push_back(static_cast<std::uint32_t>(keys.size()));
  }

  // The next class, and the keys of its pairs.
  void add_class(std::span<const std::uint32_t> keys, const ClassTerms& terms) {
    terms_.push_back(terms);
    classes_.push_back({groups_.size(), places_.size(), 0});
    if (keys.size() > std::numeric_limits<std::uint16_t>::max()) return;  // it is searched
    const auto capacity = TaggedSlots::capacity_for(static_cast<std::uint32_t>(keys.size()));
    classes_.back().capacity = capacity;
    groups_.resize(groups_.size() + TaggedSlots::tag_bytes(capacity) / kTagsInGroup);
    places_.resize(places_.size() + capacity);
    TaggedSlots slots = slots_of(classes_.back());
    for (std::size_t i = 0; i < keys.size(); ++i)
      places_[classes_.back().first_place + slots.insert(keys[i])] = static_cast<std::uint16_t>(i);
  }

  const ClassTerms& terms(ClassId y) const { return terms_[y]; }
  // The part [first, second) of the keys in which a key is, if it is there.
  std::pair<std::size_t, std::size_t> bucket(std::uint32_t key) const {
    const std::size_t at = key >> shift_;
    if (at + 1 >= buckets_.size()) return {0, 0};
    return {buckets_[at], buckets_[at + 1]};
  }

  // The pairs of a class.
  struct Class {
    std::size_t first_group, first_place;
    std::uint32_t capacity;  // 0 if it has none, or too many
  };
  const Class& operator[](ClassId y) const { return classes_[y]; }
  TaggedSlots slots_of(const Class& y) const {
    return {const_cast<std::uint8_t*>(groups_.data()[y.first_group].tags), y.capacity};
  }
  // Place of a slot's pair among those of the class.
  const std::uint16_t* places_of(const Class& y) const { return places_.data() + y.first_place; }

  void prefetch(ClassId y) const {
    const Class& here = classes_[y];
    recalltree::prefetch(groups_.data() + here.first_group, here.capacity / kTagsInGroup + 1);
  }

  std::size_t bytes() const {
    return buckets_.size() * sizeof(buckets_[0]) + terms_.size() * sizeof(ClassTerms) +
           classes_.size() * sizeof(Class) + groups_.size() * sizeof(Group) +
           places_.size() * sizeof(places_[0]);
  }

 private:
  struct alignas(16) Group {
    std::uint8_t tags[kTagsInGroup] = {};
  };

  unsigned shift_ = 0;
  std::vector<std::uint32_t> buckets_;
  std::vector<ClassTerms> terms_;
  std::vector<Class> classes_;
  std::vector<Group> groups_;
  std::vector<std::uint16_t> places_;
};

}  // namespace recalltree
