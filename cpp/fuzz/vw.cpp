#include "invariants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recalltree;
  const fuzz::Input input(data, size);
  const std::uint32_t n_features = input.option(4) ? 1024 : 20;
  fuzz::check_parser(input, n_features, [&] {
    auto space = std::make_shared<FeatureSpace>(n_features, input.option(4), input.option(5));
    FormatOptions options;
    if (input.option(6)) options.quadratic = {"ab", "aa", "  "};
    options.several_labels = fuzz::several_labels(input);
    auto format = make_line_format("vw", options, space.get());
    return std::make_unique<TextParser>(fuzz::text_options(input), space, std::move(format));
  });
  return 0;
}
