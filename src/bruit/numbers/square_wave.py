"""The square wave (SW): numbers for a whole distribution, not only for its mean.

The report lies within b of the person's number with weight e^ε, and elsewhere between −b and 1 + b with weight 1 (on
the unit interval). The width b is the one that keeps most information about the number. The distribution is then fitted
to the reports; see `bruit.estimation.fitting`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from bruit.estimation.scores import Floats
from bruit.laws import TwoLevelLaw, Window
from bruit.numbers.affine import AffineNumber


@dataclass(frozen=True, kw_only=True)
class SquareWave(AffineNumber):
    """Report a number near one's own more often than any other (SW); its reports give the distribution by EM or EMS.

    Parameters
    ----------
    epsilon, bounds, cells, domain, rounding
        As for every `Number`. EMS smooths over neighbouring cells, so more cells smooth less; the default of 256 suits
        10⁴ to 10⁶ people.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``). A message near the cell has weight A and any other B, with A/B ≤ e^ε
    in whole numbers and the same total for every cell. ``square_wave.proof.md`` has the argument.

    Error
    -----
    For 10⁵ people with a Beta(5, 2) distribution on [0, 1], the area between the fitted and the true cdf is about
    0.009, 0.005 and 0.003 at ε = 0.5, 1 and 2. Its mean is unbiased too, with more variance than `Hybrid`.

    References
    ----------
    Li, Z., Wang, T., Lopuhaä-Zwakenberg, M., Li, N., Škoric, B. (2020), Estimating numerical distributions under local
    differential privacy.

    Examples
    --------
    >>> wave = SquareWave(epsilon=1.0, bounds=(0.0, 100.0))
    >>> reports = wave.privatize(np.linspace(0, 100, 20_000), rng=7)
    >>> answer = wave.estimate(wave.tally(reports)).distribution()
    >>> bool(45 < answer.quantile(0.5) < 55)
    True
    """

    DEFAULT_CELLS: ClassVar[int] = 256

    name: ClassVar[str] = "square-wave"

    @property
    def reach(self) -> int:
        """How many cells to either side of one's own have the larger weight."""
        return round(half_width(self.epsilon) * (self.cells - 1))

    @property
    def outputs(self) -> Floats:
        """The number that each message stands for: the grid, continued beyond both bounds by the reach."""
        places: Floats = np.arange(self.messages, dtype=np.float64) - self.reach
        return self.bounds[0] + float(self.domain.step) * places

    @cached_property
    def law(self) -> TwoLevelLaw:
        """The window around the cell, or any message."""
        return TwoLevelLaw.calibrate(self.epsilon, Window(values=self.cells, width=2 * self.reach + 1))


def half_width(epsilon: float) -> float:
    """The b that keeps most information: (ε·e^ε − e^ε + 1) / (2e^ε(e^ε − 1 − ε)).

    >>> round(half_width(1.0), 4), round(half_width(0.001), 3)
    (0.2561, 0.5)
    """
    # Both brackets lose their leading digits for small ε; there, their series are summed instead.
    if epsilon < 0.05:
        upper = sum(epsilon**j * (1 / math.factorial(j - 1) - 1 / math.factorial(j)) for j in range(2, 11))
        lower = sum(epsilon**j / math.factorial(j) for j in range(2, 11))
        return upper / (2 * math.exp(epsilon) * lower)
    grown = math.exp(epsilon)
    return (epsilon * grown - grown + 1) / (2 * grown * (grown - 1 - epsilon))
