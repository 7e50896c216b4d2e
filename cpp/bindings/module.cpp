// Arrays in, arrays out. No logic: what the learners do is in cpp/src, what users may do is in the
// Python package.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "recalltree/kernels.hpp"
#include "recalltree/lom_tree.hpp"
#include "recalltree/one_against_all.hpp"
#include "recalltree/recall_tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace recalltree;

namespace {

// --- Arrays
// ----------------------------------------------------------------------------------------------------

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A NumPy array that owns what the vector held.
template <class T>
nb::object to_numpy(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner));
}
template <class T>
nb::object to_numpy(std::vector<T> values) {
  const std::vector<std::size_t> shape{values.size()};
  return to_numpy(std::move(values), shape);
}

bool is_float64(const AnyArray& a, const char* name) {
  if (a.dtype() == nb::dtype<double>()) return true;
  if (a.dtype() == nb::dtype<float>()) return false;
  throw nb::type_error((std::string(name) + " must be float32 or float64").c_str());
}
bool is_int64(const AnyArray& a, const char* name) {
  if (a.dtype() == nb::dtype<std::int64_t>()) return true;
  if (a.dtype() == nb::dtype<std::int32_t>()) return false;
  throw nb::type_error((std::string(name) + " must be int32 or int64").c_str());
}

// Rows and the arrays they look at.
struct HeldRows {
  Rows rows;
  std::vector<AnyArray> held;
};

HeldRows dense_rows(AnyArray X) {
  if (X.ndim() != 2) throw nb::value_error("X must have two dimensions");
  HeldRows out;
  out.rows.float64 = is_float64(X, "X");
  out.rows.n_rows = X.shape(0);
  out.rows.n_features = X.shape(1);
  out.rows.data = X.data();
  out.rows.row_stride = X.stride(0);
  out.rows.column_stride = X.stride(1);
  out.held = {X};
  return out;
}

HeldRows csr_rows(AnyArray indptr, AnyArray indices, AnyArray data, std::size_t n_features) {
  HeldRows out;
  Rows& rows = out.rows;
  for (const AnyArray& a : {indptr, indices, data})
    if (a.ndim() != 1 || (a.shape(0) > 1 && a.stride(0) != 1))
      throw nb::value_error("indptr, indices and data must be contiguous vectors");
  if (indptr.shape(0) == 0) throw nb::value_error("indptr must not be empty");
  rows.sparse = true;
  rows.float64 = is_float64(data, "data");
  rows.long_indptr = is_int64(indptr, "indptr");
  rows.long_indices = is_int64(indices, "indices");
  rows.n_rows = indptr.shape(0) - 1;
  rows.n_features = n_features;
  rows.data = data.data();
  rows.indptr = indptr.data();
  rows.indices = indices.data();
  // Memory safety is checked here, once, so that the learners need not.
  const std::size_t stored = std::min(indices.shape(0), data.shape(0));
  for (std::size_t i = 0; i < rows.n_rows; ++i)
    if (rows.begin(i) > rows.begin(i + 1) || rows.begin(i + 1) > stored)
      throw nb::value_error("indptr does not describe indices and data");
  for (std::size_t k = rows.begin(0); k < rows.begin(rows.n_rows); ++k) {
    const std::int64_t j = rows.long_indices ? static_cast<const std::int64_t*>(rows.indices)[k]
                                             : static_cast<const std::int32_t*>(rows.indices)[k];
    if (j < 0 || static_cast<std::size_t>(j) >= n_features)
      throw nb::value_error("indices must be in [0, n_features)");
  }
  out.held = {indptr, indices, data};
  return out;
}

// --- Configuration
// ---------------------------------------------------------------------------------------------

