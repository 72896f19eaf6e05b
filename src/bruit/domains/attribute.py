"""One question: a name and the domain of its answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bruit.domains.categories import Categories, Label
from bruit.domains.domain import Codes, Domain, about_column
from bruit.domains.grid import Grid
from bruit.errors import FormatError, ParameterTypeError

_KINDS: dict[str, type[Categories] | type[Grid]] = {"categories": Categories, "grid": Grid}


@dataclass(frozen=True)
class Attribute:
    """A named column and what may stand in it.

    Examples
    --------
    >>> Attribute("sex", ["F", "M"]).labels
    ('F', 'M')
    """

    name: str
    domain: Domain

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ParameterTypeError("An attribute's name must be a text that is not empty.")
        object.__setattr__(self, "name", unicodedata.normalize("NFC", self.name))
        object.__setattr__(self, "domain", as_domain(self.domain))

    @property
    def size(self) -> int:
        """How many codes the domain has."""
        return self.domain.size

    @property
    def labels(self) -> tuple[Label | float, ...]:
        """One label per code: a category's label, or the point of a grid."""
        if isinstance(self.domain, Categories):
            return self.domain.names
        return tuple(self.domain.decode(np.arange(self.size)).tolist())

    def encode(self, values: Any) -> Codes:
        """Codes of a column of data; an error names the column."""
        with about_column(self.name):
            return self.domain.encode(values)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"name": self.name, "domain": self.domain.to_dict()}

    @classmethod
    def from_dict(cls, body: Any) -> Attribute:
        """The inverse of `to_dict`."""
        try:
            kind = _KINDS[body["domain"]["kind"]]
            return cls(body["name"], kind.from_dict(body["domain"]))
        except (KeyError, TypeError):
            raise FormatError("An attribute must have a name and a domain of a known kind.") from None


def as_domain(declared: Any) -> Domain:
    """A domain as given, or categories from a plain list of labels."""
    if isinstance(declared, Domain):
        return declared
    if isinstance(declared, Sequence | np.ndarray) and not isinstance(declared, str | bytes):
        return Categories(labels=tuple(declared))
    raise ParameterTypeError("A domain must be a list of labels, Categories(…) or Grid(low, high).")
