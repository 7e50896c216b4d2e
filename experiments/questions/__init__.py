"""The experiments, one file per question: its units of work, how one is done, its section.

The order is that of the page: the paper's experiments, then those about one-against-some.
"""

from experiments.questions import (
    ablation,
    bernstein,
    cells_ablation,
    choices,
    cost,
    drift,
    late_classes,
    memory_budget,
    one_against_some,
    one_against_some_ablation,
    online,
    path_features,
    scaling,
    several_labels,
    sharding,
    table2,
    theory,
    vowpal,
)

EXPERIMENTS = {
    question.EXPERIMENT.name: question.EXPERIMENT
    for question in (
        table2,
        online,
        path_features,
        bernstein,
        vowpal,
        cost,
        theory,
        ablation,
        choices,
        one_against_some,
        late_classes,
        drift,
        memory_budget,
        scaling,
        sharding,
        several_labels,
        one_against_some_ablation,
        cells_ablation,
    )
}
