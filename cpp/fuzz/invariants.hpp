// Invariants of every parser, for any bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "recalltree/text/text_parser.hpp"
#include "recalltree/text/utf8.hpp"

namespace recalltree::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// The first byte of an input chooses options, bit by bit; the rest is the file.
struct Input {
  Input(const std::uint8_t* data, std::size_t size)
      : options(size > 0 ? data[0] : 0),
        text(reinterpret_cast<const char*>(data) + (size > 0), size > 0 ? size - 1 : 0) {}

  bool option(int bit) const { return (options >> bit & 1) != 0; }

  std::uint8_t options;
  std::string_view text;
};

inline TextOptions text_options(const Input& input) {
  TextOptions options;
  options.batch_rows = 3;
  options.max_line_bytes = 4096;
  options.stop_at_bad_row = input.option(0);
  options.require_labels = input.option(1);
  if (input.option(2)) options.labels = LabelKind::kString;
  if (input.option(3)) options.multilabel = Multilabel::kEach;
  if (input.option(7)) options.multilabel = Multilabel::kAll;
  return options;
}

inline bool several_labels(const Input& input) { return input.option(3) || input.option(7); }

// The labels of a batch: one of each kind per row, or lists of one kind.
inline void check_labels(const RowBatch& batch, bool lists) {
  const std::size_t n = batch.size(), n_strings = batch.string_labels.ends.size();
  const auto& integers = batch.integer_labels;
  for (std::size_t i = 0; i < n_strings; ++i)
    require(find_invalid_utf8(batch.string_labels[i]) == nullptr, "labels are UTF-8");
  if (!lists) {
    require(integers.size() == n && n_strings == n, "there is one label per row");
    return;
  }
  const auto& offsets = batch.label_offsets;
  require(offsets.size() == n + 1 && offsets.front() == 0, "there is one list per row");
  require(integers.empty() || n_strings == 0, "labels are integers or strings");
  require(static_cast<std::size_t>(offsets.back()) == integers.size() + n_strings,
          "lists have all labels");
  for (std::size_t i = 0; i < n; ++i) {
    require(offsets[i] <= offsets[i + 1], "lists follow one another");
    require(batch.labelled[i] == (offsets[i] < offsets[i + 1]), "rows with labels are labelled");
    std::set<std::int64_t> numbers;
    std::set<std::string_view> names;
    for (auto k = static_cast<std::size_t>(offsets[i]);
         k < static_cast<std::size_t>(offsets[i + 1]); ++k)
      require(n_strings == 0 ? numbers.insert(integers[k]).second
                             : names.insert(batch.string_labels[k]).second,
              "a row has a label once");
  }
}

inline void check_batch(const RowBatch& batch, std::size_t n_features, bool lists) {
  const std::size_t n = batch.size();
  require(n > 0, "a batch is not empty");
  require(batch.weights.size() == n && batch.labelled.size() == n && batch.tags.ends.size() == n,
          "there is one of everything per row");
  check_labels(batch, lists);
  require(batch.indices.size() == batch.values.size() &&
              static_cast<std::size_t>(batch.indptr.back()) == batch.indices.size(),
          "entries have an index and a value");
  for (std::size_t i = 0; i < n; ++i) {
    require(batch.indptr[i] <= batch.indptr[i + 1], "rows follow one another");
    for (std::int32_t k = batch.indptr[i]; k < batch.indptr[i + 1]; ++k) {
      const std::int32_t j = batch.indices[k];
      require(j >= 0 && static_cast<std::size_t>(j) < n_features, "columns are in range");
      require(k == batch.indptr[i] || batch.indices[k - 1] < j, "columns ascend");
      require(std::isfinite(batch.values[k]), "values are finite");
    }
    require(std::isfinite(batch.weights[i]) && batch.weights[i] >= 0.0f, "weights are weights");
    require(find_invalid_utf8(batch.tags[i]) == nullptr, "tags are UTF-8");
  }
}

// All that came out of a parser, as one string to compare.
inline std::string read_all(TextParser& parser, std::string_view text, std::size_t piece,
                            std::size_t n_features) {
  std::string out;
  const auto add = [&out](const void* data, std::size_t size) {
    out.append(static_cast<const char*>(data), size);
    out.push_back(';');
  };
  const auto take = [&](bool flush) {
    RowBatch batch;
    while (parser.take(batch, flush)) {
      check_batch(batch, n_features, parser.has_label_lists());
      add(batch.indptr.data(), batch.indptr.size() * sizeof(batch.indptr[0]));
      add(batch.indices.data(), batch.indices.size() * sizeof(batch.indices[0]));
      add(batch.values.data(), batch.values.size() * sizeof(batch.values[0]));
      add(batch.weights.data(), batch.weights.size() * sizeof(batch.weights[0]));
      add(batch.integer_labels.data(), batch.integer_labels.size() * sizeof(std::int64_t));
      add(batch.string_labels.text.data(), batch.string_labels.text.size());
      add(batch.label_offsets.data(), batch.label_offsets.size() * sizeof(std::int64_t));
      add(batch.tags.text.data(), batch.tags.text.size());
      add(batch.labelled.data(), batch.labelled.size());
    }
  };
  while (!text.empty() && !parser.stopped()) {
    const std::string_view now = text.substr(0, piece);
    const std::size_t used = parser.feed(now);
    require(used <= now.size(), "no more is used than was given");
    require(used > 0 || parser.stopped(), "reading goes on");
    text.remove_prefix(used);
    take(false);
  }
  parser.end_file();
  take(true);
  for (const Problem& problem : parser.take_problems()) {
    require(problem.line >= 1 && problem.column >= 1, "places count from 1");
    require(!problem.reason.empty() && problem.text.size() <= 64, "a problem is described");
    const std::size_t place[] = {problem.line, problem.column};
    add(place, sizeof place);
    add(problem.reason.data(), problem.reason.size());
    add(problem.text.data(), problem.text.size());
  }
  const std::size_t skipped = parser.n_skipped();
  add(&skipped, sizeof skipped);
  return out;
}

// Rows are the same however the bytes are cut into pieces.
inline void check_parser(const Input& input, std::size_t n_features,
                         const std::function<std::unique_ptr<TextParser>()>& make) {
  const std::string whole = read_all(*make(), input.text, input.text.size() + 1, n_features);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1} + (input.options >> 4)})
    require(read_all(*make(), input.text, piece, n_features) == whole,
            "rows do not depend on the pieces");
}

}  // namespace recalltree::fuzz
