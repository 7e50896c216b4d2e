// Rows whose keys have voted, and the candidates of all of them, class by class.
//
// What a class knows of its keys is anywhere in memory. Asked for one row after the other it has
// left the caches when the next row names the class; asked for many rows at once it is fetched
// once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "recalltree/base/hints.hpp"
#include "recalltree/voting/feature_weighting.hpp"
#include "recalltree/voting/votes.hpp"

namespace recalltree {

// A key of an example whose histogram was not read to the end, as the candidates need it.
struct UnreadKey {
  std::uint32_t key;
  float pull, rarity, value, unread;

  explicit UnreadKey(const ActiveKey& k)
      : key(k.key), pull(k.pull), rarity(k.rarity), value(k.value), unread(k.unread) {}
};

class VotedRows {
 public:
  // A candidate of a row, and what is known of it so far.
  struct Named {
    ClassId label;
    std::uint32_t row, place;  // place: among the candidates of all rows
    Sums sums;
  };

  void clear() {
    keys_.clear(), named_.clear();
    labels_.clear();
    ends_.assign(1, {0, 0});
  }

  // The next row: its keys, its candidates.
  void add(const std::vector<UnreadKey>& keys, const std::vector<Candidate>& candidates) {
    const auto row = static_cast<std::uint32_t>(size());
    for (const Candidate& candidate : candidates) {
      named_.push_back(
          {candidate.label, row, static_cast<std::uint32_t>(named_.size()), candidate.sums});
      labels_.push_back(candidate.label);
    }
    keys_.insert(keys_.end(), keys.begin(), keys.end());
    ends_.push_back({keys_.size(), named_.size()});
  }

  std::size_t size() const { return ends_.size() - 1; }
  std::span<const UnreadKey> keys(std::size_t row) const {
    return std::span(keys_).subspan(ends_[row].keys, ends_[row + 1].keys - ends_[row].keys);
  }

  // All candidates, those of a class one after the other in the order of their rows.
  std::vector<Named>& by_class(std::size_t n_classes) {
    constexpr unsigned kDigit = 11;
    scores_.resize(named_.size());
    sorted_.resize(named_.size());
    for (unsigned shift = 0; n_classes > 0 && (n_classes - 1) >> shift > 0; shift += kDigit) {
      std::array<std::uint32_t, 1u << kDigit> next{};
      const auto digit = [&](const Named& named) {
        return named.label >> shift & (next.size() - 1);
      };
      for (const Named& named : named_) ++next[digit(named)];
      std::uint32_t begin = 0;
      for (std::uint32_t& n : next) n = std::exchange(begin, begin + n);
      for (const Named& named : named_) sorted_[next[digit(named)]++] = named;
      named_.swap(sorted_);
    }
    return named_;
  }

  void score(const Named& named, float score) { scores_[named.place] = score; }

  // Calls emit(row, labels, scores, n) for the rows in their order.
  template <class Emit>
  void emit(const Emit& emit) const {
    for (std::size_t row = 0; row < size(); ++row) {
      const std::size_t begin = ends_[row].candidates;
      emit(row, labels_.data() + begin, scores_.data() + begin, ends_[row + 1].candidates - begin);
    }
  }

 private:
  struct End {
    std::size_t keys, candidates;
  };

  std::vector<UnreadKey> keys_;
  std::vector<Named> named_, sorted_;
  std::vector<ClassId> labels_;  // by row and candidate
  std::vector<float> scores_;
  std::vector<End> ends_;  // of the rows before
};

}  // namespace recalltree
