#include "invariants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recalltree;
  const fuzz::Input input(data, size);
  constexpr std::uint32_t n_features = 1000;
  fuzz::check_parser(input, n_features, [&] {
    return std::make_unique<TextParser>(
        fuzz::text_options(input), nullptr,
        std::make_unique<SvmlightFormat>(n_features, input.option(4)));
  });
  return 0;
}
