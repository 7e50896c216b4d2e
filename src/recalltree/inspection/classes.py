"""The classes of a model: how often each was seen, and which nodes hold it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.inspection.class_map import NO_CELL
from recalltree.inspection.nodes import NodeTable, node_table
from recalltree.moment import at_one_moment


@at_one_moment
def class_counts(clf: Any) -> NDArray[np.float64] | None:
    """Return the weight of the examples of each class, or None if the model does not count them.

    A Recall Tree counts the examples of every pass, one-against-some those of the first. With
    ``count_decay`` old examples count less. One-against-all and LOMTree do not count.

    Parameters
    ----------
    clf : fitted estimator

    Returns
    -------
    ndarray of shape (n_classes,) or None

    Examples
    --------
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.inspection import class_counts
    >>> clf = RecallTreeClassifier().fit([[0.0], [1.0], [1.0]], ["a", "b", "b"])
    >>> class_counts(clf)
    array([1., 2.])
    """
    core = clf._check_fitted().core
    counts = np.zeros(len(clf.classes_))
    if hasattr(core, "class_examples"):
        learned = core.class_examples()
        counts[: len(learned)] = learned
    elif hasattr(core, "max_depth_now"):  # the root of a Recall Tree sees every example
        class_ids, learned = core.histogram(0)
        counts[class_ids] = learned
    else:
        return None
    return counts


@at_one_moment
def find_class(clf: Any, label: Any, nodes: NodeTable | None = None) -> dict[str, Any]:
    """Return what a model knows of one class.

    Parameters
    ----------
    clf : fitted estimator
    label : object
        One of ``classes_``; for integer labels a string of digits will do.
    nodes : NodeTable, default=None
        Its nodes, if they are at hand.

    Returns
    -------
    dict
        ``label``; ``class_id``, its place in ``classes_``; ``n_examples``, None if the model does
        not count them; ``cell``, where it stands if the model has cells, or None; and ``nodes``,
        those that have it among their candidates, the most examples of it first: dicts of
        ``node``, ``depth``, ``n_examples`` of the class there, ``share`` of the node's examples,
        ``rank`` among its candidates (from 1) and ``recall_bound``.

    Examples
    --------
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.inspection import find_class
    >>> clf = RecallTreeClassifier(shuffle=False).fit([[0.0], [1.0], [1.0]], ["a", "b", "b"])
    >>> found = find_class(clf, "b")
    >>> found["n_examples"], [node["node"] for node in found["nodes"]]
    (2.0, [0, 1, 2])
    """
    class_id = _class_id(clf, label)
    nodes = nodes or node_table(clf)
    counts = class_counts(clf)
    return {
        "label": _plain(clf.classes_[class_id]),
        "class_id": class_id,
        "n_examples": None if counts is None else float(counts[class_id]),
        "cell": _cell(clf._check_fitted().core, class_id),
        "nodes": []
        if nodes is None
        else [_place(nodes, int(node), class_id) for node in nodes.holders(class_id)],
    }


def _place(nodes: NodeTable, node: int, class_id: int) -> dict[str, Any]:
    class_ids, counts = nodes.candidates(node)
    rank = int(np.argmax(class_ids == class_id))
    bound = nodes.recall_bound
    return {
        "node": node,
        "depth": int(nodes.depth[node]),
        "n_examples": float(counts[rank]),
        "share": float(counts[rank] / nodes.total[node]),
        "rank": rank + 1,
        "recall_bound": None if bound is None else float(bound[node]),
    }


def _cell(core: Any, class_id: int) -> int | None:
    if not getattr(core, "has_cells", False) or class_id >= core.n_classes:
        return None
    cell = int(core.class_cells()[class_id])
    return None if cell == NO_CELL else cell


def _class_id(clf: Any, label: Any) -> int:
    classes = clf.classes_
    if isinstance(label, str) and classes.dtype.kind in "iufb":
        # A command line knows strings only.
        names = {str(_plain(known)): i for i, known in enumerate(classes)}
        found = names.get(label)
    else:
        found = next(iter(np.flatnonzero(classes == label).tolist()), None)
    if found is None:
        raise ValueError(
            f"label={label!r} is not one of the {len(classes):,} classes, such as "
            f"{_plain(classes[0])!r}; classes_ has them all."
        )
    return int(found)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
