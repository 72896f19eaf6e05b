"""Codes: the whole number that stands for a value of a domain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.unsignedinteger[Any]]


def code_dtype(size: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest unsigned dtype that holds the codes 0..size−1.

    >>> code_dtype(256), code_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(size - 1)
