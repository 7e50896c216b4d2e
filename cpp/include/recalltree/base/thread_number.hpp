// Which thread of a team this is: 0 is the caller, as is every thread that is in no team.
#pragma once

#include <cstddef>

namespace recalltree {

inline thread_local std::size_t thread_number = 0;

}  // namespace recalltree
