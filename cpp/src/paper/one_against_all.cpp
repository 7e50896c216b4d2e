#include "recalltree/paper/one_against_all.hpp"

#include <algorithm>

#include "recalltree/base/random_bits.hpp"
#include "recalltree/base/thread_team.hpp"

namespace recalltree {
namespace {

constexpr std::size_t kChunkRows = 128;

// A random number for every position, whoever asks first.
std::uint64_t random_at(std::uint64_t seed, std::uint64_t example, std::uint64_t draw) {
  return mix(seed + 0x9E3779B97F4A7C15ull * (example * 0x100000001B3ull + draw));
}

}  // namespace

OneAgainstAll::OneAgainstAll(const OneAgainstAllConfig& config)
    : OneAgainstAllPrediction(config.learner),
      all_config_(config),
      predictors_(make_weights(config.learner, true)) {}

void OneAgainstAll::begin_batch(const Batch&) { predictors_->grow_to(n_classes()); }

// --- All classes
// Classes do not depend on each other, so a block of them can learn a whole chunk of rows while
// their weights stay in cache, and threads can share the blocks without changing the result.

// The best class so far, by its place in order_; ties: the one that was seen first.
struct OneAgainstAll::Best {
  static constexpr std::size_t kNone = SIZE_MAX;
  std::size_t place = kNone;
  float score = 0.0f;

  void offer(const Best& other) {
    if (other.place == kNone) return;
    if (place == kNone || other.score > score || (other.score == score && other.place < place))
      *this = other;
  }
};

struct OneAgainstAll::Chunk {
  struct Row {
    Example x;
    Labels labels;
    double weight = 0.0;
    std::size_t seen_before = 0, seen = 0;  // classes seen without and with this row
    ExampleColumns columns;                 // if several threads learn
  };
  std::vector<Row> rows;
  std::size_t n = 0;
};

void OneAgainstAll::learn_batch(const Batch& batch, Team team, bool first_pass) {
  if (all_config_.negative_samples > 0) return Learner::learn_batch(batch, team, first_pass);
  Chunk chunk;
  chunk.rows.resize(std::min(kChunkRows, batch.n));
  ThreadTeam threads(team.size());
  if (threads.size() > 1) predictors_->prepare_owners();
  for (std::size_t begin = 0; begin < batch.n; begin += kChunkRows)
    learn_chunk(batch, begin, std::min(begin + kChunkRows, batch.n), chunk, team, threads);
}

void OneAgainstAll::learn_chunk(const Batch& batch, std::size_t begin, std::size_t end,
                                Chunk& chunk, Team team, ThreadTeam& threads) {
  chunk.n = end - begin;
  for (std::size_t i = 0; i < chunk.n; ++i) {
    Chunk::Row& row = chunk.rows[i];
    const std::size_t at = batch.row(begin + i);
    row.labels = batch.labels_of(at);
    row.weight = batch.weight(at);
    row.seen_before = order_.size();
    for (const ClassId y : row.labels)
      if (see(y)) order_.add([&](ClassId& c) { c = y; });
    row.seen = order_.size();
    learner_.scale.learn(*batch.rows, at, row.weight, row.x);
    ++n_examples_;
  }

  const std::size_t n_blocks = (order_.size() + kBlock - 1) / kBlock;
  std::vector<std::vector<Best>> best(team.size(), std::vector<Best>(chunk.n));
  const auto learn_blocks = [&](std::size_t first, std::size_t step, std::size_t t) {
    auto& ws = static_cast<OneAgainstAllWorkspace&>(*team[t]);
    for (std::size_t block = first; block < n_blocks; block += step)
      learn_block(block * kBlock, std::min((block + 1) * kBlock, order_.size()), chunk, best[t],
                  ws);
  };
  if (threads.size() == 1) {
    learn_blocks(0, 1, 0);
  } else {
    for (std::size_t i = 0; i < chunk.n; ++i)
      predictors_->find_columns(chunk.rows[i].x, chunk.rows[i].columns);
    learners_.begin(), settlers_.begin();
    threads.run([&](std::size_t t) {
      learners_.take([&](Owner owner) {
        static_cast<OneAgainstAllWorkspace&>(*team[t]).found.made =
            predictors_->new_weights(owner);
        learn_blocks(owner.number, kOwners, t);
      });
    });
    threads.run([&](std::size_t) {
      settlers_.take([&](Owner owner) { predictors_->settle(owner); });
    });
  }

  Workspace& ws = *team[0];
  for (std::size_t i = 0; i < chunk.n; ++i) {
    const Chunk::Row& row = chunk.rows[i];
    Best winner;
    for (const auto& of_thread : best) winner.offer(of_thread[i]);
    if (!row.labels.empty())
      ws.progress.count(row.weight,
                        winner.place == Best::kNone || !is_among(row.labels, order_[winner.place]));
    ++ws.work.examples_learned;
    ws.work.predictor_evaluations += row.seen;
    reach(n_examples_ - chunk.n + i + 1, ws.progress);
  }
}

// Classes [begin, end) of order_, all rows of the chunk in turn.
void OneAgainstAll::learn_block(std::size_t begin, std::size_t end, Chunk& chunk,
                                std::vector<Best>& best, OneAgainstAllWorkspace& ws) {
  ModelId models[kBlock];
  float p[kBlock], q[kBlock], targets[kBlock];
  double importance[kBlock];
  for (std::size_t c = begin; c < end; ++c) models[c - begin] = order_[c];
  for (std::size_t i = 0; i < chunk.n; ++i) {
    Chunk::Row& row = chunk.rows[i];
    if (row.seen <= begin) continue;
    const std::size_t n = std::min(end, row.seen) - begin;
    ws.found.begin(row.columns);
    predictors_->scores(models, n, row.x, p, ws.found);
    const float* predicted = p;
    if (const Example& seen = row.x.before(ws.before); &seen != &row.x) {
      predictors_->scores_again(models, n, seen, q, ws.found, 0);
      predicted = q;
    }
    for (std::size_t c = 0; c < n; ++c) {
      targets[c] = is_among(row.labels, models[c]) ? 1.0f : -1.0f;
      importance[c] = row.weight;
      if (begin + c < row.seen_before) best[i].offer({begin + c, predicted[c]});
    }
    const Part part{predictors_.get(), models, &row.x, true, &ws.found, 0};
    learner_.learn({&part, 1}, n, p, targets, importance, row.x.rate, ws);
  }
}

// --- Negative gradient subsampling

void OneAgainstAll::learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                              Workspace& base) {
  auto& ws = static_cast<OneAgainstAllWorkspace&>(base);
  const std::uint64_t t = n_examples_++;
  predict_sometimes(rows, i, t, labels, weight, ws);

  learner_.scale.learn(rows, i, weight, ws.x);
  for (const ClassId y : labels)
    if (see(y)) order_.add([&](ClassId& c) { c = y; });
  sample_negatives(t, labels, ws);
  weigh_negatives(weight, labels.size(), order_.size(), ws);
  const std::size_t n = ws.labels.size();
  ws.scores.resize(n);
  predictors_->scores(ws.labels.data(), n, ws.x, ws.scores.data());
  ws.work.predictor_evaluations += n;
  const Part part{predictors_.get(), ws.labels.data(), &ws.x, true};
  learner_.learn({&part, 1}, n, ws.scores.data(), ws.targets.data(), ws.importance.data(),
                 ws.x.rate, ws);
}

