#include "invariants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recalltree;
  const fuzz::Input input(data, size);
  constexpr std::uint32_t n_features = 1000;
  fuzz::check_parser(input, n_features, [&] {
    FormatOptions options;
    options.n_features = n_features;
    options.zero_based = input.option(4);
    options.several_labels = fuzz::several_labels(input);
    auto format = make_line_format("svmlight", options, nullptr);
    return std::make_unique<TextParser>(fuzz::text_options(input), nullptr, std::move(format));
  });
  return 0;
}
