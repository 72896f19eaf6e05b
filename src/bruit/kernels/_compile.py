"""How kernels are compiled: no interpreter lock, no threads, cached on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile at the first call, for the types of that call."""
    try:
        kernel = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder is writable: compile again in each process
        kernel = numba.njit(nogil=True)(function)
    return kernel  # type: ignore[no-any-return]
