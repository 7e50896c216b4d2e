#include "readers.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "options.hpp"
#include "recalltree/text/delimited.hpp"
#include "recalltree/text/feature_space.hpp"
#include "recalltree/text/text_column.hpp"
#include "recalltree/text/text_parser.hpp"

namespace recalltree::bindings {

template <>
struct Names<LabelKind> {
  static constexpr const char* of[] = {"auto", "int", "str"};
};
template <>
struct Names<Multilabel> {
  static constexpr const char* of[] = {"refuse", "first", "each", "all"};
};

namespace {

// --- Feature spaces ------------------------------------------------------------------------------

nb::object names_of(FeatureSpace& space) {
  const std::lock_guard lock(space.mutex());
  const FeatureDictionary* dictionary = space.dictionary();
  if (dictionary == nullptr) return nb::none();
  nb::list out;
  for (std::size_t i = 0; i < dictionary->size(); ++i) {
    const std::string_view name = dictionary->name(i);
    out.append(nb::str(name.data(), name.size()));
  }
  return out;
}

void restore_names(FeatureSpace& space, const std::vector<std::string>& names) {
  const std::lock_guard lock(space.mutex());
  FeatureDictionary* dictionary = space.dictionary();
  if (dictionary == nullptr || dictionary->size() > 0)
    throw nb::value_error("names are restored into an empty dictionary");
  for (const std::string& name : names) {
    if (dictionary->full()) throw nb::value_error("more names than features");
    if (dictionary->find(name) != FeatureDictionary::kNone)
      throw nb::value_error("a name comes twice");
    dictionary->append(name);
  }
}

nb::object frequencies_of(FeatureSpace& space) {
  const std::lock_guard lock(space.mutex());
  const DocumentFrequencies* frequencies = space.frequencies();
  if (frequencies == nullptr) return nb::none();
  return nb::make_tuple(frequencies->n_documents(),
                        to_numpy(std::vector<std::uint32_t>(frequencies->counts())));
}

void restore_frequencies(FeatureSpace& space, std::uint64_t n_documents,
                         Vector<std::uint32_t> counts) {
  const std::lock_guard lock(space.mutex());
  DocumentFrequencies* frequencies = space.frequencies();
  if (frequencies == nullptr || counts.shape(0) != space.n_features())
    throw nb::value_error("one frequency per feature, with tf-idf only");
  frequencies->restore(n_documents, counts.data());
}

// --- Parsers -------------------------------------------------------------------------------------

std::size_t feed(TextParser& parser, nb::bytes bytes, std::size_t start) {
  if (start > bytes.size()) throw nb::value_error("start lies beyond the bytes");
  const std::string_view rest =
      std::string_view(static_cast<const char*>(bytes.data()), bytes.size()).substr(start);
  nb::gil_scoped_release release;
  return start + parser.feed(rest);
}

nb::list strings(const StringColumn& column) {
  nb::list out;
  for (std::size_t i = 0; i < column.ends.size(); ++i)
    out.append(nb::str(column[i].data(), column[i].size()));
  return out;
}

// For each row a dict from columns to lists of names; None if names are not kept.
nb::object names_in(const RowBatch& batch) {
  if (batch.name_columns.empty()) return nb::none();
  nb::list rows;
  for (std::size_t row = 0; row + 1 < batch.name_offsets.size(); ++row) {
    nb::dict names;
    for (std::int64_t i = batch.name_offsets[row]; i < batch.name_offsets[row + 1]; ++i) {
      const std::string_view name = batch.names[static_cast<std::size_t>(i)];
      nb::object known =
          names.attr("setdefault")(batch.name_columns[static_cast<std::size_t>(i)], nb::list());
      nb::object text = nb::str(name.data(), name.size());
      if (!nb::cast<bool>(known.attr("__contains__")(text))) known.attr("append")(text);
    }
    rows.append(names);
  }
  return rows;
}

// None, or a dict of arrays (lists for strings).
nb::object take(TextParser& parser, bool flush) {
  RowBatch batch;
  if (!parser.take(batch, flush)) return nb::none();
  nb::dict out;
  out["indptr"] = to_numpy(std::move(batch.indptr));
  out["indices"] = to_numpy(std::move(batch.indices));
  out["values"] = to_numpy(std::move(batch.values));
  out["labels"] = nb::none();
  out["label_offsets"] = nb::none();
  if (parser.has_label_lists()) out["label_offsets"] = to_numpy(std::move(batch.label_offsets));
  if (batch.any_labelled) {
    if (parser.label_kind() == LabelKind::kInteger)
      out["labels"] = to_numpy(std::move(batch.integer_labels));
    else
      out["labels"] = strings(batch.string_labels);
  }
  out["labelled"] = nb::none();
  if (!batch.all_labelled) out["labelled"] = to_numpy(std::move(batch.labelled));
  out["weights"] = nb::none();
  if (batch.any_weighted) out["weights"] = to_numpy(std::move(batch.weights));
  out["tags"] = nb::none();
  if (batch.any_tagged) out["tags"] = strings(batch.tags);
  out["names"] = names_in(batch);
  return out;
}

// (file, line, column, reason, text) of each.
nb::list take_problems(TextParser& parser) {
  nb::list out;
  for (const Problem& p : parser.take_problems())
    out.append(nb::make_tuple(p.file, p.line, p.column, p.reason,
                              nb::bytes(p.text.data(), p.text.size())));
  return out;
}

void bind_text_parser(nb::module_& m) {
  nb::class_<TextParser>(m, "TextParser")
      .def(
          "__init__",
          [](TextParser* self, const std::string& format, std::shared_ptr<FeatureSpace> space,
             std::size_t batch_rows, std::size_t max_line_bytes, const std::string& label_type,
             const std::string& multilabel, bool require_labels, bool stop_at_bad_row,
             std::uint32_t n_features, bool zero_based, std::vector<std::string> quadratic,
             std::size_t ngrams, std::string label_prefix) {
            const auto several = parse<Multilabel>(multilabel);
            auto line_format =
                make_line_format(format,
                                 {n_features, zero_based, std::move(quadratic), ngrams,
                                  std::move(label_prefix), several != Multilabel::kRefuse},
                                 space.get());
            const TextOptions options{batch_rows, max_line_bytes, parse<LabelKind>(label_type),
                                      several,    require_labels, stop_at_bad_row};
            new (self) TextParser(options, std::move(space), std::move(line_format));
          },
          "format"_a, "space"_a.none(), nb::kw_only(), "batch_rows"_a, "max_line_bytes"_a,
          "label_type"_a, "multilabel"_a, "require_labels"_a, "stop_at_bad_row"_a, "n_features"_a,
          "zero_based"_a, "quadratic"_a, "ngrams"_a, "label_prefix"_a)
      .def("feed", &feed, "bytes"_a, "start"_a)
      .def("end_file", &TextParser::end_file, nb::call_guard<nb::gil_scoped_release>())
      .def("take", &take, "flush"_a)
      .def("take_problems", &take_problems)
      .def_prop_ro("stopped", &TextParser::stopped)
      .def_prop_ro("n_skipped", &TextParser::n_skipped)
      .def_prop_ro("label_type",
                   [](const TextParser& parser) { return name_of(parser.label_kind()); });
}

// --- Columns of text -----------------------------------------------------------------------------

using Offsets = Vector<std::int64_t>;
using Bytes = Vector<std::uint8_t>;

TextColumn text_column(const Offsets& offsets, const Bytes& data, std::string prefix = {}) {
  const std::size_t n = offsets.shape(0);
  if (n == 0) throw nb::value_error("offsets must not be empty");
  for (std::size_t i = 0; i < n; ++i)
    if (offsets(i) < (i == 0 ? 0 : offsets(i - 1)) ||
        static_cast<std::uint64_t>(offsets(i)) > data.shape(0))
      throw nb::value_error("offsets do not describe data");
  return {offsets.data(), n - 1,
          std::string_view(reinterpret_cast<const char*>(data.data()), data.shape(0)),
          std::move(prefix)};
}

nb::object to_numpy(const std::vector<CellStatus>& status) {
  std::vector<std::uint8_t> codes;
  for (const CellStatus s : status) codes.push_back(static_cast<std::uint8_t>(s));
  return bindings::to_numpy(std::move(codes));
}

template <class T, class Parse>
nb::tuple parse_column(const Offsets& offsets, const Bytes& data, Parse parse) {
  const TextColumn column = text_column(offsets, data);
  std::vector<T> values;
  std::vector<CellStatus> status;
  {
    nb::gil_scoped_release release;
    status = parse(column, values);
  }
  return nb::make_tuple(bindings::to_numpy(std::move(values)), to_numpy(status));
}

// (indptr, indices, values, refused, names)
nb::tuple encode(FeatureSpace& space,
                 const std::vector<std::tuple<Offsets, Bytes, std::string>>& arrays,
                 std::size_t max_ngram) {
  if (max_ngram == 0) throw nb::value_error("max_ngram: at least 1");
  std::vector<TextColumn> columns;
  for (const auto& [offsets, data, prefix] : arrays)
    columns.push_back(text_column(offsets, data, prefix));
  for (const TextColumn& column : columns)
    if (column.size != columns[0].size) throw nb::value_error("columns differ in size");
  RowBatch batch;
  std::vector<std::uint8_t> refused;
  {
    nb::gil_scoped_release release;
    refused = encode_words(space, columns, max_ngram, batch);
  }
  return nb::make_tuple(bindings::to_numpy(std::move(batch.indptr)),
                        bindings::to_numpy(std::move(batch.indices)),
                        bindings::to_numpy(std::move(batch.values)),
                        bindings::to_numpy(std::move(refused)), names_in(batch));
}

// (bytes, rows, the numbers of good rows, (offsets, data) of each wanted column, refused rows)
nb::tuple split(nb::bytes data, const DelimitedShape& shape, bool is_last) {
  const std::string_view text(static_cast<const char*>(data.data()), data.size());
  DelimitedRows found;
  {
    nb::gil_scoped_release release;
    found = split_delimited(text, shape, is_last);
  }
  nb::list columns, refused;
  for (CellColumn& column : found.columns)
    columns.append(nb::make_tuple(bindings::to_numpy(std::move(column.offsets)),
                                  bindings::to_numpy(std::move(column.data))));
  for (const RefusedRow& row : found.refused)
    refused.append(
        nb::make_tuple(row.row, row.reason, nb::bytes(row.text.data(), row.text.size())));
  return nb::make_tuple(found.n_bytes, found.n_rows, bindings::to_numpy(std::move(found.rows)),
                        columns, refused);
}

void bind_columns(nb::module_& m) {
  m.def(
      "split_delimited",
      [](nb::bytes data, char delimiter, bool quotes, std::size_t n_columns,
         std::vector<std::size_t> wanted, bool is_last) {
        for (const std::size_t column : wanted)
          if (column >= n_columns) throw nb::value_error("wanted: a column that is not there");
        return split(data, {delimiter, quotes, n_columns, std::move(wanted)}, is_last);
      },
      "data"_a, nb::kw_only(), "delimiter"_a, "quotes"_a, "n_columns"_a, "wanted"_a, "is_last"_a);
  m.def(
      "parse_floats",
      [](const Offsets& offsets, const Bytes& data) {
        return parse_column<float>(offsets, data, &parse_floats);
      },
      "offsets"_a, "data"_a);
  m.def(
      "parse_integers",
      [](const Offsets& offsets, const Bytes& data) {
        return parse_column<std::int64_t>(offsets, data, &parse_integers);
      },
      "offsets"_a, "data"_a);
  m.def(
      "check_text",
      [](const Offsets& offsets, const Bytes& data) {
        return to_numpy(check_text(text_column(offsets, data)));
      },
      "offsets"_a, "data"_a);
  m.def("encode_words", &encode, "space"_a, "columns"_a, "max_ngram"_a);
}

}  // namespace

void bind_readers(nb::module_& m) {
  nb::class_<FeatureSpace>(m, "FeatureSpace")
      .def(nb::init<std::uint32_t, bool, bool>(), nb::kw_only(), "n_features"_a, "hashed"_a,
           "tf_idf"_a)
      .def("names", &names_of)
      .def("restore_names", &restore_names, "names"_a)
      .def("frequencies", &frequencies_of)
      .def("restore_frequencies", &restore_frequencies, "n_documents"_a, "counts"_a)
      .def("freeze",
           [](FeatureSpace& space) {
             const std::lock_guard lock(space.mutex());
             space.freeze();
           })
      .def("keep_names",
           [](FeatureSpace& space) {
             const std::lock_guard lock(space.mutex());
             space.keep_names();
           })
      .def_prop_ro("n_features", &FeatureSpace::n_features)
      .def_prop_ro("frozen", &FeatureSpace::frozen);
  bind_text_parser(m);
  bind_columns(m);
}

}  // namespace recalltree::bindings
