"""What explains an estimate to people: dots for its interval, and a slider for the law of its reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bruit.collector.bars import is_mean, local, percent
from bruit.collector.chance import AnswerLaw, law_of, rounded
from bruit.collector.results import LEVEL
from bruit.collector.sentences import NARROW, lead, mean_numbers, of_hundred
from bruit.survey import Survey

__all__ = ["Dots", "Why", "dots", "why"]

#: Dots in a row of a picture of a hundred people and of a scale, and from one to the next.
ACROSS, ALONG, _STEP = 10, 25, 10
#: In points: a law whose reports span less than this is written with two decimals.
_SHORT = 20


class Dots(NamedTuple):
    """A hundred people as dots: how many give an answer at least, and how many at most. Or a scale as dots.

    Attributes
    ----------
    full, ring, rest
        The dots of each kind, as paths of points.
    caption, lines
        What all dots are, and what each kind means, in the same order.
    alt
        The picture in words.
    across, down
        How many dots there are in a row, and how many rows.
    """

    full: str
    ring: str
    rest: str
    caption: str
    lines: tuple[str, str, str]
    alt: str
    across: int = ACROSS
    down: int = ACROSS


class Why(NamedTuple):
    """What the slider needs: the law of an answer, and what was observed.

    Attributes
    ----------
    answer
        The answer that reports say or do not.
    law
        Its law.
    estimate
        The estimated share of people.
    by_chance, undone
        The texts above and below the slider.
    """

    answer: str
    law: AnswerLaw
    estimate: float
    by_chance: str
    undone: str

    @property
    def observed(self) -> int:
        """How many of 100 reports said it."""
        return rounded(100 * self.law.observed(self.estimate))

    @property
    def chance(self) -> int:
        """How many of 100 reports would say it by chance alone."""
        return rounded(100 * self.law.by_chance)

    @property
    def closest(self) -> int:
        """How many of 100 people give the nearest number of reports; 0 or 100 where noise goes beyond."""
        return rounded(100 * Fraction(min(max(self.estimate, 0.0), 1.0)))

    def table(self) -> dict[str, Any]:
        """For 0, 1, … 100 people: how many of 100 reports, and of 1,000 for the bar; and what was observed."""
        exact = [self.law.reports(people) for people in range(101)]
        return {
            "reports": [rounded(100 * share) for share in exact],
            "widths": [rounded(1000 * share) for share in exact],
            "observed": self.observed,
            "closest": self.closest,
        }

    def place(self, name: str) -> int:
        """Where a mark stands in 1,000: ``"observed"``, ``"by_chance"`` or ``"none"``."""
        shares = {
            "observed": self.law.observed(self.estimate),
            "by_chance": self.law.by_chance,
            "none": self.law.reports(0),
        }
        return min(max(rounded(1000 * shares[name]), 0), 1000)


def dots(survey: Survey, name: str, answer: Any, quoted: str, words: Mapping[str, str]) -> Dots:
    """A hundred people and how many of them give the leading answer, at least and at most; for a mean, its scale.

    Parameters
    ----------
    survey, name, answer
        The survey, the attribute and its estimate.
    quoted
        The leading answer.
    words
        The texts of the page.
    """
    if is_mean(answer):
        return _scale(survey, name, answer, words)
    place = lead(survey, name, answer)
    ends = np.asarray(answer.interval(LEVEL), float).reshape(-1, 2)[place].tolist()
    low, high = _whole(*ends)
    numbers = of_hundred(float(answer.frequency[place]), ends, words)
    lines = [words[f"dots_{part}"].format(**numbers) for part in ("sure", "maybe", "rest")]
    alt = words["dots_alt"].format(sure=low, maybe=high - low, rest=100 - high)
    paths = [_points(range(*span), ACROSS) for span in ((0, low), (low, high), (high, 100))]
    return Dots(paths[0], paths[1], paths[2], words["dots"].format(answer=quoted), (lines[0], lines[1], lines[2]), alt)


def _scale(survey: Survey, name: str, answer: Any, words: Mapping[str, str]) -> Dots:
    """Numbers from end to end of a scale: the one next to the mean, those in its interval, and the others."""
    mechanism: Any = survey.plan.mechanisms[name]
    first, last = (float(bound) for bound in mechanism.bounds)
    mean, low, high = (
        (ALONG - 1) * min(max((float(number) - first) / (last - first), 0.0), 1.0)
        for number in (answer.mean, *np.ravel(answer.interval(LEVEL)))
    )
    full = round(mean)
    ring = [spot for spot in range(ALONG) if low <= spot <= high and spot != full]
    rest = [spot for spot in range(ALONG) if spot != full and spot not in ring]
    numbers = mean_numbers(survey, name, answer, words)
    lines = [words[f"scale_{part}"].format(**numbers) for part in ("about", "range", "rest")]
    ends = {"first": local(f"{first:.12g}", words), "last": local(f"{last:.12g}", words)}
    return Dots(
        full=_points([full], ALONG),
        ring=_points(ring, ALONG),
        rest=_points(rest, ALONG),
        caption=words["scale"].format(**ends),
        lines=(lines[0], lines[1], lines[2]),
        alt=words["scale_alt"].format(count=ALONG, ring=len(ring) + 1),
        across=ALONG,
        down=1,
    )


def _whole(low: float, high: float) -> tuple[int, int]:
    """The ends of an interval in whole people of a hundred, as the sentence rounds them; a narrow one is widened."""
    least, most = (100 * min(max(end, 0.0), 1.0) for end in (low, high))
    if 100 * (high - low) < NARROW:
        return min(math.floor(least), 99), max(math.ceil(most), 1)
    return min(round(least), 99), max(round(most), 1)


def _points(spots: Iterable[int], across: int) -> str:
    """Dots at these spots, counted row by row, as a path of points."""
    centre = _STEP // 2
    cells = (divmod(spot, across) for spot in spots)
    return "".join(f"M{column * _STEP + centre} {row * _STEP + centre}h0" for row, column in cells)


def why(survey: Survey, name: str, answer: Any, quoted: str, words: Mapping[str, str]) -> Why | None:
    """The law of the leading answer; None where reports say no answers.

    Parameters
    ----------
    survey, name, answer, quoted, words
        As for dots.
    """
    law = None if is_mean(answer) else law_of(survey.plan, name)
    if law is None:
        return None
    # As the page shows it, so that what is observed says nothing more.
    estimate = round(float(answer.frequency[lead(survey, name, answer)]), 3)
    ends = {"none": law.reports(0), "all": law.reports(100)}
    whole = {key: rounded(100 * share) for key, share in {"chance": law.by_chance, **ends}.items()}
    decimals = 1 if 100 * (law.own - law.other) >= _SHORT else 2
    written = {
        key: local(f"{float(100 * share):.{decimals}f}", words)
        for key, share in {"observed": law.observed(estimate), **ends}.items()
    }
    undone = words["why_undo"].format(estimate=percent(estimate, words), **written)
    beyond = "" if 0 <= estimate <= 1 else words["why_below" if estimate < 0 else "why_above"].format(answer=quoted)
    return Why(quoted, law, estimate, words["why_chance"].format(answer=quoted, **whole), f"{undone} {beyond}".strip())
