#include "weights.hpp"

namespace recalltree::bindings {

nb::dict row_dict(const Weights& weights, RowId row, std::size_t n_features) {
  nb::dict out;
  std::vector<float> values(n_features, 0.0f), accumulators(n_features, 0.0f);
  float bias = 0.0f, bias_accumulator = 0.0f;
  if (row < weights.size()) {
    const RowContents all = weights.contents(row);
    for (std::size_t k = 0; k < all.keys.size(); ++k) {
      values[all.keys[k]] = all.weights[k];
      accumulators[all.keys[k]] = all.accumulators[k];
    }
    bias = all.bias;
    bias_accumulator = all.bias_accumulator;
  }
  out["weights"] = to_numpy(std::move(values));
  out["accumulators"] = to_numpy(std::move(accumulators));
  out["bias"] = bias;
  out["bias_accumulator"] = bias_accumulator;
  return out;
}

void put_path(nb::dict& out, const RowContents& path) {
  out["path_nodes"] = to_numpy(std::vector<std::int32_t>(path.keys.begin(), path.keys.end()));
  out["path_weights"] = to_numpy(path.weights);
  out["path_accumulators"] = to_numpy(path.accumulators);
}

}  // namespace recalltree::bindings
