"""People who do not follow: two random groups with different laws show how many say "no" whatever the device draws.

A share γ of the people sends the safe answer and ignores chance; the others follow. Then, in a group whose law
keeps an answer with probability p and gives each of the k − 1 others with q, the share of reports that are not safe is

    r = π(p − q) + (1 − γ)(k − 1)q,

π being the share that follows *and* has another answer. Two groups with different laws are two equations for π and γ;
with equal laws they are the same equation twice. Those who do not follow may have any answer, so that the prevalence
lies between π and π + γ. A lie *into* the device, an answer that is false but goes through chance, cannot be seen.
``compliance.proof.md`` has the argument.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit import _checks
from bruit.collection import Plan
from bruit.collection.odds import odds
from bruit.domains import Attribute
from bruit.errors import DataError, DesignError, ParameterError
from bruit.estimation import Tally, intervals
from bruit.privacy import Guarantee
from bruit.tables import Column, Table, Tabular, counted, decimals, interval_of, label, percent

Floats: TypeAlias = NDArray[np.float64]

#: Shares that may not have followed, for the lines "if x % did not follow".
SHARES = (0.0, 0.05, 0.1, 0.2)


class _Law(NamedTuple):
    """How a group's reports other than the safe answer depend on π and 1 − γ."""

    own: float
    others: float

    @classmethod
    def of(cls, plan: Plan) -> _Law:
        if plan.repeat is not None:
            raise ParameterError("Who does not follow is estimated from plans that ask once: leave rounds out.")
        if len(plan.schema) > 1:
            raise ParameterError("Who does not follow is estimated for one question: plan the others by themselves.")
        chances = odds(next(iter(plan.mechanisms.values())))
        if chances is None or not chances.names:
            raise ParameterError("Who does not follow is seen through randomised response only: plan with method GRR.")
        return cls(float(chances.own - chances.other), float((chances.answers - 1) * chances.other))

    def variance(self, share: float, n: int, ignoring: float | None = None) -> float:
        """The variance of the share of n reports that are not safe, at the nearest share that is possible.

        It is possible if people who follow, all of them or 1 − γ where γ is known, have the safe answer or another. A
        group without any such report has the variance of one in n + 1: if nobody follows, the law itself has none.
        """
        following = 1.0 if ignoring is None else 1 - ignoring
        least = self.others * following if ignoring is not None else 0.0
        near = max(min(max(share, least), (self.own + self.others) * following), 1 / (n + 1))
        return near * (1 - near) / n


def second_plan(plan: Plan, epsilon: float) -> Plan:
    """The same question for a second random group, at another ε; the same ε is refused, for it would show nothing."""
    law = _Law.of(plan)
    other = Plan(plan.schema, epsilon, "GRR", public=plan.public)
    _check_different(law, _Law.of(other))
    return other


def promise(first: Plan, second: Plan) -> Guarantee:
    """What a person is guaranteed who is in either group: the group says nothing of the answer, so the larger ε."""
    return max(first.guarantee, second.guarantee, key=lambda own: own.epsilon)


def largest_errors(first: Plan, second: Plan, n: tuple[int, int], level: float = 0.95) -> tuple[float, float]:
    """The half-widths of the intervals of π and γ that are not exceeded, whatever people answer: shares of a half."""
    inverse = _inverse(_Law.of(first), _Law.of(second))
    spread = np.array([0.25 / n[0], 0.25 / n[1]])
    z = intervals.normal_quantile(level)
    half = z * np.sqrt((inverse**2) @ spread)
    return float(half[0]), float(half[1])


@dataclass(frozen=True)
class SecondGroup:
    """A second random group that is asked at another ε, and what the two then show; `second_group` plans one.

    Parameters
    ----------
    plan
        The plan of the second group.
    guarantee
        What a person in either group is promised.
    following, ignoring
        The largest half-widths of the intervals of π and γ, whatever people answer.
    """

    plan: Plan
    guarantee: Guarantee
    following: float
    ignoring: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "digest": self.plan.digest,
            "guarantee": self.plan.guarantee.to_dict(),
            "guarantee_of_both_groups": self.guarantee.to_dict(),
            "half_width_following": self.following,
            "half_width_ignoring": self.ignoring,
        }

    @property
    def lines(self) -> list[str]:
        """What the second group is for, and what everybody is promised."""
        return [
            f"second group: ε = {self.plan.guarantee.epsilon:.7g}. With half of the people in each, the share that "
            f"does not follow is known to ± {percent(self.ignoring)} at most, and the share that follows and has "
            f"another answer to ± {percent(self.following)}.",
            f"guarantee of a person in either group: {self.guarantee}",
        ]


