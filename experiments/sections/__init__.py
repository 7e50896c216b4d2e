"""What the results of each experiment say: its section of the page."""

from experiments.sections import (
    ablation,
    bernstein,
    cost,
    online,
    path_features,
    table2,
    theory,
)

__all__ = ["ablation", "bernstein", "cost", "online", "path_features", "table2", "theory"]
