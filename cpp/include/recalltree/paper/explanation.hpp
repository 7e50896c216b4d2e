// Why a model answers as it does: what each feature of one example adds to the scores of its linear
// models.
#pragma once

#include <cstdint>
#include <vector>

#include "recalltree/base/rows.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

// The score of model i is bias[i] + path[i] + the sum of values[i * features.size() ...].
struct Contributions {
  std::vector<std::uint32_t> features;  // those of the example that are not zero
  std::vector<float> bias;
  std::vector<float> path;    // indicators of the route, for classes of a Recall Tree; 0 otherwise
  std::vector<float> values;  // one row per model
};

// Row i of `rows`, as the predictors of these classes see it at the end of its route. Of a Recall
// Tree or of one-against-all, learning or mapped.
template <class Model>
Contributions explain_classes(const Model& model, const Rows& rows, std::size_t i,
                              const std::vector<ClassId>& classes);
// The same for the routers of these nodes; all zero where a node has none. Of a Recall Tree or a
// LOMTree, learning or mapped.
template <class Model>
Contributions explain_routers(const Model& model, const Rows& rows, std::size_t i,
                              const std::vector<NodeId>& nodes);

}  // namespace recalltree
