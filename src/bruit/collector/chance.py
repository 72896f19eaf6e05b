"""What people truly say and what their reports say: the law of an answer, as a slider on the page of results shows it.

If a share x of people would truly give an answer, then a share q + x·(p − q) of the reports says so: p and q are the
exact fractions of the law. An estimate solves this for x. Every number here follows from the law and from an estimate
that the page shows, so that the slider tells nothing more of the people.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bruit.collection import Plan
from bruit.collection.odds import odds

__all__ = ["AnswerLaw", "law_of", "rounded"]


@dataclass(frozen=True)
class AnswerLaw:
    """How often a report says an answer.

    Parameters
    ----------
    own
        The chance where it is the person's true answer: p.
    other
        The chance where it is not: q.

    Examples
    --------
    >>> law = AnswerLaw(Fraction(3, 4), Fraction(1, 4))
    >>> law.reports(0), law.reports(40), law.reports(100), law.by_chance
    (Fraction(1, 4), Fraction(9, 20), Fraction(3, 4), Fraction(1, 2))
    """

    own: Fraction
    other: Fraction

    def reports(self, people: int | Fraction) -> Fraction:
        """The share of reports that say the answer, where this many of 100 people truly would: q + x·(p − q)."""
        return self.other + Fraction(people) / 100 * (self.own - self.other)

    @property
    def by_chance(self) -> Fraction:
        """The share of reports that say it if every device answers by chance alone.

        A device that sends the true answer with chance p − q, and else draws one that does not depend on it, has this
        law: p = (p − q) + (1 − p + q)·c and q = (1 − p + q)·c. What it draws is the answer with chance c.
        """
        return self.other / (1 - self.own + self.other)

    def observed(self, estimate: float) -> Fraction:
        """The share of reports that said it, from the estimated share of people: the inverse of what estimates."""
        return self.reports(100 * Fraction(float(estimate)))


def law_of(plan: Plan, name: str) -> AnswerLaw | None:
    """The law of the answers to an attribute; None where reports have another, as of numbers, tables and fakes.

    Parameters
    ----------
    plan, name
        The plan, and the attribute.

    Examples
    --------
    >>> law = law_of(Plan({"smokes": ["no", "yes"]}, epsilon=1.0), "smokes")
    >>> [rounded(100 * law.reports(people)) for people in (0, 50, 100)]
    [27, 50, 73]
    """
    mechanism: Any = plan.mechanisms.get(name)
    chances = None if mechanism is None or not plan.design.is_tested else odds(mechanism)
    if chances is None or not 0 < chances.own - chances.other < 1:
        return None
    return AnswerLaw(chances.own, chances.other)


def rounded(number: Fraction) -> int:
    """The nearest whole number, halves up."""
    return math.floor(number + Fraction(1, 2))
