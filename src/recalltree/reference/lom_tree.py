"""LOMTree: a tree of routers, one class per leaf, grown and recycled online.

The baseline of the paper (Choromanska and Langford, "Logarithmic Time Online Multiclass
prediction"), on the base learner of this package. Its conventions, in the order of an example's
way through the tree:

State
    A node is a leaf or has a router and two children. A leaf holds `counts` (class -> weight of
    the examples that ended there, in order of arrival) and `majority`, the answer it gives. A node
    with a router holds sums of margins and weights over all its examples and for each class. Every
    node holds `min_count`: the weight of the examples at a leaf, the smaller of the children's
    elsewhere, so that the root knows the lightest leaf. At first the root is a leaf, with
    `min_count` 0. Everything is weighted: an example of weight w counts w.

Budget
    At most `max_nodes` routers; None stands for the number of classes seen, the class of the
    current example included, minus one. So the budget grows by one with each new class, before its
    first example descends.

Learning (x, y, w)
    1. The feature scale takes note of x. n = root.
    2. While n has a router, and also right after n got one in step 3:
       a. target = -1 if mean margin of n > mean margin of y at n, else +1. A mean over no examples
          is 0. A class goes to the side on which it lies already, relative to the node.
       b. Learn_n(x, w, target).
       c. margin = f_n(x), evaluated again after the update. Add w * margin and w to the sums of n
          and to those of y at n.
       d. n = right child if margin > 0, else left child.
    3. n is a leaf: counts[y] += w; y becomes the majority if its count is now larger than the
       largest so far (a tie keeps the older majority). If the leaf holds at least two classes, try
       to split it, and if it was split continue with step 2 at the same n.
    4. The example stays at the leaf n: min_count of n += w, and every ancestor's min_count is
       recomputed as the smaller of its children's.

Splitting a leaf
    With budget left: n gets a new router (weights 0) and two new leaves. They start without counts
    and without margins, each with n's majority as its answer and half of n's min_count. n forgets
    its counts. Node ids: left is the next free id, right the one after it.
    Without budget: swap, if min_count of n - count of n's majority > swap_resistance *
    (min_count of the root + 1). (n's min_count is from before the current example, its counts are
    from after it. A leaf that is a mixture of classes is worth more than the lightest leaf.)

Swap
    Walk from the root to the lightest leaf: to the left child if its min_count is smaller, else to
    the right one. No swap if this is n itself. The lightest leaf and its parent are freed; its
    sibling, with all that is below it, takes the parent's place under the grandparent, or becomes
    the root. The min_count of the grandparent and its ancestors is recomputed. Then n is split as
    above, with the freed leaf as its left and the freed parent as its right child, both emptied of
    everything they held. The router of n starts afresh, at 0: the budget moves, the weights do
    not. Statistics of other nodes stay as they are.

After a split or a swap n's min_count is the smaller of its children's, and its ancestors' follow.

Predicting
    Descend by the sign of the margin (> 0: right); answer the majority of the leaf. Candidates are
    the leaf's classes by count (ties: the majority, then in order of arrival), or the inherited
    majority alone while the leaf has seen no example.
"""

from __future__ import annotations

from typing import Any

from recalltree.parameters import LOM_TREE, defaults_of

from .linear_learner import LinearLearner, LinearModel, Term, score
from .progressive import ProgressiveError

_DEFAULT = defaults_of(LOM_TREE)


class MarginMean:
    """Weighted mean of margins; 0 over no examples.

    Examples
    --------
    >>> mean = MarginMean()
    >>> mean.add(2.0, weight=1.0)
    >>> mean.add(-1.0, weight=3.0)
    >>> mean.value
    -0.25
    """

    def __init__(self):
        self.sum = 0.0
        self.weight = 0.0

    def add(self, margin, weight):
        """Add a margin."""
        self.sum += weight * margin
        self.weight += weight

    @property
    def value(self):
        """The mean."""
        return self.sum / self.weight if self.weight > 0 else 0.0


class LOMNode:
    """A leaf (`router` is None) or a node with a router and two children."""

    def __init__(self, number):
        self.number = number
        self.parent = None
        self.become_leaf(majority=None, min_count=0.0)

    def become_leaf(self, majority, min_count):
        """Forget everything; answer `majority` until an example has arrived."""
        self.left: Any = None
        self.right: Any = None
        self.router: Any = None
        self.counts = {}
        self.majority = majority
        self.min_count = min_count
        self.margins = MarginMean()
        self.class_margins = {}

    def become_internal(self, router, left, right):
        """Take two emptied leaves as children."""
        self.router = router
        self.left, self.right = left, right
        for child in (left, right):
            child.become_leaf(self.majority, self.min_count / 2)
            child.parent = self
        self.counts = {}

    def count(self, label, weight):
        """Count an example that has reached this leaf and let its class become the majority."""
        largest = self.counts.get(self.majority, 0.0)
        self.counts[label] = self.counts.get(label, 0.0) + weight
        if self.counts[label] > largest:
            self.majority = label

    def candidates(self):
        """Return the classes of this leaf by count; the inherited majority if there are none."""
        if not self.counts:
            return [self.majority]
        return sorted(self.counts, key=lambda label: (-self.counts[label], label != self.majority))


