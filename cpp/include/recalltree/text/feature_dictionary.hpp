// Names of features -> columns, without collisions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recalltree/text/feature_hash.hpp"

namespace recalltree {

// Names in order of first appearance; the place of a name is its column.
class FeatureDictionary {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit FeatureDictionary(std::uint32_t max_size) : max_size_(max_size) {}

  std::size_t size() const { return ends_.size(); }
  std::uint32_t max_size() const { return max_size_; }
  bool full() const { return size() >= max_size_; }
  std::string_view name(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

  std::uint32_t find(std::string_view name) const;
  // A name that is not there yet; the dictionary must not be full.
  std::uint32_t append(std::string_view name);
  // Forgets the names that came last, as if they had not come.
  void shrink(std::size_t size);

 private:
  std::size_t slot_of(std::string_view name) const;

  std::uint32_t max_size_;
  std::string text_;  // all names, one after the other
  std::vector<std::size_t> ends_;
  std::vector<std::uint32_t> slots_;  // open addressing; kNone is free
};

}  // namespace recalltree
