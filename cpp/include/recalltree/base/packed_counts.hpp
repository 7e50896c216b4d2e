// The labels of a node in order of arrival, their counts, and the positions of those that are
// candidates. Most memory of a tree is here, so each number takes the bytes that it needs, and all
// of them lie in one block:
//
//   counts      whole numbers in 8, 16 or 32 bits while all of them fit, else doubles
//   labels      16 bits each while all of them fit, else 32
//   table       label -> position, open addressing; only beyond kScanned labels
//   candidates  positions in 8, 16 or 32 bits, in an order that is the owner's business
//
// A label is found by looking through the labels, many at once, while there are at most kScanned:
// that reads 4 KiB at most, whatever the number of classes. Beyond, the table is asked.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "recalltree/base/hints.hpp"
#include "recalltree/base/narrow_numbers.hpp"
#include "recalltree/base/probing.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

class PackedCounts {
 public:
  static constexpr std::uint32_t kNone = NarrowNumbers<std::uint32_t>::kNone;

  std::uint32_t size() const { return shape_.size; }
  std::uint32_t n_candidates() const { return shape_.n_candidates; }

  // Views, which end when anything below that changes something is called.
  RECALLTREE_INLINE NarrowNumbers<std::uint32_t> labels() const {
    return {block_.get() + shape_.labels_begin(), shape_.label_bytes};
  }
  NarrowNumbers<double> counts() const { return {block_.get(), shape_.count_bytes}; }
  NarrowNumbers<std::uint32_t> candidates() const {
    return {block_.get() + shape_.candidates_begin(), shape_.position_bytes()};
  }

  // Position of a label, or kNone.
  std::uint32_t find(ClassId label) const {
    if (size() <= kScanned) return labels().find(label, size());
    const auto table = this->table(), labels = this->labels();
    const std::uint32_t free = shape_.free_slot();
    const std::uint32_t at = table[probe(home(label), shape_.n_slots(), [&](std::size_t i) {
      return table[i] == free || labels[table[i]] == label;
    })];
    return at == free ? kNone : at;
  }

  // A label that is not there yet. Returns its position.
  std::uint32_t append(ClassId label, double count) {
    const std::uint32_t at = size();
    Shape wanted = shape_;
    wanted.size = at + 1;
    wanted.label_bytes = std::max(wanted.label_bytes, label_width(label));
    wanted.count_bytes = std::max(wanted.count_bytes, count_width(count));
    reshape(wanted);
    labels().set(at, label);
    counts().set(at, count);
    if (size() > kScanned) put_into_table(at);
    return at;
  }

  void set_count(std::uint32_t at, double count) {
    if (const std::uint8_t width = count_width(count); width > shape_.count_bytes) {
      Shape wanted = shape_;
      wanted.count_bytes = width;
      reshape(wanted);
    }
    counts().set(at, count);
  }
  // All counts times a factor, which makes fractions of them.
  void scale_counts(double factor) {
    Shape wanted = shape_;
    wanted.count_bytes = sizeof(double);
    reshape(wanted);
    const auto counts = this->counts();
    for (std::uint32_t at = 0; at < size(); ++at) counts.set(at, counts[at] * factor);
  }

  // Changes their number; which they are has to be set. If there is no memory, there are none.
  void resize_candidates(std::uint32_t n) {
    forget_candidates();
    Shape wanted = shape_;
    wanted.n_candidates = static_cast<std::uint16_t>(n);
    move_to(wanted);
  }
  // Their memory is given back when they are resized.
  void forget_candidates() { shape_.n_candidates = 0; }

  // Distinct labels and their counts, where there are none yet.
  void assign(const ClassId* labels, const double* counts, std::size_t n) {
    Shape wanted = shape_;
    wanted.size = static_cast<std::uint32_t>(n);
    for (std::size_t i = 0; i < n; ++i) {
      wanted.label_bytes = std::max(wanted.label_bytes, label_width(labels[i]));
      wanted.count_bytes = std::max(wanted.count_bytes, count_width(counts[i]));
    }
    reshape(wanted);
    for (std::size_t i = 0; i < n; ++i) {
      this->labels().set(i, labels[i]);
      this->counts().set(i, counts[i]);
    }
    if (size() > kScanned)
      for (std::uint32_t at = 0; at < size(); ++at) put_into_table(at);
  }