void OneAgainstAll::predict_sometimes(const Rows& rows, std::size_t i, std::uint64_t example,
                                      Labels labels, double weight,
                                      OneAgainstAllWorkspace& ws) const {
  const std::size_t known = order_.size(), m = all_config_.negative_samples;
  if (labels.empty() || example % ((known + m) / (m + 1) + (known == 0)) != 0) return;
  ClassId winner = kNoClass;
  if (known > 0) {
    score(rows, i, ws);
    winner = ws.labels[static_cast<std::size_t>(
        std::max_element(ws.scores.begin(), ws.scores.end()) - ws.scores.begin())];
    ws.work.predictor_evaluations -= known;
    ws.work.progressive_evaluations += known;
  }
  ws.progress.count(weight, !is_among(labels, winner));
}

// ws.labels = an example's labels and negative_samples other classes seen, each set of them equally
// likely (Floyd's algorithm).
void OneAgainstAll::sample_negatives(std::uint64_t example, Labels labels,
                                     OneAgainstAllWorkspace& ws) const {
  const std::size_t m = all_config_.negative_samples, n_seen = order_.size();
  ws.labels.assign(labels.begin(), labels.end());
  ws.seen_labels.clear();
  for (const ClassId y : labels)
    if (seen_[y]) ws.seen_labels.push_back(y);
  labels = ws.seen_labels;
  const std::size_t n_labels = labels.size();
  if (n_seen <= m + n_labels) {
    for (std::size_t c = 0; c < n_seen; ++c)
      if (!is_among(labels, order_[c])) ws.labels.push_back(order_[c]);
    return;
  }
  // Places below `others` are drawn. The last classes stand in for labels there.
  const std::size_t others = n_seen - n_labels;
  ws.stand_ins.assign(n_labels, kNoClass);
  std::size_t last = others;
  for (std::size_t l = 0; l < n_labels; ++l) {
    bool comes_last = false;
    for (std::size_t c = others; c < n_seen; ++c) comes_last |= order_[c] == labels[l];
    if (comes_last) continue;
    while (is_among(labels, order_[last])) ++last;
    ws.stand_ins[l] = order_[last++];
  }
  const auto other_at = [&](std::size_t place) {
    const ClassId c = order_[place];
    const auto l = std::find(labels.begin(), labels.end(), c) - labels.begin();
    return static_cast<std::size_t>(l) == n_labels ? c : ws.stand_ins[static_cast<std::size_t>(l)];
  };
  if (ws.stamps.size() < n_seen) ws.stamps.resize(n_seen, 0);
  ++ws.stamp;
  for (std::size_t j = others - m; j < others; ++j) {
    std::size_t pick = random_at(all_config_.seed, example, j) % (j + 1);
    if (ws.stamps[pick] == ws.stamp) pick = j;
    ws.stamps[pick] = ws.stamp;
    ws.labels.push_back(other_at(pick));
  }
}

