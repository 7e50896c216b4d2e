"""One-against-some with little memory, of the core against the reference, after every step.

Both take the same bytes, forget at the same moments, and forget the same pairs.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from side_by_side import CoreModel
from streams import configs, parity_settings, streams
from test_parity_one_against_some import CHOICES, FollowingOneAgainstSome, run

from recalltree import _core
from recalltree.reference.memory_budget import MemoryBudget

# Of two pairs whose worths are closer than this, float32 cannot tell which is worth less.
WORTH_TOLERANCE = 1e-2


class FollowingMemoryBudget(MemoryBudget):
    """Forgets what the reference would, and of pairs that are worth the same what the core did."""

    def __init__(self, core, limit):
        super().__init__(limit)
        self.core = core
        self.n_forgotten = self.n_followed = 0

    def least(self, pairs, n):
        own = super().least(pairs, n)
        last = own[-1][0]
        kept = {y: self.core.model.predictor(y)["counts"] > 0 for y in {y for _, y, _ in pairs}}
        sure = [pair for pair in own if pair[0] < last * (1 - WORTH_TOLERANCE)]
        unsure = [pair for pair in pairs if abs(pair[0] - last) <= last * WORTH_TOLERANCE]
        unsure.sort(key=lambda pair: (kept[pair[1]][pair[2]], pair))
        theirs = sure + unsure[: n - len(sure)]
        self.n_forgotten += n
        self.n_followed += len(set(theirs) - set(own))
        return theirs


class FollowingWithLittleMemory(FollowingOneAgainstSome):
    """The reference; it takes as many bytes as the core after every step."""

    def __init__(self, core):
        super().__init__(core)
        self.budget = FollowingMemoryBudget(core, self.budget.limit)

    def learn(self, x, y, weight, first_pass):
        super().learn(x, y, weight, first_pass)
        theirs = sum(self.core.model.memory_bytes().values())
        assert MemoryBudget.bytes_of(self) == theirs <= self.budget.limit


def budget(stream, config, share):
    """Return so large a share of what pairs and histograms would take, and all of the rest."""
    free = CoreModel(_core, _core.OneAgainstSome, stream, config)
    for row in range(len(stream.X)):
        free.learn(row, first_pass=True)
    pairs = free.model.pairs_memory["used"]
    return int(sum(free.model.memory_bytes().values()) - (1 - share) * pairs)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@parity_settings(max_examples=2)
@given(data=st.data())
def test_the_same_pairs_are_forgotten(sparse, data):
    stream = data.draw(streams(sparse, 7, sparse=sparse, max_classes=25))
    config = data.draw(configs(sparse, 7, choices=CHOICES)) | {"keys": "features"}
    if stream.n_passes > 1:
        config["max_candidates"] = 40  # see test_every_step_agrees
    share = data.draw(st.sampled_from([0.3, 0.6, 0.9]))
    config["memory_budget"] = budget(stream, config, share)
    reference = run(stream, config, FollowingWithLittleMemory)
    assert reference.budget.n_forgotten > 0
    assert reference.budget.n_followed <= 2 + 0.02 * reference.budget.n_forgotten