template <class Enum>
struct Names;
template <>
struct Names<Loss> {
  static constexpr const char* of[] = {"logistic", "hinge", "squared"};
};
template <>
struct Names<PathFeatures> {
  static constexpr const char* of[] = {"none", "leaf", "path"};
};
template <>
struct Names<RouterWeighting> {
  static constexpr const char* of[] = {"total_entropy", "entropy", "unit"};
};
template <>
struct Names<RoutingOrder> {
  static constexpr const char* of[] = {"route_first", "update_first"};
};

template <class Enum>
Enum parse(const std::string& name) {
  int i = 0;
  for (const char* known : Names<Enum>::of) {
    if (name == known) return static_cast<Enum>(i);
    ++i;
  }
  throw nb::value_error(("unknown option '" + name + "'").c_str());
}
template <class Enum>
const char* name_of(Enum value) {
  return Names<Enum>::of[static_cast<int>(value)];
}

LearnerConfig learner_config(std::uint32_t n_features, bool sparse, const std::string& loss,
                             double learning_rate, double l2) {
  return {n_features, sparse, parse<Loss>(loss), learning_rate, l2};
}

void put(nb::dict& out, const LearnerConfig& c) {
  out["n_features"] = c.n_features;
  out["sparse"] = c.sparse;
  out["loss"] = name_of(c.loss);
  out["learning_rate"] = c.learning_rate;
  out["l2"] = c.l2;
}

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
nb::dict config_of(const OneAgainstAll& model) {
  nb::dict out;
  put(out, model.config().learner);
  out["negative_samples"] = model.config().negative_samples;
  out["seed"] = model.config().seed;
  return out;
}
nb::dict config_of(const LOMTree& model) {
  nb::dict out;
  put(out, model.config().learner);
  out["max_nodes"] = model.config().max_nodes;
  out["swap_resistance"] = model.config().swap_resistance;
  return out;
}

// --- State
// -----------------------------------------------------------------------------------------------------

template <class T>
nb::object as_numpy(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return to_numpy(std::move(values), array.shape);
}

nb::dict to_dict(const State& state) {
  nb::dict out;
  for (const auto& [name, array] : state.arrays) {
    switch (array.kind) {
      case 'f':
        out[name.c_str()] = as_numpy<float>(array);
        break;
      case 'd':
        out[name.c_str()] = as_numpy<double>(array);
        break;
      case 'I':
        out[name.c_str()] = as_numpy<std::uint32_t>(array);
        break;
      default:
        out[name.c_str()] = as_numpy<std::uint64_t>(array);
        break;
    }
  }
  return out;
}

template <class T>
bool put_if(State& state, const std::string& name, nb::handle value) {
  nb::ndarray<const T, nb::c_contig, nb::device::cpu> a;
  if (!nb::try_cast(value, a, false)) return false;
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < a.ndim(); ++i) shape.push_back(a.shape(i));
  state.put(name, std::span<const T>(a.data(), a.size()), shape);
  return true;
}

State to_state(const nb::dict& dict) {
  State state;
  for (const auto& [key, value] : dict) {
    const auto name = nb::cast<std::string>(key);
    if (!(put_if<float>(state, name, value) || put_if<double>(state, name, value) ||
          put_if<std::uint32_t>(state, name, value) || put_if<std::uint64_t>(state, name, value)))
      throw nb::type_error(("state: array '" + name + "' has an unexpected type").c_str());
  }
  return state;
}

// --- Rows of weights
// -------------------------------------------------------------------------------------------

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

void check_class(const Learner& model, ClassId y) {
  if (y >= model.n_classes()) throw nb::index_error("no such class");
}

nb::dict predictor(const RecallTree& model, ClassId y) {
  check_class(model, y);
  nb::dict out = row_dict(model.predictors(), y, model.config().learner.n_features);
  put_path(out, y < model.path_weights().size() ? model.path_weights().contents(y) : RowContents{});
  return out;
}
nb::dict predictor(const OneAgainstAll& model, ClassId y) {
  check_class(model, y);
  nb::dict out = row_dict(model.predictors(), y, model.config().learner.n_features);
  put_path(out, {});
  return out;
}

