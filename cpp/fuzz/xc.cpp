#include "invariants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace recalltree;
  const fuzz::Input input(data, size);
  FormatOptions options;
  options.n_features = 1000;
  fuzz::check_parser(input, options.n_features, [&] {
    return std::make_unique<TextParser>(fuzz::text_options(input), nullptr,
                                        make_line_format("xc", options, nullptr));
  });
  return 0;
}
