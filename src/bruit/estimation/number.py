"""What was learnt about a number: its mean, with variance and interval, and its distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from bruit import _checks
from bruit.entropy import Randomness
from bruit.errors import DataError, ParameterError
from bruit.estimation import intervals
from bruit.estimation.distribution import DistributionEstimate
from bruit.estimation.estimate import source_of, title_of
from bruit.estimation.fitting import DenseChannel, DistributionMethod, LinearMap, Rule
from bruit.estimation.scores import Floats, noise_scores, score_variance
from bruit.estimation.support import TARGET_NOTES, Target
from bruit.estimation.tally import NO_REPORT, Counts
from bruit.privacy.guarantee import Guarantee
from bruit.tables import Column, Table, Tabular, digits, interval_of, percent

if TYPE_CHECKING:
    from bruit.estimation.difference import Difference

__all__ = ["DistributionEstimate", "NumberEstimate", "ScoreModel"]

#: How many times a distribution is fitted again for the intervals of a table's quantiles: few, to answer in seconds.
REFITS = 20
#: A fit of more steps times cells than this would take more than a few seconds to repeat: no intervals then.
MOST_WORK = 16_000_000


@dataclass(frozen=True)
class ScoreModel:
    """Counts of messages, and the scores whose average estimates the mean.

    Parameters
    ----------
    counts
        How many reports are each message.
    n
        How many reports there are.
    scores
        One number per message.
    points
        The number that each cell stands for.
    channel
        Gives P(message | cell), one row per cell; called only when needed.
    bias_bound
        The largest bias that the average score can have.
    rounding_noise
        The most that rounding at random adds to the variance of a person's score.
    """

    counts: Counts
    n: int
    scores: Floats
    points: Floats
    channel: Callable[[], Floats]
    bias_bound: float = 0.0
    rounding_noise: float = 0.0

    def law(self) -> LinearMap:
        """The channel as something to multiply with."""
        return DenseChannel(self.channel())

    def mean(self) -> float:
        """The average score."""
        return float(self.counts @ self.scores) / self.n

    def variance(self, target: Target) -> float:
        """The estimated variance of the average score."""
        return (self._spread() if target == "population" else self._noise()) / self.n

    def _spread(self) -> float:
        """The variance of a score over all reports, without bias: noise and the drawing of the people together."""
        centred = self.scores - self.mean()
        seen = float(self.counts @ centred**2) / max(self.n - 1, 1)
        # Reports that happen to coincide show no spread, and yet no report varies less than this.
        return max(seen, float(self._conditional_variance().min()))

    def _conditional_variance(self) -> Floats:
        """The variance of the score of a report, given the cell."""
        return score_variance(self.channel(), self.scores)

    def _noise(self) -> float:
        """The variance of a score given the cell, averaged over the people: estimated by scores of its own.

        Where no scores are unbiased for it, it is an upper estimate, at most the variance over all reports.
        """
        channel = self.channel()
        by_cell = self._conditional_variance()
        scores, exact = noise_scores(channel, self.scores)
        # An average over people lies between the least and the greatest; its estimate need not.
        average = float(np.clip(self.counts @ scores / self.n, by_cell.min(), by_cell.max())) + self.rounding_noise
        return average if exact and not self.rounding_noise else min(average, self._spread())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NumberEstimate(Tabular):
    """An unbiased mean with its variance and interval, for the people who answered or the population they come from.

    Nothing is clipped: the mean may come out beyond the bounds.

    Parameters
    ----------
    model
        Counts and scores behind the estimate.
    n, refused
        How many reports were counted, and how many were refused.
    bounds
        The declared bounds.
    target
        ``"population"``: the variance counts the noise and the drawing of the people. ``"people"``: the noise only.
    guarantee
        What was promised to each person.
    mechanism
        The name of the mechanism.
    simulated
        Whether any part of the reports was simulated.

    Examples
    --------
    >>> from bruit.numbers import Hybrid
    >>> mechanism = Hybrid(epsilon=2.0, bounds=(0, 10))
    >>> reports = mechanism.privatize([2] * 3000 + [8] * 1000, rng=1)
    >>> answer = mechanism.estimate(mechanism.tally(reports))
    >>> low, high = answer.interval(level=0.95)
    >>> bool(low < 3.5 < high)
    True
    """

    model: ScoreModel
    n: int
    refused: int
    bounds: tuple[float, float]
    target: Target
    guarantee: Guarantee
    mechanism: str
    simulated: bool = False
    name: str = field(default="value")

    def __post_init__(self) -> None:
        _checks.one_of(get_args(Target), target=self.target)
        if self.n == 0:
            raise DataError(NO_REPORT)

    @cached_property
    def mean(self) -> float:
        """The estimated mean."""
        return self.model.mean()

    @cached_property
    def variance(self) -> float:
        """The estimated variance of the mean."""
        return self.model.variance(self.target)

    @property
    def standard_error(self) -> float:
        """The square root of the variance."""
        return float(np.sqrt(self.variance))

    @property
    def bias_bound(self) -> float:
        """The largest bias that the mean can have, whatever the distribution: 0 unless the method is approximate."""
        return self.model.bias_bound

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper ends: the mean ± z standard errors, widened by the largest bias where there is one."""
        _checks.probability(level=level)
        half = intervals.normal_quantile(level) * self.standard_error + self.bias_bound
        return self.mean - half, self.mean + half

    def __sub__(self, other: object) -> Difference:
        """What this estimate has more than another, of different people, with its uncertainty."""
        from bruit.estimation.difference import subtract

        return subtract(self, other)  # type: ignore[no-any-return] # or NotImplemented, as Python wants it

    def distribution(
        self, method: DistributionMethod = "EMS", *, tolerance: float = 1e-9, iterations: int = 10_000
    ) -> DistributionEstimate:
        """The distribution over the cells, fitted to the reports.

        Parameters
        ----------
        method
            ``"EMS"``: expectation, maximisation and smoothing, for smooth distributions. ``"EM"``: without smoothing,
            for distributions with narrow peaks.
        tolerance
            Stop when a step changes the log-likelihood per report by less than this.
        iterations
            The most steps.
        """
        return DistributionEstimate(
            channel=self.model.law(),
            counts=self.model.counts,
            points=self.model.points,
            rule=Rule(method=method, tolerance=tolerance, iterations=iterations),
            n=self.n,
            refused=self.refused,
            guarantee=self.guarantee,
            mechanism=self.mechanism,
            name=self.name,
            simulated=self.simulated,
        )

    def table(self, level: float = 0.95, *, quantiles: Sequence[float] = (), rng: Randomness = None) -> Table:
        """The mean with its interval, and quantiles: columns statistic, share, value, lower, upper.

        Parameters
        ----------
        level
            Of the intervals.
        quantiles
            Shares, as 0.5 for the median. Quantiles are approximate; there are none where the mechanism tells the mean
            only, and no intervals of them where refitting would take long.
        rng
            For the refits that give these intervals; a seed makes them repeatable.
        """
        fitted = _distribution(self) if quantiles else None
        rows: list[tuple[Any, ...]] = [("mean", None, self.mean, self.interval(level))]
        spread = None
        if fitted is not None:
            spread = _spread(fitted, quantiles, level, rng)
            ends = [(None, None)] * len(quantiles) if spread is None else spread.tolist()
            values = fitted.quantile(quantiles).tolist()
            rows += [
                (f"{percent(q, 0)} below", q, x, tuple(end)) for q, x, end in zip(quantiles, values, ends, strict=True)
            ]
        names, shares, values, ends = (list(column) for column in zip(*rows, strict=True))
        columns = [
            Column("statistic", names, self.name, "label", str),
            Column("share", shares, hidden=True),
            Column("value", values, "estimate", write=digits(5)),
            Column("interval", ends, interval_of(level), write=digits(5), parts=("lower", "upper")),
        ]
        notes = [f"guarantee: {self.guarantee}", TARGET_NOTES[self.target]]
        notes += [f"bias at most {self.bias_bound:.3g}"] if self.bias_bound else []
        notes += [_remark(fitted, spread)] if quantiles else []
        return Table(title_of("Estimate", self), columns, notes, self._about(level, fitted), noun="statistic")

    def _about(self, level: float, fitted: DistributionEstimate | None) -> dict[str, Any]:
        lower, upper = self.interval(level)
        about = {
            **source_of(self),
            "target": self.target,
            "level": level,
            "bounds": list(self.bounds),
            "mean": self.mean,
            "standard_error": self.standard_error,
            "bias_bound": self.bias_bound,
            "lower": lower,
            "upper": upper,
        }
        if fitted is not None:
            about["fit"] = {
                "method": fitted.rule.method,
                "steps": fitted.steps,
                "refits": REFITS,
                "approximate": True,
            }
        return about


def _distribution(answer: NumberEstimate) -> DistributionEstimate | None:
    """The fitted distribution, or None where the mechanism is not made for one.

    Two messages tell a mean only. Through noise that only falls off with distance, smoothing shifts the outer quantiles
    by more than any refit shows: those intervals would be too short.
    """
    try:
        fitted = answer.distribution()
    except ParameterError:
        return None
    return None if isinstance(fitted.channel, DenseChannel) else fitted


def _spread(fitted: DistributionEstimate, shares: Sequence[float], level: float, rng: Randomness) -> Floats | None:
    """Lower and upper ends of the quantiles, or None where refitting would take long."""
    if fitted.steps * (fitted.points.size + fitted.counts.size) > MOST_WORK:
        return None
    return fitted.bootstrap(REFITS, rng=rng).quantile(shares, level)


def _remark(fitted: DistributionEstimate | None, spread: Floats | None) -> str:
    if fitted is None:
        return "These reports tell the mean. For quantiles, ask with the method square-wave."
    if spread is None:
        return "Quantiles are approximate; their intervals would take long: see DistributionEstimate.bootstrap."
    return f"Quantiles and their intervals are approximate ({fitted.rule.method}, {REFITS} refits)."
