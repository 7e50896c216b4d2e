"""The tree as text, for a terminal."""

from __future__ import annotations

from typing import Any

from recalltree.inspection.nodes import NodeTable, node_table
from recalltree.moment import at_one_moment


@at_one_moment
def tree_text(clf: Any, max_depth: int = 4, n_labels: int = 3) -> str:
    """Return the upper part of a model's tree as indented text.

    Parameters
    ----------
    clf : fitted estimator
    max_depth : int, default=4
        Nodes below this depth are only counted.
    n_labels : int, default=3
        How many of a node's candidates are named.

    Returns
    -------
    str

    Examples
    --------
    >>> from recalltree import LOMTreeClassifier
    >>> from recalltree.inspection import tree_text
    >>> clf = LOMTreeClassifier(shuffle=False).fit([[0.0], [1.0], [1.0]], ["a", "b", "b"])
    >>> print(tree_text(clf))
    node 0: 3 examples, 2 labels, recall 1.000
    ├─ left, node 1: 1 example, 1 label, recall 1.000: a 1
    └─ right, node 2: 2 examples, 1 label, recall 1.000: b 2
    """
    nodes = node_table(clf)
    if nodes is None:
        raise ValueError(
            f"{type(clf).__name__} has no tree to show; RecallTreeClassifier and LOMTreeClassifier "
            "have one."
        )
    classes = clf.classes_
    lines: list[str] = []

    def add(node: int, name: str, first: str, rest: str) -> None:
        lines.append(first + name + _describe(nodes, node, classes, n_labels))
        children = [
            (side, int(child))
            for side, child in (("left", nodes.left[node]), ("right", nodes.right[node]))
            if child >= 0
        ]
        if children and nodes.depth[node] >= max_depth:
            below = _count_below(nodes, node)
            lines.append(f"{rest}└─ {below:,} more {'node' if below == 1 else 'nodes'} below")
            return
        for i, (side, child) in enumerate(children):
            last = i + 1 == len(children)
            tick, bar = ("└─ ", "   ") if last else ("├─ ", "│  ")
            add(child, f"{side}, ", rest + tick, rest + bar)

    add(nodes.root, "", "", "")
    return "\n".join(lines)


def _describe(nodes: NodeTable, node: int, classes: Any, n_labels: int) -> str:
    total, labels = nodes.total[node], int(nodes.n_labels[node])
    text = (
        f"node {node}: {total:,.6g} {'example' if total == 1 else 'examples'}, "
        f"{labels:,} {'label' if labels == 1 else 'labels'}, recall {nodes.recall[node]:.3f}"
    )
    if nodes.recall_bound is not None:
        text += f", bound {nodes.recall_bound[node]:.3f}"
    held, counts = nodes.candidates(node)
    named = [f"{classes[i]} {n:,.6g}" for i, n in zip(held[:n_labels], counts, strict=False)]
    if named:
        text += ": " + ", ".join(named) + (", …" if len(held) > len(named) else "")
    return text


def _count_below(nodes: NodeTable, node: int) -> int:
    count, level = 0, [node]
    while level:
        level = [
            int(child)
            for parent in level
            for child in (nodes.left[parent], nodes.right[parent])
            if child >= 0
        ]
        count += len(level)
    return count
