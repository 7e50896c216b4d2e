#include <cstring>

#include "recalltree/text/indexed_features.hpp"
#include "recalltree/text/line_format.hpp"
#include "recalltree/text/line_scanner.hpp"

namespace recalltree {
namespace {

// label [qid:n] index:value ... [# comment]; the first index is 0 or 1. A query id is ignored.
// With several labels, the first word is label,label,...
class SvmlightFormat final : public LineFormat {
 public:
  explicit SvmlightFormat(const FormatOptions& options)
      : features_(options.n_features, options.zero_based ? 0 : 1),
        several_labels_(options.several_labels) {}
  bool parse(std::string_view line, Row& row) override;

 private:
  IndexedFeatures features_;
  bool several_labels_;
};

bool SvmlightFormat::parse(std::string_view line, Row& row) {
  const char* at = line.data();
  const char* end = at + line.size();
  if (const void* comment = std::memchr(at, '#', line.size()))
    end = static_cast<const char*>(comment);
  at = skip_blanks(at, end);
  if (at == end) return false;
  const char* const first_end = find_blank(at, end);
  if (std::memchr(at, ':', static_cast<std::size_t>(first_end - at)) == nullptr) {
    if (several_labels_)
      split_labels(view(at, first_end), row.labels);
    else
      row.labels.push_back(view(at, first_end));
    at = first_end;
  }
  at = skip_blanks(at, end);
  if (end - at > 4 && std::memcmp(at, "qid:", 4) == 0) {
    std::uint64_t query;
    const char* const after = parse_uint64(at + 4, end, query);
    if (after == nullptr || (after != end && !is_blank(*after)))
      throw BadRow(at, "a query id is an integer, as in qid:3");
    at = after;
  }
  features_.read(at, end, row);
  return true;
}

}  // namespace

std::unique_ptr<LineFormat> make_svmlight_format(FormatOptions&& options, FeatureSpace*) {
  return std::make_unique<SvmlightFormat>(options);
}

}  // namespace recalltree
