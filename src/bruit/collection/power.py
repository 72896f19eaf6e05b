"""How many people it takes to see a difference between two groups, by how the group is known.

Three ways: the group is sent in clear beside the randomised answer; group and answer are one question, asked with all
of ε; or both are asked, each with half of ε. The last takes some sixty times the people of the first at ε = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.collection import criterion
from bruit.collection.sizing import least_epsilon
from bruit.errors import LimitError, ParameterError
from bruit.estimation import intervals
from bruit.oracles import oracle
from bruit.tables import Column, Table, Tabular, decimals, digits, percent

Floats: TypeAlias = NDArray[np.float64]

#: How the group may be known, and what is said of it.
DESIGNS = {
    "no privacy": "answers in clear",
    "clear": "the group in clear, the answer randomised",
    "joint": "group and answer as one question",
    "split": "group and answer randomised, half of ε each",
}
#: Oracles whose reports support two values with known probabilities.
_ORACLES = ("GRR", "SS", "OUE")


class GroupDesign(NamedTuple):
    """One way to know the group: how many people, at which ε, with which chance to see the difference."""

    design: str
    mechanism: str
    n: int
    epsilon: float
    power: float


@dataclass(frozen=True, repr=False)
class GroupComparison(Tabular):
    """Ways to see a difference between two groups, each solved for what was unknown."""

    first: float
    second: float
    unknown: str
    level: float
    share: float
    rows: tuple[GroupDesign, ...]
    left_out: dict[str, str]

    def __getitem__(self, design: str) -> GroupDesign:
        for row in self.rows:
            if row.design == design:
                return row
        raise ParameterError(f"design must be one of {', '.join(row.design for row in self.rows)}.")

    def table(self) -> Table:
        """A row per way."""
        columns = [
            Column("design", [row.design for row in self.rows], "group", "label", str),
            Column("meaning", [DESIGNS[row.design] for row in self.rows], "how", "text", str),
            Column("mechanism", [row.mechanism for row in self.rows], kind="text", write=str),
            Column("people", [row.n for row in self.rows]),
            Column("epsilon", [row.epsilon for row in self.rows], "ε", write=digits(4)),
            Column("power", [row.power for row in self.rows], write=decimals(3)),
        ]
        title = f"To see {percent(self.first)} against {percent(self.second)} in two groups"
        notes = [f"looked for: {self.unknown}; two-sided test at {percent(1 - self.level)}"]
        notes += [f"{percent(self.share)} of the people are in the first group"] if self.share != 0.5 else []
        notes += [f"left out: {name} ({reason})" for name, reason in self.left_out.items()]
        about = {
            "first": self.first,
            "second": self.second,
            "unknown": self.unknown,
            "level": self.level,
            "share": self.share,
        }
        return Table(title, columns, notes, about, noun="design")


@_checks.renamed({"people": "n=1000"})
def compare_groups(
    first: float,
    second: float,
    *,
    epsilon: float | None = None,
    n: int | None = None,
    power: float | None = None,
    answers: int = 2,
    share: float = 0.5,
    level: float = 0.95,
) -> GroupComparison:
    """What it takes to see that an answer is more frequent in one group than in another.

    Of ε, n and power two are given, and the third is looked for. In the normal approximation, with the variance
    that the estimated difference has at these shares.

    Parameters
    ----------
    first, second
        The share of the answer in each group.
    epsilon
        The most that a person's reports may tell of the whole record, group and answer.
    n
        How many people answer, both groups together.
    power
        The chance that the test sees the difference.
    answers
        How many answers the question has; the others share the rest evenly.
    share
        Which share of the people is in the first group.
    level
        One minus the chance of a false alarm of the two-sided test.

    Examples
    --------
    >>> ways = compare_groups(0.3, 0.2, epsilon=1.0, power=0.8)
    >>> [ways[design].n for design in ("no privacy", "clear", "joint")]
    [581, 3472, 9552]
    """
    for name, own in (("first", first), ("second", second), ("share", share), ("level", level)):
        _checks.probability(**{name: own})
    if first == second:
        raise ParameterError("first and second must differ: a difference of 0 is never seen.")
    _checks.domain_size(answers=answers)
    known = [name for name, own in (("epsilon", epsilon), ("n", n), ("power", power)) if own is not None]
    if len(known) != 2:
        raise ParameterError("Two of epsilon, n and power must be given: the third is what is looked for.")
    _check_given(epsilon, n, power, level)
    unknown = next(name for name in ("n", "epsilon", "power") if name not in known)
    groups = _Groups(first, second, answers, share)
    rows, left_out = [], {}
    for design in DESIGNS:
        try:
            rows.append(_row(design, groups, epsilon=epsilon, n=n, power=power, level=level))
        except LimitError as error:
            left_out[design] = str(error)
    return GroupComparison(first, second, unknown, level, share, tuple(row for row in rows if row), left_out)


def _check_given(epsilon: float | None, n: int | None, power: float | None, level: float) -> None:
    if epsilon is not None:
        _checks.epsilon(epsilon=epsilon)
    if n is not None:
        _checks.integer(low=2, n=n)
    if power is not None and _checks.probability(power=power) <= 1 - level:
        raise ParameterError("power must be above the chance of a false alarm, as in 0.8.")


def _row(
    design: str, groups: _Groups, *, epsilon: float | None, n: int | None, power: float | None, level: float
) -> GroupDesign:
    """One way, solved; without privacy there is no ε to look for."""
    from scipy import special

    gap, z = abs(groups.first - groups.second), intervals.normal_quantile(level)

    def needed(variance: float) -> int:
        reach = z + float(special.ndtri(power))
        return math.ceil(variance * (reach / gap) ** 2 * (1 - 1e-12))

    def enough(amount: float) -> bool:
        return needed(groups.variance(design, amount)[1]) <= (n or 0)

    if design == "no privacy":
        name, variance, epsilon = "", groups.clear_variance(), math.nan
    else:
        epsilon = least_epsilon(enough, 2 if design == "split" else 1) if epsilon is None else epsilon
        name, variance = groups.variance(design, epsilon)
    count = needed(variance) if n is None else n
    seen = float(special.ndtr(gap / math.sqrt(variance / count) - z))
    return GroupDesign(design, name, count, epsilon, seen)


@dataclass(frozen=True)
class _Groups:
    """Two groups with their shares of an answer."""

    first: float
    second: float
    answers: int
    share: float

    def clear_variance(self) -> float:
        """Of the difference of two shares, with one person in all."""
        return self.first * (1 - self.first) / self.share + self.second * (1 - self.second) / (1 - self.share)

    def variance(self, design: str, epsilon: float) -> tuple[str, float]:
        """The least variance of the difference with one person in all, and the oracle that has it."""
        of: Callable[[str, float], float] = {"clear": self._in_clear, "joint": self._joint, "split": self._split}[
            design
        ]
        variances = criterion.able(_ORACLES, lambda name: (name, of(name, epsilon)))
        return min(variances, key=lambda pair: pair[1] * (1 + 1e-12 * _ORACLES.index(pair[0])))

    def _in_clear(self, name: str, epsilon: float) -> float:
        mechanism = oracle(name, epsilon=epsilon, k=self.answers)
        parts = ((self.first, self.share), (self.second, 1 - self.share))
        return sum(mechanism.typical_variance(own, 1) / share for own, share in parts)

    def _joint(self, name: str, epsilon: float) -> float:
        """One question of twice as many answers."""
        cells, contrast = self._cells(), self._contrast()
        moments = _second_moments(oracle(name, epsilon=epsilon, k=cells.size), contrast.ravel())
        return float(cells.ravel() @ moments) - self._mean(cells, contrast) ** 2

    def _split(self, name: str, epsilon: float) -> float:
        """The product of two scores, each at half of ε."""
        cells, contrast = self._cells(), self._contrast()
        group, answer = (_pair_moments(oracle(name, epsilon=epsilon / 2, k=size)) for size in cells.shape)
        moments = np.einsum("uv,wx,guw,avx->ga", contrast, contrast, group, answer, optimize=True)
        return float((cells * moments).sum()) - self._mean(cells, contrast) ** 2

    def _cells(self) -> Floats:
        """The share of all people with each group and answer; the answer of interest is the first."""
        rest = np.array([(1 - own) / (self.answers - 1) for own in (self.first, self.second)])
        cells = np.repeat(rest[:, None], self.answers, axis=1)
        cells[:, 0] = self.first, self.second
        return np.asarray(cells * np.array([[self.share], [1 - self.share]]))

    def _contrast(self) -> Floats:
        """The derivative of the difference of shares in each cell: both shares are ratios of estimates."""
        signs = np.array([[1 / self.share], [-1 / (1 - self.share)]])
        own = -np.array([[self.first], [self.second]]) * np.ones(self.answers)
        own[:, 0] += 1
        return np.asarray(signs * own)

    @staticmethod
    def _mean(cells: Floats, contrast: Floats) -> float:
        return float((cells * contrast).sum())


def _pair_moments(mechanism: Any) -> Floats:
    """E[s_u s_v | x] of unbiased scores, axes x, u, v."""
    p, q = float(mechanism.p), float(mechanism.q)
    own, other = map(float, mechanism.joint)
    size = mechanism.size
    alone = q + (p - q) * np.eye(size)
    both = np.full((size, size, size), other)
    places = np.arange(size)
    both[places, places, :] = own
    both[places, :, places] = own
    both[:, places, places] = alone
    return np.asarray((both - q * (alone[:, :, None] + alone[:, None, :]) + q * q) / (p - q) ** 2)


def _second_moments(mechanism: Any, contrast: Floats) -> Floats:
    """E[(Σ c_v s_v)² | x] for every x."""
    return np.asarray(np.einsum("u,xuv,v->x", contrast, _pair_moments(mechanism), contrast))
