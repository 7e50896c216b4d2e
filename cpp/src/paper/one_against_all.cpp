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
  };
  std::vector<Row> rows;
  std::size_t n = 0;
};

void OneAgainstAll::learn_batch(const Batch& batch, Team team, bool first_pass) {
  if (all_config_.negative_samples > 0) return Learner::learn_batch(batch, team, first_pass);
  Chunk chunk;
  chunk.rows.resize(std::min(kChunkRows, batch.n));
  for (std::size_t begin = 0; begin < batch.n; begin += kChunkRows)
    learn_chunk(batch, begin, std::min(begin + kChunkRows, batch.n), chunk, team);
}

void OneAgainstAll::learn_chunk(const Batch& batch, std::size_t begin, std::size_t end,
                                Chunk& chunk, Team team) {
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
  Pieces pieces(n_blocks, 1);
  std::vector<std::vector<Best>> best(team.size(), std::vector<Best>(chunk.n));
  run_team(std::min(team.size(), n_blocks), [&](std::size_t t, std::size_t n_threads) {
    team[t]->threads = n_threads > 1 ? Threads::several : Threads::one;
    for (std::size_t block, next; pieces.next(block, next);)
      learn_block(block * kBlock, std::min((block + 1) * kBlock, order_.size()), chunk, best[t],
                  *team[t]);
  });

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
  }
}

// Classes [begin, end) of order_, all rows of the chunk in turn.
void OneAgainstAll::learn_block(std::size_t begin, std::size_t end, const Chunk& chunk,
                                std::vector<Best>& best, Workspace& ws) {
  ModelId models[kBlock];
  float p[kBlock], q[kBlock], targets[kBlock];
  double importance[kBlock];
  for (std::size_t c = begin; c < end; ++c) models[c - begin] = order_[c];
  for (std::size_t i = 0; i < chunk.n; ++i) {
    const Chunk::Row& row = chunk.rows[i];
    if (row.seen <= begin) continue;
    const std::size_t n = std::min(end, row.seen) - begin;
    predictors_->scores(models, n, row.x, p, ws.threads);
    const float* predicted = p;
    if (const Example& seen = row.x.before(ws.before); &seen != &row.x) {
      predictors_->scores(models, n, seen, q, ws.threads);
      predicted = q;
    }
    for (std::size_t c = 0; c < n; ++c) {
      targets[c] = is_among(row.labels, models[c]) ? 1.0f : -1.0f;
      importance[c] = row.weight;
      if (begin + c < row.seen_before) best[i].offer({begin + c, predicted[c]});
    }
    const Part part{predictors_.get(), models, &row.x, true};
    learner_.learn({&part, 1}, n, p, targets, importance, row.x.rate, ws);
  }
}

// --- Negative gradient subsampling

void OneAgainstAll::learn_one(const Rows& rows, std::size_t i, Labels labels, double weight,
                              Workspace& base) {
  auto& ws = static_cast<OneAgainstAllWorkspace&>(base);
  const std::uint64_t t = std::atomic_ref(n_examples_).fetch_add(1);
  const std::size_t known = order_.size();

  // Knowing what predict would have said takes every class; do it so rarely that it does not
  // dominate.
  const std::size_t m = all_config_.negative_samples;
  if (!labels.empty() && t % ((known + m) / (m + 1) + (known == 0)) == 0) {
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

  learner_.scale.learn(rows, i, weight, ws.x);
  for (const ClassId y : labels)
    if (see(y)) order_.add([&](ClassId& c) { c = y; });
  sample_negatives(t, labels, order_.size(), ws);
  const std::size_t n = ws.labels.size(), n_labels = labels.size();
  const double others = static_cast<double>(order_.size()) - static_cast<double>(n_labels);
  ws.targets.assign(n, -1.0f);
  ws.importance.assign(n, n > n_labels ? weight * others / static_cast<double>(n - n_labels) : 0.0);
  std::fill_n(ws.targets.begin(), n_labels, 1.0f);
  std::fill_n(ws.importance.begin(), n_labels, weight);
  ws.scores.resize(n);
  predictors_->scores(ws.labels.data(), n, ws.x, ws.scores.data(), ws.threads);
  ws.work.predictor_evaluations += n;
  const Part part{predictors_.get(), ws.labels.data(), &ws.x, true};
  learner_.learn({&part, 1}, n, ws.scores.data(), ws.targets.data(), ws.importance.data(),
                 ws.x.rate, ws);
}

// ws.labels = an example's labels and negative_samples other classes, each set of them equally
// likely (Floyd's algorithm).
void OneAgainstAll::sample_negatives(std::uint64_t example, Labels labels, std::size_t n_seen,
                                     OneAgainstAllWorkspace& ws) const {
  const std::size_t m = all_config_.negative_samples, n_labels = labels.size();
  ws.labels.assign(labels.begin(), labels.end());
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
