// The columns of a matrix whose features have names: a name's column is its hash, or the place
// that a dictionary gives it. With tf-idf it also knows how rare each column is.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "recalltree/text/document_frequencies.hpp"
#include "recalltree/text/feature_dictionary.hpp"
#include "recalltree/text/feature_hash.hpp"
#include "recalltree/text/row.hpp"

namespace recalltree {

class FeatureSpace {
 public:
  static constexpr std::uint32_t kNone = FeatureDictionary::kNone;

  // n_features is a power of two if names are hashed.
  FeatureSpace(std::uint32_t n_features, bool hashed, bool tf_idf) : n_features_(n_features) {
    if (!hashed) dictionary_.emplace(n_features);
    if (tf_idf) frequencies_.emplace(n_features);
  }

  // Held by whoever reads rows, and by whoever looks at the state meanwhile.
  std::mutex& mutex() { return mutex_; }

  std::uint32_t n_features() const { return n_features_; }
  bool hashed() const { return !dictionary_; }

  // Rows note what their features are called: a hash does not tell.
  bool keeps_names() const { return keeps_names_; }
  void keep_names() { keeps_names_ = true; }

  std::uint32_t column(std::uint64_t hash) const {
    return static_cast<std::uint32_t>(hash & (n_features_ - 1));
  }
  // The place of a name, a new one for a new name; kNone for a new name once frozen.
  std::uint32_t column(std::string_view name, const char* where) {
    const std::uint32_t known = dictionary_->find(name);
    if (known != kNone || frozen_) return known;
    if (dictionary_->full())
      throw BadRow(where, "the dictionary is full with " + std::to_string(n_features_) +
                              " features; raise n_features (or bits), or take features='hashed'");
    return dictionary_->append(name);
  }

  // Counts a row, unless frozen, and weighs its values. The row is sorted.
  void weigh(Row& row) {
    if (!frequencies_) return;
    if (!frozen_) frequencies_->count(row);
    frequencies_->weigh(row);
  }

  // Names and frequencies stay as they are from here on.
  void freeze() { frozen_ = true; }
  bool frozen() const { return frozen_; }
  FeatureDictionary* dictionary() { return dictionary_ ? &*dictionary_ : nullptr; }
  DocumentFrequencies* frequencies() { return frequencies_ ? &*frequencies_ : nullptr; }

  // A row that is refused leaves no names behind.
  std::size_t mark() const { return dictionary_ ? dictionary_->size() : 0; }
  void reset(std::size_t mark) {
    if (dictionary_) dictionary_->shrink(mark);
  }

 private:
  std::uint32_t n_features_;
  std::optional<FeatureDictionary> dictionary_;
  std::optional<DocumentFrequencies> frequencies_;
  std::mutex mutex_;
  bool frozen_ = false;
  bool keeps_names_ = false;
};

}  // namespace recalltree
