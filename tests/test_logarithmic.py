"""Work per example: at most max_depth routers and F predictors, whatever the number of classes.

Uniform classes are the worst case: every histogram is long and flat, so that whatever scans one
label after the other is found out.
"""

import numpy as np
import pytest

from recalltree import _core

N_FEATURES = 8
N_WATCHED = 1000


class Watched:
    """A model that has seen all classes, and random examples to continue with."""

    def __init__(self, n_classes, core=_core.RecallTree, **config):
        self.rng = np.random.default_rng(n_classes)
        self.n_classes = n_classes
        self.centres = self.rng.normal(size=(n_classes, N_FEATURES)).astype(np.float32)
        self.model = core(n_features=N_FEATURES, **config)
        rows, labels = self.examples(self.rng.permutation(n_classes))
        self.model.learn(rows, labels, None, None, 1, True)
        assert self.model.n_classes_seen == n_classes

    def examples(self, labels):
        noise = 0.5 * self.rng.normal(size=(len(labels), N_FEATURES)).astype(np.float32)
        return _core.Rows.dense(self.centres[labels] + noise), labels.astype(np.uint32)

    def watch(self, act):
        """Let `act` work on single examples; return what each of them took, by counter."""
        work = []
        for _ in range(N_WATCHED):
            rows, labels = self.examples(self.rng.integers(self.n_classes, size=1))
            before = self.model.work
            act(rows, labels)
            after = self.model.work
            work.append({name: after[name] - before[name] for name in after})
        return {name: np.array([each[name] for each in work]) for name in work[0]}

    def learning(self):
        return self.watch(lambda rows, y: self.model.learn(rows, y, None, None, 1, True))

    def predicting(self):
        return self.watch(lambda rows, y: self.model.predict(rows, 1))

    @property
    def bound(self):
        return self.model.max_depth_now + self.model.max_candidates_now


@pytest.fixture(scope="module", params=[100, 1_000, 10_000, 100_000])
def watched(request):
    return Watched(request.param)


def test_limits_are_logarithmic(watched):
    log2 = np.log2(watched.n_classes)
    assert watched.model.max_depth_now == max(1, np.floor(log2))
    assert watched.model.max_candidates_now == 4 * np.ceil(log2)


def test_learning_evaluates_at_most_depth_plus_candidates(watched):
    work = watched.learning()
    assert (work["examples_learned"] == 1).all()
    assert (work["router_evaluations"] >= 1).all()
    assert (work["router_evaluations"] <= watched.model.max_depth_now).all()
    assert (work["predictor_evaluations"] <= watched.model.max_candidates_now).all()
    evaluations = work["router_evaluations"] + work["predictor_evaluations"]
    assert (evaluations <= watched.bound).all()
    # It does reach predictors, or the bound would not mean much.
    assert work["predictor_evaluations"].max() == watched.model.max_candidates_now


def test_predicting_evaluates_at_most_depth_plus_candidates(watched):
    work = watched.predicting()
    assert (work["examples_predicted"] == 1).all()
    assert (work["predictor_evaluations"] >= 1).all()
    assert (work["predictor_evaluations"] <= watched.model.max_candidates_now).all()
    assert (work["router_evaluations"] <= watched.model.max_depth_now).all()
    counted = {"examples_predicted", "predictor_evaluations", "router_evaluations"}
    for name in work.keys() - counted:
        assert (work[name] == 0).all()


def test_progressive_validation_costs_next_to_nothing(watched):
    # It needs evaluations of its own only where learning took another way than prediction.
    work = watched.learning()
    assert (work["progressive_evaluations"] <= watched.bound).all()
    assert work["progressive_evaluations"].mean() < 0.2 * watched.model.max_candidates_now


def test_histograms_are_touched_a_few_times_per_node(watched):
    touches = watched.learning()["histogram_touches"]
    # A node on the way costs an addition, a few moves in a heap of F candidates, and a look at
    # both of its children; F times something is only for gathering candidates.
    assert (touches <= 4 * watched.bound).all()
    log2_candidates = np.log2(watched.model.max_candidates_now)
    assert touches.mean() <= (4 + log2_candidates) * (watched.model.max_depth_now + 1)


def test_update_first_looks_twice_at_each_router():
    watched = Watched(1000, routing_order="update_first")
    work = watched.learning()
    assert (work["router_evaluations"] <= 2 * watched.model.max_depth_now).all()
    assert (work["predictor_evaluations"] <= watched.model.max_candidates_now).all()


def test_work_does_not_grow_with_classes_for_fixed_limits():
    config = {"max_candidates": 20, "max_depth": 7}
    work = {n_classes: Watched(n_classes, **config).learning() for n_classes in (1_000, 100_000)}
    for name in ("router_evaluations", "predictor_evaluations"):
        assert work[100_000][name].max() <= work[1_000][name].max()
    few, many = (work[n]["histogram_touches"] for n in (1_000, 100_000))
    assert many.mean() <= 1.25 * few.mean()
    assert many.max() <= 2 * few.max()


@pytest.mark.parametrize("keys", ["features", "trees", "both", "path"])
def test_votes_read_and_compare_a_bounded_number(keys):
    n_trees, max_depth, max_entries, max_candidates = 2, 5, 200, 10
    watched = {
        n_classes: Watched(
            n_classes,
            _core.OneAgainstSome,
            keys=keys,
            n_trees=n_trees,
            max_depth=max_depth,
            max_entries=max_entries,
            max_candidates=max_candidates,
        )
        for n_classes in (1_000, 20_000)
    }
    for model in watched.values():
        work = model.predicting()
        assert (work["predictor_evaluations"] == max_candidates).all()
        assert (work["histogram_touches"] > 0).all()
        assert (work["histogram_touches"] <= max_entries).all()
        assert (work["router_evaluations"] <= 2 * n_trees * max_depth).all()
        assert (work["pair_lookups"] <= max_candidates * N_FEATURES).all()
        assert (work["pairs_found"] <= work["pair_lookups"]).all()
        # The class of the example joins the candidates.
        work = model.learning()
        assert (work["predictor_evaluations"] <= max_candidates + 1).all()
        # A class is asked when it is scored and when it learns.
        assert (work["pair_lookups"] <= 2 * (max_candidates + 1) * N_FEATURES).all()
        assert (work["pairs_found"] <= work["pair_lookups"]).all()
        # Without features that vote there are no pairs; otherwise the class itself has a pair with
        # each of them.
        features_vote = keys in ("features", "both")
        assert ((work["pair_lookups"] > 0) == features_vote).all()
        assert ((work["pairs_changed"] >= N_FEATURES) == features_vote).all()
    few, many = (w.learning()["histogram_touches"].mean() for w in watched.values())
    assert many <= 1.25 * few
