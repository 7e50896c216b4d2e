"""The Recall Tree in mini-batches, as several threads learn it.

Rows of a mini-batch are *studied* first, against a tree that nothing changes: its counts, bounds,
candidates, F, depth and weights are those from before the mini-batch. Each row sees the feature
scales and the mean norm as if it were the next to be learned. Then the rows are *applied* one after
the other:

* The way down, the candidates and the candidates that learn (those whose gradient is not too small)
  are what was studied, so that nothing below a node changes where a row goes. `routing_order` makes
  no difference.
* A row is counted at the nodes on its way, and one below if its side was asked there. A child that
  is not there yet is made, in the order of the rows, before anything is applied; a row ends above a
  child that was not there when it was studied.
* A label is a candidate if it would be one after it is counted.
* Routers learn what the counts of their children say when the row is applied, and steps start from
  the scores that models have by then.
* Classes are seen, and feature scales take note of the rows, at the end.

So the rows of a class, or of a node, can be applied by one thread without looking at the others.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from .linear_learner import GRADIENT_FLOOR, FeatureScale, Term, score
from .recall_tree import ClassPredictor, Node, RecallTreeReference


@dataclass
class Studied:
    """Notes on a row: what it teaches."""

    labels: list[Any]
    weight: float
    scale: FeatureScale  # with the row in it
    z: Any
    path: list[Node]
    passed: list[tuple[Node, bool]]  # nodes asked for their side, and the side
    learning: list[Any]  # candidates that learn


class RecallTreeInMiniBatches(RecallTreeReference):
    """The Recall Tree that learns several rows at a time.

    Examples
    --------
    >>> import numpy as np
    >>> tree = RecallTreeInMiniBatches(n_features=3)
    >>> X = np.eye(3)
    >>> for _ in range(10):
    ...     tree.learn_mini_batch(X, [0, 1, 2], [1.0, 1.0, 1.0])
    >>> [tree.predict(x) for x in X]
    [0, 1, 2]
    """

    def learn_mini_batch(self, X, y, weights, first_pass=True):
        """Learn rows together: a label each, or a list of labels."""
        if not self.nodes:
            self.new_node(depth=0)
        arriving = self.predictors.copy()
        studied = []
        for place, (x, of_row, weight) in enumerate(zip(X, y, weights, strict=True)):
            labels = of_row if isinstance(of_row, list) else [of_row]
            row = self.study(x, labels, weight, place, first_pass)
            for label in labels:
                arriving.setdefault(label, ClassPredictor(self.n_features, self.path_interactions))
            studied.append(row)
        for row in studied:
            if row.labels and row.passed:
                self.child_to_fill(*row.passed[-1])
        self.predictors = arriving
        for row in studied:
            self.apply(row)
        self.learner.scale.join(row.scale for row in studied)

    # Phase one.

    def study(self, x, labels, weight, place, first_pass):
        """Find out where a row goes, which candidates it has, and which of them learn."""
        scale = self.learner.scale.with_example(x, weight)
        z = scale.normalize(x)
        path, passed = [self.nodes[0]], []
        while path[-1].depth < self.max_depth:
            node = path[-1]
            right = self.goes_right(node, score([Term(node.router, z)]))
            passed.append((node, right))
            child = node.child(right)
            if child is None or self.stops(node, child):
                break
            path.append(child)
        nodes = self.path_features.active(path)
        candidates = self.candidates(path[-1])
        share = weight / len(labels) if labels else 0.0
        new = [
            label
            for label in labels
            if label not in candidates and self.enters(label, share, place, path[-1])
        ]
        scores = {}
        for label in candidates + new:
            predictor = self.predictors.get(label)
            scores[label] = score(predictor.terms(z, nodes)) if predictor else 0.0
        if first_pass and labels:
            answer = self.best(candidates, [scores[c] for c in candidates]) if candidates else None
            self.progressive.add(answer in labels, weight)
        learning = []
        if not labels or any(label in labels for label in scores):
            learning = [label for label in scores if self.learns(label, labels, scores[label])]
        return Studied(labels, weight, scale, z, path, passed, learning)

    def enters(self, label, share, place, node):
        """Tell whether a label would be a candidate of a node if it were counted there."""
        counted = copy.deepcopy(node.histogram)
        counted.add(label, share / self.fading ** (place + 1))  # the others will have faded
        return label in counted.candidates(self.max_candidates)

    def learns(self, label, labels, p):
        """Tell whether the gradient of a candidate is large enough."""
        target = +1 if label in labels else -1
        floor = GRADIENT_FLOOR if target > 0 else max(self.min_gradient, GRADIENT_FLOOR)
        return abs(self.learner.loss.gradient(p, target)) >= floor

    # Phase two.

    def apply(self, row):
        """Count a row and learn from it."""
        self.fade_counts()
        scale, self.learner.scale = self.learner.scale, row.scale
        if row.labels:
            self.update_candidates(row.labels, row.weight, self.nodes[0])
            for node, right in row.passed:
                self.update_router(row.z, row.labels, row.weight, node)
                self.update_candidates(row.labels, row.weight, node.child(right))
        nodes = self.path_features.active(row.path)
        for label in row.learning:
            predictor = self.predictors[label]
            predictor.prepare(nodes)
            terms = predictor.terms(row.z, nodes)
            if label in row.labels:
                self.learner.learn(terms, +1, row.weight)
            else:
                self.learner.learn(terms, -1, row.weight, self.min_gradient)
        self.learner.scale = scale
