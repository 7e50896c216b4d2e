#include <bit>
#include <cstdint>
#include <cstring>

#include "recalltree/intended_race.hpp"
#include "recalltree/kernels.hpp"
#include "recalltree/types.hpp"

#define RECALLTREE_SCALAR 1
namespace recalltree::scalar {
namespace {
constexpr const char* kName = "scalar";
constexpr std::size_t kTileRows = 1, kTileColumns = 1;
}  // namespace
#include "recalltree/kernels_impl.hpp"
}  // namespace recalltree::scalar
