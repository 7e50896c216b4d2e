#include "recalltree/text/text_parser.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>

#include "recalltree/text/line_scanner.hpp"
#include "recalltree/text/utf8.hpp"

namespace recalltree {

namespace {

constexpr std::size_t kShownBytes = 60;

// A label as an integer; what is wrong with it otherwise.
const char* read_integer(std::string_view label, std::int64_t& value) {
  Range range = Range::kFits;
  const char* const end = label.data() + label.size();
  if (parse_int64(label.data(), end, value, range) != end) return "is not an integer";
  if (range == Range::kNotIntegral) return "is not an integral number";
  if (range == Range::kTooLarge) return "is too large for a 64-bit integer";
  return nullptr;
}

// Keeps the first of those that are equal.
template <class T>
void keep_distinct(std::vector<T>& values, std::vector<std::uint32_t>& order) {
  const bool ascending =
      std::adjacent_find(values.begin(), values.end(), std::greater_equal<T>()) == values.end();
  if (ascending) return;
  order.resize(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&values](std::uint32_t a, std::uint32_t b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  const auto equal = [&values](std::uint32_t a, std::uint32_t b) { return values[a] == values[b]; };
  order.erase(std::unique(order.begin(), order.end(), equal), order.end());
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < order.size(); ++k) values[k] = values[order[k]];
  values.resize(order.size());
}

}  // namespace

std::size_t TextParser::feed(std::string_view bytes) {
  std::unique_lock<std::mutex> lock;
  if (space_) lock = std::unique_lock(space_->mutex());
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end && !stopped_ && full_.empty()) {
    const auto* newline =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    const std::string_view piece = view(at, newline != nullptr ? newline : end);
    at = newline != nullptr ? newline + 1 : end;
    if (!discarding_ && partial_.size() + piece.size() > options_.max_line_bytes) {
      discarding_ = true;
      ++line_;
      partial_.append(piece.substr(0, kShownBytes));
      refuse(partial_, BadRow(partial_.data(), "the line is longer than max_line_bytes=" +
                                                   std::to_string(options_.max_line_bytes)));
      partial_.clear();
    }
    if (newline == nullptr) {
      if (!discarding_) partial_.append(piece);
    } else if (discarding_) {
      discarding_ = false;
    } else if (partial_.empty()) {
      read_line(piece);  // in place, which is nearly always
    } else {
      partial_.append(piece);
      read_line(partial_);
      partial_.clear();
    }
  }
  return static_cast<std::size_t>(at - bytes.data());
}

void TextParser::end_file() {
  std::unique_lock<std::mutex> lock;
  if (space_) lock = std::unique_lock(space_->mutex());
  if (!partial_.empty() && !stopped_) read_line(partial_);
  partial_.clear();
  discarding_ = false;
  at_file_start_ = true;
  line_ = 0;
  ++file_;
  format_->end_file();
}

bool TextParser::take(RowBatch& batch, bool flush) {
  if (!full_.empty()) {
    batch = std::move(full_.front());
    full_.pop_front();
    return true;
  }
  if (!flush || current_.size() == 0) return false;
  batch = std::exchange(current_, {});
  return true;
}

void TextParser::read_line(std::string_view line) {
  ++line_;
  if (std::exchange(at_file_start_, false) && line.starts_with("\xef\xbb\xbf"))
    line.remove_prefix(3);  // a byte order mark
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t mark = space_ ? space_->mark() : 0;
  try {
    read_row(line);
  } catch (const BadRow& bad) {
    if (space_) space_->reset(mark);
    refuse(line, bad);
  }
}

void TextParser::read_row(std::string_view line) {
  if (const char* invalid = find_invalid_utf8(line))
    throw BadRow(invalid, *invalid == '\0' ? "a NUL byte" : "a byte that is not UTF-8");
  row_.clear();
  if (!format_->parse(line, row_)) return;
  if (row_.sort(scratch_))  // sums of finite values
    for (const float value : row_.values)
      if (!std::isfinite(value))
        throw BadRow(line.data(), "the values of a feature add up to more than a float32 holds");
  const std::size_t n_copies = read_labels(line);
  if (n_copies * row_.columns.size() > kMaxEntries)
    throw BadRow(line.data(), "too many features times labels in one row");
  if (space_) space_->weigh(row_);  // from here on nothing is refused
  if (has_label_lists())
    append_label_list();
  else
    append_row(n_copies);
}

