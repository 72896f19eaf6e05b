"""What happens to a value outside the declared bounds or labels: it is refused, moved to the nearest end, or another.

The domain decides, and nobody else. Where it says nothing, people who answer are refused, because a number beyond its
bounds is a mistake that they can mend; a release of a table clamps numbers and dates, because an error would tell the
steward's audience something that no noise covers. Labels have no nearest one and are refused by both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

from bruit import _checks
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.domains.domain import Domain
    from bruit.domains.policy import Read

#: What to do with a value outside: refuse the data, take the nearest end, or count it as a value of its own.
Outside: TypeAlias = Literal["refuse", "clamp", "other"]
#: The label of the value for everything outside, where the policy asks for one.
OTHER_LABEL = "other"

_D = TypeVar("_D", bound="Domain")

_REASONS = {
    "clamp": "labels have no nearest one",
    "other": "a number outside has no place among numbers. Ranges can count it apart: Bins([0, 18, 65, 120]), or "
    "--histogram age=0..120/12",
}


def check_outside(outside: Any, allowed: tuple[Outside, ...]) -> None:
    """A policy that such a domain can follow, or None for the usual one."""
    if outside is None:
        return
    _checks.one_of(OUTSIDE, outside=outside)
    if outside not in allowed:
        policies = " or ".join(f'outside="{policy}"' for policy in allowed)
        reason = _REASONS.get(outside, "such values cannot follow it")
        way_out = f"Declare {policies}." if allowed else "Leave it out."
        raise ParameterError(f'outside="{outside}" cannot be here: {reason}. {way_out}')


def clamping(domain: _D) -> _D:
    """The domain that takes the nearest end for a number or date outside, unless it declares what it does.

    >>> from bruit.domains import Grid
    >>> clamping(Grid(0, 10)).encode([12]).tolist()
    [10]
    """
    return with_outside(domain, "clamp") if domain.outside is None else domain


def with_outside(domain: _D, outside: Outside | None) -> _D:
    """The domain with this policy, where it can follow it; else as it is."""
    if outside is None or outside not in domain.policies:
        return domain
    return dataclasses.replace(domain, outside=outside)


def declared_outside(outside: Outside | None) -> dict[str, Outside]:
    """The policy for a document, which says nothing of the usual one."""
    return {} if outside is None else {"outside": outside}


def _refuse(domain: Domain, read: Read) -> Read:
    raise domain.refusal(read)


def _clamp(domain: Domain, read: Read) -> Read:
    return read._replace(values=domain.nearest(read.values), outside=np.zeros_like(read.outside))


def _other(domain: Domain, read: Read) -> Read:
    return read


#: What each policy makes of a column with values outside; those that stay outside are a value of their own.
OUTSIDE: dict[str, Callable[[Domain, Read], Read]] = {"refuse": _refuse, "clamp": _clamp, "other": _other}
