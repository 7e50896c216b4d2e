// Nodes at which the examples of each class were counted, and their weight at each.
//
// The histogram of a node says which labels it has met, as far as there is room for them; this is
// the same seen from the classes, and complete. A class has few nodes: a list is searched faster
// than a table.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "recalltree/base/stable_vector.hpp"
#include "recalltree/base/types.hpp"

namespace recalltree {

class ClassNodes {
 public:
  std::size_t size() const { return lists_.size(); }
  void grow_to(std::size_t n_classes) {
    while (lists_.size() < n_classes) lists_.add([](List&) {});
  }

  // Calls visit(node, count) for the nodes of a class, in order of first count.
  template <class Visit>
  void visit(ClassId y, Visit visit) const {
    const List& list = lists_[y];
    for (std::size_t i = 0; i < list.size(); ++i) visit(list.node(i), list.count(i));
  }

  // Counts an example of a class at a node. Returns what the count was before.
  float add(ClassId y, NodeId node, double weight);
  void append(ClassId y, NodeId node, float count) { append(lists_[y], node, count); }
  void rescale(float factor);

  std::size_t bytes() const { return bytes(lists_.size()); }
  // Bytes for this many classes, of which the new ones were never counted.
  std::size_t bytes(std::size_t classes) const {
    return StableVector<List>::bytes(classes) + list_bytes_.load(std::memory_order_relaxed);
  }

 private:
  // Entries of three words, node and count, or of four if some node needs two: there are many of
  // them, and few forests have more than 2^16 nodes.
  class List {
   public:
    std::size_t size() const { return words_.size() / stride(); }
    NodeId node(std::size_t i) const {
      const std::uint16_t* const entry = words_.data() + i * stride();
      return is_wide_ ? entry[2] | NodeId{entry[3]} << 16 : entry[2];
    }
    float count(std::size_t i) const {
      float count;
      std::memcpy(&count, words_.data() + i * stride(), sizeof count);
      return count;
    }
    void set_count(std::size_t i, float count) {
      std::memcpy(words_.data() + i * stride(), &count, sizeof count);
    }
    void append(NodeId node, float count);
    std::size_t bytes() const { return words_.capacity() * sizeof(std::uint16_t); }

   private:
    std::size_t stride() const { return is_wide_ ? 4 : 3; }

    bool is_wide_ = false;
    std::vector<std::uint16_t> words_;
  };
  void append(List& list, NodeId node, float count);

  StableVector<List> lists_;
  std::atomic<std::size_t> list_bytes_{0};  // several owners of classes add to it
};

}  // namespace recalltree
