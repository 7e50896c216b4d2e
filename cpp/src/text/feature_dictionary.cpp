#include "recalltree/text/feature_dictionary.hpp"

#include "recalltree/base/probing.hpp"

namespace recalltree {

std::size_t FeatureDictionary::slot_of(std::string_view name) const {
  const std::size_t home = murmur_hash(name, 0) & (slots_.size() - 1);
  return probe(home, slots_.size(),
               [&](std::size_t i) { return slots_[i] == kNone || this->name(slots_[i]) == name; });
}

std::uint32_t FeatureDictionary::find(std::string_view name) const {
  return slots_.empty() ? kNone : slots_[slot_of(name)];
}

std::uint32_t FeatureDictionary::append(std::string_view name) {
  const auto at = static_cast<std::uint32_t>(size());
  text_.append(name);
  ends_.push_back(text_.size());
  if (size() * 2 > slots_.size()) {  // never more than half full
    std::vector<std::uint32_t>(slots_.empty() ? 64 : slots_.size() * 2, kNone).swap(slots_);
    for (std::uint32_t i = 0; i < at; ++i) slots_[slot_of(this->name(i))] = i;
  }
  slots_[slot_of(name)] = at;
  return at;
}

void FeatureDictionary::shrink(std::size_t size) {
  // Last in, first out: no probe of an older name has passed over these slots.
  while (this->size() > size) {
    slots_[slot_of(name(this->size() - 1))] = kNone;
    ends_.pop_back();
    text_.resize(ends_.empty() ? 0 : ends_.back());
  }
}

}  // namespace recalltree
