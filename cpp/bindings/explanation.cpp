#include "explanation.hpp"

#include <utility>

namespace recalltree::bindings {

nb::dict to_dict(Contributions found) {
  const std::vector<std::size_t> shape{found.bias.size(), found.features.size()};
  nb::dict out;
  out["features"] = to_numpy(std::move(found.features));
  out["bias"] = to_numpy(std::move(found.bias));
  out["path"] = to_numpy(std::move(found.path));
  out["contributions"] = to_numpy(std::move(found.values), shape);
  return out;
}

const Rows& the_row(const Predictor& model, const HeldRows& x, std::size_t n_features) {
  if (x.rows.n_rows != 1) throw nb::value_error("one row is explained at a time");
  if (x.rows.n_features != n_features) throw nb::value_error("wrong number of features");
  if (model.n_classes_seen() == 0) throw nb::value_error("nothing has been learned yet");
  return x.rows;
}

}  // namespace recalltree::bindings
