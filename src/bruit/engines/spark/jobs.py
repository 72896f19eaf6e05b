"""How a job of Spark is watched while it runs, and what is told of it when it fails."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from bruit.engines.sources import Progress
from bruit.errors import (
    BruitError,
    DataError,
    DataTypeError,
    DesignError,
    FormatError,
    LimitError,
    MissingError,
    ParameterError,
    ParameterTypeError,
    RandomnessError,
    translated,
)

#: Seconds between two looks at how far a job is.
_PAUSE = 0.2


@contextlib.contextmanager
def running(session: Any, progress: Progress | None) -> Iterator[None]:
    """Tell how many tasks are done while the block runs, and turn what goes wrong into errors of ours."""
    context = getattr(session, "_sc", None)
    if progress is None or context is None:
        with errors():
            yield
        return
    over = threading.Event()
    watch = threading.Thread(target=_watch, args=(context.statusTracker(), progress, over), daemon=True)
    watch.start()
    try:
        with errors():
            yield
    finally:
        over.set()
        watch.join()


def _watch(tracker: Any, progress: Progress, over: threading.Event) -> None:
    while not over.wait(_PAUSE):
        jobs = [tracker.getJobInfo(job) for job in tracker.getActiveJobsIds()]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        done = sum(stage.numCompletedTasks for stage in stages if stage)
        total = sum(stage.numTasks for stage in stages if stage)
        if total:
            progress(done, total)


def errors() -> AbstractContextManager[None]:
    """What Spark says may quote rows, so it is looked at for an error of ours, and not shown."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return translated((PySparkException, Py4JError), _explained)


def _explained(error: Exception) -> BruitError:
    said = str(error)
    ours = re.findall(r"bruit\.errors\.(\w+): (.*)", said)
    kind = _PLAIN.get(ours[-1][0]) if ours else None
    if kind is not None:
        return kind(ours[-1][1].strip())
    condition = getattr(error, "getCondition", lambda: None)() or type(error).__name__
    if "MALFORMED" in said:
        return FormatError("Every row of the file must have as many cells as the first line has.")
    if "PATH_NOT_FOUND" in str(condition):
        return DataError("There is no such file or folder, or it has no files to read.")
    return BruitError(
        f"Spark could not do this: {condition}. What it said is not shown, for it may quote data; its own log has it."
    )


#: Errors of ours that a message alone makes.
_PLAIN: dict[str, type[BruitError]] = {
    kind.__name__: kind
    for kind in (
        BruitError,
        DataError,
        DataTypeError,
        MissingError,
        ParameterError,
        ParameterTypeError,
        DesignError,
        FormatError,
        LimitError,
        RandomnessError,
    )
}
