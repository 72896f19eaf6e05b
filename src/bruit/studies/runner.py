"""Make the trials of a study on all cores, keep what is finished, and go on where an interrupted run stopped.

Processes are spawned, not forked: compiled kernels and thread pools do not survive a fork. Every process computes with
one thread, so that sums are added up in the same order whatever the number of processes.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
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

from bruit import _checks
from bruit.errors import DataError, MissingExtraError, StudyError
from bruit.studies._store import Store
from bruit.studies.results import RESERVED, Results
from bruit.studies.study import SIZES, Rows, Size, Skipped, Study, Trial, stream

#: Where results go by default.
FOLDER = Path("bruit-studies")
#: Finished trials are written at least this often, in seconds: what a kill can cost.
PATIENCE = 2.0
#: Batches per worker: enough to share the work evenly, few enough not to spend the time on sending.
_BATCHES, _MOST = 50, 64
#: Libraries that would start threads of their own in every process.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BRUIT_THREADS")


class _Outcome(NamedTuple):
    """What became of a trial: its rows, or why there are none."""

    trial: Trial
    rows: list[dict[str, Any]]
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
) -> Results:
    """Make every trial of a study that is not made yet, and return all results.

    The same seed gives the same results whatever the number of workers, and whether or not the work was interrupted.

    Parameters
    ----------
    study
        What to run.
    size
        ``"quick"`` or ``"full"``.
    seed
        A whole number, 0 or above.
    workers
        How many processes; all cores unless given. 0 makes all trials in this process, to look for a mistake.
    folder
        Where results are kept, in a folder of their own per study and size.
    restart
        Throw away what is there.
    progress
        Called with the number of trials done and in all.

    Examples
    --------
    >>> import tempfile
    >>> from bruit import studies
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = studies.run(studies.find("warner"), folder=folder, workers=0)
    >>> results.study, abs(results.where(part="coins").mean("error")) < 0.01
    ('warner', True)
    """
    _checks.integer(low=0, seed=seed)
    count = _cores() if workers is None else _checks.integer(low=0, workers=workers)
    store = Store(Path(folder), study, size)
    store.open(seed, restart=restart)
    trials, done = study.trials(size), store.done()
    left = [trial for trial in trials if trial.place not in done]
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


def read(study: Study, folder: str | os.PathLike[str] = FOLDER, size: Size | None = None) -> Results | None:
    """The results of a finished run, or None; of the full one before the quick one, unless a size is asked for."""
    sizes = [size] if size is not None else list(reversed(SIZES))
    runs = (Store(Path(folder), study, size).results() for size in sizes)
    return next((results for results in runs if results is not None), None)


@contextlib.contextmanager
def _keeping(store: Store) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    """A function that takes the rows of a trial and writes them with others, now and then and at the end."""
    waiting: list[dict[str, Any]] = []
    written = time.monotonic()

    def keep(rows: list[dict[str, Any]]) -> None:
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
    """What became of each trial, in the order in which they end."""
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
                futures.remove(future)  # results are not held once they are told
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
    except Exception as error:  # whatever a trial does wrong is told with its factors
        return _Outcome(trial, [], failed=f"{type(error).__name__}: {error}", trace=traceback.format_exc())


def _rows(trial: Trial, metrics: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
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
    """In a new process: the parent alone answers Ctrl-C, and when it is killed, nobody is left behind."""
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


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
