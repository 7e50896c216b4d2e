#include "recalltree/voting/one_against_some.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "cells_views.hpp"
#include "explanation.hpp"
#include "learner.hpp"
#include "learners.hpp"
#include "recalltree/file/mapped_one_against_some.hpp"
#include "recalltree/model/explanation.hpp"
#include "tree_views.hpp"
#include "weights.hpp"

namespace recalltree::bindings {

namespace {

OneAgainstSomeConfig make_config(const LearnerConfig& learner, const std::string& keys,
                                 std::uint32_t max_candidates, std::uint32_t max_labels,
                                 std::uint32_t max_entries, bool sublinear_tf, bool use_idf,
                                 bool normalize, bool center, std::uint32_t n_trees,
                                 std::uint32_t max_depth, double bound_lambda, double count_decay,
                                 std::uint64_t seed, std::uint64_t memory_budget,
                                 double feature_dropout, std::uint32_t cells_read,
                                 std::uint32_t idle_cells, std::uint32_t n_dense_features) {
  return {learner,       parse<Keys>(keys), max_candidates,
          max_labels,    max_entries,       {sublinear_tf, use_idf, normalize},
          center,        n_trees,           max_depth,
          bound_lambda,  count_decay,       seed,
          memory_budget, feature_dropout,   cells_read,
          idle_cells,    n_dense_features};
}

template <class Model>
nb::dict config_of(const Model& model) {
  const OneAgainstSomeConfig& c = model.config();
  nb::dict out;
  put(out, c.learner);
  out["keys"] = name_of(c.keys);
  out["max_candidates"] = c.max_candidates;
  out["max_labels"] = c.max_labels;
  out["max_entries"] = c.max_entries;
  out["sublinear_tf"] = c.weighting.sublinear_tf;
  out["use_idf"] = c.weighting.use_idf;
  out["normalize"] = c.weighting.normalize;
  out["center"] = c.center;
  out["n_trees"] = c.n_trees;
  out["max_depth"] = c.max_depth;
  out["bound_lambda"] = c.bound_lambda;
  out["count_decay"] = c.count_decay;
  out["seed"] = c.seed;
  out["memory_budget"] = c.memory_budget;
  out["feature_dropout"] = c.feature_dropout;
  out["cells_read"] = c.cells_read;
  out["idle_cells"] = c.idle_cells;
  out["n_dense_features"] = c.n_dense_features;
  return out;
}

// Everything the model knows of a class. Dense, however many features there are: for tests.
template <class Model>
nb::dict predictor(const Model& model, ClassId y) {
  check_class(model, y);
  const std::size_t n = model.config().learner.n_features;
  std::vector<float> weights(n), accumulators(n);
  std::vector<double> counts(n);
  model.store().visit_class(y,
                            [&](std::uint32_t key, float count, float weight, float accumulator) {
                              if (key >= n) return;
                              counts[key] = count / model.store().decay_unit();
                              weights[key] = weight;
                              accumulators[key] = accumulator;
                            });
  if (model.store().rules.has_dense_predictors) {
    const ModelContents row = model.store().predictors().contents(y);
    weights = row.weights;
    accumulators = row.accumulators;
  }
  const auto sums = model.store().counts_of(y);
  nb::dict out;
  out["examples"] = sums.examples / model.store().decay_unit();
  out["count"] = sums.count / model.store().decay_unit();
  out["counts"] = to_numpy(std::move(counts));
  out["weights"] = to_numpy(std::move(weights));
  out["accumulators"] = to_numpy(std::move(accumulators));
  out["bias"] = model.store().terms(y).bias;
  out["bias_accumulator"] = sums.bias_accumulator;
  return out;
}

nb::dict histogram(const OneAgainstSome& model, std::uint32_t feature) {
  if (feature >= model.config().learner.n_features) throw nb::index_error("no such feature");
  std::vector<std::uint32_t> labels;
  std::vector<double> counts;
  double examples = 0.0;
  float weight = 1.0f;
  if (const auto* key = model.store().histograms.find(feature)) {
    const double unit = model.store().decay_unit();
    examples = key->examples / unit;
    weight = key->weight.value;
    for (const auto& entry : key->labels()) {
      labels.push_back(entry.label);
      counts.push_back(double(entry.root) * double(entry.root) / unit);
    }
  }
  nb::dict out;
  out["examples"] = examples;
  out["weight"] = weight;
  out["labels"] = to_numpy(std::move(labels));
  out["counts"] = to_numpy(std::move(counts));
  return out;
}

// The dense features of a row as cells see them.
nb::object whitened(const OneAgainstSome& model, const HeldRows& x) {
  const Rows& rows = the_row(model, x, model.config().learner.n_features);
  const Cells& cells = cells_of(model);
  const auto row = model.read_row(rows, 0);
  const float* const from = row->dense.x;
  return to_numpy(std::vector<float>(from, from + cells.whitening().n_features()));
}

// The classes that cells find for a row.
nb::object near_classes(const OneAgainstSome& model, const HeldRows& x) {
  const Rows& rows = the_row(model, x, model.config().learner.n_features);
  const auto row = model.read_row(rows, 0);
  const auto found = cells_of(model).find(row->dense.x, model.max_candidates(), row->cells);
  return to_numpy(std::vector<std::uint32_t>(found.begin(), found.end()));
}

nb::dict class_vector(const OneAgainstSome& model, ClassId y) {
  check_class(model, y);
  const Cells& cells = cells_of(model);
  const ClassVectors& vectors = cells.vectors();
  const std::size_t n = cells.whitening().n_features();
  ClassScoresScratch scratch;
  const float *mean = vectors.parts(y, 0, scratch), *weights = mean + cells.width();
  const double unit = model.store().decay_unit();
  std::vector<double> sum(mean, mean + n);
  for (double& number : sum) number /= unit;
  nb::dict out;
  out["sum"] = to_numpy(std::move(sum));
  out["weights"] = to_numpy(std::vector<float>(weights, weights + n));
  out["bias"] = vectors.bias(y);
  out["squares"] = vectors.squares(y);
  out["rows"] = vectors.rows(y);
  return out;
}

// Bytes of the pairs and of the entries of histograms, and the most that were ever
// taken from the system for them.
nb::dict pairs_memory(const OneAgainstSome& model) {
  const Arena& histograms = model.store().histograms.arena();
  const Arena& pairs = model.store().pairs.arena();
  nb::dict out;
  out["used"] = histograms.used() + pairs.used();
  out["most_held"] = histograms.most_held() + pairs.most_held();
  return out;
}

nb::dict node(const OneAgainstSome& model, NodeId n) {
  const KeyForest& forest = model.store().forest;
  check_node(n, forest.tree().size());
  const KeyNode& node = forest.tree()[n];
  nb::dict out = row_dict(forest.routers(), node.router, model.config().learner.n_features);
  std::vector<std::uint32_t> labels;
  std::vector<double> counts;
  for (const auto& entry : node.histogram.entries()) {
    labels.push_back(entry.label);
    counts.push_back(entry.count() / model.store().decay_unit());
  }
  out["left"] = static_cast<std::int32_t>(node.left);
  out["right"] = static_cast<std::int32_t>(node.right);
  out["depth"] = node.depth;
  out["passed"] = node.passed / model.store().decay_unit();
  out["labels"] = to_numpy(std::move(labels));
  out["counts"] = to_numpy(std::move(counts));
  return out;
}

template <class Model>
nb::tuple frequent_classes(const Model& model) {
  const std::vector<double> examples = model.class_examples();
  std::vector<std::pair<ClassId, double>> all;
  for (const ClassId y : model.frequent_classes()) all.emplace_back(y, examples[y]);
  return labels_and_counts(all);
}

template <class Model>
nb::object key_nodes(const Model& model, const HeldRows& x) {
  const Rows& rows = the_row(model, x, model.config().learner.n_features);
  return to_numpy(explain_votes(model, rows, 0, {}).nodes);
}

template <class Model>
nb::dict explain_classes(const Model& model, const HeldRows& x, Vector<std::uint32_t> ids) {
  const Rows& rows = the_row(model, x, model.config().learner.n_features);
  const std::vector<ClassId> classes(ids.data(), ids.data() + ids.shape(0));
  for (const ClassId y : classes) check_class(model, y);
  VoteShares found = explain_votes(model, rows, 0, classes);
  const std::vector<std::size_t> by_feature{classes.size(), found.features.size()};
  const std::vector<std::size_t> by_node{classes.size(), found.nodes.size()};
  nb::dict out;
  out["features"] = to_numpy(std::move(found.features));
  out["nodes"] = to_numpy(std::move(found.nodes));
  out["bias"] = to_numpy(std::move(found.bias));
  out["votes"] = to_numpy(std::move(found.votes), by_feature);
  out["predictors"] = to_numpy(std::move(found.predictors), by_feature);
  out["node_votes"] = to_numpy(std::move(found.node_votes), by_node);
  return out;
}

template <class Model>
void bind(nb::module_& m, const char* name) {
  nb::class_<Model> c(m, name);
  const OneAgainstSomeConfig standard;
  bind_init(c, make_config, "keys"_a = name_of(standard.keys),
            "max_candidates"_a = standard.max_candidates, "max_labels"_a = standard.max_labels,
            "max_entries"_a = standard.max_entries,
            "sublinear_tf"_a = standard.weighting.sublinear_tf,
            "use_idf"_a = standard.weighting.use_idf, "normalize"_a = standard.weighting.normalize,
            "center"_a = standard.center, "n_trees"_a = standard.n_trees,
            "max_depth"_a = standard.max_depth, "bound_lambda"_a = standard.bound_lambda,
            "count_decay"_a = standard.count_decay, "seed"_a = standard.seed,
            "memory_budget"_a = standard.memory_budget,
            "feature_dropout"_a = standard.feature_dropout, "cells_read"_a = standard.cells_read,
            "idle_cells"_a = standard.idle_cells, "n_dense_features"_a = standard.n_dense_features);
  c.def_prop_ro("config", &config_of<Model>)
      .def("predictor", reading(&predictor<Model>), "class_id"_a)
      .def("class_examples", reading(+[](const Model& t) { return to_numpy(t.class_examples()); }))
      .def("frequent_classes", reading(&frequent_classes<Model>))
      .def("key_nodes", reading(&key_nodes<Model>), "rows"_a)
      .def("explain_classes", reading(&explain_classes<Model>), "rows"_a, "class_ids"_a)
      .def_prop_ro("n_nodes",
                   reading(+[](const Model& t) { return t.store().forest.tree().size(); }))
      .def_prop_ro("max_candidates_now",
                   reading(+[](const Model& t) { return t.max_candidates(); }))
      .def_prop_ro("vote_scales", reading(+[](const Model& t) {
                     const VoteScales scales = t.store().scales();
                     return std::tuple(scales.affinity, scales.share, scales.nodes);
                   }))
      .def_prop_ro("marginals", reading(+[](const Model& t) -> nb::object {
                     if (!t.marginals().are_known()) return nb::none();
                     const auto [slope, offset] = t.marginals().numbers();
                     return nb::make_tuple(slope, offset);
                   }));
  bind_common<MappedOneAgainstSome>(c);
  bind_cells(c);
  if constexpr (std::is_same_v<Model, OneAgainstSome>)
    c.def("histogram", reading(&histogram), "feature"_a)
        .def("node", reading(&node), "node"_a)
        .def("whitened", reading(&whitened), "rows"_a)
        .def("near_classes", reading(&near_classes), "rows"_a)
        .def("class_vector", reading(&class_vector), "class_id"_a)
        .def_prop_ro("pairs_memory", reading(&pairs_memory));
}

void bind_one_against_some(nb::module_& m) {
  bind<OneAgainstSome>(m, "OneAgainstSome");
  bind<MappedOneAgainstSome>(m, "MappedOneAgainstSome");
}
const BoundLearner bound(&bind_one_against_some);

}  // namespace

}  // namespace recalltree::bindings