// Checks the labels and returns how often the row is to be repeated, once for each label.
std::size_t TextParser::read_labels(std::string_view line) {
  const auto& labels = row_.labels;
  if (labels.empty() && options_.require_labels)
    throw BadRow(line.data(), row_.tag.empty() ? "the row has no label"
                                               : "the row has no label; a word that touches '|' "
                                                 "is a tag: put a space before '|'");
  if (labels.size() > 1 && options_.multilabel == Multilabel::kRefuse)
    throw BadRow(labels[1].data(), "a second label; pass multilabel='all', 'first' or 'each'");
  const bool each = options_.multilabel == Multilabel::kEach && labels.size() > 1;
  const std::size_t n_copies = each ? labels.size() : 1;
  const std::size_t n_kept = has_label_lists() ? labels.size() : n_copies;
  integers_.assign(n_kept, 0);
  LabelKind kind = next_kind_ = options_.labels;
  for (std::size_t i = 0; i < std::min(n_kept, labels.size()); ++i) {
    if (kind == LabelKind::kString) break;
    const char* const wrong = read_integer(labels[i], integers_[i]);
    if (wrong != nullptr && kind == LabelKind::kInteger)
      throw BadRow(labels[i].data(), std::string("the label ") + wrong +
                                         " as the labels before it are; pass label_type='str'");
    kind = wrong == nullptr ? LabelKind::kInteger : LabelKind::kString;
  }
  if (!labels.empty()) next_kind_ = kind;
  if (has_label_lists()) {
    if (next_kind_ == LabelKind::kInteger)
      keep_distinct(integers_, order_);
    else
      keep_distinct(row_.labels, order_);
  }
  return n_copies;
}

void TextParser::append_row(std::size_t n_copies) {
  options_.labels = next_kind_;
  const bool labelled = !row_.labels.empty();
  for (std::size_t i = 0; i < n_copies; ++i) {
    current_.append(row_);
    current_.labelled.push_back(labelled);
    current_.any_labelled |= labelled;
    current_.all_labelled &= labelled;
    current_.integer_labels.push_back(integers_[i]);
    const bool as_text = labelled && options_.labels == LabelKind::kString;
    current_.string_labels.append(as_text ? row_.labels[i] : std::string_view());
    if (current_.size() >= options_.batch_rows || current_.indices.size() >= kMaxEntries)
      full_.push_back(std::exchange(current_, {}));
  }
}

// Labels are integers, or strings, from the first one on: a batch has the ones or the others.
void TextParser::append_label_list() {
  options_.labels = next_kind_;
  current_.append(row_);
  auto& offsets = current_.label_offsets;
  if (options_.labels == LabelKind::kInteger) {
    current_.integer_labels.insert(current_.integer_labels.end(), integers_.begin(),
                                   integers_.end());
    offsets.push_back(static_cast<std::int64_t>(current_.integer_labels.size()));
  } else {
    for (const std::string_view label : row_.labels) current_.string_labels.append(label);
    offsets.push_back(static_cast<std::int64_t>(current_.string_labels.ends.size()));
  }
  const bool labelled = offsets.back() > offsets.end()[-2];
  current_.labelled.push_back(labelled);
  current_.any_labelled |= labelled;
  current_.all_labelled &= labelled;
  const std::size_t n_entries = std::max(current_.indices.size(), current_.n_labels());
  if (current_.size() >= options_.batch_rows || n_entries >= kMaxEntries)
    full_.push_back(std::exchange(current_, {}));
}

void TextParser::refuse(std::string_view line, const BadRow& bad) {
  n_skipped_ += !options_.stop_at_bad_row;
  stopped_ = options_.stop_at_bad_row;
  if (problems_.size() >= kMaxProblems) return;
  const char* const end = line.data() + line.size();
  // Characters before the place: bytes that do not continue one.
  const auto before = std::count_if(line.data(), bad.at, [](char c) { return (c & 0xc0) != 0x80; });
  const char* const shown_end =
      find_blank(bad.at, end - bad.at > std::ptrdiff_t{kShownBytes} ? bad.at + kShownBytes : end);
  problems_.push_back({file_, line_, static_cast<std::size_t>(before) + 1, bad.reason,
                       std::string(bad.at, shown_end)});
}

}  // namespace recalltree
