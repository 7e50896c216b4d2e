// The Recall Tree (figures 1 and 2 of the paper).
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "recalltree/base/config.hpp"
#include "recalltree/model/learner.hpp"
#include "recalltree/paper/recall_rules.hpp"
#include "recalltree/paper/tree.hpp"

namespace recalltree {

// What can be seen of a node from outside.
struct NodeSummary {
  NodeId left, right, parent;
  std::uint32_t depth;
  RowId router;
  std::size_t n_labels;
  double total, recall_bound;  // with decay applied
};

class RecallTree final : public Learner {
 public:
  explicit RecallTree(const RecallTreeConfig& config);

  Limits limits(std::size_t n_classes) const { return limits_of(recall_config_, n_classes); }

  std::size_t n_nodes() const { return tree_.size(); }
  NodeSummary node(NodeId n) const;
  RowId router(NodeId n) const { return tree_[n].router; }  // kNoRow if there is none
  // In candidate order, counts with decay applied.
  std::vector<LabelHistogram::Candidate> ranked_labels(NodeId n) const;
  void route(const Rows& rows, std::size_t i, std::vector<NodeId>& route) const;
  // What the class predictors see of a route.
  void path_features(const std::vector<NodeId>& route, Example& path) const {
    path_features_of(recall_config_, route, path);
  }

  const RecallTreeConfig& config() const { return recall_config_; }
  const Weights& predictors() const { return *predictors_; }
  const Weights& routers() const { return *routers_; }
  const Weights& path_weights() const { return path_weights_; }
  const Weights& interactions() const { return *interactions_; }
  RowId interaction_row(ClassId y, NodeId n) const;  // kNoRow if it never learned

  State save() override;
  void load(const State& state) override;
  std::vector<std::pair<std::string, std::size_t>> memory() const override;

 protected:
  void learn_one(const Rows& rows, std::size_t i, ClassId y, double weight, Workspace& ws,
                 bool shared) override;
  void score(const Rows& rows, std::size_t i, Workspace& ws) const override;
  void score_rows(const Rows& rows, std::size_t begin, std::size_t end, Workspace& ws,
                  const Emit& emit) const override;
  // The more rows there are, the more of them stop at the same node.
  std::size_t rows_at_once() const override { return std::size_t{1} << 18; }
  void begin_batch(const Batch& batch) override;
  void end_batch() override;
  void learn_batch(const Batch& batch, std::vector<Workspace>& team, bool first_pass) override;
  std::shared_ptr<const void> prepare_prediction(std::size_t n_rows) const override;

 private:
  // Training, in the paper's words.
  void update_router(NodeId n, float margin, ClassId y, double weight, double inflation,
                     Workspace& ws, bool shared, std::size_t place);
  // Returns the node's recall bound with the label counted.
  double update_candidates(NodeId n, ClassId y, double weight, double inflation,
                           std::uint32_t max_candidates, Workspace& ws, bool shared);
  void update_predictors(ClassId y, double weight, const std::vector<NodeId>& route, Workspace& ws,
                         bool shared);

  // The descent of prediction. The route ends at the node where it stops; margins are those
  // computed on the way. found: null, or where one thread alone keeps what it finds of the routers,
  // one row per margin.
  void descend(const Example& x, const Limits& limits, double inflation, std::vector<NodeId>& route,
               std::vector<float>& margins, bool shared, Found* found = nullptr) const;
  float margin(NodeId n, const Example& x, bool shared, Found* found = nullptr) const;
  // The same of a node whose router is the place-th of what was found.
  float margin_again(NodeId n, const Example& x, const Found& found, std::size_t place) const;
  double recall(NodeId n, std::uint32_t max_candidates, double inflation, bool shared) const;
  // Into ws.candidates; false, and nothing there, if y is given and is not one of them.
  bool gather_candidates(NodeId n, std::uint32_t max_candidates, ClassId y, Workspace& ws,
                         bool shared) const;
  // Scores of ws.candidates at the end of a route, into ws.scores. found: null, or where one thread
  // alone keeps what it finds of the class predictors.
  void score_candidates(const Example& x, const std::vector<NodeId>& route, Workspace& ws,
                        bool shared, Found* found = nullptr) const;
  // What prediction needs of each node, if there are many rows to predict.
  struct Packed;
  std::vector<NodeId> stops_of(const Rows& rows, std::size_t begin, std::size_t end,
                               const Packed& packed, Workspace& ws) const;
  // Whether y wins among the scored ws.candidates if its count is taken to be smaller by `added`.
  static bool wins(ClassId y, double added, const Workspace& ws);

  double inflation(double n) const { return inflation_of(recall_config_, decay_origin_, n); }
  void rebase_inflation(double n);
  RowId interaction_row_or_new(ClassId y, NodeId n);
  void save_interactions(State& state) const;

  RecallTreeConfig recall_config_;
  Tree tree_;
  std::unique_ptr<Weights> predictors_, routers_, interactions_;
  SparseWeights path_weights_;  // row: class, key: node
  std::uint32_t fitted_candidates_ = 0;
  double decay_origin_ = 0.0;
  mutable std::shared_mutex interactions_mutex_;
  std::unordered_map<std::uint64_t, RowId> interaction_rows_;
};

}  // namespace recalltree
