"""The Recall Tree, figure by figure.

Written to be read next to "Logarithmic Time One-Against-Some" (Daumé, Karampatziakis, Langford,
Mineiro). `RecallTreeReference.predict` is figure 1 (Recall_Tree_Test), `learn` figure 2a
(Recall_Tree_Train), `update_router` figure 2b, `recall` equation (1), `PathFeatures` section 3.2.

Conventions the paper leaves open:

* f_n(x) > 0 leads to the right child. (The figures send it left, but label the router's example +1
  where the entropy is lower on the right.)
* Candidates with equal counts, and equal scores, are ranked in order of arrival at the node.
* A child is made when an example is first sent to it. Before that its entropies and its total are
  0, and a prediction stops above it.
* The example is counted at a node before anything is computed there: n.total includes it. In the
  average entropy of the children after routing, it counts in the share of the side it would go to.
  (The shares of figure 2b leave it out, and do not sum to 1.)
* An example may have several labels: they share its weight in histograms, so that r̂ is the mean
  over examples of the share of their labels that are candidates, and m_n still counts examples.
  Each candidate that is a label is learned as right. An example without labels is counted nowhere,
  and all candidates where it stops are wrong.
"""

from __future__ import annotations

import math

from recalltree.parameters import RECALL_TREE, defaults_of

from .label_histogram import LabelHistogram, recall_lower_bound
from .linear_learner import LinearLearner, LinearModel, Term, score
from .progressive import ProgressiveError

_DEFAULT = defaults_of(RECALL_TREE)

# A smaller difference of entropies is rounding: neither side is better.
ENTROPY_FLOOR = 1e-10

EMPTY = LabelHistogram()


def log2_ceil(n_classes):
    """Return log2 of the number of classes, rounded up.

    Examples
    --------
    >>> [log2_ceil(k) for k in (0, 1, 2, 5, 1024, 1025)]
    [0, 0, 1, 3, 10, 11]
    """
    return max(0, n_classes - 1).bit_length()


def log2_floor(n_classes):
    """Return log2 of the number of classes, rounded down.

    Examples
    --------
    >>> [log2_floor(k) for k in (0, 1, 2, 5, 1023, 1024)]
    [0, 0, 1, 2, 9, 10]
    """
    return max(0, n_classes.bit_length() - 1)


class Node:
    """A node n: its router f_n, its label histogram and its children."""

    def __init__(self, number, depth, n_features):
        self.number = number
        self.depth = depth
        self.router = LinearModel(n_features)
        self.histogram = LabelHistogram()
        self.left = None
        self.right = None

    def child(self, right):
        """Return the child on one side, None if there is none yet."""
        return self.right if right else self.left


class PathFeatures:
    """Nodes of a path that become features of the class predictors (section 3.2).

    Parameters
    ----------
    kind : {"path", "leaf", "none"}
        All nodes below the root, only the one where the example stopped, or none.

    Examples
    --------
    >>> root, child, grandchild = (Node(i, depth=i, n_features=1) for i in range(3))
    >>> [n.number for n in PathFeatures("path").active([root, child, grandchild])]
    [1, 2]
    >>> [n.number for n in PathFeatures("leaf").active([root, child, grandchild])]
    [2]
    """

    def __init__(self, kind):
        self.kind = kind

    def active(self, path):
        """Return the nodes that are features of an example that took `path` from the root."""
        below_root = path[1:]
        if self.kind == "path":
            return below_root
        return below_root[-1:] if self.kind == "leaf" else []


class ClassPredictor(LinearModel):
    """Predict_y: the linear model of one class over x and the nodes passed.

    A node adds a correction to the class's model: to its bias, which is the weight of the node's
    indicator, and with `path_interactions` to all its weights, which are those of the products of
    the indicator with x.
    """

    def __init__(self, n_features, path_interactions):
        super().__init__(n_features)
        self.n_interactions = n_features if path_interactions else 0
        self.corrections = {}  # number of a node -> LinearModel

    def prepare(self, nodes):
        """Make the corrections of these nodes."""
        for node in nodes:
            if node.number not in self.corrections:
                self.corrections[node.number] = LinearModel(self.n_interactions)

    def terms(self, z, nodes):
        """Return the terms of the score of `z` with these nodes as features."""
        known = [node.number for node in nodes if node.number in self.corrections]
        tail = z[-self.n_interactions - 1 :]
        return [Term(self, z)] + [Term(self.corrections[number], tail) for number in known]


