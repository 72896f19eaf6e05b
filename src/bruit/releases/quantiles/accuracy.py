"""How close the histogram method comes, before any data: a bound on its error for a known distribution.

For one quantile x of the distribution, the result lies within γ of x unless one of three things happens: the noise is
larger than α (probability β), too many records lie below x − γ, or too few below x + γ − step. The last two are tails
of binomial laws, which are computed, not estimated. Any β may be taken; the best is.

The bound is loose: where it says nothing yet, the method often already works. The textbook's α is used, for which the
noise of Dwork and Roth is assumed; the tight noise is smaller, so the bound holds for it, and ``noise="tight"`` gives
the better one. The arguments are in ``accuracy.proof.md``, which also tells what is wrong with the theorem as it was
printed; `bruit_studies.as_printed` computes that one.

The step of the grid is part of the bound: with 7 steps on 0..1 no edge lies within 0.05 of the median, and no number of
records helps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from bruit import _checks
from bruit.domains.grid import checked_bounds
from bruit.errors import ParameterError, ParameterTypeError
from bruit.releases.quantiles.histogram import DECILES, NoiseChoice
from bruit.releases.statistic import CENTRAL, CentralNeighbours, Floats
from bruit.tables import counted

__all__ = [
    "Accuracy",
    "Distribution",
    "above_threshold_accuracy",
    "accuracy",
    "least_n",
    "normal",
    "uniform",
]

#: The values of β among which the best is taken.
BETAS = np.geomspace(1e-15, 0.9, 600)
MOST_N = 10**12


@dataclass(frozen=True)
class Distribution:
    """Where records come from: a distribution function, and the interval it is asked on by default.

    Parameters
    ----------
    cdf
        From a number x to the probability of being at most x.
    bounds
        The interval that holds (nearly) all of it; None if it must be given.
    """

    cdf: Callable[[float], float]
    bounds: tuple[float, float] | None = None

    def quantile(self, q: float, bounds: tuple[float, float]) -> float:
        """The least x within the bounds with cdf(x) ≥ q, by bisection."""
        low, high = bounds
        for _ in range(200):
            middle = low + (high - low) / 2
            low, high = (low, middle) if self.cdf(middle) >= q else (middle, high)
        return high


@dataclass(frozen=True)
class Accuracy:
    """A promise about one quantile: within `gamma` of it with probability `bound` or more.

    `bound` is None where nothing can be promised. `beta` and `alpha` are the probability and the size of the noise that
    it allows for.
    """

    quantile: float
    gamma: float
    n: int
    bound: float | None
    beta: float
    alpha: float

    def __str__(self) -> str:
        place = f"quantile {self.quantile:g} from {counted(self.n, 'record')}"
        if self.bound is None:
            return f"no guarantee for {place}"
        return f"{place}: within {self.gamma:g} with probability {self.bound:.4g} or more"


def uniform(low: float = 0.0, high: float = 1.0) -> Distribution:
    """The uniform distribution on low..high."""
    low, high = checked_bounds((low, high))
    return Distribution(lambda x: min(1.0, max(0.0, (x - low) / (high - low))), (low, high))


def normal(mu: float = 0.0, sigma: float = 1.0) -> Distribution:
    """The normal distribution; by default asked on five σ to each side of μ."""
    centre, spread = _checks.finite(mu=mu), _checks.positive(sigma=sigma)
    return Distribution(
        lambda x: 0.5 * math.erfc((centre - x) / (spread * math.sqrt(2))), (centre - 5 * spread, centre + 5 * spread)
    )


def above_threshold_accuracy(k: int, epsilon: float, beta: float = 0.05) -> float:
    """The textbook's α of AboveThreshold on k answers of sensitivity 1: 8(ln k + ln(2/β))/ε.

    With probability 1 − β no answer that is passed over lies more than α above the threshold, and the one found at most
    α below. For the noise in whole numbers that bruit draws it holds too; only where ln(2k/β) < ε/2 a little more is
    needed, and given. `AboveThreshold.accuracy` is the smaller number for the very noise that is drawn.

    >>> round(above_threshold_accuracy(k=1000, epsilon=1.0, beta=0.05), 2)
    84.77
    """
    _checks.integer(low=1, k=k)
    rate = _checks.positive(epsilon=epsilon)
    _checks.probability(beta=beta)
    return float(_alpha(k, 2 / rate, 4 / rate, np.array([beta]))[0])


def accuracy(
    n: int,
    *,
    epsilon: float,
    cells: int,
    gamma: float,
    distribution: Distribution | Callable[[float], float],
    quantile: float | None = None,
    quantiles: int = len(DECILES),
    bounds: tuple[float, float] | None = None,
    noise: NoiseChoice = "dwork-roth",
    neighbours: CentralNeighbours = "add-remove",
) -> Accuracy:
    """How surely the histogram method comes within γ of a quantile of the distribution that n records come from.

    Parameters
    ----------
    n
        How many records, drawn independently.
    epsilon
        The ε of all quantiles together.
    cells, bounds
        The grid; the bounds default to those of the distribution.
    gamma
        The error that is allowed, in the unit of the data.
    distribution
        `uniform(a, b)`, `normal(mu, sigma)`, or any distribution function.
    quantile
        Which quantile; None for the worst of the nine deciles.
    quantiles
        How many quantiles share ε.
    noise, neighbours
        As in `HistogramQuantiles`. The neighbours matter only for the tight noise.

    Examples
    --------
    >>> print(accuracy(20_000, epsilon=1.0, cells=100, gamma=0.05, distribution=uniform(), quantile=0.5))
    quantile 0.5 from 20,000 records: within 0.05 with probability 0.9608 or more
    >>> print(accuracy(5_000, epsilon=1.0, cells=100, gamma=0.05, distribution=uniform(), quantile=0.5))
    no guarantee for quantile 0.5 from 5,000 records
    """
    _checks.integer(low=1, high=MOST_N, n=n)
    problem = _Problem(epsilon, cells, gamma, distribution, quantiles, bounds, noise, neighbours)
    promises = [problem.best(n, q) for q in _quantiles(quantile)]
    return min(promises, key=lambda promise: -math.inf if promise.bound is None else promise.bound)


def least_n(
    bound: float,
    *,
    epsilon: float,
    cells: int,
    gamma: float,
    distribution: Distribution | Callable[[float], float],
    quantile: float | None = None,
    quantiles: int = len(DECILES),
    bounds: tuple[float, float] | None = None,
    noise: NoiseChoice = "dwork-roth",
    neighbours: CentralNeighbours = "add-remove",
) -> int | None:
    """How many records `accuracy` needs to promise `bound`; None if no number is enough, as when γ is below a step.

    >>> least_n(0.9, epsilon=1.0, cells=7, gamma=0.05, distribution=uniform(), quantile=0.5) is None
    True
    """
    _checks.probability(bound=bound)
    problem = _Problem(epsilon, cells, gamma, distribution, quantiles, bounds, noise, neighbours)
    needed = [problem.least_n(bound, q) for q in _quantiles(quantile)]
    known = [n for n in needed if n is not None]
    return max(known) if len(known) == len(needed) else None


@dataclass(frozen=True)
class _Problem:
    """What `accuracy` and `least_n` have in common, checked."""

    epsilon: float
    cells: int
    gamma: float
    distribution: Any
    quantiles: int
    bounds: Any
    noise: NoiseChoice
    neighbours: CentralNeighbours

    def __post_init__(self) -> None:
        _checks.positive(epsilon=self.epsilon)
        _checks.integer(low=1, quantiles=self.quantiles)
        _checks.integer(low=1, cells=self.cells)
        _checks.positive(gamma=self.gamma)
        _checks.one_of(get_args(NoiseChoice), noise=self.noise)
        _checks.one_of(CENTRAL, neighbours=self.neighbours)
        if self.bounds is None and self.law.bounds is None:
            raise ParameterError("bounds must be given for a distribution function that comes without them.")
        object.__setattr__(self, "bounds", checked_bounds(self.bounds or self.law.bounds))

    @property
    def law(self) -> Distribution:
        if not isinstance(self.distribution, Distribution) and not callable(self.distribution):
            raise ParameterTypeError(
                "distribution must be uniform(a, b), normal(mu, sigma) or a distribution function."
            )
        return self.distribution if isinstance(self.distribution, Distribution) else Distribution(self.distribution)

    @property
    def share(self) -> float:
        return self.epsilon / self.quantiles

    @property
    def step(self) -> float:
        return float(self.bounds[1] - self.bounds[0]) / self.cells

    def best(self, n: int, q: float) -> Accuracy:
        """The greatest bound over β."""
        alphas = self.alphas(q)
        low, high = self.sides(q)
        early = 0.0 if low is None else _at_least(n, low, q * n - alphas)
        late = 0.0 if high is None else _at_most(n, high, q * n + alphas)
        failure = BETAS + early + late
        place = int(np.argmin(failure))
        bound = 1 - float(failure[place])
        return Accuracy(q, self.gamma, n, bound if bound > 0 else None, float(BETAS[place]), float(alphas[place]))

    def alphas(self, q: float) -> Floats:
        """The size of the noise for each β."""
        if self.noise == "dwork-roth":
            scales = 2 / self.share, 4 / self.share
        else:
            scales = ((1 + q) / self.share,) * 2 if self.neighbours == "add-remove" else (2 / self.share,) * 2
        return _alpha(self.cells, *scales, BETAS)

    def sides(self, q: float) -> tuple[float | None, float | None]:
        """The probabilities of lying below x − γ, and below the last edge that must be within x + γ.

        None for a side that cannot fail: results lie between the first edge and the upper bound.
        """
        x = self.law.quantile(q, self.bounds)
        first, last = self.bounds[0] + self.step, self.bounds[1]
        low = self.law.cdf(x - self.gamma) if x - self.gamma > first else None
        high = self.law.cdf(x + self.gamma - self.step) if x + self.gamma < last else None
        return low, high

    def least_n(self, bound: float, q: float) -> int | None:
        """The least n from which on the bound holds, but for ripples of whole numbers."""
        low, high = self.sides(q)
        if (low is not None and low >= q) or (high is not None and high <= q):
            return None
        no, yes = 0, 1
        while not self._promises(yes, q, bound):
            no, yes = yes, 2 * yes
            if yes > MOST_N:
                return None
        while yes - no > 1:
            middle = (no + yes) // 2
            no, yes = (no, middle) if self._promises(middle, q, bound) else (middle, yes)
        return yes

    def _promises(self, n: int, q: float, bound: float) -> bool:
        best = self.best(n, q).bound
        return best is not None and best >= bound


def _alpha(k: int, threshold: float, answers: float, betas: Floats) -> Floats:
    """α for k answers and noise of these two scales, Laplace or discrete Laplace.

    The textbook's is twice the larger half. In whole numbers the two halves may be one unit more, in all.
    """
    worst = np.log(2 * k / betas)
    return np.asarray(np.maximum(2 * answers * worst, answers * worst + threshold * np.log(2 / betas) + 1))


def _at_least(n: int, p: float, count: Any) -> Any:
    """The probability that a binomial(n, p) number is `count` or more."""
    from scipy import special

    least = np.ceil(count)
    inner = np.clip(least, 1, n)
    tail = special.betainc(inner, n - inner + 1, p)
    return np.where(least > n, 0.0, np.where(least <= 0, 1.0, tail))


def _at_most(n: int, p: float, count: Any) -> Any:
    """The probability that a binomial(n, p) number is `count` or less."""
    return _at_least(n, 1 - p, n - np.asarray(count))


def _quantiles(quantile: float | None) -> tuple[float, ...]:
    return DECILES if quantile is None else (_checks.probability(quantile=quantile),)
