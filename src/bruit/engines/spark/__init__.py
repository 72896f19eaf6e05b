"""Spark DataFrames: functions go to the rows, and one small sum comes back.

*Fold.* Every partition is folded where it is, by the very function that serves arrays, and gives one row with its
pickled sum. These are added up by a tree of tasks, so that the driver gets one.

*Map.* Every partition is mapped where it is, lazily. A block of people is numbered by its partition and its place
there; under a secure key, by what it holds as well. So whatever Spark runs again gives the same reports, as long as the
rows come in the same order, and if they do not, nobody gets the noise of another. The `TaskKey` of the job travels with
the function: someone who can read the job's closures can remove the noise, as they can read the rows.

`tasks` is what tasks do, `pickling` what goes between them and the driver, `jobs` how a job is
watched and its errors told, `order` which rows keep their order, `lines` CSV. pyspark is imported in these
and nowhere else, and only when it is used.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from bruit.engines import arrow, sinks
from bruit.engines import batch as batching
from bruit.engines.batch import Batch
from bruit.engines.csv_options import TextOptions
from bruit.engines.report_parsing import Rows
from bruit.engines.sources import READABLE, Progress, Source, is_parquet, suffix
from bruit.engines.spark import jobs, lines, order, pickling, tasks
from bruit.entropy import Words
from bruit.errors import DataTypeError, MissingExtraError, ParameterError, translated
from bruit.laws import Form

#: The most tasks that add up parts before the last one does.
_MOST_GROUPS = 32

_KINDS = {
    "StringType": pa.string(),
    "CharType": pa.string(),
    "VarcharType": pa.string(),
    "BooleanType": pa.bool_(),
    "ByteType": pa.int8(),
    "ShortType": pa.int16(),
    "IntegerType": pa.int32(),
    "LongType": pa.int64(),
    "FloatType": pa.float32(),
    "DoubleType": pa.float64(),
    "DecimalType": pa.float64(),
    "BinaryType": pa.binary(),
    "NullType": pa.null(),
}


class _Narrow(NamedTuple):
    """The columns that are asked for, under names that Spark cannot confuse, and a batch without rows."""

    frame: Any
    names: dict[str, str]
    empty: Batch


def fold(source: Source, function: Callable[[Batch], Any], columns: Iterable[str] | None) -> Any:
    """As `bruit.engines.fold`, for a DataFrame."""
    narrow = _narrow(source, columns)
    job = tasks.Job(pickling.function(function), narrow.names, source.text.missing_elsewhere)
    return _folded(narrow.frame, job, lambda: function(narrow.empty), source.progress)


def fold_reports(source: Source, function: Callable[[Rows], Any], forms: Mapping[str, Form]) -> Any:
    """As `bruit.engines.reports.fold`, for a DataFrame."""
    placed, chosen = _placed(source.data, list(forms))
    names = {name: f"c{place}" for name, place in chosen.items()}
    job = tasks.Job(pickling.function(function), names, frozenset(), dict(forms))
    nobody = Rows({name: form.empty(0) for name, form in forms.items()}, 0)
    return _folded(placed, job, lambda: function(nobody), source.progress)


def fold_together(
    source: Source, function: Callable[[Batch], Any], columns: list[str], column: str, together: Callable[[Batch], Any]
) -> Any:
    """As `fold`, where rows that belong together are in one batch, however many they are; None if there are no rows.

    `together` says, from batches of one column, which rows there are, and a number for each of these: rows with the
    same number belong together.
    """
    from pyspark.sql.types import LongType, StructField, StructType

    narrow = _narrow(source, columns)
    missing = source.text.missing_elsewhere
    numbering = tasks.Job(pickling.function(together), {column: narrow.names[column]}, missing)
    job = tasks.Job(pickling.function(function), narrow.names, missing)
    schema = StructType([*narrow.frame.schema.fields, StructField(tasks.TOGETHER, LongType(), False)])
    numbered = narrow.frame.mapInArrow(functools.partial(tasks.numbered, numbering), schema)
    parts = numbered.repartition(tasks.TOGETHER).mapInArrow(
        functools.partial(tasks.folded_whole, job), tasks.PART_SCHEMA
    )
    return _summed(narrow.frame, parts, lambda: None, source.progress)


def without_rows(source: Source, columns: list[str]) -> Batch:
    """A batch of these columns that has no rows."""
    return _narrow(source, columns).empty


def _folded(frame: Any, job: tasks.Job, nothing: Callable[[], Any], progress: Progress | None) -> Any:
    """The sum over all partitions, or what there is without rows."""
    parts = frame.mapInArrow(functools.partial(tasks.folded, job), tasks.PART_SCHEMA)
    return _summed(frame, parts, nothing, progress)


def _summed(frame: Any, parts: Any, nothing: Callable[[], Any], progress: Progress | None) -> Any:
    for groups in _tree(frame):
        parts = parts.repartition(groups).mapInArrow(tasks.merged, tasks.PART_SCHEMA)
    with jobs.running(frame.sparkSession, progress):
        rows = parts.collect()
    return pickling.received(rows[0][0]) if rows else nothing()


def mapped(
    source: Source,
    function: Callable[[Batch, Words], Batch],
    words: Words,
    *,
    columns: Iterable[str] | None = None,
    metadata: Mapping[str, str] | None = None,
    written: bool = False,
) -> Any:
    """A DataFrame of what the function makes of every batch, which Spark computes when it is needed.

    Parameters
    ----------
    source
        A DataFrame with how to read it.
    columns
        As for `bruit.engines.batches`.
    function
        As for `bruit.engines.map`. It is called once here, with a batch without rows, to see what it returns.
    words
        The random words of the job, which are used up here: tasks derive those of their batches.
    metadata
        Texts that each column of the result carries, and Parquet files that Spark writes of it.
    written
        Whether the result is written once and then read. Otherwise it may be computed several times, and a frame whose
        rows may then come in another order is refused.
    """
    if not written and not order.replayable(source.data):
        raise ParameterError(
            "The rows of this DataFrame may come in another order when Spark runs them again (after a join, a sort, "
            "a repartition or a random choice; of a stream; or behind Spark Connect), and a person could get a second "
            "randomisation. Give a sink, so that reports are written once, or write the rows first and read them back."
        )
    narrow = _narrow(source, columns)
    form = tasks.form_of(sinks.checked(function(narrow.empty, Words())))
    pair = pickling.function((function, words.task_key()))
    job = tasks.Job(pair, narrow.names, source.text.missing_elsewhere)
    # The number of the partition itself is an expression of Spark's; it is not that of the task.
    numbered = narrow.frame.selectExpr("*", f"spark_partition_id() AS {tasks.PARTITION}")
    work = functools.partial(tasks.mapped, job, form)
    return numbered.mapInArrow(work, _schema(form, sinks.checked_metadata(metadata)))


def write(
    source: Source,
    sink: Any,
    function: Callable[[Batch, Words], Batch],
    words: Words,
    *,
    columns: Iterable[str] | None,
    metadata: Mapping[str, str] | None,
) -> int:
    """As `bruit.engines.map`, for a DataFrame and a folder of Parquet files, which Spark commits when all are whole."""
    path = os.fspath(sink) if isinstance(sink, str | os.PathLike) else ""
    if suffix(path, (".parquet",)) != ".parquet":
        raise ParameterError(
            "A Spark DataFrame is written to a folder of Parquet files: its name must end in .parquet."
        )
    if "://" not in path:
        if Path(path).exists():
            raise ParameterError(f"{path!r} exists already: Spark writes to a new folder.")
        if not Path(path).parent.is_dir():
            raise ParameterError(f"There is no folder {str(Path(path).parent)!r} to write to.")
    result = mapped(source, function, words, columns=columns, metadata=metadata, written=True)
    session = source.data.sparkSession
    # With the first algorithm nothing stands under its name before the whole job is done.
    writer = result.write.option("mapreduce.fileoutputcommitter.algorithm.version", "1").option("compression", "zstd")
    place = address(path)
    with _whole(path), jobs.running(session, source.progress):
        writer.mode("errorifexists").parquet(place)
        return int(session.read.parquet(place).count())


@contextlib.contextmanager
def _whole(path: str) -> Iterator[None]:
    """Leave nothing of a folder on this machine if the block fails: Spark leaves an empty one."""
    try:
        yield
    except BaseException:
        if "://" not in path:
            shutil.rmtree(path, ignore_errors=True)
        raise


def session(master: str | None = None, **settings: str) -> Any:
    """A Spark session whose workers run this very Python, or the one that there is already.

    Parameters
    ----------
    master
        Where Spark runs, ``local[*]`` unless said.
    settings
        Spark's own settings, with ``_`` for the point, as in ``spark_driver_memory="4g"``.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("Spark", "spark") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("bruit").master(master or "local[*]")
    chosen = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    chosen["spark.sql.execution.arrow.maxRecordsPerBatch"] = "65536"  # blocks of people, not of 10,000 rows
    chosen |= {name.replace("_", "."): value for name, value in settings.items()}
    for name, value in chosen.items():
        builder = builder.config(name, value)
    rule = "Spark did not start: it needs Java 17 (JAVA_HOME), and a master such as local[2] or spark://host:7077."
    # Whatever fails while a Java machine starts.
    with translated(Exception, lambda _: ParameterError(rule)):
        return builder.getOrCreate()


