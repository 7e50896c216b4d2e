#include "recalltree/paper/lom_tree.hpp"

#include <nanobind/stl/string.h>

#include "explanation.hpp"
#include "learner.hpp"
#include "learners.hpp"
#include "recalltree/file/mapped_lom_tree.hpp"
#include "tree_views.hpp"

namespace recalltree::bindings {
namespace {

LOMTreeConfig make_config(const LearnerConfig& learner, std::uint32_t max_nodes,
                          double swap_resistance) {
  return {learner, max_nodes, swap_resistance};
}

template <class Model>
nb::dict config_of(const Model& model) {
  nb::dict out;
  put(out, model.config().learner);
  out["max_nodes"] = model.config().max_nodes;
  out["swap_resistance"] = model.config().swap_resistance;
  return out;
}

template <class Model>
nb::dict tree(const Model& t) {
  const std::size_t n = t.n_nodes();
  std::vector<std::int32_t> left(n), right(n), parent(n), majority(n);
  std::vector<double> min_count(n), margin_sum(n), margin_weight(n);
  for (std::size_t i = 0; i < n; ++i) {
    const LOMTree::Node& node = t.node(static_cast<NodeId>(i));
    left[i] = static_cast<std::int32_t>(node.left);
    right[i] = static_cast<std::int32_t>(node.right);
    parent[i] = static_cast<std::int32_t>(node.parent);
    majority[i] = static_cast<std::int32_t>(node.majority);
    min_count[i] = node.min_count;
    margin_sum[i] = node.margin.sum;
    margin_weight[i] = node.margin.weight;
  }
  nb::dict out;
  out["root"] = to_numpy(std::vector<std::int32_t>{static_cast<std::int32_t>(t.root())});
  out["left"] = to_numpy(std::move(left));
  out["right"] = to_numpy(std::move(right));
  out["parent"] = to_numpy(std::move(parent));
  out["majority"] = to_numpy(std::move(majority));
  out["min_count"] = to_numpy(std::move(min_count));
  out["margin_sum"] = to_numpy(std::move(margin_sum));
  out["margin_weight"] = to_numpy(std::move(margin_weight));
  return out;
}

template <class Model>
void bind_views(nb::class_<Model>& c) {
  c.def_prop_ro("config", &config_of<Model>)
      .def("tree", reading(&tree<Model>))
      .def("histogram", reading(+[](const Model& t, std::size_t n) {
             check_node(n, t.n_nodes());
             return labels_and_counts(t.leaf_labels(static_cast<NodeId>(n)));
           }),
           "node"_a)
      .def("margins", reading(+[](const Model& t, std::size_t n) {
             check_node(n, t.n_nodes());
             const LOMTree::Node& node = t.node(static_cast<NodeId>(n));
             std::vector<std::uint32_t> labels;
             std::vector<double> sums, weights;
             if (!node.is_leaf())  // which has counts instead
               for (const LabelSums::Entry& entry : node.labels.in_order_of_arrival()) {
                 labels.push_back(entry.label);
                 sums.push_back(entry.sum);
                 weights.push_back(entry.weight);
               }
             return nb::make_tuple(to_numpy(std::move(labels)), to_numpy(std::move(sums)),
                                   to_numpy(std::move(weights)));
           }),
           "node"_a);
}

template <class Model>
void bind(nb::module_& m, const char* name) {
  nb::class_<Model> c(m, name);
  const LOMTreeConfig standard;
  bind_init(c, make_config, "max_nodes"_a = standard.max_nodes,
            "swap_resistance"_a = standard.swap_resistance);
  bind_views(c);
  bind_routers(c);
  bind_explain_routers(c);
  bind_common<MappedLOMTree>(c);
}

void bind_lom_tree(nb::module_& m) {
  bind<LOMTree>(m, "LOMTree");
  bind<MappedLOMTree>(m, "MappedLOMTree");
}
const BoundLearner bound(&bind_lom_tree);

}  // namespace

}  // namespace recalltree::bindings
