"""The plan of a training: the same for the same files, and each row in one shard of each pass."""

import numpy as np
import pytest

from recalltree.ray.shards import make_plan
from recalltree.readers import open_rows


def write(path, n, start=0):
    path.write_text("".join(f"{(start + i) % 7} {10001 + start + i}:1\n" for i in range(n)))


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "a.svm", 3000)
    write(tmp_path / "b.svm", 40, 3000)
    write(tmp_path / "c.svm", 60, 3040)
    return tmp_path


def features_of(plan):
    """Return which feature each row has, by round and shard."""
    return [
        [
            np.concatenate([b.X.indices for b in open_rows(list(shard), **plan.options)])
            for shard in shards
        ]
        for shards in plan.rounds
    ]


@pytest.mark.parametrize("num_workers", [1, 2, 5])
@pytest.mark.parametrize("sync_every", [500, 10**6])
@pytest.mark.parametrize("alone", [0, 100])
def test_every_row_is_in_one_shard(folder, num_workers, sync_every, alone):
    given = (f"{folder}/*.svm", num_workers, sync_every, alone, {"n_features": 20_000})
    plan = make_plan(*given)
    assert plan == make_plan(*given)
    found = features_of(plan)
    np.testing.assert_array_equal(
        np.concatenate([shard for shards in found for shard in shards]), 10_000 + np.arange(3100)
    )
    assert max(map(len, found)) <= num_workers
    sizes = [sum(map(len, shards)) for shards in found]
    if alone:
        assert len(found[0]) == 1
        assert 0.8 * alone < sizes[0] < 1.2 * alone
    assert all(size < 1.3 * sync_every for size in sizes)
    whole = [shards for shards in found[1 if alone else 0 : -1] if len(shards) == num_workers]
    for shards in whole:
        assert max(map(len, shards)) < 1.6 * min(map(len, shards))


def test_options_are_completed_by_the_first_rows(tmp_path):
    (tmp_path / "a.tsv").write_text("kind\ttext\n1\tpurr meow\n")
    (tmp_path / "b.tsv").write_text("kind\ttext\ncat\tbark\n")
    options = {"label_column": "kind", "features": "dictionary"}
    plan = make_plan(f"{tmp_path}/*.tsv", 2, 10, 0, options)
    assert plan.options["label_type"] == "int"
    assert plan.options["text_column"] == ["text"]
    assert "state" not in plan.options  # nothing was learned yet


@pytest.mark.parametrize("rows", [[], "-", ["a", 3], 7])
def test_rows_that_workers_cannot_open_are_refused(rows):
    with pytest.raises(ValueError, match="rows"):
        make_plan(rows, 2, 10, 0, {})
