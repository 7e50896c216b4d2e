"""The parameters of ``open_rows`` that a user may give."""

from __future__ import annotations

from collections.abc import Sequence

from recalltree.parameters import MAX_FEATURES, Parameter, Range, make_table
from recalltree.readers.formats import FORMATS

_YES_OR_NO = (True, False)
_MOST = 2**31 - 1

ROWS = make_table(
    Parameter(
        "format",
        "auto",
        ("auto", *FORMATS),
        'Format of the rows. "auto" tells it by the names of the files, or else by their first '
        "line.",
    ),
    Parameter(
        "batch_rows",
        4096,
        (Range(int, 1, _MOST),),
        "Rows of a batch. A batch of very wide rows has fewer.",
    ),
    Parameter(
        "on_error",
        "raise",
        ("raise", "skip", "warn"),
        "What to do about a row that cannot be read: raise an error, skip it (bad rows are "
        "counted), or skip it and warn (for the first ten).",
    ),
    Parameter(
        "n_features",
        None,
        (None, Range(int, 1, MAX_FEATURES)),
        "How many features there are; an svmlight index or a dictionary beyond it makes a bad row. "
        "With columns of numbers, the features of text alone.",
        none_is="2**BITS, or what the headers of xc files say",
    ),
    Parameter(
        "bits",
        18,
        (Range(int, 0, 29),),
        "There are 2**BITS features, unless their number is given.",
    ),
    Parameter(
        "label_type",
        "auto",
        ("auto", "int", "str"),
        'What labels are. Numbers with integral values ("3", "3.0", "1e3") can be integers. '
        '"auto": integers if the label of the first row is one. Labels of fastText are strings.',
    ),
    Parameter(
        "dense",
        False,
        _YES_OR_NO,
        "Keep a weight for every feature of a class, as suits rows with few zeros.",
    ),
    Parameter(
        "zero_based",
        False,
        _YES_OR_NO,
        "svmlight: whether the first feature is 0, not 1.",
    ),
    Parameter(
        "features",
        "hashed",
        ("hashed", "dictionary"),
        "Where named features live: at the hash of their name, where two may meet; or in the order "
        "of their first appearance, as many as there may be.",
    ),
    Parameter(
        "quadratic",
        (),
        (str, Sequence),
        'vw: "ab" adds the products of the features of namespaces that begin with a and with b.',
    ),
    Parameter(
        "ngrams",
        1,
        (Range(int, 1, 8),),
        "Text: features are sequences of 1 to so many words.",
    ),
    Parameter(
        "weighting",
        "tf",
        ("tf", "tf-idf"),
        "Text: how often a feature occurs in the row, or that times how rare it is, counted over "
        "the rows so far.",
    ),
    Parameter("label_prefix", "__label__", (str,), "fasttext: what labels begin with."),
    Parameter(
        "multilabel",
        "refuse",
        ("refuse", "all", "any", "first", "each"),
        'Rows with several labels. "refuse": they are bad rows; in svmlight and vw, a comma is '
        'part of a label. "all": a row has all its labels, at least one. "any": a row has any '
        'number of labels, also none. "first": a row has the first of its labels. "each": a row '
        "with several labels is several rows. Tables have neither of the last two.",
    ),
    Parameter(
        "label_column",
        None,
        (None, str),
        "Tables: the column of labels.",
        none_is="the only one that can be meant; columns of features likewise",
    ),
    Parameter(
        "label_separator",
        None,
        (None, str),
        "Tables: what separates the labels in a cell of text. Without it, rows with several labels "
        "have a column of lists.",
    ),
    Parameter(
        "text_column",
        None,
        (None, str, Sequence),
        "Tables: columns of text, whose words are features.",
    ),
    Parameter(
        "numeric_columns",
        None,
        (None, Sequence),
        "Tables: columns of numbers, each a feature; they come before the features of text.",
    ),
    Parameter(
        "embedding_columns",
        None,
        (None, Sequence),
        "Tables: the column of lists of numbers, or the columns of numbers, of an embedding. Its "
        "features are the last. With text, they are a dense block that one-against-some learns "
        "with cells.",
    ),
    Parameter(
        "embedding_width",
        None,
        (None, Range(int, 1, MAX_FEATURES)),
        "How many numbers each list has.",
        none_is="as many as the first; rows from a pipe need it",
    ),
    Parameter("weight_column", None, (None, str), "Tables: the column of importance weights."),
    Parameter(
        "lowercase",
        True,
        _YES_OR_NO,
        "Tables: whether text is put in lower case first.",
    ),
    Parameter("max_line_bytes", 1 << 24, (Range(int, 1, _MOST),), "A longer line is a bad row."),
)
