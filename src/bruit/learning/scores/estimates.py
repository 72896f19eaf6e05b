"""Scores from noisy sums: each with what every noise adds to it, and what sampling does.

All of it is computed from noisy numbers. Where these say that there are too few records to tell, a score is *hidden*:
its interval is all that it can be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from bruit.learning.scores.intervals import half_width
from bruit.learning.scores.sums import CELLS, EDGES, MOST_LOSS, STEPS, Floats

#: What a classifier can be asked for.
METRICS = ("accuracy", "log_loss", "auroc", "calibration")
#: A number of records below this many standard deviations of its noise tells nothing.
_FEW = 4.0
#: The middle of each cell of probability.
MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2


@dataclass(frozen=True, eq=False)
class Score:
    """One score with its error.

    Parameters
    ----------
    name
        What it is.
    value
        The score.
    weights
        The standard deviation that each noise adds to it.
    sampling
        The variance that comes from the choice of held-out records.
    least, most
        What it can be.
    gaussian
        Whether the noises are Gaussian.
    hidden
        Whether noise leaves nothing of it.
    """

    name: str
    value: float
    weights: Floats
    sampling: float
    least: float
    most: float
    gaussian: bool
    hidden: bool

    @property
    def error(self) -> float:
        """The standard deviation of the noise in it."""
        return float(np.sqrt(np.square(self.weights).sum()))

    def interval(self, level: float, *, sampled: bool) -> tuple[float, float]:
        """The ends for the score of these records, or with `sampled` for that of all records like them."""
        if self.hidden:
            return self.least, self.most
        half = half_width(self.weights, self.sampling if sampled else 0.0, level, gaussian=self.gaussian)
        return float(max(self.least, self.value - half)), float(min(self.most, self.value + half))


@dataclass(frozen=True, eq=False)
class RankTable:
    """Noisy numbers of negatives and positives (rows) by cell of probability (columns).

    Parameters
    ----------
    counts
        The noisy numbers; some may be below 0.
    error
        The standard deviation of the noise in each.
    gaussian
        Whether the noise is Gaussian.
    """

    counts: Floats
    error: float
    gaussian: bool

    def roc(self) -> ScoreCurve:
        """The share of positives by that of negatives at or above each edge of a cell, from the highest down."""
        above = np.cumsum(self.counts[:, ::-1], axis=1)[:, :-1]
        sizes = np.maximum(self.counts.sum(axis=1), 1.0)
        shares = above / sizes[:, None]
        cells = np.arange(1, CELLS)
        noise = self.error**2 * (cells * (1 - shares) ** 2 + (CELLS - cells) * shares**2) / sizes[:, None] ** 2
        cut = np.clip(shares, 0, 1)
        sampling = (cut * (1 - cut) + 1 / (4 * sizes[:, None])) / sizes[:, None]
        negatives, positives = np.maximum.accumulate(cut, axis=1)
        # At a fixed share of negatives its error moves the curve by its slope, over a tenth of the range.
        slope = np.clip(_slope(negatives, positives), 0, 10)
        error = np.stack([noise[1] + slope**2 * noise[0], sampling[1] + slope**2 * sampling[0]])
        return ScoreCurve(EDGES[CELLS - cells], negatives, positives, error[0], error[1])

    def calibration(self, bins: int = 8) -> ScoreCurve:
        """The share of positives among records of nearly the same probability; NaN where noise hides how many."""
        width = CELLS // bins
        counts = self.counts.reshape(2, bins, width)
        totals = counts.sum(axis=2)
        sizes = totals.sum(axis=0)
        few = sizes < _FEW * self.error * math.sqrt(2 * width)
        sizes = np.where(few, np.nan, sizes)
        share = totals[1] / sizes
        stated = (np.maximum(counts.sum(axis=0), 0) * MIDDLES.reshape(bins, width)).sum(axis=1)
        stated /= np.maximum(np.maximum(counts.sum(axis=0), 0).sum(axis=1), 1e-9)
        noise = self.error**2 * width * ((1 - share) ** 2 + share**2) / sizes**2
        cut = np.clip((totals[1] + 1) / (sizes + 2), 0, 1)
        return ScoreCurve(sizes, stated, np.clip(share, 0, 1), noise, cut * (1 - cut) / sizes)


class ScoreCurve(NamedTuple):
    """Points of a curve: what they belong to, their place, and the variance of noise and of sampling of the second."""

    of: Floats
    along: Floats
    up: Floats
    noise: Floats
    sampling: Floats

    def ends(self, level: float, *, sampled: bool) -> Floats:
        """The ends of the interval of every point, within 0..1; each by itself."""
        spread = np.sqrt(self.noise + (self.sampling if sampled else 0.0)) * special.ndtri((1 + level) / 2)
        return np.asarray(np.clip(np.stack([self.up - spread, self.up + spread], axis=1), 0, 1), np.float64)


def _slope(along: Floats, up: Floats) -> Floats:
    """The slope of a curve, by points a tenth of the range apart."""
    left, right = np.clip(along - 0.05, 0, 1), np.clip(along + 0.05, 0, 1)
    places, heights = np.concatenate([[0], along, [1]]), np.concatenate([[0], up, [1]])
    return np.asarray((np.interp(right, places, heights) - np.interp(left, places, heights)) / (right - left))


@dataclass(frozen=True, eq=False)
class NoisySums:
    """Noisy sums by part, with the standard deviations of their noise.

    Parameters
    ----------
    sums, errors
        By the name of the part.
    size
        How many records there are where that is public, else None.
    gaussian
        Whether the noise is Gaussian.
    """

    sums: dict[str, Floats]
    errors: dict[str, Floats]
    size: int | None
    gaussian: bool

    def score(self, name: str, value: float, weights: Any, sampling: float, **limits: Any) -> Score:
        """A score of these sums, cut to what it can be."""
        least, most = limits.pop("least", 0.0), limits.pop("most", 1.0)
        hidden = bool(limits.pop("hidden", False)) or not math.isfinite(value)
        shown = min(max(value, least), most) if math.isfinite(value) else math.nan
        return Score(name, shown, np.asarray(weights), max(sampling, 0.0), least, most, self.gaussian, hidden)

    # A classifier

    @property
    def _answered(self) -> tuple[float, Floats]:
        """The number of records, and what the noises of right and wrong add to it."""
        right, wrong = self.sums["answers"]
        if self.size is not None:
            return max(float(self.size), 1.0), np.zeros(2)
        return max(float(right + wrong), 1.0), np.ones(2)

    def accuracy(self) -> Score:
        """The share of right answers."""
        (right, wrong), errors = self.sums["answers"], self.errors["answers"]
        size, counted = self._answered
        if self.size is not None:
            value, slopes = (size + right - wrong) / 2 / size, np.array([0.5, -0.5])
        else:
            value = right / size
            slopes = np.array([1 - value, -value])
        share = (right + 2) / (size + 4)  # never without doubt, as in the intervals of Agresti and Coull
        share = min(max(share, 2 / (size + 4)), (size + 2) / (size + 4))
        hidden = size < _FEW * float(np.sqrt(np.square(errors * counted).sum()))
        return self.score("accuracy", value, slopes * errors / size, share * (1 - share) / size, hidden=hidden)

    def log_loss(self) -> Score:
        """The mean of −ln p of the true class, each at most ln 100."""
        size, counted = self._answered
        mean = self.sums["losses"][0] / STEPS / size
        square = self.sums["losses"][1] / STEPS**2 / size + 0.5
        own = self.errors["losses"][0] / STEPS
        answers = self.errors["answers"] * counted
        weights = np.append(answers * -mean, own) / size * MOST_LOSS
        spread = max(square - (mean + 0.5) ** 2, 1 / (12 * size))
        hidden = size < _FEW * float(np.sqrt(np.square(answers).sum()))
        value, sampling = (mean + 0.5) * MOST_LOSS, spread / size * MOST_LOSS**2
        return self.score("log loss", value, weights, sampling, most=MOST_LOSS, hidden=hidden)

    @property
    def ranks(self) -> tuple[Floats, Floats]:
        """Noisy numbers of negatives and of positives by cell."""
        return self.sums["ranks"][:CELLS], self.sums["ranks"][CELLS:]

    @property
    def table(self) -> RankTable:
        """The noisy table of classes and cells."""
        return RankTable(np.stack(self.ranks), self.cell_error, self.gaussian)

    @property
    def cell_error(self) -> float:
        """The standard deviation of the noise in one cell."""
        return float(self.errors["ranks"][0])

    def auroc(self) -> Score:
        """The chance that a positive stands before a negative, ties counting half."""
        negatives, positives = self.ranks
        negative, positive = (max(float(counts.sum()), 1.0) for counts in (negatives, positives))
        below = (np.cumsum(negatives) - negatives / 2) / negative  # of each cell of positives
        above = (positive - np.cumsum(positives) + positives / 2) / positive  # of each cell of negatives
        value = float((positives * below).sum() / positive)
        sigma = self.cell_error
        weights = np.append((above - value) / negative, (below - value) / positive) * sigma
        spreads = [
            max(float((counts * (part - value) ** 2).sum()) / size, 1 / (4 * size)) / size
            for counts, part, size in ((negatives, above, negative), (positives, below, positive))
        ]
        hidden = min(negative, positive) < _FEW * sigma * math.sqrt(CELLS)
        return self.score("AUROC", value, weights, sum(spreads), hidden=hidden)

    def brier(self) -> Score:
        """The mean squared distance of the probability, rounded to the middle of its cell, from what happened."""
        return self._mean_of_cells("Brier score", MIDDLES**2, (1 - MIDDLES) ** 2, least=0.0)

    def bias(self) -> Score:
        """The mean probability minus the share of positives: above 0 where the model promises too much."""
        return self._mean_of_cells("stated − observed", MIDDLES, MIDDLES - 1, least=-1.0)

    def _mean_of_cells(self, name: str, negative: Floats, positive: Floats, least: float) -> Score:
        """The mean of numbers that belong to cells."""
        counts, numbers = self.sums["ranks"], np.append(negative, positive)
        size = max(float(counts.sum()) if self.size is None else self.size, 1.0)
        value = float((counts * numbers).sum() / size)
        slopes = numbers - (value if self.size is None else 0.0)
        spread = max(float((counts * (numbers - value) ** 2).sum()) / size, 1 / (4 * size))
        sigma = self.cell_error
        few = self.size is None and size < _FEW * sigma * math.sqrt(2 * CELLS)
        return self.score(name, value, slopes * sigma / size, spread / size, least=least, hidden=few)

    # A regression

    def r2(self) -> Score:
        """One minus the squared errors over the squared distances of targets from their mean."""
        size, counted = self._counted
        mean, variance, square = self._moments(size)
        target, spread = self.errors["targets"] / [STEPS, STEPS**2] / size
        error = self.errors["errors"][0] / STEPS / size
        noise = math.sqrt(spread**2 + (2 * mean * target) ** 2 + (counted * (variance - mean**2 - 0.5)) ** 2)
        floor = max(variance, 2 * noise, 1e-12)  # where noise hides the variance, the interval says so
        ratio = square / floor
        # R² = 1 − s/v: what the noises of s, of Σt, of Σt² and of the number do to it.
        of_size = ((square - 0.5) - ratio * ((variance + mean**2 - 0.5) - 2 * mean**2)) * counted
        weights = np.array([error, 2 * mean * ratio * target, ratio * spread, of_size]) / floor
        fourth = max(self.sums["errors"][1] / STEPS**2 / size + 0.5, square**2)
        # As for a normal target, with the errors' own fourth moment: Var(e²) + k²·2v² − 2k·2s².
        sampling = (max(fourth - square**2, 2 * square**2) + 2 * square**2 - 4 * ratio * square**2) / floor**2 / size
        sampling = max(sampling, 4 * max(1 - ratio, 0.0) * ratio**2 / size)
        hidden = variance < _FEW * noise or size < _FEW * counted * size
        return self.score("R²", 1 - ratio, weights, sampling, least=-math.inf, hidden=hidden)

    def rmse(self, half: float) -> Score:
        """The root of the mean squared error, where half the distance of the target's bounds is `half`."""
        size, counted = self._counted
        _, _, square = self._moments(size)
        fourth = max(self.sums["errors"][1] / STEPS**2 / size + 0.5, square**2)
        error = self.errors["errors"][0] / STEPS / size
        root = math.sqrt(max(square, error, 1 / STEPS))
        weights = np.array([error, (square - 0.5) * counted]) * half / (2 * root)
        sampling = max(fourth - square**2, 2 * square**2) / size * (half / (2 * root)) ** 2
        hidden = size < _FEW * counted * size
        return self.score("RMSE", half * root, weights, sampling, most=half, hidden=hidden)

    @property
    def _counted(self) -> tuple[float, float]:
        """The number of records, and the relative error of its noise."""
        if self.size is not None:
            return max(float(self.size), 1.0), 0.0
        size = max(float(self.sums["size"][0]), 1.0)
        return size, float(self.errors["size"][0]) / size

    def _moments(self, size: float) -> tuple[float, float, float]:
        """Mean and variance of the target, and the mean squared error, with targets in −1..1."""
        mean = float(self.sums["targets"][0] / STEPS / size)
        variance = float(self.sums["targets"][1] / STEPS**2 / size + 0.5 - mean**2)
        return mean, variance, float(self.sums["errors"][0] / STEPS / size + 0.5)
