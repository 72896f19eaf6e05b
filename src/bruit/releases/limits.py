"""How many rows or groups of a person should count: a private profile, and the error to expect of each bound.

Few rows of a person lose what people have beyond them; many need more noise. Which bound is best depends on how many
rows people have, which is itself a secret. So a small part of the budget buys a profile: how many people have 1, 2, 3,
… 9–10, … rows, or groups; and, where there are groups, how unevenly people are spread over them. What the profile may
be without its noise (`noisy_profile`) says what is lost under each bound, and the noise is computed. See
``limits.proof.md``.

Rejected: the share of people below a bound as the criterion (the few beyond have most of the rows); a quantile of rows
per person (it does not know the noise).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents, rounding
from bruit.engines import Source
from bruit.engines.bounding import Profile, draw_key, fold_people
from bruit.entropy import Randomness
from bruit.errors import BruitError, DataTypeError, DesignError, FormatError, ParameterTypeError, translated
from bruit.estimation.tally import RawTally
from bruit.privacy.booking import LedgerLike, booked
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.privacy.zcdp import pure_rho
from bruit.releases.counts import Count
from bruit.releases.groups import DeclaredGroups
from bruit.releases.noise import DiscreteLaplace, cut
from bruit.releases.noisy_profile import read_profile, visible
from bruit.releases.person import Person
from bruit.releases.release import Release
from bruit.tables import SHOWN_ROWS, Column, Table, Tabular, counted, percent
from bruit.typing import SourceLike

__all__ = ["LimitsChoice", "LimitsGuide", "choose_limits"]

Floats = NDArray[np.float64]

#: The largest number of rows that is considered, unless said.
MOST_ROWS = 1000
#: The largest bound that may be considered.
_MOST = 10**6


class ExpectedError(NamedTuple):
    """What a bound costs: the share of rows that is lost, and the errors of a count by truncation, noise and both.

    Where several profiles are possible, the error is the geometric mean over them, so that none of them decides alone.
    """

    bound: int
    lost: float
    truncation: float
    noise: float

    @property
    def total(self) -> float:
        """The root mean square of what is lost and of the noise."""
        return math.hypot(self.truncation, self.noise)


@dataclass(frozen=True, eq=False)
class LimitsGuide:
    """A private profile of rows or groups per person, for choosing how many of them count.

    Parameters
    ----------
    count
        The count that is planned: its ε, δ and neighbours decide the noise of each bound.
    person
        The column that says whose row it is; or a `Person`, as ``Person("user", rows=1, missing="drop")``, whose bounds
        do not count here: the guide chooses them.
    by
        The declared groups of the count, as in `Release`. The guide is then about `groups`, with one row of a person in
        each, and else about `rows`.
    epsilon
        What the profile itself spends, besides the count.
    most
        The largest bound that is considered: public. By default the number of groups, or 1,000 rows.

    Guarantee
    ---------
    A person is in one cell of the profile, and counts in one group: both are histograms with Laplace noise, for three
    quarters and one quarter of ε. What is computed from them has the same guarantee.

    Error
    -----
    People are taken to be in popular groups first, and the number of rows within a cell of the profile to be in its
    middle. Up to `unseen` people with many more rows than the others do not show. How often the bound that is
    chosen has an error within a fifth of the least is in the guide to people with several rows.

    Examples
    --------
    >>> views = {"visitor": [1] * 40 + list(range(2, 900)), "page": ["a", "b"] * 469}
    >>> guide = LimitsGuide(Count(epsilon=1.0), "visitor", by={"page": ["a", "b"]}, epsilon=0.5)
    >>> guide.publish(guide.fold(views, 7), rng=7).person.groups
    1
    """

    #: What a seed is mixed with.
    verb: ClassVar[str] = "bounds"

    count: Count
    person: Person | str
    by: Any = None
    epsilon: float = 0.1
    most: int | None = None

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        """A guide; what happens to rows without a person is the person's, and the error about that has the call."""
        if "missing" in options:
            spelling = f'person=Person("user_id", rows=1, missing={options["missing"]!r})'
            raise ParameterTypeError(f"missing must be declared with the person: write {spelling}.")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        if not isinstance(self.count, Count):
            raise ParameterTypeError("The guide is about a count: give the one that is planned, as Count(epsilon=1.0).")
        object.__setattr__(self, "epsilon", _checks.spent_epsilon(epsilon=self.epsilon))
        _checks.warn_of_weak(self.epsilon)
        if self.most is not None:
            object.__setattr__(self, "most", _checks.integer(low=1, high=_MOST, most=self.most))
        _ = self._single, self.noise, self._group_noise, [self._noise_of(bound) for bound in self.candidates]

    @cached_property
    def _single(self) -> Release:
        """The count with the least bound."""
        return Release(self.count, self.by, self.bounded(1))

    @property
    def column(self) -> str:
        """The column that says whose row it is."""
        return cast(Person, self._single.person).column

    @property
    def groups(self) -> tuple[Any, ...]:
        """The labels of the groups; none if there are no groups."""
        return self._single.groups

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """The bounds that are considered: each up to 8, then four for each doubling."""
        most = self.most or (len(self.groups) if self.groups else MOST_ROWS)
        steps = itertools.chain(range(1, 9), (step << power for power in itertools.count(1) for step in range(5, 9)))
        return (*itertools.takewhile(lambda bound: bound < most, steps), most)

    @property
    def guarantee(self) -> Guarantee:
        """What the profile promises."""
        neighbours: Any = f"person-{self.count.neighbours}"
        return Guarantee(epsilon=self.epsilon, neighbours=neighbours)

    @cached_property
    def noise(self) -> DiscreteLaplace:
        """The noise on the number of people in each cell of the profile: three quarters of ε, or all without groups."""
        share = 3 * rounding.share(self.epsilon, 4) if self.groups else self.epsilon
        return DiscreteLaplace.calibrate(2 if self.count.public else 1, share)

    @cached_property
    def _group_noise(self) -> DiscreteLaplace:
        """The noise on the number of people of each group, if a person is in one: a quarter of ε."""
        return DiscreteLaplace.calibrate(2 if self.count.public else 1, rounding.share(self.epsilon, 4))

    def bounded(self, bound: int) -> Person:
        """The person with such a bound."""
        person = self.person if isinstance(self.person, Person) else Person(self.person, rows=1)
        if self.by is None:
            return replace(person, rows=bound, groups=None, rows_per_group=None)
        return replace(person, rows=None, groups=bound, rows_per_group=1)

    def _noise_of(self, bound: int) -> float:
        """The standard deviation of the noise of the count, under a bound."""
        many = len(self.groups) if self.groups else None
        contribution = self.bounded(bound).contribution(many, replaced=self.count.public)
        return float(np.max(self.count.for_people(contribution).standard_error))

    def fold(self, source: SourceLike | Source, rng: Randomness = None) -> RawTally:
        """The profile without noise; as `Release.fold`."""
        single = self._single
        person, groups = cast(Person, single.person), None
        if self.groups:
            groups = cast(DeclaredGroups, single.grouping).codes
        job = Profile(person.whose, draw_key(rng, self.digest), groups, self._tally)
        (tally,) = fold_people(source, [job], single.columns)
        return tally  # type: ignore[no-any-return]

    def _tally(self, sizes: NDArray[np.int64], groups: NDArray[np.int64] | None) -> RawTally:
        """The profile of people by their number of rows or groups, each of whom counts in one group."""
        cells = np.searchsorted(self.candidates, np.minimum(sizes[sizes > 0], self.candidates[-1]))
        counts = [np.bincount(cells, minlength=len(self.candidates))]
        if groups is not None:
            counts.append(np.bincount(groups, minlength=len(self.groups)))
        return RawTally(design=self.digest, counts=np.concatenate(counts).astype(np.int64))

    def check(self, raw: RawTally) -> None:
        """Refuse what `publish` would refuse; nothing is spent."""
        if not isinstance(raw, RawTally):
            raise DataTypeError("publish needs a RawTally: make one with fold(data).")
        if raw.design != self.digest:
            raise DesignError("This raw tally was folded for another guide.", expected=self.digest, actual=raw.design)

    def publish(
        self, raw: RawTally, ledger: LedgerLike | None = None, rng: Randomness = None, *, label: str | None = None
    ) -> LimitsChoice:
        """The expected errors, from the profile with noise, booked before that is drawn; as `Release.publish`."""
        self.check(raw)
        words = booked(self, ledger, rng, label)
        simulated = not words.secure
        exact = cut(raw.reveal(design=self.digest))
        cells, (first, second) = len(self.candidates), words.split(2)
        drawn = [self.noise.sample(cells, first), self._group_noise.sample(exact.size - cells, second)]
        noisy = (exact + np.concatenate(drawn)).astype(np.float64)
        return self._choice(noisy, simulated)

    def lines(self, label: str | None = None) -> list[Line]:
        """What a ledger books."""
        about = "groups" if self.groups else "rows"
        text = label or f"profile of {about} per {self.column}"
        return [Line(self.guarantee, text[:200], pure_rho(self.epsilon))]

    @property
    def unseen(self) -> int:
        """How many people with equally many rows noise may hide, and so a few with many more rows than others."""
        return math.ceil(visible(len(self.candidates)) * float(self.noise.scale))

    def _choice(self, noisy: Floats, simulated: bool) -> LimitsChoice:
        """The expected errors of all bounds, from the noisy profile."""
        cells = len(self.candidates)
        profiles, weights = read_profile(noisy[:cells], float(self.noise.scale), self.candidates)
        sizes = self._middles
        shares = inclusion(self._weights(noisy[cells:]), sizes) if self.groups else np.ones((cells, 1))
        together = shares @ shares.T / shares.shape[1]  # how much people of two cells are lost in the same groups
        rows = np.maximum(profiles @ sizes, 1.0)
        errors = []
        for bound in self.candidates:
            beyond, noise = np.maximum(sizes - bound, 0), self._noise_of(bound)
            people = profiles * (beyond / sizes if self.groups else beyond)
            squares = ((people @ together) * people).sum(axis=1)  # Σ over groups of (what is lost)², by their number
            # The geometric mean of the errors, hypot(lost, noise), less the noise.
            truncation = noise * math.sqrt(math.expm1(float(weights @ np.log1p(squares / noise**2))))
            errors.append(ExpectedError(bound, float(weights @ (profiles @ beyond / rows)), truncation, noise))
        return LimitsChoice(self, tuple(errors), simulated, bool((weights @ profiles).any()))

    @cached_property
    def _middles(self) -> Floats:
        """The number of rows that stands for a cell of the profile: the geometric mean of its ends, for tails fall."""
        high = np.array(self.candidates, np.float64)
        low = np.array([0, *self.candidates[:-1]]) + 1.0
        return np.sqrt(low * high)

    def _weights(self, counts: Floats) -> Floats:
        """The share of each group, from noisy counts, drawn to their mean by as much as their spread is noise."""
        mean = max(float(counts.mean()), 1.0)
        spread = max(float(counts.var()), 1e-9)
        trust = max(0.0, 1 - (self._group_noise.standard_error**2) / spread)
        weights = np.maximum(mean + trust * (counts - mean), 0.0) + 1e-3
        return np.asarray(weights / weights.sum(), np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"kind": "bounds-guide", "single": self._single.to_dict(), "epsilon": self.epsilon, "most": self.most}

    @classmethod
    def from_dict(cls, body: Any) -> LimitsGuide:
        """The inverse of `to_dict`."""
        rule = "A guide to bounds must have one count with a person, epsilon and most."
        with translated((KeyError, TypeError, ValueError, AttributeError), lambda _: FormatError(rule)):
            single = Release.from_dict(body["single"])
            (count,), person = single.statistics.values(), cast(Person, single.person)
            return cls(cast(Count, count), person, single.by, body["epsilon"], body["most"])

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this guide; its tallies carry it."""
        return documents.digest(self.to_dict())


@dataclass(frozen=True, eq=False, repr=False)
class LimitsChoice(Tabular):
    """What each bound is expected to cost, and the bound of the least error; from `LimitsGuide.publish`.

    Parameters
    ----------
    guide
        The guide that it is from.
    errors
        The expected errors of each bound: `bound`, `lost`, `truncation`, `noise` and `total`.
    simulated
        Whether the noise of the profile came from a seed.
    seen
        Whether the profile shows anybody. If not, there are too few people for its ε, and its advice is worth nothing.
    """

    guide: LimitsGuide
    errors: tuple[ExpectedError, ...]
    simulated: bool
    seen: bool

    @property
    def best(self) -> ExpectedError:
        """The bound of the least expected error."""
        return min(self.errors, key=lambda error: error.total)

    @property
    def person(self) -> Person:
        """The person with that bound, for a release."""
        return self.guide.bounded(self.best.bound)

    @property
    def guarantee(self) -> Guarantee:
        """What the profile promises."""
        return self.guide.guarantee

    def table(self, shown: int = SHOWN_ROWS) -> Table:
        """One row for each bound; where not all are shown, the rows around the best."""
        about = "groups" if self.guide.groups else "rows"
        least = self.best if self.seen else None
        columns = [
            Column(about, [error.bound for error in self.errors], kind="label", write=str),
            Column("lost", [error.lost for error in self.errors], write=percent),
            Column("truncation", [error.truncation for error in self.errors], "lost per count", write=_rounded),
            Column("noise", [error.noise for error in self.errors], write=_rounded),
            Column("total", [error.total for error in self.errors], "error", write=_rounded),
            Column("", ["← least" if error is least else "" for error in self.errors], "", "text", str),
        ]
        best = counted(self.best.bound, about.removesuffix("s"))
        hidden = counted(self.guide.unseen, "person")
        if self.seen:
            notes = [f"the expected error of the count is least with {best} of each {self.guide.column!r}"]
            if self.best.bound != len(self.guide.groups):  # all groups are the most that anybody has
                notes.append(
                    f"the noise of the profile can hide up to {hidden} who have far more {about} than the others: what "
                    "is lost of theirs is then not in this table"
                )
        else:
            notes = [
                "this profile shows nobody, so no bound can be advised: there are too few people for its ε. Spend more "
                f"on it, or choose the number of {about} by what is known of the table"
            ]
        notes.append(f"the profile itself: {self.guarantee}")
        if self.simulated:
            notes.append("repeatable by its seed: for study, and not private")
        title = f"error of a count at ε = {self.guide.count.epsilon:g}, by how many {about} of a person count"
        first = max(min(self.errors.index(self.best) - shown // 2, len(self.errors) - shown), 0)
        near = range(first, min(first + shown, len(self.errors)))
        others = (place for place in range(len(self.errors)) if place not in near)
        facts = {"guide": self.guide.to_dict(), "seen": self.seen, "simulated": self.simulated}
        return Table(title, columns, notes, facts, order=[*near, *others])

    @classmethod
    def from_json(cls, text: str | bytes) -> LimitsChoice:
        """The inverse of `to_json`: what a profile said, shown again. It spends nothing.

        >>> choice = choose_limits({"visitor": [1, 1, 2]}, Count(epsilon=1.0), person="visitor", most=3, rng=7)
        >>> LimitsChoice.from_json(choice.to_json()).to_json() == choice.to_json()
        True
        """
        body = documents.unseal(text, Table.FORMAT)
        kinds = (KeyError, TypeError, ValueError, AttributeError, OverflowError, BruitError)
        with translated(kinds, lambda _: FormatError("This is not the result of bruit limits: a field is wrong.")):
            guide = LimitsGuide.from_dict(body["guide"])
            about = "groups" if guide.groups else "rows"
            errors = [
                ExpectedError(row[about], *(float(row[name]) for name in ("lost", "truncation", "noise")))
                for row in body["rows"]
            ]
            if tuple(error.bound for error in errors) != guide.candidates:
                raise ValueError
            return cls(guide, tuple(errors), bool(body["simulated"]), bool(body["seen"]))


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def choose_limits(
    source: SourceLike | Source,
    count: Count,
    *,
    person: Person | str,
    by: Any = None,
    epsilon: float = 0.1,
    most: int | None = None,
    ledger: LedgerLike | None = None,
    rng: Randomness = None,
    label: str | None = None,
    **unknown: Any,
) -> LimitsChoice:
    """How many rows, or groups, of a person should count: the error to expect of each bound, from a private profile.

    Parameters
    ----------
    source
        A table, as in `Release.fold`.
    count, person, by, epsilon, most
        As in `LimitsGuide`: `epsilon` is what the profile spends, besides the count that is planned.
    ledger, rng, label
        As in `Release.publish`.
    unknown
        What the guide does not know: an error, and of `missing` the call as it should be.

    Examples
    --------
    >>> views = {"visitor": list(range(3000)) * 4}
    >>> choose_limits(views, Count(epsilon=1.0), person="visitor", epsilon=0.5, most=8, rng=7).person.rows
    4
    """
    guide = LimitsGuide(count, person, by, epsilon, most, **unknown)
    return guide.publish(guide.fold(source, rng), ledger, rng, label=label)


def inclusion(weights: Floats, sizes: Floats) -> Floats:
    """How likely a person with a number of groups (rows) has each group (columns), if popular ones come first.

    The chance is 1 − exp(−m·weight), with m such that the chances add up to the number of groups.

    >>> inclusion(np.array([0.5, 0.25, 0.25]), np.array([1.0, 3.0])).round(2).tolist()
    [[0.46, 0.27, 0.27], [1.0, 1.0, 1.0]]
    """
    chances = np.ones((sizes.size, weights.size))
    for place, size in enumerate(sizes.tolist()):
        if size >= weights.size:
            continue
        low, high = 0.0, 1.0
        while -np.expm1(-high * weights).sum() < size:
            high *= 2
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if -np.expm1(-middle * weights).sum() < size else (low, middle)
        chances[place] = -np.expm1(-high * weights)
    return chances
