#include "recalltree/paper/lom_tree.hpp"

#include <algorithm>

#include "recalltree/base/hints.hpp"

namespace recalltree {

LOMTree::LOMTree(const LOMTreeConfig& config)
    : LOMTreePrediction(config.learner),
      lom_config_(config),
      routers_(make_weights(config.learner, true)),
      nodes_(1) {}

std::size_t LOMTree::budget() const {
  if (lom_config_.max_nodes > 0) return lom_config_.max_nodes;
  return n_classes_seen() > 0 ? n_classes_seen() - 1 : 0;
}

// --- Learning

void LOMTree::learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                        Workspace& base) {
  const ClassId y = labels.front();
  auto& ws = static_cast<LOMTreeWorkspace&>(base);
  learner_.scale.learn(rows, i, weight, ws.x);
  ++n_examples_;
  // The answer of predict. The routers are looked up for what it sees and for learning at once.
  const Example& seen = ws.x.before(ws.before);
  const bool unchanged = &seen == &ws.x;
  ws.shadow_margins.clear();
  ws.margins.clear();
  ws.routers_found.clear();
  // Labels of a router and its children come from memory while its margin is computed.
  const auto fetch = [&](NodeId n) {
    nodes_[n].labels.prefetch(y);
    prefetch(&nodes_[nodes_[n].left]);
    prefetch(&nodes_[nodes_[n].right]);
  };
  descend(ws.route, [&](NodeId n) {
    const ModelId router = nodes_[n].router;
    fetch(n);
    float margin;
    routers_->scores(&router, 1, seen, &margin, ws.routers_found);
    ws.shadow_margins.push_back(margin);
    ws.margins.push_back(margin);
    if (!unchanged)
      routers_->scores_again(&router, 1, ws.x, &ws.margins.back(), ws.routers_found,
                             ws.margins.size() - 1);
    return margin;
  });
  ws.progress.count(weight, nodes_[ws.route.back()].majority != y);
  see(y);

  NodeId n = root_;
  std::size_t level = 0, reused = 0, found = ws.margins.size();
  for (;;) {
    for (; !nodes_[n].is_leaf(); ++level) {
      const bool known = level < ws.margins.size() && ws.route[level] == n;
      float margin;
      if (known) {
        margin = ws.margins[level];
      } else {
        fetch(n);
        routers_->scores(&nodes_[n].router, 1, ws.x, &margin, ws.routers_found);
      }
      reused += known && unchanged;
      margin = update_router(n, margin, known ? level : found++, y, weight, ws);
      ws.work.router_evaluations += 2;
      n = margin > 0.0f ? nodes_[n].right : nodes_[n].left;
    }
    Node& leaf = nodes_[n];
    ++ws.work.histogram_touches;
    const double count = leaf.labels.find_or_add(y).sum += weight;
    const LabelSums::Entry* const top = leaf.labels.find(leaf.majority);
    if (top == nullptr || count > top->sum) leaf.majority = y;
    if (leaf.labels.size() < 2 || !split(n)) break;
  }
  ws.work.progressive_evaluations += ws.shadow_margins.size() - reused;
  nodes_[n].min_count += weight;
  recompute_min_counts(nodes_[n].parent);
}

// Sends the class to the side on which it lies already, relative to the node: a step towards a
// large |E[margin] - E[margin | class]|. Returns the margin after the update.
float LOMTree::update_router(NodeId n, float margin, std::size_t found, ClassId y, double weight,
                             LOMTreeWorkspace& ws) {
  Node& node = nodes_[n];
  ++ws.work.histogram_touches;
  LabelSums::Entry& of_class = node.labels.find_or_add(y);
  const float target = node.margin.mean() > of_class.mean() ? -1.0f : 1.0f;
  const Part part{routers_.get(), &node.router, &ws.x, true, &ws.routers_found, found};
  learner_.learn({&part, 1}, 1, &margin, &target, &weight, ws.x.rate, ws);
  float after;
  routers_->scores_again(&node.router, 1, ws.x, &after, ws.routers_found, found);
  node.margin.add(weight, after);
  of_class.add(weight, after);
  return after;
}

bool LOMTree::split(NodeId n) {
  if (n_routers_ >= budget()) return swap(n);
  const auto left = static_cast<NodeId>(nodes_.size());
  nodes_.resize(nodes_.size() + 2);
  ++n_routers_;
  become_router(n, left, left + 1, routers_->add_model_near(router_above(n)));
  return true;
}

