// Slots of an open-addressing table that are found by tags: a byte of each key's hash, in groups of
// sixteen that are compared at once. A table has not met most keys that it is asked for, and its
// tags, a few neighbouring cache lines, say so.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "recalltree/kernels/groups.hpp"

namespace recalltree {

class TaggedSlots {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Tags of this many slots, aligned to 16 bytes; 0 where there is no key.
  TaggedSlots(std::uint8_t* tags, std::uint32_t capacity) : tags_(tags), capacity_(capacity) {}

  // A quarter of the slots is free, and little more, so that keys are near where they are looked
  // for. In less than a group all may be taken, and what it takes fills cache lines.
  static std::uint32_t capacity_for(std::uint32_t keys) {
    if (keys == 0) return 0;
    if (keys < kTagsInGroup) return keys | 3;
    const std::uint32_t slots = keys + keys / 3;
    const std::uint32_t step = std::max<std::uint32_t>(kTagsInGroup, std::bit_floor(slots) / 4);
    return (slots + step - 1) / step * step;
  }
  // A table of less than a group has all of its tags.
  static std::size_t tag_bytes(std::uint32_t capacity) {
    return (capacity + kTagsInGroup - 1) / kTagsInGroup * kTagsInGroup;
  }

  // Place of a key if it is here, by the tags alone, or kNone, which is certain. Whether one fits
  // cannot be foreseen, so that nothing branches on it.
  std::uint32_t guess(std::uint32_t key) const {
    if (capacity_ == 0) return kNone;
    const Hash hash(key);
    for (std::uint32_t group = home(hash);; group = next(group)) {
      const unsigned fits = matches(tags_ + group, hash.tags), has_room = !is_full(group);
      const std::uint32_t none = 0u - static_cast<std::uint32_t>(fits == 0);
      if ((fits | has_room) != 0)
        return (group + static_cast<std::uint32_t>(std::countr_zero(fits | 1u << 31))) | none;
    }
  }
  // The slot of a key, or kNone. is_here(slot) tells whether it is the key's.
  template <class IsHere>
  std::uint32_t find(std::uint32_t key, IsHere is_here) const {
    if (capacity_ == 0) return kNone;
    const Hash hash(key);
    for (std::uint32_t group = home(hash);; group = next(group)) {
      for (unsigned fits = matches(tags_ + group, hash.tags); fits != 0; fits &= fits - 1) {
        const std::uint32_t slot = group + static_cast<std::uint32_t>(std::countr_zero(fits));
        if (is_here(slot)) return slot;
      }
      if (!is_full(group)) return kNone;
    }
  }
  // The slot of a key that is not here yet.
  std::uint32_t insert(std::uint32_t key) {
    const Hash hash(key);
    std::uint32_t group = home(hash);
    while (is_full(group)) group = next(group);
    const std::uint32_t slot =
        group + static_cast<std::uint32_t>(std::countr_zero(matches(tags_ + group, 0)));
    tags_[slot] = static_cast<std::uint8_t>(hash.tags);
    return slot;
  }

 private:
  // Start and tag of the search for a key.
  struct Hash {
    std::uint32_t place;
    FourTags tags;  // never 0, which is no key's

    explicit Hash(std::uint32_t key) {
      const std::uint64_t hash = key * 0x9E3779B97F4A7C15u;
      place = static_cast<std::uint32_t>(hash >> 32);
      const auto tag = static_cast<std::uint8_t>(hash >> 24);
      tags = four_times(tag != 0 ? tag : 1);
    }
  };
  // First slot of the group in which a key is looked for first, and of the one after it.
  std::uint32_t home(Hash hash) const {
    const std::uint64_t groups = tag_bytes(capacity_) / kTagsInGroup;
    return static_cast<std::uint32_t>(hash.place * groups >> 32) * kTagsInGroup;
  }
  std::uint32_t next(std::uint32_t group) const {
    return group + kTagsInGroup >= capacity_ ? 0 : group + kTagsInGroup;
  }
  // Groups are filled from the first slot on.
  bool is_full(std::uint32_t group) const { return tags_[group + kTagsInGroup - 1] != 0; }

  std::uint8_t* tags_;
  std::uint32_t capacity_;
};

}  // namespace recalltree
