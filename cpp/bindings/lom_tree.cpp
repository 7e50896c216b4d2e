#include "recalltree/lom_tree.hpp"

#include <nanobind/stl/string.h>

#include "explanation.hpp"
#include "learner.hpp"
#include "learners.hpp"
#include "options.hpp"
#include "weights.hpp"

namespace recalltree::bindings {
namespace {

nb::dict config_of(const LOMTree& model) {
  nb::dict out;
  put(out, model.config().learner);
  out["max_nodes"] = model.config().max_nodes;
  out["swap_resistance"] = model.config().swap_resistance;
  return out;
}

}  // namespace

void bind_lom_tree(nb::module_& m) {
  auto lom_tree = nb::class_<LOMTree>(m, "LOMTree");
  lom_tree
      .def(
          "__init__",
          [](LOMTree* self, std::uint32_t n_features, bool sparse, const std::string& loss,
             double learning_rate, double l2, std::uint32_t max_nodes, double swap_resistance) {
            new (self) LOMTree({learner_config(n_features, sparse, loss, learning_rate, l2),
                                max_nodes, swap_resistance});
          },
          nb::kw_only(), "n_features"_a, "sparse"_a = false, "loss"_a = "logistic",
          "learning_rate"_a = 1.0, "l2"_a = 0.0, "max_nodes"_a = 0, "swap_resistance"_a = 4.0)
      .def("tree",
           [](const LOMTree& t) {
             const std::size_t n = t.nodes().size();
             std::vector<std::int32_t> left(n), right(n), parent(n), majority(n);
             std::vector<double> min_count(n), margin_sum(n), margin_weight(n);
             for (std::size_t i = 0; i < n; ++i) {
               const LOMTree::Node& node = t.nodes()[i];
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
           })
      .def(
          "histogram",
          [](const LOMTree& t, std::size_t n) {
            check_node(n, t.nodes().size());
            std::vector<std::uint32_t> labels;
            std::vector<double> counts;
            for (const auto& [label, count] : t.leaf_labels(static_cast<NodeId>(n))) {
              labels.push_back(label);
              counts.push_back(count);
            }
            return nb::make_tuple(to_numpy(std::move(labels)), to_numpy(std::move(counts)));
          },
          "node"_a)
      .def(
          "margins",
          [](const LOMTree& t, std::size_t n) {
            check_node(n, t.nodes().size());
            const LOMTree::Node& node = t.nodes()[n];
            std::vector<double> sums, weights;
            for (const LOMTree::Margin& margin : node.class_margins) {
              sums.push_back(margin.sum);
              weights.push_back(margin.weight);
            }
            return nb::make_tuple(to_numpy(std::vector<std::uint32_t>(node.labels.labels())),
                                  to_numpy(std::move(sums)), to_numpy(std::move(weights)));
          },
          "node"_a)
      .def(
          "route", [](const LOMTree& t, const HeldRows& x) { return routes(t, x); }, "rows"_a)
      .def(
          "router",
          [](const LOMTree& t, std::size_t n) {
            check_node(n, t.nodes().size());
            const LOMTree::Node& node = t.nodes()[n];
            return row_dict(t.routers(), node.is_leaf() ? kNoRow : node.router,
                            t.config().learner.n_features);
          },
          "node"_a);
  lom_tree.def_prop_ro("config", &config_of);
  bind_common<LOMTree>(lom_tree);
  bind_explain_routers<LOMTree>(lom_tree, [](const LOMTree& t) { return t.nodes().size(); });
  bind_from_state<LOMTree>(lom_tree);
}

}  // namespace recalltree::bindings
