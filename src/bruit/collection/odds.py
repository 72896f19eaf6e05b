"""What a message tells of the person who sent it, in "x of 100": by exact fractions from the law's whole numbers.

`odds` says how often a message points to the person's own answer, and how often to another one. `belief` says how far
somebody can be moved who sees the message: for every property of a person, the odds after are at most `ratio` times
the odds before, and at least the ratio-th part (``odds.proof.md``). Shares that describe are rounded to the nearest,
shares that promise to the private side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bruit import _checks
from bruit.errors import ParameterError
from bruit.laws.words import WORDS
from bruit.rounding import exp_floor

#: A share is said of a hundred, or of as many times ten more as it takes not to call it none or all.
HUNDRED = 100
#: The most that a share is said of.
LARGEST = 10**12


@dataclass(frozen=True)
class Share:
    """A chance as a count out of a hundred, or out of a thousand or more where a hundred would say none or all.

    >>> print(Share(73, 100), Share(9_999, 10_000))
    73 of 100 9,999 of 10,000
    """

    count: int
    of: int

    @property
    def fraction(self) -> Fraction:
        """The share as a number."""
        return Fraction(self.count, self.of)

    @property
    def rest(self) -> Share:
        """All the others."""
        return Share(self.of - self.count, self.of)

    def __str__(self) -> str:
        return f"{self.count:,} of {self.of:,}"


def nearest(share: Fraction) -> Share:
    """The nearest share, for a description.

    >>> nearest(Fraction(3, 4)), nearest(Fraction(9999, 10000))
    (Share(count=75, of=100), Share(count=9999, of=10000))
    """
    return _scaled(share, lambda part: math.floor(part + Fraction(1, 2)))


def at_most(share: Fraction) -> Share:
    """A share that is not exceeded: rounded up, and all only if it is all.

    >>> at_most(Fraction(7311, 10000)), at_most(Fraction(999, 1000))
    (Share(count=74, of=100), Share(count=999, of=1000))
    """
    return _scaled(share, math.ceil)


def at_least(share: Fraction) -> Share:
    """A share that is reached: rounded down, and none only if it is none.

    >>> at_least(Fraction(2689, 10000))
    Share(count=26, of=100)
    """
    return _scaled(share, math.floor)


def _scaled(share: Fraction, whole: Any) -> Share:
    exact = Fraction(share)
    if not 0 <= exact <= 1:
        raise ParameterError("A share must be a number from 0 to 1.")
    of = HUNDRED
    while 0 < exact < 1 and whole(exact * of) in (0, of) and of < LARGEST:
        of *= 10
    return Share(whole(exact * of), of)


@dataclass(frozen=True)
class MessageOdds:
    """How often a message points to an answer, exactly.

    Parameters
    ----------
    own
        The chance that it points to the person's own answer.
    other
        The chance that it points to a given other answer.
    answers
        How many answers there are.
    names
        Whether a message is one answer; otherwise it may point to several, or to none.
    """

    own: Fraction
    other: Fraction
    answers: int
    names: bool

    @property
    def own_share(self) -> Share:
        """How many of a hundred messages point to the person's own answer."""
        return nearest(self.own)

    @property
    def other_share(self) -> Share:
        """How many point to a given other answer; with two answers, all the rest."""
        return self.own_share.rest if self.names and self.answers == 2 else nearest(self.other)


def odds(mechanism: Any) -> MessageOdds | None:
    """The odds of a mechanism's messages; None where they point to no answer, or to some others more than to others.

    Parameters
    ----------
    mechanism
        What makes an answer private: ``plan.mechanisms[name]``.

    Examples
    --------
    >>> from bruit.oracles import oracle
    >>> chances = odds(oracle("GRR", epsilon=1.0, labels=["no", "yes"]))
    >>> print(chances.own_share, "|", chances.other_share)
    73 of 100 | 27 of 100
    """
    own, other = getattr(mechanism, "p", None), getattr(mechanism, "q", None)
    if mechanism.gives != "frequency" or own is None or other is None:
        return None
    names = mechanism.named(mechanism.form.empty(0)) is not None
    return MessageOdds(Fraction(own), Fraction(other), mechanism.size, names)


def person_ratio(plan: Any) -> Fraction:
    """How many times likelier all messages of a person are from one record than from another, at most.

    Exactly where a person is asked once; with rounds, e^ε of all of them rounded up.

    >>> from bruit.collection import Plan
    >>> from bruit.oracles import RandomizedResponse
    >>> person_ratio(Plan({"smokes": RandomizedResponse.two_coins(("no", "yes"))}))
    Fraction(3, 1)
    """
    if plan.repeat is None:
        return Fraction(plan.design.ratio("person"))
    return at_most_ratio(plan.guarantee.epsilon)


def at_most_ratio(epsilon: float) -> Fraction:
    """e^ε as a fraction, rounded up.

    >>> float(at_most_ratio(1.0))
    2.718281828459045
    """
    return Fraction(exp_floor(epsilon, WORDS) + 1, WORDS)


@dataclass(frozen=True)
class Belief:
    """What somebody believed of a person, and the least and the most that they can believe after the messages."""

    before: Share
    least: Share
    most: Share


def belief(ratio: Fraction, before: Fraction | int, *, times: int = 1) -> Belief:
    """How far messages can move somebody, rounded to the private side.

    Parameters
    ----------
    ratio
        How many times likelier the same messages of a person are from one record than from another, at most:
        `person_ratio` of a plan, or of a mechanism ``mechanism.law.ratio``.
    before
        What was believed before: a share strictly between 0 and 1, or a whole number of a hundred.
    times
        How many times the person is asked, each time with a fresh draw.

    Examples
    --------
    >>> moved = belief(Fraction(3), 50)
    >>> print(moved.before, "|", moved.least, "|", moved.most)
    50 of 100 | 25 of 100 | 75 of 100
    >>> print(belief(Fraction(3), 50, times=3).most)
    97 of 100
    """
    prior = Fraction(before, HUNDRED) if isinstance(before, int) else Fraction(before)
    if not 0 < prior < 1:
        raise ParameterError("before must be a share between 0 and 1, as in Fraction(1, 10), or a number in 1..99.")
    if ratio < 1:
        raise ParameterError("ratio must be 1 or above: the largest quotient of two probabilities.")
    power = Fraction(ratio) ** _checks.integer(low=1, times=times)
    most = prior * power / (prior * power + 1 - prior)
    least = prior / (prior + (1 - prior) * power)
    return Belief(nearest(prior), at_least(least), at_most(most))
