"""The report's page: self-contained, bounded in size, and true to the model."""

import base64
import gzip
import json
import re

import numpy as np
import pytest
from classifiers import digits

from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)
from recalltree.inspection import Evaluation, ListEvaluation, html_report, report_data
from recalltree.label_lists import as_label_lists


def written(clf, tmp_path, **options):
    return html_report(clf, tmp_path / "report.html", **options).read_text(encoding="utf-8")


def data_of(page):
    packed = re.search(r'<script type="text/plain" id="data">([^<]*)</script>', page)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.fixture(scope="module")
def tree():
    return RecallTreeClassifier(max_candidates=3, random_state=0).fit(*digits(400))


def test_asks_for_nothing(tree, tmp_path):
    page = written(tree, tmp_path)
    body = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.findall(r"(?:https?:)?//\w+\.\w+", body)
    assert "default-src 'none'" in page


def test_the_same_model_makes_the_same_page(tree, tmp_path):
    assert written(tree, tmp_path) == written(tree, tmp_path)


def test_a_title_is_text(tree, tmp_path):
    page = written(tree, tmp_path, title="<b>{{data}}</b>")
    assert "<title>&lt;b&gt;{{data}}&lt;/b&gt;</title>" in page


def test_shows_the_tree_as_it_is(tree, tmp_path):
    shown = data_of(written(tree, tmp_path))["tree"]
    view = tree.tree_
    assert sorted(shown["id"]) == list(range(len(view)))
    ids = np.array(shown["id"])
    for name in ("parent", "left", "right"):
        places = np.array(shown[name])
        real = np.where(places >= 0, ids[places], -1)
        np.testing.assert_array_equal(real, getattr(view, name)[ids])
    np.testing.assert_allclose(shown["quality"], view.recall_bound[ids], rtol=1e-4)


def test_an_evaluation_may_be_given_instead_of_rows(tree, tmp_path):
    X, y = digits(200)
    both = [
        data_of(written(tree, tmp_path, confusion=confusion))
        for confusion in ((X, y), Evaluation(tree).update(X[:90], y[:90]).update(X[90:], y[90:]))
    ]
    for data in both:
        del data["evaluation"]["microseconds_per_row"]
    assert both[0]["evaluation"] == both[1]["evaluation"]
    assert both[0]["confused"] == both[1]["confused"]
    other = OneAgainstAllClassifier().fit(X, y)
    with pytest.raises(ValueError, match="another model"):
        written(tree, tmp_path, confusion=Evaluation(other))


def test_of_a_large_model_it_shows_the_largest_part(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(report_data, "MAX_NODES", 6)
    monkeypatch.setattr(report_data, "MAX_CLASSES", 4)
    monkeypatch.setattr(report_data, "ALL_HOLDERS", 12)
    data = data_of(written(tree, tmp_path))
    shown, classes = data["tree"], data["classes"]
    assert "the 6 nodes with the most examples, of" in shown["note"]
    totals = tree.tree_.total
    assert min(totals[shown["id"]]) >= max(np.delete(totals, shown["id"]))
    assert shown["hidden_below"][0] == len(totals) - 6
    assert len(classes["labels"]) == 4
    assert classes["n_classes"] == 10
    # Nodes that are not drawn are found under the nearest node above them that is.
    parent = tree.tree_.parent
    for place, node in zip(classes["holders"], classes["holder_ids"], strict=True):
        while node not in shown["id"]:
            node = parent[node]
        assert shown["id"][place] == node


@pytest.mark.parametrize("kind", [RecallTreeClassifier, LOMTreeClassifier])
def test_stays_small_for_very_many_classes(kind, tmp_path):
    rng = np.random.default_rng(0)
    n_classes = 30_000
    X = rng.normal(size=(40_000, 8)).astype(np.float32)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=10_000)])
    labels = np.array([f"class {i} {'of a long name ' * 20}" for i in range(n_classes)])
    clf = kind(random_state=0).fit(X, labels[y])
    page = written(clf, tmp_path, confusion=(X[:500], labels[y[:500]]))
    assert len(page) < 4_000_000


