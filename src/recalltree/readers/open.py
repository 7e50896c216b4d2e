"""The one way to open files of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recalltree.parameters import defaults_of, list_choices
from recalltree.readers.formats import FORMATS, format_of, n_features_in_headers
from recalltree.readers.options import RowOptions, check_options
from recalltree.readers.parameters import ROWS
from recalltree.readers.reader import RowReader
from recalltree.readers.sources import Readable, Source, find_sources
from recalltree.readers.text import TextRows

_DEFAULT = defaults_of(ROWS)


def open_rows(
    paths: Readable | Sequence[Readable],
    format: str = _DEFAULT["format"],
    *,
    batch_rows: int = _DEFAULT["batch_rows"],
    on_error: str = _DEFAULT["on_error"],
    n_features: int | None = _DEFAULT["n_features"],
    bits: int = _DEFAULT["bits"],
    label_type: str = _DEFAULT["label_type"],
    require_labels: bool = True,
    dense: bool = _DEFAULT["dense"],
    zero_based: bool = _DEFAULT["zero_based"],
    features: str = _DEFAULT["features"],
    quadratic: str | Sequence[str] = _DEFAULT["quadratic"],
    ngrams: int = _DEFAULT["ngrams"],
    weighting: str = _DEFAULT["weighting"],
    label_prefix: str = _DEFAULT["label_prefix"],
    multilabel: str = _DEFAULT["multilabel"],
    label_column: str | None = _DEFAULT["label_column"],
    label_separator: str | None = _DEFAULT["label_separator"],
    text_column: str | Sequence[str] | None = _DEFAULT["text_column"],
    numeric_columns: Sequence[str] | None = _DEFAULT["numeric_columns"],
    embedding_columns: Sequence[str] | None = _DEFAULT["embedding_columns"],
    embedding_width: int | None = _DEFAULT["embedding_width"],
    weight_column: str | None = _DEFAULT["weight_column"],
    lowercase: bool = _DEFAULT["lowercase"],
    max_line_bytes: int = _DEFAULT["max_line_bytes"],
    frozen: bool = False,
    keep_names: bool = False,
    state: Mapping[str, Any] | None = None,
) -> RowReader:
    r"""Open files of rows, to be read in batches by a thread that runs ahead.

    Nothing larger than a few batches is kept in memory. Files may be compressed with gzip, zstd
    (extra ``zstd``), bzip2 or xz, which is told by their content.

    Parameters
    ----------
    paths : str, path, open binary file, or sequence of these
        Files, patterns such as ``"day-*.vw.gz"``, or ``"-"`` for standard input.
    format : {...}
        ``"auto"`` goes by the names of the files, or else by their first line.
    batch_rows : int, default=4096
        Rows per batch; fewer if rows are very wide.
    on_error : {"raise", "skip", "warn"}
        Rows that cannot be read: raise a `BadRowError` after the rows before it, skip and count
        them, or also issue a `BadRowWarning` for the first ten.
    n_features : int, default=None
        Number of features. A larger svmlight index, or a dictionary that outgrows it, makes a bad
        row. By default ``2**bits``, or what the headers of xc files say. Columns of numbers are not
        counted.
    bits : int, default=18
        There are ``2**bits`` features unless `n_features` is given; hashing needs a power of two.
    label_type : {"auto", "int", "str"}
        Type of the labels. Numbers with integral values ("3", "3.0", "1e3") can be integers.
        ``"auto"``: integers if the first label is one. Labels of fastText are strings.
    require_labels : bool, default=True
        Treat a row without a label as a bad row.
    dense : bool, default=False
        Give `X` as an array instead of a sparse matrix.
    zero_based : bool, default=False
        svmlight: the first feature is 0, not 1.
    features : {"hashed", "dictionary"}
        Columns of named features: by the hash of the name, where names may collide, or numbered in
        a dictionary as they appear, up to `n_features` of them.
    quadratic : str or sequence of str, default=()
        vw: ``"ab"`` adds the products of the features of namespaces that begin with a and with b.
    ngrams : int, default=1
        Text: longest sequence of words that is a feature.
    weighting : {"tf", "tf-idf"}
        Text: value of a feature, its count in the row or that times its inverse document frequency
        so far.
    label_prefix : str, default="__label__"
        fasttext: prefix of labels.
    multilabel : {"refuse", "all", "any", "first", "each"}
        ``"refuse"``: a row with several labels is a bad row (in svmlight and vw, where commas
        separate labels, it is a row with a comma in its label). ``"all"``: `y` has lists of labels,
        and a row without labels is a bad row if labels are required. ``"any"``: `y` has lists of
        labels, which may be empty. ``"first"`` keeps only the first label; ``"each"`` makes a
        row of each label. The last two are not for tables.
    label_column, weight_column : str, default=None
        Tables: columns of labels and of importance weights. Columns of labels and features that are
        not named are found if only one choice is sensible; the reader's ``options`` tell which.
        Otherwise a ValueError lists the columns.
    label_separator : str, default=None
        Tables: separates the labels in a cell of text; blanks around labels are ignored. None:
        several labels need a column of lists.
    text_column : str or sequence of str, default=None
        Tables: columns of text; their words are features.
    numeric_columns : sequence of str, default=None
        Tables: columns of numbers; each is a feature. They come before the features of text.
    embedding_columns : str or sequence of str, default=None
        Tables: a column of lists of numbers, or columns of numbers, that are an embedding. Its
        features come last. With text, `X` is sparse and they are the dense block at its end
        (``n_dense_features``), which ``OneAgainstSomeClassifier`` can learn with cells.
    embedding_width : int, default=None
        Length of the lists. None: that of the first list; required for rows from a pipe.
    lowercase : bool, default=True
        Tables: convert text to lower case.
    max_line_bytes : int, default=16 MiB
        A longer line is a bad row.
    frozen : bool, default=False
        Leave dictionary and document frequencies as `state` has them, as prediction must:
        features that are not in the dictionary are ignored.
    keep_names : bool, default=False
        Give batches ``feature_names``: the names of each row's features, which hashing loses.
        Slower than reading itself; meant for a few rows.
    state : mapping, default=None
        Dictionary and document frequencies of another reader, from its ``options``.

    Returns
    -------
    RowReader
        Iterate over it once for each pass.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If an option is wrong, or has no meaning for the format.

    Examples
    --------
    >>> import io
    >>> from recalltree.readers import open_rows
    >>> file = io.BytesIO(b"7 1:0.5 3:2\n8 2:1\n")
    >>> for batch in open_rows(file, n_features=4):
    ...     print(batch.y, batch.X.toarray())
    [7 8] [[0.5 0.  2.  0. ]
     [0.  1.  0.  0. ]]
    """
    given = dict(locals())
    sources = find_sources(given.pop("paths"))
    for name in ("n_features", "bits", "state"):
        del given[name]
    if format == "auto":
        given["format"] = format_of(sources)
    elif format not in FORMATS:
        raise ValueError(f"format must be 'auto' or one of {', '.join(FORMATS)}; got {format!r}")
    if FORMATS[given["format"]].has_header and n_features is None and bits == _DEFAULT["bits"]:
        n_features = n_features_in_headers(sources)
    options = check_options(given, n_features=n_features, bits=bits)
    is_table = FORMATS[options.format].is_table
    rows: Any = _table_rows(options, sources) if is_table else TextRows(options)
    options = rows.options
    return RowReader(sources, options, rows, rows.n_features, state)


list_choices(open_rows, ROWS)


def _table_rows(options: RowOptions, sources: list[Source]) -> Any:
    from recalltree.readers.tables.blocks import check_packages, list_length
    from recalltree.readers.tables.choice import choose_columns
    from recalltree.readers.tables.rows import TableRows

    check_packages(options.format)
    options = choose_columns(options, sources)
    if options.embedding_is_list and options.embedding_width is None:
        width = list_length(sources, options.format, options.embedding_columns[0])
        options = replace(options, embedding_width=width)
    return TableRows(options)
