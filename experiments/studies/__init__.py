"""The experiments: what each runs, unit by unit."""

from experiments.studies import (
    ablation,
    bernstein,
    cost,
    online,
    path_features,
    table2,
    theory,
)

__all__ = ["ablation", "bernstein", "cost", "online", "path_features", "table2", "theory"]
