"""What happens to a value that is missing, and to one outside what is declared: the policies of a domain.

A domain reads a column without any policy, as a `Read`. Then its policies are applied, once and in `Policy.apply`, and
only then do values become codes. So a policy is the same for people who answer, for a table that is released and for
a model, and a new one is written in this package alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.missing import MISSING, Missing
from bruit.domains.outside import OUTSIDE, Outside

if TYPE_CHECKING:
    from bruit.domains.domain import Domain


class Read(NamedTuple):
    """A column as a domain reads it, before any policy.

    After `Policy.apply`, `absent` and `outside` are those that count as a value of their own.
    """

    values: NDArray[Any]
    absent: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    #: The entries outside as they were given, to choose the words of an error by; they are never shown.
    wrong: Iterable[Any] = ()


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What happens to missing values and to values outside; every `Domain` is one.

    Parameters
    ----------
    missing
        ``"refuse"`` (an error), ``"drop"`` (the person is left out) or ``"category"`` (a value of its own).
    outside
        ``"refuse"`` (an error), ``"clamp"`` (the nearest end) or ``"other"`` (a value of its own). None for the usual:
        people who answer are refused, and releases of tables clamp numbers and dates.

    Examples
    --------
    >>> from bruit.domains import Grid
    >>> Grid(0, 120, missing="drop").policy
    Policy(missing='drop', outside=None)
    """

    missing: Missing = "refuse"
    outside: Outside | None = None

    def __post_init__(self) -> None:
        _checks.one_of(MISSING, missing=self.missing)
        if self.outside is not None:
            _checks.one_of(OUTSIDE, outside=self.outside)

    @property
    def policy(self) -> Policy:
        """The policies alone."""
        return Policy(missing=self.missing, outside=self.outside)

    def apply(self, domain: Domain, read: Read) -> Read:
        """What remains of a column: the one place where policies are applied, first to values outside."""
        if read.outside.any():
            read = OUTSIDE[self.outside or "refuse"](domain, read)
        return MISSING[self.missing](domain, read) if read.absent.any() else read
