#include "recalltree/paper/recall_tree.hpp"

#include <nanobind/stl/string.h>

#include "explanation.hpp"
#include "learner.hpp"
#include "learners.hpp"
#include "recalltree/file/mapped_recall_tree.hpp"
#include "tree_views.hpp"
#include "weights.hpp"

namespace recalltree::bindings {
namespace {

RecallTreeConfig make_config(const LearnerConfig& learner, std::uint32_t max_candidates,
                             std::uint32_t max_depth, double bound_lambda,
                             const std::string& path_features, bool path_interactions,
                             const std::string& router_weighting, const std::string& routing_order,
                             double count_decay, double min_gradient) {
  return {learner,
          max_candidates,
          max_depth,
          bound_lambda,
          parse<PathFeatures>(path_features),
          path_interactions,
          parse<RouterWeighting>(router_weighting),
          parse<RoutingOrder>(routing_order),
          count_decay,
          min_gradient};
}

template <class Model>
nb::dict config_of(const Model& model) {
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
  out["min_gradient"] = c.min_gradient;
  return out;
}

template <class Model>
nb::dict predictor(const Model& model, ClassId y) {
  check_class(model, y);
  nb::dict out = row_dict(model.predictors(), y, model.config().learner.n_features);
  put_path(out,
           y < model.path_weights().size() ? model.path_weights().contents(y) : ModelContents{});
  return out;
}

template <class Model>
nb::dict tree(const Model& t) {
  const std::size_t n = t.n_nodes();
  std::vector<std::int32_t> left(n), right(n), parent(n), depth(n), n_labels(n);
  std::vector<double> total(n), bound(n);
  for (NodeId i = 0; i < n; ++i) {
    const NodeSummary node = t.node(i);
    left[i] = static_cast<std::int32_t>(node.left);
    right[i] = static_cast<std::int32_t>(node.right);
    parent[i] = static_cast<std::int32_t>(node.parent);
    depth[i] = static_cast<std::int32_t>(node.depth);
    n_labels[i] = static_cast<std::int32_t>(node.n_labels);
    total[i] = node.total;
    bound[i] = node.recall_bound;
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
}

template <class Model>
void bind_views(nb::class_<Model>& c) {
  c.def_prop_ro("config", &config_of<Model>)
      .def("predictor", reading(&predictor<Model>), "class_id"_a)
      .def("tree", reading(&tree<Model>))
      .def("histogram", reading(+[](const Model& t, std::size_t n) {
             check_node(n, t.n_nodes());
             return labels_and_counts(t.ranked_labels(static_cast<NodeId>(n)));
           }),
           "node"_a)

      .def("interaction", reading(+[](const Model& t, ClassId y, std::size_t n) {
             check_class(t, y);
             check_node(n, t.n_nodes());
             return row_dict(t.interactions(), t.interaction_model(y, static_cast<NodeId>(n)),
                             t.config().learner.n_features);
           }),
           "class_id"_a, "node"_a)
      .def_prop_ro("max_candidates_now", reading(+[](const Model& t) {
                     return t.limits(t.n_classes_seen()).max_candidates;
                   }))
      .def_prop_ro("max_depth_now",
                   reading(+[](const Model& t) { return t.limits(t.n_classes_seen()).max_depth; }));
}

template <class Model>
void bind(nb::module_& m, const char* name) {
  nb::class_<Model> c(m, name);
  const RecallTreeConfig standard;
  bind_init(c, make_config, "max_candidates"_a = standard.max_candidates,
            "max_depth"_a = standard.max_depth, "bound_lambda"_a = standard.bound_lambda,
            "path_features"_a = name_of(standard.path_features),
            "path_interactions"_a = standard.path_interactions,
            "router_weighting"_a = name_of(standard.router_weighting),
            "routing_order"_a = name_of(standard.routing_order),
            "count_decay"_a = standard.count_decay, "min_gradient"_a = standard.min_gradient);
  bind_views(c);
  bind_explain_classes(c);
  bind_routers(c);
  bind_explain_routers(c);
  bind_common<MappedRecallTree>(c);
}

void bind_recall_tree(nb::module_& m) {
  bind<RecallTree>(m, "RecallTree");
  bind<MappedRecallTree>(m, "MappedRecallTree");
}
const BoundLearner bound(&bind_recall_tree);

}  // namespace

}  // namespace recalltree::bindings
