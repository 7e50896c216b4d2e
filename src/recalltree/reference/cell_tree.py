"""A tree with many children per node over class vectors: the paper's multiway splits.

A cell holds the sketches of at most CELL_SIZE classes, a node above it those of the centres of its
children: a B-tree of directions. A row is compared with everything in the cells nearest to it, the
nearest first, until cells bring nothing any more.
"""

from __future__ import annotations

import numpy as np

from .whitening import unit

CELL_SIZE = 128
# Directions that a sketch has, at most, and its largest numbers: of vectors in the tree, of rows.
SKETCH_WIDTH = 128
VECTOR, ROW = 63, 127
# Nodes that are followed down to the nearest cell when a class is placed.
PLACE_BEAM = 4
# A centre is drawn again when its node has changed by one in this many.
CHANGES_PER_DRAW = 8
ROUNDS_OF_MEANS = 4
# Nodes that are followed above the cells, as a share of the cells that are read, and at least.
BEAM, NARROWEST_BEAM = 4, 4
# Each half of a node that is split has at least one in this many of its entries.
SMALLEST_HALF = 4


def sketch(vector, most):
    """Return the leading numbers of a vector, rounded to whole multiples of a step.

    Examples
    --------
    >>> sketch(np.array([2.0, -1.0, 0.1]), most=2).tolist()
    [2.0, -1.0, 0.0]
    """
    leading = vector[:SKETCH_WIDTH].astype(np.float32)
    largest = np.abs(leading).max(initial=np.float32(0.0))
    if largest == 0.0:
        return leading
    return np.rint(leading * (np.float32(most) / largest)) * (largest / np.float32(most))


def best(scores, n):
    """Return the places of the n largest scores, of equal ones the first, in order of place.

    Examples
    --------
    >>> best([1.0, 3.0, 3.0, 2.0, 3.0], 2)
    [1, 2]
    """
    return sorted(sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:n])


class Node:
    """Entries side by side: (sketch, bias, class) in a cell, (centre, 0, node) above."""

    def __init__(self, level, entries=()):
        self.level = level
        self.entries = list(entries)
        self.parent = None
        self.changes = 0

    def centre(self):
        """Return a sketch of the direction of the sum of all entries."""
        return sketch(unit(np.sum([vector for vector, _, _ in self.entries], axis=0)), VECTOR)


