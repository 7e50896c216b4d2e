"""Tables of parameters: defaults, allowed values and help of every algorithm, written once.

The estimators take their constraints and defaults from here, the command line its options, the
reference its defaults. Nothing here imports another part of the package.
"""

from recalltree.parameters.algorithms import (
    ALGORITHMS,
    LOM_TREE,
    MAX_FEATURES,
    ONE_AGAINST_ALL,
    ONE_AGAINST_SOME,
    RECALL_TREE,
)
from recalltree.parameters.merging import DEFAULT_MERGE_RULE, MERGE_RULES
from recalltree.parameters.parameter import (
    Parameter,
    Range,
    Table,
    TypeOf,
    defaults_of,
    list_choices,
    make_table,
)

__all__ = [
    "ALGORITHMS",
    "DEFAULT_MERGE_RULE",
    "LOM_TREE",
    "MAX_FEATURES",
    "MERGE_RULES",
    "ONE_AGAINST_ALL",
    "ONE_AGAINST_SOME",
    "RECALL_TREE",
    "Parameter",
    "Range",
    "Table",
    "TypeOf",
    "defaults_of",
    "list_choices",
    "make_table",
]
