// The losses of the binary linear models. kernels/losses_impl.hpp says what each is.
#pragma once

namespace recalltree {

enum class Loss { logistic, hinge, squared };
inline constexpr const char* kLossNames[] = {"logistic", "hinge", "squared"};

}  // namespace recalltree
