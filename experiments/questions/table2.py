"""Table 2 and figure 4: the paper's three methods and one-against-some, on every set.

Every method runs with defaults and tuned. Defaults are the estimators': those of the paper, and
what its table does not list as `ablation` found it. Tuning takes the best of some random probes: on
a held-out tenth of the training rows of a small set, else by progressive validation on the first
tenth. The best is then trained on everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.report import number

from experiments import sampled_negatives, search
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.comparison import ALGORITHMS, COSTS, OURS, PAPERS, STANDARD_PROBES, Comparison
from experiments.data.task import Task
from experiments.experiment import Experiment
from experiments.measured import VALIDATION_SHARE, evaluate, learn, learn_and_test, passes_of
from experiments.methods import NAMES, make_model, n_negatives
from experiments.paper import FEWER, MORE, SAME
from experiments.report.section import FAILS, HOLDS, IN_PART, Section, answer_of, percent
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("glyphs", "webdirectory", "wikipassage", "wikitext")


def units(budget: Budget) -> Iterator[Unit]:
    """Yield, for each set and method: the defaults, the probes, the best of them."""
    for name in budget.sets_or(SETS):
        for algorithm in budget.algorithms_or(ALGORITHMS):
            same: dict[str, Any] = {
                "set": name,
                "algorithm": algorithm,
                **budget.size,
                "passes": budget.passes,
                **budget.sampling_of(algorithm),
            }
            for seed in range(budget.seeds):
                yield {"kind": "default", **same, "seed": seed}
            for probe in range(budget.probes):
                yield {"kind": "probe", **same, "probe": probe}
            if budget.probes:
                for seed in range(budget.seeds):
                    yield {"kind": "tuned", **same, "seed": seed, "probes": budget.probes}


def needs(unit: Unit) -> Sequence[Unit]:
    """Return the probes among which the best is trained."""
    if unit["kind"] != "tuned":
        return ()
    same = {k: v for k, v in unit.items() if k not in ("kind", "seed", "probes")}
    return [{"kind": "probe", **same, "probe": probe} for probe in range(unit["probes"])]


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Do one training."""
    task = bench.task(unit)
    passes = passes_of(task, unit["passes"])
    if unit["kind"] == "probe":
        return _run_probe(unit, task, passes)
    parameters: dict[str, Any] = {}
    if unit["kind"] == "tuned":
        parameters, tuning = _best_probe(unit, bench)
    sampled, max_test_rows = _sampling(unit, task, passes)
    _, found = learn_and_test(
        task,
        unit["algorithm"],
        {**parameters, **sampled},
        seed=unit["seed"],
        passes=passes,
        max_test_rows=max_test_rows,
    )
    found |= {"parameters": parameters, **sampled}
    if sampled:
        found["full_seconds_estimate"] = sampled_negatives.estimate_full_seconds(task, passes)
    if unit["kind"] == "tuned":
        found["tuning"] = tuning
    return found


def _sampling(unit: Unit, task: Task, passes: int) -> tuple[dict[str, Any], int | None]:
    if unit["algorithm"] != "one-against-all":
        return {}, None
    return sampled_negatives.sampling(task, passes, unit["full_updates"], unit["negative_samples"])


def _run_probe(unit: Unit, task: Task, passes: int) -> dict[str, Any]:
    parameters = search.probe(unit["algorithm"], task, unit["probe"])
    share = VALIDATION_SHARE
    part = task.hold_out(share, seed=0) if task.is_small else task.head(share)
    sampled, max_test_rows = _sampling(unit, task, passes)  # as the final training will be
    model = make_model(unit["algorithm"], 0, **parameters, **sampled)
    if sampled and not task.is_small:
        error, seconds = sampled_negatives.learn_validated(model, part)
    else:
        found = learn(model, part, None, passes)
        error, seconds = found["progressive_error"], found["train_seconds"]
        if task.is_small:
            error = evaluate(model, part, max_test_rows)["error"]
    return {
        "parameters": parameters,
        "validation_error": error,
        "n_train": part.n_train,
        "seconds": seconds,
    }


