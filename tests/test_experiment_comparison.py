"""Methods compared on sets: the largest budget counts, and what it lacks is said."""

from typing import Any

from experiment_runs import ROOT  # noqa: F401  (makes `experiments` importable)
from experiments.comparison import Comparison


def record(
    algorithm: str,
    kind: str = "default",
    error: float = 0.5,
    processor: str = "fast",
    **more: Any,
) -> dict:
    unit = {"set": "webdirectory", "algorithm": algorithm, "kind": kind, "seed": 0, "passes": 20}
    result = {
        "n_train": 1000,
        "n_classes": 50,
        "passes": 1,
        "error": error,
        "wrong": round(1000 * error),
        "n_test": 1000,
        "train_seconds": 600.0,
        "memory_bytes": 2e9,
    }
    for name, value in more.items():
        (unit if name in ("probes", "seed") else result)[name] = value
    return {"unit": unit, "result": result, "machine": {"processor": processor}}


def test_a_larger_budget_takes_the_place_of_a_smaller_one():
    few, many = (record("lom-tree", n_train=n, error=0.9 - n / 10_000) for n in (1000, 2000))
    shown = Comparison([few, many])
    assert shown.superseded() == [few]
    assert shown.error("webdirectory", "lom-tree") == 0.7


def test_all_numbers_of_negatives_are_used_and_the_most_is_shown():
    tried = [
        record("one-against-all", error=error, negative_samples=n, full_seconds_estimate=7200.0)
        for n, error in ((16, 0.9), (64, 0.85), (256, 0.848))
    ]
    shown = Comparison(tried)
    assert shown.superseded() == []
    assert shown.error("webdirectory", "one-against-all") == 0.848
    (said,) = shown.negatives()
    assert "90.0% with 16, 85.0% with 64, 84.8% with 256" in said
    assert "by 0.20 points, less than half a point" in said
    assert "about 2.0 hours" in said


def test_cells_say_what_they_lack_and_what_it_would_take():
    whole = [record("recall-tree", seed=seed) for seed in range(3)]
    tuned = record("recall-tree", "tuned", error=0.4, probes=5)
    shown = Comparison([*whole, tuned, record("lom-tree", n_train=500)])
    defaults, best, papers = shown.error_rows()
    assert defaults[0] == "**webdirectory**, 50 classes, 1,000 rows"
    assert defaults[2:] == ["50.0 ± 0.0", "- (a)", "50.0 (b)", "- (a)"]
    assert best[2] == "40.0 (c)"
    assert papers[2] == "96.2, 93.8"
    notes = {letter: note for note, letter in shown.notes.items()}
    assert notes["a"] == "not run"
    assert notes["b"] == (
        "500 of 1,000 rows; all of them would take about 20 minutes and 4 GB of memory for each "
        "seed; one seed"
    )
    # A tenth of 600 seconds, 59 times.
    assert notes["c"] == "5 probes; one seed; 59 probes would take about 59 minutes"


def test_a_cell_whose_probes_alone_are_done_says_so():
    probes = [record("lom-tree", "probe") for _ in range(59)]
    shown = Comparison([record("lom-tree"), *probes])
    assert shown.error_rows()[1][4] == "- (c)"
    assert (
        list(shown.notes)[2] == "the best of 59 probes is not trained; that takes about 10 minutes"
    )


def test_choices_among_probes_that_nearly_always_err_are_called_uncertain():
    choices = [record("lom-tree", "tuned", tuning={"validation_error": 0.9})]
    assert Comparison(choices).uncertain_choices() == ""
    choices += [record("recall-tree", "tuned", tuning={"validation_error": 0.996})]
    assert "wrong: Recall Tree on webdirectory (99.6% at best)" in (
        Comparison(choices).uncertain_choices()
    )


def test_costs_of_another_machine_are_named():
    trained = [record("recall-tree"), record("lom-tree")]
    assert Comparison(trained).other_machines() == ""
    trained.append(record("one-against-all", processor="slow"))
    assert (
        Comparison(trained)
        .other_machines()
        .startswith("Times are of fast; in part or all of slow: one-against-all on webdirectory.")
    )


def test_methods_are_compared_only_where_they_learned_the_same_rows():
    shown = Comparison(
        [
            record("recall-tree", error=0.6),
            record("one-against-all", error=0.5),
            record("lom-tree", error=0.2, n_train=500),
            record("one-against-some", error=0.3),
        ]
    )
    assert [pair[2:] for pair in shown.pairs()] == [
        ("recall-tree", "one-against-all"),
        ("one-against-some", "one-against-all"),
    ]
    assert shown.comparison_rows() == [
        [
            "webdirectory",
            "defaults",
            "Recall Tree",
            "one-against-all",
            "more errors (P < 0.0001)",
            "more errors (96.2 and 91.2 on odp)",
        ],
        [
            "webdirectory",
            "defaults",
            "one-against-some",
            "one-against-all",
            "fewer errors (P < 0.0001)",
            "",
        ],
    ]
