"""One question: a name and the domain of its answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.domains.bins import Bins
from bruit.domains.categories import Categories, Label
from bruit.domains.dates import Dates
from bruit.domains.domain import Codes, Domain
from bruit.domains.grid import Grid
from bruit.errors import FormatError, ParameterTypeError, in_column, translated

_KINDS: dict[str, type[Bins] | type[Categories] | type[Dates] | type[Grid]] = {
    "bins": Bins,
    "categories": Categories,
    "dates": Dates,
    "grid": Grid,
}


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
        """One label per code: a category's label, the start of a period, or the point of a grid."""
        return self.domain.names

    def encode(self, values: Any, *, clip: bool = False) -> Codes:
        """Codes of a column of data, whose errors name it; with `clip`, a number beyond a bound counts as the bound."""
        with in_column(self.name):
            return self.domain.encode(values, clip=clip)

    def values(self, codes: Codes) -> NDArray[Any]:
        """The values behind codes as a table has them: with a gap where the code is that of missing values."""
        values = self.domain.decode(codes)
        if self.domain.missing != "category":
            return values
        with_gaps = values.astype(object)
        with_gaps[codes == self.size - 1] = None
        return with_gaps

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"name": self.name, "domain": self.domain.to_dict()}

    @classmethod
    def from_dict(cls, body: Any) -> Attribute:
        """The inverse of `to_dict`."""
        rule = "An attribute must have a name and a domain of a known kind."
        with translated((KeyError, TypeError), lambda _: FormatError(rule)):
            return cls(body["name"], domain_from_dict(body["domain"]))


def domain_from_dict(body: Any) -> Domain:
    """The inverse of every domain's `to_dict`."""
    with translated((KeyError, TypeError), lambda _: FormatError("A domain must be of a known kind.")):
        return _KINDS[body["kind"]].from_dict(body)


def as_domain(declared: Any) -> Domain:
    """A domain as given, or categories from a plain list of labels."""
    if isinstance(declared, Domain):
        return declared
    if isinstance(declared, Sequence | np.ndarray) and not isinstance(declared, str | bytes):
        return Categories(labels=tuple(declared))
    raise ParameterTypeError(
        "A domain must be a list of labels, Categories(…), Grid(low, high), Bins(edges) or Dates(first, last)."
    )