def _best_probe(unit: Unit, bench: Bench) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the best parameters among the probes of the unit's set and method."""
    results = [bench.store.get(probe)["result"] for probe in needs(unit)]
    best = min(results, key=lambda result: result["validation_error"])
    seconds = sum(result["seconds"] for result in results)
    tuning = {"validation_error": best["validation_error"], "seconds": seconds}
    return best["parameters"], tuning


TREE, EVERYTHING, LOM = PAPERS
#: Factors that still count as two, and as far faster.
ABOUT_TWICE, FAR = 2.5, 20.0


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    shown = Comparison(records)
    page.say("Test error with default and with tuned parameters:")
    page.table(["set", "parameters", *(NAMES[a] for a in ALGORITHMS)], shown.error_rows())
    page.bullets(f"({letter}) {note}" for note, letter in shown.notes.items())
    page.say(
        f"""Tuned: the best of {STANDARD_PROBES} random probes, as in the paper, measured on a
        held-out tenth of a small set and otherwise by progressive validation on the first tenth.
        The best is trained again on all rows. Small sets are learned in several passes with early
        stopping on a held-out tenth, others in one. Tests are on at most 20,000 rows, those of
        one-against-all with sampled negatives on 2,000 to 9,000."""
    )
    page.figure("table2-error", "Test error, with defaults and tuned", shown.draw_errors)
    for text in (*shown.negatives(), ALL_NEGATIVES):
        page.say(text)
    page.say("Cost with default parameters (evaluations: of hyperplanes):")
    page.table(["set", "method", *COSTS.values(), "the paper's, µs", "MB"], shown.cost_rows())
    if text := shown.other_machines():
        page.say(text)
    page.figure("table2-time", "CPU time per prediction, with defaults", shown.draw_times)
    page.say(
        """The Recall Tree beside the paper's other two methods, and one-against-some beside the
        best of the three (N-1 chi-squared test on the first seeds, where both learned the same
        rows):"""
    )
    page.table(
        ["set", "parameters", "method", "against", "has", "in the paper"], shown.comparison_rows()
    )
    for text in filter(None, (shown.tuned_worse(), shown.uncertain_choices())):
        page.say(text)
    page.say(lost_in_the_tree(shown))
    page.say(TRIED)
    find_errors(page, shown)
    find_costs(page, shown)
    find_ours(page, shown)
    return page


ALL_NEGATIVES = """All negatives were tried on webdirectory, too: after nine minutes the model
took 28 GB, more than the 24 GB of the machine with two cores, and the run was given up."""

TRIED = """What was tried to explain the difference on the small set: more passes (table 2 has up to
20); more candidates and path features, also crossed with x as in the authors' scripts ([path
features](#figure-5b-path-features-and-candidates)); the choices that the paper leaves open
([ablation](#choices-that-the-paper-leaves-open)); and the authors' own program on the same rows,
with path features crossed with x and without ([Vowpal Wabbit](#vowpal-wabbit-on-the-same-rows)).
None of them brings the Recall Tree below one-against-all, and the authors' program has the two in
the same order. So the best explanation is the data: one-against-all finds this set easier than
ALOI, and a tree finds it harder. LOMTree is ahead of the Recall Tree on the sets that stand in for
ODP. It is in the paper's own table, too, though not in its text. On wikitext the Recall Tree is
ahead of one-against-all, but twice as many negatives still take 0.4 points off its error: with all
of them the order may be the other."""


def lost_in_the_tree(shown: Comparison) -> str:
    """Say how many errors of the Recall Tree no predictor of classes could avoid."""
    found = {n: shown.of(n, TREE)[0]["result"] for n in shown.sets if shown.of(n, TREE)}
    lost = (
        f"{percent(1 - r['candidate_recall'])} of {percent(r['error'])} points on {name}"
        for name, r in found.items()
    )
    return f"""**Where this differs from the paper.** Most errors of the Recall Tree are made on the
        way down the tree, where the label is lost from the candidates: {", ".join(lost)}
        (defaults, first seed). Better predictors of classes cannot avoid these."""


