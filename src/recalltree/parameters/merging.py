"""Rules of merging: how the weights that several models learned become one."""

from __future__ import annotations

#: The rules by name. Steps are differences from the common base, squares AdaGrad's sums of squared
#: gradients, as far as they were added since.
MERGE_RULES = {
    "auto": 'of one-against-some "root" for weights of a class and a sparse feature and "replay" '
    'for all others, of other algorithms "mass"',
    "replay": "each step divided by the step sizes of its model and taken again with those of all "
    "squares together",
    "mass": "the mean of the steps, weighted by squares",
    "root": "the sum of the steps weighted by the roots of squares, over the root of all squares: "
    "what one model alone has learned stays whole",
    "mean": "the mean of the steps, weighted by rows",
    "sum": "the sum of the steps",
}

DEFAULT_MERGE_RULE = "auto"
