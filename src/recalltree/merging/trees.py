"""Nodes of trees, matched by their paths from the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.merging.labels import NOWHERE, Matched
from recalltree.merging.plan import Fading, Plan, State

NONE = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True)
class MatchedTrees:
    """Merged trees.

    Attributes
    ----------
    nodes : Matched
    routers : Matched
        Rows of the routers' weights.
    links : dict
        The arrays ``tree.left`` and so on.
    """

    nodes: Matched
    routers: Matched
    links: State


def match_trees(plan: Plan, n_roots: int, *, are_routers_alike: bool) -> MatchedTrees:
    """Return the nodes of all trees, each once.

    Parameters
    ----------
    plan : Plan
    n_roots : int
        Roots come first.
    are_routers_alike : bool
        Whether routers at the same place begin alike, as those of trees that vote do. If not, the
        sides of a node mean the same in two models only if the base has its router; what is below
        another is taken from the model whose router has learned most.
    """
    left: list[int] = []  # of merged nodes
    right: list[int] = []
    parent: list[int] = []
    numbers: list[NDArray[np.int64]] = []
    for source in plan.sources:
        own = np.full(len(source["tree.left"]), NOWHERE)
        parents, lefts = source["tree.parent"], source["tree.left"]
        for n in range(len(own)):
            if n < n_roots:
                if n == len(parent):
                    parent.append(-1)
                    left.append(-1)
                    right.append(-1)
                own[n] = n
                continue
            above = int(own[parents[n]])
            side = left if int(lefts[parents[n]]) == n else right
            if side[above] < 0:
                side[above] = len(parent)
                parent.append(above)
                left.append(-1)
                right.append(-1)
            own[n] = side[above]
        numbers.append(own)
    nodes = Matched(len(parent), numbers)
    owners = np.full(nodes.size, NOWHERE)
    if not are_routers_alike:
        nodes, owners = _keep_one_model(plan, nodes, parent)
    links = [np.array(one, dtype=np.int64) for one in (parent, left, right)]
    return _number(plan, nodes, owners, *links)


def _keep_one_model(
    plan: Plan, nodes: Matched, parent: Sequence[int]
) -> tuple[Matched, NDArray[np.int64]]:
    """Leave out what is below a router that models made by themselves, but for one of them.

    Returns the nodes, and the model from which each router is taken: -1 if from all.
    """
    n = nodes.size
    n_base = len(plan.base["tree.left"])
    agreed = np.zeros(n, dtype=bool)  # whether all models mean the same by the node
    agreed[:n_base] = True
    is_open = np.zeros(n, dtype=bool)  # whether sides below the node mean the same
    is_open[nodes.numbers[0]] = plan.base["tree.router"] != NONE
    # A router's bias says how much it has learned; merging keeps that of one model.
    learned = np.full((len(plan.models), n), -1.0)
    for i, model in enumerate(plan.models):
        router = model["tree.router"]
        has = router != NONE
        squares = model["routers.bias_accumulators"][router[has].astype(np.int64)]
        learned[i, nodes.numbers[i + 1][has]] = squares
    best = learned.argmax(axis=0)
    is_open |= learned.max(axis=0) < 0.0  # without a router, all models go to the left
    donor = np.full(n, -1)  # which model a node is taken from, below a router of its own
    for node in range(n):
        above = parent[node]
        if above < 0 or node < n_base or (agreed[above] and is_open[above]):
            agreed[node] = True
        else:
            donor[node] = best[above] if agreed[above] else donor[above]
    numbers = [nodes.numbers[0]]
    for i in range(len(plan.models)):
        own = nodes.numbers[i + 1].copy()
        left_out = (donor[own] >= 0) & (donor[own] != i)
        own[left_out] = NOWHERE
        numbers.append(own)
    return Matched(n, numbers), np.where(is_open, NOWHERE, best)


def _number(
    plan: Plan,
    nodes: Matched,
    owners: NDArray[np.int64],
    parent: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
) -> MatchedTrees:
    """Give numbers to the nodes that are left, and their routers, in the order of the nodes."""
    kept = np.zeros(nodes.size, dtype=bool)
    for own in nodes.numbers:
        kept[own[own >= 0]] = True
    new = np.where(kept, np.cumsum(kept) - 1, NOWHERE)

    def renumber(links: NDArray[np.int64]) -> NDArray[np.uint32]:
        there = np.where(links >= 0, new[links], NOWHERE)[kept]
        return np.where(there >= 0, there, np.int64(NONE)).astype(np.uint32)

    numbers = [np.where(own >= 0, new[own], NOWHERE) for own in nodes.numbers]
    n = int(kept.sum())
    parents = renumber(parent)
    depth = np.zeros(n, dtype=np.uint32)
    for node, above in enumerate(parents.tolist()):
        if above != NONE:
            depth[node] = depth[above] + 1
    routers, has_router = _match_routers(plan, numbers, owners[kept])
    router = np.where(has_router, np.cumsum(has_router) - 1, np.int64(NONE)).astype(np.uint32)
    links = {
        "tree.left": renumber(left),
        "tree.right": renumber(right),
        "tree.parent": parents,
        "tree.depth": depth,
        "tree.router": router,
    }
    return MatchedTrees(Matched(n, numbers), routers, links)


def _match_routers(
    plan: Plan, numbers: list[NDArray[np.int64]], owners: NDArray[np.int64]
) -> tuple[Matched, NDArray[np.bool_]]:
    """Return rows of routers, in the order of their nodes, and which nodes have one."""
    has_router = np.zeros(len(owners), dtype=bool)
    for own, source in zip(numbers, plan.sources, strict=True):
        has_router[own[(own >= 0) & (source["tree.router"] != NONE)]] = True
    row = np.cumsum(has_router) - 1
    rows = []
    for i, (own, source) in enumerate(zip(numbers, plan.sources, strict=True)):
        router = source["tree.router"]
        found = np.full(len(source["routers.bias"]), NOWHERE)
        here = (own >= 0) & (router != NONE)
        here[here] = np.isin(owners[own[here]], [-1, i - 1])
        found[router[here].astype(np.int64)] = row[own[here]]
        rows.append(found)
    return Matched(int(has_router.sum()), rows), has_router


def add_up_histograms(
    plan: Plan, nodes: Matched, fading: Fading
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return node, label, count and order of arrival of all merged entries, ranked node by node.

    Parameters
    ----------
    plan : Plan
    nodes : Matched
    fading : Fading
    """
    keys, counts, orders = [], [], []
    zero = _entries(plan, 0, nodes)
    keys.append(zero[0])
    counts.append(fading.base * zero[1])
    orders.append(zero[2])
    for i in range(1, len(plan.sources)):
        key, count, arrival = _entries(plan, i, nodes)
        keys.append(key)
        counts.append(fading.new[i - 1] * count)
        orders.append(arrival)
        # Less what the base had counted before: of nodes that this model has.
        has = np.isin(zero[0], key)
        keys.append(zero[0][has])
        counts.append(-fading.then[i - 1] * zero[1][has])
        orders.append(np.full(int(has.sum()), np.iinfo(np.int64).max))
    offset = 0
    for i, order in enumerate(orders):
        if i == 0 or i % 2 == 1:
            orders[i] = order + offset
            offset += int(order.max(initial=0)) + 1
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.zeros(len(key))
    np.add.at(total, place, np.concatenate(counts))
    order = np.full(len(key), np.iinfo(np.int64).max)
    np.minimum.at(order, place, np.concatenate(orders))
    total = np.maximum(total, 0.0)
    node, label = key >> 32, key & 0xFFFFFFFF
    # Order of arrival within each node, then rank.
    by_arrival = np.lexsort((order, node))
    sizes = np.bincount(node, minlength=nodes.size)
    begin = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    arrival = np.empty(len(key), dtype=np.int64)
    arrival[by_arrival] = np.arange(len(key)) - begin[node[by_arrival]]
    ranked = np.lexsort((arrival, -total, node))
    return node[ranked], label[ranked], total[ranked], arrival[ranked]


