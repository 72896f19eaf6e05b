"""What was published: results with their date, guarantee and identity, as a document, a table and files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from bruit import documents
from bruit.errors import BruitError, FormatError, translated
from bruit.privacy.guarantee import Guarantee
from bruit.releases.result import Result, Results
from bruit.tables import Table, Tabular


class Origin(NamedTuple):
    """Where a result comes from.

    The digests of what was declared and of the publication, its date and its part of ρ; and what the file said of its
    accuracy then: its weight or share, its width, and the ε or ρ of all. `name` is the one it was drawn under.
    """

    declared: str
    publication: str
    date: str
    rho: float | None = None
    share: str = ""
    within: str = ""
    total: float | None = None
    name: str = ""

    @property
    def draw(self) -> tuple[str, str]:
        """The publication and the name of its draw, which are the same in every file that keeps it."""
        return self.publication, self.name


@dataclass(frozen=True, eq=False, repr=False)
class Published(Tabular):
    """A publication that is saved. It may be shown to anybody, as often as you like.

    Parameters
    ----------
    title
        What it is called.
    date
        When it was booked, in UTC.
    digest
        The identity of the publication.
    guarantee
        What all results together promise.
    plan
        What was asked, as plain values.
    results
        The results by name.
    folder
        Where its files are; None if they are not written.
    is_new
        Whether it was published by this call, and not before.
    origins
        Where each result comes from, by its name. One that was kept is older than the publication.
    """

    FORMAT = "bruit.publication/1"

    title: str
    date: str
    digest: str
    guarantee: Guarantee
    plan: dict[str, Any]
    results: Results
    folder: Path | None = field(default=None)
    is_new: bool = False
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Result:
        return self.results[name]

    def to_json(self, level: float = 0.95) -> str:
        """The publication as a document of format ``bruit.publication/1``."""
        body = {
            "title": self.title,
            "published": self.date,
            "publication": self.digest,
            "guarantee": self.guarantee.to_dict(),
            "plan": self.plan,
            "results": [
                {"name": name, **self._origin(name), "result": result.to_dict(level)}
                for name, result in self.results.items()
            ],
        }
        return documents.seal(self.FORMAT, body, indent=2)

    def _origin(self, name: str) -> dict[str, Any]:
        """Where a result comes from, as plain values."""
        origin = self.origins.get(name)
        if origin is None:
            return {}
        values = {key: value for key, value in origin._asdict().items() if value not in (None, "") and key != "name"}
        return values | ({"drawn_as": origin.name} if origin.name not in ("", name) else {})

    def kept_of(self, name: str) -> str:
        """The date of a result that is older than the publication; nothing for one that was drawn with it."""
        origin = self.origins.get(name)
        return origin.date[:10] if origin is not None and origin.publication != self.digest else ""

    @classmethod
    def from_json(cls, text: str | bytes) -> Published:
        """The inverse of `to_json`; damage is detected, forgery is not."""
        body = documents.unseal(text, cls.FORMAT)
        rule = f"This is not a {cls.FORMAT} document: a field is missing or wrong."
        with translated((KeyError, TypeError, ValueError, AttributeError, BruitError), lambda _: FormatError(rule)):
            results = documents.seal(Results.FORMAT, {"results": body["results"]})
            return cls(
                title=str(body["title"]),
                date=str(body["published"]),
                digest=str(body["publication"]),
                guarantee=Guarantee.from_dict(body["guarantee"]),
                plan=dict(body["plan"]),
                results=Results.from_json(results),
                origins={str(item["name"]): _origin_of(item) for item in body["results"] if "declared" in item},
            )

    @classmethod
    def load(cls, path: Path) -> Published:
        """A publication that was saved. It spends nothing."""
        return cls.from_json(path.read_bytes())

    def tables(self, level: float = 0.95) -> list[Table]:
        """A table for each statistic, under its name."""
        tables = {name: result.table(level) for name, result in self.results.items()}
        return [
            replace(
                table,
                title=_titled(name, table.title.removeprefix("Released ")),
                notes=[*table.notes, *kept_note(self.kept_of(name))],
            )
            for name, table in tables.items()
        ]

    def table(self, level: float = 0.95) -> Table:
        """All values of all statistics, one row each, with their statistic, column, group and label."""
        columns = self.results.table(level).columns
        return Table(
            self.title,
            columns,
            [f"guarantee of all together: {self.guarantee}", f"published {self.date[:16].replace('T', ' ')} UTC"],
            {"published": self.date, "publication": self.digest, "guarantee": self.guarantee.to_dict()},
            noun="value",
        )


def kept_note(date: str) -> list[str]:
    """That a number is older than its publication; nothing for one that is not."""
    return [f"of {date}, and of the table as it was then"] if date else []


def _origin_of(item: Mapping[str, Any]) -> Origin:
    texts = {name: item[name] for name in ("declared", "publication", "date")}
    texts |= {name: item.get(name, "") for name in ("share", "within")}
    texts["name"] = item.get("drawn_as", item["name"])
    numbers: dict[str, Any] = {name: item.get(name) for name in ("rho", "total")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise TypeError
    if not all(isinstance(number, float | None) for number in numbers.values()):
        raise TypeError
    return Origin(**texts, **numbers)


def _titled(name: str, subject: str) -> str:
    """The name of a statistic, and what it is where the name does not say so."""
    return name if subject.partition(",")[0] == name else f"{name}: {subject}"
