"""A file of reports and the plan beside it: where they stand, and how both appear together."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bruit import documents
from bruit.cli import _options, console
from bruit.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from bruit.collection import Plan

#: The kinds of files that reports are written to.
KINDS = (".parquet", ".csv")


def plan_beside(reports: Path) -> Path:
    """Where the plan of a file or folder of reports stands: reports.csv has reports.csv.plan.json.

    The whole name counts, so that reports.csv and reports.parquet do not share a plan.
    """
    named = reports if reports.name not in ("", "..") else reports.resolve()
    return named.with_name(f"{named.name}.plan.json")


def read_plan(path: Path) -> Plan:
    """A plan from its file."""
    from bruit.collection import Plan

    try:
        return Plan.from_json(path.read_bytes())
    except FileNotFoundError:
        raise FormatError(f"There is no plan {path}.{_hint(path)}") from None


def _hint(path: Path) -> str:
    """What may be wrong: the reports are not there either, or their plan stands elsewhere."""
    if not path.name.endswith(".plan.json"):
        return ""
    reports = path.with_name(path.name.removesuffix(".plan.json"))
    if reports.name == "-":
        return " Reports on standard input need --plan."
    return " Name it with --plan." if reports.exists() else f" There is no {reports} either."


def metadata(plan: Plan, *, simulated: bool) -> dict[str, str]:
    """What a file of reports says of itself."""
    return {"bruit.format": "bruit.reports/1", "bruit.plan": plan.digest, "bruit.simulated": str(simulated).lower()}


def check_output(output: Path, source: str, *, force: bool, folder: bool = False) -> None:
    """That reports may go to `output`, a file or folder: it must not touch the data, nor replace reports unasked."""
    if folder:
        _check_folder(output)
    else:
        _options.check_file(output, "--output", KINDS)
    data = Path(source)
    if data.exists() and output.exists() and output.samefile(data):
        raise ParameterError("--output must be another file than the one with the answers.")
    if data.is_dir() and data.resolve() in output.resolve().parents:
        raise ParameterError("--output must not stand in the folder that is read: it would be read with the answers.")
    if output.exists() and not force:
        raise ParameterError(
            f"{output} exists. A second randomisation of the same people tells more about them: "
            "keep the first, or replace it with --force."
        )
    for left in documents.unfinished(output):
        console.warn(
            f"{left} was left by a run that was killed, unless one is still at work. It may hold other reports of the "
            "same people: delete it."
        )


def _check_folder(output: Path) -> None:
    if ":/" in str(output):
        raise ParameterError("--output must be a folder of this machine; for another store, use the library.")
    if output.suffix.lower() != ".parquet":
        raise ParameterError("--output must name a folder that ends in .parquet: Spark writes several files.")
    if not output.parent.is_dir():
        raise ParameterError(f"The folder {output.parent} does not exist.")


def check_plan(plan: Plan, output: Path, *, force: bool) -> None:
    """That no other plan is replaced unasked."""
    beside = plan_beside(output)
    if beside.exists() and not force and not _stands(plan, beside):
        raise ParameterError(
            f"{beside} is another plan, perhaps of reports that were moved: write to another name, or replace it with "
            "--force."
        )


@contextmanager
def publishing(plan: Plan, output: Path) -> Iterator[Path]:
    """A name to write reports to; when the block ends well, they stand at `output` and their plan beside them.

    Before that, nothing that stood there changes. Reports never stand beside a plan that is not theirs: old ones are
    removed first, so that a kill between the last steps leaves at most a plan without reports.
    """
    beside, folder = plan_beside(output), documents.partial_name(output)
    try:  # before the folder is there: a signal may come between any two steps
        folder.mkdir(mode=0o700)
        made = folder / output.name
        yield made
        if not _stands(plan, beside):
            _remove(output)
            documents.write_text(beside, plan.to_json() + "\n")
        if made.is_dir():  # which takes no other's place by itself
            _remove(output)
        made.replace(output)
        documents.sync(output.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove(output: Path) -> None:
    """Remove reports: a file, or the folder that Spark wrote."""
    if output.is_dir():
        shutil.rmtree(output)
    else:
        output.unlink(missing_ok=True)


def _stands(plan: Plan, path: Path) -> bool:
    """Whether this very plan is in a file."""
    try:
        return read_plan(path) == plan
    except FormatError:
        return False
