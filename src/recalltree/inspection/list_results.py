"""Results on rows with several labels, for the report's page."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.inspection.list_evaluation import ListEvaluation
from recalltree.inspection.page_values import bars, shown_text

#: Rows with the worst results that are on the page, and how many labels of each.
WORST_ROWS = 50
ROW_LABELS = 40


def list_results(evaluation: ListEvaluation, place_of: NDArray[np.int64]) -> dict[str, Any]:
    """Return what the page shows of rows with several labels, beside the metrics.

    Parameters
    ----------
    evaluation : ListEvaluation
        Of one row at least.
    place_of : ndarray
        The place of each class among those on the page; -1 if it is not on it.

    Returns
    -------
    dict
        ``k``; ``labels``, where labels are found or lost, None where there are none; ``sizes``, how
        many rows have this many labels; ``worst``, the rows with the worst results.
    """
    results = evaluation.label_results()
    has_labels = all(np.isfinite(value) for value in results.values())
    return {
        "k": evaluation.k,
        "labels": results if has_labels else None,
        "sizes": _sizes(evaluation),
        "worst": _worst(evaluation, place_of),
    }


def _sizes(evaluation: ListEvaluation) -> list[dict[str, Any]]:
    sizes, counts = (
        np.array(list(part), dtype=np.int64)
        for part in (evaluation.rows_by_size.keys(), evaluation.rows_by_size.values())
    )
    bar, ranges = bars(sizes)
    n_rows = np.zeros(len(ranges), dtype=np.int64)
    np.add.at(n_rows, bar, counts)
    return [{**span, "n_rows": n} for span, n in zip(ranges, n_rows.tolist(), strict=True)]


def _worst(evaluation: ListEvaluation, place_of: NDArray[np.int64]) -> list[dict[str, Any]]:
    classes = evaluation.clf.classes_.tolist()[: len(evaluation.class_results()[0])]
    places = dict(zip(classes, place_of.tolist(), strict=False))

    def shown(labels: list[Any], others: list[Any]) -> list[dict[str, Any]]:
        """Return labels, each with its place and whether it is among the others, too."""
        return [
            {"text": shown_text(label), "place": places.get(label, -1), "right": label in others}
            for label in labels[:ROW_LABELS]
        ]

    return [
        {
            "row": row["row"],
            "result": float(f"{row[f'nDCG@{evaluation.k}']:.5g}"),
            "n_labels": len(row["labels"]),
            "labels": shown(row["labels"], row["answers"]),
            "answers": shown(row["answers"], row["labels"]),
        }
        for row in evaluation.worst_rows(WORST_ROWS)
    ]
