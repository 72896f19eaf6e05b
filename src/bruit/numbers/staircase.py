"""The staircase mechanism: a near report has one weight, a far one another, and the step is where it costs least.

Staircase noise has the least expected error of all additive noise at its ε. The course that this library accompanies
draws it again until the sum is within the bounds, and charges the nominal ε. That is wrong: drawing again divides each
row by its own total, and the true ε is larger, up to half as large again (``staircase.proof.md``). Here the step is
lowered until the law that is really sampled has the ε that was asked; `Staircase.as_printed` is the leaking version,
which states its true ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, get_args

import numpy as np

from bruit import _checks
from bruit.errors import ParameterError, ParameterTypeError
from bruit.estimation.scores import Floats
from bruit.laws.distance import ClampedLaw, DistanceLaw
from bruit.numbers._by_distance import ByDistance
from bruit.numbers.staircase_noise import Error, optimal_gamma


@dataclass(frozen=True, kw_only=True)
class Staircase(ByDistance):
    """Report a number that is within a certain distance of one's own more often than any farther one.

    Within bounds Δ apart only two steps of the staircase are left: distances below γΔ, and the others.

    Parameters
    ----------
    epsilon, bounds, cells, domain, rounding
        As for every `Number`.
    clamped
        Put what falls beyond a bound on the bound, instead of cutting the law: the whole staircase is then used, and
        the unbiased mean varies far less.
    error
        Which expected error of the noise sets γ: ``"absolute"`` or ``"squared"``.
    printed
        Whether the weights are those of the published text, whatever their true ε: see `as_printed`.

    Guarantee
    ---------
    ε-LDP for one number (neighbours ``"value"``). Cut to the bounds, a value in the middle has a larger total weight
    than one at an end, so the ratio of the two weights must be less than e^ε; it is found on the exact law, in whole
    numbers. Clamped, all totals are the same and the ratio is e^ε. ``staircase.proof.md`` has the argument.

    Error
    -----
    On [−1, 1] at ε = 1, clamped, one report's score has variance up to 5.0 with any number of cells; cut to the bounds
    it grows with their number (46 with 16 cells, 506 with 64), because the law hardly tells neighbouring values apart.

    References
    ----------
    Geng, Q., Kairouz, P., Oh, S., Viswanath, P. (2015), The staircase mechanism in differential privacy.

    Examples
    --------
    >>> Staircase(epsilon=1.0, bounds=(0, 100)).guarantee.epsilon <= 1.0
    True
    >>> print(Staircase.as_printed(1.0).guarantee)
    ε = 1.331681 (local, one answer changed)
    """

    #: Reports lie on the cells and half-way between them: only so does every law have an unbiased mean.
    STRIDE: ClassVar[int] = 2

    error: Error = "absolute"
    printed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.one_of(get_args(Error), error=self.error)
        if not isinstance(self.printed, bool):
            raise ParameterTypeError("printed must be True or False.")
        if self.clamped and self.printed:
            raise ParameterError("The published text does not clamp: choose clamped or printed.")

    @classmethod
    def as_printed(
        cls,
        epsilon: float,
        bounds: tuple[float, float] = (0.0, 1.0),
        cells: int = 4096,
        error: Error = "absolute",
    ) -> Self:
        """The version that draws again until inside at the nominal ε, for comparison; `guarantee` is its true one."""
        return cls(epsilon=epsilon, bounds=bounds, cells=cells, error=error, printed=True)

    name: ClassVar[str] = "staircase"

    @property
    def gamma(self) -> float:
        """The best width of the first step, as a share of the distance between the bounds."""
        return optimal_gamma(self.epsilon, self.error)

    @cached_property
    def law(self) -> DistanceLaw | ClampedLaw:
        """Two weights by distance, cut to the grid; or the whole staircase, clamped to it."""
        if self.printed:
            return DistanceLaw.scale(self._shape(self.epsilon), stride=self.STRIDE)
        return super().law

    def _shape(self, nominal: float) -> Floats:
        near = max(1, min(round(self.gamma * self.messages), self.messages // 2))
        return np.where(np.arange(self.messages) < near, np.exp(nominal), 1.0)

    def _noise_shape(self, nominal: float) -> Floats:
        # Steps of noise are compared with a sensitivity of cells − 1 steps.
        near = max(1, round(self.gamma * (self.cells - 1)))
        return np.where(np.arange(self.cells - 1) < near, np.exp(nominal), 1.0)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "error": self.error, "printed": self.printed}
