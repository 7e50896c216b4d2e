#include "recalltree/text/indexed_features.hpp"
#include "recalltree/text/line_format.hpp"
#include "recalltree/text/line_scanner.hpp"

namespace recalltree {
namespace {

// The format of the extreme classification repository. A file begins with the numbers of its rows,
// features and labels; a row is label,label,... index:value ..., with 0 as the first index. A row
// without labels begins with a blank.
class XcFormat final : public LineFormat {
 public:
  explicit XcFormat(std::uint32_t n_features) : features_(n_features, 0) {}
  bool parse(std::string_view line, Row& row) override;
  void end_file() override { is_first_ = true; }

 private:
  IndexedFeatures features_;
  bool is_first_ = true;  // the next line with anything in it is the header
};

void check_header(const char* at, const char* const end) {
  const char* const begin = at;
  for (int i = 0; i < 3; ++i) {
    std::uint64_t number = 0;
    const char* const after = parse_uint64(skip_blanks(at, end), end, number);
    if (after == nullptr || (after != end && !is_blank(*after)))
      throw BadRow(begin, "a file begins with the numbers of its rows, features and labels");
    at = after;
  }
  if (skip_blanks(at, end) != end)
    throw BadRow(skip_blanks(at, end), "more than the numbers of rows, features and labels");
}

bool XcFormat::parse(std::string_view line, Row& row) {
  if (line.empty()) return false;
  const char* at = line.data();
  const char* const end = at + line.size();
  if (is_first_) {
    is_first_ = false;
    check_header(at, end);
    return false;
  }
  const std::string_view first = view(at, find_blank(at, end));
  if (!first.empty() && first.find(':') == std::string_view::npos) {
    split_labels(first, row.labels);
    at += first.size();
  }
  features_.read(at, end, row);
  return true;
}

}  // namespace

std::unique_ptr<LineFormat> make_xc_format(FormatOptions&& options, FeatureSpace*) {
  return std::make_unique<XcFormat>(options.n_features);
}

}  // namespace recalltree
