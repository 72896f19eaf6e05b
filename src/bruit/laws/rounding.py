"""e^ε and logarithms in 80 digits, rounded to the side on which a promise holds."""

from __future__ import annotations

import functools
import math
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

#: A ratio that is nearer to its limit than this many binary digits show is stated as the limit: 500, and 64 of weights.
NEGLIGIBLE_BITS = 564

_EXACT = Context(prec=80)
# exp and ln of the decimal module are correctly rounded; this covers their last digit many times over.
_MARGIN = Decimal(10) ** -70


@functools.lru_cache(maxsize=1024)
def exp_floor(epsilon: float, times: int) -> int:
    """⌊times · e^ε⌋, never above the true value.

    >>> exp_floor(1.0, 10**15)
    2718281828459045
    """
    power = _EXACT.exp(Decimal(epsilon))
    product = _EXACT.multiply(power, Decimal(times))
    below = _EXACT.multiply(product, _EXACT.subtract(Decimal(1), _MARGIN))
    return int(below.to_integral_value(ROUND_FLOOR))


@functools.lru_cache(maxsize=1024)
def log_ceiling(ratio: Fraction) -> float:
    """The least double that is at or above ln(ratio), for a ratio of 1 or more.

    >>> log_ceiling(Fraction(3)) == math.log(3)
    True
    """
    quotient = _EXACT.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    if ratio == 1:
        return 0.0
    # A relative error of the quotient is an absolute error of its logarithm: add it back.
    above = _EXACT.add(_EXACT.ln(quotient), _MARGIN)
    nearest = float(above)
    return nearest if Decimal(nearest) >= above else math.nextafter(nearest, math.inf)
