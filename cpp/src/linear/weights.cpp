#include "recalltree/linear/weights.hpp"

namespace recalltree {
namespace {

// Nothing is looked up of an example: each model is a dot product of its own.
class PlainExampleScorer final : public ExampleScorer {
 public:
  explicit PlainExampleScorer(const ReadWeights& weights) : weights_(weights) {}
  void set(std::size_t e, const Example& x) override {
    if (examples_.size() <= e) examples_.resize(e + 1);
    examples_[e] = &x;
  }
  void score(const ModelId* models, const std::uint32_t* which, std::size_t n,
             float* out) const override {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = models[i] == kNoModel ? 0.0f : weights_.score(models[i], *examples_[which[i]]);
  }

 private:
  const ReadWeights& weights_;
  std::vector<const Example*> examples_;
};

}  // namespace

std::unique_ptr<ExampleScorer> ReadWeights::example_scorer() const {
  return std::make_unique<PlainExampleScorer>(*this);
}

void ReadWeights::score_groups(const std::vector<ExampleGroup>& groups, const ReadExample& read,
                               float* out) const {
  Example x;
  for (const ExampleGroup& group : groups)
    for (std::size_t e = group.begin; e < group.end; ++e, out += group.n) {
      read(e, x);
      scores(group.models, group.n, x, out);
    }
}

}  // namespace recalltree
