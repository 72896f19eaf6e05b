"""`bruit tour`: a survey on real data and a few claims about it, told step by step, in a few seconds."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bruit import documents
from bruit.cli import console as shared
from bruit.errors import MissingExtraError
from bruit.tables import wrap
from bruit_studies.cli.tour import story
from bruit_studies.cli.tour.facts import Facts
from bruit_studies.cli.tour.story import TourStep

if TYPE_CHECKING:
    from rich.console import Console

    from bruit.pages import Page, Picture

#: Text and tables keep to this width on wider terminals too.
WIDTH = 80


@dataclass(frozen=True)
class TourResult:
    """What a tour found and wrote.

    Attributes
    ----------
    facts
        Every number that was told.
    blocks
        The text, step by step.
    files
        What was written, in order.
    warning
        Why figures and page were not written, and what was instead; empty if they were.
    """

    facts: Facts
    blocks: tuple[TourStep, ...] = field(repr=False)
    files: tuple[Path, ...]
    warning: str = ""

    def to_json(self) -> str:
        """A document of format ``bruit.tour/1``."""
        files = [str(file) for file in self.files]
        return documents.seal("bruit.tour/1", {**self.facts.to_dict(), "files": files}, indent=2)


def tour(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for results, figures and page.")] = Path(
        "bruit-tour"
    ),
    seed: Annotated[int | None, typer.Option(help="Make the run repeatable.", min=0)] = None,
    page: Annotated[bool, typer.Option("--page/--no-page", help="Write the tour as a page, tour.html.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Take a first survey on real data, step by step; no network is needed."""
    screen = shared.out(quiet=as_json)
    result = run_tour(output, seed=seed, console=screen, page=page)
    if result.warning:
        shared.warn(result.warning)
    if as_json:
        shared.print_json(result.to_json())


def run_tour(folder: Path, *, seed: int | None = None, console: Console, page: bool = True) -> TourResult:
    """Do the surveys, tell about them on `console`, and write results, figures and page to `folder`.

    The folder is tried first, so that nothing is told that cannot be kept. Without matplotlib a file of text stands
    in for figures and page.
    """
    _prepare(folder)
    facts = Facts(seed)
    _tell_title(console, facts)
    blocks = []
    for step in story.STEPS:
        blocks.append(step(facts))
        _tell(console, blocks[-1])
    files, warning = _write(folder, facts, blocks, page=page)
    _tell_files(console, files)
    return TourResult(facts, tuple(blocks), files, warning)


def _prepare(folder: Path) -> None:
    """Make the folder and try to write in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with documents.replacing(folder / "tour.try") as partial:
            partial.touch()
        (folder / "tour.try").unlink()
    except OSError as error:
        advice = "The folder for the tour cannot be written to; name another with --output"
        raise type(error)(error.errno, advice, str(folder)) from None


def _write(folder: Path, facts: Facts, blocks: list[TourStep], *, page: bool) -> tuple[tuple[Path, ...], str]:
    """Files written, and why figures and page are not among them."""
    results = folder / "marital-status.csv"
    documents.write_text(results, facts.marital.to_csv())
    try:
        from bruit import figures
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        documents.write_text(folder / "tour.txt", _text(facts, blocks))
        warning = f"{MissingExtraError('The page of the tour', 'figures')} Its text is in {folder / 'tour.txt'}."
        return (results, folder / "tour.txt"), warning

    answers = figures.plot_estimate(facts.marital, truth=facts.marital_truth)
    beliefs = figures.plot_beliefs(answer.guarantee for answer in facts.surveys.values())
    files = [results]
    for name, ax in (("marital-status", answers), ("beliefs", beliefs)):
        figures.save(ax, folder / name)
        files += [folder / f"{name}.svg", folder / f"{name}.png"]
    if page:
        from bruit import pages

        pictures = {2: figures.picture(answers), 3: figures.picture(beliefs)}
        documents.write_text(folder / "tour.html", pages.render(_page(facts, blocks, pictures)))
        files.append(folder / "tour.html")
    return tuple(files), ""


def _text(facts: Facts, blocks: list[TourStep]) -> str:
    """The tour as the terminal has it, without colours."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=WIDTH, color_system=None, force_terminal=False)
    _tell_title(console, facts)
    for block in blocks:
        _tell(console, block)
    return file.getvalue()


def _page(facts: Facts, blocks: list[TourStep], pictures: dict[int, Picture]) -> Page:
    from bruit import __version__
    from bruit.pages import Page, Section

    sections = tuple(
        Section(
            block.heading,
            tuple(_unbroken(paragraph) for paragraph in block.paragraphs),
            table=block.table,
            figure=pictures.get(place),
            code=block.code,
        )
        for place, block in enumerate(blocks)
    )
    data = facts.data
    # The address is for reading: a page that needs no network should not look as if it did.
    citation = data.citation.replace("https://", "")
    footer = f"Made by bruit {__version__}. Data: {citation.rstrip('.')}. Licence: {data.licence}."
    return Page(story.TITLE, story.lead(facts), sections, footer)


def _unbroken(text: str) -> str:
    """Numbers stay on the line of their sign: a browser breaks lines at every plain space."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%").replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _tell_title(console: Console, facts: Facts) -> None:
    console.print(story.TITLE, style="bold", markup=False)
    _say(console, story.lead(facts))


def _tell(console: Console, block: TourStep) -> None:
    console.print()
    console.print(block.heading, style="bold", markup=False)
    for paragraph in block.paragraphs:
        _say(console, paragraph)
    if block.table is not None:
        console.print()
        shared.show(block.table, on=console, most=min(WIDTH, console.width))
    if block.code:
        # Not wrapped: a command that is broken over two lines cannot be copied.
        console.print(block.code, style="cyan", markup=False, highlight=False, soft_wrap=True)


def _tell_files(console: Console, files: tuple[Path, ...]) -> None:
    console.print()
    console.print("Written", style="bold")
    for file in files:
        size = f"{file.stat().st_size / 1000:,.0f} kB"
        console.print(f"{file}  ({size})", markup=False, highlight=False, soft_wrap=True)


def _say(console: Console, text: str) -> None:
    for line in wrap(text, min(WIDTH, console.width)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
