import numpy as np
import pytest
from classifiers import digits

from recalltree import LOMTreeClassifier, OneAgainstAllClassifier, RecallTreeClassifier


@pytest.fixture
def clf():
    X, y = digits(1000)
    names = np.array([f"digit {i}" for i in range(10)])
    return RecallTreeClassifier(max_candidates=2, random_state=0).fit(X, names[y])


def test_nodes(clf):
    tree = clf.tree_
    assert tree.n_nodes == len(tree) > 3
    for array in (tree.left, tree.right, tree.parent, tree.depth, tree.total, tree.recall_bound):
        assert len(array) == len(tree)
    assert (tree.depth[0], tree.parent[0], tree.total[0]) == (0, -1, 1000)
    assert tree.max_depth <= 4
    assert ((tree.recall_bound >= 0) & (tree.recall_bound <= 1)).all()
    for node in range(len(tree)):
        for child in tree.children(node):
            assert tree.parent[child] == node
            assert tree.depth[child] == tree.depth[node] + 1
            assert tree.total[child] <= tree.total[node]


def test_histograms(clf):
    tree = clf.tree_
    _, y = digits(1000)
    labels, counts = tree.histogram(0)
    assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == {
        f"digit {i}": (y == i).sum() for i in range(10)
    }
    for node in range(len(tree)):
        labels, counts = tree.histogram(node)
        assert len(labels) == tree.n_labels[node]
        assert counts.sum() == pytest.approx(tree.total[node])
        assert (np.diff(counts) <= 0).all()
        assert tree.candidates(node).tolist() == labels[:2].tolist()


def test_view_is_of_the_model_as_it_is(clf):
    tree = clf.tree_
    assert tree.total[0] == 1000
    clf.partial_fit(digits(100)[0], ["new"] * 100)
    assert tree.total[0] == 1100
    assert tree.n_labels[0] == 11
    assert "new" in tree.histogram(0)[0]


def test_recall_bound_is_equation_1(clf):
    tree = clf.tree_
    _, counts = tree.histogram(0)
    recall, total = counts[:2].sum() / counts.sum(), counts.sum()
    expected = recall - np.sqrt(recall * (1 - recall) / total) - 1 / total
    assert tree.recall_bound[0] == pytest.approx(expected, rel=1e-5)


def test_wrong_node(clf):
    for node in (-1, len(clf.tree_)):
        with pytest.raises(ValueError, match=f"node={node}: nodes are numbered from 0 to"):
            clf.tree_.histogram(node)


def test_repr(clf):
    tree = clf.tree_
    n_leaves = sum(not tree.children(node) for node in range(len(tree)))
    assert repr(tree) == (
        f"<RecallTreeView: {len(tree)} nodes, {n_leaves} of them leaves, depth {tree.max_depth}>"
    )


def test_lom_tree():
    X, y = digits(500)
    names = np.array([f"digit {i}" for i in range(10)])
    clf = LOMTreeClassifier(max_nodes=5, swap_resistance=0.01, random_state=0).fit(X, names[y])
    tree = clf.tree_
    assert len(tree) == 11
    assert (tree.is_leaf.sum(), tree.depth[tree.root], tree.parent[tree.root]) == (6, 0, -1)
    assert (tree.parent < 0).sum() == 1
    reached = [tree.root]
    for node in reached:
        for child in tree.children(node):
            assert tree.parent[child] == node
            assert tree.depth[child] == tree.depth[node] + 1
            reached.append(child)
    assert sorted(reached) == list(range(11))
    for leaf in np.flatnonzero(tree.is_leaf):
        labels, counts = tree.histogram(leaf)
        assert (np.diff(counts) <= 0).all()
        assert tree.majority[leaf] == labels[0]
    assert repr(tree).startswith("<LOMTreeView: 11 nodes, 6 of them leaves, depth ")


def test_one_against_all_has_no_tree():
    assert not hasattr(OneAgainstAllClassifier().fit(*digits(50)), "tree_")
