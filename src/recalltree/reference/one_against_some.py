"""One-against-some: the keys of an example vote for its candidates.

The Recall Tree finds candidates in the label histogram of one node, at the end of one path. Here
every feature of the example is a key with a label histogram of its own, and the histograms vote:

    vote(y | x)  = sum over the keys k of x of  u_k |v_k| sqrt(c(y, k) / n_y)
    candidates   = the F classes with the largest A vote(y | x) + b_y
    score(y | x) = A vote(y | x) + w_y · v + b_y

x becomes the shares t that it adds to counts and the values v that predictors see
(`FeatureWeighting`). c(y, k) is the sum of the shares of key k over the examples of class y, and
n_y the sum of c(y, k) over all keys, so that c(y, k) / n_y is a distribution over keys, and the
vote its affinity (Bhattacharyya's) to the example. The weight u_k says how much a key counts.

A, u, w and b are learned with a softmax over the candidates. The class of an example joins the
candidates if it is missing; A and u then do not learn, since the keys did not find it.

* An example is scored before it is counted. Later passes do not count it again, and leave it out of
  the counts that vote for it.
* A histogram lists the M labels with the largest counts. The keys list them in turn, those with the
  largest u_k |v_k| first, until E entries are read. These find the candidates; scores are exact.
* w_y has a weight only for features that some example of class y had.
* Without any known key the candidates are the most frequent classes.
"""

from __future__ import annotations

import numpy as np

from .progressive import ProgressiveError

VOTE_SCALE = 15.0
VOTE_RATE, KEY_RATE, PREDICTOR_RATE, BIAS_RATE = 0.1, 0.2, 0.6, 0.3
VOTE_OFFSET, PREDICTOR_OFFSET = 0.1, 0.03
# Steps of later passes are shorter by this factor.
LATER_PASS = 0.5
# A candidate whose score is wrong by less does not learn.
SMALL_GRADIENT = 0.03
# A count with less than this share of the example left was all its own.
ROUNDING = 1e-3


class FeatureWeighting:
    """How much each feature of an example weighs.

    Parameters
    ----------
    sublinear_tf : bool
        Whether log(1 + |x|), with the sign of x, takes the place of x.
    use_idf : bool
        Whether values are weighted by the root of the inverse document frequency.
    normalize : bool
        Whether shares and values have unit length.

    Examples
    --------
    >>> weighting = FeatureWeighting(sublinear_tf=True, use_idf=True, normalize=True)
    >>> shares, values = weighting(np.array([1.0, 1.0, 0.0]), np.array([9.0, 0.0, 3.0]), 9.0)
    >>> shares.round(2), values.round(2)
    (array([0.71, 0.71, 0.  ]), array([0.48, 0.88, 0.  ]))
    """

    def __init__(self, sublinear_tf, use_idf, normalize):
        self.sublinear_tf = sublinear_tf
        self.use_idf = use_idf
        self.normalize = normalize

    def __call__(self, x, had, examples):
        """Return shares and values, given how many of how many examples had each feature."""
        terms = np.sign(x) * np.log1p(np.abs(x)) if self.sublinear_tf else x
        shares, values = np.abs(terms), terms
        if self.use_idf:
            values = terms * np.sqrt(1.0 + np.log(np.maximum(1.0, (examples + 1) / (had + 1))))
        if self.normalize and np.any(values):
            shares = shares / np.linalg.norm(shares)
            values = values / np.linalg.norm(values)
        return shares, values


class Adaptive:
    """Numbers that learn by AdaGrad: steps of rate · g / sqrt(offset + sum of g²).

    Examples
    --------
    >>> number = Adaptive(np.zeros(1), offset=0.0)
    >>> number.step(np.array([4.0]), weight=1.0, rate=0.5)
    >>> number.values
    array([-0.5])
    """

    def __init__(self, values, offset):
        self.values = values
        self.accumulators = np.zeros_like(values)
        self.offset = offset

    def step(self, gradient, weight, rate, l2=0.0, where=True):
        """Follow the gradient of an example of some weight, where told to."""
        where = np.broadcast_to(where, self.values.shape)
        self.accumulators += np.where(where, weight * gradient**2, 0.0)
        pace = rate * weight / np.sqrt(self.accumulators + self.offset)
        kept = np.maximum(0.0, 1.0 - pace * l2)
        self.values = np.where(where, self.values * kept - pace * gradient, self.values)


class ClassModel:
    """What is known of a class: its counts, its linear predictor, its bias."""

    def __init__(self, n_features):
        self.examples = 0.0
        self.counts = np.zeros(n_features)  # c(y, k)
        self.met = np.zeros(n_features, dtype=bool)  # the features it has weights for
        self.predictor = Adaptive(np.zeros(n_features), PREDICTOR_OFFSET)
        self.bias = Adaptive(np.zeros(1), PREDICTOR_OFFSET)

    @property
    def weights(self):
        """Weights of the linear predictor."""
        return self.predictor.values


