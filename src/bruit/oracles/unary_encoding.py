"""Unary encoding (UE): SUE, the symmetric one, also called basic RAPPOR, and OUE, the optimised one.

A value becomes a row of k bits with its own bit set, and every bit is randomised: the true one is 1 with probability p,
each other with q. The error does not grow with k, but the report does: ⌈k/8⌉ bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Self, get_args

from bruit import _checks, documents
from bruit.domains import Categories
from bruit.errors import ParameterError, ParameterTypeError, translated
from bruit.laws import BitsLaw, Subset
from bruit.laws.words import WORD_BITS, WORDS
from bruit.oracles.bits import BitOracle
from bruit.rounding import exp_ceiling

#: Which p and q: ½ and the best q; symmetric, p = 1 − q; or any two.
Kind = Literal["OUE", "SUE", "UE"]


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(BitOracle):
    """Report one bit per value: one's own is 1 with probability p, each other with the smaller probability q.

    Parameters
    ----------
    epsilon, k, labels, domain
        As for every `Oracle`.
    kind
        ``"OUE"``, the optimised one: p = ½ and q = 1/(e^ε + 1). ``"SUE"``, the symmetric one, basic RAPPOR:
        p = 1 − q and q = 1/(e^{ε/2} + 1). ``"UE"``: any p and q, made by `with_probabilities`.
    weights
        For ``"UE"``: p and q in units of 2⁻⁶⁴.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``). Two values differ in the law of two bits only, so no report is more
    than p(1−q)/((1−p)q) times likelier under one value than under another, and a report with the one bit set and the
    other not attains it. ``unary_encoding.proof.md`` has the argument.

    Error
    -----
    n·Var = 4e^ε/(e^ε − 1)² for a rare value with OUE, √e^ε/(√e^ε − 1)² with SUE, whatever k is.

    References
    ----------
    Erlingsson, Ú., Pihur, V., Korolova, A. (2014), RAPPOR: randomized aggregatable privacy-preserving ordinal response.
    Wang, T., Blocki, J., Li, N., Jha, S. (2017), Locally differentially private protocols for frequency estimation.

    Examples
    --------
    >>> oracle = UnaryEncoding(epsilon=1.0, k=20)
    >>> reports = oracle.privatize([0, 0, 19, 2], rng=7)
    >>> reports.dtype, reports.shape
    (dtype('uint8'), (4, 3))
    >>> oracle.p, round(float(oracle.q), 3)
    (Fraction(1, 2), 0.269)
    >>> oracle.guarantee.epsilon <= 1.0
    True
    """

    kind: Kind = "OUE"
    weights: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.one_of(get_args(Kind), kind=self.kind)
        if (self.kind == "UE") != (self.weights is not None):
            raise ParameterError('weights belong to kind "UE", and only to it: use UnaryEncoding.with_probabilities.')
        if self.weights is not None:
            object.__setattr__(self, "weights", _clean_weights(self.weights))
            if self.epsilon != self.law.epsilon:
                raise ParameterError(
                    "epsilon must be what p and q give: use UnaryEncoding.with_probabilities, which computes it."
                )

    @classmethod
    def with_probabilities(cls, p: Fraction | float, q: Fraction | float, **values: Any) -> Self:
        """These probabilities in units of 2⁻⁶⁴, p rounded down and q up; ε follows. Values: k, labels or domain.

        >>> oracle = UnaryEncoding.with_probabilities(Fraction(3, 4), Fraction(1, 4), k=5)
        >>> oracle.name, oracle.epsilon == math.log(9)
        ('UE', True)
        """
        own, other = _exact(p=p), _exact(q=q)
        unit = 2**WORD_BITS
        weights = math.floor(own * unit), math.ceil(other * unit)
        if not 0 < weights[1] < weights[0] < unit:
            raise ParameterError("p and q must be probabilities with 0 < q < p < 1, apart by 2⁻⁶⁴ or more.")
        # ε does not depend on how many values there are.
        epsilon = BitsLaw(own=weights[0], other=weights[1], sets=Subset(values=2)).epsilon
        return cls(epsilon=epsilon, kind="UE", weights=weights, **values)

    @classmethod
    def thresholded_histogram(cls, epsilon: float, **values: Any) -> Self:
        """THE as published: Laplace noise of scale 2/ε on every bit, of which only what exceeds θ is reported.

        θ is the best of 4 digits. Where the person applies it, as here, the true ε is smaller than the published one,
        and OUE at either has less variance.

        >>> oracle = UnaryEncoding.thresholded_histogram(1.0, k=20)
        >>> round(oracle.epsilon, 3), round(oracle.typical_variance(0.0, 1), 3)
        (0.896, 4.807)
        """
        known = Fraction(_checks.epsilon(epsilon=epsilon))
        threshold = Fraction(min(range(5000, 10000), key=lambda place: _histogram_variance(float(known), place)), 10**4)
        p = 1 - Fraction(exp_ceiling(known * (1 - threshold) / 2, WORDS), 2 * WORDS)
        q = Fraction(exp_ceiling(known * threshold / 2, WORDS), 2 * WORDS)
        return cls.with_probabilities(p, q, **values)

    @classmethod
    def from_settings(cls, domain: Categories, epsilon: float, settings: dict[str, Any]) -> Self:
        """The inverse of `to_dict`, after the domain and ε were read; documents hold the weights as texts."""
        if "weights" in settings:
            weights = tuple(documents.whole_number(weight, "A weight") for weight in settings["weights"])
            settings = {**settings, "weights": weights}
        return super().from_settings(domain, epsilon, settings)

    @property
    def name(self) -> str:
        """OUE, SUE, or UE for other probabilities."""
        return self.kind

    @cached_property
    def law(self) -> BitsLaw:
        """The true bit with p, each other with q."""
        sets = Subset(values=self.size)
        if self.weights is not None:
            return BitsLaw(own=self.weights[0], other=self.weights[1], sets=sets)
        return BitsLaw.calibrate(self.epsilon, sets, own=Fraction(1, 2) if self.kind == "OUE" else None)

    def _settings(self) -> dict[str, Any]:
        return {} if self.weights is None else {"weights": list(self.weights)}

    def at_epsilon(self, epsilon: float) -> Self:
        """The same kind at another ε; probabilities that somebody chose have no ε to change."""
        if self.kind == "UE":
            raise ParameterError("UE has the p and q that were chosen, at no other ε: use OUE or SUE.")
        return replace(self, epsilon=epsilon)


def _histogram_variance(epsilon: float, place: int) -> float:
    """n·Var of THE for a rare value, with a threshold of this many ten-thousandths."""
    p = 1 - math.exp(epsilon * (place / 10**4 - 1) / 2) / 2
    q = math.exp(-epsilon * place / 10**4 / 2) / 2
    return q * (1 - q) / (p - q) ** 2


def _exact(**parameter: Any) -> Fraction:
    """A probability as the very fraction that was given."""
    ((name, value),) = parameter.items()
    _checks.probability(**parameter)
    with translated((TypeError, ValueError), lambda _: ParameterTypeError(f"{name} must be a Fraction or a float.")):
        return Fraction(value)


def _clean_weights(weights: Any) -> tuple[int, int]:
    if not isinstance(weights, tuple | list) or len(weights) != 2:
        raise ParameterError("weights must be two whole numbers, p and q in units of 2⁻⁶⁴.")
    other = _checks.integer(low=1, high=2**WORD_BITS - 2, other=weights[1])
    own = _checks.integer(low=other + 1, high=2**WORD_BITS - 1, own=weights[0])
    return own, other
