"""The parameters of each algorithm, in the order of its estimator's signature.

Loss, learning rate, candidates, depth and λ have the paper's defaults ("Default Performance
Methodology"). A name that several algorithms have has the same help everywhere: it is one option of
the command line.
"""

from __future__ import annotations

from recalltree.losses import LOSSES
from recalltree.parameters.parameter import Parameter, Range, TypeOf, make_table

#: How many features X may have: a model keeps the range of each, 4 bytes, sparse or not.
MAX_FEATURES = 2**29

_YES_OR_NO = (True, False)
_POSITIVE_INTEGER = Range(int, 1)

# --- shared by several algorithms ----------------------------------------------------------------

_LOSS = Parameter(
    "loss",
    "logistic",
    tuple(LOSSES),
    "Loss of the binary linear models.",
)

_COMMON = (
    Parameter(
        "learning_rate",
        1.0,
        (Range(float, 0, low_open=True),),
        "Size of the steps. Rates adapt to each feature, so 1 suits most data. For very noisy "
        "labels, such as the next word of a text, 0.5 is better.",
    ),
    Parameter("l2", 0.0, (Range(float, 0),), "Strength of the L2 penalty."),
    Parameter(
        "n_passes",
        1,
        (_POSITIVE_INTEGER,),
        "Passes over the rows; files are read again for each.",
    ),
    Parameter("shuffle", True, _YES_OR_NO, "Visit the rows in a new random order in every pass."),
    Parameter(
        "early_stopping",
        False,
        _YES_OR_NO,
        "Stop when the error on held-out rows grows no smaller, and keep the model of the best "
        "pass.",
    ),
    Parameter(
        "validation_fraction",
        0.1,
        (Range(float, 0, 1, low_open=True, high_open=True),),
        "Share of the rows that early stopping holds out, drawn at random.",
    ),
    Parameter(
        "n_jobs",
        None,
        (None, Range(int, 1), Range(int, None, -1)),
        "Threads; -1 is all cores. Predictions do not depend on it. Any number above one learns "
        "the same model, to the bit, which differs a little from that of one thread. LOMTree, and "
        "the Recall Tree with path interactions, always learn with one.",
        none_is="1",
    ),
    Parameter(
        "random_state",
        None,
        (None, Range(int, 0, 2**32 - 1), TypeOf("numpy.random", "RandomState")),
        "Random seed, which makes runs reproducible.",
    ),
    Parameter(
        "verbose",
        0,
        (Range(int, 0), True, False),
        "1 shows a progress bar on standard error while learning.",
    ),
)

_BOUND_LAMBDA = Parameter(
    "bound_lambda",
    1.0,
    (Range(float, 0),),
    "Width of the confidence bound of recall (λ in the paper's equation 1): larger values stop "
    'higher in the tree. One-against-some has it for the keys "path".',
)

_MAX_CANDIDATES = "Most classes to compare for an example (F)."
_MAX_DEPTH = "Depth of the tree or trees."
_COUNT_DECAY = (
    "Half-life of counts, in examples, for data that changes: old counts fade. In "
    "one-against-some, classes with wrong scores also forget some of their weights."
)
_NO_DECAY = "counts never fade"

_ROWS_WITHOUT_LABELS = Parameter(
    "rows_without_labels",
    "skip",
    ("skip", "learn"),
    'Rows with an empty list of labels: "skip" them, or "learn" that all candidates are wrong. '
    "Learn them if they are known to have no label, not if their labels are unknown.",
)

# --- one table per algorithm ---------------------------------------------------------------------

