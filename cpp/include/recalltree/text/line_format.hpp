// A text format of one row per line. Lines come without their end, as valid UTF-8 without NUL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recalltree/text/feature_space.hpp"
#include "recalltree/text/row.hpp"

namespace recalltree {

class LineFormat {
 public:
  virtual ~LineFormat() = default;
  // Reads the row of a line into an empty one; false: the line holds no row. Throws BadRow.
  virtual bool parse(std::string_view line, Row& row) = 0;
  virtual void end_file() {}  // the next line is the first of another file
};

// Options of all formats. Each format reads those that concern it.
struct FormatOptions {
  std::uint32_t n_features = 0;            // svmlight, xc: a larger index makes a bad row
  bool zero_based = false;                 // svmlight: the first index is 0, not 1
  std::vector<std::string> quadratic;      // vw: pairs of letters that namespaces begin with
  std::size_t max_ngram = 1;               // fasttext: longest sequence of words that is a feature
  std::string label_prefix = "__label__";  // fasttext
  bool several_labels = false;             // svmlight, vw: commas separate labels
};

// The format of this name. space: where names of features become columns; null for a format
// without names. Throws std::invalid_argument if there is no such format or an option is wrong.
std::unique_ptr<LineFormat> make_line_format(std::string_view name, FormatOptions options,
                                             FeatureSpace* space);

}  // namespace recalltree
