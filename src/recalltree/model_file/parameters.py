"""Constructor parameters as JSON: numbers, strings, None, and random generators."""

from __future__ import annotations

import json
import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from recalltree.model_file.container import ModelFileError

# Only these are made from what a file says.
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def encode_parameters(parameters: dict[str, Any]) -> str:
    """Return the parameters of an estimator as JSON.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.model_file.parameters import decode_parameters, encode_parameters
    >>> encode_parameters({"l2": np.float64(0.1), "n_jobs": None})
    '{"l2": 0.1, "n_jobs": null}'
    >>> text = encode_parameters({"random_state": np.random.RandomState(7)})
    >>> decode_parameters(text)["random_state"].randint(1000)
    175
    """
    encoded = {name: _encode(name, value) for name, value in parameters.items()}
    return json.dumps(encoded, allow_nan=False)


def decode_parameters(text: str, what: str = "parameters") -> dict[str, Any]:
    """Return the parameters that ``encode_parameters`` wrote."""
    parameters = load_json(text, what)
    return {name: _decode(name, value) for name, value in parameters.items()}


def load_json(text: str, what: str) -> dict[str, Any]:
    """Return the JSON object that a text is; raise ModelFileError if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{what} is not valid JSON: {error}.") from error
    if not isinstance(found, dict):
        raise ModelFileError(f"{what} is not a JSON object.")
    return found


def _encode(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    if isinstance(value, np.random.RandomState):
        return {"RandomState": _plain(value.get_state(legacy=False))}
    raise ValueError(
        f"{name}={value!r} cannot be stored in a model file: parameters may be finite numbers, "
        "strings, booleans, None and numpy.random.RandomState."
    )


def _plain(state: Any) -> Any:
    if isinstance(state, dict):
        return {name: _plain(value) for name, value in state.items()}
    if isinstance(state, np.ndarray | np.generic):
        return state.tolist()
    return state


def _decode(name: str, value: Any) -> Any:
    if not isinstance(value, dict | list):
        return value
    if isinstance(value, dict) and value.keys() == {"RandomState"}:
        return _random_state(name, value["RandomState"])
    raise ModelFileError(f"parameters: {name} is neither a number nor a string.")


def _random_state(name: str, state: Any) -> np.random.RandomState:
    kind = state.get("bit_generator") if isinstance(state, dict) else None
    if kind not in _BIT_GENERATORS:
        raise ModelFileError(f"parameters: {name} is of the unknown kind {kind!r}.")
    generator = np.random.RandomState(getattr(np.random, kind)(0))
    try:
        generator.set_state(_arrays(state, generator.get_state(legacy=False)))
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ModelFileError(f"parameters: {name} is no random state: {error}.") from error
    return generator


def _arrays(state: Any, like: Any) -> Any:
    """Return the state with arrays where the state of a new generator has them."""
    if isinstance(like, dict):
        return {name: _arrays(state[name], value) for name, value in like.items()}
    if isinstance(like, np.ndarray):
        found = np.array(state, dtype=like.dtype)
        if found.shape != like.shape:
            raise ValueError(f"an array of shape {like.shape} has the shape {found.shape}")
        return found
    return state
