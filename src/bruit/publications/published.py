"""What was published: results with their date, guarantee and identity, as a document, a table and files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bruit import documents
from bruit.errors import BruitError, FormatError, translated
from bruit.privacy.guarantee import Guarantee
from bruit.releases.result import Result, Results
from bruit.tables import Table, Tabular


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
            "results": [{"name": name, "result": result.to_dict(level)} for name, result in self.results.items()],
        }
        return documents.seal(self.FORMAT, body, indent=2)

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
            )

    @classmethod
    def load(cls, path: Path) -> Published:
        """A publication that was saved. It spends nothing."""
        return cls.from_json(path.read_bytes())

    def tables(self, level: float = 0.95) -> list[Table]:
        """A table for each statistic, under its name."""
        tables = [result.table(level) for result in self.results.values()]
        return [
            replace(table, title=_titled(name, table.title.removeprefix("Released ")))
            for name, table in zip(self.results, tables, strict=True)
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


def _titled(name: str, subject: str) -> str:
    """The name of a statistic, and what it is where the name does not say so."""
    return name if subject.partition(",")[0] == name else f"{name}: {subject}"
