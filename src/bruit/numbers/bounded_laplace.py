"""Bounded Laplace: the law of Laplace noise that is drawn again until the sum is inside, without drawing again.

The textbook draws Laplace noise of scale (U − L)/ε until the sum lies in [L, U]. What comes out has a law that can be
written down: weights e^{−ε·distance/width}, cut to the bounds. Here that law is put on a grid in whole numbers and
sampled at once, in a time that does not depend on the value. In floating point, most outputs of the textbook version
are impossible under another input; here every output is possible under every input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from bruit.estimation.scores import Floats
from bruit.numbers._by_distance import ByDistance


@dataclass(frozen=True, kw_only=True)
class BoundedLaplace(ByDistance):
    """Report a number near one's own: a distance d within the bounds has weight e^{−ε·d/(U − L)}.

    Parameters
    ----------
    epsilon, bounds, cells, domain, rounding
        As for every `Number`.
    clamped
        Put what falls beyond a bound on the bound, instead of cutting the law: the unbiased mean then varies far less.

    Guarantee
    ---------
    ε-LDP for one number (neighbours ``"value"``), exactly ε: the two ends differ most, they have the same total weight,
    and the weights of distance 0 and of the whole width differ by e^ε. This is so because the scale is for the whole
    width; with a scale for a smaller sensitivity a law cut to the bounds is not ε-LDP. ``bounded_laplace.proof.md`` has
    the argument.

    Error
    -----
    Reports are pulled towards the middle, so their plain average is biased; `estimate` inverts the law. On [−1, 1] at
    ε = 1 one report then has variance up to 19 with 16 cells and 61 with 64; clamped, up to 5.6 with any number.

    References
    ----------
    Dwork, C., McSherry, F., Nissim, K., Smith, A. (2006), Calibrating noise to sensitivity in private data analysis.
    Holohan, N., Antonatos, S., Braghin, S., Mac Aonghusa, P. (2020), The bounded Laplace mechanism in differential
    privacy.

    Examples
    --------
    >>> ages = BoundedLaplace(epsilon=1.0, bounds=(17, 90))
    >>> reports = ages.privatize([30, 45, 61], rng=7)
    >>> ages.decode(reports).shape, ages.guarantee.epsilon <= 1.0
    ((3,), True)
    """

    name: ClassVar[str] = "laplace"

    @classmethod
    def as_printed(cls, epsilon: float, bounds: tuple[float, float] = (0.0, 1.0), cells: int = 1024) -> Self:
        """The version that draws again until inside, for comparison: it has this very law, and so this very ε."""
        return cls(epsilon=epsilon, bounds=bounds, cells=cells)

    def _shape(self, nominal: float) -> Floats:
        far = self.messages - 1
        return np.exp(nominal * (far - np.arange(far + 1)) / far)

    def _noise_shape(self, nominal: float) -> Floats:
        return self._shape(nominal)[:-1]
