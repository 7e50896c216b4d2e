"""The base learner: scale-free, importance-aware, three losses, L2.

The core is reached through one-against-all of two classes: class 1 learns with target +1 where
class 0 learns -1, so that the score of class 1 is that of a binary linear model.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalltree import _core
from recalltree.reference import OneAgainstAllReference
from recalltree.reference.linear_learner import LOSSES

LOSS_NAMES = list(LOSSES)


class ReferenceModel:
    """The reference behind the calls of `CoreModel`."""

    def __init__(self, n_features, **config):
        self.model = OneAgainstAllReference(n_features, **config)

    def learn(self, X, y, weights=None):
        for i in range(len(X)):
            weight = 1.0 if weights is None else weights[i]
            self.model.learn(X[i].astype(float), int(y[i]), weight)

    def scores(self, X):
        by_class = []
        for x in X:
            labels, scores = self.model.scores(x.astype(float))
            by_class.append([score for _, score in sorted(zip(labels, scores, strict=True))])
        return np.array(by_class)

    def weights(self, label):
        model = self.model.predictors[label]
        return model.weights, model.bias


class CoreModel:
    """The compiled one-against-all with dense weights."""

    sparse = False

    def __init__(self, n_features, **config):
        self.model = _core.OneAgainstAll(n_features=n_features, sparse=self.sparse, **config)

    def learn(self, X, y, weights=None):
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float32)
        rows = _core.Rows.dense(np.asarray(X, dtype=np.float32))
        self.model.learn(rows, np.asarray(y, dtype=np.uint32), weights, None, 1, True)

    def scores(self, X):
        rows = _core.Rows.dense(np.asarray(X, dtype=np.float32))
        _, labels, scores = self.model.candidates(rows, 1)
        by_class = np.empty((len(X), self.model.n_classes_seen), dtype=np.float32)
        by_class[np.arange(len(X)).repeat(by_class.shape[1]), labels] = scores
        return by_class

    def weights(self, label):
        row = self.model.predictor(label)
        return row["weights"], row["bias"]


class SparseCoreModel(CoreModel):
    """The compiled one-against-all with weights only where something was learned."""

    sparse = True


CORE = [CoreModel, SparseCoreModel]
ALL = [ReferenceModel, *CORE]


def problem(n=400, n_features=6, n_classes=2, noise=0.4, seed=0):
    """Return examples of classes that overlap a little."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(n_classes, size=n - n_classes))
    centres = rng.normal(size=(n_classes, n_features))
    X = centres[y] + noise * rng.normal(size=(n, n_features))
    return X.astype(np.float32), y


# --- Scale -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("make", ALL)
def test_a_power_of_two_as_the_unit_of_a_feature_changes_no_bit(make, loss):
    X, y = problem(n_classes=5)
    units = np.float32(2.0) ** np.random.default_rng(1).integers(-10, 11, size=X.shape[1])
    plain, scaled = make(X.shape[1], loss=loss), make(X.shape[1], loss=loss)
    plain.learn(X, y)
    scaled.learn(X * units, y)
    np.testing.assert_array_equal(plain.scores(X), scaled.scores(X * units))


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("make", CORE)
def test_the_units_of_the_features_do_not_matter(make, loss):
    X, y = problem(n=4000, n_features=20, n_classes=10, noise=1.0)
    units = 10.0 ** np.random.default_rng(2).uniform(-3, 3, size=X.shape[1])
    Z = (X * units).astype(np.float32)
    plain, scaled = make(X.shape[1], loss=loss), make(X.shape[1], loss=loss)
    plain.learn(X[:3000], y[:3000])
    scaled.learn(Z[:3000], y[:3000])
    scores, scaled_scores = plain.scores(X[3000:]), scaled.scores(Z[3000:])
    np.testing.assert_allclose(scaled_scores, scores, rtol=1e-2, atol=1e-2)
    errors = [np.mean(s.argmax(axis=1) != y[3000:]) for s in (scores, scaled_scores)]
    assert abs(errors[0] - errors[1]) <= 0.002
    assert errors[0] < 0.3


@pytest.mark.parametrize("make", ALL)
def test_a_feature_never_learned_from_is_ignored(make):
    X, y = problem()
    X[:, 2] = 0.0
    model = make(X.shape[1])
    model.learn(X, y)
    surprising = X.copy()
    surprising[:, 2] = 1e9
    np.testing.assert_array_equal(model.scores(surprising), model.scores(X))


# --- Importance --------------------------------------------------------------------------------


@given(
    loss=st.sampled_from(LOSS_NAMES),
    p=st.floats(-5, 5),
    y=st.sampled_from([-1, +1]),
    size=st.floats(1e-6, 1e3),
    reach=st.floats(1e-3, 1e3),
)
def test_one_step_is_two_half_steps(loss, p, y, size, reach):
    loss = LOSSES[loss]
    whole = p + reach * loss.step(p, y, size, reach)
    half = p + reach * loss.step(p, y, size / 2, reach)
    assert half + reach * loss.step(half, y, size / 2, reach) == pytest.approx(whole, abs=1e-9)


