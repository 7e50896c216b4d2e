"""The online linear learner behind every router and every class predictor.

One learner serves the Recall Tree, one-against-all and LOMTree, so that differences between
them are differences of the reduction. It is

* scale-free: a feature is divided by the largest absolute value seen of it (`FeatureScale`);
* adaptive: every weight has its own AdaGrad rate (`LinearModel.accumulators`);
* importance-aware: a step of importance w is the limit of many small steps whose importances
  sum to w, so that it never overshoots the target (`Loss.step`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, wrightomega

# A smaller gradient changes nothing that matters: the weights are left alone.
GRADIENT_FLOOR = 1e-6
# Keeps the adaptive rate finite where nothing has been learned yet.
ACCUMULATOR_OFFSET = 1e-30


class FeatureScale:
    """The scale of every feature and the typical size of an example, shared by a whole model.

    A scaled example ends with a constant 1, the feature whose weight is the bias.

    Parameters
    ----------
    n_features : int
        Number of features.

    Examples
    --------
    >>> scale = FeatureScale(2)
    >>> scale.observe(np.array([400.0, 0.0]))
    >>> scale.normalize(np.array([100.0, 7.0]))
    array([0.25, 0.  , 1.  ])
    """

    def __init__(self, n_features):
        self.largest = np.zeros(n_features)
        self.norm_sum = 0.0
        self.weight_sum = 0.0

    def observe(self, x, weight=1.0):
        """Take note of an example that is about to be learned."""
        self.largest = np.maximum(self.largest, np.abs(x))
        z = self.normalize(x)
        self.norm_sum += weight * (z @ z)
        self.weight_sum += weight

    def with_example(self, x, weight=1.0):
        """Return the scale as it would be if an example were learned; this one stays."""
        scale = FeatureScale(0)
        scale.__dict__.update(self.__dict__)
        scale.observe(x, weight)
        return scale

    def join(self, scales):
        """Take note of examples that were studied: each of these scales has one more than this."""
        norm_sum, weight_sum = self.norm_sum, self.weight_sum
        for scale in scales:
            self.largest = np.maximum(self.largest, scale.largest)
            self.norm_sum += scale.norm_sum - norm_sum
            self.weight_sum += scale.weight_sum - weight_sum

    def normalize(self, x):
        """Scale `x`; a feature that was never learned from becomes 0."""
        z = np.zeros(len(self.largest) + 1)
        np.divide(x, self.largest, out=z[:-1], where=self.largest > 0)
        z[-1] = 1.0
        return z

    @property
    def typical_norm(self):
        """Root mean square norm of the scaled examples, the bias included."""
        return math.sqrt(self.norm_sum / self.weight_sum)


class LinearModel:
    """A row of weights, the last of them the bias, and their AdaGrad accumulators.

    It is a router, the predictor of a class, or a part of one.

    Parameters
    ----------
    n_features : int
        Number of features besides the constant.
    shares_rate : bool
        Whether all weights learn at the rate of the bias, which suits features of one spread.

    Examples
    --------
    >>> model = LinearModel(2)
    >>> model.weights, model.bias
    (array([0., 0.]), 0.0)
    >>> score([Term(model, np.array([1.0, 0.5, 1.0]))])
    0.0
    """

    def __init__(self, n_features, shares_rate=False):
        self.shares_rate = shares_rate
        self.values = np.zeros(n_features + 1)
        self.accumulators = np.zeros(n_features + 1)

    @property
    def weights(self):
        """Weights of the features."""
        return self.values[:-1]

    @property
    def bias(self):
        """Weight of the constant."""
        return float(self.values[-1])


class Term(NamedTuple):
    """A model and the example as it sees it: a score is a sum of terms."""

    model: LinearModel
    z: np.ndarray


def score(terms):
    """Sum the scores of the terms."""
    return float(sum(model.values @ z for model, z in terms))


class LogisticLoss:
    """log(1 + exp(-y p))."""

    @staticmethod
    def gradient(p, y):
        """Return the derivative of the loss with respect to p."""
        return -y * expit(-y * p)

    @staticmethod
    def step(p, y, size, reach):
        """Return the step h along the direction of the update; p moves by h times `reach`.

        With q = y p, following the gradient for a time `size` leads from q0 to the q that solves
        q + exp(q) = q0 + exp(q0) + size * reach, and exp(q) is Wright's omega of the right side.
        """
        q0 = y * p
        right_side = q0 + math.exp(q0) + size * reach
        omega = wrightomega(right_side)
        # The same number twice; each form is exact where the other one loses digits.
        q = math.log(omega) if right_side > 1.0 else right_side - omega
        return y * (q - q0) / reach


class HingeLoss:
    """max(0, 1 - y p)."""

    @staticmethod
    def gradient(p, y):
        """Return the derivative of the loss with respect to p."""
        return -y if y * p < 1.0 else 0.0

    @staticmethod
    def step(p, y, size, reach):
        """Return the step h; it ends at y p = 1 at the latest."""
        return y * min(size, (1.0 - y * p) / reach)


class SquaredLoss:
    """(p - y)²."""

    @staticmethod
    def gradient(p, y):
        """Return the derivative of the loss with respect to p."""
        return 2.0 * (p - y)

    @staticmethod
    def step(p, y, size, reach):
        """Return the step h; the distance to y decays exponentially."""
        return (y - p) * -math.expm1(-2.0 * size * reach) / reach


LOSSES: dict[str, Any] = {"logistic": LogisticLoss, "hinge": HingeLoss, "squared": SquaredLoss}


class LinearLearner:
    """Learn(x, importance, target) of the paper's figures, for all the models that share a scale.

    Parameters
    ----------
    n_features : int
        Number of features.
    loss : one of LOSSES
        Loss of the score p against the target y in {-1, +1}.
    learning_rate : float
        Scale of the steps.
    l2 : float
        Strength of the shrinkage of weights, biases excepted.

    Examples
    --------
    >>> learner = LinearLearner(1, loss="logistic", learning_rate=1.0)
    >>> model = LinearModel(1)
    >>> x = np.array([3.0])
    >>> learner.scale.observe(x)
    >>> z = learner.scale.normalize(x)
    >>> learner.learn([Term(model, z)], target=+1, importance=1.0)
    >>> score([Term(model, z)]) > 0
    True
    """

    def __init__(self, n_features, loss, learning_rate, l2=0.0):
        self.scale = FeatureScale(n_features)
        self.loss = LOSSES[loss]
        self.learning_rate = learning_rate
        self.l2 = l2

    @property
    def rate(self):
        """Learning rate over the typical norm of the examples."""
        return self.learning_rate / self.scale.typical_norm

    def gradient(self, terms, p, target):
        """Return the gradient of the loss; apart from the rest so that it can be overridden."""
        return self.loss.gradient(p, target)

    def learn(self, terms, target, importance, min_gradient=0.0, *, p=None, rate=None):
        """Move the score of `terms` towards `target` with an importance-aware AdaGrad step.

        Where an example was studied before others were learned, p is its score and `rate` the
        learning rate at that time.
        """
        p = score(terms) if p is None else p
        gradient = self.gradient(terms, p, target)
        if abs(gradient) < max(min_gradient, GRADIENT_FLOOR):
            return

        size = (self.rate if rate is None else rate) * importance
        rates = []
        reach = 0.0  # how far p moves per unit of step
        for model, z in terms:
            squares = z * z
            gathered = np.ones_like(z) if model.shares_rate else squares
            model.accumulators += importance * gradient**2 * gathered
            rate = 1.0 / np.sqrt(model.accumulators + ACCUMULATOR_OFFSET)
            reach += float(rate @ squares)
            rates.append(rate)
        step = self.loss.step(p, target, size, reach)

        for rate, (model, z) in zip(rates, terms, strict=True):
            if self.l2 > 0:
                shrinkage = np.maximum(0.0, 1.0 - size * self.l2 * rate[:-1])
                model.values[:-1] *= np.where(z[:-1] != 0, shrinkage, 1.0)
            model.values += step * rate * z
