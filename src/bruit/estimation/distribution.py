"""The distribution of a number over its cells, with quantiles and intervals. How it is fitted: `estimation.fitting`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bruit import _checks
from bruit.entropy import Entropy, Randomness
from bruit.errors import DataError, ParameterError
from bruit.estimation import intervals
from bruit.estimation.estimate import source_of, title_of
from bruit.estimation.fitting import DistributionFit, Floats, LinearMap, Rule, Stop, fit
from bruit.estimation.tally import NO_REPORT, Counts
from bruit.privacy.guarantee import Guarantee
from bruit.tables import Column, Table, Tabular, counted, label, percent

#: The quantiles that are shown.
SHOWN_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DistributionEstimate(Tabular):
    """The distribution of a number over its cells, fitted to the reports.

    It is not unbiased: probabilities are never negative and have sum one. Its uncertainty comes from `bootstrap`.

    Parameters
    ----------
    channel, counts, points
        The law behind the reports, how often each message came, and the number that each cell stands for.
    rule
        How it is fitted, and when the steps stop.
    n, refused, guarantee, mechanism, name, simulated
        As for every estimate.

    Examples
    --------
    >>> from bruit.numbers import SquareWave
    >>> import numpy as np
    >>> wave = SquareWave(epsilon=2.0, bounds=(0.0, 1.0))
    >>> people = np.random.default_rng(7).beta(5, 2, 50_000)
    >>> answer = wave.estimate(wave.tally(wave.privatize(people, rng=7))).distribution()
    >>> answer.quantile([0.25, 0.5, 0.75]).round(1).tolist()
    [0.6, 0.7, 0.8]
    >>> answer.stop
    'tolerance'
    """

    channel: LinearMap
    counts: Counts
    points: Floats
    rule: Rule
    n: int
    refused: int
    guarantee: Guarantee
    mechanism: str
    name: str = "value"
    simulated: bool = False

    def __post_init__(self) -> None:
        if self.n == 0:
            raise DataError(NO_REPORT)

    @cached_property
    def _fit(self) -> DistributionFit:
        return fit(self.channel, self.counts, self.points.size, self.rule)

    @cached_property
    def probability(self) -> Floats:
        """The probability of each cell."""
        array = self._fit.probability
        array.flags.writeable = False
        return array

    @property
    def steps(self) -> int:
        """How many steps were made."""
        return self._fit.steps

    @property
    def stop(self) -> Stop:
        """Which rule ended the steps: ``"tolerance"`` or ``"iterations"``."""
        return self._fit.stop

    @property
    def likelihood(self) -> float:
        """The log-likelihood per report at the end."""
        return self._fit.likelihood

    @property
    def mean(self) -> float:
        """The mean of the fitted distribution; the estimate's own `mean` is unbiased, this one is not."""
        return float(self.points @ self.probability)

    def cdf(self, x: Any) -> Floats:
        """The probability of at most x."""
        return _cdf(self.points, self.probability, np.asarray(x, float))

    def quantile(self, q: Any) -> Floats:
        """The numbers below which a share q lies; each cell's probability is spread evenly over the cell."""
        return _quantile(self.points, self.probability, _shares(q))

    def histogram(self, edges: Any) -> Floats:
        """The probability between each pair of neighbouring edges."""
        ends = np.asarray(edges, float)
        if ends.ndim != 1 or ends.size < 2 or not (np.diff(ends) > 0).all():
            raise ParameterError("edges must be two or more increasing numbers.")
        return np.diff(self.cdf(ends))

    def wasserstein(self, probability: Any) -> float:
        """The area between this distribution's cdf and that of other probabilities of the same cells."""
        other = np.asarray(probability, float)
        if other.shape != self.probability.shape:
            raise ParameterError(f"probability must have {self.points.size} entries, one per cell.")
        apart = np.abs(np.cumsum(self.probability) - np.cumsum(other))
        return float(apart[:-1] @ np.diff(self.points))

    def bootstrap(self, runs: int = 200, rng: Randomness = None) -> Bootstrap:
        """Fit again to reports drawn from the fitted distribution, many times: how far off the fit may be.

        Nobody is asked again, so it costs no privacy. A seed makes it reproducible.
        """
        _checks.integer(low=20, runs=runs)
        generator = Entropy.resolve(rng, "bootstrap", self.mechanism).generator()
        law = self.channel.forward(self.probability)
        draws = generator.multinomial(self.n, law / law.sum(), size=runs)
        again = [fit(self.channel, counts, self.points.size, self.rule).probability for counts in draws]
        return Bootstrap(self.points, self.probability, np.array(again))

    def table(self) -> Table:
        """Every cell: columns value, probability, and cdf, the probability of at most the value."""
        columns = [
            Column("value", self.points, self.name, "label", label),
            Column("probability", self.probability),
            Column("cdf", np.cumsum(self.probability)),
        ]
        about = {
            **source_of(self),
            "method": self.rule.method,
            "tolerance": self.rule.tolerance,
            "iterations": self.rule.iterations,
            "steps": self.steps,
            "stop": self.stop,
        }
        return Table(title_of("Distribution", self), columns, self._notes(), about, noun="cell")

    def summary(self) -> Table:
        """A few quantiles, which is what is printed: columns share and value."""
        columns = [
            Column("share", SHOWN_QUANTILES, kind="label", write=lambda share: percent(share, 0)),
            Column("value", self.quantile(SHOWN_QUANTILES), f"{self.name} below"),
        ]
        return Table(title_of("Distribution", self), columns, self._notes(), source_of(self), noun="quantile")

    def _notes(self) -> list[str]:
        ended = "converged" if self.stop == "tolerance" else "stopped at its limit"
        return [f"guarantee: {self.guarantee}", f"{self.rule.method} {ended} after {counted(self.steps, 'step')}"]

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap:
    """Fits to reports drawn from a fitted distribution, and the intervals that follow.

    An interval reaches z times the root mean square distance of the new fits from the first one to either side. That
    counts how much fits vary and how far fitting shifts them on average. Intervals that reach only as far as the new
    fits do, or take the shift back, were too short where smoothing shifts most: at the outer quantiles.
    """

    points: Floats
    centre: Floats
    probability: Floats

    @property
    def runs(self) -> int:
        """How many fits there are."""
        return len(self.probability)

    def interval(self, level: float = 0.95) -> Floats:
        """Lower and upper ends for the probability of each cell, cut to 0..1: one row per cell."""
        return np.clip(self._ends(self.centre, self.probability, level), 0.0, 1.0)

    def cdf(self, x: Any, level: float = 0.95) -> Floats:
        """Lower and upper ends for the probability of at most x, cut to 0..1: one row per number."""
        where = np.atleast_1d(np.asarray(x, float))
        curves = [_cdf(self.points, fit, where) for fit in (self.centre, *self.probability)]
        return np.clip(self._ends(curves[0], np.array(curves[1:]), level), 0.0, 1.0)

    def quantile(self, q: Any, level: float = 0.95) -> Floats:
        """Lower and upper ends for the numbers below which a share q lies, cut to the bounds: one row per share."""
        shares = np.atleast_1d(_shares(q))
        curves = [_quantile(self.points, fit, shares) for fit in (self.centre, *self.probability)]
        ends = self._ends(curves[0], np.array(curves[1:]), level)
        return np.clip(ends, self.points[0], self.points[-1])

    def _ends(self, centre: Floats, curves: Floats, level: float) -> Floats:
        z = intervals.normal_quantile(_checks.probability(level=level))
        half = z * np.sqrt(((curves - centre) ** 2).mean(axis=0))
        return np.column_stack([centre - half, centre + half])

    def __repr__(self) -> str:
        return f"Bootstrap({self.runs:,} fits over {self.points.size:,} cells)"


def _shares(q: Any) -> Floats:
    array = np.asarray(q, float)
    if not ((array >= 0) & (array <= 1)).all():
        raise ParameterError("q must lie in 0..1.")
    return array


def _edges(points: Floats) -> Floats:
    """Where cells meet, halfway between points; the first and the last cell end at the bounds."""
    return np.concatenate([points[:1], (points[:-1] + points[1:]) / 2, points[-1:]])


def _cdf(points: Floats, probability: Floats, x: Floats) -> Floats:
    below = np.concatenate([[0.0], np.cumsum(probability)])
    return np.asarray(np.interp(x, _edges(points), np.minimum(below / below[-1], 1.0)))


def _quantile(points: Floats, probability: Floats, q: Floats) -> Floats:
    below = np.concatenate([[0.0], np.cumsum(probability)])
    return np.asarray(np.interp(q, below / below[-1], _edges(points)))
