"""How a notebook shows a value that is no result: its public facts as a table of two columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from bruit.tables.table import Column, Table
from bruit.tables.text import label

#: How many entries of a list are shown, and how many characters of a text.
_MOST_ENTRIES, _MOST_CHARACTERS = 10, 400


class Described:
    """A value that a notebook shows as a table of its facts, through `Table` and so with every text escaped.

    The facts are public: parameters, sizes and guarantees, and never data. Unless a class says otherwise they are the
    fields that its repr shows, without those that are None.
    """

    __slots__ = ()

    def _facts(self) -> Mapping[str, Any]:
        return declared(self)

    def _repr_html_(self) -> str:
        return facts_table(type(self).__name__, self._facts())._repr_html_()


def declared(value: object) -> dict[str, Any]:
    """The fields that the repr of a dataclass shows, without those that are None; nothing of other values."""
    if not is_dataclass(value):
        return {}
    facts = {field.name: getattr(value, field.name) for field in fields(value) if field.repr}
    return {name: fact for name, fact in facts.items() if fact is not None}


def facts_table(title: str, facts: Mapping[str, Any]) -> Table:
    """One fact a row.

    >>> print(facts_table("Guarantee", {"ε": 1.0, "labels": ("no", "yes")}))
    Guarantee
    fact    value
    ε       1.0
    labels  no, yes
    """
    names = Column("fact", list(facts), kind="label", write=str)
    return Table(title, [names, Column("value", list(facts.values()), kind="text", write=_written)], noun="fact")


def _written(value: Any) -> str:
    """A fact in a line that is not long: of many entries the first ones, and how many more there are."""
    text = str(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        entries = list(value)
        text = ", ".join(label(entry) for entry in entries[:_MOST_ENTRIES])
        text += f", and {len(entries) - _MOST_ENTRIES:,} more" if len(entries) > _MOST_ENTRIES else ""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