class OneAgainstSomeReference:
    """One-against-some in plain NumPy.

    Parameters
    ----------
    n_features : int
        Number of features.
    keys : {"features"}
        What votes.
    max_candidates, max_labels, max_entries : int
        F, M and E.
    sublinear_tf, use_idf, normalize : bool
        Parameters of `FeatureWeighting`.
    count_decay : float or None
        Half-life of the counts, in examples.
    learning_rate, l2 : float
        Scale of the steps, and strength of the shrinkage of weights that learn.
    loss, memory_budget
        Not used.

    Examples
    --------
    >>> model = OneAgainstSomeReference(n_features=3)
    >>> X = np.eye(3)
    >>> for _ in range(2):
    ...     for y, x in enumerate(X):
    ...         model.learn(x, y)
    >>> [model.predict(x) for x in X]
    [0, 1, 2]
    """

    def __init__(
        self,
        n_features,
        *,
        keys="features",
        max_candidates=40,
        max_labels=512,
        max_entries=2500,
        sublinear_tf=True,
        use_idf=True,
        normalize=True,
        count_decay=None,
        learning_rate=1.0,
        l2=0.0,
        loss=None,
        memory_budget=None,
    ):
        self.n_features = n_features
        self.max_candidates = max_candidates
        self.max_labels = max_labels
        self.max_entries = max_entries
        self.weighting = FeatureWeighting(sublinear_tf, use_idf, normalize)
        self.fading = 1.0 if count_decay is None else 2.0 ** (-1.0 / count_decay)
        self.learning_rate = learning_rate
        self.l2 = l2
        self.classes: dict[int, ClassModel] = {}  # in order of appearance
        self.histograms = [Histogram() for _ in range(n_features)]
        self.everywhere = Histogram()  # of the key that every example has
        self.examples = 0.0
        self.examples_with_key = np.zeros(n_features)
        self.key_weights = Adaptive(np.ones(n_features), VOTE_OFFSET)  # u
        self.vote_scale = Adaptive(np.array([VOTE_SCALE]), VOTE_OFFSET)  # A
        self.progressive = ProgressiveError()

    # --- candidates and scores --------------------------------------------------------------

    def read(self, x, own=0.0):
        """Return the shares and the values of an example, and u |v|; `own` of it are counted."""
        had = np.maximum(0.0, self.examples_with_key - own)
        shares, values = self.weighting(x, had, max(0.0, self.examples - own))
        return shares, values, self.key_weights.values * np.abs(values)

    def affinities(self, label, shares, own=0.0):
        """Return sqrt(c(y, k) / n_y) for all keys, without what the example added itself."""
        model = self.classes[label]
        counts = model.counts - own * shares
        counts = np.where(counts > ROUNDING * own * shares, counts, 0.0)
        total = model.counts.sum() - own * shares.sum()
        if total <= ROUNDING * own * shares.sum() or total <= 0:
            return np.zeros(self.n_features)
        return np.sqrt(counts / total)

    def bias(self, label):
        """Return the bias of a class."""
        return float(self.classes[label].bias.values[0])

    def find_candidates(self, shares, pulls, affinities):
        """Let the keys vote and return the classes with the largest votes, the largest first."""
        votes: dict[int, float] = {}
        left = self.max_entries
        active = np.flatnonzero(shares)
        for k in active[np.argsort(-pulls[active], kind="stable")]:
            for label in self.ranking(k)[:left]:
                left -= 1
                if (affinity := affinities(label)[k]) > 0:
                    votes[label] = votes.get(label, 0.0) + pulls[k] * affinity
        if not votes:
            return self.everywhere.ranking()[: self.max_labels][: self.max_candidates]
        values = {y: self.vote_scale.values[0] * vote + self.bias(y) for y, vote in votes.items()}
        return self.best_candidates(values)

    def ranking(self, key):
        """Return the labels of a key's histogram, the largest count first."""
        return self.histograms[key].ranking()[: self.max_labels]

    def best_candidates(self, values):
        """Return the F classes with the largest values."""
        return sorted(values, key=lambda y: (-values[y], y))[: self.max_candidates]

    def scores(self, x, own_label=None, own=0.0):
        """Return the candidates of an example and the parts of their scores.

        An example that is learned again is left out of the counts of its own class.
        """
        shares, values, pulls = self.read(x, own)
        cache: dict[int, np.ndarray] = {}

        def affinities(label):
            if label not in cache:
                cache[label] = self.affinities(label, shares, own if label == own_label else 0.0)
            return cache[label]

        candidates = self.find_candidates(shares, pulls, affinities)
        return Scored(self, candidates, shares, values, pulls, affinities)

    def predict(self, x):
        """Return the class with the largest score; None before anything is learned."""
        return self.best(self.scores(x)) if self.classes else None

    def best(self, scored):
        """Return the candidate with the largest score; of equal ones the first."""
        return scored.candidates[int(np.argmax(scored.scores()))]

    # --- learning ---------------------------------------------------------------------------

    def learn(self, x, y, weight=1.0, first_pass=True):
        """Learn one example."""
        is_first = not self.classes
        self.classes.setdefault(y, ClassModel(self.n_features))
        scored = self.scores(x, y, 0.0 if first_pass else weight)
        if first_pass:
            self.progressive.add(not is_first and self.best(scored) == y, weight)
        found = y in scored.candidates
        if not found:
            scored.candidates = [*scored.candidates, y]

        gradients = softmax(scored.scores())
        gradients[scored.candidates.index(y)] -= 1.0
        rate = self.learning_rate * (1.0 if first_pass else LATER_PASS)
        if found:
            self.update_vote(scored, gradients, weight, rate)
        if first_pass:
            self.classes[y].met |= scored.shares > 0
        for label, gradient in zip(scored.candidates, gradients, strict=True):
            if self.is_worth_it(label, gradient):
                self.update_predictor(label, scored.values, gradient, weight, rate)
        if first_pass:
            self.count(scored.shares, y, weight)

    def is_worth_it(self, label, gradient):
        """Tell whether a class learns from a gradient."""
        return abs(gradient) >= SMALL_GRADIENT

    def update_vote(self, scored, gradients, weight, rate):
        """Step on A and on the weights u of the example's keys."""
        scale = self.vote_scale.values[0]
        affinity = np.array([scored.affinities(label) for label in scored.candidates])
        key_gradients = scale * np.abs(scored.values) * (gradients @ affinity)
        scale_gradient = gradients @ (affinity @ scored.pulls)
        self.key_weights.step(key_gradients, weight, rate * KEY_RATE, where=key_gradients != 0)
        self.key_weights.values = np.maximum(0.0, self.key_weights.values)
        self.vote_scale.step(scale_gradient, weight, rate * VOTE_RATE)
        self.vote_scale.values = np.maximum(0.0, self.vote_scale.values)

    def update_predictor(self, label, values, gradient, weight, rate):
        """Step on the weights and the bias of a class."""
        model = self.classes[label]
        where = model.met & (values != 0)
        model.predictor.step(gradient * values, weight, rate * PREDICTOR_RATE, self.l2, where)
        model.bias.step(gradient, weight, rate * BIAS_RATE)

    def count(self, shares, y, weight):
        """Add an example to the histograms of its keys."""
        model = self.classes[y]
        model.examples += weight
        model.counts += weight * shares
        for k in np.flatnonzero(shares):
            self.histograms[k].add(y, weight * shares[k])
        self.everywhere.add(y, weight)
        self.examples += weight
        self.examples_with_key += np.where(shares > 0, weight, 0.0)
        if self.fading < 1.0:
            self.fade()

    def fade(self):
        """Let all counts lose what they lose per example."""
        for model in self.classes.values():
            model.examples *= self.fading
            model.counts *= self.fading
        for histogram in (*self.histograms, self.everywhere):
            histogram.fade(self.fading)
        self.examples *= self.fading
        self.examples_with_key *= self.fading


