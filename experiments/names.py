"""Names of the methods as they stand in tables and figures."""

from __future__ import annotations

from experiments.store import Record

NAMES = {
    "one-against-some": "one-against-some",
    "recall-tree": "Recall Tree",
    "one-against-all": "one-against-all",
    "lom-tree": "LOMTree",
    "averaged-embeddings": "averaged embeddings",
}


def named(algorithm: str, record: Record) -> str:
    """Return the name of a method, with the negatives that it samples, if it does."""
    sampled = record["result"].get("negative_samples")
    return NAMES[algorithm] + (f", {sampled} negatives" if sampled else "")