  std::size_t bytes() const { return shape_.bytes(); }

 private:
  static constexpr std::size_t kScanned = 1024;  // this many labels need no table
  static_assert(std::has_single_bit(kScanned), "room for a table goes with room for labels");

  // Layout of the block. There is room for a multiple of four labels, and the widest numbers come
  // first, so that all of them are aligned.
  struct Shape {
    std::uint32_t size = 0;
    std::uint16_t n_candidates = 0;
    std::uint8_t label_bytes = 2, count_bytes = 1;

    // For how many labels there is room. Their number says it: it is rounded up by at most a part
    // in 32, not to twice as many, or by an eighth with a table, which is made again each time.
    RECALLTREE_INLINE std::size_t room() const {
      if (size == 0) return 0;
      const std::size_t n = size, share = n > kScanned ? 8 : 32;
      const std::size_t step = std::max<std::size_t>(4, std::bit_floor(n - 1) / share);
      return (n + step - 1) & ~(step - 1);
    }
    RECALLTREE_INLINE unsigned position_bytes() const {
      const std::size_t n = room();
      return n <= 0x100 ? 1 : n <= 0xffff ? 2 : 4;
    }
    std::size_t n_slots() const { return size <= kScanned ? 0 : room() / 8 * 11; }
    std::uint32_t free_slot() const { return position_bytes() == 2 ? 0xffff : 0xffffffff; }

    RECALLTREE_INLINE std::size_t labels_begin() const { return room() * count_bytes; }
    std::size_t table_begin() const { return labels_begin() + room() * label_bytes; }
    std::size_t candidates_begin() const { return table_begin() + n_slots() * position_bytes(); }
    std::size_t bytes() const { return candidates_begin() + n_candidates * position_bytes(); }

    bool fits_where(const Shape& other) const {
      return room() == other.room() && n_candidates == other.n_candidates &&
             label_bytes == other.label_bytes && count_bytes == other.count_bytes;
    }
  };

  static std::uint8_t label_width(ClassId label) { return label <= 0xffff ? 2 : 4; }
  static std::uint8_t count_width(double count) {
    return static_cast<std::uint8_t>(NarrowNumbers<double>::width_of(count));
  }

  void reshape(const Shape& wanted) {
    if (!wanted.fits_where(shape_)) move_to(wanted);
    shape_ = wanted;
  }
  // Takes all along that is there. If there is no memory, nothing has changed.
  void move_to(const Shape& wanted) {
    auto block = std::make_unique_for_overwrite<std::byte[]>(wanted.bytes());
    PackedCounts old;
    old.block_ = std::exchange(block_, std::move(block));
    old.shape_ = std::exchange(shape_, wanted);
    labels().copy(old.labels(), old.size());
    counts().copy(old.counts(), old.size());
    candidates().copy(old.candidates(), old.n_candidates());
    if (size() <= kScanned) return;
    std::memset(block_.get() + shape_.table_begin(), 0xff,
                shape_.n_slots() * shape_.position_bytes());
    for (std::uint32_t at = 0; at < old.size(); ++at) put_into_table(at);
  }

  NarrowNumbers<std::uint32_t> table() const {
    return {block_.get() + shape_.table_begin(), shape_.position_bytes()};
  }
  std::size_t home(ClassId label) const { return home_of(label, shape_.n_slots()); }
  void put_into_table(std::uint32_t at) const {
    const auto table = this->table();
    const auto is_free = [&](std::size_t i) { return table[i] == shape_.free_slot(); };
    table.set(probe(home(labels()[at]), shape_.n_slots(), is_free), at);
  }

  std::unique_ptr<std::byte[]> block_;
  Shape shape_;
};

}  // namespace recalltree
