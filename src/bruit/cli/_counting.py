"""From files of reports, made by anybody, to a tally: their plan is checked, and impossible reports are counted."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bruit.cli import _engine, console
from bruit.cli._reports import plan_beside, read_plan
from bruit.errors import DesignError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    forms = plan.empty_reports()

    def work(batch: dict[str, Any]) -> Tally:
        reports, unreadable = read(batch, forms)
        tally = plan.tally(reports)
        return replace(tally, refused=tally.refused + unreadable)

    with console.progress("count", engine.unit) as report:
        found = engine.read(str(source), engines.TextOptions())
        tally: Tally = engines.fold(found, work, columns=list(forms), progress=report)
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
                found=found,
            )


def read(batch: dict[str, Any], forms: dict[str, NDArray[Any]]) -> tuple[dict[str, NDArray[Any]], int]:
    """The reports of a batch as arrays, and how many people have a text that is no report.

    Such people are left out with all their reports. In CSV, reports stand as numbers or as hexadecimal digits.
    """
    import numpy as np

    found = {name: _read(batch[name], form) for name, form in forms.items()}
    masks = [fine for _, fine in found.values() if fine is not None]
    if not masks:
        return {name: reports for name, (reports, _) in found.items()}, 0
    everything = np.logical_and.reduce(masks)
    return {name: reports[everything] for name, (reports, _) in found.items()}, int((~everything).sum())


def _read(cells: Any, form: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """A column of reports, and which of them are any; None where all are, or the plan will say."""
    from bruit.domains.domain import DictionaryColumn

    if not isinstance(cells, DictionaryColumn):
        return cells, None
    texts = [str(entry) for entry in cells.entries.tolist()]
    size = form.dtype.itemsize if form.dtype.names else form.shape[1] if form.ndim == 2 else 0
    return _rows(texts, cells.positions, size) if size else _numbers(texts, cells.positions)


def _numbers(texts: list[str], positions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    import numpy as np

    read = [int(text) if text.isdecimal() and len(text) < 19 else -1 for text in texts]
    reports = np.array([*read, -1], np.int64)[positions]
    return reports, reports >= 0


def _rows(texts: list[str], positions: NDArray[Any], size: int) -> tuple[NDArray[Any], NDArray[Any]]:
    import numpy as np

    digits = re.compile(f"[0-9a-fA-F]{{{2 * size}}}")
    good = np.array([*(digits.fullmatch(text) is not None for text in texts), False])
    rows = np.zeros((good.size, size), np.uint8)
    packed = bytes.fromhex("".join(text for text, fine in zip(texts, good, strict=False) if fine))
    rows[good] = np.frombuffer(packed, np.uint8).reshape(-1, size)
    return rows[positions], good[positions]
