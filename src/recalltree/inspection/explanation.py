"""Why a model answers as it does for one row."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

#: Number of features shown with each router's decision.
ROUTER_FEATURES = 3
#: How many cells are printed, the nearest first.
PRINTED_CELLS = 8


@dataclass(frozen=True)
class FeatureShare:
    """The part of a score that one feature of the row adds.

    ``vote`` is the part that comes from the histograms of one-against-some; the predictor adds the
    rest. None where nothing votes.
    """

    name: str
    value: float
    contribution: float
    vote: float | None = None

    def __str__(self) -> str:
        text = f"{self.contribution:+.4f}  {self.name} = {self.value:g}"
        if self.vote is not None:
            text += f"  (vote {self.vote:+.4f}, predictor {self.contribution - self.vote:+.4f})"
        return text


@dataclass(frozen=True)
class NodeShare:
    """Vote of a node of the trees for a class, and the part of its score that it adds."""

    node: int
    vote: float

    def __str__(self) -> str:
        return f"{self.vote:+.4f} node {self.node}"


@dataclass(frozen=True)
class CellRead:
    """A cell that was read: the classes that stand there, and how many of them were found."""

    cell: int
    n_classes: int
    n_found: int


@dataclass(frozen=True)
class CellSearch:
    """Search of the cells for candidates.

    Attributes
    ----------
    read : tuple of CellRead
        The cells whose classes were compared, the nearest first.
    n_cells : int
        How many cells there are.
    n_compared : int
        Sketches that were compared: of classes, and of nodes above the cells.
    n_found : int
        Classes that became candidates in this way.
    """

    read: tuple[CellRead, ...]
    n_cells: int
    n_compared: int
    n_found: int

    def __str__(self) -> str:
        lines = [
            f"cells: {len(self.read):,} of {self.n_cells:,} read, {self.n_compared:,} sketches "
            f"compared, {self.n_found:,} classes found",
            f"{'cell':>8}  {'classes':>8}  {'found':>6}",
        ]
        for cell in self.read[:PRINTED_CELLS]:
            lines.append(f"{cell.cell:>8}  {cell.n_classes:>8,}  {cell.n_found:>6,}")
        rest = self.read[PRINTED_CELLS:]
        if rest:
            found = sum(cell.n_found for cell in rest)
            lines.append(f"and {len(rest):,} more cells, where {found:,} classes were found")
        return "\n".join(lines)


@dataclass(frozen=True)
class VectorShare:
    """Part of a class's score that its vector in a cell adds, without the bias.

    ``mean`` comes from the mean of its rows and ``weights`` from what it learned; a compacted model
    has them joined: then ``mean`` is None and ``weights`` is both. ``cell`` is None for a class of
    which no row was counted. ``found`` tells whether the cells found it.
    """

    mean: float | None
    weights: float
    cell: int | None
    found: bool

    def __str__(self) -> str:
        if self.mean is None:
            text = f"{self.weights:+.4f} vector"
        else:
            text = f"{self.mean:+.4f} mean, {self.weights:+.4f} weights"
        where = "in no cell" if self.cell is None else f"in cell {self.cell}"
        return f"{text}  ({where}{'' if self.found else ', not found there'})"


@dataclass(frozen=True)
class RouteStep:
    """A node on the route: what it has seen, and where its router sends the row."""

    node: int
    depth: int
    n_examples: float
    n_labels: int
    recall_bound: float | None  # None where the algorithm has no such bound
    margin: float | None  # None where no router was asked
    goes: str | None  # "left" or "right", where the margin points
    features: tuple[FeatureShare, ...]  # the largest parts of the margin


@dataclass(frozen=True)
class CandidateShare:
    """A candidate: its score, and what that is made of.

    ``score`` is the sum of ``features``, ``other_features``, ``bias`` and ``path``, where the
    algorithm has predictors; otherwise it is ``n_examples``, and these are None. Where the nodes of
    trees vote, ``path`` is the sum of ``nodes``. Where there are cells, the parts of ``vector`` add
    to the score, too.
    """

    label: Any
    score: float
    probability: float
    n_examples: float | None  # of this label, at the node where the row stopped
    features: tuple[FeatureShare, ...]
    other_features: float | None
    bias: float | None
    path: float | None
    nodes: tuple[NodeShare, ...] = ()
    vector: VectorShare | None = None


@dataclass(frozen=True)
class Explanation:
    """Why a model answers as it does for one row; ``str`` prints it, ``as_dict`` is for JSON.

    Attributes
    ----------
    algorithm : str
    label : object
        The answer.
    route : tuple of RouteStep
        From the root to the node where the row stopped; empty for one-against-all.
    stopped : str or None
        Why it stopped there.
    candidates : tuple of CandidateShare
        The best of them, the best first.
    n_candidates : int
        How many classes were compared.
    cells : CellSearch or None
        How cells found candidates, where there are any.
    """

    algorithm: str
    label: Any
    route: tuple[RouteStep, ...]
    stopped: str | None
    candidates: tuple[CandidateShare, ...]
    n_candidates: int
    cells: CellSearch | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as plain dicts, lists, strings and numbers."""
        return _plain(asdict(self))

    def __str__(self) -> str:
        lines = [f"{self.algorithm} answers {self.label}"]
        if self.route:
            lines += ["", *self._route_lines()]
        if self.cells is not None:
            lines += ["", str(self.cells)]
        lines += ["", *self._candidate_lines()]
        return "\n".join(lines)

    def _route_lines(self) -> list[str]:
        bounded = self.route[0].recall_bound is not None
        head = f"{'depth':>5}  {'node':>7}  {'examples':>11}  {'labels':>8}"
        lines = [head + ("  recall bound  " if bounded else "  ") + "router"]
        for step in self.route:
            line = (
                f"{step.depth:>5}  {step.node:>7}  {step.n_examples:>11,.6g}  {step.n_labels:>8,}"
            )
            if bounded:
                line += f"  {step.recall_bound:>12.4f}"
            if step.margin is not None:
                line += f"  {step.margin:+.3f} {step.goes}"
                shares = ", ".join(f"{f.name} {f.contribution:+.3f}" for f in step.features)
                line += f"  ({shares})" if shares else ""
            lines.append(line)
        lines.append(f"stopped at node {self.route[-1].node}: {self.stopped}")
        return lines

    def _candidate_lines(self) -> list[str]:
        lines = [f"candidates, {len(self.candidates)} best of {self.n_candidates:,}"]
        for rank, c in enumerate(self.candidates, 1):
            here = "" if c.n_examples is None else f"  seen here {c.n_examples:,.6g} times"
            lines.append(
                f"{rank:>3}. {c.label}  score {c.score:+.4f}  probability {c.probability:.4f}{here}"
            )
            for f in c.features:
                lines.append(f"       {f}")
            if c.vector is not None:
                lines.append(f"       {c.vector}")
            if c.bias is not None:
                rest = [f"{c.other_features:+.4f} other features", f"{c.bias:+.4f} bias"]
                if self.route:
                    rest.append(f"{c.path:+.4f} route")
                if c.nodes:
                    rest.append(f"{c.path:+.4f} votes of nodes")
                lines.append("       " + ", ".join(rest))
                voted = [str(node) for node in c.nodes if node.vote]
                for i in range(0, len(voted), 3):
                    lines.append("         " + ", ".join(voted[i : i + 3]))
        return lines


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value
