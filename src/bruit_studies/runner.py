"""Make the trials of a study on all cores, keep what is finished, and go on where an interrupted run stopped.

Processes are spawned, not forked: compiled kernels and thread pools do not survive a fork. Every process computes with
one thread, so that sums are added up in the same order whatever the number of processes.

Finished trials are written in parts, each whole or not at all, and a manifest says what they belong to. At the end the
parts become one file, ``results.parquet``, with rows in the order of the trials: the same bytes however often the work
was interrupted and however many processes did it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import secrets
import shutil
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bruit import __version__, _checks, documents
from bruit.errors import DataError, DesignError, FormatError, MissingExtraError, StudyError
from bruit_studies import recorded
from bruit_studies.results import RESERVED, StudyResults, as_column
from bruit_studies.study import SIZES, Rows, Size, Skipped, Study, Trial, stream

#: Where results go by default.
FOLDER = Path("bruit-studies")
#: Finished trials are written at least this often, in seconds: what a kill can cost.
PATIENCE = 2.0
#: Batches per worker: enough to share the work evenly, few enough not to spend the time on sending.
_BATCHES, _MOST = 50, 64
#: The format of the manifest.
FORMAT = "bruit.study/1"
#: Libraries that would start threads of their own in every process.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BRUIT_THREADS")


Row = dict[str, Any]


class _Outcome(NamedTuple):
    """The rows of a trial, or why there are none."""

    trial: Trial
    rows: list[Row]
    skipped: str = ""
    failed: str = ""
    trace: str = ""


def run(
    study: Study,
    *,
    size: Size = "quick",
    seed: int = 0,
    workers: int | None = None,
    folder: str | os.PathLike[str] = FOLDER,
    restart: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> StudyResults:
    """Make every trial of a study that is not made yet, and return all results.

    The same seed gives the same results whatever the number of workers, and whether or not the work was interrupted.

    Parameters
    ----------
    workers
        How many processes; all cores by default. 0 makes all trials in this process, to look for a mistake.
    folder
        Where results are kept, in a folder of their own per study and size.
    restart
        Whether to throw away what is there.
    progress
        Called with the number of trials done and in all.

    Examples
    --------
    >>> import tempfile
    >>> import bruit_studies
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = bruit_studies.run(bruit_studies.find("warner"), folder=folder, workers=0)
    >>> results.study, abs(results.where(part="coins").mean("error")) < 0.01
    ('warner', True)
    """
    _checks.integer(low=0, seed=seed)
    count = cores() if workers is None else _checks.integer(low=0, workers=workers)
    store = StudyFolder(Path(folder), study, size)
    store.open(seed, restart=restart)
    trials, done = study.trials(size), store.done()
    # Every setting once before any a second time, so that a run that is stopped has seen all of them.
    left = sorted((trial for trial in trials if trial.place not in done), key=lambda trial: trial.repetition)
    report = progress or (lambda done, total: None)
    report(len(trials) - len(left), len(trials))
    skipped: Counter[str] = Counter()
    with _keeping(store) as keep, contextlib.closing(_outcomes(study, seed, left, count)) as outcomes:
        for finished, outcome in enumerate(outcomes, len(trials) - len(left) + 1):
            _check(study, outcome)
            if outcome.skipped:
                skipped[outcome.skipped] += 1
            else:
                keep(outcome.rows)
            report(finished, len(trials))
    store.finish(seed, skipped)
    results = store.results()
    assert results is not None  # noqa: S101 -- it was finished just now
    return results


def seconds_left(
    study: Study, *, size: Size = "full", seed: int = 0, workers: int = 1, folder: str | os.PathLike[str] = FOLDER
) -> float:
    """About how many seconds the trials of a study take that are not made yet: of each block the first and the last
    setting are tried once and timed, and kept nowhere.
    """
    done = StudyFolder(Path(folder), study, size).done()
    total, place = 0.0, 0
    for block in study.blocks(size):
        trials = study.trials(size)[place : place + len(block)]
        place += len(block)
        left = [trial for trial in trials if trial.place not in done]
        if left:
            total += len(left) * float(
                np.mean([_timed(study, seed, trial) for trial in {0: left[0], 1: left[-1]}.values()])
            )
    return total / max(workers, 1)


def _timed(study: Study, seed: int, trial: Trial) -> float:
    """The seconds of one trial, without what it loads the first time."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        _try(study.trial, stream(study.name, study.version, seed, trial), trial)
        times.append(time.perf_counter() - start)
        if times[0] > PATIENCE:
            break
    return min(times)


