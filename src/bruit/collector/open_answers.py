"""What is shown of an open question: the certified answers, as the parts of a page take an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from bruit.collector import rows
from bruit.open_answers import FrequentAnswers
from bruit.survey import Survey
from bruit.tables import Table

__all__ = ["CertifiedAnswers", "certified"]


@dataclass(frozen=True, eq=False)
class CertifiedAnswers:
    """The certified answers to an open question, the most frequent first.

    Parameters
    ----------
    answers
        What was decoded from the reports.
    reports
        The reports themselves.
    """

    answers: FrequentAnswers
    reports: NDArray[Any]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The letters of each answer that count; where it may go on, with what says so."""
        return tuple(map(self.answers.shown, self.answers.labels))

    @property
    def frequency(self) -> NDArray[Any]:
        """The share of each among all people."""
        return self.answers.frequency

    @property
    def standard_error(self) -> NDArray[Any]:
        """That of each share."""
        return self.answers.standard_error

    def interval(self, level: float) -> NDArray[Any]:
        """The interval of each share, a row of two ends."""
        return self.answers.interval(level)

    @property
    def is_lawful(self) -> bool:
        """Whether the page can have drawn all reports: forged ones can support any number of texts at once."""
        return not self.answers.raised

    def moved(self, forged: int) -> float:
        """By how much this number of forged reports can move a share: all of them may be in the second group."""
        return forged / (max(1, self.answers.certifying) * float(self.answers.design.p - self.answers.design.q))

    def table(self, level: float) -> Table:
        """The certified answers."""
        return self.answers.table(level)


def certified(survey: Survey, kept: NDArray[Any]) -> CertifiedAnswers:
    """The certified answers that kept reports tell; this takes seconds.

    Parameters
    ----------
    survey
        A survey with an open question.
    kept
        Its reports, of which there are some.
    """
    plan: Any = survey.plan
    (question,) = survey.questions
    if not plan.answering.valid(kept).all():
        raise rows.damaged("stratum")
    return CertifiedAnswers(plan.answers(kept, name=question.name), kept)
