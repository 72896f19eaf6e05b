"""What a publication costs now: what is paid for is kept or refined, and the other statistics are new.

Each statistic is known by a digest of what its file declares of it: table, column, domain, policies, groups, person,
neighbours and noise. Names, titles, shares, widths and the resulting ε are no part of it. So a changed file pays only
for statistics that changed. One is refined, for the difference, if its author raised its weight or share, changed its
width, or raised the total of the file, and if its share is then above what was paid: `refinements`. A share that moves
because others came or went changes nothing for what is paid. See ``publishing.proof.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bruit import _checks, documents
from bruit.errors import FormatError, LedgerError, ParameterError
from bruit.privacy import Ledger
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.privacy.zcdp import rho_to_epsilon
from bruit.publications.publication import Publication, Request, likeness
from bruit.publications.published import Origin, Published
from bruit.releases.refining import Refinement, why_not
from bruit.releases.release import Release
from bruit.releases.result import Result
from bruit.releases.sources import SourceRecords
from bruit.rounding import decimal, down, up
from bruit.tables import Column, Table, digits

__all__ = ["Bill", "bill_of"]

#: The files of publications beside their ledger.
FILES = "publication-*.json"
#: Less than this share of what was paid is not worth a second draw.
_LEAST = Fraction(1, 10**6)
#: The document in the folder for readers.
DOCUMENT = "results.json"


@dataclass(frozen=True)
class Bill:
    """Which statistics of a publication are kept or refined, and which are new.

    Parameters
    ----------
    plan
        The publication.
    kept
        The results that are paid for, by the name that the statistic has now, with where they come from.
    refined
        Of these, the ones that a second draw refines.
    reasons
        Why others, which should be more exact now, cannot be refined.
    drawn
        How many earlier draws there are of each new statistic; 0 unless one is drawn again.
    shown
        The digest of an earlier publication of exactly these statistics; nothing if there is none.
    """

    plan: Publication
    kept: Mapping[str, tuple[Result, Origin]] = field(default_factory=dict)
    refined: Mapping[str, Refinement] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    drawn: Mapping[str, int] = field(default_factory=dict)
    shown: str = ""

    @property
    def new(self) -> list[Request]:
        """The statistics that are drawn for the first time, or again in full."""
        return [request for request in self.plan.requests if request.name not in self.kept]

    @cached_property
    def release(self) -> Release | None:
        """The release of new statistics, each with its share, and of second draws; None if all are kept."""
        releases = [self.plan.release_of(self.new)] if self.new else []
        with _checks.any_epsilon():  # a part of a ρ may have a larger ε at its δ
            releases += [refinement.release() for refinement in self.refined.values()]
        return Release.union(releases) if releases else None

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits of what is published: the statistics, and which of them are kept from when."""
        if self.shown:
            return self.shown
        again = {name: count for name, count in self.drawn.items() if count}
        if not self.kept and not again:
            return self.plan.digest
        kept = {name: [origin.declared, origin.publication] for name, (_, origin) in self.kept.items()}
        refined = {name: [item.epsilon, item.delta] for name, item in self.refined.items()}
        body = {"publication": self.plan.digest, "kept": kept, "again": again}
        return documents.digest({**body, **({"refined": refined} if refined else {})})

    @property
    def file(self) -> str:
        """The name of the file in which the publication is saved, beside its ledger."""
        return file_of(self.digest)

    @property
    def lines(self) -> list[Line]:
        """A line for each statistic that is new or refined, in an order that follows from the digest."""
        if self.shown or self.release is None:
            return []
        lines = self.plan.release_of(self.new).lines() if self.new else []
        for refinement in self.refined.values():
            (line,) = refinement.release().lines()
            lines.append(line._replace(label=f"{line.label[:150]}, refined"))
        ordered = sorted(lines, key=lambda line: line.label)
        return [line._replace(label=f"{self.plan.title}: {line.label}"[:200]) for line in ordered]

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
            shares += [line.rho or 0.0 for item in self.refined.values() for line in item.release().lines()]
            total = up(sum(decimal(rho) for rho in [*rhos, *shares] if rho is not None))  # type: ignore[arg-type]
            epsilon = rho_to_epsilon(total, self.plan.at)
            delta = up(sum(map(decimal, self._failures), decimal(self.plan.at)))
        return Guarantee(epsilon=epsilon, delta=min(delta, 1.0), neighbours=promises[0].neighbours)

    @property
    def _failures(self) -> list[float]:
        """The δ of each count that names undeclared groups: what was paid for a kept one, and else its share."""
        naming = [request.name for request in self.plan.requests if request.names_groups]
        paid = {name: result.guarantee.delta for name, (result, _) in self.kept.items()}
        return [paid.get(name, self.plan.shares[name][1]) for name in naming]

    def origins(self, date: str) -> dict[str, Origin]:
        """Where each result comes from: an earlier publication, or this one, which was booked at this time."""
        kept, rhos = {name: origin for name, (_, origin) in self.kept.items()}, self.plan.rho_shares
        own = {
            request.name: Origin(
                self.plan.declared(request),
                self.digest,
                date,
                rhos.get(request.name),
                str(request.share),
                _width(request),
                self.plan.total,
                request.name,
            )
            for request in self.plan.requests
            if request.name not in self.kept or request.name in self.refined
        }
        return {request.name: {**kept, **own}[request.name] for request in self.plan.requests}

    def prospects(self) -> Table:
        """What would be published: kept statistics with what was paid, and others with their share and errors."""
        table, status = self.plan.prospects(), self.status()
        if not self.kept:
            return replace(table, notes=[*table.notes, *self.remarks()])
        cost = "this costs nothing" if self.release is None else f"this costs {self.release.guarantee}"
        notes = [f"guarantee of all on the page: {self.guarantee}", cost, *table.notes[1:]]
        if any(not item.depends and not item.delta for item in self.refined.values()):
            notes.append("errors of refined statistics are those of one draw; of two Laplace draws they are larger")
        notes += self.remarks()
        last = Column("status", list(status.values()), kind="text", write=str)
        return replace(table, columns=[*map(self._column, table.columns), last], notes=notes)

    def _column(self, column: Column) -> Column:
        """A column of the prospects, with what was paid for statistics that are kept, and the error they have."""
        kept = {name: result for name, (result, _) in self.kept.items() if name not in self.refined}
        if column.name == "error":
            paid: dict[str, Any] = {name: _error(result) for name, result in kept.items()}
        elif column.name in ("epsilon", "delta"):
            paid = {name: getattr(result.guarantee, column.name) for name, result in kept.items()}
        else:
            return column
        names = [request.name for request in self.plan.requests]
        values = [paid.get(name, value) for name, value in zip(names, column.values, strict=True)]
        return replace(column, values=values)

    def remarks(self) -> list[str]:
        """Which statistics stay as they are though the file asks for more, and why."""
        return [f"{name} stays as it is: {reason}; --again NAME draws another" for name, reason in self.reasons.items()]

    def status(self) -> dict[str, str]:
        """What becomes of each statistic, in words."""
        kept = {name: f"kept from {origin.date[:10]}" for name, (_, origin) in self.kept.items()}
        kept |= {name: f"refined, for ε = {item.epsilon:.4g} more" for name, item in self.refined.items()}
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
    known = [] if ledger is None else _published(plan, ledger)
    earlier = [published for published in known if ledger is not None and _is_booked(ledger, published)]
    bill = _bill(plan, ledger, earlier, again)
    _check_booked(bill, [published for published in known if published not in earlier])
    return bill


