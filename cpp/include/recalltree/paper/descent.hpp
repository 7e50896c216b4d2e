// Examples that go down a tree side by side: what one of them needs comes from memory while the
// others are worked on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/weights.hpp"

namespace recalltree {

class Descent {
 public:
  explicit Descent(const ReadWeights& routers)
      : n_routers_(routers.size()), scorer_(routers.example_scorer()) {}

  std::vector<NodeId> nodes;  // where each example stands

  // Takes the first of n examples: read(i, x) puts the i-th into x.
  template <class Read>
  void read(std::size_t n, Read read) {
    nodes.resize(std::min(n, kExamples));
    for (std::size_t e = 0; e < nodes.size(); ++e) {
      read(e, examples_[e]);
      scorer_->set(e, examples_[e]);
    }
  }

  // Moves each example down from the root. is_leaf(node): nothing is asked there. router(node): its
  // row; one that does not exist says 0. next(node, margin): the child to enter, or kNoNode to
  // stay. Returns how many margins were asked for.
  template <class IsLeaf, class Router, class Next>
  std::size_t run(NodeId root, IsLeaf is_leaf, Router router, Next next) {
    std::fill(nodes.begin(), nodes.end(), root);
    moving_.resize(nodes.size());
    std::iota(moving_.begin(), moving_.end(), 0u);
    std::size_t asked = 0;
    for (;;) {
      std::erase_if(moving_, [&](std::uint32_t e) { return is_leaf(nodes[e]); });
      if (moving_.empty()) return asked;
      routers_.clear();
      for (const std::uint32_t e : moving_) {
        const ModelId model = router(nodes[e]);
        routers_.push_back(model < n_routers_ ? model : kNoModel);
      }
      margins_.resize(routers_.size());
      scorer_->score(routers_.data(), moving_.data(), routers_.size(), margins_.data());
      asked += routers_.size();
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

  std::size_t n_routers_;
  std::unique_ptr<ExampleScorer> scorer_;
  std::vector<Example> examples_{kExamples};
  std::vector<std::uint32_t> moving_;
  std::vector<ModelId> routers_;
  std::vector<float> margins_;
};

}  // namespace recalltree