ONE_AGAINST_SOME = make_table(
    Parameter(
        "keys",
        "auto",
        ("auto", "features", "trees", "both", "path", "cells", "cells+trees"),
        'What finds candidates. "features": every feature that is not zero votes. "trees": leaves '
        'of several trees vote. "both". "path": the node where the descent of a single tree stops, '
        'as in the paper. "cells", for embeddings: the nearest class vectors, found in a tree of '
        'cells. "cells+trees": trees vote as well, up to 4,096 classes. "auto": features for '
        "sparse rows, and cells for a dense block at their end; trees for dense rows, with cells "
        "from 100 features on.",
    ),
    Parameter(
        "max_candidates",
        None,
        (None, _POSITIVE_INTEGER),
        _MAX_CANDIDATES,
        none_is="24 if only features vote, 32 with cells (which name as many again where others "
        "vote), otherwise 100",
    ),
    Parameter(
        "max_labels",
        512,
        (_POSITIVE_INTEGER,),
        "Most labels in the histogram of a feature, those with the largest counts (M). Leaves of "
        "trees hold at most 128.",
    ),
    Parameter(
        "max_entries",
        1024,
        (Range(int, 1, 2**24),),
        "Most entries of histograms to read for an example (E), those with the largest votes "
        "first.",
    ),
    Parameter(
        "sublinear_tf",
        True,
        _YES_OR_NO,
        "Replace a feature's value x by log(1 + |x|), with the sign of x, as suits counts of "
        "words. This and the next two apply to sparse rows and to features that vote.",
    ),
    Parameter(
        "use_idf",
        True,
        _YES_OR_NO,
        "Weight features by the square root of their inverse document frequency so far.",
    ),
    Parameter(
        "normalize",
        True,
        _YES_OR_NO,
        "Scale the features of an example to unit length.",
    ),
    Parameter(
        "center",
        True,
        _YES_OR_NO,
        "Subtract the mean so far from the features of dense rows. Either way they are divided by "
        "their root mean square and clipped at twice that.",
    ),
    Parameter(
        "n_trees",
        4,
        (Range(int, 1, 1000),),
        "Number of trees that vote (T), each with two leaves: that of the example, and the one "
        "where it would have ended if the least certain router had decided otherwise.",
    ),
    Parameter(
        "max_depth",
        None,
        (None, Range(int, 1, 40)),
        _MAX_DEPTH,
        none_is='7, or less while there are few classes; for the keys "path", log2 of the number '
        "of classes seen so far",
    ),
    _BOUND_LAMBDA,
    Parameter("count_decay", None, (None, Range(float, 1)), _COUNT_DECAY, _NO_DECAY),
    Parameter(
        "memory_budget",
        None,
        (None, Range(int, 1, unit="bytes")),
        "Limit on the model's bytes after every example. Beyond it, pairs of a class and a feature "
        "that matter least are forgotten. Classes, features, trees and dense predictors are kept: "
        "a limit too small for these is an error.",
        none_is="there is no limit",
    ),
    Parameter(
        "feature_dropout",
        0.0,
        (Range(float, 0, 1, high_open=True),),
        "Share of an example's features, drawn at random, that passes after the first leave out. "
        "Prevents overfitting when classes have few examples.",
    ),
    Parameter(
        "cells_read",
        64,
        (Range(int, 1, 2**20),),
        "Number of cells to read for an example; a cell holds the vectors of at most 128 classes.",
    ),
    Parameter(
        "idle_cells",
        16,
        (None, Range(int, 1, 2**20)),
        "Reading ends early after this many cells in a row that have brought nothing.",
        none_is="half of the cells read at most",
    ),
    Parameter(
        "n_dense_features",
        0,
        (Range(int, 0, MAX_FEATURES),),
        "Number of features at the end of sparse rows that are a dense block, for example an "
        "embedding after counts of words: cells use these, the others vote.",
    ),
    _ROWS_WITHOUT_LABELS,
    *_COMMON,
)

RECALL_TREE = make_table(
    Parameter(
        "max_candidates",
        None,
        (None, Range(int, 1, 65_534)),
        _MAX_CANDIDATES,
        none_is="4·log2 of the number of classes seen so far, rounded up",
    ),
    Parameter(
        "max_depth",
        None,
        (None, Range(int, 1, 1000)),
        _MAX_DEPTH,
        none_is="log2 of the number of classes seen so far, rounded down",
    ),
    _BOUND_LAMBDA,
    Parameter(
        "path_features",
        "none",
        ("path", "leaf", "none"),
        "Features of the route for the class predictors: an indicator of every node passed below "
        "the root, as in the paper, of the last node only, or nothing.",
    ),
    Parameter(
        "path_interactions",
        False,
        _YES_OR_NO,
        "Cross these indicators with the features: each pair of class and node then has its own "
        "correction to the weights of the class. Slower and larger; the path features must be "
        '"leaf" or "path".',
    ),
    Parameter(
        "router_weighting",
        "total_entropy",
        ("total_entropy", "entropy", "unit"),
        "Importance of an example to a router: the difference that its side makes to the total "
        "entropy of the children; to their average entropy, as in the paper, which vanishes as "
        "examples accumulate; or 1.",
    ),
    Parameter(
        "routing_order",
        "route_first",
        ("route_first", "update_first"),
        "Route an example before the router learns from it, as in prediction, or after.",
    ),
    Parameter("count_decay", None, (None, Range(float, 0, low_open=True)), _COUNT_DECAY, _NO_DECAY),
    Parameter(
        "min_gradient",
        0.1,
        (Range(float, 0, 1, high_open=True),),
        "Candidates that are not the label skip updates whose gradient is smaller: with the "
        "logistic loss, those that are less probable than this. Skipping makes learning faster and "
        "the model smaller, with no more errors. With 0 every candidate learns from every example, "
        "as in the paper.",
    ),
    _ROWS_WITHOUT_LABELS,
    _LOSS,
    *_COMMON,
)

ONE_AGAINST_ALL = make_table(
    Parameter(
        "negative_samples",
        None,
        (None, _POSITIVE_INTEGER),
        "Each example teaches its own class and this many others, drawn at random and weighted to "
        "make up for those left out (the paper's negative gradient subsampling). Prediction always "
        "compares all classes.",
        none_is="every other class learns",
    ),
    _ROWS_WITHOUT_LABELS,
    _LOSS,
    *_COMMON,
)

LOM_TREE = make_table(
    Parameter(
        "max_nodes",
        None,
        (None, _POSITIVE_INTEGER),
        "Most nodes with a router.",
        none_is="one less than the number of classes seen so far",
    ),
    Parameter(
        "swap_resistance",
        4.0,
        (Range(float, 0),),
        "When the tree is full: how many times as busy as the least used leaf another leaf must be "
        "to take over its node.",
    ),
    _LOSS,
    *_COMMON,
)

#: The tables by the names that algorithms have in files and on the command line.
ALGORITHMS = {
    "one-against-some": ONE_AGAINST_SOME,
    "recall-tree": RECALL_TREE,
    "one-against-all": ONE_AGAINST_ALL,
    "lom-tree": LOM_TREE,
}
