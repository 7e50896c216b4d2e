// One-against-some: batches, in pieces that end where rows get a new whitening, and mini-batches.
#include <algorithm>
#include <limits>

#include "recalltree/voting/one_against_some.hpp"

namespace recalltree {
namespace {

// Steps of later passes are shorter by this factor.
constexpr double kLaterPass = 0.5;

}  // namespace

void OneAgainstSome::learn_batch(const Batch& batch, Team team, bool first_pass) {
  first_pass_ = first_pass;
  has_lists_ = batch.label_offsets != nullptr;
  if (has_lists_) marginals_.begin();
  rate_ = config_.learning_rate * (first_pass ? 1.0 : kLaterPass);
  if (team.size() > 1) {
    places_.resize(std::min<std::size_t>(batch.n, kLargestMiniBatch));
    Learner::learn_batch(batch, team, first_pass);
    places_.clear();
    places_.shrink_to_fit();
  } else if (store_.rules.has_cells) {
    learn_in_pieces(batch, team, first_pass, [&] { return store_.cells().rows_until_renewal(); });
  } else {
    Learner::learn_batch(batch, team, first_pass);
  }
}

// With cells, rows are whitened a few at a time, unless they lose features one by one.
void OneAgainstSome::learn_rows(const Batch& batch, std::size_t begin, std::size_t end,
                                Workspace& workspace) {
  if (!store_.rules.has_cells || drops_features())
    return Learner::learn_rows(batch, begin, end, workspace);
  auto& ws = static_cast<VotingWorkspace&>(workspace);
  for (std::size_t at = begin; at < end; at += kWhitenedTogether) {
    const std::size_t n = std::min(kWhitenedTogether, end - at);
    whiten_rows(store_, *batch.rows, n, [&](std::size_t k) { return batch.row(at + k); }, ws);
    Learner::learn_rows(batch, at, at + n, ws);
  }
}

// --- Mini-batches

// Rows are whitened alike until the whitening is renewed. Units can only be changed between
// mini-batches, and squares of class vectors have to stay finite.
std::size_t OneAgainstSome::begin_mini_batch() {
  std::size_t most = kLargestMiniBatch;
  if (store_.rules.has_cells) most = std::min(most, store_.cells().rows_until_renewal());
  if (given_.count_decay <= 0.0 || !first_pass_) return most;
  store_.rebase_unit();
  const double half_lives = VotingRules::kMaxHalfLives * (store_.rules.has_cells ? 0.25 : 1.0);
  const double most_fading = std::max(1.0, half_lives * given_.count_decay);
  return static_cast<std::size_t>(std::min(static_cast<double>(most), most_fading));
}

void OneAgainstSome::study(const MiniBatch& rows, std::size_t begin, std::size_t end,
                           Workspace& workspace) {
  auto& ws = static_cast<VotingWorkspace&>(workspace);
  if (store_.rules.has_cells && !drops_features()) {
    whiten_rows(
        store_, rows.rows(), end - begin, [&](std::size_t k) { return rows.row(begin + k); }, ws);
    find_near_rows(store_, ws);
  }
  Learner::study(rows, begin, end, workspace);
}

void OneAgainstSome::study_one(const MiniBatch& rows, std::size_t at, Workspace& workspace) {
  auto& ws = static_cast<VotingWorkspace&>(workspace);
  Place& place = places_[at];
  place.labels = rows.labels_of(at), place.weight = rows.weight(at);
  study_row(rows.rows(), rows.row(at), place.labels, place.weight, at, ws);
  if (store_.rules.has_cells) {
    const std::size_t width = store_.cells().width();
    place.whitened.reserve(width);
    std::copy_n(ws.dense.x, width, place.whitened.data());
    if (store_.cells().keeps_rows()) {
      place.row.reserve(width);
      std::copy_n(ws.dense.row, width, place.row.data());
    }
    ws.work.vectors_compared += std::exchange(ws.cells.search.vectors, 0);
  }
  if (ws.has_linear_models) {
    std::swap(place.x, ws.x);
    std::swap(place.features, ws.before.dense);
  }
  std::swap(place.notes, static_cast<RowNotes&>(ws));
  begin_labels(place.notes);
  list_items(place);
}

// Items of classes: lessons, candidates if there are cells, labels. Of keys: hits, then keys.
void OneAgainstSome::list_items(Place& place) const {
  const RowNotes& notes = place.notes;
  place.of_classes.begin(kOwners);
  for (const Lesson& lesson : notes.lessons)
    place.of_classes.add(notes.candidates[lesson.candidate].label);
  if (store_.rules.has_cells)
    for (const Candidate& candidate : notes.candidates) place.of_classes.add(candidate.label);
  for (const OwnLabel& own : notes.own) place.of_classes.add(own.label);
  place.of_keys.begin(kOwners);
  for (const Hit& hit : notes.hits) place.of_keys.add(notes.keys[hit.key].key);
  for (const ActiveKey& key : notes.keys) place.of_keys.add(key.key);
  place.notes.changes.assign(notes.candidates.size() + notes.own.size(), {});
}

void OneAgainstSome::apply(const MiniBatch& rows, std::size_t stage, Owner owner,
                           Workspace& workspace) {
  auto& ws = static_cast<VotingWorkspace&>(workspace);
  const std::span places = std::span(places_).first(rows.n);
  if (stage == 0) {
    ws.changed.clear();
    for (Place& place : places) apply_to_classes(place, owner, ws);
    show_cells(ws);
    if (owner.number == 0) arrive(places);
  } else if (stage == 1) {
    for (Place& place : places) apply_to_keys(place, owner, ws);
    if (first_pass_) learn_centring(places, owner);
  } else {
    for (Place& place : places) apply_to_nodes(place, owner, ws);
  }
}

void OneAgainstSome::apply_to_classes(Place& place, Owner owner, VotingWorkspace& ws) {
  const Studied x = place.studied();
  RowNotes& notes = x.notes;
  const std::size_t n_lessons = notes.lessons.size();
  const std::size_t n_candidates = store_.rules.has_cells ? notes.candidates.size() : 0;
  place.of_classes.visit(owner, [&](std::size_t item) {
    if (item < n_lessons) return teach_lesson(x, item, ws.work);
    item -= n_lessons;
    if (item < n_candidates) {
      const ClassId z = notes.candidates[item].label;
      notes.changes[item] =
          store_.own_cells->teach(x.whitened, z, notes.gradient[item], cells_lesson(x));
      if (notes.changes[item].is_there) ws.changed.push_back(z);
      return;
    }
    item -= n_candidates;
    teach_label(x, item, ws.work);
    if (!store_.rules.has_cells) return;
    const ClassId y = notes.own[item].label;
    notes.changes[n_candidates + item] = store_.own_cells->count(x.whitened, y, added(notes));
    ws.changed.push_back(y);
  });
}

// Once for all that a class has learned.
void OneAgainstSome::show_cells(VotingWorkspace& ws) {
  std::sort(ws.changed.begin(), ws.changed.end());
  ws.changed.erase(std::unique(ws.changed.begin(), ws.changed.end()), ws.changed.end());
  for (const ClassId y : ws.changed) {
    store_.own_cells->show(y, ws.cells);
    store_.class_terms[y].bias = store_.cells().vectors().bias(y);
  }
}

// Routers and nodes are made in the order of the rows.
void OneAgainstSome::arrive(std::span<Place> places) {
  if (store_.forest.n_trees() == 0 || !first_pass_) return;
  for (Place& place : places) {
    place.of_routers.begin(kOwners), place.of_nodes.begin(kOwners);
    place.notes.arrivals.clear();
    if (!place.notes.has_linear_models) continue;
    store_.forest.arrive(place.notes);
    for (const RouterLesson& lesson : place.notes.router_lessons)
      place.of_routers.add(lesson.step.node);
    for (const Arrival& arrival : place.notes.arrivals) place.of_nodes.add(arrival.node);
  }
}

void OneAgainstSome::apply_to_keys(Place& place, Owner owner, VotingWorkspace& ws) {
  const Studied x = place.studied();
  RowNotes& notes = x.notes;
  place.of_keys.visit(owner, [&](std::size_t item) {
    if (item < notes.hits.size())
      tell_key(x, item);
    else
      teach_key(x, item - notes.hits.size(), ws.work);
  });
  if (store_.forest.n_trees() == 0 || !first_pass_) return;
  const auto teach = [&](std::size_t lesson) {
    store_.forest.teach(notes.router_lessons[lesson], x.x, learner_, ws);
  };
  if (!config_.sparse)
    place.of_routers.visit(owner, teach);
  else if (owner.number == 0)  // sparse weights have features in common
    for (std::size_t l = 0; l < notes.router_lessons.size(); ++l) teach(l);
  for (Arrival& arrival : notes.arrivals) {
    const ClassId y = notes.own[arrival.label].label;
    if (arrival.is_key && owner.owns(y)) store_.forest.count_label(arrival, y, notes.counted);
  }
}

void OneAgainstSome::apply_to_nodes(Place& place, Owner owner, VotingWorkspace& ws) {
  if (!first_pass_) return;
  place.of_nodes.visit(owner, [&](std::size_t item) {
    const Arrival& arrival = place.notes.arrivals[item];
    ws.work.histogram_touches += store_.forest.count_node(
        arrival, place.notes.own[arrival.label].label, place.notes.counted);
  });
}

// Owners share out the features.
void OneAgainstSome::learn_centring(std::span<Place> places, Owner owner) {
  const std::size_t n = store_.centring.n_features();
  const std::size_t begin = n * owner.number / owner.n_owners;
  const std::size_t end = n * (owner.number + 1) / owner.n_owners;
  double sum = store_.centring.weight_sum();
  for (const Place& place : places)
    if (place.notes.has_linear_models)
      store_.centring.learn_features(begin, end, place.features, place.weight, sum);
  if (sum > 0.0) store_.centring.look_at(begin, end);
}

void OneAgainstSome::end_mini_batch(const MiniBatch& rows, Workspace& workspace) {
  auto& ws = static_cast<VotingWorkspace&>(workspace);
  for (std::size_t at = 0; at < rows.n; ++at) {
    const Studied x = places_[at].studied();
    teach_all(x, ws.work);
    if (first_pass_ && x.notes.has_linear_models) store_.centring.learn_length(x.x, x.weight);
    if (!store_.rules.has_cells) continue;
    ws.labels.clear();
    for (const Candidate& candidate : x.notes.candidates) ws.labels.push_back(candidate.label);
    store_.own_cells->end_row(x.row, ws.labels, x.notes.changes, cells_lesson(x), ws.cells);
  }
  if (store_.rules.has_cells) {
    store_.own_cells->end_rows(ws.cells);
    ws.work.vectors_compared += std::exchange(ws.cells.search.vectors, 0);
  }
  for (std::size_t at = 0; at < rows.n; ++at) budget_.reach_labels(places_[at].labels);
  budget_.hold(n_classes());
}

}  // namespace recalltree
