"""Votes for candidates, and their scores: what one-against-some knows, and how it answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from recalltree.parameters import ONE_AGAINST_SOME, defaults_of

from .cells import Cells
from .class_model import ROUNDING, ClassModel
from .feature_dropout import FeatureDropout
from .feature_weighting import FeatureCentring, FeatureWeighting
from .key_forest import KeyForest
from .key_histogram import KeyHistogram
from .linear_learner import LinearLearner
from .marginals import Marginals
from .memory_budget import MemoryBudget
from .progressive import ProgressiveError
from .reading import Reading, read_largest
from .scored import Read, Scored
from .vote_weights import VoteWeights

_DEFAULT = defaults_of(ONE_AGAINST_SOME)

MAX_CANDIDATES = {"features": 24, "cells": 32, "cells+trees": 32}
# Labels in the histogram of a leaf: there are more, but the others hardly count.
MAX_LABELS_OF_LEAF = 128
MOST_CLASSES_OF_TREES = 4096  # leaves cannot tell more of them apart: beside cells trees end


class OneAgainstSomePrediction:
    """One-against-some as it predicts; `OneAgainstSomeReference` learns.

    Parameters
    ----------
    n_features : int
        Number of features.
    sparse : bool
        Whether examples are sparse.
    n_dense_features : int
        How many features at the end of a sparse example are a dense block, for cells.
    keys : {"features", "trees", "both", "path", "cells", "cells+trees"}
        What finds candidates: features, the leaves of several trees, both, the node where one tree
        stops, as in the paper; cells for dense features, with votes of the sparse ones if there are
        any; cells and trees.
    max_candidates, max_labels, max_entries : int
        F, M and E. F may be None: 24 if only features vote, 32 with cells, otherwise 100.
    sublinear_tf, use_idf, normalize : bool
        Parameters of `FeatureWeighting`.
    center : bool
        Parameter of `FeatureCentring`, for dense examples.
    n_trees, max_depth, bound_lambda, seed
        Parameters of `KeyForest`.
    count_decay : float or None
        Half-life of the counts, in examples. With it, classes that are wrong forget.
    memory_budget, feature_dropout, cells_read, idle_cells
        Parameters of `MemoryBudget`, `FeatureDropout` (with the seed) and `Cells`.
    learning_rate, l2 : float
        Scale of the steps, and strength of the shrinkage of weights that learn.
    loss : str
        Loss of the routers.
    """

    def __init__(
        self,
        n_features,
        *,
        sparse=False,
        n_dense_features=0,
        keys="features",
        max_candidates=_DEFAULT["max_candidates"],
        max_labels=_DEFAULT["max_labels"],
        max_entries=_DEFAULT["max_entries"],
        sublinear_tf=_DEFAULT["sublinear_tf"],
        use_idf=_DEFAULT["use_idf"],
        normalize=_DEFAULT["normalize"],
        center=_DEFAULT["center"],
        n_trees=_DEFAULT["n_trees"],
        max_depth=_DEFAULT["max_depth"],
        bound_lambda=_DEFAULT["bound_lambda"],
        count_decay=_DEFAULT["count_decay"],
        memory_budget=_DEFAULT["memory_budget"],
        feature_dropout=_DEFAULT["feature_dropout"],
        cells_read=_DEFAULT["cells_read"],
        idle_cells=_DEFAULT["idle_cells"],
        seed=0,
        loss="logistic",
        learning_rate=_DEFAULT["learning_rate"],
        l2=_DEFAULT["l2"],
    ):
        has_cells = keys in ("cells", "cells+trees")
        n_seen = n_dense_features if sparse else n_features  # by cells
        self.cells = (
            Cells(n_seen, cells_read=cells_read, idle_cells=idle_cells) if has_cells else None
        )
        n_features -= n_dense_features
        self.n_features = n_features  # those that keys see
        self.sparse = sparse
        self.features_vote = keys in ("features", "both") or (has_cells and sparse)
        self.centres_features = not sparse and keys != "features"
        self.has_dense_predictors = self.centres_features and not has_cells
        self.max_candidates = max_candidates or MAX_CANDIDATES.get(keys, 100)
        self.max_labels = max_labels
        self.max_entries = max_entries
        self.weighting = FeatureWeighting(sublinear_tf, use_idf, normalize)
        self.centring = FeatureCentring(n_features, center)
        router_learner: Any = LinearLearner(n_features, loss, learning_rate)
        router_learner.scale = self.centring
        n_trees = {"features": 0, "path": 1, "cells": 0}.get(keys, n_trees)
        share = max_entries if keys == "path" else max(1, max_entries // max(1, 2 * n_trees))
        labels_of_node = self.max_candidates if keys == "path" else MAX_LABELS_OF_LEAF
        self.forest = KeyForest(
            n_features,
            n_trees=n_trees,
            max_depth=max_depth,
            max_labels=min(max_labels, labels_of_node, share),
            stops_early=keys == "path",
            bound_lambda=bound_lambda,
            sparse=sparse,
            seed=seed,
            learner=router_learner,
        )
        self.fading = 1.0 if count_decay is None else 2.0 ** (-1.0 / count_decay)
        self.learning_rate = learning_rate
        self.l2 = l2
        self.classes: dict[int, ClassModel] = {}  # in order of appearance
        self.histograms = [KeyHistogram() for _ in range(n_features)]
        self.everywhere = KeyHistogram()  # of the key that every example has
        self.examples = 0.0
        self.n_counted, self.n_labels = 0, 0  # rows, and their labels together
        self.examples_with_key = np.zeros(n_features)
        self.vote_weights = VoteWeights(n_features)
        self.key_weights, self.scales = self.vote_weights.keys, self.vote_weights.scales
        self.progressive = ProgressiveError()
        self.marginals = Marginals()  # of examples with lists of labels
        self.budget = MemoryBudget(memory_budget)
        self.dropout = FeatureDropout(feature_dropout, seed)
        self.n_learned = 0

    # --- candidates and scores --------------------------------------------------------------

    def read(self, x, own=0.0):
        """Return what is to be known of an example; `own` of it is already counted."""
        had = np.maximum(0.0, self.examples_with_key - own)
        shares, values = self.weighting(x, had, max(0.0, self.examples - own))
        rarity = np.zeros(self.n_features)
        np.divide(1.0, np.sqrt(had), out=rarity, where=had > ROUNDING * own)
        pulls = self.key_weights.values * np.abs(values) * self.features_vote
        if self.centres_features:
            return Read(
                shares * self.features_vote, self.centring.normalize(x), values, pulls, rarity
            )
        return Read(shares, np.append(values, 1.0), values, pulls, rarity)

    def roots(self, label, shares, own=0.0):
        """Return sqrt(c(y, k)) for all features, and 1 / sqrt(n_y), without the example itself."""
        return self.classes[label].roots(own * shares)

    def bias(self, label):
        """Return the bias of a class."""
        if self.cells is not None:
            return float(self.cells.classes[label].bias)
        return float(self.classes[label].bias.values[0])

    def find_candidates(self, scored):
        """Let the keys vote and return the classes with the largest scores.

        Those that cells find join them. Without cells, the most frequent ones fill up if there are
        too few. Also return how many were voted for.
        """
        sums = {y: self.scales.values[2] * vote for y, vote in scored.node_votes.items()}
        left = max(0, self.max_entries - scored.n_node_entries)
        for k, labels in self.labels_to_read(scored.read, left).items():
            for label in labels:
                if scored.roots(label)[0][k] > 0:
                    sums[label] = sums.get(label, 0.0) + scored.by_feature(label)[k]
        voted = self.best_candidates({y: value + self.bias(y) for y, value in sums.items()})
        if self.cells is not None:
            near = self.cells.find(scored.whitened, self.max_candidates)
            return voted + [label for label in near if label not in voted], len(voted)
        others = [y for y in self.most_frequent()[: self.max_labels] if y not in voted]
        return (voted + others)[: self.max_candidates], len(voted)

    def labels_to_read(self, read, n):
        """Return the labels, at most n, that are read from histograms, by feature.

        What is next in a histogram promises u_k |v_k| sqrt(c(y, k) / n_k).
        """
        active = np.flatnonzero((read.shares * self.features_vote > 0) & (read.rarity > 0))
        factors = dict(zip(active.tolist(), (read.pulls * read.rarity)[active], strict=True))
        readings = {k: self.reading(k) for k in factors}
        read_largest(readings, factors, n)
        return {k: reading.labels[: reading.n] for k, reading in readings.items()}

    def reading(self, key):
        """Begin to read the histogram of a feature."""
        labels, counts = self.ranking(key)
        return Reading(labels, counts, self.max_labels)

    def most_frequent(self):
        """Return the classes, the most frequent first."""
        return self.everywhere.ranking()

    def ranking(self, key):
        """Return the labels of a key's histogram and their counts, the largest first."""
        labels = self.histograms[key].ranking()[: self.max_labels]
        return labels, [self.histograms[key].counts[label] for label in labels]

    def best_candidates(self, values):
        """Return the F classes with the largest values, in the order in which they were named."""
        best = set(sorted(values, key=lambda y: (-values[y], y))[: self.max_candidates])
        return [y for y in values if y in best]

    def scores(self, x, n_classes, own_labels=(), own=0.0):
        """Return the candidates of an example and the parts of their scores.

        An example that is learned again is left out of the counts of its own labels.
        """
        read = self.read(x[: self.n_features], own)
        trees_end = self.cells is not None and n_classes > MOST_CLASSES_OF_TREES
        routes = [] if trees_end else self.forest.routes(read.z, n_classes)
        node_keys = self.forest.keys(routes, read.z, n_classes)
        scored = Scored(self, read, routes, node_keys, own_labels, own)
        if self.cells is not None:
            scored.whitened = self.cells.whitening(x[-self.cells.n_features :])
        scored.candidates, scored.n_voted = self.find_candidates(scored)
        return scored

    def predict(self, x):
        """Return the class with the largest score; None before anything is learned."""
        return self.best(self.scores(x, len(self.classes))) if self.classes else None

    def best(self, scored):
        """Return the candidate with the largest score; of equal ones the first."""
        return scored.candidates[int(np.argmax(scored.scores()))]
