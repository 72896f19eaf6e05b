"""What happens to a missing value: it is refused, its person is left out, or it becomes a category of its own."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bruit.domains.codes import Codes, code_dtype
from bruit.errors import MissingError

#: What to do with a missing value: refuse the data, leave the person out, or count it as a category of its own.
Missing = Literal["refuse", "drop", "category"]
#: The label of the category for missing values, where the policy asks for one.
MISSING_LABEL = "(missing)"
#: How `drop` marks a missing value among the codes while they are being made; no domain is this large.
ABSENT = np.iinfo(np.int64).max
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


def keep_present(codes: NDArray[np.int64], size: int, missing: Missing, way_out: str) -> Codes:
    """Apply the policy to codes in which ABSENT marks a missing value."""
    absent = codes == ABSENT
    if missing == "category":
        codes[absent] = size - 1
    elif missing == "drop":
        codes = codes[~absent]
    elif absent.any():
        raise MissingError(f"{REFUSED} {way_out}")
    return codes.astype(code_dtype(size))
