"""Shallow recall trees side by side: the nodes where an example ends are keys.

Routers learn by the entropy rule of the Recall Tree's figure 2b. The trees differ because each
router begins at a random hyperplane of its own. A tree whose leaves vote has a second key for every
example: where it would have ended had the router that was least sure sent it the other way.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .key_histogram import KeyHistogram
from .label_histogram import LabelHistogram, recall_lower_bound
from .linear_learner import LinearModel, Term, score
from .random_bits import BITS_64, mix

# A smaller difference in total entropy, per unit of weight, is rounding: neither side is better.
ENTROPY_FLOOR = 1e-6
# The random hyperplane at which a router begins: its norm, and of dense examples the features.
RANDOM_NORM = 0.5
RANDOM_FEATURES = 16
# Depth of the trees where none is given, if there are enough classes.
MAX_DEPTH = 7


def random_hyperplane(seed, tree, place, n_features, sparse):
    """Return the weights, the bias included, at which a router begins.

    All features with random signs if they are sparse, some of them otherwise.

    Examples
    --------
    >>> np.abs(random_hyperplane(seed=0, tree=0, place=1, n_features=2, sparse=True))
    array([0.5, 0.5, 0. ])
    """
    weights = np.zeros(n_features + 1)
    seed = mix(seed ^ mix(place ^ (tree << 48)))
    if sparse:
        for j in range(n_features):
            weights[j] = RANDOM_NORM if mix(seed ^ j) & 1 else -RANDOM_NORM
    else:
        for i in range(RANDOM_FEATURES):
            bits = mix((seed + i) & BITS_64)
            sign = 1.0 if bits & 1 else -1.0
            weights[(bits >> 1) % n_features] += sign * RANDOM_NORM / RANDOM_FEATURES**0.5
    return weights


class RouterLesson(NamedTuple):
    """Lesson of an example for a router."""

    term: Term
    p: float  # its score
    target: int
    importance: float
    rate: float


class KeyNode:
    """A node: its router, its label histograms, its children."""

    def __init__(self, number, tree, place, router):
        self.number = number
        self.tree = tree
        self.place = place  # 1 at the root, 2 p and 2 p + 1 below p
        self.router = router
        self.passed = LabelHistogram()  # of the examples on their way
        self.histogram = KeyHistogram()  # of those it is a key for
        self.children = [None, None]


class KeyForest:
    """Recall trees of limited depth.

    Parameters
    ----------
    n_features : int
        Number of features.
    n_trees : int
        How many trees; one that stops early is the Recall Tree's path.
    max_depth : int or None
        Their depth. None follows the number of classes.
    max_labels : int
        How many labels the histogram of a node holds, those with the largest counts.
    stops_early : bool
        Whether an example stops where the bound of recall would get worse, as in the paper.
    bound_lambda : float
        λ of that bound.
    sparse : bool
        Whether examples are sparse.
    seed : int
        Seed of the routers' beginnings.
    learner : LinearLearner
        What teaches the routers.
    """

    def __init__(
        self,
        n_features,
        *,
        n_trees,
        max_depth,
        max_labels,
        stops_early,
        bound_lambda,
        sparse,
        seed,
        learner,
    ):
        self.n_features = n_features
        self.max_depth = max_depth
        self.max_labels = max_labels
        self.stops_early = stops_early
        self.bound_lambda = bound_lambda
        self.sparse = sparse
        self.seed = seed
        self.learner = learner
        self.nodes = []
        self.roots = [self.make_node(tree, 1) for tree in range(n_trees)]

    def make_node(self, tree, place):
        """Return a new node."""
        router = LinearModel(self.n_features, shares_rate=not self.sparse)
        router.values = random_hyperplane(self.seed, tree, place, self.n_features, self.sparse)
        self.nodes.append(KeyNode(len(self.nodes), tree, place, router))
        return self.nodes[-1]

    def depth(self, n_classes):
        """Return how deep the trees are for this many classes."""
        if self.max_depth is not None:
            return self.max_depth
        log2 = max(n_classes, 2).bit_length()
        return log2 - 1 if self.stops_early else min(MAX_DEPTH, log2)

    def goes_right(self, node, margin):
        """Tell where an example goes."""
        return margin > 0

    def recall(self, node):
        """Return the bound of a node's recall."""
        histogram = node.histogram
        mass = sum(histogram.counts[y] for y in self.labels(node))
        recall = 1.0 if len(histogram.counts) <= self.max_labels else mass / histogram.total
        return recall_lower_bound(min(1.0, recall), histogram.total, self.bound_lambda)

    def stops(self, node, child):
        """Tell whether an example stops above a child."""
        return self.stops_early and self.recall(node) > self.recall(child)

    def routes(self, z, n_classes):
        """Return for every tree the nodes on the way, and the side that comes next.

        The side is None at the bottom. The last node is a key.
        """
        return [self.route(root, z, self.depth(n_classes)) for root in self.roots]

    def route(self, node, z, depth):
        """Return the nodes on the way from a node that is so far above the bottom, and the side."""
        path, side = [node], None
        while len(path) <= depth:
            side = int(self.goes_right(path[-1], self.margin(path[-1], z)))
            child = path[-1].children[side]
            if child is None or self.stops(path[-1], child):
                break
            path.append(child)
        return path, None if len(path) > depth else side

    def margin(self, node, z):
        """Return the score of a node's router."""
        return score([Term(node.router, z)])

    def keys(self, routes, z, n_classes):
        """Return the nodes that vote, and how far each is trusted."""
        keys = [(path[-1], 1.0) for path, _ in routes]
        if not self.stops_early:
            for path, side in routes:
                keys += self.second_key(path, side, z, self.depth(n_classes))
        return keys

    def second_key(self, path, side, z, depth):
        """Return the node behind the least sure router that has another side, if there is one.

        Its trust is the odds of that side, as the router sees them.
        """
        doubts = []
        for i, node in enumerate(path if side is not None else path[:-1]):
            taken = path[i + 1] if i + 1 < len(path) else None
            for other in node.children:
                if other is not None and other is not taken:
                    doubts.append((abs(self.margin(node, z)), i, other))
        if not doubts:
            return []
        doubt, i, other = self.least(doubts)
        return [(self.route(other, z, depth - i - 1)[0][-1], math.exp(-doubt))]

    def least(self, doubts):
        """Return the least doubt; of equal ones the highest in the tree."""
        return min(doubts, key=lambda doubt: doubt[:2])

    def votes(self, keys):
        """Return s_k sqrt(c(y, k) / n_k), summed over the keys, by class; s_k is their trust."""
        votes: dict = {}
        for node, trust in keys:
            for y in self.labels(node):
                share = node.histogram.counts[y] / node.histogram.total
                votes[y] = votes.get(y, 0.0) + trust * share**0.5
        return votes

    def labels(self, node):
        """Return the labels of a node that vote."""
        return node.histogram.ranking()[: self.max_labels]

    def router_lessons(self, routes, z, labels, weight):
        """Return what the routers on the way learn: the side where labels leave less entropy."""
        lessons = []
        for path, side in routes:
            for node in path if side is not None else path[:-1]:
                growth = [self.entropy_growth(child, labels, weight) for child in node.children]
                delta = growth[0] - growth[1]
                if abs(delta) / weight >= ENTROPY_FLOOR:
                    p, target = self.margin(node, z), 1 if delta > 0 else -1
                    term = Term(node.router, z)
                    lessons.append(RouterLesson(term, p, target, abs(delta), self.learner.rate))
        return lessons

    def teach(self, lessons):
        """Teach routers."""
        for term, p, target, importance, rate in lessons:
            self.learner.learn([term], target, importance, p=p, rate=rate)

    def entropy_growth(self, child, labels, weight):
        """Return how much the total entropy of a child grows with one more example."""
        if child is None:
            return 0.0
        histogram = child.passed
        total = histogram.total + len(labels) * weight
        after = total * histogram.entropy_with(labels, weight)
        return after - histogram.total * histogram.entropy()

    def count(self, routes, labels, weight):
        """Count the labels of an example at the nodes on its way, and at the child that comes next.

        Only the last one of them can be its key, unless routes stop early.
        """
        for path, side in routes:
            nodes = list(path)
            if side is not None:
                last = path[-1]
                if last.children[side] is None:
                    last.children[side] = self.make_node(last.tree, 2 * last.place + side)
                nodes.append(last.children[side])
            for y in labels:
                for node in nodes:
                    node.passed.add(y, weight)
                for node in nodes if self.stops_early else nodes[-1:]:
                    node.histogram.add(y, weight)

    def fade(self, factor):
        """Let everything counted so far be worth `factor` of what it was."""
        for node in self.nodes:
            node.passed.fade(factor)
            node.histogram.fade(factor)
