#include <algorithm>
#include <cstring>

#include "recalltree/text/line_format.hpp"
#include "recalltree/text/line_scanner.hpp"

namespace recalltree {
namespace {

// label [qid:n] index:value ... [# comment]; the first index is 0 or 1. A query id is ignored.
class SvmlightFormat final : public LineFormat {
 public:
  explicit SvmlightFormat(const FormatOptions& options)
      : n_features_(options.n_features), first_index_(options.zero_based ? 0 : 1) {}
  bool parse(std::string_view line, Row& row) override;

 private:
  const char* read_pair(const char* at, const char* end, Row& row) const;

  std::uint32_t n_features_;
  std::uint32_t first_index_;
  std::vector<std::uint64_t> scratch_;
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
  const char* const features = at;
  for (at = skip_blanks(at, end); at != end; at = skip_blanks(at, end))
    at = read_pair(at, end, row);
  if (row.sort(scratch_)) {
    const auto repeated = std::adjacent_find(scratch_.begin(), scratch_.end(),
                                             [](auto a, auto b) { return a >> 32 == b >> 32; });
    at = skip_blanks(features, end);
    for (auto before = static_cast<std::uint32_t>(repeated[1]); before > 0; --before)
      at = skip_blanks(find_blank(at, end), end);
    throw BadRow(at, "feature " + std::to_string((*repeated >> 32) + first_index_) +
                         " appears more than once");
  }
  return true;
}

const char* SvmlightFormat::read_pair(const char* at, const char* end, Row& row) const {
  std::uint64_t index = 0;
  const char* const colon = parse_uint64(at, end, index);
  if (colon == nullptr || colon == end || *colon != ':')
    throw BadRow(at, "expected index:value, with an index of digits only");
  if (index < first_index_)
    throw BadRow(at, "feature 0 in a file whose first feature is 1; pass zero_based=True");
  index -= first_index_;
  if (index >= n_features_)
    throw BadRow(at, "the feature is beyond the last, " +
                         std::to_string(n_features_ - 1 + first_index_) +
                         "; raise n_features (or bits)");
  float value = 0.0f;
  const char* const after = read_float(colon + 1, end, value, "the value");
  if (after != end && !is_blank(*after))
    throw BadRow(colon + 1, "the value is not a finite decimal number");
  row.add(static_cast<std::uint32_t>(index), value);
  return after;
}

}  // namespace

std::unique_ptr<LineFormat> make_svmlight_format(FormatOptions&& options, FeatureSpace*) {
  return std::make_unique<SvmlightFormat>(options);
}

}  // namespace recalltree
