#include "recalltree/text/line_format.hpp"

#include <stdexcept>

namespace recalltree {

using MakeFormat = std::unique_ptr<LineFormat>(FormatOptions&&, FeatureSpace*);

// Each is defined in the file of its format.
MakeFormat make_svmlight_format, make_xc_format, make_vowpal_format, make_fasttext_format;

namespace {

struct KnownFormat {
  std::string_view name;
  MakeFormat* make;
};
// A new format adds a line here, and one in recalltree/readers/formats.py.
constexpr KnownFormat kFormats[] = {
    {"svmlight", make_svmlight_format},
    {"xc", make_xc_format},
    {"vw", make_vowpal_format},
    {"fasttext", make_fasttext_format},
};

}  // namespace

std::unique_ptr<LineFormat> make_line_format(std::string_view name, FormatOptions options,
                                             FeatureSpace* space) {
  for (const KnownFormat& format : kFormats)
    if (format.name == name) return format.make(std::move(options), space);
  throw std::invalid_argument("unknown text format '" + std::string(name) + "'");
}

}  // namespace recalltree
