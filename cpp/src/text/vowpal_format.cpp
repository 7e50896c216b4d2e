#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "recalltree/text/line_format.hpp"
#include "recalltree/text/line_scanner.hpp"

namespace recalltree {
namespace {

// So many features of one row are a mistake, or an attack on memory.
constexpr std::size_t kMaxProducts = std::size_t{1} << 22;

bool ends_name(char c) { return is_blank(c) || c == ':' || c == '|'; }

float product(float a, float b, const char* where) {
  const float result = a * b;
  if (!std::isfinite(result)) throw BadRow(where, "the product of the values exceeds a float32");
  return result;
}

// label [importance] ['tag]|namespace[:scale] name[:value] ... |namespace ...
class VowpalFormat final : public LineFormat {
 public:
  // Each of quadratic is two characters: the products of all features of namespaces that begin
  // with the first and all of namespaces that begin with the second are features, too.
  // several_labels: the label is label,label,...
  VowpalFormat(FeatureSpace& space, std::vector<std::string> quadratic, bool several_labels)
      : space_(&space), quadratic_(std::move(quadratic)), several_labels_(several_labels) {}
  bool parse(std::string_view line, Row& row) override;

 private:
  struct Feature {
    std::string_view ns, name;
    std::uint64_t hash;
    float value;
  };

  void read_label(std::string_view section, Row& row) const;
  const char* read_namespace(const char* at, const char* end, Row& row);
  const char* read_feature(const char* at, const char* end, std::string_view ns,
                           std::uint64_t ns_hash, float scale, Row& row);
  void add(const Feature& feature, Row& row);
  void add_products(std::string_view pair, std::string_view line, Row& row);
  void add_product(const Feature& a, const Feature& b, Row& row);
  std::string_view name_of(const Feature& feature);  // until the next name is made
  std::string_view name_of(const Feature& a, const Feature& b);

