"""The shares of candidates, from counts of cells by cohort: least squares with a column for all other texts.

A text that is not listed sets any cells, on average each of the m cells with chance h/m. So the least squares are on
columns less h/m: the column of unlisted texts is then zero, and their share is what the candidates leave.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.errors import LimitError, ParameterError
from bruit.estimation.difference import p_text
from bruit.estimation.intervals import wald
from bruit.open_answers.null_distribution import NullDistribution
from bruit.privacy.guarantee import Guarantee
from bruit.tables import Column, Table, Tabular, counted, decimals, interval_of, label

Floats = NDArray[np.float64]

#: The most entries of a design: three matrices of this size are held.
ENTRY_LIMIT = 2**25
#: From so many cells on, less one for each cohort, false names are as rare as p-values say.
FREE_CELLS = 240
#: The least eigenvalue of the design, relative to the largest, where candidates can be told apart.
_SINGULAR = 1e-9


class CellLaw(NamedTuple):
    """How often a report counts in a cell.

    `own` is for cells that the text sets, `other` for all others. A text sets `hashes` cells. Where `exclusive`, a
    report counts in one cell; else in each cell by itself.
    """

    own: float
    other: float
    hashes: int = 1
    exclusive: bool = False

    @property
    def gap(self) -> float:
        """How much more often a report counts in a cell that the text sets."""
        return self.own - self.other

    def share(self, cells: int) -> float:
        """π: how often a text sets a given cell."""
        return self.hashes / cells

    def pair(self, cells: int) -> float:
        """j: how often it sets two given cells."""
        return self.hashes * (self.hashes - 1) / (cells * (cells - 1))

    def variance(self, frequency: float, cells: int) -> float:
        """n·Var by least squares of one text with this share, where every other text is rare."""
        share, pair, h = self.share(cells), self.pair(cells), self.hashes
        own, other = self.own * (1 - self.own), self.other * (1 - self.other)
        mixed, signal = share * own + (1 - share) * other, h * self.gap**2
        if self.exclusive:  # a cell says what all others do
            noise = own / signal / (1 - share) ** 2, mixed / signal / (1 - share) ** 2
        else:  # cells that are clear carry information too
            noise = (own + other * share / (1 - share)) / signal, mixed / signal / (1 - share)
        spread = (share * (1 - share) / h + (1 - 1 / h) * (pair - share**2)) / (1 - share) ** 2
        drawn = frequency * (1 - frequency)
        return float(frequency * noise[0] + (1 - frequency) * (noise[1] + spread) + drawn)


class CohortCounts(NamedTuple):
    """What a tally says: the people of each cohort, how many of them count in each cell, and by what law."""

    people: NDArray[np.int64]
    counts: NDArray[np.int64]
    law: CellLaw


class Fit(NamedTuple):
    """The shares of candidates and of all other texts, their standard errors, and how well they fit.

    `dispersion` is the mean squared residual in units of what noise explains. Where frequent texts are not listed it is
    above 1, and the standard errors have its square root as a factor. A share is its `step` times a sum, which for a
    text that nobody gave is distributed as `null` says.
    """

    frequency: Floats
    standard_error: Floats
    unlisted: float
    unlisted_error: float
    dispersion: float
    step: Floats
    null: NullDistribution

    def chances(self) -> Floats:
        """For each candidate, the probability of a share at least this large if nobody gave it."""
        return self.null.chance(self.frequency / self.step)

    def reach(self, level: float) -> tuple[Floats, Floats]:
        """How far the share of a text that nobody gave lies from zero, downwards and upwards, but for 1 − level."""
        low, high = self.null.quantiles(1 - level)
        return -low * self.step, high * self.step


def fit(cells: CohortCounts, table: NDArray[np.int64]) -> Fit:
    """Least squares, each cell with the number of its people for a weight.

    Parameters
    ----------
    cells
        The counts.
    table
        The cells of each candidate: candidates × cohorts × hashes.
    """
    design = _Design(cells, table)
    frequency = design.weights @ design.response
    possible = np.clip(frequency, 0.0, 1.0)
    possible /= max(1.0, float(possible.sum()))
    dispersion = design.dispersion(frequency, possible)
    rows = np.vstack([design.weights, design.weights.sum(axis=0)])
    errors = np.sqrt(design.variances(rows, possible) * max(1.0, dispersion))
    step, null = design.null(frequency)
    for part in (frequency, errors, step):
        part.flags.writeable = False
    return Fit(frequency, errors[:-1], 1.0 - float(frequency.sum()), float(errors[-1]), dispersion, step, null)


class _Design:
    """The matrix of least squares and what follows from it."""

    def __init__(self, cells: CohortCounts, table: NDArray[np.int64]) -> None:
        many, (cohorts, size) = len(table), cells.counts.shape
        if many >= cohorts * size:
            raise ParameterError(f"candidates must be fewer than cohorts × cells, {cohorts * size:,}, got {many:,}.")
        if many * cohorts * size > ENTRY_LIMIT:
            raise LimitError(
                f"candidates must be at most {ENTRY_LIMIT // (cohorts * size):,} here, got {many:,}: with fewer "
                "cohorts there may be more."
            )
        self.law, self.table, self.size = cells.law, table, size
        self.share = cells.law.share(size)
        self.people = np.repeat(cells.people.astype(float), size)
        per = np.maximum(self.people, 1.0)
        self.inverse = np.where(self.people > 0, 1 / per, 0.0)
        self.response = (cells.counts.reshape(-1) / per - cells.law.other) / cells.law.gap - self.share
        columns = np.full((many, cohorts, size), -self.share)
        np.put_along_axis(columns, table, 1 - self.share, axis=2)
        self.columns = columns.reshape(many, -1)
        self.weights = self._solved()

    def _solved(self) -> Floats:
        """The rows that give each share from the responses."""
        weighted = self.columns * self.people
        gram = weighted @ self.columns.T
        values = np.linalg.eigvalsh(gram)
        if values[0] <= _SINGULAR * values[-1]:
            what = "with so few cells: name fewer, or collect with more cohorts."
            if not self.people.all():
                what = "by so few people, as some cohorts are empty: name fewer, or ask more people."
            raise ParameterError(f"These candidates cannot be told apart {what}")
        return np.asarray(np.linalg.solve(gram, weighted))

    def set_share(self, frequency: Floats) -> Floats:
        """The share of people whose text sets each cell, with unlisted texts spread evenly."""
        return np.asarray(frequency @ self.columns + self.share)

    def dispersion(self, frequency: Floats, possible: Floats) -> float:
        """The weighted sum of squared residuals, relative to its mean where all frequent texts are listed."""
        residuals = self.response - frequency @ self.columns
        reported = self.law.other + self.law.gap * self.set_share(possible)
        known = self.people > 0
        # Counts in the cells of a cohort that exclude each other vary less in their sum, which no column explains.
        explained = reported if self.law.exclusive else reported * (1 - reported)
        leverage = np.einsum("vi,vi->i", self.columns, self.weights)
        expected = float((reported * (1 - reported) - leverage * explained)[known].sum()) / self.law.gap**2
        return float((self.people * residuals**2).sum()) / expected if expected > 0 else 1.0

    def null(self, frequency: Floats) -> tuple[Floats, NullDistribution]:
        """What each share is a multiple of, and how that is distributed for a text that nobody gave.

        Candidates explain a part of what is random too: what is left over is as much larger as there are fewer cells.
        """
        cohorts = self.people.size // self.size
        left = ((self.response - frequency @ self.columns) * self.people).reshape(cohorts, self.size)
        free = cohorts * (self.size - 1)
        scale = math.sqrt(free / max(1, free - len(frequency)))
        step = (self.weights**2 * self.inverse).sum(axis=1)
        return step, NullDistribution((left - left.mean(axis=1, keepdims=True)) * scale, self.law.hashes)

    def variances(self, rows: Floats, possible: Floats) -> Floats:
        """The variance of each row of weights times the responses, where people and cohorts are drawn."""
        law, gap = self.law, self.law.gap
        square, shares = rows**2 * self.inverse, self.set_share(possible)
        if law.exclusive:
            base, slope = law.other, gap
        else:
            base, slope = law.other * (1 - law.other), law.own * (1 - law.own) - law.other * (1 - law.other)
        mean = (rows * shares).reshape(len(rows), -1, self.size).sum(axis=2)
        drawn = (mean**2 * self.inverse[:: self.size]).sum(axis=1)
        noise = base * square.sum(axis=1) + slope * (square @ shares)
        together = 0.0 if law.exclusive else gap**2 * self._together(rows, square, possible, shares)
        return np.asarray((noise + together) / gap**2 - drawn)

    def _together(self, rows: Floats, square: Floats, possible: Floats, shares: Floats) -> Floats:
        """The mean over texts of the squared sum of the weights of their cells."""
        if self.law.hashes == 1:
            return np.asarray(square @ shares)
        cubes, inverse = rows.reshape(len(rows), -1, self.size), self.inverse[:: self.size]
        total = (1 - possible.sum()) * (self.share - self.law.pair(self.size)) * square.sum(axis=1)
        for cohort in range(cubes.shape[1]):
            sums = cubes[:, cohort][:, self.table[:, cohort]].sum(axis=2)
            total = total + inverse[cohort] * (sums**2 @ possible)
        return np.asarray(total)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CandidateEstimate(Tabular):
    """The share of each candidate among all answers, and the share of all texts that are not listed.

    Nothing is clipped: a share may come out negative. Standard errors count the noise, the drawing of the people, and,
    through `dispersion`, what frequent texts that are not listed add.

    Parameters
    ----------
    labels
        The candidates.
    fitted
        Shares and standard errors.
    n, refused
        How many reports were counted, and how many were refused.
    guarantee
        What one report told.
    mechanism
        The name of the mechanism.
    simulated
        Whether any part of the reports was simulated.
    """

    labels: tuple[str, ...]
    fitted: Fit
    n: int
    refused: int
    guarantee: Guarantee
    mechanism: str
    simulated: bool = False

    @property
    def frequency(self) -> Floats:
        """The share of each candidate."""
        return self.fitted.frequency

    @property
    def standard_error(self) -> Floats:
        """Its standard error."""
        return self.fitted.standard_error

    @property
    def unlisted(self) -> tuple[float, float]:
        """The share of all other texts, and its standard error."""
        return self.fitted.unlisted, self.fitted.unlisted_error

    @property
    def dispersion(self) -> float:
        """How large residuals are in units of noise; far above 1, a frequent answer is missing from the list."""
        return self.fitted.dispersion

    @property
    def p_values(self) -> Floats:
        """For each candidate, the probability of such a share if nobody gave the answer, times the number of them.

        The chance is over the cells that a hash gives to a text, whatever texts are not listed (`NullDistribution`).
        With fewer than 240 cells it is too small, which a note of the table says.
        """
        return np.asarray(np.minimum(1.0, self.fitted.chances() * len(self.labels)))

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Floats:
        """Lower and upper ends, one row per candidate: the share ± z standard errors, or quantiles of the null.

        The second is wider where a frequent text is not listed, and then downwards: candidates that share its cells
        come out too high.

        Parameters
        ----------
        level
            How often the interval should cover the truth.
        simultaneous
            Whether all intervals should cover together, by Bonferroni's inequality.
        """
        _checks.probability(level=level)
        own_level = 1 - (1 - level) / len(self.labels) if simultaneous else level
        lower, upper = wald(self.frequency, self.standard_error**2, own_level)
        down, up = self.fitted.reach(own_level)
        return np.column_stack([np.minimum(lower, self.frequency - up), np.maximum(upper, self.frequency + down)])

    def table(self, level: float = 0.95, *, simultaneous: bool = False) -> Table:
        """Every candidate: columns label, frequency, standard_error, lower, upper and p_value.

        Parameters
        ----------
        level, simultaneous
            As for `interval`.
        """
        ends = self.interval(level, simultaneous=simultaneous)
        columns = [
            Column("label", self.labels, "answer", "label", label),
            Column("frequency", self.frequency, write=decimals(4)),
            Column("standard_error", self.standard_error, hidden=True),
            Column("interval", ends, interval_of(level), write=decimals(4), parts=("lower", "upper")),
            Column("p_value", self.p_values, "p", write=p_text),
        ]
        share, error = self.unlisted
        about: dict[str, Any] = {
            "mechanism": self.mechanism,
            "guarantee": self.guarantee.to_dict(),
            "n": self.n,
            "refused": self.refused,
            "simulated": self.simulated,
            "unlisted": share,
            "unlisted_error": error,
            "dispersion": self.dispersion,
            "level": level,
        }
        notes = [
            f"guarantee: {self.guarantee}",
            f"answers that are not listed: {share:.4f}, standard error {error:.4f}",
            "p-values are for the whole list, by Bonferroni's inequality; the list must not come from these reports",
        ]
        if self.fitted.null.rows.size - len(self.fitted.null.rows) < FREE_CELLS:
            notes.append("with so few cells p-values are too small, and intervals too short: collect with more cohorts")
        order = np.argsort(-self.frequency, kind="stable").tolist()
        return Table(self._title(), columns, notes, about, noun="answer", order=order, rest="less frequent")

    def _title(self) -> str:
        refused = f", {self.refused:,} refused" if self.refused else ""
        return f"Estimate by {self.mechanism} from {counted(self.n, 'report')}{refused}" + (
            ", simulated" if self.simulated else ""
        )
