"""The loss of one-against-some, for rows with one label or several.

    loss = -2 log sum over the labels y of a row of  sqrt(p_y)

p is the softmax of the candidates' scores. With one label this is the softmax's own loss, -log p_y.
With several it is the power mean between two that are known: the mean of -log p_y over the labels
(every label has to have the same share of 1, the exponent tends to 0), and -log of the sum of p_y
(one of them has to have it all, the exponent is 1). The gradient is p - t, where the labels share 1
in proportion to the roots of their probabilities: what is found easily counts more, and what the
features say nothing of does not spoil what they say.
"""

from __future__ import annotations

import numpy as np

from .adaptive import softmax

SHARED_BY_POWER = 0.5


def targets(scores, is_label):
    """Return the probability that every candidate should have, p staying as it is.

    Examples
    --------
    >>> scores = np.array([0.0, 2 * np.log(3.0), 5.0])
    >>> targets(scores, np.array([True, True, False])).round(2)
    array([0.25, 0.75, 0.  ])
    """
    found = np.zeros(len(scores))
    if is_label.any():
        found[is_label] = softmax(SHARED_BY_POWER * scores[is_label])
    return found


def gradients(scores, is_label, probabilities=softmax):
    """Return the gradients of the loss: p - t; zeros where no candidate is a label.

    Examples
    --------
    >>> gradients(np.zeros(4), np.array([True, True, False, False]))
    array([-0.25, -0.25,  0.25,  0.25])
    """
    if not is_label.any():
        return np.zeros(len(scores))
    return probabilities(scores) - targets(scores, is_label)


def gradients_without(left_out, scores, is_label, probabilities=softmax):
    """Return the gradients when some candidates do not take part; theirs are 0.

    Examples
    --------
    >>> left_out = np.array([True, False, False])
    >>> gradients_without(left_out, np.zeros(3), np.array([True, True, False]))
    array([ 0. , -0.5,  0.5])
    """
    found = np.zeros(len(scores))
    found[~left_out] = gradients(scores[~left_out], is_label[~left_out], probabilities)
    return found
