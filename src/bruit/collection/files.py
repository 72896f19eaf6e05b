"""Files of reports and the plan beside them: they appear together, and are counted for the plan that made them.

Reports in ``reports.csv`` have their plan in ``reports.csv.plan.json``; a folder of Parquet files has it beside the
folder. Parquet files also carry the digest of their plan.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bruit import documents, engines
from bruit.collection import rotation
from bruit.collection.design import Reports, people_of_columns
from bruit.collection.records import SizeCounter
from bruit.domains.codes import Codes
from bruit.engines import memory, reports, sinks
from bruit.engines.report_parsing import Rows
from bruit.engines.sources import Source
from bruit.entropy import Randomness, Words
from bruit.errors import DesignError, FormatError, ParameterError
from bruit.estimation import Tally

if TYPE_CHECKING:
    from bruit.collection.plan import Plan

#: The format of a plan's document, of that of an open question, and of the header of reports.
PLAN, OPEN_QUESTION, REPORTS = "bruit.plan/1", "bruit.open-question/1", "bruit.reports/1"
#: The kinds of files that reports are written to.
KINDS = (".parquet", ".csv")


def plan_path(path: str | os.PathLike[str]) -> Path:
    """Where the plan of a file or folder of reports stands, or the path itself if it is that of a plan."""
    named = Path(path)
    if named.suffix.lower() == ".json":
        return named
    # The whole name counts, so that reports.csv and reports.parquet do not share a plan.
    whole = named if named.name not in ("", "..") else named.resolve()
    return whole.with_name(f"{whole.name}.plan.json")


def read_plan(path: str | os.PathLike[str]) -> bytes:
    """The document of a plan, from its own file or from that of its reports."""
    place = plan_path(path)
    try:
        return place.read_bytes()
    except FileNotFoundError:
        raise FormatError(f"There is no plan {place}.{_hint(place)}") from None


def _hint(path: Path) -> str:
    """What may be wrong: the reports are not there either, or their plan stands elsewhere."""
    if not path.name.endswith(".plan.json"):
        return ""
    named = path.with_name(path.name.removesuffix(".plan.json"))
    if named.name == "-":
        return " Reports on standard input need --plan."
    if not named.exists():
        return f" There is no {named} either."
    return (
        f" Name it with --plan, if it stands elsewhere. If {named.name} has answers that are not private yet, make "
        f"reports of them first: bruit privatize {named.name} smokes=no,yes --epsilon 1 -o reports.csv."
    )


def header(digest: str, *, simulated: bool) -> dict[str, str]:
    """What a file of reports says of itself."""
    return {"bruit.format": REPORTS, "bruit.plan": digest, "bruit.simulated": str(simulated).lower()}


# Writing.


def check_output(
    to: Any, source: Any, plan: Any, *, replace: bool, spark: bool = False, how: str = "replace=True"
) -> None:
    """That reports of a plan may be written to `to`: not over the data, nor over other reports unless it is said.

    `how` is the option by which it is said.
    """
    if not _is_local(to):
        return
    output, data = Path(to), Source.of(source).data
    _check_name(output, spark=spark or engines.is_spark(data))
    if isinstance(data, str | os.PathLike):
        _check_apart(output, Path(data))
    if output.exists() and not replace:
        raise ParameterError(
            f"{output} exists. A second randomisation of the same people tells more about them: keep the first, or "
            f"replace it with {how}."
        )
    beside = plan_path(output)
    if beside.exists() and not replace and not _is_plan(beside, plan.digest):
        raise ParameterError(
            f"{beside} is another plan, perhaps of reports that were moved: write to another name, or replace it "
            f"with {how}."
        )


def _is_local(to: Any) -> bool:
    """Whether reports go to a file or folder of this machine."""
    return isinstance(to, str | os.PathLike) and os.fspath(to) != "-" and "://" not in os.fspath(to)


def _check_name(output: Path, *, spark: bool) -> None:
    if spark and output.suffix.lower() != ".parquet":
        raise ParameterError("The reports must go to a folder that ends in .parquet: Spark writes several files.")
    if output.suffix.lower() not in KINDS:
        raise ParameterError(f"The reports must go to a file that ends in {' or '.join(KINDS)}.")
    if not output.parent.is_dir():
        raise ParameterError(f"The folder {output.parent} does not exist.")
    if output.is_dir() and not spark:
        raise ParameterError(f"The reports must go to a file, and {output} is a folder.")


def _check_apart(output: Path, data: Path) -> None:
    if data.exists() and output.exists() and output.samefile(data):
        raise ParameterError("The reports must go to another file than the one with the answers.")
    if data.is_dir() and data.resolve() in output.resolve().parents:
        raise ParameterError("The reports must not go to the folder that is read: they would be read as answers.")


def privatize(plan: Plan, source: Any, rng: Randomness, *, to: Any, replace: bool) -> Any:
    """Reports of a table's rows, wherever the table is; what they send in clear is looked at before they appear."""
    words, records = Words.resolve(rng, "privatize", plan.digest), plan.records
    if to is None and is_table(source):
        codes = plan.encode(source)
        if records.clear:
            records.check_sizes(records.people_per_stratum(codes))
        return plan.randomize(codes, words)
    check_output(to, source, plan, replace=replace)
    stated = header(plan.digest, simulated=not words.secure)
    if plan.design.needs_list:
        return _privatize_list(plan, source, words, to, stated)
    options: dict[str, Any] = {"columns": records.columns, "metadata": stated, "rng": words}
    if engines.is_spark(Source.of(source).data):
        if records.clear:  # in a job of its own: tasks may run twice
            sizes = engines.fold(source, records.people_per_stratum_of_table, columns=records.clear_columns)
            records.check_sizes(sizes)
        with publishing(to, plan) as sink:
            return engines.map(source, sink, partial(_reports, plan), **options)
    counter = SizeCounter(records)

    def count_and_report(batch: Mapping[str, Any], own: Words) -> Reports:
        codes = plan.encode(batch)
        counter.add(codes)
        return plan.randomize(codes, own)

    with publishing(to, plan) as sink:
        result = engines.map(source, sink, count_and_report, **options)
        counter.check()  # before a file appears
        return result