def _bill(plan: Publication, ledger: Ledger | None, earlier: Sequence[Published], again: Collection[str]) -> Bill:
    """What a publication costs with these earlier ones, which its ledger has booked."""
    names = tuple(request.name for request in plan.requests)
    declared = {request.name: plan.declared(request) for request in plan.requests}
    paid = [
        (name, published.results[name], origin) for published in earlier for name, origin in published.origins.items()
    ]
    kept = _matched(declared, paid, again)
    for unit in _units(plan.requests):
        others = {name: pair for name, pair in kept.items() if name not in unit}
        kept = others | _together({name: declared[name] for name in unit}, paid, again)
    origins = {name: origin for name, (_, origin) in kept.items()}
    refined, reasons = ({}, {}) if ledger is None else refinements(plan, ledger, kept)
    for published in reversed(earlier):
        if published.origins == origins and len(kept) == len(names) and not refined:
            return replace(_shown(plan, published), reasons=reasons)
    kept = {name: pair for name, pair in kept.items() if not pair[0].simulated}
    reasons = {name: reason for name, reason in reasons.items() if name in kept}
    drawn = {
        name: len({origin.publication for _, _, origin in paid if origin.declared == declared[name]})
        for name in names
        if name not in kept
    }
    return Bill(plan, kept, refined, reasons, drawn)


def refinements(
    plan: Publication, ledger: Ledger, kept: Mapping[str, tuple[Result, Origin]]
) -> tuple[dict[str, Refinement], dict[str, str]]:
    """The second draws that a file asks for, and why others cannot be made.

    A statistic is refined if what its file says of its accuracy was raised since it was drawn, `_is_raised`, and its
    share is now above what was paid for it. The second draw costs the difference. Noise stays of its kind: without a δ
    for the first draw there is none for the second, and with one it is what the share of δ grew by. In a ledger in ρ,
    which books each draw by itself, the second draw is independent of the first, also where the file splits an ε.
    """
    gradual = plan.rho is None and ledger.rho is None
    refined: dict[str, Refinement] = {}
    reasons: dict[str, str] = {}
    for request in plan.requests:
        result, origin = kept.get(request.name, (None, None))
        if result is None or origin is None or not _is_raised(plan, request, origin):
            continue
        amount = _difference(plan, request, result, origin)
        if amount is None:
            continue
        reason = why_not(result)
        if not reason and file_of(origin.publication) not in SourceRecords.of(ledger).draws:
            reason = "it is not known of which bytes it was drawn"
        if not reason:
            try:
                with _checks.any_epsilon():
                    refined[request.name] = Refinement(result, *amount, gradual=gradual, title=request.name)
            except ParameterError:
                reason = "its second draw would have other sums"
        if reason:
            reasons[request.name] = reason
    return refined, reasons


