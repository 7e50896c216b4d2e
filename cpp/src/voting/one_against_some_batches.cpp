// One-against-some: batches, in pieces that end where counts get new units or rows a new whitening.
#include <algorithm>

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
  const bool has_cells = store_.rules.has_cells;
  // Every row changes cells, so that threads would wait for each other.
  if (has_cells) team = team.first(1);
  const bool counts_fade = given_.count_decay > 0.0 && team.size() > 1;
  if (!counts_fade && !has_cells) return Learner::learn_batch(batch, team, first_pass);
  // Units can only be changed while one thread works alone; and rows are whitened alike until the
  // whitening is renewed. Squares of class vectors have to stay finite.
  const double half_lives = VotingRules::kMaxHalfLives * (has_cells ? 0.25 : 1.0);
  const auto most_fading = static_cast<std::size_t>(std::max(1.0, half_lives * given_.count_decay));
  learn_in_pieces(batch, team, first_pass, [&] {
    if (counts_fade) store_.rebase_unit();
    const std::size_t most = has_cells ? store_.cells().rows_until_renewal() : batch.n;
    return counts_fade ? std::min(most, most_fading) : most;
  });
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

}  // namespace recalltree
