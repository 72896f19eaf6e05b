"""Mechanisms for a mean: Duchi's two messages, the piecewise mechanism (PM), and the hybrid of both (HM).

Each message stands for a number whose mean, given the person's number, is that number: so the average of what was
reported is an unbiased mean, whatever the people are like. Duchi's has the least error for small ε, the piecewise one
for large ε, and the hybrid is at least as good as both in the worst case.

All three work on the grid. In floating point, some 40 % of the outputs of the piecewise mechanism are impossible under
another input, and each of them gives its person away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from bruit.errors import LimitError
from bruit.laws import LeaningLaw, MixedLaw, TwoLevelLaw, Window
from bruit.laws.words import WORDS
from bruit.numbers.affine import AffineNumber
from bruit.rounding import exp_floor

#: From this many cells per e^{ε/2} on, the grid costs less than 3 % of variance.
FINE_ENOUGH = 17
#: Below this ε the best hybrid is Duchi's mechanism alone (Wang et al. 2019).
HYBRID_FROM = 0.61


@dataclass(frozen=True, kw_only=True)
class Duchi(AffineNumber):
    """Report one of two numbers, (e^ε+1)/(e^ε−1) half-widths above or below the middle.

    Parameters
    ----------
    epsilon, bounds, cells, domain, rounding
        As for every `Number`. Cells cost nothing here: there are two messages however many there are.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``). The weight of "above" grows by the same whole number from each cell
    to the next, and both weights have the same sum for every cell, so the largest ratio is that between the two ends,
    which is at most e^ε in whole numbers. ``mean.proof.md`` has the argument.

    Error
    -----
    n·Var = C² − x² for people at x on [−1, 1], C = (e^ε+1)/(e^ε−1): never below C² − 1, however large ε is.

    References
    ----------
    Duchi, J. C., Jordan, M. I., Wainwright, M. J. (2018), Minimax optimal procedures for locally private estimation.

    Examples
    --------
    >>> coin = Duchi(epsilon=1.0, bounds=(-1, 1))
    >>> coin.outputs.round(3).tolist()
    [-2.164, 2.164]
    >>> coin.guarantee.epsilon <= 1.0
    True
    """

    name: ClassVar[str] = "duchi"

    @cached_property
    def law(self) -> LeaningLaw:
        """The weight of "above" grows evenly with the cell."""
        return LeaningLaw.calibrate(self.epsilon, cells=self.cells)


@dataclass(frozen=True, kw_only=True)
class Piecewise(AffineNumber):
    """Report a number from a window around one's own more often than any other (PM).

    Parameters
    ----------
    epsilon, bounds, cells, domain, rounding
        As for every `Number`. By default there are enough cells that the grid costs less than 3 % of variance.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``). A message in the window has weight A and any other B, with A/B ≤ e^ε
    in whole numbers and the same total for every cell. ``mean.proof.md`` has the argument.

    Error
    -----
    At worst n·Var = 4e^{ε/2}/(3(e^{ε/2}−1)²) on [−1, 1], for people at the ends; it is least in the middle.

    References
    ----------
    Wang, N., Xiao, X., Yang, Y., Zhao, J., Hui, S. C., Shin, H., Shin, J., Yu, G. (2019), Collecting and analyzing
    multidimensional data with local differential privacy.

    Examples
    --------
    >>> ages = Piecewise(epsilon=2.0, bounds=(18, 90))
    >>> answer = ages.estimate(ages.tally(ages.privatize([40] * 3000 + [20] * 1000, rng=7)))
    >>> low, high = answer.interval(level=0.999)
    >>> low < 35 < high, high - low < 4
    (True, True)
    """

    name: ClassVar[str] = "piecewise"

    @cached_property
    def law(self) -> TwoLevelLaw:
        """The window of the cell, or any message."""
        return TwoLevelLaw.calibrate(self.epsilon, piecewise_windows(self.epsilon, self.cells))

    def _default_cells(self) -> int:
        return fine_cells(self.epsilon, least=self.DEFAULT_CELLS, most=self.MOST_CELLS)


@dataclass(frozen=True, kw_only=True)
class Hybrid(AffineNumber):
    """Use the piecewise mechanism with probability 1 − e^{−ε/2}, else Duchi's (HM); up to ε = 0.61 always Duchi's.

    Which of the two was used can be seen in the report. It says nothing about the person: it is chosen before the
    number is looked at.

    Parameters
    ----------
    epsilon, bounds, cells, domain, rounding
        As for every `Number`. By default as many cells as `Piecewise`.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``): both parts are, and the choice between them does not depend on the
    number. ε is the larger of the two exact figures. ``mean.proof.md`` has the argument.

    Error
    -----
    In the worst case never worse than either part: on [−1, 1] n·Var is at most 16.7, 4.29, 1.04 and 0.22 at ε = 0.5, 1,
    2 and 4.

    References
    ----------
    Wang, N., Xiao, X., Yang, Y., Zhao, J., Hui, S. C., Shin, H., Shin, J., Yu, G. (2019), Collecting and analyzing
    multidimensional data with local differential privacy.

    Examples
    --------
    >>> hybrid = Hybrid(epsilon=1.0, bounds=(-1.0, 1.0))
    >>> round(float(hybrid.output_variance().max()), 2)
    4.29
    """

    name: ClassVar[str] = "hybrid"

    @cached_property
    def law(self) -> LeaningLaw | MixedLaw:
        """A coin, or a window or a coin."""
        if self.epsilon <= HYBRID_FROM:
            return LeaningLaw.calibrate(self.epsilon, cells=self.cells)
        # The words are divided: e^{−ε/2} of them for Duchi's part, the others for the window.
        few = WORDS * WORDS // exp_floor(self.epsilon / 2, WORDS)
        return MixedLaw.calibrate(self.epsilon, piecewise_windows(self.epsilon, self.cells), coin_words=few)

    @property
    def piecewise_probability(self) -> Fraction:
        """The exact probability that the piecewise part is used; 0 up to ε = 0.61."""
        return self.law.chance if isinstance(self.law, MixedLaw) else Fraction(0)

    def _default_cells(self) -> int:
        return fine_cells(self.epsilon, least=self.DEFAULT_CELLS, most=self.MOST_CELLS)


def piecewise_windows(epsilon: float, cells: int) -> Window:
    """Windows as wide as e^{−ε/2} of the way that they slide, as in the continuous mechanism."""
    return Window(values=cells, width=max(1, round((cells - 1) * math.exp(-epsilon / 2))))


def fine_cells(epsilon: float, *, least: int, most: int) -> int:
    """Enough cells that the grid costs less than 3 % of variance."""
    wanted = max(least, math.ceil(FINE_ENOUGH * math.exp(epsilon / 2)))
    if wanted > most:
        limit = 2 * math.log(most / FINE_ENOUGH)
        raise LimitError(
            f"epsilon must be at most {limit:.3g} for real numbers, got {epsilon:g}: beyond, windows need more "
            f"than {most:,} cells. Declare cells, or whole-number bounds."
        )
    return wanted
