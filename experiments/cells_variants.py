"""Cells otherwise: choices that no parameter offers, made in the plain reference."""

from __future__ import annotations

import numpy as np

from recalltree.reference.cell_tree import CellTree
from recalltree.reference.class_vectors import OFFSET, WEIGHT_RATE, ClassVector


class SquaresOfWeights(ClassVector):
    """AdaGrad keeps a sum of squares for each weight, not one for the class.

    Rows have length 1, so a sum is about one ``n_features``-th of the class's: times that number,
    steps are as long as with one sum.
    """

    pace = 1.0

    def __init__(self, n_features):
        super().__init__(n_features)
        self.sums = np.zeros(n_features)

    def learn(self, x, gradient, weight, rate, *others):
        before = self.weights
        _, kept = super().learn(x, gradient, weight, rate, *others)
        self.sums = self.sums + weight * (gradient * x) ** 2
        lengths = self.pace * WEIGHT_RATE * rate * weight / np.sqrt(len(x) * self.sums + OFFSET)
        steps = -lengths * gradient
        self.weights = kept * before + steps * x
        return steps, kept


class SlowSquaresOfWeights(SquaresOfWeights):
    """The same with steps half as long."""

    pace = 0.5


class FastSquaresOfWeights(SquaresOfWeights):
    """The same with steps twice as long."""

    pace = 2.0


class TwoCopies(CellTree):
    """A class stands in the two cells nearest to it, in the second as ``~label``.

    Examples
    --------
    >>> tree = TwoCopies(cells_read=2)
    >>> for y, vector in enumerate(np.eye(200)):
    ...     tree.place(y, vector, bias=0.0)
    >>> len(tree.cell_of) > 200, tree.find(np.eye(200)[7], 1)
    (True, [7])
    """

    skipped = 0  # cells that are nearer than those looked for

    def place(self, label, vector, bias):
        super().place(label, vector, bias)
        if self.root.level > 0:
            self.skipped = 1
            super().place(~label, vector, bias)
            self.skipped = 0

    def descend(self, row, beam, cells):
        return super().descend(row, beam, cells + self.skipped)[self.skipped :]

    def redraw(self, label, vector, bias):
        super().redraw(label, vector, bias)
        if label >= 0 and ~label in self.cell_of:
            super().redraw(~label, vector, bias)

    def read(self, row, nodes, n, patience):
        if nodes[0].level > 0:
            return super().read(row, nodes, n, patience)
        found = super().read(row, nodes, 2 * n, patience)
        scores = {max(held, ~held): score for score, held in found}
        ranking = sorted(scores.items(), key=lambda item: -item[1])
        return [(score, label) for label, score in ranking[:n]]
