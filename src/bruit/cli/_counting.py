"""From files of reports, made by anybody, to a tally: their plan is checked, and impossible reports are counted."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

from bruit.cli import _engine, console
from bruit.cli._reports import plan_beside, read_plan
from bruit.errors import DesignError, ParameterError

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.estimation import Tally

#: What the Parquet files of a source say of themselves, by file; nothing for CSV.
Said = dict[str, dict[str, str]]


def count(plan: Plan, sources: list[Path], engine: _engine.Engine = _engine.LOCAL) -> Tally:
    """The tally of all sources together: files or folders of reports, and tallies."""
    said = [_said(source) for source in sources]
    _refuse_twice(sources, said)
    return reduce(add, (_tally(plan, source, words, engine) for source, words in zip(sources, said, strict=True)))


def _is_tally(source: Path) -> bool:
    return source.suffix.lower() == ".json" and not source.is_dir()


def _said(source: Path) -> Said:
    from bruit import engines

    return {} if _is_tally(source) else engines.all_metadata(source)


def _refuse_twice(sources: list[Path], said: list[Said]) -> None:
    """Reports that are counted twice would narrow every interval."""
    seen = set()
    for source, words in zip(sources, said, strict=True):
        for file in words or [source]:
            if not Path(file).exists():  # whoever reads it will say so
                continue
            state = Path(file).stat()
            if (state.st_dev, state.st_ino) in seen:
                raise ParameterError(f"{file} is named twice: its reports would count twice.")
            seen.add((state.st_dev, state.st_ino))


def _tally(plan: Plan, source: Path, said: Said, engine: _engine.Engine) -> Tally:
    from bruit import engines
    from bruit.estimation import Tally

    if _is_tally(source):
        return Tally.from_json(source.read_bytes())
    _check_plan(plan, source, said)
    with console.progress("count", engine.unit) as report:
        tally: Tally = engines.tally(engine.reports(str(source)), plan, progress=report)
    simulated = any(words.get("bruit.simulated") == "true" for words in said.values())
    return replace(tally, simulated=tally.simulated or simulated)


def _check_plan(plan: Plan, source: Path, said: Said) -> None:
    """An error if the reports say that they follow another plan, or stand beside one."""
    stated = {file: words["bruit.plan"] for file, words in said.items() if "bruit.plan" in words}
    beside = plan_beside(source)
    if not stated and beside.exists():  # CSV says nothing of itself
        stated = {str(source): read_plan(beside).digest}
    for file, found in stated.items():
        if found != plan.digest:
            raise DesignError(
                f"The reports in {file} were made by another plan: name theirs with --plan.",
                expected=plan.digest,
                actual=found,
            )
