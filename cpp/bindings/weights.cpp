#include "weights.hpp"

namespace recalltree::bindings {

nb::dict row_dict(const ModelContents& row, std::size_t n_features) {
  std::vector<float> values(n_features, 0.0f), accumulators(n_features, 0.0f);
  for (std::size_t k = 0; k < row.features.size(); ++k) {
    values[row.features[k]] = row.weights[k];
    accumulators[row.features[k]] = row.accumulators[k];
  }
  nb::dict out;
  out["weights"] = to_numpy(std::move(values));
  out["accumulators"] = to_numpy(std::move(accumulators));
  out["bias"] = row.bias;
  out["bias_accumulator"] = row.bias_accumulator;
  return out;
}

void put_path(nb::dict& out, const ModelContents& path) {
  out["path_nodes"] =
      to_numpy(std::vector<std::int32_t>(path.features.begin(), path.features.end()));
  out["path_weights"] = to_numpy(path.weights);
  out["path_accumulators"] = to_numpy(path.accumulators);
}

}  // namespace recalltree::bindings
