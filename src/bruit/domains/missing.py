"""What happens to a missing value: it is refused, its person is left out, or it becomes a category of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from bruit.errors import MissingError

if TYPE_CHECKING:
    from bruit.domains.domain import Domain
    from bruit.domains.policy import Read

#: What to do with a missing value: refuse the data, leave the person out, or count it as a category of its own.
Missing = Literal["refuse", "drop", "category"]
#: The label of the category for missing values, where the policy asks for one.
MISSING_LABEL = "(missing)"
#: What is wrong with missing entries where the policy refuses them.
REFUSED = "values contain missing entries, and the declared policy is to refuse them."
#: What can be done about missing values, for messages: of categories, and of numbers.
GAPS_OF_CATEGORIES = (
    'Declare missing="category", which makes a gap an answer of its own, or leave these people out, as '
    'missing="drop" does where there is one question.'
)
GAPS_OF_NUMBERS = (
    "Fill them with a number that you choose without looking at the data, or leave these people out, as "
    'missing="drop" does where there is one question.'
)


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if value is None:
        return True
    if isinstance(value, str | int):
        return False
    return (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in ("NAType", "NaTType")


def _refuse(domain: Domain, read: Read) -> Read:
    raise MissingError(f"{REFUSED} {domain.gaps}")


def _drop(domain: Domain, read: Read) -> Read:
    present = ~read.absent
    return read._replace(values=read.values[present], absent=read.absent[present], outside=read.outside[present])


def _category(domain: Domain, read: Read) -> Read:
    return read


#: What each policy makes of a column in which some values are missing; those that stay absent are a category.
MISSING: dict[str, Callable[[Domain, Read], Read]] = {"refuse": _refuse, "drop": _drop, "category": _category}