def listed(shown: Comparison, pairs: Sequence[tuple[str, str, str]]) -> str:
    """Return the errors of pairs of methods, set by set."""
    return "; ".join(
        f"{name}: {percent(shown.error(name, a))}% against {percent(shown.error(name, b))}%"
        for name, a, b in pairs
    )


def find_errors(page: Section, shown: Comparison) -> None:
    """Add the paper's claims about the errors of its methods."""
    small = [name for name in shown.sets if shown.largest(name)[1] > 1]
    large = [name for name in shown.sets if name not in small]
    for claim, other, names, wanted in (
        ("fewer errors than one-against-all on a small, dense set", EVERYTHING, small, [FEWER]),
        ("somewhat more errors than one-against-all on larger sets", EVERYTHING, large, [MORE]),
        ("fewer errors than LOMTree, or about as many", LOM, shown.sets, [FEWER, SAME]),
    ):
        pairs = [
            (name, a, b)
            for name, kind, a, b in shown.pairs()
            if (kind, a, b) == ("default", TREE, other) and name in names
        ]
        if pairs:
            outcomes = [shown.outcome(name, "default", a, b)[0] in wanted for name, a, b in pairs]
            page.find(f"The Recall Tree makes {claim}", answer_of(outcomes), listed(shown, pairs))


def find_costs(page: Section, shown: Comparison) -> None:
    """Add the paper's claims about time and memory."""

    def times(other: str, measure: str) -> dict[str, float]:
        alike = [p[0] for p in shown.pairs() if p[1:] == ("default", TREE, other)]
        return {n: shown.mean(n, TREE, measure) / shown.mean(n, other, measure) for n in alike}

    def written(ratios: dict[str, float], what: str) -> str:
        return "; ".join(f"{name}: {number(ratio)} times {what}" for name, ratio in ratios.items())

    if ratios := times(EVERYTHING, "predict_microseconds"):
        faster = {name: 1 / ratio for name, ratio in ratios.items()}
        page.find(
            "The Recall Tree predicts far faster than one-against-all where classes are many (300 "
            "times on ODP)",
            HOLDS if max(faster.values()) > FAR else FAILS,
            written(faster, "faster"),
        )
    if ratios := times(LOM, "predict_microseconds"):
        page.find(
            "The Recall Tree predicts more slowly than LOMTree",
            answer_of([ratio > 1 for ratio in ratios.values()]),
            written(ratios, "the time"),
        )
    if ratios := times(EVERYTHING, "memory_bytes"):
        full = {n: r for n, r in ratios.items() if n_negatives(shown.of(n, EVERYTHING)[0]) > 1e9}
        if full:
            page.find(
                "The Recall Tree takes at most about twice the memory of one-against-all",
                answer_of([ratio < ABOUT_TWICE for ratio in full.values()]),
                written(full, "the memory"),
            )


def find_ours(page: Section, shown: Comparison) -> None:
    """Add how one-against-some does beside the paper's methods."""
    pairs = [(n, a, b) for n, kind, a, b in shown.pairs() if (kind, a) == ("default", OURS)]
    if pairs:
        fewer = [shown.outcome(name, "default", a, b)[0] == FEWER for name, a, b in pairs]
        page.answer(
            "Does it make fewer errors than the best of the paper's three methods?",
            {HOLDS: "yes", IN_PART: "in part", FAILS: "no"}[answer_of(fewer)],
            listed(shown, pairs),
        )


EXPERIMENT = Experiment(
    name="table2",
    title="Table 2 and figure 4: error and cost of the methods",
    paper="The Recall Tree was better than one-against-all on ALOI and somewhat worse on the "
    "other sets; better than or on par with LOMTree; slower than LOMTree, and far faster "
    "than one-against-all where classes are many.",
    sets=SETS,
    units=units,
    run=run,
    needs=needs,
    section=section,
    defaults={"passes": 20},
)
