#include "labels.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <random>

#include "arrays.hpp"
#include "recalltree/text/distinct.hpp"

namespace recalltree::bindings {

void bind_labels(nb::module_& m) {
  m.def(
      "find_duplicate",
      [](Vector<std::uint8_t> bytes, Vector<std::uint64_t> offsets) {
        for (std::size_t i = 0; i < offsets.shape(0); ++i)
          if (offsets(i) > bytes.shape(0) || (i > 0 && offsets(i) < offsets(i - 1)))
            throw nb::value_error("offsets must increase and stay within the bytes");
        std::random_device random;
        const std::uint64_t seed = std::uint64_t{random()} << 32 | random();
        return find_duplicate({reinterpret_cast<const char*>(bytes.data()), bytes.shape(0)},
                              {offsets.data(), offsets.shape(0)}, seed);
      },
      "bytes"_a, "offsets"_a);
}

}  // namespace recalltree::bindings
