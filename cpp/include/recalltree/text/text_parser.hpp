// Bytes of text files -> batches of rows.
//
// Bytes come in pieces of any size, whole files one after the other; rows leave in batches. A row
// is refused as a whole: it leaves no trace in the batch, the dictionary or the frequencies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recalltree/text/feature_space.hpp"
#include "recalltree/text/line_format.hpp"
#include "recalltree/text/row.hpp"

namespace recalltree {

enum class LabelKind : std::uint8_t { kAuto, kInteger, kString };  // auto: the first row decides
enum class Multilabel : std::uint8_t { kRefuse, kFirst, kEach, kAll };  // all: lists of labels

struct TextOptions {
  std::size_t batch_rows = 4096;
  std::size_t max_line_bytes = std::size_t{1} << 24;
  LabelKind labels = LabelKind::kAuto;
  Multilabel multilabel = Multilabel::kRefuse;
  bool require_labels = true;
  bool stop_at_bad_row = true;  // false: skip it
};

// A row that was refused. Line and column count from 1, the column in characters.
struct Problem {
  std::size_t file = 0, line = 0, column = 0;
  std::string reason;
  std::string text;  // the offending word, shortened; any bytes
};

class TextParser {
 public:
  // A batch is also full when it has this many entries, however few its rows are.
  static constexpr std::size_t kMaxEntries = std::size_t{1} << 22;
  static constexpr std::size_t kMaxProblems = 16;  // kept in detail; all are counted

  // space: the one that the format fills, or null.
  TextParser(TextOptions options, std::shared_ptr<FeatureSpace> space,
             std::unique_ptr<LineFormat> format)
      : options_(options),
        next_kind_(options.labels),
        space_(std::move(space)),
        format_(std::move(format)) {}

  // Reads until the bytes are used up or a batch is full, and returns how many were used. Once
  // stopped, nothing is used any more.
  std::size_t feed(std::string_view bytes);
  void end_file();  // a last line without an end is complete, too
  // The next full batch; with `flush` also one that is not full. False: there is none.
  bool take(RowBatch& batch, bool flush);

  bool stopped() const { return stopped_; }
  std::size_t n_skipped() const { return n_skipped_; }
  std::vector<Problem> take_problems() { return std::exchange(problems_, {}); }
  LabelKind label_kind() const { return options_.labels; }
  bool has_label_lists() const { return options_.multilabel == Multilabel::kAll; }

 private:
  void read_line(std::string_view line);
  void read_row(std::string_view line);
  std::size_t read_labels(std::string_view line);
  void append_row(std::size_t n_copies);
  void append_label_list();
  void refuse(std::string_view line, const BadRow& bad);

  TextOptions options_;
  LabelKind next_kind_;  // what the current row would make it
  std::shared_ptr<FeatureSpace> space_;
  std::unique_ptr<LineFormat> format_;

  std::string partial_;      // the beginning of a line whose end has not come
  bool discarding_ = false;  // the rest of a line that was too long
  bool at_file_start_ = true;
  std::size_t file_ = 0, line_ = 0;

  Row row_;
  std::vector<std::uint64_t> scratch_;
  std::vector<std::int64_t> integers_;
  std::vector<std::uint32_t> order_;
  RowBatch current_;
  std::deque<RowBatch> full_;
  std::vector<Problem> problems_;
  std::size_t n_skipped_ = 0;
  bool stopped_ = false;
};

}  // namespace recalltree
