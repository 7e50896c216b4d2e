// Teams do all of their work, in order; owners share items without a rest; mini-batches follow from
// the number of examples.
#include "recalltree/base/thread_team.hpp"

#include <cassert>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "recalltree/base/mini_batch.hpp"
#include "recalltree/base/ownership.hpp"

using namespace recalltree;

namespace {

// Every piece of work reads what all threads wrote in the one before.
void check_order(std::size_t n_threads) {
  ThreadTeam team(n_threads);
  assert(team.size() == n_threads);
  std::vector<std::size_t> before(n_threads, 1), after(n_threads);
  for (std::size_t turn = 0; turn < 500; ++turn) {
    team.run(
        [&](std::size_t t) { after[t] = std::accumulate(before.begin(), before.end(), t) % 1000; });
    std::size_t sum = std::accumulate(before.begin(), before.end(), std::size_t{0});
    for (std::size_t t = 0; t < n_threads; ++t) assert(after[t] == (sum + t) % 1000);
    before.swap(after);
  }
}

// A thread that fails does not keep the others waiting, and the team goes on.
void check_exceptions(std::size_t n_threads) {
  ThreadTeam team(n_threads);
  for (std::size_t failing = 0; failing < n_threads; ++failing) {
    bool caught = false;
    try {
      team.run([&](std::size_t t) {
        if (t == failing) throw std::runtime_error("failed");
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    assert(caught);
    std::vector<int> done(n_threads);
    team.run([&](std::size_t t) { done[t] = 1; });
    assert(std::accumulate(done.begin(), done.end(), std::size_t{0}) == n_threads);
  }
}

// Each owner finds its items in order, and together they find all.
void check_ownership(std::size_t n_owners) {
  constexpr std::uint32_t kItems = 1000;
  OwnedItems items;
  for (int again = 0; again < 2; ++again) {
    items.begin(n_owners);
    for (std::uint32_t i = 0; i < kItems; ++i) items.add(7 * i);
    std::vector<std::uint32_t> seen;
    for (std::size_t number = 0; number < n_owners; ++number) {
      const Owner owner{number, n_owners};
      const std::size_t begin = seen.size();
      items.visit(owner, [&](std::uint32_t item) {
        assert(owner.owns(7 * item));
        assert(seen.size() == begin || seen.back() < item);
        seen.push_back(item);
      });
      assert(seen.size() - begin > kItems / n_owners / 2);  // none has much less than its share
    }
    assert(seen.size() == kItems);
  }
}

void check_mini_batches() {
  // However rows are handed over, if the parts end at multiples of the largest size.
  for (const std::uint64_t part : {256, 1024, 65536}) {
    std::uint64_t n = 0;
    while (n < 200'000) {
      const std::uint64_t end = n + part;
      while (n < end) {
        const std::uint64_t rows = rows_of_mini_batch(n);
        assert(rows >= 1 && rows <= kLargestMiniBatch && n + rows <= end);
        assert(rows == 16 || rows * 32 <= n);
        n += rows;
      }
    }
  }
  assert(rows_of_mini_batch(0) == 16 && rows_of_mini_batch(5) == 11);
  assert(rows_of_mini_batch(1'000'192) == 256);
}

}  // namespace

int main() {
  for (const std::size_t n : {1, 2, 3, 5, 16}) {
    check_order(n);
    check_exceptions(n);
    check_ownership(n);
  }
  check_mini_batches();
}