def read(session: Any, path: str, text: TextOptions = TextOptions()) -> Any:  # noqa: B008 -- frozen
    """A DataFrame of a file or folder, with the columns that `bruit.engines.batches` gives of it.

    Parameters
    ----------
    session
        A Spark session.
    path
        A CSV file, a Parquet file, or a folder of Parquet files; or an address that Spark knows.
    text
        How to read CSV.
    """
    if path == "-":
        raise ParameterError("Spark cannot read standard input: name a file, or use another engine.")
    with jobs.errors():
        if is_parquet(path):
            # As in CSV, nothing is guessed to be a number: folder names are texts.
            session.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
            return session.read.option("recursiveFileLookup", "false").parquet(address(path))
        if not suffix(path, READABLE):
            known = ", ".join(READABLE)
            raise ParameterError(f"A file to read must be a folder of Parquet files or end in one of {known}.")
        return lines.read(session, path, address(path), text)


def read_reports(session: Any, path: str) -> Any:
    """A DataFrame of a file or folder of reports, which anybody may have made, with its columns.

    Parameters
    ----------
    session, path
        As for `read`. A row of a CSV file is a line, whatever it holds; one with another number of cells than the
        header has nulls.
    """
    if path == "-" or is_parquet(path) or not suffix(path, READABLE):
        return read(session, path)
    with jobs.errors():
        return lines.read_reports(session, path, address(path))


