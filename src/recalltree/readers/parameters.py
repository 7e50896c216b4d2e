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
        'Format of the rows. "auto" goes by the names of the files, or else by their first line.',
    ),
    Parameter(
        "batch_rows",
        4096,
        (Range(int, 1, _MOST),),
        "Rows per batch; fewer if rows are very wide.",
    ),
    Parameter(
        "on_error",
        "raise",
        ("raise", "skip", "warn"),
        "Rows that cannot be read: raise an error, skip and count them, or also warn of the first "
        "ten.",
    ),
    Parameter(
        "n_features",
        None,
        (None, Range(int, 1, MAX_FEATURES)),
        "Number of features. A larger svmlight index, or a dictionary that outgrows it, makes a "
        "bad row. Columns of numbers are not counted.",
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
        'Type of the labels. Numbers with integral values ("3", "3.0", "1e3") can be integers. '
        '"auto": integers if the first label is one. Labels of fastText are strings.',
    ),
    Parameter(
        "dense",
        False,
        _YES_OR_NO,
        "Make dense rows, which suits rows with few zeros.",
    ),
    Parameter(
        "zero_based",
        False,
        _YES_OR_NO,
        "svmlight: the first feature is 0, not 1.",
    ),
    Parameter(
        "features",
        "hashed",
        ("hashed", "dictionary"),
        "Columns of named features: by the hash of the name, where names may collide, or numbered "
        "in a dictionary as they appear.",
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
        "Text: longest sequence of words that is a feature.",
    ),
    Parameter(
        "weighting",
        "tf",
        ("tf", "tf-idf"),
        "Text: value of a feature, its count in the row or that times its inverse document "
        "frequency so far.",
    ),
    Parameter("label_prefix", "__label__", (str,), "fasttext: prefix of labels."),
    Parameter(
        "multilabel",
        "refuse",
        ("refuse", "all", "any", "first", "each"),
        'Rows with several labels. "refuse": they are bad rows; in svmlight and vw, a comma is '
        'part of a label. "all": one label or more. "any": any number, also none. "first": keep '
        'only the first label. "each": make a row of each label. The last two are not for tables.',
    ),
    Parameter(
        "label_column",
        None,
        (None, str),
        "Tables: the column of labels.",
        none_is="found if only one choice is sensible, as are the columns of features",
    ),
    Parameter(
        "label_separator",
        None,
        (None, str),
        "Tables: separates the labels in a cell of text. Without it, several labels need a column "
        "of lists.",
    ),
    Parameter(
        "text_column",
        None,
        (None, str, Sequence),
        "Tables: columns of text; their words are features.",
    ),
    Parameter(
        "numeric_columns",
        None,
        (None, Sequence),
        "Tables: columns of numbers; each is a feature. They come before the features of text.",
    ),
    Parameter(
        "embedding_columns",
        None,
        (None, Sequence),
        "Tables: a column of lists of numbers, or columns of numbers, that are an embedding. Its "
        "features come last; with text, one-against-some learns them with cells.",
    ),
    Parameter(
        "embedding_width",
        None,
        (None, Range(int, 1, MAX_FEATURES)),
        "Length of the lists.",
        none_is="that of the first list; required for rows from a pipe",
    ),
    Parameter("weight_column", None, (None, str), "Tables: the column of importance weights."),
    Parameter(
        "lowercase",
        True,
        _YES_OR_NO,
        "Tables: convert text to lower case.",
    ),
    Parameter("max_line_bytes", 1 << 24, (Range(int, 1, _MOST),), "A longer line is a bad row."),
)
