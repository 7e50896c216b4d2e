// Notes on a row of a mini-batch: what it teaches a Recall Tree that nothing changes meanwhile.
#pragma once

#include <vector>

#include "recalltree/base/example.hpp"
#include "recalltree/base/ownership.hpp"
#include "recalltree/base/types.hpp"
#include "recalltree/linear/feature_scale.hpp"
#include "recalltree/linear/lookup_cache.hpp"

namespace recalltree {

struct RecallTreeNotes {
  Example x;
  ExampleColumns of_routers, of_predictors, of_path_weights;
  std::vector<FeatureScale::Raise> raises;
  double norm = 0.0;  // squared

  // Nodes from the root to where the row stops. Below some of these it is counted at one more
  // node, `next`; kNoNode until that is made, and if there is none.
  std::vector<NodeId> route;
  NodeId next = kNoNode;
  std::size_t n_passed = 0;    // nodes that were asked for their side: all, or all but the last
  bool is_right = false;       // the side of the last of these
  bool lacks_routers = false;  // nodes passed have none yet
  std::vector<double> totals;  // of the nodes passed

  Example path;  // path features
  // Candidates that learn.
  std::vector<ClassId> labels;
  std::vector<float> targets;

  // The first item is the root's count; item 1 + d is the router of the d-th node passed, and the
  // count of the child below. So an owner of a node has its router and its children's histograms.
  OwnedItems nodes;
  OwnedItems classes;  // by label that learns

  // The node below the d-th node passed.
  NodeId child(std::size_t d) const { return d + 1 < route.size() ? route[d + 1] : next; }
};

}  // namespace recalltree
