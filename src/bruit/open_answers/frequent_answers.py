"""Frequent answers to an open question: the texts that are certified, with their shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.estimation import intervals
from bruit.estimation.estimate import source_of, title_of
from bruit.estimation.support import TARGET_NOTES, SupportModel
from bruit.privacy.guarantee import Guarantee
from bruit.tables import Column, Table, Tabular, decimals, interval_of, label, percent

if TYPE_CHECKING:
    from bruit.open_answers.heavy_hitters import HeavyHitters

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FrequentAnswers(Tabular):
    """Certified answers, the most frequent first, with shares of all people that are unbiased before selection.

    Answers that are not certified are not shown, however frequent they are. The shares do not add up to one.

    Parameters
    ----------
    texts
        The first letters of each answer.
    support
        How many of the certifying reports support each.
    certifying
        How many reports the shares come from: those of the second group.
    n, refused
        How many reports were counted in both groups, and how many were refused.
    design
        The heavy hitters that made the reports.
    simulated
        Whether any part of the reports was simulated.
    """

    texts: tuple[str, ...]
    support: NDArray[np.int64]
    certifying: int
    n: int
    refused: int
    design: HeavyHitters
    simulated: bool = False
    mechanism: str = "heavy hitters"
    name: str = field(default="value")

    @property
    def guarantee(self) -> Guarantee:
        """What was promised to each person."""
        return self.design.guarantee

    @cached_property
    def least(self) -> float | None:
        """The share of an answer that is shown nine times in ten; None where there are too few people for any."""
        return self.design.least_share(self.n)

    @property
    def _model(self) -> SupportModel:
        return SupportModel(self.support, self.certifying, self.design.p, self.design.q)

    @property
    def share(self) -> Floats:
        """The share of each answer: (C/n − q) / (p − q) of the certifying reports, unbiased before selection."""
        return self._model.frequency()

    @property
    def standard_error(self) -> Floats:
        """The square root of the variance of each share, the drawing of the people included."""
        return np.sqrt(self._model.variance(self.share, "population"))

    def interval(self, level: float = 0.95) -> Floats:
        """Wilson's interval of each share, a row of two ends; it does not know of the selection."""
        _checks.probability(level=level)
        if not self.texts:
            return np.empty((0, 2))
        lower, upper = intervals.wilson(self.support, self.certifying, level)
        return np.column_stack([self._model.to_frequency(lower), self._model.to_frequency(upper)])

    def table(self, level: float = 0.95) -> Table:
        """Every certified answer: columns text, share, standard_error, lower, upper."""
        columns = [
            Column("text", self.texts, self.name if self.name != "value" else "text", "label", label),
            Column("share", self.share, write=decimals(4)),
            Column("standard_error", self.standard_error, hidden=True),
            Column("interval", self.interval(level), interval_of(level), write=decimals(4), parts=("lower", "upper")),
        ]
        shown = "no answer is" if self.least is None else f"an answer of {percent(self.least)} of the people is"
        notes = [
            f"guarantee: {self.guarantee}",
            TARGET_NOTES["population"],
            f"with this number of reports {shown} shown nine times in ten",
        ]
        if self.texts:
            notes += [
                "shares of rarer answers are too high, those of much rarer ones by more than their interval",
                "only the first letters of an answer count; longer answers that begin alike are one",
            ]
        about: dict[str, Any] = {**source_of(self), "certifying": self.certifying, "least": self.least, "level": level}
        return Table(
            title_of("Frequent answers", self), columns, notes, about, noun="answer",
            empty="No answer is shown: none has enough support from this many reports.",
        )  # fmt: skip