def read(study: Study, folder: str | os.PathLike[str] = FOLDER, size: Size | None = None) -> StudyResults | None:
    """The results of a finished run, or None. Without a size, the full run comes before the quick one."""
    sizes = [size] if size is not None else list(reversed(SIZES))
    runs = (StudyFolder(Path(folder), study, size).results() for size in sizes)
    return next((results for results in runs if results is not None), None)


@contextlib.contextmanager
def _keeping(store: StudyFolder) -> Iterator[Callable[[list[Row]], None]]:
    """A function that takes the rows of a trial and writes them with others, now and then and at the end."""
    waiting: list[Row] = []
    written = time.monotonic()

    def keep(rows: list[Row]) -> None:
        nonlocal written
        waiting.extend(rows)
        if time.monotonic() - written > PATIENCE:
            store.add(waiting)
            waiting.clear()
            written = time.monotonic()

    try:
        yield keep
    finally:
        if waiting:
            store.add(waiting)


def _check(study: Study, outcome: _Outcome) -> None:
    if outcome.failed:
        error = StudyError(
            f"The study {study.name!r} stopped at {outcome.trial.label()}: {outcome.failed}. What was finished is "
            "kept.",
            study=study.name,
            factors=dict(outcome.trial.factors),
            repetition=outcome.trial.repetition,
        )
        error.add_note(outcome.trace)
        raise error


