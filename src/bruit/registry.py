"""Mechanisms, methods and statistics by name: the library's own, and those of others by `register` or entry point.

A plan document holds a name and never a module. What a name stands for is decided by the program that reads the
document: by the classes that it has registered, and by the entry points of the packages that are installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any, Generic, NamedTuple, TypeVar

from bruit import _checks, referrals
from bruit.errors import ParameterError, ParameterTypeError

__all__ = ["Registry", "register"]

Kind = TypeVar("Kind")
#: Names have to fit between the brackets of a method, and a suffix after - says how an oracle is faked.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]{2,})*")
_RULE = "letters and digits, beginning with a letter; - may stand between them"


class Registered(NamedTuple, Generic[Kind]):
    """A class, and the settings that its name stands for."""

    kind: type[Kind]
    settings: Mapping[str, Any]


class Registry(Generic[Kind]):
    """The names of one sort of mechanism, or of methods.

    Parameters
    ----------
    noun
        What the names stand for, in messages.
    group
        The entry point group in which installed packages declare theirs.
    attribute
        The attribute in which a class says its name.
    pattern, rule
        What a name looks like: as a regular expression, and in words.
    """

    def __init__(
        self, noun: str, group: str, *, attribute: str = "name", pattern: re.Pattern[str] = _NAME, rule: str = _RULE
    ) -> None:
        self.noun = noun
        self.group = group
        self.attribute = attribute
        self._pattern, self._rule = pattern, rule
        #: What each public name stands for, in words; names that only documents use are not among them.
        self.meanings: dict[str, str] = {}
        self._entries: dict[str, Registered[Kind]] = {}
        self._aliases: dict[str, str] = {}
        self._loaded = False

    def add(
        self,
        name: str,
        kind: type[Kind],
        meaning: str | None = None,
        settings: Mapping[str, Any] | None = None,
        aliases: tuple[str, ...] = (),
    ) -> None:
        """Make a class known by a name, in any case; without a meaning, to documents only."""
        if not isinstance(name, str) or not self._pattern.fullmatch(name):
            raise ParameterError(f"name must be {self._rule}.")
        if name in self and not self._is_same(name, kind):
            raise ParameterError(f"The name {name!r} is taken: choose another.")
        own = getattr(kind, self.attribute, None)
        if isinstance(own, str) and own and own != name:  # a property, as of a class with several names, is no text
            raise ParameterError(
                f"{kind.__name__} writes {own!r} into documents, which then could not be read: register this "
                f"{self.noun} as {own!r}, or write {self.attribute} = {name!r} in the class."
            )
        self._entries[name] = Registered(kind, dict(settings or {}))
        if meaning is not None:
            self.meanings[name] = meaning
        self._aliases.update({alias.lower(): name for alias in aliases})

    def define(self, name: str, kind: type[Kind]) -> None:
        """Make a class known to documents; a public name stays what it is, any other is what was defined last."""
        if not self._is_public(name) or self._is_same(name, kind):
            self._entries.pop(name, None)
            self.add(name, kind)

    def _is_same(self, name: str, kind: type[Kind]) -> bool:
        """Whether a name stands for this class already, perhaps as an earlier run of a notebook's cell made it."""
        known = self._entries.get(name)
        return known is not None and (known.kind.__module__, known.kind.__qualname__) == (
            kind.__module__,
            kind.__qualname__,
        )

    def remove(self, name: str) -> None:
        """Forget a name."""
        del self._entries[name]
        self.meanings.pop(name, None)

    def spelt(self, name: Any) -> str:
        """A public name as it was registered, from any case; an error that lists all names otherwise."""
        for names in (self.meanings, self):
            spellings = {**{known.lower(): known for known in names}, **self._aliases}
            if isinstance(name, str) and name.lower() in spellings:
                return spellings[name.lower()]
            folded = {referrals.folded(spelling): known for spelling, known in spellings.items()}
            if isinstance(name, str) and referrals.folded(name) in folded:
                return folded[referrals.folded(name)]
        referrals.check(name)
        return _checks.one_of(self.meanings, name=name)

    def __getitem__(self, name: str) -> Registered[Kind]:
        """What a name stands for, spelt as it was registered; a KeyError otherwise."""
        if name not in self._entries:
            self._load()
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        """Public names, those of installed packages included."""
        self._load()
        return iter(tuple(self.meanings))

    def classes(self) -> dict[str, type[Kind]]:
        """The classes that are known here by name, also those that only documents name."""
        return {name: entry.kind for name, entry in self._entries.items()}

    def __contains__(self, name: object) -> bool:
        taken = {known.lower() for known in (*self._entries, *self.meanings)} | self._aliases.keys()
        return isinstance(name, str) and name.lower() in taken

    def _load(self) -> None:
        """Import what installed packages declare, once; a name that is taken stays what it was."""
        if self._loaded:
            return
        self._loaded = True
        for point in metadata.entry_points(group=self.group):
            if not self._is_public(point.name):
                kind = point.load()
                if point.name not in self or self._is_same(point.name, kind):  # an import may make a class known
                    self.add(point.name, kind, first_line(kind))

    def _is_public(self, name: str) -> bool:
        return name.lower() in {known.lower() for known in self.meanings} | self._aliases.keys()


def register(kind: Any, name: str | None = None, meaning: str | None = None) -> Any:
    """Make a class known by name: a mechanism or method to plans, documents and commands, a statistic to publications.

    Parameters
    ----------
    kind
        A class that extends `Oracle`, `Number`, `Method` or `Statistic`. It is returned: this works as a decorator.
    name
        Its name in methods, files and documents. The default is the class's own `name`; of methods and statistics,
        `kind`. Where the class has one, no other is taken: documents of the class would name what nobody knows.
    meaning
        What it is, in a few words; the first line of its docstring by default.

    Notes
    -----
    Registering lasts as long as the program. A package that is installed declares its classes as entry points of the
    group ``bruit.oracles``, ``bruit.numbers``, ``bruit.methods`` or ``bruit.statistics`` instead, under their names.
    Then commands know them too.
    """
    registry = getattr(kind, "kinds", None)
    if not isinstance(kind, type) or not isinstance(registry, Registry):
        raise ParameterTypeError(
            "register takes a class that extends bruit.oracles.Oracle, bruit.numbers.Number, "
            "bruit.collection.Method or bruit.releases.Statistic."
        )
    own = getattr(kind, registry.attribute, None) if name is None else name
    if not isinstance(own, str) or (not own and name is None):
        raise ParameterError('The class has no name of its own: give one, as in register(MyOracle, "MINE").')
    registry.add(own, kind, meaning or first_line(kind))
    return kind


def first_line(kind: type[Any]) -> str:
    """The first line of the docstring, without its stop."""
    return (kind.__doc__ or kind.__name__).strip().splitlines()[0].rstrip(".")