def _privatize_list(plan: Plan, source: Any, words: Words, to: Any, stated: Mapping[str, str]) -> Any:
    """The same where the list of all people is read before any report is drawn."""
    if engines.is_spark(Source.of(source).data):
        rotation.check_alone(plan.design, "The parts of a Spark job draw alone")
    codes = _codes_of_all(plan, source)
    if plan.records.clear:
        plan.records.check_sizes(plan.records.people_per_stratum(codes))
    reports = plan.randomize(codes, words)
    if to is None:
        return reports
    people = people_of_columns(reports)
    with publishing(to, plan) as sink, sinks.opened(sink, stated) as write:
        for _, batch in memory.blocks(max(people, 1), engines.BATCH):
            write({name: column[batch] for name, column in reports.items()})
    return people


def _codes_of_all(plan: Plan, source: Any) -> dict[str, Codes]:
    """The codes of all rows of a source."""
    parts: list[Mapping[str, Codes]] = []
    people = 0
    batches = engines.batches(source, plan.records.columns)
    with closing(memory.in_order(plan.encode, batches)) as encoded:
        for codes in encoded:
            people += people_of_columns(codes)
            rotation.check_people(people)
            parts.append(codes)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _reports(plan: Plan, batch: Mapping[str, Any], words: Words) -> Reports:
    return plan.randomize(plan.encode(batch), words)


def is_table(source: Any) -> bool:
    """Whether a source has its columns in memory, to be read by ``source[name]``."""
    if isinstance(source, str | bytes | os.PathLike | list | tuple | Source) or engines.is_spark(source):
        return False
    return hasattr(source, "__getitem__") or hasattr(source, "collect")


