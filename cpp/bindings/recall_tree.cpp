#include "recalltree/recall_tree.hpp"

#include <nanobind/stl/string.h>

#include "explanation.hpp"
#include "learner.hpp"
#include "learners.hpp"
#include "options.hpp"
#include "weights.hpp"

namespace recalltree::bindings {
namespace {

nb::dict config_of(const RecallTree& model) {
  const RecallTreeConfig& c = model.config();
  nb::dict out;
  put(out, c.learner);
  out["max_candidates"] = c.max_candidates;
  out["max_depth"] = c.max_depth;
  out["bound_lambda"] = c.bound_lambda;
  out["path_features"] = name_of(c.path_features);
  out["path_interactions"] = c.path_interactions;
  out["router_weighting"] = name_of(c.router_weighting);
  out["routing_order"] = name_of(c.routing_order);
  out["count_decay"] = c.count_decay;
  return out;
}

nb::dict predictor(const RecallTree& model, ClassId y) {
  check_class(model, y);
  nb::dict out = row_dict(model.predictors(), y, model.config().learner.n_features);
  put_path(out, y < model.path_weights().size() ? model.path_weights().contents(y) : RowContents{});
  return out;
}

}  // namespace

void bind_recall_tree(nb::module_& m) {
  auto recall_tree = nb::class_<RecallTree>(m, "RecallTree");
  recall_tree
      .def(
          "__init__",
          [](RecallTree* self, std::uint32_t n_features, bool sparse, const std::string& loss,
             double learning_rate, double l2, std::uint32_t max_candidates, std::uint32_t max_depth,
             double bound_lambda, const std::string& path_features, bool path_interactions,
             const std::string& router_weighting, const std::string& routing_order,
             double count_decay) {
            new (self) RecallTree({learner_config(n_features, sparse, loss, learning_rate, l2),
                                   max_candidates, max_depth, bound_lambda,
                                   parse<PathFeatures>(path_features), path_interactions,
                                   parse<RouterWeighting>(router_weighting),
                                   parse<RoutingOrder>(routing_order), count_decay});
          },
          nb::kw_only(), "n_features"_a, "sparse"_a = false, "loss"_a = "logistic",
          "learning_rate"_a = 1.0, "l2"_a = 0.0, "max_candidates"_a = 0, "max_depth"_a = 0,
          "bound_lambda"_a = 1.0, "path_features"_a = "leaf", "path_interactions"_a = false,
          "router_weighting"_a = "total_entropy", "routing_order"_a = "route_first",
          "count_decay"_a = 0.0)
      .def(
          "predictor", [](const RecallTree& t, ClassId y) { return predictor(t, y); }, "class_id"_a)
      .def("tree",
           [](const RecallTree& t) {
             const std::size_t n = t.tree().size();
             std::vector<std::int32_t> left(n), right(n), parent(n), depth(n), n_labels(n);
             std::vector<double> total(n), bound(n);
             for (NodeId i = 0; i < n; ++i) {
               const Node& node = t.tree()[i];
               left[i] = static_cast<std::int32_t>(node.left.load());
               right[i] = static_cast<std::int32_t>(node.right.load());
               parent[i] = static_cast<std::int32_t>(node.parent);
               depth[i] = static_cast<std::int32_t>(node.depth);
               n_labels[i] = static_cast<std::int32_t>(node.histogram.size());
               total[i] = t.node_total(i);
               bound[i] = t.node_recall_bound(i);
             }
             nb::dict out;
             out["left"] = to_numpy(std::move(left));
             out["right"] = to_numpy(std::move(right));
             out["parent"] = to_numpy(std::move(parent));
             out["depth"] = to_numpy(std::move(depth));
             out["n_labels"] = to_numpy(std::move(n_labels));
             out["total"] = to_numpy(std::move(total));
             out["recall_bound"] = to_numpy(std::move(bound));
             return out;
           })
      .def(
          "histogram",
          [](const RecallTree& t, std::size_t n) {
            check_node(n, t.tree().size());
            std::vector<std::uint32_t> labels;
            std::vector<double> counts;
            for (const auto& c : t.ranked_labels(static_cast<NodeId>(n))) {
              labels.push_back(c.label);
              counts.push_back(c.count);
            }
            return nb::make_tuple(to_numpy(std::move(labels)), to_numpy(std::move(counts)));
          },
          "node"_a)
      .def(
          "route", [](const RecallTree& t, const HeldRows& x) { return routes(t, x); }, "rows"_a)
      .def(
          "router",
          [](const RecallTree& t, std::size_t n) {
            check_node(n, t.tree().size());
            return row_dict(t.routers(), t.tree()[static_cast<NodeId>(n)].router,
                            t.config().learner.n_features);
          },
          "node"_a)
      .def(
          "interaction",
          [](const RecallTree& t, ClassId y, std::size_t n) {
            check_class(t, y);
            check_node(n, t.tree().size());
            return row_dict(t.interactions(), t.interaction_row(y, static_cast<NodeId>(n)),
                            t.config().learner.n_features);
          },
          "class_id"_a, "node"_a)
      .def_prop_ro("max_candidates_now",
                   [](const RecallTree& t) { return t.limits(t.n_classes_seen()).max_candidates; })
      .def_prop_ro("max_depth_now",
                   [](const RecallTree& t) { return t.limits(t.n_classes_seen()).max_depth; });
  recall_tree.def_prop_ro("config", &config_of);
  bind_common<RecallTree>(recall_tree);
  bind_explain_classes<RecallTree>(recall_tree);
  bind_explain_routers<RecallTree>(recall_tree,
                                   [](const RecallTree& t) { return t.tree().size(); });
  bind_from_state<RecallTree>(recall_tree);
}

}  // namespace recalltree::bindings
