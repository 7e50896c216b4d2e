#include "labels.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <random>
#include <string>

#include "arrays.hpp"
#include "recalltree/text/distinct.hpp"

namespace recalltree::bindings {

namespace {

// Lines of k pairs each, with tabs between: a text, and its number as "%.6g" has it.
nb::str lines_of_pairs(const nb::list& texts, Vector<double> numbers, std::size_t k) {
  const std::size_t n = texts.size();
  if (n != numbers.shape(0) || k == 0 || n % k != 0)
    throw nb::value_error("texts and numbers must be lines of k each");
  std::string lines;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) lines += i % k == 0 ? '\n' : '\t';
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(nb::handle(texts[i]).ptr(), &size);
    if (text == nullptr) throw nb::python_error();
    lines.append(text, static_cast<std::size_t>(size)) += '\t';
    char* const number = PyOS_double_to_string(numbers(i), 'g', 6, 0, nullptr);
    if (number == nullptr) throw nb::python_error();
    lines += number;
    PyMem_Free(number);
  }
  return nb::str(lines.data(), lines.size());
}

}  // namespace

void bind_labels(nb::module_& m) {
  m.def("lines_of_pairs", &lines_of_pairs, "texts"_a, "numbers"_a, "k"_a);
  m.def(
      "find_duplicate",
      [](Vector<std::uint8_t> bytes, Vector<std::uint64_t> offsets) {
        for (std::size_t i = 0; i < offsets.shape(0); ++i)
          if (offsets(i) > bytes.shape(0) || (i > 0 && offsets(i) < offsets(i - 1)))
            throw nb::value_error("offsets must increase and stay within the bytes");
        std::random_device random;
        const std::uint64_t seed = std::uint64_t{random()} << 32 | random();
        return find_duplicate({reinterpret_cast<const char*>(bytes.data()), bytes.shape(0)},
                              {offsets.data(), offsets.shape(0)}, seed);
      },
      "bytes"_a, "offsets"_a);
}

}  // namespace recalltree::bindings
