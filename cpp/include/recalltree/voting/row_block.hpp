// A block of rows whose keys have voted, and the candidates of all of them, class by class.
//
// The pairs of a class are anywhere in memory. Asked for one row after the other they have left the
// caches when the next row names the class; asked for many rows at once they are fetched once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "recalltree/voting/feature_weighting.hpp"
#include "recalltree/voting/votes.hpp"

namespace recalltree {

class RowBlock {
 public:
  // A candidate of a row, and what is known of it so far.
  struct RowCandidate {
    ClassId label;
    std::uint32_t row, place;  // place: among the candidates of all rows
    Sums sums;
  };

  // Rows in a block: enough that several name the same class, few enough that what is kept of them,
  // about half a kilobyte each, stays in the caches.
  static std::size_t max_rows(std::size_t n_classes) {
    constexpr std::size_t kFew = 4096, kMany = 16384;
    return std::clamp(n_classes / 4, kFew, kMany);
  }

  void clear() {
    keys_.clear(), candidates_.clear();
    labels_.clear();
    ends_.assign(1, {0, 0});
  }

  // The next row: its keys that candidates are asked for, its candidates.
  void add(const std::vector<AskedKey>& keys, const std::vector<Candidate>& candidates) {
    const auto row = static_cast<std::uint32_t>(size());
    for (const Candidate& candidate : candidates) {
      const auto place = static_cast<std::uint32_t>(candidates_.size());
      candidates_.push_back({candidate.label, row, place, candidate.sums});
      labels_.push_back(candidate.label);
    }
    keys_.insert(keys_.end(), keys.begin(), keys.end());
    ends_.push_back({keys_.size(), candidates_.size()});
  }

  std::size_t size() const { return ends_.size() - 1; }
  std::span<const AskedKey> keys(std::size_t row) const {
    return std::span(keys_).subspan(ends_[row].keys, ends_[row + 1].keys - ends_[row].keys);
  }

  // All candidates, those of a class one after the other in the order of their rows.
  std::span<RowCandidate> by_class(std::size_t n_classes) {
    constexpr unsigned kDigit = 11;
    scores_.resize(candidates_.size());
    sorted_.resize(candidates_.size());
    for (unsigned shift = 0; n_classes > 0 && (n_classes - 1) >> shift > 0; shift += kDigit) {
      std::array<std::uint32_t, 1u << kDigit> next{};
      const auto digit = [&](const RowCandidate& candidate) {
        return candidate.label >> shift & (next.size() - 1);
      };
      for (const RowCandidate& candidate : candidates_) ++next[digit(candidate)];
      std::uint32_t begin = 0;
      for (std::uint32_t& n : next) n = std::exchange(begin, begin + n);
      for (const RowCandidate& candidate : candidates_)
        sorted_[next[digit(candidate)]++] = candidate;
      candidates_.swap(sorted_);
    }
    return candidates_;
  }

  void set_score(const RowCandidate& candidate, float score) { scores_[candidate.place] = score; }

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

  std::vector<AskedKey> keys_;
  std::vector<RowCandidate> candidates_, sorted_;
  std::vector<ClassId> labels_;  // by row and candidate
  std::vector<float> scores_;
  std::vector<End> ends_;  // of the rows before
};

}  // namespace recalltree
