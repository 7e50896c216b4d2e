"""One-against-some: the keys of an example vote for its candidates.

The Recall Tree finds candidates in the label histogram of one node, at the end of one path. Here
every key of an example has a label histogram of its own, and the histograms vote. The keys are the
features of the example, or the nodes where it ends in several shallow trees (`KeyForest`), or both:

    vote(y | x)  = sum over the features k of x of  u_k |v_k| (A sqrt(c(y, k) / n_y)
                                                               + S sqrt(c(y, k) / n_k))
                 + B · sum over the nodes k that x belongs to of  s_k sqrt(c(y, k) / n_k)
    score(y | x) = vote(y | x) + w_y · v + b_y
    candidates   = the F classes with the largest score, as far as the histograms were read

Dense features may have `Cells`: alone, with trees, or as a block beside sparse features that vote.
Cells name F candidates, too. Their class vectors add to every score, in place of dense predictors;
there is one bias per class, and one softmax teaches all parts.

x becomes the shares t that it adds to counts and the values v that predictors and routers see
(`FeatureWeighting`, `FeatureCentring`). c(y, k) of a feature is the sum of its shares over the
examples of class y, and n_y the sum of c(y, k) over all features, so that c(y, k) / n_y is a
distribution over features, and the first vote its affinity (Bhattacharyya's) to the example. The
second says how much of a feature is the class's: n_k is the weight of the examples that had it. The
weight u_k says how much a feature counts. c(y, k) of a node counts examples, n_k all of them at the
node; s_k is how far the node is trusted (`KeyForest.keys`).

A, S, B, u, w and b are learned with a softmax over the candidates (`label_loss`); where w_y has a
weight for every feature, the score of the right class has to win by a margin. The class of an
example joins the candidates if it is missing; A, S, B and u then do not learn, since the keys did
not find it. If an example has several labels, each counts it; A, S, B and u learn as if it had none
but those that the keys found.

* An example is scored before it is counted. Later passes do not count it again, and leave it out of
  the counts of its features. Of the nodes they do not: they hold many examples, and it may end now
  where it was not counted. Routers learn in the first pass only. With `FeatureDropout`, later
  passes learn an example without some of its features.
* A histogram lists the M labels with the largest counts; that of a leaf no more than 128, that of
  a node on the paper's path no more than F. A label of a feature has the weight of its predictor
  beside its count. E entries are read, those with the largest u_k |v_k| sqrt(c(y, k) / n_k), in
  blocks (`Reading`): that finds the candidates. Their scores are then made exact, by asking them
  for the features whose histograms were not read to the end; those of nodes are as the histograms
  have them.
* A candidate learns if its score is wrong enough. Only these are asked for all the features they
  have met, and so S and u learn from them alone: what the class of the example is short of is
  shared among those of them that have too much, in proportion.
* Counts may fade. Weights do not fade with them, which would cost what is still true of classes
  that are rarely seen; but a class whose score is wrong then forgets a little of its weights, and
  more of what shortens its steps, the more the further it is from right.
* Where features are sparse, or the only keys, w_y has a weight only for those that some example of
  class y had. Otherwise w_y has a weight for every feature.
* If the keys vote for fewer than F classes and there are no cells, the most frequent ones fill up.
* Several threads learn mini-batches: their examples are scored before any of them is learned, and
  what they teach is applied in their order (`learn_together`). One thread learns each by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .adaptive import Memory, softmax
from .cells import Lesson
from .class_model import ClassModel
from .label_loss import gradients, gradients_without
from .mini_batch import rows_of_mini_batch
from .one_against_some_prediction import OneAgainstSomePrediction
from .scored import Scored

# How much larger than the others the score of the right class has to be, for dense predictors.
MARGIN = 2.0
# Steps of later passes are shorter by this factor.
LATER_PASS = 0.5
# Where counts fade, a class forgets these parts of its weights, and of the squared gradients that
# shorten its steps, times the square of how wrong it is.
FORGOTTEN_WEIGHTS, FORGOTTEN_STEPS = 0.03, 0.3
# A candidate whose score is wrong by less does not learn: for sparse and for dense predictors.
SMALL_GRADIENT_OF_PAIRS, SMALL_GRADIENT_OF_ROWS = 0.03, 0.003
MAX_HALF_LIVES = 40.0  # for which counts keep their units


class Studied(NamedTuple):
    """Lesson of an example."""

    x: np.ndarray
    labels: list
    weight: float
    scored: Scored
    of_marginals: np.ndarray | None  # their gradient
    gradients: dict  # by candidate
    votes: tuple | None  # gradients of A, S and B, and of u
    lessons: dict  # gradients of the candidates that learn
    met: dict  # what these have met, the example's own labels excepted
    routers: list
    rate: float  # of its steps


class OneAgainstSomeReference(OneAgainstSomePrediction):
    """One-against-some in plain NumPy, with the parameters of `OneAgainstSomePrediction`.

    Examples
    --------
    >>> model = OneAgainstSomeReference(n_features=3)
    >>> X = np.eye(3)
    >>> for _ in range(2):
    ...     for y, x in enumerate(X):
    ...         model.learn(x, y)
    >>> [model.predict(x) for x in X]
    [0, 1, 2]
    """

    def learn(self, x, y, weight=1.0, first_pass=True):
        """Learn one example: y is its label, or a list of its labels."""
        self.learn_together([(x, y, weight)], first_pass)

    def learn_together(self, examples, first_pass=True):
        """Learn a mini-batch of examples, each of them (x, y, weight).

        All of them are studied, then what they teach is applied in their order: none sees what
        another one has taught, but steps follow each other, and a class that several of them name
        gets as many. New classes are known when the mini-batch has been learned.
        """
        n_classes = len(self.classes)
        for _, y, _ in examples:
            self.see(y if isinstance(y, list) else [y])
        studied = [self.study(x, y, weight, first_pass, n_classes) for x, y, weight in examples]
        changed: list[int] = []
        due: list[int] = []
        for example in studied:
            of_cells = self.apply(example, first_pass)
            changed += of_cells[0]
            due += of_cells[1]
        if self.cells is not None:
            self.cells.show(changed, due)
        if first_pass:
            self.budget.hold(self)

    def next_mini_batch(self, first_pass=True):
        """Return how many examples the next mini-batch has, if there are this many left."""
        size = rows_of_mini_batch(self.n_learned)
        if self.cells is not None:
            size = min(size, self.cells.rows_until_renewal() or size)
        if first_pass and self.fading < 1.0:
            # Between mini-batches counts get new units, before these become too large.
            half_lives = MAX_HALF_LIVES * (1.0 if self.cells is None else 0.25)
            size = min(size, max(1, int(half_lives * -1.0 / np.log2(self.fading))))
        return size

    def see(self, labels):
        """Make room for classes."""
        has_bias = self.cells is None  # otherwise cells keep it
        for label in labels:
            new = ClassModel(self.n_features, self.has_dense_predictors, has_bias)
            self.classes.setdefault(label, new)
            if self.cells is not None:
                self.cells.see(label)

    def study(self, x, y, weight, first_pass, n_classes):
        """Return what an example teaches; nothing is learned yet."""
        labels = y if isinstance(y, list) else [y]
        if not first_pass and self.dropout.share > 0:
            x = self.dropout(x, self.n_learned)
        self.n_learned += 1
        scored = self.scores(x, n_classes, labels, 0.0 if first_pass else weight)
        of_marginals = None
        if first_pass:
            right = n_classes > 0 and self.best(scored) in labels
            self.progressive.add(right, weight if labels else 0.0)
            if labels is y and n_classes > 0:
                is_label = np.isin(scored.candidates, y)
                of_marginals = self.marginals.gradient(scored.scores(), is_label)
        others = [label for label in labels if label not in scored.candidates]
        scored.candidates = [*scored.candidates, *others]

        gradients, of_votes = self.gradients(scored, labels)
        lessons = {z: g for z, g in gradients.items() if self.is_worth_it(z, g)}
        votes = self.vote_gradients(scored, of_votes, lessons) if of_votes.any() else None
        met = {z: self.classes[z].met.copy() for z in lessons if z not in labels}
        routers = []
        if first_pass:
            routers = self.forest.router_lessons(scored.routes, scored.read.z, labels, weight)
        rate = self.learning_rate * (1.0 if first_pass else LATER_PASS)
        rate *= self.share_of_step(len(labels), first_pass)
        return Studied(
            x, labels, weight, scored, of_marginals, gradients, votes, lessons, met, routers, rate
        )

    def share_of_step(self, n, is_new):
        """Return how long the steps of a row with n labels are, by how many rows have on average.

        It is 1 while every row has one label.
        """
        mean = (self.n_labels + n * is_new) / (self.n_counted + is_new)
        return np.sqrt(max(1, n)) / max(1.0, mean)

    def apply(self, studied, first_pass):
        """Learn what an example has taught.

        Return the classes that cells have to draw again, and those that may be in another cell.
        """
        x, labels, weight, scored = studied[:4]
        rate = studied.rate
        if studied.of_marginals is not None:
            self.marginals.learn(studied.of_marginals, weight)
        if studied.votes is not None:
            of_scales, of_keys = studied.votes
            self.vote_weights.learn(of_scales, of_keys, weight, rate)
        for label in labels if first_pass else []:
            self.classes[label].met |= scored.read.shares > 0
        for label, gradient in studied.lessons.items():
            kept, met = self.memory(gradient), studied.met.get(label)
            z = scored.read.z[:-1]
            self.classes[label].learn(z, gradient, weight, rate, self.l2, kept, met)
        changed: tuple[list[int], list[int]] = [], []
        if self.cells is not None:
            # Class vectors decide by themselves which gradients are large enough.
            counted = weight if first_pass else 0.0
            lesson = Lesson(labels, weight, rate, counted, self.fading < 1.0, self.l2)
            dense = x[-self.cells.n_features :]
            changed = self.cells.change(dense, scored.whitened, studied.gradients, lesson)
        if first_pass:
            self.forest.teach(studied.routers)
            self.forest.count(scored.routes, labels, weight)
            self.centring.observe(x[: self.n_features], scored.read.z, weight)
            self.count(scored.read.shares, labels, weight)
        return changed

    def gradients(self, scored, labels):
        """Return the gradients of candidates by which they learn, and those by which votes do.

        Without labels there is nothing to pick: every candidate is wrong by its probability.
        """
        if not labels:
            wrong = dict(zip(scored.candidates, self.marginals(scored.scores()), strict=True))
            return wrong, np.zeros(len(wrong))
        is_label = np.isin(scored.candidates, labels)
        missed = is_label & (np.arange(len(is_label)) >= scored.n_voted)
        scores = scored.scores() - MARGIN * self.has_dense_predictors * is_label
        found = gradients(scores, is_label, self.probabilities)
        of_votes = gradients_without(missed, scores, is_label, self.probabilities)
        return dict(zip(scored.candidates, found, strict=True)), of_votes

    def probabilities(self, scores):
        """Return how probable each candidate is by its score."""
        return softmax(scores)

    @property
    def small_gradient(self):
        """Return how wrong a score has to be for its class to learn."""
        return SMALL_GRADIENT_OF_ROWS if self.has_dense_predictors else SMALL_GRADIENT_OF_PAIRS

    def is_worth_it(self, label, gradient):
        """Tell whether a class learns from a gradient."""
        return abs(gradient) >= self.small_gradient

    def vote_gradients(self, *studied):
        """Return the gradients of A, S and B, and of u."""
        return self.vote_weights.gradients(*studied)

    def memory(self, gradient):
        """Return what a class keeps of what it has learned, by how wrong it is."""
        wrong = gradient**2 if self.fading < 1.0 else 0.0
        return Memory(1.0 - FORGOTTEN_WEIGHTS * wrong, 1.0 - FORGOTTEN_STEPS * wrong)

    def count(self, shares, labels, weight):
        """Add an example to the histograms of its keys."""
        for y in labels:
            self.classes[y].add(shares, weight)
            for k in np.flatnonzero(shares * self.features_vote):
                self.histograms[k].add(y, weight * shares[k])
            self.everywhere.add(y, weight)
        self.n_counted += 1
        self.n_labels += len(labels)
        self.examples += weight
        self.examples_with_key += np.where(shares > 0, weight, 0.0)
        if self.fading < 1.0:
            self.fade()

    def fade(self):
        """Let all counts lose what they lose per example."""
        parts: list[Any] = [*self.classes.values(), *self.histograms, self.everywhere, self.forest]
        for part in parts if self.cells is None else [*parts, self.cells]:
            part.fade(self.fading)
        self.examples *= self.fading
        self.examples_with_key *= self.fading
