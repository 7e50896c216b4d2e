// Trees that vote, in a mapped file.
#pragma once

#include <cmath>
#include <memory>

#include "recalltree/base/config.hpp"
#include "recalltree/file/mapped_tree.hpp"
#include "recalltree/file/mapped_weights.hpp"
#include "recalltree/voting/key_forest.hpp"

namespace recalltree {

class MappedKeyForest : public KeyForestPrediction<MappedKeyForest> {
 public:
  MappedKeyForest(const OneAgainstSomeConfig& config, const State& state, std::size_t n_classes);

  const MappedTree& tree() const { return tree_; }
  const MappedWeights& routers() const { return *routers_; }
  template <class Use>
  RECALLTREE_INLINE auto with_histogram(NodeId n, Use use) const {
    return use(Histogram{tree_, n, max_labels()});
  }

  std::size_t histogram_bytes() const {
    return tree_.histogram_bytes() + bytes_of_fields(learning_) - learning_.passed.size_bytes();
  }
  std::size_t node_bytes() const { return tree_.node_bytes() + learning_.passed.size_bytes(); }

  // True if learning can continue from here.
  bool is_complete() const {
    return tree_.is_complete() && routers_->has_accumulators() && has_learning_;
  }
  // Throws std::invalid_argument where a number is not finite, or out of order. Reads everything.
  void check() const;

 private:
  struct Histogram {
    const MappedTree& tree;
    NodeId n;
    std::size_t max_labels;

    std::size_t size() const { return tree.n_labels(n); }
    double total() const { return tree.total(n); }
    double mass() const { return tree.candidate_mass(n); }
    template <class Visit>
    RECALLTREE_INLINE std::size_t visit(Visit visit) const {
      return tree.visit_labels(n, max_labels, [&](ClassId label, double count, std::uint32_t) {
        visit(label, static_cast<float>(std::sqrt(count)));
      });
    }
  };

  MappedTree tree_;
  std::unique_ptr<MappedWeights> routers_;
  bool has_learning_ = false;  // all of these arrays, or none
  ForestArrays<Viewed> learning_;
};

}  // namespace recalltree
