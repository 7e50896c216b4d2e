// Number of this thread in its team: 0 for the caller and for threads without a team.
#pragma once

#include <cstddef>

namespace recalltree {

inline thread_local std::size_t thread_number = 0;

}  // namespace recalltree