class RecallTreeReference:
    """The Recall Tree in plain NumPy.

    Parameters
    ----------
    n_features : int
        Number of features.
    max_candidates : int or None
        F; None: 4 log2 of the number of classes seen, rounded up.
    max_depth : int or None
        Depth of the deepest leaf; None: log2 of the number of classes seen, rounded down, so that
        there are fewer routers than classes.
    bound_lambda : float
        λ of equation (1).
    path_features : {"path", "leaf", "none"}
        See `PathFeatures`.
    path_interactions : bool
        Whether the path features are also crossed with x.
    router_weighting : {"total_entropy", "entropy", "unit"}
        The importance with which a router learns an example of weight w: n.total |Δ|, which is the
        change of the children's total entropy; w |Δ| (figure 2b), which vanishes as examples
        accumulate; or w.
    routing_order : {"route_first", "update_first"}
        Whether an example is routed before or after the router has learned from it.
    count_decay : float or None
        Half-life of a count, in examples.
    min_gradient : float
        A candidate that is not a label does not learn from a gradient that is smaller.
    loss, learning_rate, l2
        Parameters of the base learner.

    Examples
    --------
    >>> import numpy as np
    >>> tree = RecallTreeReference(n_features=3)
    >>> X = np.eye(3)
    >>> for _ in range(10):
    ...     for y, x in enumerate(X):
    ...         tree.learn(x, y)
    >>> [tree.predict(x) for x in X]
    [0, 1, 2]
    """

    def __init__(
        self,
        n_features,
        *,
        max_candidates=_DEFAULT["max_candidates"],
        max_depth=_DEFAULT["max_depth"],
        bound_lambda=_DEFAULT["bound_lambda"],
        path_features=_DEFAULT["path_features"],
        path_interactions=_DEFAULT["path_interactions"],
        router_weighting=_DEFAULT["router_weighting"],
        routing_order=_DEFAULT["routing_order"],
        count_decay=_DEFAULT["count_decay"],
        min_gradient=_DEFAULT["min_gradient"],
        loss=_DEFAULT["loss"],
        learning_rate=_DEFAULT["learning_rate"],
        l2=_DEFAULT["l2"],
    ):
        self.n_features = n_features
        self.fixed_max_candidates = max_candidates
        self.fixed_max_depth = max_depth
        self.bound_lambda = bound_lambda
        self.path_features = PathFeatures(path_features)
        self.path_interactions = path_interactions
        self.router_weighting = router_weighting
        self.routing_order = routing_order
        self.count_decay = count_decay
        self.min_gradient = min_gradient
        self.learner = LinearLearner(n_features, loss, learning_rate, l2)
        self.nodes = []
        self.predictors = {}  # class -> ClassPredictor, in order of appearance
        self.progressive = ProgressiveError()

    # F and the depth follow the number of classes seen unless they are fixed.

    @property
    def max_candidates(self):
        """F now."""
        return self.fixed_max_candidates or max(1, 4 * log2_ceil(len(self.predictors)))

    @property
    def max_depth(self):
        """Depth of a leaf now."""
        return self.fixed_max_depth or max(1, log2_floor(len(self.predictors)))

    def candidates(self, node):
        """Return n.candidates."""
        return node.histogram.candidates(self.max_candidates)

    def recall(self, node):
        """Return the lower bound of a node's recall, equation (1)."""
        histogram = node.histogram
        empirical_recall = histogram.empirical_recall(self.max_candidates)
        return recall_lower_bound(empirical_recall, histogram.total, self.bound_lambda)

    # Decisions on real numbers, apart from the rest so that they can be overridden.

    def goes_right(self, node, margin):
        """Decide `f_n(x) > 0` of figures 1 and 2a."""
        return margin > 0

    def stops(self, node, child):
        """Decide `recall(n) > recall(r)` of figures 1 and 2a."""
        return self.recall(node) > self.recall(child)

    def best(self, candidates, scores):
        """Return the candidate with the largest score; of equal ones the first."""
        return candidates[scores.index(max(scores))]

    # Prediction.

    def route(self, x):
        """Return the nodes from the root to the one where `x` stops, the loop of figure 1."""
        z = self.learner.scale.normalize(x)
        path = [self.nodes[0]]
        while path[-1].depth < self.max_depth:
            node = path[-1]
            child = node.child(self.goes_right(node, score([Term(node.router, z)])))
            if child is None or self.stops(node, child):
                break
            path.append(child)
        return path

    def scores(self, x):
        """Return the candidates of the node where `x` stops, and Predict_y(x) of each."""
        path = self.route(x)
        z = self.learner.scale.normalize(x)
        nodes = self.path_features.active(path)
        candidates = self.candidates(path[-1])
        return candidates, [score(self.predictors[label].terms(z, nodes)) for label in candidates]

    def predict(self, x):
        """Recall_Tree_Test, figure 1. The answer is None before anything is learned."""
        return self.best(*self.scores(x)) if self.nodes else None

    # Learning.

    def learn(self, x, y, weight=1.0, first_pass=True):
        """Recall_Tree_Train, figure 2a: y is the label of an example, or a list of its labels."""
        labels = y if isinstance(y, list) else [y]
        if first_pass and labels:
            self.progressive.add(self.predict(x) in labels, weight)
        self.see_classes(labels)
        self.fade_counts()
        self.learner.scale.observe(x, weight)
        z = self.learner.scale.normalize(x)
        if not labels:
            self.learn_without_labels(x, z, weight)
            return

        node = self.nodes[0] if self.nodes else self.new_node(depth=0)
        self.update_candidates(labels, weight, node)
        path = [node]
        while node.depth < self.max_depth:
            margin = score([Term(node.router, z)])
            self.update_router(z, labels, weight, node)
            if self.routing_order == "update_first":
                margin = score([Term(node.router, z)])
            child = self.child_to_fill(node, self.goes_right(node, margin))
            self.update_candidates(labels, weight, child)
            if self.stops(node, child):
                break
            node = child
            path.append(node)
        if any(label in labels for label in self.candidates(path[-1])):
            self.update_predictors(z, labels, weight, path)

    def learn_without_labels(self, x, z, weight):
        """Teach the candidates where an example stops that none of them is right."""
        if self.nodes:
            self.update_predictors(z, [], weight, self.route(x))

    def update_router(self, z, labels, weight, node):
        """Teach f_n to send labels where their entropy gets lower, figure 2b."""
        left = node.left.histogram if node.left else EMPTY
        right = node.right.histogram if node.right else EMPTY
        total = node.histogram.total
        delta = self.entropy_difference(left, right, total, labels, weight)
        if abs(delta) < ENTROPY_FLOOR:
            return
        importance = {
            "total_entropy": total * abs(delta),
            "entropy": weight * abs(delta),
            "unit": weight,
        }[self.router_weighting]
        self.learner.learn([Term(node.router, z)], +1 if delta > 0 else -1, importance)

    def entropy_difference(self, left, right, total, labels, weight):
        """Return by how much the entropy is larger if labels go left than if they go right."""
        share = weight / len(labels)
        entropy_if_left = (left.total + weight) / total * left.entropy_with(
            labels, share
        ) + right.total / total * right.entropy()
        entropy_if_right = left.total / total * left.entropy() + (
            right.total + weight
        ) / total * right.entropy_with(labels, share)
        return entropy_if_left - entropy_if_right

    def update_candidates(self, labels, weight, node):
        """Count labels at a node (section 2, "Learning the set of candidates in each node")."""
        for label in labels:
            node.histogram.add(label, weight / len(labels))

    def update_predictors(self, z, labels, weight, path):
        """One-against-all among the candidates (section 2, "Learning the predictors")."""
        nodes = self.path_features.active(path)
        for label in self.candidates(path[-1]):
            predictor = self.predictors[label]
            predictor.prepare(nodes)
            terms = predictor.terms(z, nodes)
            if label in labels:
                self.learner.learn(terms, +1, weight)
            else:
                self.learner.learn(terms, -1, weight, self.min_gradient)

    # Bookkeeping of learning that the figures leave out.

    def see_classes(self, labels):
        """Make the predictors of classes when they are first seen."""
        for label in labels:
            if label not in self.predictors:
                self.predictors[label] = ClassPredictor(self.n_features, self.path_interactions)

    def fade_counts(self):
        """Let all counts lose half of their worth every `count_decay` examples."""
        if self.count_decay is not None:
            for node in self.nodes:
                node.histogram.fade(self.fading)

    @property
    def fading(self):
        """Value of a count of 1 one example later."""
        return 1.0 if self.count_decay is None else math.pow(2.0, -1.0 / self.count_decay)

    def new_node(self, depth):
        """Make a node."""
        node = Node(len(self.nodes), depth, self.n_features)
        self.nodes.append(node)
        return node

    def child_to_fill(self, node, right):
        """Return the child on one side, made if it is not there yet."""
        if node.child(right) is None:
            child = self.new_node(node.depth + 1)
            if right:
                node.right = child
            else:
                node.left = child
        return node.child(right)
