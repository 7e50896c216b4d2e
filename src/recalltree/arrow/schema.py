"""The schema of answers, for pyarrow and for Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

#: Columns that pass through, with their types; None where a type is not known.
Kept = dict[str, pa.DataType | None]

_DDL = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "halffloat": "FLOAT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "large_string": "STRING",
    "string_view": "STRING",
    "binary": "BINARY",
    "large_binary": "BINARY",
    "date32[day]": "DATE",
    "uint8": "SMALLINT",
    "uint16": "INT",
    "uint32": "BIGINT",
}


def check_kept(keep: Any) -> Kept:
    """Return which columns pass through, with their types as far as they are given."""
    if isinstance(keep, str):
        keep = [keep]
    if isinstance(keep, pa.Schema):
        return {field.name: field.type for field in keep}
    if isinstance(keep, Mapping):
        return {name: _type(name, kind) for name, kind in keep.items()}
    if not isinstance(keep, Sequence) or not all(isinstance(name, str) for name in keep):
        raise ValueError(
            f"keep={keep!r}: give names of columns, or a mapping of names to their types, such as "
            "{'id': 'int64'}."
        )
    return dict.fromkeys(keep)


def _type(name: str, kind: Any) -> pa.DataType:
    if isinstance(kind, pa.DataType):
        return kind
    try:
        return pa.type_for_alias(kind)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"keep: {kind!r} is no type for column {name!r}; give one of pyarrow, or its name, "
            "such as 'int64'."
        ) from error


def output_schema(kept: Kept, answers: Sequence[pa.Field]) -> pa.Schema:
    """Return the schema of answers."""
    unknown = [name for name, kind in kept.items() if kind is None]
    if unknown:
        raise ValueError(
            f"the type of column {unknown[0]!r}, which passes through, is not known before the "
            f"first batch; give it, keep={{{unknown[0]!r}: 'int64'}}."
        )
    return pa.schema([*(pa.field(name, kind) for name, kind in kept.items()), *answers])


def as_ddl(schema: pa.Schema) -> str:
    """Return a schema in the words of Spark.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from recalltree.arrow.schema import as_ddl
    >>> as_ddl(pa.schema({"id": pa.int64(), "labels": pa.list_(pa.string())}))
    '`id` BIGINT, `labels` ARRAY<STRING>'
    """
    return ", ".join(f"{_quoted(field.name)} {_ddl(field.type, field.name)}" for field in schema)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _ddl(kind: pa.DataType, name: str) -> str:
    types = pa.types
    if types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz else "TIMESTAMP_NTZ"
    if types.is_map(kind):
        return f"MAP<{_ddl(kind.key_type, name)},{_ddl(kind.item_type, name)}>"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return f"ARRAY<{_ddl(kind.value_type, name)}>"
    if types.is_struct(kind):
        fields = (f"{_quoted(field.name)}: {_ddl(field.type, name)}" for field in kind)
        return f"STRUCT<{', '.join(fields)}>"
    if str(kind) not in _DDL:
        raise ValueError(f"column {name!r} is of type {kind}, which Spark does not have.")
    return _DDL[str(kind)]
