// The distinct labels of a node in order of arrival, and where each of them stands.
#pragma once

#include <cstdint>
#include <vector>

#include "inlining.hpp"
#include "prefetch.hpp"
#include "types.hpp"

namespace recalltree {

class LabelIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::size_t size() const { return labels_.size(); }
  const std::vector<ClassId>& labels() const { return labels_; }

  // Position of a label, or kNone.
  std::uint32_t find(ClassId label) const {
    if (!wide_.empty()) return find_in(wide_, label);
    if (!narrow_.empty()) return find_in(narrow_, label);
    for (std::uint32_t i = 0; i < labels_.size(); ++i)
      if (labels_[i] == label) return i;
    return kNone;
  }

  // Where find begins, to be in the cache by then.
  RECALLTREE_INLINE void prefetch(ClassId label) const {
    if (!wide_.empty())
      recalltree::prefetch(wide_.data() + home(wide_, label));
    else if (!narrow_.empty())
      recalltree::prefetch(narrow_.data() + home(narrow_, label));
    else
      recalltree::prefetch(labels_.data());
  }

  // A label that is not there yet.
  std::uint32_t append(ClassId label) {
    const auto at = static_cast<std::uint32_t>(labels_.size());
    push(labels_, label);
    if (labels_.size() > kNarrow)
      put(wide_, at);
    else if (labels_.size() > kScanned)
      put(narrow_, at);
    return at;
  }

  std::size_t bytes() const {
    return labels_.capacity() * sizeof(ClassId) + narrow_.capacity() * sizeof(std::uint16_t) +
           wide_.capacity() * sizeof(std::uint32_t);
  }

  // Appends with an eighth more room than needed, not twice: most memory of a tree is in its
  // labels.
  template <class T>
  static void push(std::vector<T>& v, T value) {
    if (v.size() == v.capacity()) v.reserve(v.size() + v.size() / 8 + 2);
    v.push_back(value);
  }

 private:
  static constexpr std::size_t kScanned = 8;      // so few labels need no table
  static constexpr std::size_t kNarrow = 0xffff;  // so many can be counted in 16 bits

  // Open addressing tables of positions; the largest number marks a free slot.
  template <class T>
  static constexpr T free_slot() {
    return static_cast<T>(~T{0});
  }
  template <class T>
  static std::size_t home(const std::vector<T>& table, ClassId label) {
    return static_cast<std::size_t>((std::uint64_t{label * 0x9E3779B1u} * table.size()) >> 32);
  }
  template <class T>
  static std::size_t after(const std::vector<T>& table, std::size_t i) {
    return i + 1 < table.size() ? i + 1 : 0;
  }

  template <class T>
  std::uint32_t find_in(const std::vector<T>& table, ClassId label) const {
    for (std::size_t i = home(table, label);; i = after(table, i)) {
      const T at = table[i];
      if (at == free_slot<T>()) return kNone;
      if (labels_[at] == label) return at;
    }
  }

  template <class T>
  void put(std::vector<T>& table, std::uint32_t at) {
    if (labels_.size() * 5 > table.size() * 4) {
      std::vector<T>(labels_.size() * 3 / 2 + 4, free_slot<T>()).swap(table);
      if (sizeof(T) > 2) std::vector<std::uint16_t>().swap(narrow_);
      for (std::uint32_t i = 0; i < at; ++i) insert(table, i);
    }
    insert(table, at);
  }
  template <class T>
  void insert(std::vector<T>& table, std::uint32_t at) const {
    std::size_t i = home(table, labels_[at]);
    while (table[i] != free_slot<T>()) i = after(table, i);
    table[i] = static_cast<T>(at);
  }

  std::vector<ClassId> labels_;
  std::vector<std::uint16_t> narrow_;  // label -> position, while all positions fit
  std::vector<std::uint32_t> wide_;    // afterwards
};

}  // namespace recalltree
