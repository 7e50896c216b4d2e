// Scratch memory of one thread for the votes of an example's keys, and for learning it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recalltree/base/ownership.hpp"
#include "recalltree/cells/cells.hpp"
#include "recalltree/model/workspace.hpp"
#include "recalltree/voting/feature_dropout.hpp"
#include "recalltree/voting/feature_weighting.hpp"
#include "recalltree/voting/label_loss.hpp"
#include "recalltree/voting/marginals.hpp"
#include "recalltree/voting/row_block.hpp"
#include "recalltree/voting/votes.hpp"

namespace recalltree {

// A key that a class may have met.
struct PairGuess {
  std::uint32_t key;   // position among those that were asked for
  std::uint32_t slot;  // where the class knows it, if it does
};

// A key of the example that a candidate has met before.
struct Hit {
  ClassId label;        // of the candidate
  std::uint32_t key;    // position among the example's keys
  std::uint32_t slot;   // in the candidate's table
  float root;           // square root of the pair's count
  float weight = 0.0f;  // of the pair, when it has learned
};

// A pair of the example's own class: its count before the example and with it, and its weight.
struct OwnPair {
  float before, after, weight;
  bool is_known = false;
};

// The examples of a label's class, by weight, before the example and with it.
struct OwnCount {
  float before, after;
};

// A label of the example that is learned. The roots and the norm are of its counts without the
// example itself.
struct OwnLabel {
  ClassId label;
  float inverse_norm = 0.0f;
  const float* roots = nullptr;  // by key
  float node_vote = 0.0f;        // of the nodes
  std::size_t candidate = 0;     // its place among the candidates
};

// A candidate that learns.
struct Lesson {
  std::size_t candidate;
  std::size_t hits_end;  // its hits end here, and begin where those before it end
};

// A node on the way down a tree.
struct RouteStep {
  NodeId node;
  std::uint64_t place;   // in its tree: 1 at the root, 2 p and 2 p + 1 below p
  float margin = 0.0f;   // of its router: positive is right
  bool is_last = false;  // as deep as it gets: the router is not asked
};
using Route = std::vector<RouteStep>;

// The weight of the examples of its class that passed a node on the way, and the node beside it.
struct Passed {
  double on = 0.0, beside = 0.0;
};

// The random hyperplane at which the router of a node begins, for dense examples: of each of its
// features twice the number, plus 1 where it counts against.
struct Hyperplane {
  bool is_known = false;
  std::array<std::uint32_t, 16> features;
};

// A router on the way learns: the step that leads from its node.
struct RouterLesson {
  RouteStep step;
  float target;
  double importance;
};

// An example arrives at a node of its way: which label it counts, and the count of that label
// before it, where the node is a key.
struct Arrival {
  NodeId node;
  std::uint32_t label;  // position among the example's own
  float before = 0.0f;
  bool is_key = false;
};

// A node that votes on the example.
struct NodeKey {
  NodeId node;
  float trust;  // 1 where the example ends
};

// Bound on the vote of the next entry of a key's histogram.
struct Promise {
  float value;
  std::uint32_t key;  // position among the example's keys

  bool operator<(const Promise& other) const {
    return value < other.value || (value == other.value && key > other.key);
  }
};

// Rows that are whitened at a time.
inline constexpr std::size_t kWhitenedTogether = 32;

// Dense rows for cells, as they came and whitened: a block of them, of which one is at hand.
struct WhitenedRows {
  AlignedFloats rows, whitened;
  std::size_t width = 0, n = 0, next = 0;
  const float *row = nullptr, *x = nullptr;
  // Of all rows of the block, if they were searched for together.
  ClassesOfRows near;

  // Room for n rows.
  void begin(std::size_t n_rows, std::size_t row_width) {
    rows.reserve(n_rows * row_width), whitened.reserve(n_rows * row_width);
    width = row_width, n = n_rows, next = 0;
    near.clear();
  }
  void take_next() {
    row = rows.data() + next * width, x = whitened.data() + next * width;
    ++next;
  }
  bool is_empty() const { return next == n; }
  bool has_near() const { return !near.ends.empty(); }
};

// Lessons of an example: noted while it is studied, applied afterwards.
struct RowNotes {
  double counted = 0.0;            // its weight in growing units
  double rate = 0.0;               // of its steps
  bool has_linear_models = false;  // that see the row
  std::vector<ActiveKey> keys;
  std::vector<OwnLabel> own;
  std::vector<Candidate> candidates;
  std::vector<Role> roles;  // by candidate, and the gradients of their scores
  std::vector<double> gradient;
  std::vector<Lesson> lessons;  // by candidate that is wrong enough to learn
  std::vector<Hit> hits;
  // Gradients of A, B and S, if votes learn, of u by key, and of the marginals.
  bool votes_learn = false, nodes_learn = false, shares_learn = false;
  double affinity_gradient = 0.0, node_gradient = 0.0, share_gradient = 0.0;
  std::vector<double> key_gradient;
  MarginalGradient marginal_gradient;
  std::vector<Route> routes;  // by tree
  std::vector<RouterLesson> router_lessons;
  // Noted by those who apply it, for those after them.
  std::vector<OwnCount> own_counts;  // by label
  std::vector<OwnPair> own_pairs;    // by label and key
  std::vector<Arrival> arrivals;
  std::vector<Cells::Change> changes;  // of class vectors, by candidate and by label
};

struct VotingWorkspace : Workspace, RowNotes {
  FeatureDropout::Row row;  // that is learned without some of its features
  std::vector<Promise> promises;
  std::vector<AskedKey> asked;     // all keys
  std::vector<AskedKey> unread;    // keys with histograms that were not read to the end
  std::vector<PairGuess> guesses;  // of some classes, one after the other
  std::vector<PairGuess*> guess_ends;
  std::vector<NodeKey> node_keys;
  std::vector<Hyperplane> hyperplanes;  // by tree and place, as far as they were asked for
  Votes votes;
  std::size_t n_voted = 0;  // candidates that some key voted for; then near ones, or frequent ones
  std::size_t n_found = 0;  // all these together; labels of the example may come after them
  std::vector<float> inverse_norm;  // by candidate
  WhitenedRows dense;               // for cells
  std::vector<Candidate> near;      // that cells found
  Cells::Scratch cells;
  RowBlock block;
  // Learning.
  std::vector<double> vote_gradient;                     // by candidate
  std::vector<float> own_roots;                          // by label and key
  std::vector<std::vector<std::vector<Passed>>> passed;  // by label, tree and depth
  std::vector<ClassId> changed;                          // classes that an owner has taught
};

}  // namespace recalltree
