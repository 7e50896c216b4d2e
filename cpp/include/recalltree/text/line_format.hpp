// A text format of one row per line. Lines come without their end, as valid UTF-8 without NUL.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recalltree/text/feature_space.hpp"
#include "recalltree/text/row.hpp"
#include "recalltree/text/word_features.hpp"

namespace recalltree {

class LineFormat {
 public:
  virtual ~LineFormat() = default;
  // Reads the row of a line into an empty one; false: the line holds no row. Throws BadRow.
  virtual bool parse(std::string_view line, Row& row) = 0;
};

// label [qid:n] index:value ... [# comment]; the first index is 0 or 1. A query id is ignored.
class SvmlightFormat final : public LineFormat {
 public:
  SvmlightFormat(std::uint32_t n_features, bool zero_based)
      : n_features_(n_features), first_index_(zero_based ? 0 : 1) {}
  bool parse(std::string_view line, Row& row) override;

 private:
  const char* read_pair(const char* at, const char* end, Row& row) const;

  std::uint32_t n_features_;
  std::uint32_t first_index_;
  std::vector<std::uint64_t> scratch_;
};

// label [importance] ['tag]|namespace[:scale] name[:value] ... |namespace ...
class VowpalFormat final : public LineFormat {
 public:
  // Each of quadratic is two characters: the products of all features of namespaces that begin
  // with the first and all of namespaces that begin with the second are features, too.
  VowpalFormat(FeatureSpace& space, std::vector<std::string> quadratic)
      : space_(&space), quadratic_(std::move(quadratic)) {}
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

  FeatureSpace* space_;
  std::vector<std::string> quadratic_;
  std::vector<Feature> features_;  // of the current line, if products are made of them
  std::vector<const Feature*> first_, second_;
  std::string name_;
};

// __label__x word word ...
class FastTextFormat final : public LineFormat {
 public:
  FastTextFormat(FeatureSpace& space, std::size_t max_ngram, std::string label_prefix)
      : words_(space, max_ngram), label_prefix_(std::move(label_prefix)) {}
  bool parse(std::string_view line, Row& row) override;

 private:
  WordFeatures words_;
  std::string label_prefix_;
};

}  // namespace recalltree
