"""Random streams of examples for the parity tests."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

N_STEPS = 2000
SEEDS = st.integers(0, 2**32 - 1)


def parity_settings(max_examples):
    """Settings of a test that draws this many streams.

    They are the same streams in every run, unless RECALLTREE_NEW_STREAMS is set; a failure prints
    how to repeat it. A stream cannot be made simpler in reasonable time, so it is not tried.
    """
    return settings(
        max_examples=max_examples,
        deadline=None,
        derandomize="RECALLTREE_NEW_STREAMS" not in os.environ,
        print_blob=True,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )


@dataclass(frozen=True)
class Stream:
    """Examples and the order in which to learn them; several passes visit a row several times."""

    X: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    sparse: bool
    n_passes: int
    lists: list | None = None  # of labels, where rows have several

    @property
    def n_features(self):
        return self.X.shape[1]

    def __repr__(self):
        return (
            f"<stream of {len(self.order)} steps in {self.n_passes} passes, {self.n_features} "
            f"{'sparse' if self.sparse else 'dense'} features, {self.labels.max() + 1} classes>"
        )

    def steps(self):
        """Yield (position, row of X, x, label, weight, whether this is the first pass)."""
        for position, row in enumerate(self.order):
            first_pass = position < len(self.X)
            y = int(self.labels[row]) if self.lists is None else self.lists[row]
            yield position, row, self.X[row], y, self.weights[row], first_pass


def make_stream(
    seed, n_classes, n_features, sparse=False, weighted=False, n_passes=1, late=True, scaled=False
):
    """Noisy examples of classes that have a centre each.

    Class frequencies are skewed, one label in ten is random, and with `late` classes, and features
    if they are sparse, appear one after the other. Weights are multiples of 1/8, so that their sums
    are exact. With `scaled` each feature has a unit of its own, between 1e-3 and 1e3.
    """
    rng = np.random.default_rng(seed)
    n = -(-N_STEPS // n_passes)

    popularity = rng.random(n_classes) ** 2 + 0.01
    first_step = np.arange(n_classes) * (0.7 * n / n_classes if late else 0.0)
    labels = np.empty(n, dtype=np.uint32)
    for i in range(n):
        known = np.flatnonzero(first_step <= i)
        shares = popularity[known] * (1.0 if rng.random() < 0.9 else 0.0) + 1e-9
        labels[i] = rng.choice(known, p=shares / shares.sum())

    centres = rng.normal(size=(n_classes, n_features))
    X = centres[labels] + 0.7 * rng.normal(size=(n, n_features))
    noisy = rng.random(n) < 0.1
    X[noisy] = rng.normal(size=(noisy.sum(), n_features))
    if sparse:
        # Every class has its own set of likely features; now and then a row is empty.
        likely = np.where(rng.random((n_classes, n_features)) < 0.3, 0.6, 0.05)
        X *= rng.random((n, n_features)) < likely[labels]
        if late:
            first_step = rng.permutation(n_features) * (0.9 * n / n_features)
            X *= first_step <= np.arange(n)[:, np.newaxis]
        X[rng.random(n) < 0.01] = 0.0
    if scaled:
        X *= 10.0 ** rng.uniform(-3, 3, size=n_features)

    weights = rng.integers(1, 25, size=n) / 8 if weighted else np.ones(n)
    passes = [np.arange(n)] + [rng.permutation(n) for _ in range(n_passes - 1)]
    return Stream(
        X=X.astype(np.float32).astype(np.float64),
        labels=labels,
        weights=weights,
        order=np.concatenate(passes),
        sparse=sparse,
        n_passes=n_passes,
    )


def with_several_labels(stream, seed):
    """The stream with more labels: some always come together, some are random, some rows have none.

    A label that comes with another one may appear before its own examples do.
    """
    rng = np.random.default_rng(seed)
    n_classes = int(stream.labels.max()) + 1
    lists = []
    for label in stream.labels.tolist():
        row = [label]
        if rng.random() < 0.5:
            row.append((7 * label + 1) % n_classes)
        row += rng.choice(n_classes, size=rng.integers(3) * (rng.random() < 0.3)).tolist()
        rng.shuffle(row)
        lists.append([] if rng.random() < 0.03 else list(dict.fromkeys(row)))
    return replace(stream, lists=lists)


def random_stream(seed, sparse, max_classes):
    """Return a stream of random kind and size."""
    rng = np.random.default_rng(seed)
    return make_stream(
        seed=rng.integers(2**32),
        n_classes=int(rng.integers(2, max_classes + 1)),
        n_features=int(rng.integers(10, 41) if sparse else rng.integers(1, 21)),
        sparse=sparse,
        weighted=rng.random() < 0.5,
        n_passes=int(rng.integers(1, 4)),
        late=rng.random() < 0.7,
        scaled=rng.random() < 0.5,
    )


def random_config(seed, choices):
    """Return one of the values for every parameter."""
    rng = np.random.default_rng(seed)
    return {name: values[rng.integers(len(values))] for name, values in choices.items()}


# One seed stands for a stream or for parameters: hypothesis would begin with the simplest ones of
# each, and a test that can afford two streams would see little else.


def streams(*salt, sparse, max_classes=40):
    """Strategy of streams; tests with different `salt` see different ones."""
    return SEEDS.map(lambda seed: random_stream([seed, *salt], sparse, max_classes))


def configs(*salt, choices):
    """Strategy of parameters, one of the given values for each."""
    return SEEDS.map(lambda seed: random_config([seed, *salt], choices))
