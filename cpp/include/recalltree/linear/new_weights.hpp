// Weights that an owner has made while columns keep their shape: several threads read them, and
// none moves what another reads. They go into the columns when all owners are done.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "recalltree/base/ownership.hpp"
#include "recalltree/base/probing.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

class NewWeights {
 public:
  bool empty() const { return size_ == 0; }

  void clear() {
    if (empty()) return;
    std::fill(slots_.begin(), slots_.end(), kNoItem);
    first_.fill(kNoItem);
    size_ = 0;
  }

  // Null if there is none. Stays where it is until all are cleared.
  float* find(std::uint32_t feature, ModelId model) {
    if (empty()) return nullptr;
    const std::uint32_t entry = slots_[slot_of(feature, model)];
    return entry == kNoItem ? nullptr : &(*this)[entry].value;
  }

  // A weight that is not there yet: 0, with an accumulator of 0.
  float* add(std::uint32_t feature, ModelId model) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    if (size_ == blocks_.size() * kBlockSize)
      blocks_.push_back(std::make_unique<Entry[]>(kBlockSize));
    std::uint32_t& first = first_[owner_of(feature, kOwners)];
    slots_[slot_of(feature, model)] = size_;
    (*this)[size_] = {0.0f, 0.0f, feature, model, first};
    first = size_;
    return &(*this)[size_++].value;
  }

  // The accumulator of one of these weights.
  static float* accumulator(float* weight) { return weight + 1; }

  // Calls put(feature, model, value, accumulator) for the features of one of kOwners owners.
  template <class Put>
  void visit(Owner owner, Put put) const {
    if (empty()) return;
    for (std::uint32_t i = first_[owner.number]; i != kNoItem; i = (*this)[i].next) {
      const Entry& entry = (*this)[i];
      put(entry.feature, entry.model, entry.value, entry.accumulator);
    }
  }

 private:
  struct Entry {
    float value, accumulator;
    std::uint32_t feature;
    ModelId model;
    std::uint32_t next;  // of a feature with the same owner
  };
  static constexpr std::size_t kBlockSize = 256;

  Entry& operator[](std::uint32_t i) { return blocks_[i / kBlockSize][i % kBlockSize]; }
  const Entry& operator[](std::uint32_t i) const { return blocks_[i / kBlockSize][i % kBlockSize]; }

  // Slot of the pair, or the free one where it belongs.
  std::size_t slot_of(std::uint32_t feature, ModelId model) const {
    const std::size_t home = home_of(feature * 0x85EBCA6Bu ^ model, slots_.size());
    return probe(home, slots_.size(), [&](std::size_t slot) {
      if (slots_[slot] == kNoItem) return true;
      const Entry& entry = (*this)[slots_[slot]];
      return entry.feature == feature && entry.model == model;
    });
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), kNoItem);
    if (size_ == 0) first_.fill(kNoItem);
    for (std::uint32_t i = 0; i < size_; ++i)
      slots_[slot_of((*this)[i].feature, (*this)[i].model)] = i;
  }

  std::vector<std::unique_ptr<Entry[]>> blocks_;
  std::vector<std::uint32_t> slots_;               // an open addressing table of entries
  std::array<std::uint32_t, kOwners> first_ = {};  // by owner of the feature
  std::uint32_t size_ = 0;
};

}  // namespace recalltree