@contextmanager
def publishing(to: Any, plan: Any) -> Iterator[Any]:
    """A sink for reports; when the block ends well, they stand at `to` and their plan beside them.

    Before that, nothing that stood there changes. Reports never stand beside a plan that is not theirs: old ones are
    removed first, so that a kill between the last steps leaves at most a plan without reports.
    """
    if not _is_local(to):
        yield to
        return
    output = Path(to)
    beside, folder = plan_path(output), documents.partial_name(output)
    try:  # before the folder is there: a signal may come between any two steps
        folder.mkdir(mode=0o700)
        written = folder / output.name
        yield written
        if not _is_plan(beside, plan.digest):
            remove(output)
            documents.write_text(beside, plan.to_json() + "\n")
        if written.is_dir():  # which takes no other's place by itself
            remove(output)
        written.replace(output)
        documents.sync(output.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove(output: Path) -> None:
    """Remove reports: a file, the folder that Spark wrote, or a link to either, and not what it leads to."""
    if output.is_dir() and not output.is_symlink():
        shutil.rmtree(output)
    else:
        output.unlink(missing_ok=True)


def _is_plan(path: Path, digest: str) -> bool:
    """Whether the plan with this digest is in a file."""
    try:
        return _digest(path) == digest
    except FormatError:
        return False


def _digest(path: Path) -> str:
    text = read_plan(path)
    return documents.digest(documents.unseal(text, OPEN_QUESTION if is_open_question(text) else PLAN))


def is_open_question(text: bytes) -> bool:
    """Whether a document says that it is one of an open question; its reader checks the rest."""
    body = documents.parsed(text, "plan")
    return isinstance(body, dict) and body.get("format") == OPEN_QUESTION


# Counting.


def tally(plan: Any, sources: Sequence[Any], opened: Callable[[Any], Any] = Source.of) -> Tally:
    """The tally of all sources together: reports wherever they are, and files of tallies.

    With `opened`, files are read from what it makes of them: a Spark DataFrame, or a source that tells its progress.
    """
    headers = [_headers(source) for source in sources]
    _refuse_twice(sources, headers)
    return reduce(add, (_tally(plan, source, stated, opened) for source, stated in zip(sources, headers, strict=True)))


def stated_simulated(plan: Any, source: Any) -> bool:
    """Whether a file of reports says that they were simulated; an error if it says that another plan made them."""
    path = path_of(source)
    if path is None:
        return False
    headers = _headers(source)
    _check_plan(plan.digest, path, headers)
    return any(stated.get("bruit.simulated") == "true" for stated in headers.values())


def path_of(source: Any) -> Path | None:
    """The path of a source that is a file or folder of this machine."""
    data = Source.of(source).data
    return Path(data) if _is_local(data) else None


def _headers(source: Any) -> dict[str, dict[str, str]]:
    """What the Parquet files of a source say of themselves, by file; nothing for anything else."""
    path = path_of(source)
    return {} if path is None or path.suffix.lower() == ".json" else engines.all_metadata(path)


def _refuse_twice(sources: Sequence[Any], headers: Sequence[dict[str, Any]]) -> None:
    """Reports that are counted twice would narrow every interval."""
    seen = set()
    for source, stated in zip(sources, headers, strict=True):
        path = path_of(source)
        for file in stated or ([path] if path is not None else []):
            try:
                state = Path(file).stat()
            except OSError:  # reading it will say so
                continue
            if (state.st_dev, state.st_ino) in seen:
                raise ParameterError(f"{file} is named twice: its reports would count twice.")
            seen.add((state.st_dev, state.st_ino))


def _tally(plan: Any, source: Any, headers: dict[str, dict[str, str]], opened: Callable[[Any], Any]) -> Tally:
    path = path_of(source)
    if path is not None and path.suffix.lower() == ".json":
        saved = Tally.from_json(path.read_bytes())
        _check_digest(plan.digest, saved.design, f"The tally in {path}")
        return saved
    if path is not None:
        _check_plan(plan.digest, path, headers)

    def count(rows: Rows) -> Tally:
        counted: Tally = plan.count(rows.reports)
        return replace(counted, refused=counted.refused + rows.refused) if rows.refused else counted

    result = reports.fold(opened(source), plan.form, count)
    simulated = any(stated.get("bruit.simulated") == "true" for stated in headers.values())
    return replace(result, simulated=True) if simulated else result


def _check_plan(digest: str, path: Path, headers: dict[str, dict[str, str]]) -> None:
    """An error if the reports say that they follow another plan, or stand beside one."""
    stated = {file: words["bruit.plan"] for file, words in headers.items() if "bruit.plan" in words}
    beside = plan_path(path)
    if not stated and beside.exists():  # CSV says nothing of itself
        stated = {str(path): _digest(beside)}
    for file, other in stated.items():
        _check_digest(digest, other, f"The reports in {file}")


def _check_digest(expected: str, actual: str, what: str) -> None:
    if actual != expected:
        verb = "was" if what.startswith("The tally") else "were"
        raise DesignError(f"{what} {verb} made by another plan: use theirs (--plan).", expected=expected, actual=actual)
