"""The options of a reader: which belong to which format, and what they may be."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from recalltree._core import FeatureSpace
from recalltree.readers.feature_state import restore_state
from recalltree.readers.formats import FORMATS
from recalltree.readers.parameters import ROWS

_OWNED = frozenset(name for format_ in FORMATS.values() for name in format_.options)

#: Options that say what a row means, and so belong to a model; the others say how to read.
_MEANING = ("label_type", "multilabel", "dense")


@dataclass(frozen=True)
class RowOptions:
    """All options of ``open_rows``, checked; `n_features` counts the features that have no column.

    The attributes are those of :func:`recalltree.readers.open_rows`.
    """

    format: str
    batch_rows: int
    on_error: str
    n_features: int
    label_type: str
    require_labels: bool
    dense: bool
    zero_based: bool
    features: str
    quadratic: tuple[str, ...]
    ngrams: int
    weighting: str
    label_prefix: str
    multilabel: str
    label_column: str | None
    label_separator: str | None
    text_column: tuple[str, ...]
    numeric_columns: tuple[str, ...]
    embedding_columns: tuple[str, ...]
    embedding_width: int | None  # None: no embedding, or lists that were not looked at yet
    weight_column: str | None
    lowercase: bool
    max_line_bytes: int
    frozen: bool
    keep_names: bool

    @property
    def has_names(self) -> bool:
        """True if features have names, of which columns are made."""
        return FORMATS[self.format].named_features or bool(self.text_column)

    @property
    def embedding_is_list(self) -> bool:
        """True if one column of lists holds the embedding."""
        return len(self.embedding_columns) == 1 and FORMATS[self.format].has_lists

    @property
    def has_label_lists(self) -> bool:
        """True if a row may have several labels, which come as lists."""
        return self.multilabel in ("all", "any")

    @property
    def needs_labels(self) -> bool:
        """True if a row without a label is a bad row."""
        return self.require_labels and self.multilabel != "any"

    def written_labels(self, labels: Sequence[Any]) -> str:
        """Return the labels of a row in the format."""
        if self.format == "fasttext":
            return " ".join(f"{self.label_prefix}{label}" for label in labels)
        if not FORMATS[self.format].is_table:
            return ",".join(map(str, labels))
        if self.label_separator is None:
            return json.dumps(list(labels), ensure_ascii=False)
        return self.label_separator.join(map(str, labels))

    def make_space(self, state: Mapping[str, Any] | None) -> FeatureSpace | None:
        """Return the columns that names get, None for a format without names."""
        if not self.has_names:
            if state is not None:
                raise ValueError("state: rows without named features have none; leave it out")
            return None
        is_learned = self.features == "dictionary" or self.weighting == "tf-idf"
        if self.frozen and is_learned and state is None:
            raise ValueError(
                "frozen=True needs the state of the reader that training used: pass its options, "
                "open_rows(paths, **options, frozen=True)"
            )
        space = FeatureSpace(
            n_features=self.n_features,
            hashed=self.features == "hashed",
            tf_idf=self.weighting == "tf-idf",
        )
        if state is not None:
            restore_state(space, dict(state))
        if self.frozen:
            space.freeze()
        if self.keep_names:
            space.keep_names()
        return space

    def meaning(self) -> dict[str, Any]:
        """Return what open_rows must be given again for rows to mean the same."""
        names = (*_MEANING, *FORMATS[self.format].options)
        values = {name: getattr(self, name) for name in names}
        lists = {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
        return {"format": self.format, "n_features": self.n_features, **lists}


def check_options(given: dict[str, Any], *, n_features: Any, bits: Any) -> RowOptions:
    """Return the options, or say which is wrong.

    Parameters
    ----------
    given : dict
        All options but `n_features` and `bits`, by name. An option that the format does not have
        must have its default.
    n_features, bits : int or None
        As the user gave them.
    """
    format_ = FORMATS[given["format"]]
    for name in sorted(_OWNED - set(format_.options)):
        if given[name] != ROWS[name].default:
            owners = [owner.name for owner in FORMATS.values() if name in owner.options]
            raise ValueError(
                f"{name}={given[name]!r} has no meaning for the format {format_.name!r}; "
                f"it belongs to {', '.join(owners)}"
            )
    for name, parameter in ROWS.items():
        if parameter.choices and given[name] not in parameter.choices:
            choices = ", ".join(parameter.choices)
            raise ValueError(f"{name} must be one of {choices}; got {given[name]!r}")
    if format_.string_labels and given["label_type"] == "auto":
        given = {**given, "label_type": "str"}
    for name in ("batch_rows", "max_line_bytes", "ngrams"):
        _check_integer(name, given[name])
    _check_several_labels(given)
    if not given["label_prefix"]:
        raise ValueError("label_prefix must not be empty, or every word would be a label")
    embedding = _names("embedding_columns", given["embedding_columns"])
    return RowOptions(
        **{
            **given,
            "n_features": _n_features(given, n_features, bits),
            "quadratic": _quadratic(given["quadratic"]),
            "text_column": _names("text_column", given["text_column"]),
            "numeric_columns": _names("numeric_columns", given["numeric_columns"]),
            "embedding_columns": embedding,
            "embedding_width": _embedding_width(given, embedding),
        }
    )


def _embedding_width(given: dict[str, Any], columns: tuple[str, ...]) -> int | None:
    width = given["embedding_width"]
    if width is None:
        has_lists = FORMATS[given["format"]].has_lists and len(columns) == 1
        return None if has_lists or not columns else len(columns)
    _check_integer("embedding_width", width)
    if not columns:
        raise ValueError(f"embedding_width={width} is for rows with embedding_columns")
    if len(columns) > 1 and width != len(columns):
        raise ValueError(f"embedding_width={width}, and embedding_columns names {len(columns)}")
    return int(width)


def _n_features(given: dict[str, Any], n_features: Any, bits: Any) -> int:
    if n_features is None:
        _check_integer("bits", bits)
        return int(2**bits)
    _check_integer("n_features", n_features)
    hashed = given["features"] == "hashed" and not FORMATS[given["format"]].indexed_features
    if hashed and n_features & (n_features - 1):
        raise ValueError(
            f"n_features={n_features} is not a power of two, which hashed features need; "
            f"pass bits={int(n_features).bit_length()} for {2 ** int(n_features).bit_length()}"
        )
    return int(n_features)


def _check_integer(name: str, value: Any) -> None:
    (allowed,) = ROWS[name].ranges
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or int(value) not in allowed:
        raise ValueError(
            f"{name} must be an integer from {allowed.low} to {allowed.high}; got {value!r}"
        )


def _check_several_labels(given: dict[str, Any]) -> None:
    format_ = FORMATS[given["format"]]
    multilabel, separator = given["multilabel"], given["label_separator"]
    if separator == "":
        raise ValueError("label_separator must not be empty; leave it out for columns of lists")
    if not format_.is_table:
        return
    if multilabel in ("first", "each"):
        raise ValueError(
            f"multilabel={multilabel!r} has no meaning for the format {format_.name!r}; pass "
            "multilabel='all' for rows with several labels"
        )
    if multilabel == "refuse" and separator is not None:
        raise ValueError(
            f"label_separator={separator!r} is for rows with several labels; pass multilabel='all'"
        )
    if multilabel != "refuse" and separator is None and not format_.has_lists:
        raise ValueError(
            f"multilabel={multilabel!r} needs label_separator: cells of {format_.name} hold text, "
            "not lists of labels"
        )


def _quadratic(pairs: Any) -> tuple[str, ...]:
    pairs = (pairs,) if isinstance(pairs, str) else tuple(pairs)
    for pair in pairs:
        if not isinstance(pair, str) or len(pair.encode()) != 2 or any(c in ": |\t" for c in pair):
            raise ValueError(
                "quadratic takes pairs of the (ASCII) letters that namespaces begin with, for "
                f"example 'ab' or ['ab', 'aa']; got {pair!r}"
            )
    return pairs


def _names(option: str, names: str | Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    names = (names,) if isinstance(names, str) else tuple(names)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError(f"{option} takes distinct names of columns; got {list(names)!r}")
    return names
