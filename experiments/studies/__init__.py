"""The experiments: what each runs, unit by unit."""

from experiments.studies import (
    ablation,
    bernstein,
    cost,
    drift,
    late_classes,
    memory_budget,
    one_against_some,
    one_against_some_ablation,
    online,
    path_features,
    scaling,
    table2,
    theory,
)

__all__ = [
    "ablation",
    "bernstein",
    "cost",
    "drift",
    "late_classes",
    "memory_budget",
    "one_against_some",
    "one_against_some_ablation",
    "online",
    "path_features",
    "scaling",
    "table2",
    "theory",
]
