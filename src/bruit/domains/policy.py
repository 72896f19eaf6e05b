"""What happens to a value that is missing, and to one outside what is declared: the policies of a domain.

A domain reads a column without any policy, as a `Read`. Then its policies are applied, once and in `Policy.apply`, and
only then do values become codes. So a policy is the same for people who answer, for a table that is released and for
a model, and a new one is written in this package alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.missing import MISSING, Missing
from bruit.domains.outside import OUTSIDE, Outside
from bruit.errors import ParameterTypeError

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


#: What only domains and `Person` take.
POLICIES = ("missing", "outside")


def written(**options: Any) -> str:
    """Options as a call has them: ``labels=['a', 'b'], missing='drop'``; those that are None are left out."""
    return ", ".join(f"{name}={value!r}" for name, value in options.items() if value is not None)


def moved(options: Mapping[str, Any], spelling: str) -> ParameterTypeError:
    """The error of a call with policies that belong to its domain; the spelling is the call as it should be."""
    named = " and ".join(name for name in POLICIES if name in options)
    return ParameterTypeError(f"{named} must be declared with the domain: write {spelling}.")


@dataclass(frozen=True, kw_only=True, repr=False)
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

    @classmethod
    def words(cls, name: str) -> tuple[str, ...]:
        """The words that ``missing`` or ``outside`` can be here.

        >>> Policy.words("missing")
        ('refuse', 'drop', 'category')
        """
        return tuple({"missing": MISSING, "outside": OUTSIDE}[name])

    @property
    def policy(self) -> Policy:
        """The policies alone."""
        return Policy(missing=self.missing, outside=self.outside)

    def __repr__(self) -> str:
        own = [item.name for item in fields(self) if item.name not in POLICIES]  # which stand last in a call
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in (*own, *POLICIES))})"

    def apply(self, domain: Domain, read: Read) -> Read:
        """What remains of a column: the one place where policies are applied, first to values outside."""
        if read.outside.any():
            read = OUTSIDE[self.outside or "refuse"](domain, read)
        return MISSING[self.missing](domain, read) if read.absent.any() else read
