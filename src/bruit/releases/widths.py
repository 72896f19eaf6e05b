"""From a width to ε: the least ε whose 95 % interval is no wider than asked, before anything is read.

A width is half of an interval: "within 50" means that the published number misses the exact one by at most 50, 95 times
of 100. The width of an interval falls as ε grows, so the least ε is found by halving. Everything here follows from
declared parameters. See the page *Choose ε*.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from bruit import _checks
from bruit.errors import LimitError, ParameterError, ParameterTypeError, translated
from bruit.rounding import up
from bruit.tables import counted

__all__ = ["LEVEL", "WidthLike", "Within", "least_epsilon"]

#: The level of the intervals whose width is asked for.
LEVEL = 0.95
#: What a width is in: the unit of the published values, ranks, or the share of people that the ranks are.
Unit = Literal["values", "ranks", "share"]
#: ε is found in this number of significant digits, rounded up.
_DIGITS = 9
#: The least ε that is tried.
_LEAST = 1e-9

_TEXT = re.compile(r"\s*(?P<number>[0-9.eE+-]+)\s*(?P<unit>ranks?|%)\s*")


@dataclass(frozen=True)
class Within:
    """A wanted accuracy: half the width of a 95 % interval.

    Parameters
    ----------
    width
        How far from the exact number a result may be.
    unit
        ``"values"`` (default), the unit of the published values. For quantiles ``"ranks"``, or ``"share"`` for ranks as
        a share of all records, which needs `n`.
    n
        The number of records, where the width depends on it: for means, variances and shares of records.

    Examples
    --------
    >>> from bruit.releases import Count, Mean, Within
    >>> Count(within=50).epsilon
    0.0593127246
    >>> round(Mean("age", bounds=(0, 100), within=Within(0.5, n=1000)).epsilon, 3)
    0.596
    """

    width: float
    unit: Unit = "values"
    n: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", _checks.positive(within=self.width))
        _checks.one_of(get_args(Unit), unit=self.unit)
        if self.n is not None:
            object.__setattr__(self, "n", _checks.integer(low=1, n=self.n))

    @classmethod
    def of(cls, width: WidthLike, n: int | None = None) -> Within:
        """A width, from a number or from a text such as ``"50 ranks"`` or ``"2 %"``; with n unless it has its own."""
        if isinstance(width, Within):
            return width if width.n is not None else cls(width.width, width.unit, n)
        if not isinstance(width, str):
            return cls(width, n=n)
        text = _TEXT.fullmatch(width)
        rule = 'within must be a number, or for quantiles a number of ranks or a share, as in "50 ranks" or "2 %".'
        if text is None:
            raise ParameterTypeError(rule)
        with translated(ValueError, lambda _: ParameterTypeError(rule)):
            number = float(text["number"])
        return cls(number / 100, "share", n) if text["unit"] == "%" else cls(number, "ranks", n)

    def __str__(self) -> str:
        if self.unit == "share":
            return f"{100 * self.width:g} % of {'all records' if self.n is None else counted(self.n, 'record')}"
        return f"{self.width:g} ranks" if self.unit == "ranks" else f"{self.width:g}"

    def in_unit(self, unit: str, kind: str) -> float:
        """The width in the unit that a kind of statistic has."""
        if unit == "values":
            if self.unit != "values":
                raise ParameterError(f"Kind {kind!r} has a width in the unit of its values, as in within=50.")
            return self.width
        if self.unit == "values":
            raise ParameterError(
                f"How far a result of {kind!r} is from the exact one, in the unit of its values, depends on the data: "
                'say it in ranks, as in within="50 ranks", or as a share of the records, as in within="2 %".'
            )
        if self.unit == "ranks":
            return self.width
        if self.n is None:
            raise ParameterError(
                'A width as a share of the records needs their number: Within(0.02, "share", n=1000), -n 1000, or in a '
                "file expected_rows = 1000."
            )
        return self.width * self.n


#: What may be said of a width: a number, a text with its unit, or a `Within`.
WidthLike: TypeAlias = float | str | Within


def least_epsilon(width: float, half_width: Callable[[float], float]) -> float:
    """The least ε, in nine digits, at which half the width of an interval is no more than asked.

    Parameters
    ----------
    width
        What is asked for.
    half_width
        Half the width of the interval at an ε, which falls as ε grows; an ε beyond the limits raises `LimitError`.
    """
    most = _checks.EPSILON_LIMITS[1]
    best = half_width(most)
    if best > width:
        raise ParameterError(
            f"within={width:g} is out of reach: at ε = {most:g}, the most that may be spent, it is {best:.3g}."
        )

    def fits(epsilon: float) -> bool:
        try:
            return half_width(epsilon) <= width
        except LimitError:  # noise beyond what is drawn exactly is wider than any width
            return False

    low, high = _LEAST, most
    if fits(low):
        return low
    while high / low > 1 + 10.0 ** -(_DIGITS + 1):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    unit = Fraction(10) ** (math.floor(math.log10(high)) - _DIGITS + 1)
    steps = math.ceil(Fraction(high) / unit)
    while not fits(epsilon := min(up(steps * unit), most)):
        steps += 1
    return epsilon