def second_group(first: Plan, epsilon: float, n: int) -> SecondGroup:
    """A second random group at another ε, with half of the people in each.

    >>> group = second_group(Plan({"cheats": ["no", "yes"]}, 2.0, "GRR"), 0.5, n=40_000)
    >>> round(group.ignoring, 3), group.guarantee.epsilon <= 2.0
    (0.021, True)
    """
    second = second_plan(first, epsilon)
    halves = (max(1, n // 2), max(1, n - n // 2))
    return SecondGroup(second, promise(first, second), *largest_errors(first, second, halves))


@dataclass(frozen=True, eq=False, repr=False)
class Compliance(Tabular):
    """How many do not follow, and between what the prevalence lies.

    Parameters
    ----------
    name, safe
        The question, and the answer that those who do not follow send.
    following
        π: the share that follows and has another answer than the safe one.
    ignoring
        γ: the share that sends the safe answer whatever the device draws.
    covariance
        Of the two.
    n, refused
        How many reports there are in each group, and how many were none.
    guarantee
        Of a person in either group.
    simulated
        Whether some reports were.
    """

    name: str
    safe: Any
    following: float
    ignoring: float
    covariance: Floats
    n: tuple[int, int]
    refused: int
    guarantee: Guarantee
    simulated: bool

    def interval(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Intervals of `following`, `ignoring` and `prevalence`: the last from below π to above π + γ."""
        z = intervals.normal_quantile(_checks.probability(level=level))
        first, second = np.sqrt(np.diag(self.covariance)).tolist()
        both = math.sqrt(float(self.covariance.sum()))
        total = self.following + self.ignoring
        # Someone who ignores the device counts for no prevalence or for all of it, and γ is not below 0.
        high = max(self.following + z * first, total + z * both)
        return {
            "following": (self.following - z * first, self.following + z * first),
            "ignoring": (self.ignoring - z * second, self.ignoring + z * second),
            "prevalence": _within(self.following - z * first, high),
        }

    @property
    def p_value(self) -> float:
        """How likely so large a γ is if everybody follows: a one-sided test."""
        return float(special.ndtr(-self.ignoring / math.sqrt(float(self.covariance[1, 1]))))

    def table(self, level: float = 0.95) -> Table:
        """Both shares and the range of the prevalence, with intervals: columns quantity, estimate, low, high."""
        ends = self.interval(level)
        safe = label(self.safe)
        names = {
            "following": f"follow, and have another answer than {safe}",
            "ignoring": f"send {safe} whatever the device draws",
            "prevalence": f"have another answer than {safe}",
        }
        estimates = [self.following, self.ignoring, math.nan]
        columns = [
            Column("quantity", list(names), kind="label", write=str, hidden=True),
            Column("share", list(names.values()), "share of people who", "label", str),
            Column("estimate", estimates, write=decimals(4)),
            Column(
                "interval", [ends[name] for name in names], interval_of(level), write=decimals(4), parts=("low", "high")
            ),
        ]
        chance = f"= {self.p_value:.4f}" if self.p_value >= 1e-4 else "< 0.0001"
        test = f"test that everybody follows: p {chance}"
        notes = [
            test,
            "An answer that is false and goes through chance cannot be seen.",
            f"guarantee: {self.guarantee}",
        ]
        about = {
            "name": self.name,
            "safe": safe,
            "n": list(self.n),
            "refused": self.refused,
            "p_value": self.p_value,
            "confidence": level,
            "simulated": self.simulated,
            "guarantee": self.guarantee.to_dict(),
        }
        title = f"Who does not follow in {self.name}, from {self.n[0]:,} and {counted(self.n[1], 'report')}"
        return Table(title + (", simulated" if self.simulated else ""), columns, notes, about, noun="quantity")


def compliance(first: Plan, first_tally: Tally, second: Plan, second_tally: Tally, *, safe: Any = None) -> Compliance:
    """Estimate how many people do not follow, from two random groups that were asked at different ε.

    Parameters
    ----------
    first, second
        The plans of the groups: the same question by randomised response (GRR), at different ε.
    first_tally, second_tally
        The tallies of their reports.
    safe
        The answer that somebody sends who does not follow; the first one by default.

    Examples
    --------
    >>> first = Plan({"cheats": ["no", "yes"]}, 2.0)
    >>> second = second_plan(first, 0.5)
    >>> tallies = [plan.simulate([7_000, 3_000], rng=7) for plan in (first, second)]
    >>> result = compliance(first, tallies[0], second, tallies[1])
    >>> low, high = result.interval()["ignoring"]
    >>> low < 0 < high
    True
    """
    if first.schema != second.schema or len(first.schema) != 1:
        raise DesignError("The two groups must be asked the same one question: make the second plan from the first.")
    laws = _Law.of(first), _Law.of(second)
    inverse = _inverse(*laws)
    place = _safe_place(first, safe)
    groups = ((first, first_tally), (second, second_tally))
    if not all(tally.n for _, tally in groups):
        raise DataError("Both groups must have reports.")
    seen = np.array([_other_share(plan, tally, place) for plan, tally in groups])
    spread = np.array([law.variance(share, tally.n) for law, share, (_, tally) in zip(laws, seen, groups, strict=True)])
    following, obeying = inverse @ seen
    turned = np.diag([1.0, -1.0])  # from 1 − γ to γ
    covariance = turned @ inverse @ np.diag(spread) @ inverse.T @ turned
    return Compliance(
        name=_question(first).name,
        safe=_question(first).labels[place],
        following=float(following),
        ignoring=float(1 - obeying),
        covariance=covariance,
        n=(first_tally.n, second_tally.n),
        refused=first_tally.refused + second_tally.refused,
        guarantee=promise(first, second),
        simulated=first_tally.simulated or second_tally.simulated,
    )


class Sensitivity(Tabular):
    """What a survey says if some share of the people did not follow: a row per share."""

    def __init__(self, name: str, safe: Any, rows: list[tuple[float, float, float, float]], level: float) -> None:
        self.name, self.safe, self.rows, self.level = name, safe, rows, level

    def table(self) -> Table:
        """Columns ignoring, following, low, high: the range of the prevalence, intervals included."""
        safe = label(self.safe)
        columns = [
            Column("ignoring", [row[0] for row in self.rows], "did not follow", "label", percent),
            Column("following", [row[1] for row in self.rows], "follow, other answer", write=decimals(4)),
            Column(
                "interval",
                [row[2:] for row in self.rows],
                f"other answer, {interval_of(self.level)}",
                write=decimals(4),
                parts=("low", "high"),
            ),
        ]
        note = f"Somebody who does not follow is taken to send {safe}, and may have any answer."
        about = {"name": self.name, "safe": safe, "confidence": self.level}
        return Table(f"Other answers than {safe} in {self.name}, if some did not follow", columns, [note], about)


def sensitivity(
    plan: Plan, tally: Tally, *, safe: Any = None, shares: Sequence[float] = SHARES, level: float = 0.95
) -> Sensitivity:
    """What an ordinary survey says if a share of the people did not follow: it cannot tell that share itself.

    Parameters
    ----------
    plan, tally
        One question by randomised response, and the tally of its reports.
    safe
        The answer that somebody sends who does not follow; the first one by default.
    shares
        The shares that may not have followed.
    level
        How often the intervals cover, if the share is right.
    """
    law, place = _Law.of(plan), _safe_place(plan, safe)
    seen = _other_share(plan, tally, place)
    z = intervals.normal_quantile(_checks.probability(level=level))
    rows = []
    for share in shares:
        following = (seen - (1 - _checks.fraction(share=share)) * law.others) / law.own
        half = z * math.sqrt(law.variance(seen, tally.n, share)) / law.own
        rows.append((float(share), following, *_within(following - half, following + share + half)))
    return Sensitivity(_question(plan).name, _question(plan).labels[place], rows, level)


def _within(low: float, high: float) -> tuple[float, float]:
    """Both ends cut to 0..1."""
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


def _other_share(plan: Plan, tally: Tally, place: int) -> float:
    """The share of reports that are another answer than the safe one."""
    name = _question(plan).name
    answer, mechanism = plan.estimate(tally)[name], plan.mechanisms[name]
    own, other = float(mechanism.p), float(mechanism.q)  # type: ignore[union-attr] # reports that name an answer
    return 1 - (other + (own - other) * float(answer.frequency[place]))


def _question(plan: Plan) -> Attribute:
    """The one question of a plan."""
    (attribute,) = plan.schema.values()
    return attribute


def _safe_place(plan: Plan, safe: Any) -> int:
    texts = [label(own) for own in _question(plan).labels]
    if safe is None:
        return 0
    if label(safe) not in texts:
        raise ParameterError(f"safe must be one of the answers: {', '.join(texts[:8])}.")
    return texts.index(label(safe))


def _inverse(first: _Law, second: _Law) -> Floats:
    """The matrix that takes the shares of both groups to π and 1 − γ."""
    _check_different(first, second)
    return np.asarray(np.linalg.inv(np.array([first, second])), np.float64)


def _check_different(first: _Law, second: _Law) -> None:
    if math.isclose(first.own * second.others, second.own * first.others, rel_tol=1e-6):
        raise ParameterError(
            "Groups with the same law do not identify who does not follow: both would show the same share of reports, "
            "whatever it is. Take another ε for the second group, as in --epsilon 2 --check-compliance 0.5."
        )