def test_an_evaluation_of_no_rows_is_as_good_as_none(tree, tmp_path):
    assert data_of(written(tree, tmp_path, confusion=Evaluation(tree)))["evaluation"] is None


# --- rows with several labels -----------------------------------------------------------------


def digits_and_parity(n=400):
    """Return images with two labels each: the digit, and even or odd."""
    X, y = digits(n)
    return X, [[f"{digit}", "odd" if digit % 2 else "even"] for digit in y.tolist()]


@pytest.mark.parametrize(
    "kind", [RecallTreeClassifier, OneAgainstAllClassifier, OneAgainstSomeClassifier]
)
def test_rows_may_have_several_labels(kind, tmp_path):
    X, y = digits_and_parity()
    clf = kind(random_state=0).fit(X[:300], y[:300])
    lists = as_label_lists(y[300:])
    confusions = [
        (X[300:], y[300:]),
        (X[300:], lists),
        ListEvaluation(clf).update(X[300:350], lists[:50]).update(X[350:], lists[50:]),
    ]
    pages = [data_of(written(clf, tmp_path, confusion=given)) for given in confusions]
    data = pages[0]
    for other in pages:
        del other["evaluation"]["microseconds_per_row"]
        del other["evaluation"]["stops"]
        assert other["evaluation"] == pytest.approx(data["evaluation"])
        for name in ("lists", "confused", "classes"):
            assert other[name] == data[name]
    assert data["lists"]["sizes"] == [{"from": 2, "to": 2, "n_rows": 100}]
    assert data["evaluation"]["precision@1"] > 0.5
    assert sum(data["classes"]["rows"]) == 200
    other = kind(random_state=0).fit(X[:300], y[:300])
    with pytest.raises(ValueError, match="another model"):
        written(other, tmp_path, confusion=confusions[2])


def test_rows_with_one_label_have_no_results_of_lists(tree, tmp_path):
    assert "lists" not in data_of(written(tree, tmp_path, confusion=digits(50)))


def test_a_model_of_single_labels_may_be_shown_rows_with_lists(tmp_path):
    X, y = digits_and_parity(200)
    clf = LOMTreeClassifier(random_state=0).fit(X, [labels[0] for labels in y])
    data = data_of(written(clf, tmp_path, confusion=(X, y)))
    assert data["evaluation"]["unknown_labels"] == 0.5  # even and odd
    assert data["lists"]["labels"]["unknown_labels"] == 0.5
    assert {label["place"] for row in data["lists"]["worst"] for label in row["labels"]} >= {-1}


@pytest.mark.parametrize("y", [[[], []], [[], ["never learned"]]], ids=["none", "unknown"])
def test_rows_without_any_label_that_is_known(y, tmp_path):
    X, learned = digits_and_parity(100)
    clf = RecallTreeClassifier(random_state=0).fit(X, learned)
    data = data_of(written(clf, tmp_path, confusion=(X[:2], y)))
    assert data["evaluation"]["precision@1"] == 0
    assert data["confused"] == []
    assert len(data["lists"]["worst"]) == sum(map(bool, y))
    assert (data["lists"]["labels"] is None) == (not any(y))
    assert (data["evaluation"]["candidate_recall"] is None) == (not any(y))


def test_a_page_of_many_long_lists_stays_small(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.array([f"class {i} {'of a long name ' * 20}" for i in range(2_000)])
    y = [labels[rng.integers(2_000, size=300)].tolist() for _ in range(400)]
    X = rng.normal(size=(400, 8)).astype(np.float32)
    clf = RecallTreeClassifier(random_state=0).fit(X, [row[:1] for row in y])
    page = written(clf, tmp_path, confusion=(X, y))
    assert len(page) < 1_000_000
    data = data_of(page)
    assert len(data["lists"]["sizes"]) <= 72
    assert sum(bar["n_rows"] for bar in data["lists"]["sizes"]) == 400
    worst = data["lists"]["worst"]
    assert len(worst) == 50
    assert all(len(row["labels"]) == 40 < row["n_labels"] for row in worst)