// Takes the lightest leaf and its parent from where they do little and gives them to a leaf that
// mixes classes.
bool LOMTree::swap(NodeId n) {
  const LabelSums::Entry* const top = nodes_[n].labels.find(nodes_[n].majority);
  if (nodes_[n].min_count - top->sum <=
      lom_config_.swap_resistance * (nodes_[root_].min_count + 1.0))
    return false;
  NodeId leaf = root_;
  while (!nodes_[leaf].is_leaf()) {
    const Node& node = nodes_[leaf];
    leaf = nodes_[node.left].min_count < nodes_[node.right].min_count ? node.left : node.right;
  }
  if (leaf == n) return false;
  const NodeId freed = nodes_[leaf].parent, above = nodes_[freed].parent;
  const NodeId sibling = nodes_[freed].left == leaf ? nodes_[freed].right : nodes_[freed].left;
  nodes_[sibling].parent = above;
  if (above == kNoNode)
    root_ = sibling;
  else
    (nodes_[above].left == freed ? nodes_[above].left : nodes_[above].right) = sibling;
  recompute_min_counts(above);
  become_router(n, leaf, freed, routers_->renew(nodes_[freed].router, router_above(n)));
  return true;
}

void LOMTree::become_router(NodeId n, NodeId left, NodeId right, ModelId router) {
  const ClassId majority = nodes_[n].majority;
  const double half = nodes_[n].min_count / 2.0;
  clear(left, n, majority, half);
  clear(right, n, majority, half);
  Node& node = nodes_[n];
  clear(n, node.parent, majority, half);
  node.left = left;
  node.right = right;
  node.router = router;
  recompute_min_counts(node.parent);
}

void LOMTree::clear(NodeId n, NodeId parent, ClassId majority, double min_count) {
  nodes_[n] = Node{};
  nodes_[n].parent = parent;
  nodes_[n].majority = majority;
  nodes_[n].min_count = min_count;
}

// Nodes above one whose number stays the same keep theirs.
void LOMTree::recompute_min_counts(NodeId n) {
  for (; n != kNoNode; n = nodes_[n].parent) {
    const double now =
        std::min(nodes_[nodes_[n].left].min_count, nodes_[nodes_[n].right].min_count);
    if (nodes_[n].min_count == now) return;
    nodes_[n].min_count = now;
  }
}

// --- State

State LOMTree::save() const {
  State state;
  save_common(state);
  std::vector<ModelId> routers;  // in the order of their nodes, whatever swaps did to their numbers
  LOMTreeArrays<Owned> saved;
  saved.root = {root_};
  saved.offsets = {0};
  for (const Node& node : nodes_) {
    saved.left.push_back(node.left);
    saved.right.push_back(node.right);
    saved.parent.push_back(node.parent);
    saved.router.push_back(node.is_leaf() ? kNoModel : static_cast<ModelId>(routers.size()));
    if (!node.is_leaf()) routers.push_back(node.router);
    saved.majority.push_back(node.majority);
    saved.min_count.push_back(node.min_count);
    saved.margins.insert(saved.margins.end(), {node.margin.sum, node.margin.weight});
    for (const LabelSums::Entry& entry : node.labels.in_order_of_arrival()) {
      saved.labels.push_back(entry.label);
      saved.values.insert(saved.values.end(), {entry.sum, entry.weight});
    }
    saved.offsets.push_back(saved.labels.size());
  }
  routers_->save("routers", state, routers);
  put_fields(std::move(saved), state);
  return state;
}

void LOMTree::load(const State& state) {
  LOMTreeArrays<Viewed> saved;
  view_fields(saved, state);
  load_common(state);
  routers_->load("routers", state);
  root_ = saved.root[0];
  nodes_.clear();
  nodes_.resize(saved.left.size());
  n_routers_ = 0;
  for (NodeId n = 0; n < nodes_.size(); ++n) {
    Node& node = nodes_[n];
    node.left = saved.left[n];
    node.right = saved.right[n];
    node.parent = saved.parent[n];
    node.router = saved.router[n];
    node.majority = saved.majority[n];
    node.min_count = saved.min_count[n];
    node.margin = {saved.margins[2 * n], saved.margins[2 * n + 1]};
    for (std::size_t i = saved.offsets[n]; i < saved.offsets[n + 1]; ++i) {
      LabelSums::Entry& entry = node.labels.find_or_add(saved.labels[i]);
      entry.sum = saved.values[2 * i];
      entry.weight = saved.values[2 * i + 1];
    }
    n_routers_ += !node.is_leaf();
  }
}

std::vector<std::pair<std::string, std::size_t>> LOMTree::memory() const {
  std::size_t labels = 0;
  for (const Node& node : nodes_) labels += node.labels.bytes();
  return {{"routers", routers_->bytes()},
          {"nodes", nodes_.capacity() * sizeof(Node)},
          {"label_statistics", labels},
          {"feature_scale", learner_.scale.bytes()}};
}

}  // namespace recalltree
