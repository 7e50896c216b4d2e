#include "recalltree/voting/class_nodes.hpp"

#include <cstdint>

namespace recalltree {

void ClassNodes::List::append(NodeId node, float count) {
  if (node > 0xffff && !is_wide_) {
    List wide;
    wide.is_wide_ = true;
    for (std::size_t i = 0; i < size(); ++i) wide.append(this->node(i), this->count(i));
    words_.swap(wide.words_);
    is_wide_ = true;
  }
  // An eighth more room than needed.
  if (words_.size() + stride() > words_.capacity())
    words_.reserve(stride() * (size() + size() / 8 + 2));
  words_.resize(words_.size() + stride());
  std::uint16_t* const entry = words_.data() + words_.size() - stride();
  std::memcpy(entry, &count, sizeof count);
  entry[2] = static_cast<std::uint16_t>(node);
  if (is_wide_) entry[3] = static_cast<std::uint16_t>(node >> 16);
}

void ClassNodes::append(List& list, NodeId node, float count) {
  const std::size_t before = list.bytes();
  list.append(node, count);
  if (list.bytes() != before)
    list_bytes_.fetch_add(list.bytes() - before, std::memory_order_relaxed);
}

float ClassNodes::add(ClassId y, NodeId node, double weight) {
  List& list = lists_[y];
  std::size_t at = 0;
  while (at < list.size() && list.node(at) != node) ++at;
  if (at == list.size()) append(list, node, 0.0f);
  const float before = list.count(at);
  list.set_count(at, static_cast<float>(before + weight));
  return before;
}

void ClassNodes::rescale(float factor) {
  for (std::size_t y = 0; y < lists_.size(); ++y)
    for (std::size_t i = 0; i < lists_[y].size(); ++i)
      lists_[y].set_count(i, lists_[y].count(i) * factor);
}

}  // namespace recalltree
