"""One-against-all: a linear predictor for every class, all of them asked and taught every time."""

from __future__ import annotations

import math

from recalltree.parameters import ONE_AGAINST_ALL, defaults_of

from .linear_learner import LinearLearner, LinearModel, Term, score
from .progressive import ProgressiveError

_DEFAULT = defaults_of(ONE_AGAINST_ALL)


class OneAgainstAllReference:
    """One-against-all in plain NumPy.

    Parameters
    ----------
    n_features : int
        Number of features.
    negative_samples : int or None
        How many other classes an example is a negative of; None: all of them.
    sample : callable
        ``sample(others, m)`` draws `m` of the other classes without replacement. Needed only with
        `negative_samples`.
    loss, learning_rate, l2
        Parameters of the base learner.

    Examples
    --------
    >>> import numpy as np
    >>> model = OneAgainstAllReference(n_features=3)
    >>> X = np.eye(3)
    >>> for _ in range(5):
    ...     for y, x in enumerate(X):
    ...         model.learn(x, y)
    >>> [model.predict(x) for x in X]
    [0, 1, 2]
    """

    def __init__(
        self,
        n_features,
        *,
        negative_samples=_DEFAULT["negative_samples"],
        sample=None,
        loss=_DEFAULT["loss"],
        learning_rate=_DEFAULT["learning_rate"],
        l2=_DEFAULT["l2"],
    ):
        self.n_features = n_features
        self.negative_samples = negative_samples
        self.sample = sample
        self.learner = LinearLearner(n_features, loss, learning_rate, l2)
        self.predictors = {}  # class -> LinearModel, in order of appearance
        self.progressive = ProgressiveError()
        self.n_examples = 0

    def best(self, candidates, scores):
        """Return the class with the largest score; of equal ones the one seen first."""
        return candidates[scores.index(max(scores))]

    def scores(self, x):
        """Return all classes seen, in order of appearance, and their scores."""
        z = self.learner.scale.normalize(x)
        return list(self.predictors), [
            score([Term(model, z)]) for model in self.predictors.values()
        ]

    def predict(self, x):
        """Return the class with the largest score; None before anything is learned."""
        return self.best(*self.scores(x)) if self.predictors else None

    def learn(self, x, y, weight=1.0, first_pass=True):
        """Learn one example: its label, or each of a list, against all or some other classes."""
        labels = y if isinstance(y, list) else [y]
        if first_pass and labels and self.predicts_progressively():
            self.progressive.add(self.predict(x) in labels, weight)
        self.n_examples += 1
        self.learner.scale.observe(x, weight)
        z = self.learner.scale.normalize(x)

        for label in labels:
            model = self.predictors.setdefault(label, LinearModel(self.n_features))
            self.learner.learn([Term(model, z)], +1, weight)
        negatives, importance = self.negatives(labels, weight)
        for label in negatives:
            self.learner.learn([Term(self.predictors[label], z)], -1, importance)

    def learn_mini_batch(self, X, y, weights, first_pass=True):
        """Learn rows together, as several threads do.

        Each class learns from the rows in their order, as if they were learned one by one. But a
        row sees the feature scales and the mean norm as if it were the next to be learned, its
        negatives are drawn from the classes seen before, and so is its prediction. Without
        negative samples threads share the classes, not the rows, and nothing differs from `learn`.
        """
        if self.negative_samples is None:
            for x, of_row, weight in zip(X, y, weights, strict=True):
                self.learn(x, of_row, weight, first_pass)
            return
        studied = []
        for x, of_row, weight in zip(X, y, weights, strict=True):
            labels = of_row if isinstance(of_row, list) else [of_row]
            if first_pass and labels and self.predicts_progressively():
                self.progressive.add(self.predict(x) in labels, weight)
            scale = self.learner.scale.with_example(x, weight)
            studied.append((labels, weight, scale, *self.negatives(labels, weight)))
            self.n_examples += 1
        before = self.learner.scale
        for x, (labels, weight, scale, negatives, importance) in zip(X, studied, strict=True):
            self.learner.scale = scale
            z = scale.normalize(x)
            for label in labels:
                model = self.predictors.setdefault(label, LinearModel(self.n_features))
                self.learner.learn([Term(model, z)], +1, weight)
            for label in negatives:
                self.learner.learn([Term(self.predictors[label], z)], -1, importance)
        self.learner.scale = before
        before.join(scale for _, _, scale, _, _ in studied)

    def negatives(self, labels, weight):
        """Return the classes the example is a negative of, and the importance of each.

        A sample stands for all the other classes, so that its importance is larger.
        """
        others = [label for label in self.predictors if label not in labels]
        if self.negative_samples is None or len(others) <= self.negative_samples:
            return others, weight
        importance = weight * len(others) / self.negative_samples
        return self.sample(others, self.negative_samples), importance

    def predicts_progressively(self):
        """Tell whether this example is predicted before it is learned.

        A prediction scores all classes seen. With negative samples only one example in this many is
        predicted, so that on average it costs no more than learning does.
        """
        if self.negative_samples is None:
            return True
        period = math.ceil(len(self.predictors) / (self.negative_samples + 1))
        return self.n_examples % max(1, period) == 0