// --- What the three models share
// -------------------------------------------------------------------------------

template <class Model, class Class>
void bind_common(Class& c) {
  c.def(
      "learn",
      [](Model& m, const HeldRows& x, Vector<std::uint32_t> labels,
         std::optional<Vector<float>> weights, std::optional<Vector<std::int64_t>> order,
         std::size_t n_threads, bool first_pass) {
        const std::size_t n = x.rows.n_rows;
        if (labels.shape(0) != n) throw nb::value_error("labels and rows differ in number");
        if (weights && weights->shape(0) != n)
          throw nb::value_error("weights and rows differ in number");
        if (x.rows.n_features != m.config().learner.n_features)
          throw nb::value_error("wrong number of features");
        if (order)
          for (std::size_t i = 0; i < order->shape(0); ++i)
            if ((*order)(i) < 0 || static_cast<std::size_t>((*order)(i)) >= n)
              throw nb::value_error("order names a row that does not exist");
        const Batch batch{&x.rows, labels.data(), weights ? weights->data() : nullptr,
                          order ? order->data() : nullptr, order ? order->shape(0) : n};
        nb::gil_scoped_release release;
        m.learn(batch, n_threads, first_pass);
      },
      "rows"_a, "labels"_a, "weights"_a.none(), "order"_a.none(), "n_threads"_a, "first_pass"_a);
  const auto check_width = [](const Model& m, const HeldRows& x) {
    if (x.rows.n_features != m.config().learner.n_features)
      throw nb::value_error("wrong number of features");
    if (m.n_classes_seen() == 0) throw nb::value_error("nothing has been learned yet");
  };
  c.def(
      "predict",
      [check_width](const Model& m, const HeldRows& x, std::size_t n_threads) {
        check_width(m, x);
        std::vector<std::int32_t> ids(x.rows.n_rows);
        {
          nb::gil_scoped_release release;
          m.predict(x.rows, n_threads, ids.data());
        }
        return to_numpy(std::move(ids));
      },
      "rows"_a, "n_threads"_a);
  c.def(
      "predict_topk",
      [check_width](const Model& m, const HeldRows& x, std::size_t k, std::size_t n_threads) {
        check_width(m, x);
        std::vector<std::int32_t> ids(x.rows.n_rows * k);
        std::vector<float> scores(ids.size());
        {
          nb::gil_scoped_release release;
          m.predict_topk(x.rows, k, n_threads, ids.data(), scores.data());
        }
        const std::vector<std::size_t> shape{x.rows.n_rows, k};
        return nb::make_tuple(to_numpy(std::move(ids), shape), to_numpy(std::move(scores), shape));
      },
      "rows"_a, "k"_a, "n_threads"_a);
  c.def(
      "candidates",
      [check_width](const Model& m, const HeldRows& x, std::size_t n_threads) {
        check_width(m, x);
        Candidates all;
        {
          nb::gil_scoped_release release;
          all = m.candidates(x.rows, n_threads);
        }
        return nb::make_tuple(
            to_numpy(std::vector<std::int64_t>(all.offsets.begin(), all.offsets.end())),
            to_numpy(std::vector<std::int32_t>(all.labels.begin(), all.labels.end())),
            to_numpy(std::move(all.scores)));
      },
      "rows"_a, "n_threads"_a);
  c.def("state", [](Model& m) { return to_dict(m.save()); });
  c.def("memory_bytes", [](const Model& m) {
    nb::dict out;
    for (const auto& [part, bytes] : m.memory()) out[part.c_str()] = bytes;
    return out;
  });
  c.def_prop_ro("work", [](const Model& m) {
    const Work w = m.work();
    nb::dict out;
    out["examples_learned"] = w.examples_learned;
    out["examples_predicted"] = w.examples_predicted;
    out["router_evaluations"] = w.router_evaluations;
    out["predictor_evaluations"] = w.predictor_evaluations;
    out["progressive_evaluations"] = w.progressive_evaluations;
    out["histogram_touches"] = w.histogram_touches;
    return out;
  });
  c.def_prop_ro("config", [](const Model& m) { return config_of(m); });
  c.def_prop_ro("n_examples", [](const Model& m) { return m.n_examples(); });
  c.def_prop_ro("n_classes", [](const Model& m) { return m.n_classes(); });
  c.def_prop_ro("n_classes_seen", [](const Model& m) { return m.n_classes_seen(); });
  c.def_prop_ro("progressive_weight", [](const Model& m) { return m.progress().weight; });
  c.def_prop_ro("progressive_errors", [](const Model& m) { return m.progress().errors; });
}

