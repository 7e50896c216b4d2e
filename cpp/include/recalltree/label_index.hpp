// The distinct labels of a node in order of arrival, and where each of them stands.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "types.hpp"

namespace recalltree {

class LabelIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::size_t size() const { return labels_.size(); }
  const std::vector<ClassId>& labels() const { return labels_; }

  // Position of a label, or kNone.
  std::uint32_t find(ClassId label) const {
    if (slots_.empty()) {
      for (std::uint32_t i = 0; i < labels_.size(); ++i)
        if (labels_[i] == label) return i;
      return kNone;
    }
    for (std::size_t i = home(label);; i = (i + 1) & (slots_.size() - 1)) {
      const std::uint32_t at = slots_[i];
      if (at == kNone || labels_[at] == label) return at;
    }
  }

  // A label that is not there yet.
  std::uint32_t append(ClassId label) {
    const auto at = static_cast<std::uint32_t>(labels_.size());
    push(labels_, label);
    if (labels_.size() <= kScanned) return at;
    if (labels_.size() * 4 > slots_.size() * 3) {
      slots_.assign(std::bit_ceil(labels_.size() * 4 / 3 + 1), kNone);
      for (std::uint32_t i = 0; i < at; ++i) put(i);
    }
    put(at);
    return at;
  }

  std::size_t bytes() const { return (labels_.capacity() + slots_.capacity()) * sizeof(std::uint32_t); }

  // Appends with a quarter more room than needed, not twice: most memory of a tree is in its labels.
  template <class T>
  static void push(std::vector<T>& v, T value) {
    if (v.size() == v.capacity()) v.reserve(v.size() + v.size() / 4 + 2);
    v.push_back(value);
  }

 private:
  static constexpr std::size_t kScanned = 8;  // so few labels need no slots

  std::size_t home(ClassId label) const {
    return (label * 0x9E3779B1u) >> (32 - std::countr_zero(slots_.size()));
  }
  void put(std::uint32_t at) {
    std::size_t i = home(labels_[at]);
    while (slots_[i] != kNone) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = at;
  }

  std::vector<ClassId> labels_;
  std::vector<std::uint32_t> slots_;  // open addressing: label -> position
};

}  // namespace recalltree
