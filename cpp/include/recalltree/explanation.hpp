// Why a model answers as it does: what each feature of one example adds to the scores of its linear
// models.
#pragma once

#include <cstdint>
#include <vector>

#include "lom_tree.hpp"
#include "one_against_all.hpp"
#include "recall_tree.hpp"

namespace recalltree {

// The score of model i is bias[i] + path[i] + the sum of values[i * features.size() ...].
struct Contributions {
  std::vector<std::uint32_t> features;  // those of the example that are not zero
  std::vector<float> bias;
  std::vector<float> path;    // indicators of the route, for classes of a Recall Tree; 0 otherwise
  std::vector<float> values;  // one row per model
};

// Row i of `rows`, as the predictors of these classes see it at the end of its route.
Contributions explain_classes(const RecallTree& model, const Rows& rows, std::size_t i,
                              const std::vector<ClassId>& classes);
Contributions explain_classes(const OneAgainstAll& model, const Rows& rows, std::size_t i,
                              const std::vector<ClassId>& classes);
// The same for the routers of these nodes; all zero where a node has none.
Contributions explain_routers(const RecallTree& model, const Rows& rows, std::size_t i,
                              const std::vector<NodeId>& nodes);
Contributions explain_routers(const LOMTree& model, const Rows& rows, std::size_t i,
                              const std::vector<NodeId>& nodes);

}  // namespace recalltree
