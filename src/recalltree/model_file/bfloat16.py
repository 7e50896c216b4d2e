"""bfloat16, which NumPy does not have: the upper half of a float32, held as uint16."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the nearest bfloat16 of finite numbers; of two that are as near, the even one.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.model_file.bfloat16 import from_bfloat16, to_bfloat16
    >>> from_bfloat16(to_bfloat16(np.array([1.0, 0.1, -3.0], dtype=np.float32)))
    array([ 1.        ,  0.10009766, -3.        ], dtype=float32)
    """
    bits = values.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    halves = (rounded >> np.uint32(16)).astype(np.uint16)
    if ((halves & 0x7F80) == 0x7F80).any():
        largest = float(np.abs(values).max())
        raise ValueError(f"a weight of {largest:.9g} rounds to infinity in bfloat16.")
    return halves


def from_bfloat16(halves: NDArray[Any]) -> NDArray[np.float32]:
    """Return bfloat16 numbers as float32, exactly."""
    return (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)
