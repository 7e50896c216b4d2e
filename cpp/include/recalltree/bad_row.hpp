// What a parser throws at a row it refuses: where in the line, and why.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace recalltree {

struct BadRow {
  BadRow(const char* where, std::string why) : at(where), reason(std::move(why)) {}

  const char* at;  // into the line, or its end
  std::string reason;
};

}  // namespace recalltree
