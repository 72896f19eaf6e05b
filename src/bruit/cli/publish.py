"""`bruit publish`: a whole publication from one file, booked once, saved for readers, and shown again for nothing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bruit import documents
from bruit.cli import _engine, console
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.publications import Publication, Published

#: How many values of each statistic are shown; the files have all.
SHOWN_ROWS = 12


def publish(
    file: Annotated[Path, typer.Argument(help="The TOML file of the publication.")],
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show the split and the expected errors; read no data, spend nothing. What would be refused is said.",
        ),
    ] = False,
    again: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Draw this statistic again and pay for it, as for new rows."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the plan of a dry run to a file, to be signed: .html or .json."),
    ] = None,
    engine: _engine.Name = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Publish what a file says: read the table once, book once, and save JSON, CSV, Parquet and a page with figures.

    Run again, it shows what was published and spends nothing. A changed file pays only for what is new: statistics that
    are paid for are kept, with their date. Where the file raises ε, they are refined for the difference. After a kill
    it goes on where it can: what is booked is not booked again.
    """
    from bruit.publications import Publication

    publication = Publication.load(file)
    conflict = publication.unused_budget()
    if conflict:
        console.warn(conflict)
    if output is not None and (not dry_run or output.suffix not in (".html", ".json")):
        raise ParameterError("--output is for the plan of a dry run: --dry-run -o plan.html, or plan.json.")
    if dry_run:
        _foresee(publication, again or [], output, as_json=as_json)
        return
    remarks = _remarks(publication, again or [])
    published = _published(publication, again or [], engine)
    for remark in remarks:
        console.note(remark)
    if as_json:
        console.print_json(published.to_json())
        return
    _show(publication, published)


def _foresee(publication: Publication, again: list[str], output: Path | None, *, as_json: bool) -> None:
    from bruit.publications.bill import bill_of
    from bruit.publications.publishing import check, is_published

    bill = bill_of(publication, publication.open_ledger(start=False), again)
    table = bill.prospects()
    if output is not None:
        from bruit.publications.plan_page import plan_page

        check(bill)
        documents.write_text(output, plan_page(bill) if output.suffix == ".html" else table.to_json() + "\n")
        console.note(f"plan: {output}")
    if as_json:
        console.print_json(table.to_json())
        check(bill)
        return
    console.show(table)
    check(bill)
    if is_published(bill):
        console.say("It was published before: a run would show it, and spend nothing.")
        return
    for remark in publication.budget_remarks(bill.lines):
        console.say(remark, "dim")
    path = publication.folder / publication.table
    if path.suffix in (".csv", ".parquet") and not path.exists():
        console.warn(f"there is no table {publication.table}.")
    console.note("no data were read: whether the columns are there is seen when it runs.")


def _remarks(publication: Publication, again: list[str]) -> list[str]:
    """What the file asks for and cannot have."""
    from bruit.publications.bill import bill_of

    return bill_of(publication, publication.open_ledger(start=False), again).remarks()


def _published(publication: Publication, again: list[str], engine: str) -> Published:
    from bruit.publications import publish as publish_now
    from bruit.releases import PeopleWarning

    with (
        warnings.catch_warnings(record=True) as caught,
        _engine.opened(engine, text=publication.csv) as reads,
        console.progress("publish", reads.unit) as report,
    ):
        warnings.simplefilter("always", PeopleWarning)
        table = reads.table(str(publication.folder / publication.table)) if _engine.is_spark(engine) else None
        published = publish_now(publication, table, again=again, progress=report)
    if caught:
        console.warn(
            "a column looks like an identifier, and occurs several times: this protects a row, and not a person with "
            'all their rows. For that, write person = { column = "…", rows = 10 } into the file. How many rows are '
            "best is said by bruit limits."
        )
    return published


def _show(publication: Publication, published: Published) -> None:
    date = published.date[:16].replace("T", " ")
    news = "Published now" if published.is_new else f"Published before, on {date} UTC: nothing was spent"
    console.say(f"{published.title}. {news}.")
    console.out().print()
    console.show(*published.tables(), rows=SHOWN_ROWS, hint="the files have all")
    console.out().print()
    for remark in publication.budget_remarks(done=True):
        console.say(remark, "dim")
    console.note(f"files: {published.folder}")