def _outcomes(study: Study, seed: int, trials: Sequence[Trial], workers: int) -> Generator[_Outcome, None, None]:
    """The outcome of each trial, in the order in which they end."""
    task = (study.trial, study.name, study.version, seed)
    if not workers or not trials:
        for trial in trials:
            yield from _work(*task, [trial])
        return
    size = max(1, min(_MOST, len(trials) // (workers * _BATCHES)))
    batches = [trials[start : start + size] for start in range(0, len(trials), size)]
    with _single_threads(), _pool(min(workers, len(batches))) as pool:
        futures: list[Future[list[_Outcome]]] = [pool.submit(_work, *task, batch) for batch in batches]
        try:
            for future in as_completed(futures):
                futures.remove(future)  # results are not held once they are passed on
                yield from future.result()
        except BrokenProcessPool:
            raise StudyError(
                f"A process of the study {study.name!r} died, perhaps for want of memory. What was finished is kept: "
                "run it again, with fewer --workers.",
                study=study.name,
            ) from None


def _work(function: Callable[..., Rows], name: str, version: int, seed: int, batch: Sequence[Trial]) -> list[_Outcome]:
    return [_try(function, stream(name, version, seed, trial), trial) for trial in batch]


def _try(function: Callable[..., Rows], rng: Any, trial: Trial) -> _Outcome:
    try:
        metrics = function(**trial.factors, rng=rng)
        return _Outcome(trial, _rows(trial, [metrics] if isinstance(metrics, Mapping) else list(metrics)))
    except (Skipped, MissingExtraError) as reason:
        return _Outcome(trial, [], skipped=str(reason))
    except Exception as error:  # any error of a trial is reported with its factors
        return _Outcome(trial, [], failed=f"{type(error).__name__}: {error}", trace=traceback.format_exc())


def _rows(trial: Trial, metrics: Sequence[Mapping[str, Any]]) -> list[Row]:
    if not metrics:
        raise DataError("a trial must give at least one row")
    taken = {*RESERVED, *trial.factors}
    for metric in metrics:
        if taken & metric.keys():
            raise DataError(f"a metric cannot be called {min(taken & metric.keys())!r}: that is a factor")
    return [
        {"trial": trial.place, "repetition": trial.repetition, "row": row, **trial.factors, **metric}
        for row, metric in enumerate(metrics)
    ]


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[Executor]:
    """Processes that end with the block, at once if it ends by an error."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    """In a new process: only the parent handles Ctrl-C, and the process ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def _single_threads() -> Iterator[None]:
    """Processes started within the block compute with one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class StudyFolder:
    """The folder of one study at one size."""

    def __init__(self, folder: Path, study: Study, size: Size) -> None:
        own = folder / study.name / size
        self.folder = own.resolve() if own.is_symlink() else own  # a link cannot be emptied
        self.study, self.size = study, size

    def open(self, seed: int, *, restart: bool) -> None:
        """Make the folder ready for trials with this seed; what another definition or seed left is refused."""
        if restart:
            shutil.rmtree(self.folder, ignore_errors=True)
        manifest = self.manifest()
        if manifest is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write_manifest(seed, "running", {})
        elif manifest["definition"] != self.study.definition(self.size) or manifest["seed"] != seed:
            what = (
                "of another definition of this study" if manifest["seed"] == seed else f"with seed {manifest['seed']}"
            )
            raise DesignError(
                f"{self.folder} has results {what}. Begin again with --restart, or name another folder.",
                expected=self.study.definition(self.size),
                actual=manifest["definition"],
            )

    def manifest(self) -> dict[str, Any] | None:
        """The manifest of the folder; None where nothing was run."""
        try:
            text = (self.folder / "manifest.json").read_bytes()
        except FileNotFoundError:
            return None
        return documents.unseal(text, FORMAT)

    def done(self) -> set[int]:
        """The places of all finished trials."""
        return {int(place) for file in self._files() for place in _read(file, ["trial"])["trial"].to_numpy()}

    def add(self, rows: Sequence[Row]) -> None:
        """Keep the rows of some finished trials."""
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: as_column([row.get(name) for row in rows]) for name in names}
        # A column without any value has no type yet: another part gives it one.
        typed = {
            name: values for name, values in columns.items() if values.dtype == object or not np.isnan(values).all()
        }
        _write(self.folder / f"part-{secrets.token_hex(8)}.parquet", typed)

    def finish(self, seed: int, skipped: Mapping[str, int]) -> None:
        """Make one file of all parts, in order."""
        parts = self._files()
        if parts:
            _write(self.folder / "results.parquet", self._columns(parts))
        self._write_manifest(seed, "complete", skipped)
        for file in parts:
            if file.name != "results.parquet":
                file.unlink(missing_ok=True)

    def results(self) -> StudyResults | None:
        """All results; None where the study was not run to its end, or as another definition."""
        manifest = self.manifest()
        if manifest is None or manifest["state"] != "complete":
            return None
        if manifest["definition"] != self.study.definition(self.size):
            return None
        files = self._files()
        columns = self._columns(files) if files else {}
        trials = len(set(columns["trial"].tolist())) if files else 0
        own = StudyResults(self.study.name, columns, self.size, manifest["seed"], trials, manifest["skipped"])
        return recorded.joined(own)

    def _columns(self, files: Sequence[Path]) -> dict[str, NDArray[Any]]:
        """All rows in the order of the trials; a trial that stands in two files counts once."""
        seen: set[int] = set()
        kept = []
        for file in files:
            table = _read(file)
            places = table["trial"].to_numpy().astype(int)
            kept.append(table.filter(pa.array([place not in seen for place in places.tolist()])))
            seen |= set(places.tolist())
        try:
            whole = pa.concat_tables(kept, promote_options="default")
        except pa.ArrowException:
            raise FormatError(
                f"A metric of {self.study.name!r} is a text in some trials and a number in others."
            ) from None
        factors = [name for block in self.study.blocks(self.size) for name in block.factors]
        first = dict.fromkeys([*RESERVED, *factors])
        order = [*(name for name in first if name in whole.column_names), *sorted({*whole.column_names} - {*first})]
        rows = whole.select(order).sort_by([("trial", "ascending"), ("row", "ascending")])
        # A part may lack a column that another has: what is missing is NaN or "" whatever the parts were.
        return {name: as_column(rows[name].to_pylist()) for name in order}

    def _files(self) -> list[Path]:
        whole = self.folder / "results.parquet"
        return [*([whole] if whole.exists() else []), *sorted(self.folder.glob("part-*.parquet"))]

    def _write_manifest(self, seed: int, state: str, skipped: Mapping[str, int]) -> None:
        body = {
            "study": self.study.name,
            "version": self.study.version,
            "size": self.size,
            "seed": seed,
            "definition": self.study.definition(self.size),
            "trials": len(self.study.trials(self.size)),
            "state": state,
            "skipped": dict(sorted(skipped.items())),
            "bruit": __version__,
        }
        documents.write_text(self.folder / "manifest.json", documents.seal(FORMAT, body, indent=2) + "\n")


def _write(path: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    with documents.replacing(path) as partial:
        pq.write_table(
            pa.table({name: pa.array(values) for name, values in columns.items()}), partial, compression="zstd"
        )


def _read(path: Path, names: Sequence[str] | None = None) -> pa.Table:
    try:
        return pq.read_table(path, columns=names, partitioning=None)
    except (OSError, pa.ArrowException):
        raise FormatError(f"{path} is damaged: begin again with --restart.") from None
