"""What is published of a table: its statistics, their shares of one ε and δ, or of ρ, and the releases they become.

Everything here follows from what is declared, so that the split, the expected errors and the identity of a publication
are known, and the same, before any data are read.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bruit import _checks, documents
from bruit._renamed import Signpost
from bruit.domains import Schema
from bruit.domains.domain import Domain
from bruit.domains.policy import POLICIES
from bruit.engines.csv_options import TextOptions
from bruit.errors import BruitError, LedgerError, LimitError, ParameterError, ParameterTypeError, translated
from bruit.privacy import Ledger
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import USUAL_AT, Line
from bruit.privacy.zcdp import epsilon_to_rho, pure_rho, rho_to_epsilon
from bruit.releases.counts import Count
from bruit.releases.declared import Declaration, out_of_reach, statistic_kind
from bruit.releases.person import Person
from bruit.releases.prospects import Prospect, prospect_table, sizes_note
from bruit.releases.release import Release
from bruit.releases.sources import place_of
from bruit.releases.statistic import CentralNeighbours, Statistic
from bruit.rounding import decimal, down, up
from bruit.tables import Table

__all__ = ["Publication", "Request"]

#: Which noise sums have: the one of less error, or the one that is named.
Choice = Literal["auto", "laplace", "gaussian"]
CHOICES: tuple[Choice, ...] = ("auto", "laplace", "gaussian")

_NOT_IN_RHO = (
    "A publication that splits a ρ needs a ledger in ρ: name one, or start one with budget = { rho = 0.5 }, or with "
    "budget = { epsilon = 1.0, delta = 1e-6, zcdp = true }. For a ledger in ε split an epsilon."
)

#: The number of rows for which the noise with less error is chosen, where none is expected; part of the digest.
_USUAL_ROWS = 1000


@dataclass(frozen=True)
class Request:
    """One statistic of a publication, before ε is divided.

    Parameters
    ----------
    name
        What it is called in the results.
    kind
        A name in `Statistic.kinds`: ``"count"``, ``"histogram"``, ``"mean"`` …
    of
        The column and its values, as in ``age=0..120``, or several for tables; nothing for a count.
    by
        The columns of groups with their domains; None for undeclared groups.
    share
        Its part of ε and δ, in proportion to those of the others.
    noise
        For sums with a δ: ``"laplace"``, ``"gaussian"``, or ``"auto"``, whichever has less error.
    options
        The other options of its kind, as in ``{"missing": "drop"}``: see `Statistic.option_names`.
    person
        Whose rows are bounded, and how many count.
    description
        What readers of the page are told of it; no part of what it is known by.
    """

    name: str
    kind: str
    of: str | Sequence[str] = ()
    by: Mapping[str, Domain | None] = field(default_factory=dict)
    share: Fraction = Fraction(1)
    noise: Choice = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    person: Person | None = None
    description: str = ""

    @property
    def selects(self) -> bool:
        """Whether its groups are undeclared: those of many people."""
        return None in self.by.values()

    @property
    def names_groups(self) -> bool:
        """Whether it is the count that names such groups."""
        return self.selects and self.kind == "count"

    @property
    def takes_delta(self) -> bool:
        """Whether it may, or must, use a part of δ."""
        return self.names_groups or (self.has_delta and self.noise != "laplace")

    @property
    def has_delta(self) -> bool:
        """Whether its statistic can have a δ, and then Gaussian noise."""
        return "delta" in statistic_kind(self.kind).parameters()

    @property
    def has_width(self) -> bool:
        """Whether a width decides how much ε it has."""
        return "within" in self.options

    def least(self, delta: float, neighbours: CentralNeighbours, n: int | None) -> Statistic:
        """The statistic at the least ε for its width, with this δ, for n records."""
        privacy: dict[str, Any] = {"neighbours": neighbours, **({"delta": delta} if delta else {})}
        with self.named():
            questions = [self.of] if isinstance(self.of, str) else self.of
            statistic = Declaration(self.kind, questions, self.options).with_rows(n).statistic(**privacy)
            return self.alone(statistic).statistics[self.name]

    @property
    def groups(self) -> Any:
        """The groups as a release takes them: none, declared ones, or the names of columns."""
        return list(self.by) if self.selects else dict(self.by) or None

    def statistic(self, epsilon: float, delta: float, neighbours: CentralNeighbours) -> Statistic:
        """The statistic at its part of ε and δ."""
        privacy: dict[str, Any] = {"epsilon": epsilon, "neighbours": neighbours}
        if delta:
            privacy["delta"] = delta
        with self.named():
            questions = [self.of] if isinstance(self.of, str) else self.of
            options = {name: value for name, value in self.options.items() if name != "within"}
            return Declaration(self.kind, questions, options).statistic(**privacy)

    def named(self) -> AbstractContextManager[None]:
        """Within the block, errors about parameters say of which statistic they are."""

        def named(error: Exception) -> BruitError:
            kind: type[BruitError] = type(error)  # type: ignore[assignment] # one of the two below
            return kind(f"Statistic {self.name!r}: {error}")

        return translated((ParameterError, ParameterTypeError), named)

    def alone(self, statistic: Statistic) -> Release:
        """The release of this statistic; where groups are not declared, beside a count that names them."""
        if not self.selects or self.names_groups:
            return Release({self.name: statistic}, self.groups, self.person)
        naming = Count(epsilon=1.0, delta=1e-6, neighbours=statistic.neighbours)
        return Release({"count of groups": naming, self.name: statistic}, self.groups, self.person)

    def error(self, epsilon: float, delta: float, neighbours: CentralNeighbours, n: int) -> float:
        """The largest expected error of its values; infinite where the noise is beyond all limits."""
        try:
            statistic = self.alone(self.statistic(epsilon, delta, neighbours)).drawn[self.name]
        except LimitError:
            return math.inf
        return float(np.max(statistic.expected_error(n)))


@dataclass(frozen=True)
class Publication:
    """Statistics of one table that are published together, once.

    `Publication.load` reads one from a TOML file; see the page *Publish*.

    Parameters
    ----------
    title
        What readers see, and what stands before each line in the ledger.
    table
        The file of the table, as it is written.
    requests
        The statistics.
    epsilon, delta
        What the statistics of the file share: the most that they tell about a record, or a person, if all are drawn
        now. Statistics kept from an earlier file cost what was paid for them, so that a page may promise more; its
        guarantee and the ledger say it. With a `rho`, ε is None, and δ is the chance allowed to undeclared groups.
        Where every statistic has a width, ε may be None: it is then what the widths need.
    ledger
        The file of the ledger, in which the publication is booked once.
    neighbours
        ``"add-remove"`` (default) or ``"replace"``.
    budget
        The budget with which the ledger is started where there is none.
    output
        The folder that is written for readers.
    edition
        A text that makes another publication of the same statistics of the same table, which is paid for again.
    expected_rows
        How many rows are expected, for the errors of means before anything is read.
    csv
        How text is written: ``delimiter``, ``encoding``, ``missing``, ``quote``.
    page
        Whether a page with figures is written, which needs the extra ``figures``.
    folder
        The folder that paths are relative to.
    rho
        ρ-zCDP for all results, in place of ε: each statistic has a share of it, for Gaussian noise or for the ε that
        costs this share. The ledger must be kept in ρ.
    at
        The δ at which ρ is stated as ε.

    Guarantee
    ---------
    (ε, δ) for all results together: the parts add up to no more, in the decimals that a ledger adds. With a `rho`, it
    is the ε of ρ at δ = `at`, and δ more for undeclared groups, by ``rho.proof.md`` of the ledger. What is
    drawn again after a kill was never shown, and is booked once; see ``publishing.proof.md``.
    """

    title: str
    table: str
    requests: Sequence[Request]
    epsilon: float | None
    ledger: Path
    delta: float = 0.0
    neighbours: CentralNeighbours = "add-remove"
    budget: Mapping[str, Any] | None = None
    output: Path = Path("publication")
    edition: str = ""
    expected_rows: int | None = None
    csv: Mapping[str, Any] = field(default_factory=dict)
    page: bool = True
    folder: Path = Path()
    rho: float | None = None
    at: float = USUAL_AT

    def __post_init__(self) -> None:
        if self.rho is None and self.epsilon is None and all(request.has_width for request in self.requests):
            object.__setattr__(self, "epsilon", up(_sum(decimal(own) for own, _ in self._widths.values())))
        if self.rho is None:
            object.__setattr__(self, "epsilon", _checks.spent_epsilon(epsilon=self.epsilon))
        elif self.epsilon is not None:
            raise ParameterError("A publication splits an ε, or a ρ: leave epsilon or rho out.")
        else:
            object.__setattr__(self, "rho", _checks.spent_rho(rho=self.rho))
            object.__setattr__(self, "at", _checks.probability(at=self.at))
        object.__setattr__(self, "delta", _checks.fraction(delta=self.delta))
        _checks.one_of(("add-remove", "replace"), neighbours=self.neighbours)
        for request in self.requests:
            if not self.delta and (request.names_groups or (request.noise == "gaussian" and self.rho is None)):
                what = "undeclared groups need" if request.names_groups else 'noise = "gaussian" needs'
                raise ParameterError(
                    f"Statistic {request.name!r}: {what} a δ for the whole publication: delta = 1e-6, far below "
                    "one over the number of people."
                )
        users = [item for item in self.requests if (item.names_groups if self.rho is not None else item.takes_delta)]
        if self.delta and not users:
            raise ParameterError("No statistic of this publication uses delta: leave it out.")
        with _checks.any_epsilon():  # the total is checked above; a part of a ρ may have a larger ε at its δ
            _ = self.release
        _checks.warn_of_weak(self.guarantee.epsilon)

    if not TYPE_CHECKING:  # a checker is to see what is missing
        open = Signpost("load(path)")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Publication:
        """The publication that a TOML file describes."""
        from bruit.publications.reading import read

        return read(Path(path))

    @cached_property
    def shares(self) -> dict[str, tuple[float, float]]:
        """The ε and δ of each statistic; their sums are at most those of the publication, or the sum of their ρ is."""
        widths, others = self._widths, [request for request in self.requests if not request.has_width]
        if self.epsilon is None:
            own = {item.name: self._in_rho(item, self.rho_shares[item.name]) for item in others}
            return {item.name: {**own, **widths}[item.name] for item in self.requests}
        epsilons = _divided(self._left(self.epsilon), {request.name: request.share for request in others})
        deltas: dict[str, float] = {}
        if self.delta:
            left = down(decimal(self.delta) - _sum(decimal(delta) for _, delta in widths.values()))
            deltas = _divided(left, {item.name: item.share for item in others if item.takes_delta})
            users = [item for item in others if item.name in deltas and self._gains(item, epsilons, deltas)]
            deltas = _divided(left, {item.name: item.share for item in users})
        own = {name: (epsilon, deltas.get(name, 0.0)) for name, epsilon in epsilons.items()}
        return {item.name: {**own, **widths}[item.name] for item in self.requests}

    @cached_property
    def _widths(self) -> dict[str, tuple[float, float]]:
        """The least ε of each statistic with a width, and its δ, with the noise that costs less."""
        requests = {item.name: item for item in self.requests if item.has_width}
        if self.rho is not None:
            return {name: min(self._noises(item, self.at), key=self._cost(item)) for name, item in requests.items()}
        users = [item for item in self.requests if item.takes_delta] if self.delta else []
        deltas = _divided(self.delta, {item.name: item.share for item in users})
        least = {name: min(self._noises(item, deltas.get(name, 0.0))) for name, item in requests.items()}
        gaussian = {name: Fraction(epsilon) for name, (epsilon, delta) in least.items() if delta}
        # The sum of ε is least where the parts of δ are in proportion to them.
        parts = _divided(down(_sum(decimal(deltas[name]) for name in gaussian)), gaussian)
        return least | {name: (self._least(requests[name], part), part) for name, part in parts.items()}

    def _noises(self, request: Request, delta: float) -> list[tuple[float, float]]:
        """The ε and δ at which a statistic has its width, with each noise that it may have."""
        deltas = [] if request.noise == "gaussian" and request.takes_delta else [0.0]
        deltas += [delta] if delta and request.takes_delta else []
        return [(self._least(request, part), part) for part in deltas]

    def _least(self, request: Request, delta: float) -> float:
        """The least ε at which a statistic has its width, with this δ."""
        return request.least(delta, self.neighbours, self._rows(request) if self.expected_rows else None).epsilon

    def _cost(self, request: Request) -> Callable[[tuple[float, float]], float]:
        """The ρ of a statistic at an ε and δ."""

        def cost(pair: tuple[float, float]) -> float:
            epsilon, delta = pair
            if delta:
                return epsilon_to_rho(epsilon, delta)
            line = request.alone(request.statistic(epsilon, 0.0, self.neighbours)).lines()[-1]
            return pure_rho(epsilon) if line.rho is None else min(line.rho, pure_rho(epsilon))

        return cost

    def _left(self, total: float) -> float:
        """What the widths leave of ε; where that is too little, an error says what could be had."""
        left = decimal(total) - _sum(decimal(epsilon) for epsilon, _ in self._widths.values())
        items = [item for item in self.requests if item.has_width]
        if left < 0 or (not left and len(items) < len(self.requests)):
            n = {item.name: self._rows(item) if self.expected_rows else None for item in items}
            settled = (item.least(self._widths[item.name][1], self.neighbours, n[item.name]) for item in items)
            release = Release.union(item.alone(own) for item, own in zip(items, settled, strict=True))
            raise ParameterError(out_of_reach(release, total))
        return down(left)

    def _gains(self, request: Request, epsilons: Mapping[str, float], deltas: Mapping[str, float]) -> bool:
        """Whether a statistic is published with a δ: because it must, or with less noise."""
        if request.names_groups or request.noise == "gaussian":
            return True
        epsilon, n = epsilons[request.name], self._rows(request)
        gaussian, laplace = (request.error(epsilon, delta, self.neighbours, n) for delta in (deltas[request.name], 0.0))
        return gaussian < laplace

    @cached_property
    def rho_shares(self) -> dict[str, float]:
        """The ρ that each statistic may cost; empty for a publication that splits an ε."""
        if self.rho is None:
            return {}
        costs = {item.name: self._cost(item)(self._widths[item.name]) for item in self.requests if item.has_width}
        others = {item.name: item.share for item in self.requests if not item.has_width}
        needed = _sum(map(decimal, costs.values()))
        left = decimal(self.rho) - needed
        if left < 0 or (others and not left):
            raise ParameterError(f"These widths need ρ = {up(needed):.4g}, and there is {self.rho:g}: widen them.")
        return costs | _divided(down(left), others)

    def _in_rho(self, request: Request, share: float) -> tuple[float, float]:
        """The ε and δ at which a statistic costs its part of ρ, with the noise that has less error."""
        if request.names_groups:
            deltas = _divided(self.delta, {item.name: item.share for item in self.requests if item.names_groups})
            return _largest_epsilon(math.sqrt(2 * share), share, pure_rho), deltas[request.name]
        options: list[tuple[float, float]] = []
        if not request.has_delta or request.noise != "gaussian":
            options.append((self._pure_epsilon(request, share), 0.0))
        if request.takes_delta:
            guess = rho_to_epsilon(share, self.at)
            options.append((_largest_epsilon(guess, share, lambda epsilon: epsilon_to_rho(epsilon, self.at)), self.at))
        if len(options) == 1:
            return options[0]
        return min(options, key=lambda pair: request.error(pair[0], pair[1], self.neighbours, self._rows(request)))

    def _pure_epsilon(self, request: Request, share: float) -> float:
        """The ε of a statistic without δ: ρ grows with its square, by a factor that the statistic proves."""

        def cost(epsilon: float) -> float:
            return self._cost(request)((epsilon, 0.0))

        first = math.sqrt(2 * share)
        return _largest_epsilon(first * math.sqrt(share / cost(first)), share, cost)

    @cached_property
    def release(self) -> Release:
        """All statistics: those of the same groups and person are counted together."""
        return self.release_of(self.requests)

    def release_of(self, requests: Iterable[Request]) -> Release:
        """Some of the statistics, each with its share of what there is for all."""
        alike: dict[str, list[Request]] = {}
        for request in requests:
            group = likeness(request)
            if request.names_groups and any(other.names_groups for other in alike.get(group, [])):
                group = f"{group} {request.name}"  # the same groups, named a second time
            alike.setdefault(group, []).append(request)
        return Release.union(self._together(items) for items in alike.values())

    def declared(self, request: Request) -> str:
        """32 hexadecimal digits of what the file declares of a statistic: not its name, nor how exact it is to be.

        A statistic that keeps them is paid for once, whatever else changes in the file; where its share, its width or
        the total is raised, it is refined.
        """
        statistic = request.statistic(1.0, 0.0, self.neighbours).to_dict()
        body = {name: value for name, value in statistic.items() if name not in ("epsilon", "delta")}
        others = {name: value for name, value in request.options.items() if name not in (*POLICIES, "within")}
        options = {name: str(value) for name, value in others.items()}
        privacy = {"noise": request.noise, "in": "epsilon" if self.rho is None else "rho"}
        return documents.digest(
            {**self._source, "edition": self.edition, "statistic": body, "options": options, **privacy}
            | {"groups": likeness(request)}
        )

    def costing(self, request: Request, rho: float) -> tuple[float, float]:
        """The ε and δ at which one more draw of a statistic costs this ρ."""
        with _checks.any_epsilon():
            return self._in_rho(request, rho)

    @property
    def total(self) -> float | None:
        """The ε of all statistics, or the ρ where that is split."""
        return self.epsilon if self.rho is None else self.rho

    def _together(self, requests: Sequence[Request]) -> Release:
        """The release of statistics of the same groups and person."""
        statistics = {item.name: item.statistic(*self.shares[item.name], self.neighbours) for item in requests}
        first = requests[0]
        if first.selects and not any(item.names_groups for item in requests):
            column = next(iter(first.by))
            raise ParameterError(
                f"Statistic {first.name!r}: undeclared groups are named by a count of the same groups and "
                f'person: add one, with kind = "count" and by = ["{column}=?"]. Or declare the groups, as in '
                f'by = ["{column}=a,b"].'
            )
        with first.named():
            return Release(statistics, first.groups, first.person)

    @property
    def guarantee(self) -> Guarantee:
        """What all results together promise."""
        if self.rho is None:
            return self.release.guarantee
        delta = up(decimal(self.at) + decimal(self.delta))
        epsilon = rho_to_epsilon(self._promised_rho, self.at)
        return replace(self.release.guarantee, epsilon=epsilon, delta=min(delta, 1.0))

    @property
    def _promised_rho(self) -> float:
        """The ρ of all results: all that there is, or what widths need where there is nothing else."""
        if all(request.has_width for request in self.requests):
            return up(_sum(map(decimal, self.rho_shares.values())))
        return self.rho or 0.0

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits of what is published: the compiled statistics, the table and the edition.

        Neither comments, nor the order of statistics, nor the title change it.
        """
        return documents.digest({**self.to_dict(), **self._source})

    @cached_property
    def _source(self) -> dict[str, Any]:
        """The table by its place as seen from the ledger, and how its text is read where that is not the usual way.

        A name that is no file stands for itself. The place is part of digests only: readers are shown the name.
        """
        path = str(self.folder / self.table)
        place = place_of(path, self.folder / self.ledger) if os.path.exists(path) else self.table  # noqa: PTH110 # any text
        text, usual = (
            {**asdict(options), "missing": sorted(set(options.missing))}
            for options in (TextOptions(**self.csv), TextOptions())
        )
        return {"table": place} | ({} if text == usual else {"csv": text})

    def to_dict(self) -> dict[str, Any]:
        """Plain values: what identifies the publication."""
        in_rho = {} if self.rho is None else {"rho": self.rho, "at": self.at}
        statistics: dict[str, Any] = {}
        for part in self.release.parts:
            common = {key: value for key, value in part.to_dict().items() if key != "statistics"}
            statistics |= {name: {**item.to_dict(), **common} for name, item in part.statistics.items()}
        return {"table": self.table, "edition": self.edition, "statistics": statistics, **in_rho}

    def prospects(self) -> Table:
        """The split and the expected errors, from declared parameters only."""
        rows = [self._prospect(request) for request in self.requests]
        title = f"What {self.title!r} would publish, and how exactly"
        table = prospect_table(rows, self.guarantee, self.expected_rows, title=title)
        return replace(table, notes=self._remarks(), about={"publication": self.digest, **table.about})

    def _prospect(self, request: Request) -> Prospect:
        part = next(item for item in self.release.parts if request.name in item.statistics)
        rows = self._rows(request) if self.expected_rows else None
        prospect = part.grouping.prospect(request.name, part, rows)
        within = str(request.options.get("within", ""))
        return prospect._replace(statistic=request.name, rho=self.rho_shares.get(request.name), within=within)

    def _rows(self, request: Request) -> int:
        """How many rows a value is made of, if groups are of the same size; it decides which noise has less error."""
        groups = 1 if request.selects else math.prod(domain.size for domain in request.by.values() if domain)
        return max(1, (self.expected_rows or _USUAL_ROWS) // groups)

    def _remarks(self) -> list[str]:
        in_rho = "" if self.rho is None else f"ρ = {self._promised_rho!r}, which stands for "
        notes = [f"guarantee of all together: {in_rho}{self.guarantee}", "± is one standard deviation of the noise"]
        if any(request.kind in ("mean", "variance") for request in self.requests):
            grouped = any(item.by for item in self.requests)
            equal = ", in groups of the same size" * grouped if self.expected_rows else " in each group" * grouped
            notes.append(sizes_note(self.expected_rows, equal, "row"))
        persons = {item.person.describe() for item in self.requests if item.person}
        return [*notes, *sorted(persons)]

    def open_ledger(self, *, start: bool = True) -> Ledger | None:
        """The ledger; started with the budget where there is none, unless that is not wanted."""
        path = self.folder / self.ledger
        if not path.exists():
            if self.budget is None:
                amount = f"epsilon = {self.epsilon!r}" if self.rho is None else f"rho = {self.rho!r}"
                raise ParameterError(
                    f"There is no ledger {self.ledger}: say with which budget it starts, as in "
                    f"budget = {{ {amount}, delta = {self.delta!r} }}."
                )
            if self.rho is not None and not self.budget.get("zcdp") and self.budget.get("rho") is None:
                raise ParameterError(_NOT_IN_RHO)
            if not start:
                return None
        neighbours: Any = self.guarantee.neighbours
        if self.budget is None or path.exists():
            ledger = Ledger.open(path, neighbours=neighbours)
            if self.rho is not None and ledger.rho is None:
                raise LedgerError(_NOT_IN_RHO)
            return ledger
        return Ledger.open(path, neighbours=neighbours, **self.budget)

    def planned_ledger(self) -> Ledger:
        """A ledger in memory as the one that would be started."""
        return Ledger(neighbours=self.guarantee.neighbours, **(self.budget or {}))

    def unused_budget(self) -> str:
        """That the ledger exists with another budget than the file says; nothing if they agree."""
        ledger = self.open_ledger(start=False)
        if ledger is None or self.budget is None:
            return ""
        kept, declared = (str(item.promise).partition(" (")[0] for item in (ledger, self.planned_ledger()))
        if kept == declared:
            return ""
        return f"{self.ledger} exists with a budget of {kept}; budget in this file ({declared}) is not used."

    def budget_remarks(self, lines: Sequence[Line] | None = None, *, done: bool = False) -> list[str]:
        """What is left of the budget; before the publication, what these lines, or all, would leave."""
        ledger = self.open_ledger(start=False)
        if ledger is None:
            ledger = self.planned_ledger()
        return [repr(ledger)[1:-1] if done else ledger.foresee(self.release.lines() if lines is None else list(lines))]

    def in_folder(self, folder: str | os.PathLike[str]) -> Publication:
        """The same publication, with paths relative to another folder."""
        return replace(self, folder=Path(folder))


def likeness(request: Request) -> str:
    """A text that is the same for requests of the same groups and person."""
    if request.selects:
        by: list[Any] = list(request.by)
    else:
        by = [attribute.to_dict() for attribute in Schema(dict(request.by)).values()] if request.by else []
    return documents.canonical({"by": by, "person": request.person and request.person.to_dict()})


def _divided(total: float, weights: Mapping[str, Fraction]) -> dict[str, float]:
    """Parts in proportion to weights, rounded down in decimals, so that a ledger adds them to no more than the total.

    >>> parts = _divided(1.0, {"a": Fraction(1), "b": Fraction(2)})
    >>> parts["a"], sum(map(decimal, parts.values())) <= 1
    (0.3333333333333333, True)
    """
    whole = _sum(weights.values()) or Fraction(1)
    return {name: down(decimal(total) * weight / whole) for name, weight in weights.items()}


def _largest_epsilon(guess: float, share: float, cost: Callable[[float], float]) -> float:
    """An ε near a guess that costs no more than a share of ρ, in nine digits: few enough to be the same everywhere."""
    if not guess > 0:
        raise ParameterError("at must be smaller, as in at = 1e-6: at so large a δ, ρ says nothing of ε.")
    unit = Fraction(10) ** (math.floor(math.log10(guess)) - 8)
    units = Fraction(guess) // unit
    while decimal(cost(down(units * unit))) > decimal(share):
        units -= 1
    return down(units * unit)


def _sum(numbers: Iterable[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0))
