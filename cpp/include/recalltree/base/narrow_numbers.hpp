// Numbers side by side in memory that belongs to somebody else, each in as few bytes as the one
// that needs the most: whole numbers of 8, 16 or 32 bits, or doubles where these are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace recalltree {

// Number: std::uint32_t or double.
template <class Number>
class NarrowNumbers {
  static_assert(std::is_same_v<Number, std::uint32_t> || std::is_same_v<Number, double>);

 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Aligned for numbers of this width, in bytes.
  NarrowNumbers(std::byte* data, unsigned width) : data_(data), width_(width) {}

  // The least width that holds a number exactly.
  static unsigned width_of(Number value) {
    // Only what is in range may be cast to an integer.
    if (!(value >= Number{0} && value <= Number{0xffffffff})) return sizeof(Number);
    const auto whole = static_cast<std::uint32_t>(value);
    if (static_cast<Number>(whole) != value) return sizeof(Number);
    return whole <= 0xff ? 1 : whole <= 0xffff ? 2 : 4;
  }

  Number operator[](std::size_t i) const {
    switch (width_) {
      case 1:
        return static_cast<Number>(as<std::uint8_t>()[i]);
      case 2:
        return static_cast<Number>(as<std::uint16_t>()[i]);
      case 4:
        return static_cast<Number>(as<std::uint32_t>()[i]);
      default:
        return as<Number>()[i];
    }
  }
  // A number that fits.
  void set(std::size_t i, Number value) const {
    switch (width_) {
      case 1:
        as<std::uint8_t>()[i] = static_cast<std::uint8_t>(value);
        break;
      case 2:
        as<std::uint16_t>()[i] = static_cast<std::uint16_t>(value);
        break;
      case 4:
        as<std::uint32_t>()[i] = static_cast<std::uint32_t>(value);
        break;
      default:
        as<Number>()[i] = value;
    }
  }
  // Copies from numbers that are not wider.
  void copy(const NarrowNumbers& from, std::size_t n) const {
    if (width_ == from.width_ && n > 0)
      std::memcpy(data_, from.data_, n * width_);
    else
      for (std::size_t i = 0; i < n; ++i) set(i, from[i]);
  }

  // Place of a number among the first n, which are distinct, or kNone. A linear search.
  std::uint32_t find(std::uint32_t value, std::uint32_t n) const {
    switch (width_) {
      case 1:
        return value > 0xff ? kNone : find_in(as<std::uint8_t>(), value, n);
      case 2:
        return value > 0xffff ? kNone : find_in(as<std::uint16_t>(), value, n);
      default:
        return find_in(as<std::uint32_t>(), value, n);
    }
  }

 private:
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

  template <class T>
  static std::uint32_t find_in(const T* numbers, std::uint32_t value, std::uint32_t n) {
    const auto wanted = static_cast<T>(value);
    if (n < kChunk) {
      for (std::uint32_t i = 0; i < n; ++i)
        if (numbers[i] == wanted) return i;
      return kNone;
    }
    for (std::uint32_t begin = 0; begin + kChunk < n; begin += kChunk)
      if (const T end = end_in_chunk(numbers + begin, wanted)) return begin + end - 1;
    // The last chunk ends where the numbers do, and may repeat some of those before.
    const T end = end_in_chunk(numbers + (n - kChunk), wanted);
    return end ? n - kChunk + end - 1 : kNone;
  }
  // One more than the position, or 0. At most one number is the wanted one, so that nothing needs
  // deciding on the way, and compilers compare many at once.
  template <class T>
  static T end_in_chunk(const T* numbers, T wanted) {
    T end = 0;
    for (std::uint32_t i = 0; i < kChunk; ++i)
      end |= static_cast<T>(numbers[i] == wanted ? i + 1 : 0);
    return end;
  }

  static constexpr std::uint32_t kChunk = 32;  // few enough to be short, too many to be unrolled

  std::byte* data_;
  unsigned width_;
};

}  // namespace recalltree
