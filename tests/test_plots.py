"""Plots: what they draw is what inspection says."""

import numpy as np
import pytest
from classifiers import digits

from recalltree import LOMTreeClassifier, OneAgainstAllClassifier, RecallTreeClassifier

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from recalltree import plots  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize(
    "clf",
    [RecallTreeClassifier(max_candidates=3, random_state=0), LOMTreeClassifier(random_state=0)],
    ids=str,
)
def test_plot_tree_draws_a_box_per_node_as_wide_as_its_examples(clf):
    clf.fit(*digits(400))
    axes = clf.plot_tree(n_labels=2)
    (boxes,) = axes.collections
    corners = np.array([path.vertices[:4] for path in boxes.get_paths()])
    widths = corners[:, 1, 0] - corners[:, 0, 0]
    drawn = plots.node_table(clf).total
    np.testing.assert_allclose(np.sort(widths), np.sort(drawn[drawn > 0] / drawn.max()))
    axes.figure.canvas.draw()


def test_plot_tree_leaves_out_what_is_deeper():
    clf = RecallTreeClassifier(max_candidates=3, random_state=0).fit(*digits(400))
    axes = clf.plot_tree(max_depth=1)
    assert axes.get_ylim() == (2, 0)


def test_labels_are_not_taken_for_formulas():
    X, y = digits(100)
    clf = RecallTreeClassifier(random_state=0).fit(X, np.array([f"${d}$ \\frac" for d in y]))
    clf.plot_tree().figure.canvas.draw()


def test_the_curves_are_the_models():
    clf = RecallTreeClassifier(random_state=0).fit(*digits(400))
    _, overall = plots.plot_progressive_error(clf).lines
    np.testing.assert_array_equal(overall.get_ydata(), clf.progressive_curve_["error"])
    (line,) = plots.plot_class_frequency(clf).lines
    assert line.get_ydata().sum() == 400


def test_what_a_model_does_not_have_is_said():
    clf = OneAgainstAllClassifier().fit(*digits(50))
    with pytest.raises(ValueError, match="has no tree"):
        plots.plot_depths(clf)
    with pytest.raises(ValueError, match="does not count"):
        plots.plot_class_frequency(clf)
    assert not hasattr(clf, "plot_tree")


def test_draws_into_given_axes():
    import matplotlib.pyplot as plt

    clf = RecallTreeClassifier(random_state=0).fit(*digits(100))
    _, ax = plt.subplots()
    assert plots.plot_depths(clf, ax) is ax