def _is_raised(plan: Publication, request: Request, origin: Origin) -> bool:
    """Whether a file raised the weight or share of a statistic, changed its width, or raised the total of all."""
    if request.has_width or origin.within:
        return _width(request) != origin.within
    share = bool(origin.share) and request.share > Fraction(origin.share)
    return share or (origin.total is not None and plan.total is not None and plan.total > origin.total)


def _difference(plan: Publication, request: Request, result: Result, origin: Origin) -> tuple[float, float] | None:
    """The ε and δ by which the share of a statistic is above what was paid; None if by next to nothing, or not."""
    if plan.rho is not None:
        more = decimal(plan.rho_shares[request.name]) - decimal(origin.rho or 0.0)
        least = decimal(plan.rho_shares[request.name]) * _LEAST
        return plan.costing(request, down(more)) if origin.rho is not None and more > least else None
    epsilon, delta = plan.shares[request.name]
    more = decimal(epsilon) - decimal(result.guarantee.epsilon)
    if more <= decimal(epsilon) * _LEAST:
        return None
    growth = (
        max(decimal(delta) - decimal(result.guarantee.delta), Fraction(0)) if result.guarantee.delta else Fraction(0)
    )
    return down(more), down(growth)


def _width(request: Request) -> str:
    return str(request.options.get("within", ""))


def _shown(plan: Publication, published: Published) -> Bill:
    """The bill of a publication that is out already."""
    if published.digest == plan.digest:
        return Bill(plan)
    kept = {name: (published.results[name], origin) for name, origin in published.origins.items()}
    return Bill(plan, kept, shown=published.digest)


def _matched(
    declared: Mapping[str, str], paid: Sequence[tuple[str, Result, Origin]], again: Collection[str]
) -> dict[str, tuple[Result, Origin]]:
    """The newest result of each statistic; one draw is never shown as two statistics."""
    kept: dict[str, tuple[Result, Origin]] = {}
    taken: set[tuple[str, str]] = set()
    for same_name in (True, False):  # a statistic that was only renamed comes second
        for name, own in declared.items():
            if name in kept or name in again:
                continue
            for known, result, origin in reversed(paid):
                fits = origin.declared == own and (known == name) == same_name and origin.draw not in taken
                if fits and (same_name or known not in declared):
                    kept[name] = (result, origin)
                    taken.add(origin.draw)
                    break
    return kept


def _together(
    declared: Mapping[str, str], paid: Sequence[tuple[str, Result, Origin]], again: Collection[str]
) -> dict[str, tuple[Result, Origin]]:
    """The newest results of statistics of the same undeclared groups, all of one publication; none if there is none."""
    publications = dict.fromkeys(origin.publication for _, _, origin in reversed(paid))
    for publication in publications:
        kept = _matched(declared, [item for item in paid if item[2].publication == publication], again)
        if len(kept) == len(declared):
            return kept
    return {}


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
    return sorted(known.values(), key=lambda published: (places.get(file_of(published.digest), -1), published.digest))


def file_of(digest: str) -> str:
    return f"publication-{digest}.json"


def _read(path: Path) -> Published | None:
    try:
        return Published.load(path)
    except (OSError, FormatError):
        return None


def _is_booked(ledger: Ledger, published: Published) -> bool:
    """Whether a ledger has a line for each result of a publication, under the name of the one that drew it.

    Each publication that drew something has one more line, which closes it.
    """
    lines = Counter(entry.result for entry in ledger.entries)
    drawn = Counter(publication for publication, _ in {origin.draw for origin in published.origins.values()})
    return all(lines[file_of(digest)] > count for digest, count in drawn.items())


def _check_booked(bill: Bill, lost: Sequence[Published]) -> None:
    """Every publication beside a ledger must be in it: one that was put back to an older copy has lost what was paid.

    One that is published once more, as it was, is booked again.
    """
    digests = [published.digest for published in lost]
    if digests and bill.digest not in digests:
        raise LedgerError(
            f"{file_of(digests[0])} is beside the ledger, and what it shows is not in it: the ledger was put back to "
            "an older copy, or is another one. Restore the ledger, or publish the file of that time once more, which "
            "books it again."
        )
