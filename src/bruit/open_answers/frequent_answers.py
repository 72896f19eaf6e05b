"""Frequent answers to an open question: the texts that are certified, with their shares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.estimation import intervals
from bruit.estimation.estimate import source_of, title_of
from bruit.estimation.support import TARGET_NOTES, SupportModel
from bruit.privacy.guarantee import Guarantee
from bruit.tables import Column, Table, Tabular, counted, decimals, interval_of, percent

if TYPE_CHECKING:
    from bruit.open_answers.heavy_hitters import HeavyHitters

Floats = NDArray[np.float64]

#: What numbers of people, and shares that are found, do not say.
RARER = "answers of digits or accented letters need up to 1.5 times as many people"
#: What stands behind the letters of an answer that may go on.
GOES_ON = "…"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FrequentAnswers(Tabular):
    """Certified answers, the most frequent first, with shares of all people that are unbiased before selection.

    Answers that are not certified are not shown, however frequent they are. The shares do not add up to one.

    Parameters
    ----------
    labels
        The letters of each answer that count.
    support
        How many of the certifying reports support each.
    certifying
        How many reports the shares come from: those of the second group.
    n, refused
        How many reports were counted in both groups, and how many were refused.
    raised
        By how many reports all limits were raised, because the answers above them had more shares than all people.
        About as many reports were not drawn by this design. 0 of honest reports, but in less than one case of 1,000.
    design
        The heavy hitters that made the reports.
    simulated
        Whether any part of the reports was simulated.
    name
        What the answers are about.
    """

    labels: tuple[str, ...]
    support: NDArray[np.int64]
    certifying: int
    n: int
    refused: int
    raised: int = 0
    design: HeavyHitters
    simulated: bool = False
    name: str = ""

    @property
    def mechanism(self) -> str:
        """The name of the mechanism, for titles."""
        return "heavy hitters"

    @property
    def guarantee(self) -> Guarantee:
        """What was promised to each person."""
        return self.design.guarantee

    @cached_property
    def least(self) -> float | None:
        """The share of an answer that is shown nine times in ten; None where there are too few people for any."""
        return self.design.least_share(self.n)

    def shown(self, text: str) -> str:
        """An answer as people read it: with … where it may go on, as a space is not counted at the end."""
        return text + GOES_ON * (len(text) >= self.design.domain.letters - 1)

    @property
    def _model(self) -> SupportModel:
        return SupportModel(self.support, self.certifying, self.design.p, self.design.q)

    @property
    def frequency(self) -> Floats:
        """The share of each answer: (C/n − q) / (p − q) of the certifying reports, unbiased before selection."""
        return self._model.frequency()

    @property
    def standard_error(self) -> Floats:
        """The square root of the variance of each share, the drawing of the people included."""
        return np.sqrt(self._model.variance(self.frequency, "population"))

    def interval(self, level: float = 0.95) -> Floats:
        """Wilson's interval of each share, a row of two ends; it does not know of the selection.

        Where limits were raised, the lower end allows for as many forged reports that all support the answer.
        """
        _checks.probability(level=level)
        if not self.labels:
            return np.empty((0, 2))
        _, upper = intervals.wilson(self.support, self.certifying, level)
        lower, _ = intervals.wilson(self.support - self.raised, self.certifying, level)
        return np.column_stack([self._model.to_frequency(lower), self._model.to_frequency(upper)])

    @property
    def lift(self) -> float:
        """By how much `raised` forged reports can have lifted a share."""
        return self.raised / (max(1, self.certifying) * float(self.design.p - self.design.q))

    @property
    def _forged(self) -> list[str]:
        """What is said where limits were raised."""
        if not self.raised:
            return []
        return [
            "not all reports were drawn by this design: they support more answers than people can have given",
            f"so an answer needs {counted(self.raised, 'further report')} to be shown, and shares may be too high by "
            f"{percent(self.lift)}",
        ]

    def table(self, level: float = 0.95) -> Table:
        """Every certified answer: columns label, frequency, standard_error, lower, upper."""
        columns = [
            Column("label", self.labels, self.name or "answer", "label", self.shown),
            Column("frequency", self.frequency, "share", write=decimals(4)),
            Column("standard_error", self.standard_error, hidden=True),
            Column("interval", self.interval(level), interval_of(level), write=decimals(4), parts=("lower", "upper")),
        ]
        shown = "no answer is" if self.least is None else f"an answer of {percent(self.least)} of the people is"
        notes = [
            f"guarantee: {self.guarantee}",
            TARGET_NOTES["population"],
            f"with this number of reports {shown} shown nine times in ten; {RARER}",
            *self._forged,
        ]
        if self.labels:
            notes += [
                "shares of rarer answers are too high, those of much rarer ones by more than their interval",
                "only the first letters of an answer count; longer answers that begin alike are one",
            ]
        about: dict[str, Any] = {**source_of(self), "certifying": self.certifying, "least": self.least, "level": level}
        return Table(
            title_of("Frequent answers", self), columns, notes, about, noun="answer",
            empty="No answer is shown: none has enough support from this many reports.",
        )  # fmt: skip
