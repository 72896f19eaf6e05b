"""The noisy sums that a result is made of: kept with it, so that a later draw can be combined with them.

A result of sums is a function of them: a mean divides one by another and stays within its bounds, and tables are made
to agree. What is combined are the sums, before that. They are as public as the result, because the noise is on them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bruit import _checks, documents
from bruit.errors import FormatError
from bruit.releases.noise import MOST_SUM, DiscreteGaussian, DiscreteLaplace, Integers, Noise

__all__ = ["Draw", "DrawnSums", "Draws"]

#: The laws of noise that a document can have, with the name of their parameter.
_LAWS: dict[str, tuple[Any, str]] = {"laplace": (DiscreteLaplace, "scale"), "gaussian": (DiscreteGaussian, "sigma2")}

#: A fraction as it is written: no exponent, which might be endless.
_FRACTION = re.compile(r"[0-9]{1,40}(/[0-9]{1,40})?")


class DrawnSums(NamedTuple):
    """Whole numbers with noise, their noise, and the number of records where it is public and needed."""

    noise: Noise
    values: Integers
    n: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        law, name = next((law, name) for law, (kind, name) in _LAWS.items() if isinstance(self.noise, kind))
        public = {} if self.n is None else {"n": self.n}
        return {"law": law, name: str(getattr(self.noise, name)), "values": self.values.tolist(), **public}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> DrawnSums:
        """The inverse of `to_dict`."""
        kind, name = _LAWS[body["law"]]
        numbers = [documents.whole_number(value, "A noisy sum") for value in body["values"]]
        if any(abs(number) > MOST_SUM for number in numbers) or not _FRACTION.fullmatch(body[name]):
            raise ValueError
        n = body.get("n")
        size = None if n is None else _checks.integer(low=1, n=documents.whole_number(n, "n"))
        return cls(kind(Fraction(body[name])), np.array(numbers, np.int64), size)


class Draw(NamedTuple):
    """One draw: the ε and δ that were paid for it, and its noisy sums, group by group."""

    epsilon: float
    delta: float
    sums: tuple[DrawnSums, ...]


@dataclass(frozen=True)
class Draws:
    """All draws of a result, with the release that they are draws of.

    Parameters
    ----------
    draws
        The draws, oldest first.
    release
        The release of this statistic alone, as `Release.to_dict` gives it; the ε and δ in it are those of all draws.
    """

    draws: tuple[Draw, ...]
    release: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, epsilon: float, delta: float, sums: Sequence[DrawnSums]) -> Draws | None:
        """One draw; None if its noise has no place in a document."""
        kinds = tuple(kind for kind, _ in _LAWS.values())
        if not all(isinstance(own.noise, kinds) for own in sums):
            return None
        return cls((Draw(epsilon, delta, tuple(sums)),))

    @classmethod
    def joined(cls, parts: Sequence[Draws | None]) -> Draws | None:
        """The draws of all groups as one; None if a group has none."""
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or not known:
            return None
        own = [part.draws[0] for part in known]
        return cls((own[0]._replace(sums=tuple(sums for draw in own for sums in draw.sums)),))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        draws = [
            {"epsilon": draw.epsilon, "delta": draw.delta, "sums": [own.to_dict() for own in draw.sums]}
            for draw in self.draws
        ]
        return {"release": self.release, "draws": draws}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Draws:
        """The inverse of `to_dict`; what does not fit together is refused."""
        draws = tuple(
            Draw(
                _checks.positive(epsilon=draw["epsilon"]),
                _checks.fraction(delta=draw["delta"]),
                tuple(DrawnSums.from_dict(own) for own in draw["sums"]),
            )
            for draw in body["draws"]
        )
        sizes = {tuple(own.values.size for own in draw.sums) for draw in draws}
        if len(sizes) != 1 or not isinstance(body["release"], Mapping):
            raise FormatError("The draws of a result must have the same sums.")
        return cls(draws, dict(body["release"]))
