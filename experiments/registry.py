"""The experiments, by name."""

from __future__ import annotations

from experiments import sections, studies
from experiments.experiment import Experiment

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "table2",
            "Table 2 and figure 4: three methods, error and cost",
            "The Recall Tree was better than one-against-all on ALOI and somewhat worse on the "
            "other sets; better than or on par with LOMTree; slower than LOMTree, and far faster "
            "than one-against-all where classes are many.",
            studies.table2,
            sections.table2.section,
            {"passes": 20},
        ),
        Experiment(
            "online",
            "Figure 5a: online operation",
            "On LTCB the progressive error was 73.3% in the original order and 74.6% permuted "
            "(P < 0.0001).",
            studies.online,
            sections.online.section,
        ),
        Experiment(
            "path-features",
            "Figure 5b: path features and candidates",
            "On ALOI more candidates lowered the error, with diminishing returns; path features "
            "lowered it too, the more the more candidates there were, and not with 2.",
            studies.path_features,
            sections.path_features.section,
            {"passes": 20},
        ),
        Experiment(
            "bernstein",
            "Section 4.5: the empirical Bernstein bound",
            "On LTCB the test error was 78% with λ = 1 and 91% with λ = 0.",
            studies.bernstein,
            sections.bernstein.section,
        ),
        Experiment(
            "cost",
            "Cost against the number of classes",
            "Training and prediction take time poly(log K); one-against-all was still faster with "
            "1,000 classes (ALOI).",
            studies.cost,
            sections.cost.section,
            {"rows": 200_000, "seeds": 1},
        ),
        Experiment(
            "theory",
            "The theory, checked",
            "The theorem of section 3.3 bounds the error of a tree after t splits by "
            "H_1 - γ (1 + ln t). One-against-all on (x, path(x)) can be any tree. Figure 3 shows a "
            "distribution that is easy for one-against-all and one that is easy for a tree.",
            studies.theory,
            sections.theory.section,
        ),
        Experiment(
            "ablation",
            "Choices that the paper leaves open",
            "The paper weights a router's update by |Δ| and routes after the update; its code "
            "does not weight. Counts never fade.",
            studies.ablation,
            sections.ablation.section,
        ),
    )
}