@given(
    loss=st.sampled_from(LOSS_NAMES),
    p=st.floats(-5, 5),
    y=st.sampled_from([-1, +1]),
    reach=st.floats(1e-3, 1e3),
)
def test_a_small_step_follows_the_gradient(loss, p, y, reach):
    loss = LOSSES[loss]
    if loss is LOSSES["hinge"] and abs(y * p - 1) < 1e-3 * reach:
        return  # the kink
    step = loss.step(p, y, 1e-7 / reach, reach) if loss.gradient(p, y) != 0 else 0.0
    assert step * reach == pytest.approx(-1e-7 * loss.gradient(p, y), rel=1e-3, abs=1e-14)


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("make", ALL)
def test_weight_two_is_two_updates_in_the_limit(make, loss):
    # One update of weight 2 differs from two of weight 1 by how much the first of the two changes
    # the gradient and the rates. The more has been learned before, the smaller that is.
    differences = []
    for n_before in (100, 1600):
        X, y = problem(n=n_before, noise=2.0)
        once, twice = make(X.shape[1], loss=loss), make(X.shape[1], loss=loss)
        for model in (once, twice):
            model.learn(X, y)
        new = -X[:1]
        before = once.scores(new)
        once.learn(new, y[:1], [2.0])
        twice.learn(new, y[:1])
        twice.learn(new, y[:1])
        moved = np.abs(once.scores(new) - before).max()
        assert moved > 0
        differences.append(np.abs(once.scores(new) - twice.scores(new)).max() / moved)
    assert differences[1] < 0.03
    assert differences[1] < 0.5 * differences[0]


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("make", ALL)
def test_a_huge_weight_neither_blows_up_nor_overshoots(make, loss):
    X, y = problem()
    model = make(X.shape[1], loss=loss)
    model.learn(X, y)
    x = X[y == 0][:1]
    label = np.array([1])  # against all it has seen
    assert model.scores(x)[0, 1] < 0
    model.learn(x, label, [1e6])
    score = model.scores(x)[0, 1]
    if loss == "logistic":
        assert 0.5 < score < 20  # log(weight) and a bit
    else:
        assert score == pytest.approx(1.0, abs=1e-3)
    assert np.isfinite(model.scores(X)).all()
    # It still learns.
    for _ in range(3):
        model.learn(X, y, np.full(len(X), 1e6))
    assert np.isfinite(model.scores(X)).all()
    assert np.mean(model.scores(X).argmax(axis=1) == y) > 0.9


@pytest.mark.parametrize("make", ALL)
def test_a_tiny_weight_does_next_to_nothing(make):
    X, y = problem()
    model = make(X.shape[1])
    model.learn(X, y)
    before = model.scores(X)
    model.learn(-X[:1], y[:1], [2.0**-20])
    np.testing.assert_allclose(model.scores(X), before, atol=1e-5)


# --- Losses and L2 -----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("make", ALL)
def test_every_loss_learns(make, loss):
    X, y = problem(n_classes=4)
    model = make(X.shape[1], loss=loss)
    model.learn(X, y)
    assert np.mean(model.scores(X).argmax(axis=1) == y) > 0.9


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_the_gradient_is_the_derivative_of_the_loss(loss):
    value = {
        "logistic": lambda p, y: np.log1p(np.exp(-y * p)),
        "hinge": lambda p, y: max(0.0, 1.0 - y * p),
        "squared": lambda p, y: (p - y) ** 2,
    }[loss]
    for y in (-1, +1):
        for p in (-3.0, -0.5, 0.0, 0.7, 2.5):
            slope = (value(p + 1e-6, y) - value(p - 1e-6, y)) / 2e-6
            assert LOSSES[loss].gradient(p, y) == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("make", ALL)
def test_l2_shrinks_the_weights_of_features(make, loss):
    X, y = problem(noise=1.0)
    norms = []
    for l2 in (0.0, 0.01, 0.1, 10.0):
        model = make(X.shape[1], loss=loss, l2=l2)
        model.learn(X, y)
        weights, bias = model.weights(1)
        assert np.isfinite(weights).all()
        assert bias != 0
        norms.append(np.linalg.norm(weights))
    assert norms == sorted(norms, reverse=True)
    assert norms[-1] < 0.7 * norms[0]


@pytest.mark.parametrize("make", ALL)
def test_l2_leaves_what_the_example_does_not_have(make):
    X, y = problem()
    model = make(X.shape[1], l2=0.5)
    model.learn(X, y)
    before = model.weights(1)[0].copy()
    x = X[:1].copy()
    x[0, 3:] = 0.0
    model.learn(x, y[:1])
    after = model.weights(1)[0]
    np.testing.assert_array_equal(after[3:], before[3:])
    assert (after[:3] != before[:3]).all()