def address(path: str) -> str:
    """A path as Spark means it: on this machine, unless it says otherwise."""
    return path if "://" in path else Path(path).resolve().as_uri()


def _narrow(source: Source, columns: Iterable[str] | None) -> _Narrow:
    """The wanted columns, and a batch of them without rows."""
    placed, chosen = _placed(source.data, columns)
    names = {name: f"c{place}" for name, place in chosen.items()}
    fields = source.data.schema.fields
    nothing = {names[name]: pa.array([], _kind(fields[place], name)) for name, place in chosen.items()}
    return _Narrow(placed, names, arrow.batch(pa.table(nothing), names, source.text.missing_elsewhere))


def _placed(frame: Any, columns: Iterable[str] | None) -> tuple[Any, dict[str, int]]:
    """The wanted columns called by their place, so that neither case, dots nor a name that stands twice confuse Spark;
    and where each one stands."""
    if frame.isStreaming:
        raise DataTypeError("A stream has no end, and cannot be folded: write it to files and read these.")
    names = [field.name for field in frame.schema.fields]
    chosen = batching.choose(names, columns)
    places = [f"c{place}" for place in range(len(names))]
    return frame.toDF(*places).select(*(places[place] for place in chosen.values())), chosen


def _kind(field: Any, name: str) -> Any:
    kind = type(field.dataType).__name__
    if kind not in _KINDS:
        said = field.dataType.simpleString()
        raise DataTypeError(f"Column {name!r} must hold text, numbers or booleans, not {said}.")
    return _KINDS[kind]


def _schema(form: Mapping[str, Any], metadata: Mapping[str, str]) -> Any:
    """What the function returns, as Spark declares it."""
    from pyspark.sql import types
    from pyspark.sql.pandas.types import from_arrow_type

    columns = {name: np.empty((0, *shape), dtype) for name, (dtype, shape) in form.items()}
    schema = tasks.record_batch(columns).schema
    fields = [types.StructField(field.name, from_arrow_type(field.type), True, dict(metadata)) for field in schema]
    return types.StructType(fields)


def _tree(frame: Any) -> list[int]:
    """How many tasks add up parts, level by level; the last one has the sum."""
    context = getattr(frame.sparkSession, "_sc", None)  # Spark Connect has none
    groups = min(context.defaultParallelism if context else _MOST_GROUPS, _MOST_GROUPS)
    return [groups, 1] if groups > 4 else [1]
