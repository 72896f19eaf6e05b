"""Estimates of several attributes, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


class Answers(Mapping[str, Any]):
    """Estimates by attribute, each made when it is asked for: an `Estimate`, or a `NumberEstimate` for a number.

    So an attribute that nobody reported is an error when that attribute is asked for, and no sooner.

    Parameters
    ----------
    names
        The attributes.
    make
        Makes the estimate of an attribute.
    """

    def __init__(self, names: Iterable[str], make: Callable[[str], Any]) -> None:
        self._names, self._make = tuple(names), make
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return "\n\n".join(repr(self[name]) for name in self)
