"""Dense rows with many classes: whitened rows, class vectors, and cells that find the candidates.

    score(y | x) = A cos(x', c_y) + w_y · x' + b_y
    candidates   = the F classes with the largest scores by their sketches, in the nearest cells

A softmax over the candidates gives the gradients by which w and b learn. The class of a row joins
the candidates if it is missing.

* The whitening is learned from the first rows, again whenever their number has doubled, and then
  stays. Class vectors are sums of rows, so they are added up again from newly whitened rows:
  nothing that was learned is lost.
* A class is placed again when it has 1, 2, 3, 4, 6, 8, 12, ... rows. In between its sketch follows
  its vector where it stands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .adaptive import Memory, softmax
from .cell_tree import CellTree
from .class_vectors import ClassVector
from .whitening import Whitening

# A candidate that is wrong by less does not learn.
SMALL_GRADIENT = 0.003
# Where counts fade, a class forgets these parts of its weights, and of the squared gradients that
# shorten its steps, times the square of how wrong it is.
FORGOTTEN_WEIGHTS, FORGOTTEN_SQUARES = 0.03, 0.3
# Rows from which the whitening is learned: the fewest, and the most.
FEWEST_ROWS, MOST_ROWS, MOST_FLOATS = 8, 2048, 2**24
LARGEST_UNIT = 1e100


class Lesson(NamedTuple):
    """A row that is learned."""

    labels: list[int]
    weight: float
    rate: float
    counted: float  # what the means of the labels gain: 0 in passes after the first
    forgets: bool = False  # whether classes that are wrong forget
    l2: float = 0.0


class Step(NamedTuple):
    """Update of a class by one of the first rows."""

    row: int
    label: int
    is_count: bool
    size: float
    kept: float


def is_time_to_place(rows):
    """Tell whether the mean of a class may have moved to another cell.

    Examples
    --------
    >>> [rows for rows in range(1, 30) if is_time_to_place(rows)]
    [1, 2, 3, 4, 6, 8, 12, 16, 24]
    """
    odd = rows // 3 if rows % 3 == 0 else rows
    return odd & (odd - 1) == 0


class Cells:
    """The dense part of one-against-some.

    Parameters
    ----------
    n_features : int
        Number of features.
    cells_read : int
        Cells that are read for a row.
    idle_cells : int or None
        Parameter of `CellTree`.
    max_candidates : int
        F.

    Examples
    --------
    >>> cells = Cells(n_features=3)
    >>> for _ in range(4):
    ...     for y, x in enumerate(np.eye(3)):
    ...         cells.learn(x, y)
    >>> [cells.predict(x) for x in np.eye(3)]
    [0, 1, 2]
    """

    def __init__(self, n_features, *, cells_read=64, idle_cells=16, max_candidates=32):
        self.n_features = n_features
        self.cells_read = cells_read
        self.idle_cells = idle_cells
        self.max_candidates = max_candidates
        self.whitening = Whitening(n_features)
        self.classes: dict[int, ClassVector] = {}
        self.tree = CellTree(cells_read, idle_cells)
        width = (n_features + 15) // 16 * 16  # rows are padded to whole registers
        self.most_rows = MOST_ROWS // 2 if width * MOST_ROWS > MOST_FLOATS else MOST_ROWS
        self.unit = 1.0  # of counts: what a row of weight 1 adds
        self.first_rows: list[np.ndarray] = []
        self.first_steps: list[Step] = []

    def predict(self, x):
        """Return the class with the largest score; None before anything is learned."""
        whitened = self.whitening(x)
        candidates = self.find(whitened, self.max_candidates)
        return max(candidates, key=lambda y: self.classes[y].score(whitened), default=None)

    def learn(self, x, y, weight=1.0, rate=1.0, first_pass=True, forgets=False):
        """Learn one row: whiten, find, score, then teach with the gradients of a softmax."""
        whitened = self.whitening(x)
        candidates = self.find(whitened, self.max_candidates)
        self.see(y)
        if y not in candidates:
            candidates.append(y)
        own = 0.0 if first_pass else weight
        scores = [
            self.match(z, whitened, own * (z == y)) + self.classes[z].bias for z in candidates
        ]
        gradients = softmax(np.array(scores)) - (np.array(candidates) == y)
        lesson = Lesson([y], weight, rate, counted=weight if first_pass else 0.0, forgets=forgets)
        self.teach(x, whitened, dict(zip(candidates, gradients, strict=True)), lesson)

    def see(self, y):
        """Make room for a class."""
        self.classes.setdefault(y, ClassVector(self.n_features))

    def find(self, whitened, n):
        """Return the n classes with the largest scores by their sketches."""
        return self.tree.find(whitened, n)

    def match(self, label, whitened, own=0.0):
        """Return the score of a class without its bias.

        It counted the row with weight `own`.
        """
        return self.classes[label].match(whitened, own * self.unit)

    def teach(self, x, whitened, gradients, lesson):
        """Step against the gradients of classes, then count the row, and show what has changed."""
        changed, due = self.change(x, whitened, gradients, lesson)
        self.show(changed, due)

    def rows_until_renewal(self):
        """Return how many rows can be learned until the whitening changes; None is any number."""
        if self.most_rows == 0:
            return None
        n, following = len(self.first_rows), FEWEST_ROWS
        while following <= n:
            following *= 2
        return following - n

    def change(self, x, whitened, gradients, lesson):
        """Step against the gradients of classes, then count the row.

        Return the classes that have changed, and the labels that may be in another cell now.
        """
        if self.most_rows > 0:
            self.first_rows.append(x)
        for label, gradient in gradients.items():
            if self.is_worth_it(label, gradient):
                wrong = gradient**2 if lesson.forgets else 0.0
                memory = Memory(1.0 - FORGOTTEN_WEIGHTS * wrong, 1.0 - FORGOTTEN_SQUARES * wrong)
                step, kept = self.classes[label].learn(
                    whitened, gradient, lesson.weight, lesson.rate, lesson.l2, memory
                )
                self.note(label, False, step, kept)
        due = [y for y in lesson.labels if self.count(whitened, y, lesson.counted * self.unit)]
        return [*gradients, *lesson.labels], due

    def show(self, changed, due):
        """Draw classes again in their places, place those that are due, renew the whitening."""
        for label in dict.fromkeys(changed):
            self.redraw(label)
        for label in due:
            self.place(label)
        n = len(self.first_rows)
        if n >= FEWEST_ROWS and n & (n - 1) == 0:
            self.renew()

    def is_worth_it(self, label, gradient):
        """Tell whether a class learns from a gradient."""
        return abs(gradient) >= SMALL_GRADIENT

    def fade(self, factor):
        """Let all rows counted so far be worth `factor` of what they were.

        Scores depend on the directions of means alone, so later rows are worth more instead.
        """
        self.unit /= factor
        if self.unit < LARGEST_UNIT:
            return
        for known in self.classes.values():
            known.sum = known.sum / self.unit
        self.first_steps = [
            step._replace(size=step.size / self.unit) if step.is_count else step
            for step in self.first_steps
        ]
        self.unit = 1.0

    def count(self, whitened, y, weight):
        """Add a row to the mean of its class, and tell whether it may be in another cell now."""
        if weight <= 0:
            return False
        self.classes[y].count(whitened, weight)
        self.note(y, True, weight, 1.0)
        return is_time_to_place(self.classes[y].rows)

    def place(self, label):
        """Put a class into the nearest cell."""
        self.tree.place(label, self.classes[label].combined, self.classes[label].bias)

    def redraw(self, label):
        """Show a class where it stands as it is now."""
        if label in self.tree.cell_of:
            self.tree.redraw(label, self.classes[label].combined, self.classes[label].bias)

    # --- the first rows -----------------------------------------------------------------------

    def note(self, label, is_count, size, kept):
        """Remember a step that was learned from the latest of the first rows."""
        if self.most_rows > 0:
            self.first_steps.append(Step(len(self.first_rows) - 1, label, is_count, size, kept))

    def renew(self):
        """Learn the whitening from all first rows, and add up class vectors again."""
        self.whitening.learn(np.array(self.first_rows))
        whitened = [self.whitening(x) for x in self.first_rows]
        for known in self.classes.values():
            known.sum = np.zeros(self.n_features)
            known.weights = np.zeros(self.n_features)
        for step in self.first_steps:
            known = self.classes[step.label]
            if step.is_count:
                known.sum = known.sum + step.size * whitened[step.row]
            else:
                known.weights = step.kept * known.weights + step.size * whitened[step.row]
        self.tree = CellTree(self.cells_read, self.idle_cells)
        for label in sorted(self.classes):
            if self.classes[label].rows > 0:
                self.place(label)
        if len(self.first_rows) >= self.most_rows:
            self.most_rows = 0
            self.first_rows, self.first_steps = [], []
