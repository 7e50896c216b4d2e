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
        "Size of the steps. Rates adapt to each feature by themselves, so 1 suits most data. Where "
        "most answers are wrong however long it learns, as with the next word of a text, 0.5 is "
        "better.",
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
        "Threads; -1 is all cores. Predictions do not depend on it. Several threads learn the same "
        "model, to the bit, whatever their number, but not quite the model of one. LOMTree, and "
        "the Recall Tree with path interactions, always learn with one.",
        none_is="1",
    ),
    Parameter(
        "random_state",
        None,
        (None, Range(int, 0, 2**32 - 1), TypeOf("numpy.random", "RandomState")),
        "Seed of what is random, if anything is: a number.",
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

_MAX_CANDIDATES = "How many classes are compared for an example (F)."
_MAX_DEPTH = "Depth of the tree or trees."
_COUNT_DECAY = (
    "Half-life of the label counts, in examples, for data that change: old counts fade. In "
    "one-against-some a class whose score is wrong also forgets some of its weights."
)
_NO_DECAY = "counts never fade"

_ROWS_WITHOUT_LABELS = Parameter(
    "rows_without_labels",
    "skip",
    ("skip", "learn"),
    'What to do with rows that have no label, where rows have lists of labels: "skip", or "learn" '
    "that all candidates are wrong, as suits rows that have none of the labels rather than "
    "unknown ones.",
)

# --- one table per algorithm ---------------------------------------------------------------------

ONE_AGAINST_SOME = make_table(
    Parameter(
        "keys",
        "auto",
        ("auto", "features", "trees", "both", "path", "cells", "cells+trees"),
        'What finds candidates. "features": every feature that is not zero votes. "trees": the '
        "leaves of several trees, whose routers learn as those of the Recall Tree. "
        '"both". "path": the node where the descent of a single tree stops, as in the paper. '
        '"cells": for dense features, such as embeddings: the nearest of many class vectors, which '
        "stand in a tree of cells; they take the place of linear predictors. With "
        '"cells+trees" trees vote, too, while there are at most 4,096 classes. "auto": features if '
        "rows are sparse, cells if there is a dense block at their end; if rows are dense, trees, "
        "with cells if there are 100 features or more.",
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
        "How many labels the histogram of a key holds, those with the largest counts (M). That of "
        "a leaf holds no more than 128 in any case.",
    ),
    Parameter(
        "max_entries",
        1024,
        (Range(int, 1, 2**24),),
        "How many entries of histograms are read for one example (E): those first that vote most "
        "by the share of the feature that is their label's.",
    ),
    Parameter(
        "sublinear_tf",
        True,
        _YES_OR_NO,
        "Let log(1 + |x|), with the sign of x, take the place of a feature's value x, as suits "
        "counts of words. This and the next two are for features that vote and for sparse rows.",
    ),
    Parameter(
        "use_idf",
        True,
        _YES_OR_NO,
        "Weight features by the root of their inverse document frequency among the examples so "
        "far.",
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
        "Take the mean of the examples so far off the features of dense rows. Either way these are "
        "divided by what is then their root mean square, and cut at twice that.",
    ),
    Parameter(
        "n_trees",
        4,
        (Range(int, 1, 1000),),
        "How many trees vote (T): each with the leaf of the example, and with the one where it "
        "would have ended if the router that was least sure had decided otherwise.",
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
        "How many bytes the model may take after every example. Where it would be more, the pairs "
        "of a class and a feature that add least to scores are forgotten. What is known of every "
        "class and of every feature by itself stays, and so do trees and dense predictors: a "
        "budget that is too small for these is an error.",
        none_is="there is no limit",
    ),
    Parameter(
        "feature_dropout",
        0.0,
        (Range(float, 0, 1, high_open=True),),
        "Share of the features that an example is learned without in passes after the first, "
        "others every time: as if they were 0. Keeps later passes from learning the examples by "
        "heart, where there are few for each class.",
    ),
    Parameter(
        "cells_read",
        64,
        (Range(int, 1, 2**20),),
        "How many cells are read for an example: a cell holds the vectors of at most 128 classes.",
    ),
    Parameter(
        "n_dense_features",
        0,
        (Range(int, 0, MAX_FEATURES),),
        "How many features at the end of sparse rows are a dense block, for example an embedding "
        "beside counts of words: cells see these, the others vote, and all are learned together.",
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
        "What the class predictors see of the route: an indicator of every node passed below the "
        "root, as in the paper, of the last node only, or nothing.",
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
        "Importance with which a router learns an example: by how much its choice of side changes "
        "the total entropy of the children; the change of their average entropy, as in the paper, "
        "which vanishes as examples accumulate; or 1.",
    ),
    Parameter(
        "routing_order",
        "route_first",
        ("route_first", "update_first"),
        "Whether an example that is learned is routed before the router learns from it, as a new "
        "example would be, or after.",
    ),
    Parameter("count_decay", None, (None, Range(float, 0, low_open=True)), _COUNT_DECAY, _NO_DECAY),
    Parameter(
        "min_gradient",
        0.1,
        (Range(float, 0, 1, high_open=True),),
        "A candidate that is not the label does not learn from a gradient that is smaller: with "
        "the logistic loss, if it thinks itself less probable than that. Most candidates do, most "
        "of the time, and leaving them alone makes learning quicker and the model smaller, with no "
        "more errors. 0 is the paper's: every candidate learns from every example.",
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
        "Let each example teach its own class and this many of the others, drawn at random and "
        "weighted to make up for those left out (the paper's negative gradient subsampling). "
        "Prediction always compares all classes.",
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
        "How many nodes with a router there may be.",
        none_is="one less than the number of classes seen so far",
    ),
    Parameter(
        "swap_resistance",
        4.0,
        (Range(float, 0),),
        "How much busier than the least used leaf another leaf must be to take over its node when "
        "there may be no more nodes.",
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
