// What one thread needs to have the keys of an example vote.
#pragma once

#include <cstdint>
#include <vector>

#include "feature_weighting.hpp"
#include "votes.hpp"

namespace recalltree {

// A key of the example that a candidate has met before.
struct Hit {
  std::uint32_t key;   // position among the example's keys
  std::uint32_t slot;  // in the candidate's table
  float root;          // square root of the pair's count
};

struct VotingWorkspace {
  std::vector<ActiveKey> keys;
  std::vector<std::uint32_t> order;  // of keys, by pull
  Votes votes;
  std::vector<Candidate> candidates;
  // By candidate.
  std::vector<float> vote, inverse_norm, score;
  std::vector<std::uint32_t> hits_end;  // its hits end here, and begin where those before it end
  std::vector<double> gradient;
  std::vector<Hit> hits;
  // By key.
  std::vector<float> own_root;  // of the example's class, without the example itself
  std::vector<double> key_gradient;
};

}  // namespace recalltree
