#include <stdexcept>
#include <utility>

#include "recalltree/text/line_format.hpp"
#include "recalltree/text/word_features.hpp"

namespace recalltree {
namespace {

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

bool FastTextFormat::parse(std::string_view line, Row& row) {
  const char* at = line.data();
  const char* const end = at + line.size();
  words_.begin(0);
  bool any = false;
  for (;;) {
    const std::string_view word = next_word(at, end, Separators::kSpaces);
    if (word.empty()) return any;
    any = true;
    if (!word.starts_with(label_prefix_)) {
      words_.add(word, row);
      continue;
    }
    row.labels.push_back(word.substr(label_prefix_.size()));
    if (row.labels.back().empty()) throw BadRow(word.data(), "a label without a name");
  }
}

}  // namespace

std::unique_ptr<LineFormat> make_fasttext_format(FormatOptions&& options, FeatureSpace* space) {
  if (options.max_ngram == 0) throw std::invalid_argument("max_ngram: at least 1");
  return std::make_unique<FastTextFormat>(*space, options.max_ngram,
                                          std::move(options.label_prefix));
}

}  // namespace recalltree
