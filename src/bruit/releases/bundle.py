"""Releases that differ in their groups, of one table: read in one pass, booked at once, then published.

A `Release` has one `by`, and `Groups` one column whose groups nobody declared. A publication has several of both. Their
tallies are made of the same batches; where people have several rows, each release chooses of a person the rows that
count for itself, by a key of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bruit import documents, engines
from bruit.engines.bounding import fold_people
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import ParameterError
from bruit.estimation.tally import RawTally
from bruit.privacy.booking import LedgerLike, booked
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.releases.person import Person
from bruit.releases.release import Release
from bruit.releases.result import Result, Results, named_by
from bruit.releases.selection import Groups, GroupTally
from bruit.rounding import decimal, up
from bruit.typing import SourceLike

__all__ = ["Bundle", "BundleTally"]


class BundleTally(NamedTuple):
    """What the releases of a bundle need of the data, without noise; it adds, and shows nothing."""

    counts: RawTally | None
    groups: tuple[GroupTally, ...]

    def __add__(self, other: Any) -> BundleTally:
        counts = None if self.counts is None else self.counts + other.counts
        return BundleTally(counts, tuple(ours + theirs for ours, theirs in zip(self.groups, other.groups, strict=True)))


class Bundle:
    """Several releases of one table.

    Parameters
    ----------
    releases
        Releases with declared groups, or without groups. All names of statistics differ.
    selections
        Counts of groups that nobody declared, by name.

    Guarantee
    ---------
    The sum of the guarantees of all (sequential composition).

    Examples
    --------
    >>> from bruit.releases import Count, Mean
    >>> table = {"zone": ["a"] * 60 + ["b"], "age": [40] * 61}
    >>> ages = Release({"mean age": Mean("age", bounds=(0, 100), epsilon=1.0)})
    >>> bundle = Bundle([ages], {"zones": Groups("zone", epsilon=1.0, delta=1e-6)})
    >>> results = bundle.publish(bundle.fold(table), rng=7)
    >>> list(results), results["zones"].labels
    (['mean age', 'zones'], ('a',))
    """

    #: What a seed is mixed with.
    verb = "bundle"

    def __init__(self, releases: Sequence[Release], selections: Mapping[str, Groups] | None = None) -> None:
        self.releases = tuple(releases)
        self.selections = dict(selections or {})
        names = [*itertools.chain(*(release.statistics for release in self.releases)), *self.selections]
        if not names:
            raise ParameterError("A publication must have at least one statistic.")
        if len(set(names)) < len(names):
            raise ParameterError("The statistics of a publication must have different names.")
        if len({(person.column, person.missing) if person else None for person in self._persons}) > 1:
            raise ParameterError("All statistics of a publication must be about the same person, or about rows.")
        if len({line.guarantee.neighbours for line in self.lines()}) > 1:
            raise ParameterError("All statistics of a publication must have the same neighbours.")

    @property
    def parts(self) -> tuple[Release | Groups, ...]:
        """All releases, those of groups that nobody declared last."""
        return (*self.releases, *self.selections.values())

    @property
    def _persons(self) -> list[Person | None]:
        return [part.person for part in self.parts]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys(itertools.chain(*(part.columns for part in self.parts))))

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify these releases, in any order."""
        return documents.digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents: what is published, by name."""
        body: dict[str, Any] = {name: groups.to_dict() for name, groups in self.selections.items()}
        for release in self.releases:
            common = {key: value for key, value in release.to_dict().items() if key != "statistics"}
            body |= {name: {**item.to_dict(), **common} for name, item in release.statistics.items()}
        return body

    def lines(self, label: str | None = None) -> list[Line]:
        """What a ledger books, one line for each statistic; a label stands before its name."""
        lines = [line for release in self.releases for line in release.lines()]
        for name, groups in self.selections.items():
            lines += [line._replace(label=named_by(name, groups.by)[:200]) for line in groups.lines()]
        return [line._replace(label=f"{label}: {line.label}"[:200]) for line in lines] if label else lines

    @property
    def guarantee(self) -> Guarantee:
        """What all results together promise, in the decimals that a ledger adds."""
        promises = [line.guarantee for line in self.lines()]
        epsilon, delta = (
            up(sum(decimal(getattr(promise, name)) for promise in promises))  # type: ignore[arg-type]
            for name in ("epsilon", "delta")
        )
        return Guarantee(epsilon=epsilon, delta=delta, neighbours=promises[0].neighbours)

    def fold(self, source: SourceLike | engines.Source, rng: Randomness = None) -> BundleTally:
        """What all releases need of the data, in one pass; as `Release.fold`."""
        whole = engines.Source.of(source)
        if self.selections and engines.is_spark(whole.data):
            raise ParameterError(
                "Groups that are not declared cannot be counted on Spark: declare them, or write the rows to Parquet."
            )
        person = self._persons[0]
        columns = list(self.columns)
        if person is None:
            return self._whole(engines.fold(whole, self._tally, columns=columns or None))
        jobs = [part.bounded(own, rng) for part, own in zip(self.parts, self._persons, strict=True) if own]
        return self._whole(self._joined(fold_people(whole, jobs, columns)))

    def check(self, tally: BundleTally) -> None:
        """Refuse what `publish` would refuse; nothing is spent."""
        for release, raw in zip(self.releases, self._raws(tally), strict=True):
            release.check(raw)

    def publish(
        self, tally: BundleTally, ledger: LedgerLike | None = None, rng: Randomness = None, *, label: str | None = None
    ) -> Results:
        """All results, drawn after they were booked at once; as `Release.publish`."""
        self.check(tally)
        if not isinstance(rng, Entropy):  # a bad seed must be found before anything is spent
            rng = Entropy.resolve(rng, "bundle", self.digest)
        booked(self, ledger, Words(), label)
        results: dict[str, Result] = {}
        for release, raw in zip(self.releases, self._raws(tally), strict=True):
            results |= release.publish(raw, rng=rng)
        for (name, groups), raw_groups in zip(self.selections.items(), tally.groups, strict=True):
            results[name] = groups.publish(raw_groups, rng=rng)["count"]
        return Results(results)

    def _tally(self, batch: dict[str, Any]) -> Any:
        return self._joined([part.tally_batch(batch) for part in self.parts])

    def _joined(self, tallies: list[Any]) -> Any:
        """The tallies of a batch as one; without selections a `RawTally`, which Spark can send."""
        pairs = list(zip(self.releases, tallies, strict=False))
        counts = [raw.reveal(design=release.digest) for release, raw in pairs]
        raw = RawTally(design=self.digest, counts=np.concatenate(counts)) if counts else None
        named = zip(self.selections.values(), tallies[len(counts) :], strict=True)
        return BundleTally(raw, tuple(groups.tally_of(part) for groups, part in named)) if self.selections else raw

    def _whole(self, tally: Any) -> BundleTally:
        return tally if isinstance(tally, BundleTally) else BundleTally(tally, ())

    def _raws(self, tally: BundleTally) -> list[RawTally]:
        """The tally of each release."""
        if tally.counts is None:
            return []
        ends = list(itertools.accumulate(release.size for release in self.releases))
        parts = np.split(tally.counts.reveal(design=self.digest), ends[:-1])
        return [RawTally(design=item.digest, counts=part) for item, part in zip(self.releases, parts, strict=True)]