class LOMTreeReference:
    """LOMTree in plain NumPy, with the conventions written at the top of its module.

    Parameters
    ----------
    n_features : int
        Number of features.
    max_nodes : int or None
        Largest number of routers; None: the number of classes seen minus one.
    swap_resistance : float
        How much heavier than the lightest leaf a leaf has to be to take its place.
    loss, learning_rate, l2
        Parameters of the base learner.

    Examples
    --------
    >>> import numpy as np
    >>> tree = LOMTreeReference(n_features=2)
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> for _ in range(10):
    ...     for y, x in enumerate(X):
    ...         tree.learn(x, y)
    >>> [tree.predict(x) for x in X]
    [0, 1]
    """

    def __init__(
        self,
        n_features,
        *,
        max_nodes=_DEFAULT["max_nodes"],
        swap_resistance=_DEFAULT["swap_resistance"],
        loss=_DEFAULT["loss"],
        learning_rate=_DEFAULT["learning_rate"],
        l2=_DEFAULT["l2"],
    ):
        self.learner = LinearLearner(n_features, loss, learning_rate, l2)
        self.n_features = n_features
        self.max_nodes = max_nodes
        self.swap_resistance = swap_resistance
        self.nodes = [LOMNode(0)]
        self.root = self.nodes[0]
        self.classes_seen = {}
        self.n_routers = 0
        self.n_swaps = 0
        self.progressive = ProgressiveError()

    @property
    def budget(self):
        """Number of routers allowed now."""
        if self.max_nodes is not None:
            return self.max_nodes
        return max(0, len(self.classes_seen) - 1)

    # Decisions on real numbers, apart from the rest so that they can be overridden.

    def goes_right(self, node, margin):
        """Decide whether an example with this margin goes to the right child."""
        return margin > 0

    def target(self, node, node_mean, class_mean):
        """Return the side of the node on which the class lies already."""
        return -1 if node_mean > class_mean else +1

    def route(self, x):
        """Return the nodes from the root to the leaf that `x` reaches."""
        z = self.learner.scale.normalize(x)
        path = [self.root]
        while path[-1].router is not None:
            node = path[-1]
            right = self.goes_right(node, score([Term(node.router, z)]))
            path.append(node.right if right else node.left)
        return path

    def candidates(self, x):
        """Return the classes of the leaf that `x` reaches, best first."""
        return self.route(x)[-1].candidates()

    def predict(self, x):
        """Return the majority of the leaf that `x` reaches; None before anything is learned."""
        return self.route(x)[-1].majority

    def learn(self, x, y, weight=1.0, first_pass=True):
        """Learn one example."""
        if first_pass:
            self.progressive.add(self.predict(x) == y, weight)
        self.classes_seen.setdefault(y)
        self.learner.scale.observe(x, weight)
        z = self.learner.scale.normalize(x)

        node = self.root
        while True:
            if node.router is None:
                node.count(y, weight)
                if len(node.counts) < 2 or not self.split(node):
                    break
            node = self.update_router(z, y, weight, node)
        node.min_count += weight
        self.update_min_counts(node.parent)

    def update_router(self, z, y, weight, node):
        """Teach the router of `node` where y belongs; return the child the example goes to."""
        of_class = node.class_margins.setdefault(y, MarginMean())
        target = self.target(node, node.margins.value, of_class.value)
        self.learner.learn([Term(node.router, z)], target, weight)
        margin = score([Term(node.router, z)])
        node.margins.add(margin, weight)
        of_class.add(margin, weight)
        return node.right if self.goes_right(node, margin) else node.left

    def split(self, node):
        """Give a leaf a router if there is budget or it deserves that of the lightest leaf."""
        if self.n_routers < self.budget:
            left, right = (LOMNode(len(self.nodes) + i) for i in range(2))
            self.nodes += [left, right]
            self.n_routers += 1
        else:
            impurity = node.min_count - node.counts[node.majority]
            if impurity <= self.swap_resistance * (self.root.min_count + 1):
                return False
            lightest = self.lightest_leaf()
            if lightest is node:
                return False
            left, right = self.free(lightest)
            self.n_swaps += 1
        node.become_internal(LinearModel(self.n_features), left, right)
        self.update_min_counts(node)
        return True

    def lightest_leaf(self):
        """Find the leaf with the smallest min_count; ties go right."""
        node = self.root
        while node.router is not None:
            node = node.left if node.left.min_count < node.right.min_count else node.right
        return node

    def free(self, leaf):
        """Take a leaf and its parent out of the tree; the sibling takes the parent's place."""
        parent = leaf.parent
        grandparent = parent.parent
        sibling = parent.left if parent.right is leaf else parent.right
        sibling.parent = grandparent
        if grandparent is None:
            self.root = sibling
        elif grandparent.left is parent:
            grandparent.left = sibling
        else:
            grandparent.right = sibling
        self.update_min_counts(grandparent)
        return leaf, parent

    @staticmethod
    def update_min_counts(node):
        """Recompute the weight of the lightest leaf below `node` and its ancestors."""
        while node is not None:
            node.min_count = min(node.left.min_count, node.right.min_count)
            node = node.parent