// The negatives stand for all other classes.
void OneAgainstAll::weigh_negatives(double weight, std::size_t n_labels, std::size_t n_seen,
                                    OneAgainstAllWorkspace& ws) {
  const std::size_t n = ws.labels.size();
  const double others = static_cast<double>(n_seen) - static_cast<double>(n_labels);
  ws.targets.assign(n, -1.0f);
  ws.importance.assign(n, n > n_labels ? weight * others / static_cast<double>(n - n_labels) : 0.0);
  std::fill_n(ws.targets.begin(), n_labels, 1.0f);
  std::fill_n(ws.importance.begin(), n_labels, weight);
}

// Mini-batches: negatives are drawn from the classes seen before. Then each owner teaches its
// classes, in the order of the rows.

std::size_t OneAgainstAll::begin_mini_batch() {
  notes_.resize(kLargestMiniBatch);
  predictors_->prepare_owners();
  return kLargestMiniBatch;
}

void OneAgainstAll::study_one(const MiniBatch& rows, std::size_t place, Workspace& base) {
  auto& ws = static_cast<OneAgainstAllWorkspace&>(base);
  OneAgainstAllNotes& notes = notes_[place];
  const Labels labels = rows.labels_of(place);
  const std::uint64_t example = n_examples_ + place;
  const double weight = rows.weight(place);
  predict_sometimes(rows.rows(), rows.row(place), example, labels, weight, ws);
  notes.norm = learner_.scale.study(rows.rows(), rows.row(place), weight, notes.x, notes.raises);
  predictors_->find_columns(notes.x, notes.columns);
  sample_negatives(example, labels, ws);
  const std::size_t n_new = labels.size() - ws.seen_labels.size();
  weigh_negatives(weight, labels.size(), order_.size() + n_new, ws);
  notes.labels = ws.labels;
  notes.targets = ws.targets;
  notes.importance = ws.importance;
  notes.classes.begin(kOwners);
  for (const ClassId c : notes.labels) notes.classes.add(neighbourhood_of(c));
}

// Stage 0: classes; stage 1: features.
void OneAgainstAll::apply(const MiniBatch& rows, std::size_t stage, Owner owner, Workspace& base) {
  if (stage == 1) return predictors_->settle(owner);
  auto& ws = static_cast<OneAgainstAllWorkspace&>(base);
  ws.found.made = predictors_->new_weights(owner);
  for (std::size_t place = 0; place < rows.n; ++place) {
    OneAgainstAllNotes& notes = notes_[place];
    ws.labels.clear();
    ws.targets.clear();
    ws.importance.clear();
    notes.classes.visit(owner, [&](std::uint32_t item) {
      ws.labels.push_back(notes.labels[item]);
      ws.targets.push_back(notes.targets[item]);
      ws.importance.push_back(notes.importance[item]);
    });
    const std::size_t n = ws.labels.size();
    if (n == 0) continue;
    ws.scores.resize(n);
    ws.found.begin(notes.columns);
    predictors_->scores(ws.labels.data(), n, notes.x, ws.scores.data(), ws.found);
    ws.work.predictor_evaluations += n;
    const Part part{predictors_.get(), ws.labels.data(), &notes.x, true, &ws.found, 0};
    learner_.learn({&part, 1}, n, ws.scores.data(), ws.targets.data(), ws.importance.data(),
                   notes.x.rate, ws);
  }
}

void OneAgainstAll::arrange(const MiniBatch& rows, Workspace&) {
  for (std::size_t place = 0; place < rows.n; ++place)
    for (const ClassId y : rows.labels_of(place))
      if (see(y)) order_.add([&](ClassId& c) { c = y; });
}

void OneAgainstAll::end_mini_batch(const MiniBatch& rows, Workspace&) {
  for (std::size_t place = 0; place < rows.n; ++place)
    learner_.scale.take(notes_[place].raises, rows.weight(place), notes_[place].norm);
}

// --- State

State OneAgainstAll::save() const {
  State state;
  save_common(state);
  save_lists(state);
  predictors_->save("predictors", state);
  std::vector<std::uint32_t> order;
  for (std::size_t c = 0; c < order_.size(); ++c) order.push_back(order_[c]);
  state.put("classes.order", order);
  return state;
}

void OneAgainstAll::load(const State& state) {
  load_common(state);
  predictors_->load("predictors", state);
  for (const ClassId c : state.get<std::uint32_t>("classes.order"))
    order_.add([&](ClassId& slot) { slot = c; });
}

std::vector<std::pair<std::string, std::size_t>> OneAgainstAll::memory() const {
  return {{"predictors", predictors_->bytes()}, {"feature_scale", learner_.scale.bytes()}};
}

}  // namespace recalltree
