"""What a publication costs now: the statistics that are paid for already are kept, and the others are new.

Each statistic is known by a digest of what its file declares of it: table, column, domain, policies, groups, person,
neighbours, noise, and its share or width. Names, titles and the resulting ε are no part of it. So a changed file pays
only for statistics that changed: a share that moves because others came or went changes nothing for what is paid.
See ``publishing.proof.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bruit import _checks, documents
from bruit.errors import FormatError, LedgerError
from bruit.privacy import Ledger
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.privacy.zcdp import rho_to_epsilon
from bruit.publications.publication import Publication, Request, likeness
from bruit.publications.published import Origin, Published
from bruit.releases.release import Release
from bruit.releases.result import Result
from bruit.rounding import decimal, up
from bruit.tables import Column, Table, digits

__all__ = ["Bill", "bill_of"]

#: The files of publications beside their ledger.
FILES = "publication-*.json"
#: The document in the folder for readers.
DOCUMENT = "results.json"


@dataclass(frozen=True)
class Bill:
    """Which statistics of a publication are kept, and which are drawn and paid for.

    Parameters
    ----------
    plan
        The publication.
    kept
        The results that are paid for, by the name that the statistic has now, with where they come from.
    drawn
        How many earlier draws there are of each new statistic; 0 unless one is drawn again.
    shown
        The digest of an earlier publication of exactly these statistics; nothing if there is none.
    """

    plan: Publication
    kept: Mapping[str, tuple[Result, Origin]] = field(default_factory=dict)
    drawn: Mapping[str, int] = field(default_factory=dict)
    shown: str = ""

    @property
    def new(self) -> list[Request]:
        """The statistics that are drawn."""
        return [request for request in self.plan.requests if request.name not in self.kept]

    @cached_property
    def release(self) -> Release | None:
        """The release of the new statistics, each with its share of the file's total; None if all are kept."""
        return self.plan.release_of(self.new) if self.new else None

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits of what is published: the statistics, and which of them are kept from when."""
        if self.shown:
            return self.shown
        again = {name: count for name, count in self.drawn.items() if count}
        if not self.kept and not again:
            return self.plan.digest
        kept = {name: [origin.declared, origin.publication] for name, (_, origin) in self.kept.items()}
        return documents.digest({"publication": self.plan.digest, "kept": kept, "again": again})

    @property
    def file(self) -> str:
        """The name of the file in which the publication is saved, beside its ledger."""
        return _file(self.digest)

    @property
    def lines(self) -> list[Line]:
        """A line for each new statistic, in an order that follows from the digest."""
        if self.shown or self.release is None:
            return []
        lines = sorted(self.release.lines(), key=lambda line: line.label)
        return [line._replace(label=f"{self.plan.title}: {line.label}"[:200]) for line in lines]

    @cached_property
    def guarantee(self) -> Guarantee:
        """What all results together promise, kept ones included."""
        if not self.kept:
            return self.plan.guarantee
        promises = [result.guarantee for result, _ in self.kept.values()]
        promises += [] if self.release is None else [self.release.guarantee]
        epsilon = up(sum(decimal(promise.epsilon) for promise in promises))  # type: ignore[arg-type]
        delta = up(sum(decimal(promise.delta) for promise in promises))  # type: ignore[arg-type]
        rhos = [origin.rho for _, origin in self.kept.values()]
        if self.plan.rho is not None and all(rho is not None for rho in rhos):
            shares = [self.plan.rho_shares[request.name] for request in self.new]
            total = up(sum(decimal(rho) for rho in [*rhos, *shares] if rho is not None))  # type: ignore[arg-type]
            epsilon = rho_to_epsilon(total, self.plan.at)
            delta = up(decimal(self.plan.at) + decimal(self.plan.delta))
        return Guarantee(epsilon=epsilon, delta=min(delta, 1.0), neighbours=promises[0].neighbours)

    def origins(self, date: str) -> dict[str, Origin]:
        """Where each result comes from: an earlier publication, or this one, which was booked at this time."""
        kept, rhos = {name: origin for name, (_, origin) in self.kept.items()}, self.plan.rho_shares
        new = {
            request.name: Origin(self.plan.declared(request), self.digest, date, rhos.get(request.name))
            for request in self.new
        }
        return {request.name: {**kept, **new}[request.name] for request in self.plan.requests}

    def prospects(self) -> Table:
        """What would be published: kept statistics with what was paid, and new ones with their share and errors."""
        table, status = self.plan.prospects(), self.status()
        if not self.kept:
            return table
        cost = "this costs nothing" if self.release is None else f"this costs {self.release.guarantee}"
        notes = [f"guarantee of all on the page: {self.guarantee}", cost, *table.notes[1:]]
        last = Column("status", list(status.values()), kind="text", write=str)
        return replace(table, columns=[*map(self._column, table.columns), last], notes=notes)

    def _column(self, column: Column) -> Column:
        """A column of the prospects, with what was paid for statistics that are kept, and the error they have."""
        if column.name == "error":
            paid: dict[str, Any] = {name: _error(result) for name, (result, _) in self.kept.items()}
        elif column.name in ("epsilon", "delta"):
            paid = {name: getattr(result.guarantee, column.name) for name, (result, _) in self.kept.items()}
        else:
            return column
        names = [request.name for request in self.plan.requests]
        values = [paid.get(name, value) for name, value in zip(names, column.values, strict=True)]
        return replace(column, values=values)

    def status(self) -> dict[str, str]:
        """What becomes of each statistic, in words."""
        kept = {name: f"kept from {origin.date[:10]}" for name, (_, origin) in self.kept.items()}
        return {request.name: kept.get(request.name, "new") for request in self.plan.requests}


def _error(result: Result) -> str:
    """The error of a kept result, in words."""
    errors = result.standard_error[np.isfinite(result.standard_error)]
    if not errors.size:
        return "as published"
    low, high = (digits(3)(float(end)) for end in (errors.min(), errors.max()))
    return f"± {low}" if low == high else f"± {low} … {high}"


def bill_of(plan: Publication, ledger: Ledger | None, again: Collection[str] = ()) -> Bill:
    """What a publication costs with what its ledger has.

    Parameters
    ----------
    plan
        The publication.
    ledger
        Its ledger; None if there is none yet.
    again
        The names of statistics that are to be drawn and paid for again.
    """
    names = tuple(request.name for request in plan.requests)
    for name in again:
        _checks.one_of(names, **{"again": name})
    earlier = [] if ledger is None else _published(plan, ledger)
    declared = {request.name: plan.declared(request) for request in plan.requests}
    paid = [
        (name, published.results[name], origin) for published in earlier for name, origin in published.origins.items()
    ]
    kept = _matched(declared, paid, again)
    for unit in _units(plan.requests):
        if any(name not in kept for name in unit):
            kept = {name: pair for name, pair in kept.items() if name not in unit}
    origins = {name: origin for name, (_, origin) in kept.items()}
    for published in reversed(earlier):
        if published.origins == origins and len(kept) == len(names):
            return _shown(plan, ledger, published)
    _check_booked(ledger, earlier, origins.values())
    drawn = {
        name: len({origin.publication for _, _, origin in paid if origin.declared == declared[name]})
        for name in names
        if name not in kept
    }
    return Bill(plan, kept, drawn)


def _shown(plan: Publication, ledger: Ledger | None, published: Published) -> Bill:
    """The bill of a publication that is out already."""
    if published.digest == plan.digest:
        return Bill(plan)
    _check_booked(ledger, [published], published.origins.values())
    kept = {name: (published.results[name], origin) for name, origin in published.origins.items()}
    return Bill(plan, kept, shown=published.digest)


def _matched(
    declared: Mapping[str, str], paid: Sequence[tuple[str, Result, Origin]], again: Collection[str]
) -> dict[str, tuple[Result, Origin]]:
    """The newest result of each statistic; one draw is never shown as two statistics."""
    kept: dict[str, tuple[Result, Origin]] = {}
    taken: set[int] = set()
    for same_name in (True, False):  # a statistic that was only renamed comes second
        for name, own in declared.items():
            if name in kept or name in again:
                continue
            for known, result, origin in reversed(paid):
                fits = origin.declared == own and (known == name) == same_name and id(origin) not in taken
                if fits and (same_name or known not in declared):
                    kept[name] = (result, origin)
                    taken.add(id(origin))
                    break
    return kept


def _units(requests: Sequence[Request]) -> list[list[str]]:
    """Statistics of undeclared groups, which are drawn together with the count that names the groups."""
    units: dict[str, list[str]] = {}
    for request in requests:
        if request.selects:
            units.setdefault(likeness(request), []).append(request.name)
    return list(units.values())


def _published(plan: Publication, ledger: Ledger) -> list[Published]:
    """The earlier publications beside a ledger, oldest first; what is damaged or unfinished is none."""
    folder = ledger.results
    paths = [*folder.glob(FILES)] if folder is not None and folder.is_dir() else []
    known = {published.digest: published for path in paths if (published := _read(path)) is not None}
    copy = _read(plan.folder / plan.output / DOCUMENT)
    if copy is not None and _is_booked(ledger, copy):
        known.setdefault(copy.digest, copy)
    places = {entry.result: place for place, entry in enumerate(ledger.entries)}
    return sorted(known.values(), key=lambda published: (places.get(_file(published.digest), -1), published.digest))


def _file(digest: str) -> str:
    return f"publication-{digest}.json"


def _read(path: Path) -> Published | None:
    try:
        return Published.load(path)
    except (OSError, FormatError):
        return None


def _is_booked(ledger: Ledger, published: Published) -> bool:
    """Whether a ledger has a line for each statistic that was drawn with a publication, and the one that closes it."""
    name = _file(published.digest)
    drawn = sum(origin.publication == published.digest for origin in published.origins.values())
    return sum(entry.result == name for entry in ledger.entries) > drawn


def _check_booked(ledger: Ledger | None, earlier: Sequence[Published], origins: Iterable[Origin]) -> None:
    """A kept result must be in the ledger: one that was put back to an older copy has lost what was paid."""
    used = {origin.publication for origin in origins}
    for published in earlier:
        if ledger is not None and published.digest in used and not _is_booked(ledger, published):
            raise LedgerError(
                f"{_file(published.digest)} is beside the ledger, and not in it: the ledger was put back to "
                "an older copy. Restore the ledger, or publish the file of that time once more, which books it again."
            )
