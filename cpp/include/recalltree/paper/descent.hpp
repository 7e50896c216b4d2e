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

  // Moves rows [begin, end) down from the root, some at a time, and calls arrive(first, nodes) for
  // these: where each of them stops, from the first on. read(row, x) puts a row into x.
  // is_leaf(node): nothing is asked there. router(node): its model; one that does not exist says 0.
  // next(node, margin): the child to enter, or kNoNode to stay. Returns how many margins were asked
  // for.
  template <class Read, class IsLeaf, class Router, class Next, class Arrive>
  std::size_t run(std::size_t begin, std::size_t end, NodeId root, Read read, IsLeaf is_leaf,
                  Router router, Next next, Arrive arrive) {
    std::size_t asked = 0;
    for (; begin < end; begin += nodes_.size()) {
      nodes_.assign(std::min(end - begin, kExamples), root);
      for (std::size_t e = 0; e < nodes_.size(); ++e) {
        read(begin + e, examples_[e]);
        scorer_->set(e, examples_[e]);
      }
      asked += move_down(is_leaf, router, next);
      arrive(begin, nodes_);
    }
    return asked;
  }

 private:
  static constexpr std::size_t kExamples = 64;  // at a time

  template <class IsLeaf, class Router, class Next>
  std::size_t move_down(IsLeaf is_leaf, Router router, Next next) {
    moving_.resize(nodes_.size());
    std::iota(moving_.begin(), moving_.end(), 0u);
    std::size_t asked = 0;
    for (;;) {
      std::erase_if(moving_, [&](std::uint32_t e) { return is_leaf(nodes_[e]); });
      if (moving_.empty()) return asked;
      routers_.clear();
      for (const std::uint32_t e : moving_) {
        const ModelId model = router(nodes_[e]);
        routers_.push_back(model < n_routers_ ? model : kNoModel);
      }
      margins_.resize(routers_.size());
      scorer_->score(routers_.data(), moving_.data(), routers_.size(), margins_.data());
      asked += routers_.size();
      std::size_t kept = 0;
      for (std::size_t i = 0; i < moving_.size(); ++i) {
        const std::uint32_t e = moving_[i];
        const NodeId child = next(nodes_[e], margins_[i]);
        if (child == kNoNode) continue;
        nodes_[e] = child;
        moving_[kept++] = e;
      }
      moving_.resize(kept);
    }
  }

  std::size_t n_routers_;
  std::unique_ptr<ExampleScorer> scorer_;
  std::vector<Example> examples_{kExamples};
  std::vector<NodeId> nodes_;  // where each example stands
  std::vector<std::uint32_t> moving_;
  std::vector<ModelId> routers_;
  std::vector<float> margins_;
};

}  // namespace recalltree