class CellTree:
    """The classes whose vectors are nearest to a row, found by a beam search.

    Parameters
    ----------
    cells_read : int
        Cells that are read for a row, at most.
    idle_cells : int or None
        Cells in a row after which reading ends if they bring nothing; None: half of `cells_read`,
        and at least so many as nodes are followed above them.

    Examples
    --------
    >>> tree = CellTree(cells_read=2)
    >>> for y, vector in enumerate(np.eye(3)):
    ...     tree.place(y, vector, bias=0.0)
    >>> tree.find(np.array([0.6, 0.8, 0.0]), 2)
    [0, 1]
    """

    def __init__(self, cells_read, idle_cells=None):
        self.cells_read = cells_read
        self.idle_cells = idle_cells or max(NARROWEST_BEAM, cells_read // 2)
        self.root = Node(level=0)
        self.cell_of = {}

    def find(self, x, n):
        """Return the n classes with the largest scores by their sketches."""
        row = sketch(x, ROW)
        cells = self.descend(row, max(NARROWEST_BEAM, self.cells_read // BEAM), self.cells_read)
        return [held for _, held in self.read(row, cells, n, self.idle_cells)]

    def descend(self, row, beam, cells):
        """Return the nearest cells, the nearest first; above them a beam of nodes is followed."""
        nodes = [self.root]
        for level in range(self.root.level, 0, -1):
            found = self.read(row, nodes, beam if level > 1 else cells, patience=len(nodes))
            nodes = [node for _, node in sorted(found, key=lambda one: -one[0])]
        return nodes

    def read(self, row, nodes, n, patience):
        """Return the n best of what stands in the nodes, as (score, held), in order of place.

        After `patience` nodes in a row with nothing that is better, the rest is not read.
        """
        found: list[tuple] = []
        idle = 0
        for node in nodes:
            scored = [(vector @ row + bias, held) for vector, bias, held in node.entries]
            bound = min(score for score, _ in found) if len(found) == n else -np.inf
            idle = 0 if any(score > bound for score, _ in scored) else idle + 1
            together = found + scored
            found = [together[i] for i in best([score for score, _ in together], n)]
            if idle == patience:
                break
        return found

    # --- where classes stand ------------------------------------------------------------------

    def place(self, label, vector, bias):
        """Put a class into the cell nearest to its vector, out of the one where it was."""
        cell = self.descend(sketch(vector, ROW), PLACE_BEAM, 1)[0]
        if self.cell_of.get(label) is cell:
            self.redraw(label, vector, bias)
            self.note_change(cell)
            return
        if label in self.cell_of:
            self.erase(label)
        self.insert(cell, (sketch(vector, VECTOR), bias, label))

    def redraw(self, label, vector, bias):
        """Show a class where it stands as it is now."""
        entries = self.cell_of[label].entries
        at = next(i for i, entry in enumerate(entries) if entry[2] == label)
        entries[at] = (sketch(vector, VECTOR), bias, label)

    def erase(self, label):
        """Take a class out of its cell; the last entry takes its place."""
        cell = self.cell_of.pop(label)
        at = next(i for i, entry in enumerate(cell.entries) if entry[2] == label)
        last = cell.entries.pop()
        if at < len(cell.entries):
            cell.entries[at] = last
        self.note_change(cell)

    # --- growth -------------------------------------------------------------------------------

    def insert(self, cell, entry):
        """Add a class to a cell, or to the nearer half of it if it is full."""
        if len(cell.entries) == CELL_SIZE:
            other = self.split(cell)
            if entry[0] @ self.centre_of(other) > entry[0] @ self.centre_of(cell):
                cell = other
        cell.entries.append(entry)
        self.cell_of[entry[2]] = cell
        self.note_change(cell)

    def split(self, node):
        """Split a node by 2-means, into halves that are not too unequal; return the new one."""
        if node.parent is None:
            self.root = Node(node.level + 1, [(node.centre(), 0.0, node)])
            node.parent = self.root
        elif len(node.parent.entries) == CELL_SIZE:
            self.split(node.parent)
        vectors = np.array([unit(vector) for vector, _, _ in node.entries])
        # It begins with the entry that is farthest from the first, and the one farthest from that.
        a = int(np.argmin(vectors @ vectors[0]))
        b = int(np.argmin(vectors @ vectors[a]))
        sides = vectors @ (vectors[a] - vectors[b])
        for _ in range(ROUNDS_OF_MEANS):
            means = [unit(vectors[there].sum(axis=0)) for there in (sides >= 0, sides < 0)]
            sides = vectors @ (means[0] - means[1])
        n = len(vectors)
        kept = int(np.clip((sides >= 0).sum(), n // SMALLEST_HALF, n - n // SMALLEST_HALF))
        order = np.argsort(-sides, kind="stable")
        other = Node(node.level, [node.entries[i] for i in sorted(order[kept:])])
        node.entries = [node.entries[i] for i in sorted(order[:kept])]
        other.parent = node.parent
        for _, _, held in other.entries:
            if node.level > 0:
                held.parent = other
            else:
                self.cell_of[held] = other
        node.parent.entries.append((other.centre(), 0.0, other))
        self.refresh(node)
        return other

    def centre_of(self, node):
        """Return the centre of a node as its parent shows it."""
        return next(vector for vector, _, child in node.parent.entries if child is node)

    def note_change(self, node):
        """Draw the centre of a node again, if enough has changed."""
        node.changes += 1
        if node.changes * CHANGES_PER_DRAW >= len(node.entries):
            self.refresh(node)

    def refresh(self, node):
        """Draw the centre of a node again."""
        node.changes = 0
        if node.parent is None:
            return
        entries = node.parent.entries
        at = next(i for i, entry in enumerate(entries) if entry[2] is node)
        entries[at] = (node.centre() if node.entries else 0.0 * entries[at][0], 0.0, node)
        self.note_change(node.parent)
