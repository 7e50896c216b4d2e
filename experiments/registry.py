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
            {"rows": 200_000, "seeds": 1, "max_classes": 100_000},
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
            "A router's update is weighted by |Δ|, and an example is routed after it; the authors' "
            "code does not weight. Counts never fade.",
            studies.ablation,
            sections.ablation.section,
        ),
        Experiment(
            "one-against-some",
            "One-against-some: one pass, beside the other methods",
            "",
            studies.one_against_some,
            sections.one_against_some.section,
            {"test_rows": None, "probes": 0},
            question="How does the vote of label histograms compare with the Recall Tree, with "
            "one-against-all and with LOMTree, each as it comes?",
        ),
        Experiment(
            "late-classes",
            "One-against-some: classes that appear late",
            "",
            studies.late_classes,
            sections.late_classes.section,
            {"test_rows": None},
            question="Are classes that first appear in the last tenth of the stream learned as "
            "well as if they had come earlier, in proportion to their examples?",
        ),
        Experiment(
            "drift",
            "One-against-some: a stream that changes",
            "",
            studies.drift,
            sections.drift.section,
            question="Does the error come back within a tenth of the stream when all classes "
            "change their meaning, and do fading counts (`count_decay`) help?",
        ),
        Experiment(
            "memory-budget",
            "One-against-some: a limit of memory",
            "",
            studies.memory_budget,
            sections.memory_budget.section,
            {"test_rows": None},
            question="What does it cost in errors to keep the model within a half, a quarter, an "
            "eighth of the memory that it would take (`memory_budget`)?",
        ),
        Experiment(
            "scaling",
            "One-against-some: work and time by number of classes",
            "",
            studies.scaling,
            sections.scaling.section,
            {"seeds": 1, "max_classes": 100_000},
            question="Does the work of one example stay bounded, and its time within a factor of "
            "two, from 1,000 to 100,000 classes?",
        ),
        Experiment(
            "one-against-some-ablation",
            "One-against-some: what each choice brings",
            "",
            studies.one_against_some_ablation,
            sections.one_against_some_ablation.section,
            {"seeds": 1},
            question="Which choices matter, and are the defaults good ones?",
        ),
    )
}