  FeatureSpace* space_;
  std::vector<std::string> quadratic_;
  bool several_labels_;
  std::vector<Feature> features_;  // of the current line, if products are made of them
  std::vector<const Feature*> first_, second_;
  std::string name_;
};

bool VowpalFormat::parse(std::string_view line, Row& row) {
  const char* at = line.data();
  const char* const end = at + line.size();
  if (skip_blanks(at, end) == end) return false;
  const auto* bar = static_cast<const char*>(std::memchr(at, '|', line.size()));
  if (bar == nullptr) throw BadRow(at, "no '|' between the label and the features");
  read_label(view(at, bar), row);
  features_.clear();
  for (at = bar; at != end;) at = read_namespace(at + 1, end, row);
  for (const std::string& pair : quadratic_) add_products(pair, line, row);
  return true;
}

// The last word is the tag if it touches the bar or begins with an apostrophe.
void VowpalFormat::read_label(std::string_view section, Row& row) const {
  const char* at = section.data();
  const char* const end = at + section.size();
  std::string_view words[4];
  std::size_t n = 0;
  for (at = skip_blanks(at, end); at != end; at = skip_blanks(at, end)) {
    const char* const word_end = find_blank(at, end);
    if (n == 4) throw BadRow(at, "expected a label, an importance weight and a tag before '|'");
    words[n++] = view(at, word_end);
    at = word_end;
  }
  if (n > 0 && (words[n - 1].front() == '\'' || words[n - 1].data() + words[n - 1].size() == end)) {
    row.tag = words[--n];
    if (row.tag.front() == '\'') row.tag.remove_prefix(1);
  }
  if (n > 2)
    throw BadRow(words[2].data(),
                 "a label and an importance weight are all that multiclass "
                 "examples have before the tag");
  if (n == 0) return;
  if (several_labels_)
    split_labels(words[0], row.labels);
  else
    row.labels.push_back(words[0]);
  if (n < 2) return;
  const char* const weight = words[1].data();
  const char* const weight_end = weight + words[1].size();
  if (read_float(weight, weight_end, row.weight, "the importance weight") != weight_end)
    throw BadRow(weight, "the importance weight is not a finite decimal number");
  if (row.weight < 0.0f) throw BadRow(weight, "the importance weight is negative");
  row.weighted = true;
}

// Reads from after a bar to the next one.
const char* VowpalFormat::read_namespace(const char* at, const char* end, Row& row) {
  const char* const begin = at;
  while (at != end && !ends_name(*at)) ++at;
  const std::string_view ns = view(begin, at);
  float scale = 1.0f;
  if (at != end && *at == ':') {
    if (ns.empty()) throw BadRow(begin, "a namespace without a name has no scale");
    const char* const number = at + 1;
    at = read_float(number, end, scale, "the scale of the namespace");
    if (at != end && !is_blank(*at) && *at != '|')
      throw BadRow(number, "the scale of the namespace is not a finite decimal number");
  }
  const std::uint64_t ns_hash = ns.empty() ? 0 : hash_name(ns, 0);
  for (at = skip_blanks(at, end); at != end && *at != '|'; at = skip_blanks(at, end))
    at = read_feature(at, end, ns, ns_hash, scale, row);
  return at;
}

const char* VowpalFormat::read_feature(const char* at, const char* end, std::string_view ns,
                                       std::uint64_t ns_hash, float scale, Row& row) {
  const char* const begin = at;
  while (at != end && !ends_name(*at)) ++at;
  const std::string_view name = view(begin, at);
  if (name.empty()) throw BadRow(begin, "a feature without a name");
  float value = 1.0f;
  if (at != end && *at == ':') {
    const char* const number = at + 1;
    at = read_float(number, end, value, "the value");
    if (at != end && !is_blank(*at) && *at != '|')
      throw BadRow(number, "the value is not a finite decimal number");
  }
  if (scale != 1.0f) value = product(value, scale, begin);
  if (value == 0.0f) return at;  // as Vowpal Wabbit does: a feature of value zero is absent
  const Feature feature{ns, name, space_->hashed() ? hash_name(name, ns_hash) : 0, value};
  add(feature, row);
  if (!quadratic_.empty()) features_.push_back(feature);
  return at;
}

void VowpalFormat::add(const Feature& feature, Row& row) {
  std::uint32_t column = 0;
  if (space_->hashed()) {
    column = space_->column(feature.hash);
  } else {
    column = space_->column(name_of(feature), feature.name.data());
    if (column == FeatureSpace::kNone) return;
  }
  row.add(column, feature.value);
  if (space_->keeps_names()) row.names.emplace_back(column, name_of(feature));
}

std::string_view VowpalFormat::name_of(const Feature& feature) {
  if (feature.ns.empty()) return feature.name;
  name_.assign(feature.ns).append("^").append(feature.name);
  return name_;
}

void VowpalFormat::add_products(std::string_view pair, std::string_view line, Row& row) {
  const auto collect = [this](char letter, std::vector<const Feature*>& out) {
    out.clear();
    for (const Feature& feature : features_)
      if ((feature.ns.empty() ? ' ' : feature.ns.front()) == letter) out.push_back(&feature);
  };
  collect(pair[0], first_);
  collect(pair[1], second_);
  if (first_.size() * second_.size() > kMaxProducts - std::min(kMaxProducts, row.columns.size()))
    throw BadRow(line.data(), "quadratic '" + std::string(pair) + "' makes more than " +
                                  std::to_string(kMaxProducts) + " features of one row");
  // Within one namespace every pair counts once, and a feature also meets itself.
  const bool same = pair[0] == pair[1];
  for (std::size_t i = 0; i < first_.size(); ++i)
    for (std::size_t j = same ? i : 0; j < second_.size(); ++j)
      add_product(*first_[i], *second_[j], row);
}

void VowpalFormat::add_product(const Feature& a, const Feature& b, Row& row) {
  const float value = product(a.value, b.value, a.name.data());
  if (value == 0.0f) return;  // too small for a float32
  std::uint32_t column = 0;
  if (space_->hashed()) {
    column = space_->column(combine_hashes(a.hash, b.hash));
  } else {
    column = space_->column(name_of(a, b), a.name.data());
    if (column == FeatureSpace::kNone) return;
  }
  row.add(column, value);
  if (space_->keeps_names()) row.names.emplace_back(column, name_of(a, b));
}

std::string_view VowpalFormat::name_of(const Feature& a, const Feature& b) {
  name_.assign(a.ns).append("^").append(a.name).append("*");
  name_.append(b.ns).append("^").append(b.name);
  return name_;
}

}  // namespace

std::unique_ptr<LineFormat> make_vowpal_format(FormatOptions&& options, FeatureSpace* space) {
  for (const std::string& pair : options.quadratic)
    if (pair.size() != 2) throw std::invalid_argument("quadratic: two bytes each");
  return std::make_unique<VowpalFormat>(*space, std::move(options.quadratic),
                                        options.several_labels);
}

}  // namespace recalltree
