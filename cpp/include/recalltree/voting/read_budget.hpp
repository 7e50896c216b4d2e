// Limit on how far the histograms of an example's features are read.
//
// An example may read this many entries and no more, and its features have far more. Those that say
// most go first: an entry promises the feature's pull times sqrt(c(y, k) / n_k), the share of the
// feature that is its label's. Within a histogram the promises fall, so that it is read from the
// top, in blocks; whichever has the largest promise next is read on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recalltree/voting/voting_workspace.hpp"

namespace recalltree {

// Where the next block of a histogram ends, of which n entries are read; at most `left` more. Equal
// entries are read together or not at all, so that a root says whether its label was read. If the
// histogram is full, others that are not there may be equal to its last ones: these are not read.
template <class Entries>
std::size_t end_of_block(const Entries& entries, std::size_t n, std::size_t left,
                         std::size_t max_labels) {
  const std::size_t size = entries.size();
  const auto skip = [&](std::size_t begin, std::size_t end, auto is_before) {
    while (begin < end) {
      const std::size_t middle = begin + (end - begin) / 2;
      if (is_before(entries[middle].root))
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  };
  const auto first_not_larger = [&](std::size_t begin, std::size_t end, float root) {
    return skip(begin, end, [root](float found) { return found > root; });
  };
  // Equal entries are most often few, the labels of one example, and next to each other in memory.
  const auto first_smaller = [&](std::size_t begin, float root) {
    std::size_t step = 1;
    while (begin + step < size && entries[begin + step].root >= root) begin += step, step *= 2;
    return skip(begin, std::min(begin + step, size), [root](float found) { return found >= root; });
  };
  std::size_t end = std::min(n + kReadTogether, size);
  if (end == n) return n;
  const float last = entries[end - 1].root;
  if (end < size && entries[end].root == last) end = first_smaller(end, last);
  if (end == size && size >= max_labels) end = first_not_larger(n, end, last);
  if (end - n > left) end = first_not_larger(n, n + left, entries[n + left].root);
  return end;
}

// Moves the first of a heap down to where it belongs.
inline void sift_down(std::vector<Promise>& heap) {
  for (std::size_t i = 0, child; (child = 2 * i + 1) < heap.size(); i = child) {
    if (child + 1 < heap.size() && heap[child] < heap[child + 1]) ++child;
    if (!(heap[i] < heap[child])) return;
    std::swap(heap[i], heap[child]);
  }
}

// Decides how many entries of each key's histogram are read, at most max_entries together.
template <class Store>
void plan_reading(const Store& store, std::size_t max_entries, VotingWorkspace& ws) {
  const auto promise = [&](const ActiveKey& key, float root) {
    return key.pull * key.rarity * root;
  };
  std::vector<Promise>& next = ws.promises;  // a heap, the largest first
  next.clear();
  for (const ActiveKey& key : ws.keys) store.prefetch_entries(key, 0, kReadTogether + 1);
  for (std::uint32_t k = 0; k < ws.keys.size(); ++k) {
    ActiveKey& key = ws.keys[k];
    key.n_read = 0;
    if (key.rarity > 0.0f)
      store.with_entries(key, [&](const auto& entries) {
        if (entries.size() > 0) next.push_back({promise(key, entries[0].root), k});
      });
  }
  std::make_heap(next.begin(), next.end());
  std::size_t left = max_entries;
  while (!next.empty() && left > 0) {
    ActiveKey& key = ws.keys[next.front().key];
    bool goes_on = false;
    store.with_entries(key, [&](const auto& entries) {
      const std::size_t end =
          end_of_block(entries, key.n_read, left, store.rules.config.max_labels);
      // Where nothing was to be read, nothing will be.
      goes_on = end > key.n_read && end < entries.size();
      left -= end - key.n_read;
      key.n_read = static_cast<std::uint32_t>(end);
      if (!goes_on) return;
      next.front().value = promise(key, entries[end].root);
      store.prefetch_entries(key, end, end + kReadTogether + 1);
    });
    if (!goes_on) {
      next.front() = next.back();
      next.pop_back();
    }
    sift_down(next);
  }
}

}  // namespace recalltree
