"""Data frames for whoever has a library of them: pandas, polars or pyarrow, through narwhals."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any, cast

from bruit import _checks
from bruit.errors import MissingExtraError

_BACKENDS = ("pandas", "polars", "pyarrow")


def make(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """A frame with these columns; without a backend, of the first library that is installed."""
    import narwhals

    if backend is None:
        backend = next(name for name in _BACKENDS if importlib.util.find_spec(name))
    _checks.one_of(_BACKENDS, backend=backend)
    if not importlib.util.find_spec(backend):
        raise MissingExtraError(f"A {backend} frame", backend)
    return narwhals.from_dict(dict(columns), backend=cast(Any, backend)).to_native()