class Scored:
    """Candidates, and what their scores are made of."""

    def __init__(self, model, candidates, shares, values, pulls, affinities):
        self.model = model
        self.candidates = candidates
        self.shares = shares
        self.values = values
        self.pulls = pulls
        self.affinities = affinities

    def scores(self):
        """Return A vote + w · v + b for every candidate."""
        return np.array(
            [
                self.model.vote_scale.values[0] * (self.pulls @ self.affinities(y))
                + self.model.classes[y].weights @ self.values
                + self.model.bias(y)
                for y in self.candidates
            ]
        )


class Histogram:
    """Label counts of a key.

    Examples
    --------
    >>> histogram = Histogram()
    >>> for label, count in [(7, 1.0), (3, 2.0), (7, 1.0)]:
    ...     histogram.add(label, count)
    >>> histogram.ranking(), histogram.counts[7]
    ([3, 7], 2.0)
    """

    def __init__(self):
        self.counts: dict[int, float] = {}
        self.reached: dict[int, int] = {}  # when a label reached its count
        self.time = 0

    def add(self, label, count):
        """Count a label."""
        self.time += 1
        self.counts[label] = self.counts.get(label, 0.0) + count
        self.reached[label] = self.time

    def fade(self, factor):
        """Multiply all counts."""
        self.counts = {label: factor * count for label, count in self.counts.items()}

    def ranking(self):
        """Return the labels, the largest count first; equal ones: the first to reach it."""
        return sorted(self.counts, key=lambda y: (-self.counts[y], self.reached[y]))


def softmax(scores):
    """Return the probabilities of the scores.

    Examples
    --------
    >>> softmax(np.array([0.0, np.log(3.0)])).round(2)
    array([0.25, 0.75])
    """
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()