def _entries(
    plan: Plan, i: int, nodes: Matched
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return node and class as one number, the count, and the order of arrival."""
    source = plan.sources[i]
    sizes = np.diff(source["histograms.offsets"]).astype(np.int64)
    node = np.repeat(nodes.numbers[i], sizes)
    kept = node >= 0
    label = plan.classes.numbers[i][source["histograms.labels"][kept]]
    key = node[kept] << 32 | label
    return (
        key,
        source["histograms.counts"][kept],
        source["histograms.arrivals"][kept].astype(np.int64),
    )


def histogram_arrays(
    n_nodes: int,
    node: NDArray[np.int64],
    label: NDArray[np.int64],
    count: NDArray[np.float64],
    arrival: NDArray[np.int64],
    totals: NDArray[Any],
    mass: NDArray[Any],
) -> State:
    """Return the arrays ``histograms.*`` of entries that are ranked node by node."""
    offsets = np.zeros(n_nodes + 1, dtype=np.uint64)
    np.cumsum(np.bincount(node, minlength=n_nodes), out=offsets[1:])
    xlogx = count * np.log(np.where(count > 0.0, count, 1.0))
    sums = np.stack([totals, np.bincount(node, xlogx, n_nodes), mass], axis=1)
    return {
        "histograms.offsets": offsets,
        "histograms.labels": label.astype(np.uint32),
        "histograms.counts": count,
        "histograms.arrivals": arrival.astype(np.uint32),
        "histograms.sums": sums,
    }
