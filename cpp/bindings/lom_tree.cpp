#include "recalltree/lom_tree.hpp"

#include <nanobind/stl/string.h>

#include "explanation.hpp"
#include "learner.hpp"
#include "learners.hpp"
#include "options.hpp"
#include "recalltree/mapped_lom_tree.hpp"
#include "weights.hpp"

namespace recalltree::bindings {
namespace {

LOMTreeConfig make_config(std::uint32_t n_features, bool sparse, const std::string& loss,
                          double learning_rate, double l2, std::uint32_t max_nodes,
                          double swap_resistance) {
  return {learner_config(n_features, sparse, loss, learning_rate, l2), max_nodes, swap_resistance};
}

template <class Class, class Init, class... First>
void bind_init(Class& c, Init init, First... first) {
  c.def("__init__", init, first..., nb::kw_only(), "n_features"_a, "sparse"_a = false,
        "loss"_a = "logistic", "learning_rate"_a = 1.0, "l2"_a = 0.0, "max_nodes"_a = 0,
        "swap_resistance"_a = 4.0);
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

template <class Model, class Class>
void bind_views(Class& c) {
  c.def_prop_ro("config", &config_of<Model>)
      .def("tree", &tree<Model>)
      .def(
          "histogram",
          [](const Model& t, std::size_t n) {
            check_node(n, t.n_nodes());
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
          [](const Model& t, std::size_t n) {
            check_node(n, t.n_nodes());
            const LOMTree::Node& node = t.node(static_cast<NodeId>(n));
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
          "route", [](const Model& t, const HeldRows& x) { return routes(t, x); }, "rows"_a)
      .def(
          "router",
          [](const Model& t, std::size_t n) {
            check_node(n, t.n_nodes());
            return row_dict(t.routers(), t.router(static_cast<NodeId>(n)),
                            t.config().learner.n_features);
          },
          "node"_a);
}

}  // namespace

void bind_lom_tree(nb::module_& m) {
  auto learner = nb::class_<LOMTree>(m, "LOMTree");
  bind_init(learner,
            [](LOMTree* self, std::uint32_t n_features, bool sparse, const std::string& loss,
               double learning_rate, double l2, std::uint32_t max_nodes, double swap_resistance) {
              new (self) LOMTree(make_config(n_features, sparse, loss, learning_rate, l2, max_nodes,
                                             swap_resistance));
            });
  bind_views<LOMTree>(learner);
  bind_explain_routers<LOMTree>(learner);
  bind_common<LOMTree>(learner);
  bind_from_state<LOMTree>(learner);

  auto mapped = nb::class_<MappedLOMTree>(m, "MappedLOMTree");
  bind_init(
      mapped,
      [](MappedLOMTree* self, const nb::dict& state, std::uint32_t n_features, bool sparse,
         const std::string& loss, double learning_rate, double l2, std::uint32_t max_nodes,
         double swap_resistance) {
        new (self) MappedLOMTree(
            make_config(n_features, sparse, loss, learning_rate, l2, max_nodes, swap_resistance),
            to_state(state));
      },
      "state"_a);
  bind_views<MappedLOMTree>(mapped);
  bind_explain_routers<MappedLOMTree>(mapped);
  bind_prediction<MappedLOMTree>(mapped);
  bind_mapped<MappedLOMTree>(mapped);
}

}  // namespace recalltree::bindings
