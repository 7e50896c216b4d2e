// Some examples by feature instead of by example: who has a feature, and how much of it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace recalltree {

struct Occurrence {
  std::uint32_t feature, example;
  float value;
};

// Those of the examples that were added, in ascending order of them.
class Occurrences {
 public:
  void add(const Occurrence& occurrence) {
    all_.push_back(occurrence);
    features_ |= occurrence.feature;
  }
  std::size_t size() const { return all_.size(); }
  void clear() {
    all_.clear();
    features_ = 0;
  }

  // Occurrences by feature, then by example: a radix sort.
  const std::vector<Occurrence>& by_feature() {
    other_.resize(all_.size());
    for (int shift = 0; shift < static_cast<int>(std::bit_width(features_)); shift += kBits) {
      std::array<std::size_t, std::size_t{1} << kBits> starts{};
      const auto digit = [&](const Occurrence& o) {
        return o.feature >> shift & (starts.size() - 1);
      };
      for (const Occurrence& o : all_) ++starts[digit(o)];
      std::size_t sum = 0;
      for (std::size_t& start : starts) {
        const std::size_t count = start;
        start = sum;
        sum += count;
      }
      for (const Occurrence& o : all_) other_[starts[digit(o)]++] = o;
      all_.swap(other_);
    }
    return all_;
  }

 private:
  static constexpr int kBits = 11;

  std::vector<Occurrence> all_, other_;
  std::uint32_t features_ = 0;  // the bits that any of them has
};

}  // namespace recalltree
