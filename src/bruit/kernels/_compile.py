"""How kernels are compiled: no interpreter lock, no threads, cached on disk where that is possible."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

#: Arrays of at most this size go to the NumPy version of a kernel that has one: loading the compiler takes longer.
FEW = 4096


def compiled(function: Function) -> Function:
    """Compile at the first call, for the types of that call."""
    import numba

    try:
        kernel = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder is writable: compile again in each process
        kernel = numba.njit(nogil=True)(function)
    return kernel  # type: ignore[no-any-return]


def compiled_beyond_few(simple: Callable[..., Any]) -> Callable[[Function], Function]:
    """Compile for large arrays; where the first argument has at most `FEW` entries, `simple` gives the same result.

    Which of the two runs depends on the size alone. A test compares them bit by bit.
    """

    def decorated(function: Function) -> Function:
        load = functools.cache(lambda: compiled(function))

        @functools.wraps(function)
        def kernel(first: Any, *rest: Any) -> Any:
            return simple(first, *rest) if first.size <= FEW else load()(first, *rest)

        kernel.simple, kernel.compiled = simple, load  # type: ignore[attr-defined]
        return kernel  # type: ignore[return-value]

    return decorated
