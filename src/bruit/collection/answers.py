"""Estimates of several attributes, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bruit.collection.groups import Groups


class Answers(Mapping[str, Any]):
    """Estimates by attribute, each made when it is asked for: an `Estimate`, or a `NumberEstimate` for a number.

    So an attribute that nobody reported is an error when that attribute is asked for, and no sooner.

    Parameters
    ----------
    names
        The attributes.
    make
        Makes the estimate of an attribute.
    group
        Makes the answers of every group of people with the same values of these public attributes.
    """

    def __init__(
        self,
        names: Iterable[str],
        make: Callable[[str], Any],
        group: Callable[[tuple[str, ...]], Groups] | None = None,
    ) -> None:
        self._names, self._make, self._group = tuple(names), make, group
        self._made: dict[str, Any] = {}

    def by(self, *names: str) -> Groups:
        """The answers of every group of people, by public attributes: ``answers.by("school")["A"]["smokes"]``.

        Parameters
        ----------
        *names
            Attributes that were sent in clear; with several, a group is a combination of their values.
        """
        from bruit.collection import groups

        if self._group is None:
            groups.check_names(names, {})
            raise AssertionError  # check_names has said that there is nothing to group by
        return self._group(names)

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
