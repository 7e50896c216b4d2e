"""Stored results of a data set, each method once, with times as multiples of ours.

The methods of a set were measured in several runs, at different times of a machine that had other
work to do. So a time is divided by that of ``OneAgainstSomeClassifier`` in the same run. A run
without it is joined by another algorithm of ours that both runs have.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

OURS = "OneAgainstSomeClassifier"
ALGORITHMS = {
    "one-against-some": OURS,
    "recall-tree": "RecallTreeClassifier",
    "lom-tree": "LOMTreeClassifier",
    "one-against-all": "OneAgainstAllClassifier",
}
#: Vowpal Wabbit's reductions, by our algorithm that takes turns with them.
OF_VOWPAL = {
    "one-against-some": "Vowpal Wabbit, `--recall_tree`",
    "recall-tree": "Vowpal Wabbit, `--recall_tree`",
    "lom-tree": "Vowpal Wabbit, `--log_multi`",
    "one-against-all": "Vowpal Wabbit, `--oaa`",
}
#: Sets with pairs of neighbouring words beside words.
BIGRAMS = "-bigrams"
PROGRAMS = {
    "pecos": "PECOS",
    "omikuji": "omikuji",
    "napkinxc": "napkinXC",
    "napkinxc-plt": "napkinXC, label tree",
    "napkinxc-br": "napkinXC, one against all",
    "fasttext": "fastText",
    "vowpal": "Vowpal Wabbit, `--plt`",
    "class means, BLAS": "class means, all compared (BLAS)",
    "hnswlib, means, ef=24": "hnswlib over class means, ef = 24",
    "hnswlib, means, ef=100": "hnswlib over class means, ef = 100",
    "hnswlib, rows, ef=100": "hnswlib over all rows, ef = 100",
    "faiss flat, means": "faiss over class means, flat",
    "faiss IVF, means": "faiss over class means, IVF",
    "faiss HNSW, means": "faiss over class means, HNSW",
    "faiss flat, rows": "faiss over all rows, flat",
    "faiss IVF, rows": "faiss over all rows, IVF",
    "faiss HNSW, rows": "faiss over all rows, HNSW",
    "NearestCentroid": "`NearestCentroid` of scikit-learn",
    "SGDClassifier": "`SGDClassifier` of scikit-learn",
    "full softmax": "full softmax in PyTorch",
    "adaptive softmax": "adaptive softmax in PyTorch",
}


@dataclass(frozen=True)
class Method:
    """Results of one method: scores in per cent, CPU time per row, peak memory of the process.

    ``learn`` and ``predict`` are microseconds as measured, ``times_learn`` and ``times_predict``
    multiples of ours in the same run. ``apart`` tells that the run had nothing of ours.
    """

    name: str
    scores: dict[str, float]
    learn: float
    predict: float
    peak_rss: float
    n_train: int
    n_test: int
    times_learn: float = 1.0
    times_predict: float = 1.0
    apart: bool = False

    @property
    def is_ours(self) -> bool:
        return self.name == OURS

    @property
    def error(self) -> float:
        return self.scores["error"]

    @property
    def rank(self) -> float:
        """Smaller is better."""
        return self.scores["error"] if "error" in self.scores else -self.scores["P@1"]


def methods(name: str, *, first: str, pattern: Iterable[str], n_train: int) -> list[Method]:
    """Return the methods of a set that learned all its rows, the best first.

    Parameters
    ----------
    name : str
        The set.
    first : str
        The file that has our own times and scores.
    pattern : iterable of str
        Which files hold results of the set.
    n_train : int
        Rows of a whole run; results of samples are left out.
    """
    names = [first, *sorted({p.stem for glob in pattern for p in RESULTS.glob(f"{glob}.json")})]
    runs = {file: list(_read(file, name, n_train)) for file in dict.fromkeys(names)}
    found: dict[str, Method] = {}
    for run in runs.values():
        learn, predict, apart = _ours(run, runs.values())
        for method in run:
            kept = found.get(method.name)
            # Our own numbers are those of the first file; others have their best weighting.
            mine = method.name.split(",")[0] in ALGORITHMS.values()
            if kept is None or (method.rank < kept.rank and not mine):
                found[method.name] = replace(
                    method,
                    times_learn=method.learn / learn,
                    times_predict=method.predict / predict,
                    apart=apart,
                )
    return sorted(found.values(), key=lambda method: method.rank)


def _ours(run: list[Method], runs: Iterable[list[Method]]) -> tuple[float, float, bool]:
    """Return what ours took, or would have taken, in a run; and whether that is a guess."""
    runs = list(runs)
    here = {method.name: method for method in run}
    if OURS in here:
        return here[OURS].learn, here[OURS].predict, False
    for other in runs:
        there = {method.name: method for method in other}
        for name in ALGORITHMS.values():
            if OURS in there and name in there and name in here:
                ours, link = there[OURS], there[name]
                learn = here[name].learn * ours.learn / link.learn
                return learn, here[name].predict * ours.predict / link.predict, False
    ours = next(method for other in runs for method in other if method.is_ours)
    return ours.learn, ours.predict, True


def _read(file: str, name: str, n_train: int) -> Iterator[Method]:
    for result in json.loads((RESULTS / f"{file}.json").read_text())["results"]:
        if "note" in result:  # the program was ended
            continue
        if result.get("set") in (name, name + BIGRAMS) and result["n_train"] == n_train:
            if "algorithm" in result:
                yield from _beside_vowpal(result)
            elif "program" in result:
                yield from _of_program(result)


def _beside_vowpal(result: dict[str, Any]) -> Iterator[Method]:
    sizes = {key: result[key] for key in ("n_train", "n_test")}
    if mine := result["recalltree"]:
        yield Method(
            ALGORITHMS[result["algorithm"]],
            {"error": 100 * mine["error"]},
            mine["train"]["cpu"],
            mine["predict"]["cpu"],
            mine["peak_rss"],
            **sizes,
        )
    if (theirs := result["vowpal"]) and result["algorithm"] in OF_VOWPAL:
        yield Method(
            OF_VOWPAL[result["algorithm"]],
            {"error": 100 * theirs["error"]},
            theirs["train"]["net"]["cpu"],
            theirs["predict"]["net"]["cpu"],
            theirs["peak_rss"],
            **sizes,
        )


def _of_program(result: dict[str, Any]) -> Iterator[Method]:
    setting = result.get("setting", "defaults")
    program, *parameters = result["program"].split("recalltree", 1)
    if parameters:  # ours, perhaps with several passes
        shown = OURS + parameters[0] + ("" if setting == "defaults" else f", {setting}")
    else:
        shown = PROGRAMS.get(program, program)
        shown += "" if setting == "defaults" else f", `{setting}`"
    if result["set"].endswith(BIGRAMS):
        shown += ", pairs of words"
    scores = result["metrics"] if "metrics" in result else {"error": result["error"]}
    answers = result["answers"]["1"]["times"] if "answers" in result else result["predict"]
    yield Method(
        shown,
        {key: 100 * value for key, value in scores.items()},
        result["learn" if "learn" in result else "train"]["cpu"],
        answers["cpu"],
        result["peak_rss"],
        result["n_train"],
        result["n_test"],
    )
