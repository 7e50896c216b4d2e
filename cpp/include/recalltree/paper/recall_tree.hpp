// The Recall Tree (figures 1 and 2 of the paper).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/model/learner.hpp"
#include "recalltree/paper/recall_tree_notes.hpp"
#include "recalltree/paper/recall_tree_prediction.hpp"
#include "recalltree/paper/tree.hpp"

namespace recalltree {

class RecallTree final : public RecallTreePrediction<RecallTree, Learner> {
 public:
  explicit RecallTree(const RecallTreeConfig& config);

  const RecallTreeConfig& config() const { return recall_config_; }
  const Tree& tree() const { return tree_; }
  double decay_unit() const { return decay_unit_at(static_cast<double>(n_examples_) - 1); }
  const Weights& predictors() const { return *predictors_; }
  const Weights& routers() const { return *routers_; }
  const Weights& path_weights() const { return path_weights_; }
  const Weights& interactions() const { return *interactions_; }
  ModelId interaction_model(ClassId y, NodeId n) const;  // kNoModel if it never learned

  State save() const override;
  void load(const State& state) override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  void learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                 Workspace& ws) override;
  bool learns_several_labels() const override { return true; }
  void begin_batch(const Batch& batch) override;
  void end_batch() override;

  bool learns_mini_batches() const override;
  std::size_t begin_mini_batch() override;
  void study_one(const MiniBatch& rows, std::size_t place, Workspace& ws) override;
  void arrange(const MiniBatch& rows, Workspace& ws) override;
  std::size_t n_stages() const override { return 2; }
  void apply(const MiniBatch& rows, std::size_t stage, Owner owner, Workspace& ws) override;
  void end_mini_batch(const MiniBatch& rows, Workspace& ws) override;

 private:
  // Side to which a router should send an example; not learned if the importance is 0.
  struct RouterLesson {
    float target = 0.0f;
    double importance = 0.0;
  };

  void study_route(RecallTreeNotes& notes, RecallTreeWorkspace& ws);
  bool study_candidates(RecallTreeNotes& notes, Labels labels, double added,
                        RecallTreeWorkspace& ws);
  void apply_to_nodes(const MiniBatch& rows, std::size_t place, Owner owner,
                      RecallTreeWorkspace& ws);
  void apply_to_classes(const MiniBatch& rows, std::size_t place, Owner owner,
                        RecallTreeWorkspace& ws);
  double decay_unit_of_row(std::size_t place) const {
    return decay_unit_at(static_cast<double>(n_examples_ + place));
  }
  double negative_floor() const { return std::max(recall_config_.min_gradient, kGradientFloor); }

  // total: of the node, with the example counted.
  RouterLesson router_lesson(NodeId n, double total, Labels labels, double weight, double unit,
                             RecallTreeWorkspace& ws) const;

  // Training, in the paper's words.
  void update_router(NodeId n, float margin, Labels labels, double weight, double unit,
                     RecallTreeWorkspace& ws, std::size_t place);
  // Returns the node's recall bound with the labels counted.
  double update_candidates(NodeId n, Labels labels, double weight, double unit,
                           std::uint32_t max_candidates, RecallTreeWorkspace& ws);
  void update_predictors(Labels labels, double weight, const std::vector<NodeId>& route,
                         RecallTreeWorkspace& ws);
  // All candidates where an example without labels stops are wrong. It is counted nowhere.
  void learn_without_labels(double weight, double unit, Limits now, RecallTreeWorkspace& ws);

  // Nodes that were not visited since F grew take their new candidates now.
  void fit_nodes();
  // Recall and candidates while one thread learns, when a node may still have fewer candidates.
  double fitted_recall(NodeId n, std::uint32_t max_candidates, double unit);
  // Into ws.candidates and ws.labels, in any order; false, and nothing there, if none of an
  // example's labels is one.
  bool gather_candidates(NodeId n, std::uint32_t max_candidates, Labels labels,
                         RecallTreeWorkspace& ws);
  // The candidates that prediction would have found, from ws.predicted.
  static void take_predicted(RecallTreeWorkspace& ws);
  // True if labels are candidates of a node that were not among ws.predicted.
  bool has_new_candidates(NodeId n, Labels labels, const RecallTreeWorkspace& ws);
  // Into ws.scores. found: null, or where to keep what is found.
  void score_gathered(const Example& x, const std::vector<NodeId>& route, LookupCache* found,
                      RecallTreeWorkspace& ws);
  // The margin of a node's router. found: null, or where to keep what is found.
  float margin(NodeId n, const Example& x, LookupCache* found = nullptr) const;
  // The same of a node whose router is the place-th of what was found.
  float margin_again(NodeId n, const Example& x, const LookupCache& found, std::size_t place) const;
  // True if a label wins among the scored ws.candidates, with counts as they were before.
  static bool wins(Labels labels, const RecallTreeWorkspace& ws);

  // Factor of the n-th example's weight.
  double decay_unit_at(double n) const { return decay_unit_of(recall_config_, decay_origin_, n); }
  void rebase_decay(double n);
  ModelId interaction_model_or_new(ClassId y, NodeId n);
  void save_interactions(State& state) const;

  RecallTreeConfig recall_config_;
  Tree tree_;
  std::unique_ptr<Weights> predictors_, routers_, interactions_;
  SparseWeights path_weights_;  // model: class, feature: node
  std::uint32_t fitted_candidates_ = 0;
  double decay_origin_ = 0.0;
  std::unordered_map<std::uint64_t, ModelId> interaction_models_;

  // Totals of the nodes that rows of the mini-batch have passed, counted by the owner of their
  // routers: their histograms have another.
  struct Passed {
    std::uint64_t mini_batch = 0;
    double total = 0.0;
  };
  std::vector<RecallTreeNotes> notes_;  // by place in the mini-batch
  std::vector<Passed> passed_;          // by node
  std::uint64_t mini_batch_ = 0;
};

}  // namespace recalltree
