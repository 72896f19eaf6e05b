"""What is shown of an open question: the certified answers, as the parts of a page take an estimate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import DataError
from bruit.open_answers import FrequentAnswers, HeavyHitters
from bruit.survey import Survey
from bruit.tables import Table

__all__ = ["CertifiedAnswers", "certified"]

#: What stands behind the letters of an answer that may go on.
GOES_ON = "…"


@dataclass(frozen=True, eq=False)
class CertifiedAnswers:
    """The certified answers to an open question, the most frequent first.

    Parameters
    ----------
    answers
        What was decoded from the reports.
    letters
        How many letters of an answer count.
    reports
        The reports themselves.
    is_lawful
        Whether the page can have drawn them: forged ones can support any number of texts at once.
    """

    answers: FrequentAnswers
    letters: int
    reports: NDArray[Any]
    is_lawful: bool = True

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The letters of each answer that count; where as many count as it has, that it may go on."""
        return tuple(text + GOES_ON * (len(text) >= self.letters) for text in self.answers.texts)

    @property
    def frequency(self) -> NDArray[np.float64]:
        """The share of each among all people."""
        return self.answers.share

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """That of each share."""
        return self.answers.standard_error

    def interval(self, level: float) -> NDArray[np.float64]:
        """The interval of each share, a row of two ends."""
        return self.answers.interval(level)

    def moved(self, forged: int) -> float:
        """By how much this number of forged reports can move a share: all of them may be in the second group."""
        return forged / (max(1, self.answers.certifying) * float(self.answers.design.p - self.answers.design.q))

    def table(self, level: float) -> Table:
        """The certified answers."""
        return replace(self.answers, texts=self.labels).table(level)


def certified(survey: Survey, kept: NDArray[Any]) -> CertifiedAnswers:
    """The certified answers that kept reports tell; this takes seconds.

    Parameters
    ----------
    survey
        A survey with an open question.
    kept
        Its reports.
    """
    plan: Any = survey.plan
    (question,) = survey.questions
    try:
        answers, is_lawful = plan.answers(kept), True
    except DataError:  # more texts than people can have given
        answers, is_lawful = _nothing(plan.answering, len(kept)), False
    return CertifiedAnswers(replace(answers, name=question.name), question.letters, kept, is_lawful)


def _nothing(design: HeavyHitters, n: int) -> FrequentAnswers:
    """What is shown of reports that were not drawn by their law."""
    return FrequentAnswers(texts=(), support=np.empty(0, np.int64), certifying=0, n=n, refused=0, design=design)