// from_state(state, **config): a new model, then its state.
template <class Model, class Class>
void bind_from_state(Class& c) {
  c.def_static(
      "from_state",
      [](nb::dict state, nb::kwargs config) {
        nb::object made = nb::type<Model>()(**config);
        nb::cast<Model&>(made).load(to_state(state));
        return made;
      },
      "state"_a, "config"_a);
}

template <class Model>
nb::tuple routes(const Model& m, const HeldRows& x) {
  if (x.rows.n_features != m.config().learner.n_features)
    throw nb::value_error("wrong number of features");
  if (m.n_classes_seen() == 0) throw nb::value_error("nothing has been learned yet");
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> nodes;
  std::vector<NodeId> route;
  for (std::size_t i = 0; i < x.rows.n_rows; ++i) {
    m.route(x.rows, i, route);
    nodes.insert(nodes.end(), route.begin(), route.end());
    offsets.push_back(static_cast<std::int64_t>(nodes.size()));
  }
  return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(nodes)));
}

void check_node(std::size_t n, std::size_t size) {
  if (n >= size) throw nb::index_error("no such node");
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled core: learners over plain arrays.";
  m.def("simd", [] { return std::string(kernels().name); }, "The instruction set in use.");
  m.def("simd_levels", &simd_levels, "The instruction sets this machine can use.");
  kernels();  // a wrong RECALLTREE_SIMD is an error at import, not in the middle of training

  nb::class_<HeldRows>(m, "Rows")
      .def_static("dense", &dense_rows, "X"_a)
      .def_static("csr", &csr_rows, "indptr"_a, "indices"_a, "data"_a, "n_features"_a)
      .def("find_invalid", [](const HeldRows& x) { return x.rows.find_invalid(); })
      .def("__len__", [](const HeldRows& x) { return x.rows.n_rows; })
      .def_prop_ro("n_features", [](const HeldRows& x) { return x.rows.n_features; });

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
  bind_common<RecallTree>(recall_tree);
  bind_from_state<RecallTree>(recall_tree);

  auto one_against_all = nb::class_<OneAgainstAll>(m, "OneAgainstAll");
  one_against_all
      .def(
          "__init__",
          [](OneAgainstAll* self, std::uint32_t n_features, bool sparse, const std::string& loss,
             double learning_rate, double l2, std::uint32_t negative_samples, std::uint64_t seed) {
            new (self) OneAgainstAll({learner_config(n_features, sparse, loss, learning_rate, l2),
                                      negative_samples, seed});
          },
          nb::kw_only(), "n_features"_a, "sparse"_a = false, "loss"_a = "logistic",
          "learning_rate"_a = 1.0, "l2"_a = 0.0, "negative_samples"_a = 0, "seed"_a = 0)
      .def(
          "predictor", [](const OneAgainstAll& t, ClassId y) { return predictor(t, y); },
          "class_id"_a);
  bind_common<OneAgainstAll>(one_against_all);
  bind_from_state<OneAgainstAll>(one_against_all);

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
  bind_common<LOMTree>(lom_tree);
  bind_from_state<LOMTree>(lom_tree);
}
