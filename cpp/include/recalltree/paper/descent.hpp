// Examples that go down a tree side by side: what one of them needs comes from memory while the
// others are worked on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

class Descent {
 public:
  std::vector<NodeId> nodes;  // where each example stands

  // Takes the first of n examples: read(i, x) puts the i-th into x.
  template <class Read>
  void read(std::size_t n, Read read) {
    nodes.resize(std::min(n, kExamples));
    if (examples_.size() < nodes.size()) examples_.resize(nodes.size());
    for (std::size_t e = 0; e < nodes.size(); ++e) read(e, examples_[e]);
  }

  // Moves each example down from the root. is_leaf(node): nothing is asked there. router(node): its
  // row, or kNoRow, which says 0. next(node, margin): the child to enter, or kNoNode to stay.
  // Returns how many margins were asked for.
  template <class IsLeaf, class Router, class Next>
  std::size_t run(NodeId root, const Weights& routers, IsLeaf is_leaf, Router router, Next next) {
    std::fill(nodes.begin(), nodes.end(), root);
    moving_.resize(nodes.size());
    std::iota(moving_.begin(), moving_.end(), 0u);
    active_.resize(examples_.size());
    for (std::size_t e = 0; e < nodes.size(); ++e) routers.look_up(examples_[e], active_[e]);
    std::size_t asked = 0;
    for (;;) {
      std::erase_if(moving_, [&](std::uint32_t e) { return is_leaf(nodes[e]); });
      if (moving_.empty()) return asked;
      rows_.clear();
      xs_.clear();
      for (const std::uint32_t e : moving_) {
        rows_.push_back(router(nodes[e]));
        xs_.push_back(&active_[e]);
      }
      margins_.resize(rows_.size());
      routers.score_each(rows_.data(), xs_.data(), rows_.size(), margins_.data());
      asked += rows_.size();
      std::size_t kept = 0;
      for (std::size_t i = 0; i < moving_.size(); ++i) {
        const std::uint32_t e = moving_[i];
        const NodeId child = next(nodes[e], margins_[i]);
        if (child == kNoNode) continue;
        nodes[e] = child;
        moving_[kept++] = e;
      }
      moving_.resize(kept);
    }
  }

 private:
  static constexpr std::size_t kExamples = 64;  // at a time

  std::vector<Example> examples_;
  std::vector<ActiveFeatures> active_;
  std::vector<std::uint32_t> moving_;
  std::vector<RowId> rows_;
  std::vector<const ActiveFeatures*> xs_;
  std::vector<float> margins_;
};

}  // namespace recalltree
