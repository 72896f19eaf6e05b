"""Options that several commands have, and checks of them, in one wording."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bruit import _checks
from bruit.cli import console
from bruit.errors import BruitError, MissingExtraError, ParameterError, translated

if TYPE_CHECKING:
    from bruit.cli._engine import Engine
    from bruit.collection import Plan
    from bruit.estimation import Tally

#: The names of figures, by their end.
PICTURES = (".png", ".svg")


#: What happens to answers outside what is declared.
Outside = Annotated[
    str | None,
    typer.Option(
        metavar="POLICY",
        help="A value outside what is declared: refuse (default), clamp (numbers and dates: the nearest "
        "end), or other (labels and dates: a value of its own, as behind town=Bern,Basel,...).",
    ),
]


#: With what a ledger starts.
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="EPSILON[,DELTA]",
        help="Start the ledger with this ε, and this δ, if there is none: 2, or 2,1e-6. bruit ledger new knows more.",
    ),
]


def budget(text: str | None, ledger: Path | None) -> dict[str, float]:
    """The ε and δ with which a ledger starts, as `Ledger` takes them; nothing if none are given."""
    if text is None:
        return {}
    if ledger is None:
        raise ParameterError("--budget needs --ledger, the file in which it is kept.")
    parts = text.split(",")
    rule = "--budget must be an ε above 0, or an ε and a δ below 1, as in 2 or 2,1e-6."
    with translated(ValueError, lambda _: ParameterError(rule)):
        numbers = [float(part) for part in parts]
    if not 1 <= len(numbers) <= 2 or not 0 < numbers[0] < math.inf or not all(0 <= x < 1 for x in numbers[1:]):
        raise ParameterError(rule)
    return dict(zip(("epsilon", "delta"), numbers, strict=False))


def destination(output: Path | None) -> tuple[Path | None, bool]:
    """The file that --output names, if it names one, and whether it replaces one that exists."""
    return (None, False) if output is None else replaced(output)


def replaced(output: Path) -> tuple[Path, bool]:
    """A file, and whether it replaces one that exists: an ! at the end of its name says so."""
    if not output.name.endswith("!") or output.name == "!":
        return output, False
    return output.with_name(output.name.removesuffix("!")), True


def check_free(output: Path, what: str, *, replaces: bool) -> None:
    """That a file may be written: there is none, it is to be replaced, or a person at a terminal says so."""
    if replaces or not output.exists():
        return
    if sys.stdin.isatty() and sys.stderr.isatty() and typer.confirm(f"{output} exists{what}. Replace it?", err=True):
        return
    raise ParameterError(f"{output} exists{what}: write to another name, or replace it with -o {output}!")


def check_whole(**options: int | None) -> None:
    """Options that must be whole numbers, 0 or above, where they are given."""
    for name, value in options.items():
        if value is not None:
            _checks.integer(low=0, **{f"--{name}": value})


def check_idle(options: dict[str, Any], case: str) -> None:
    """An option that would do nothing is a misunderstanding."""
    idle = next((name for name, value in options.items() if value is not None), None)
    if idle is not None:
        raise ParameterError(f"{idle} is for {case}: leave it out.")


def method(name: str | None, *, several: bool) -> str | None:
    """The name of a method; one that is unknown is an error that names the option."""
    from bruit.collection.mechanisms import ADAPTIVE, refer
    from bruit.numbers import Number
    from bruit.oracles import Oracle

    if name is not None and not several and "[" not in name and name.upper() != ADAPTIVE:
        known = (*Oracle.kinds, *Number.kinds)
        if name not in Oracle.kinds and name not in Number.kinds:
            refer(name)
            _checks.one_of((*known, ADAPTIVE), **{"--method": name})
    return name


def read(data: Any, text: dict[str, Any], progress: Any = None) -> Any:
    """A source of data, with how its CSV is written."""
    from bruit import engines

    return engines.read(data, **text, progress=progress)


def plan(path: Path) -> Plan:
    """A plan from its file, or the one beside reports."""
    from bruit.collection import Plan

    return Plan.load(path)


def is_plan(path: Path) -> bool:
    """Whether a file is a plan, and no tally or other document."""
    from bruit.collection import Plan

    try:
        return path.suffix.lower() == ".json" and bool(Plan.load(path))
    except (BruitError, OSError):
        return False


def tally(plan: Plan, sources: list[Path], engine: Engine, progress: Any = None) -> Tally:
    """The tally of all sources together: files or folders of reports, and tallies."""
    from bruit.collection import files
    from bruit.collection import rounds as by_round

    if plan.repeat is not None:
        by_round.check_one_round(sources)
    return files.tally(plan, sources, lambda source: read(engine.reports(str(source)), {}, progress))


def rounds(plan: Plan, sources: list[Path], engine: Engine, progress: Any = None) -> tuple[list[int], list[Tally]]:
    """The numbers of the rounds that files are of, and the tally of each."""
    from bruit.collection import rounds as by_round

    return by_round.tallies(plan, sources, lambda source: read(engine.reports(str(source)), {}, progress))


def check_file(path: Path, option: str, ends: tuple[str, ...]) -> None:
    """That a file to be written has a known kind, and a folder to stand in."""
    if path.suffix.lower() not in ends:
        raise ParameterError(f"{option} must name a file that ends in {' or '.join(ends)}.")
    if not path.parent.is_dir():
        raise ParameterError(f"The folder {path.parent} does not exist.")
    if path.is_dir():
        raise ParameterError(f"{option} must name a file, and {path} is a folder.")


def check_figure(path: Path | None) -> None:
    """That a figure can be drawn, before any work is done."""
    if path is None:
        return
    check_file(path, "--figure", PICTURES)
    try:
        import bruit.figures  # noqa: F401
    except ImportError:
        raise MissingExtraError("--figure", "figures") from None


def save_figure(figure: Any, path: Path) -> None:
    """Write the one file that was asked for."""
    from bruit import figures

    ending = path.suffix.lower()
    figures.save(figure, path, endings=[ending])
    console.note(f"figure: {path.with_suffix(ending)}")
