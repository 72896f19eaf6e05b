"""Numbers that carry a promise, rounded to the side on which the promise holds.

A double has two readings. Its *exact value* is a binary fraction. Its *decimal* is the shortest text that names it:
1/10 for 0.1. Laws and guarantees use exact values. A ledger adds decimals, because people write budgets as decimals.

================  ==========================================  ====================
Function          Result                                      Never
================  ==========================================  ====================
`exp_floor`       whole number, from e^ε in 80 digits         above the true value
`exp_ceiling`     whole number, from e^−x in 80 digits        below the true value
`log_ceiling`     double, from a logarithm in 80 digits       below the true value
`above`           least double, by exact value                below the number
`up`, `down`      nearest double, by decimal                  below, above
`share`           double, of which `many` stay within ε       above, by exact value
`decimal_share`   double, of which `many` stay within ε       above, by decimal
================  ==========================================  ====================
"""

from __future__ import annotations

import functools
import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from bruit.errors import LimitError

#: A ratio that is nearer to its limit than this many binary digits show is stated as the limit: 500, and 64 of weights.
NEGLIGIBLE_BITS = 564

_EXACT = Context(prec=80)
# exp and ln of the decimal module are correctly rounded; this covers their last digit many times over.
_MARGIN = Decimal(10) ** -70
_ABOVE_ONE = _EXACT.add(Decimal(1), _MARGIN)
_BELOW_ONE = _EXACT.subtract(Decimal(1), _MARGIN)


@functools.lru_cache(maxsize=1024)
def exp_floor(epsilon: float, times: int) -> int:
    """⌊times · e^ε⌋, never above the true value.

    >>> exp_floor(1.0, 10**15)
    2718281828459045
    """
    product = _EXACT.multiply(_EXACT.exp(Decimal(epsilon)), Decimal(times))
    return int(_EXACT.multiply(product, _BELOW_ONE).to_integral_value(ROUND_FLOOR))


def exp_ceiling(exponent: Fraction, times: int) -> int:
    """⌈times · e^(−exponent)⌉, never below the true value.

    >>> exp_ceiling(Fraction(1), 2**192) / 2**192
    0.36787944117144233
    """
    power = _EXACT.exp(_EXACT.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator)))
    raised = _EXACT.multiply(power, _ABOVE_ONE)
    return int(_EXACT.multiply(raised, Decimal(times)).to_integral_value(ROUND_CEILING))


@functools.lru_cache(maxsize=1024)
def log_ceiling(ratio: Fraction) -> float:
    """The least double that is at or above ln(ratio), for a ratio of 1 or more.

    >>> log_ceiling(Fraction(3)) == math.log(3)
    True
    """
    if ratio == 1:
        return 0.0
    quotient = _EXACT.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    # A relative error of the quotient is an absolute error of its logarithm: add it back.
    raised = _EXACT.add(_EXACT.ln(quotient), _MARGIN)
    nearest = float(raised)
    return nearest if Decimal(nearest) >= raised else math.nextafter(nearest, math.inf)


def above(exact: Fraction) -> float:
    """The least double that is not below a number.

    >>> above(Fraction(1, 3)) >= Fraction(1, 3) > math.nextafter(above(Fraction(1, 3)), 0)
    True
    """
    try:
        nearest = float(exact)
    except OverflowError:
        raise LimitError("This number exceeds every double: use a smaller ε.") from None
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)


def decimal(number: float) -> Fraction:
    """The shortest decimal that names a double, exactly: 1/10 for 0.1."""
    return Fraction(repr(number))


def up(exact: Fraction) -> float:
    """The smallest double whose decimal is not below a number."""
    nearest = float(exact)
    return nearest if decimal(nearest) >= exact else math.nextafter(nearest, math.inf)


def down(exact: Fraction) -> float:
    """The largest double whose decimal is not above a number, which is 0 or above."""
    nearest = float(exact)
    return nearest if decimal(nearest) <= exact else math.nextafter(nearest, 0.0)


def share(epsilon: float, many: int) -> float:
    """An equal share of ε: `many` of them are at most ε by their exact values.

    >>> share(1.0, 10)
    0.09999999999999999
    """
    part = epsilon / many
    while Fraction(part) * many > Fraction(epsilon):
        part = math.nextafter(part, 0.0)
    return part


def decimal_share(epsilon: float, many: int) -> float:
    """An equal share of ε: `many` of them are at most ε by their decimals, as a ledger adds.

    >>> decimal_share(1.0, 10)
    0.1
    """
    part = epsilon / many
    while decimal(part) * many > decimal(epsilon):
        part = math.nextafter(part, 0.0)
    return part
