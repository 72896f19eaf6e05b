"""The two verbs: fold a source into one result, or map it to a sink batch by batch; all cores, in order."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from bruit.engines import batch as batching
from bruit.engines import memory, sinks
from bruit.engines.batch import Batch
from bruit.engines.sources import Progress, Source, is_parquet, is_spark, open_source
from bruit.entropy import Randomness, Words
from bruit.typing import SourceLike

Item = TypeVar("Item")
Result = TypeVar("Result")


def fold(
    source: SourceLike | Source,
    function: Callable[[Batch], Result],
    *,
    columns: Iterable[str] | None = None,
) -> Result:
    """What `function` makes of every batch, added up in order.

    Parameters
    ----------
    source, columns
        As for `batches`; or a Spark DataFrame, which is folded where its rows are.
    function
        Takes a batch and returns something that adds. Batches are handed to several threads at a time. For a source
        without rows it is called once, with an empty batch. For Spark the function and its results must be such that
        they can be pickled, and their sum must not depend on the order.

    Examples
    --------
    >>> table = {"age": [31, 40, 22]}
    >>> int(fold(table, lambda batch: batch["age"].sum()))
    93
    """
    table = Source.of(source)
    if is_spark(table.data):
        from bruit.engines import spark

        return spark.fold(table, function, columns)  # type: ignore[no-any-return]
    reading = open_source(table, columns)
    with contextlib.closing(reading.batches) as batches:
        return added(batches, lambda batch: (batching.rows(batch), function(batch)), reading.total, table.progress)


def added(
    items: Iterable[Item],
    function: Callable[[Item], tuple[int, Result]],
    total: int | None,
    progress: Progress | None,
) -> Result:
    """The sum of what `function` makes of every item, on all cores, in order; it also says how many rows each has."""
    done = 0
    result: Any = None
    with contextlib.closing(memory.in_order(function, items)) as work:
        for index, (count, part) in enumerate(work):
            result = part if index == 0 else result + part
            done += count
            if progress:
                progress(done, total)
    return result  # type: ignore[no-any-return]


def map(  # the word of the trade; within this module the built-in is not used
    source: SourceLike | Source,
    sink: Any,
    function: Callable[[Batch, Words], Batch],
    *,
    columns: Iterable[str] | None = None,
    metadata: Mapping[str, str] | None = None,
    rng: Randomness | Words = None,
) -> Any:
    """Write what `function` makes of every batch, in order, and return how many rows were written.

    Parameters
    ----------
    source, columns
        As for `batches`; or a Spark DataFrame.
    sink
        The path of a ``.parquet`` or ``.csv`` file, which appears whole or not at all; ``"-"`` for CSV on standard
        output; a list to append to; or a function to call with each result. For a Spark DataFrame, the path of a
        ``.parquet`` folder that does not exist yet, or its address in a store that Spark knows. None to have the
        result returned: a dictionary from column name to array; of a Spark DataFrame, a DataFrame that Spark computes
        when it is needed: write or cache it before it is used twice.
    function
        Takes a batch and its random `Words`, which no other batch has, and returns a dictionary from column name to
        array: one-dimensional numbers, two-dimensional bytes, or records with fields, which files keep as their bytes.
        Batches are handed to several threads at a time.
    metadata
        Texts to keep in a Parquet file; `metadata_of` reads them.
    rng
        Where the words of the batches come from, as for every verb; or the `Words` of a call, which are used up.

    Examples
    --------
    >>> out = []
    >>> map({"x": [1, 2]}, out, lambda batch, words: {"y": 2 * batch["x"]})
    2
    >>> out[0]["y"].tolist()
    [2, 4]
    """
    words = rng if isinstance(rng, Words) else Words.resolve(rng, "map", "")
    table = Source.of(source)
    if is_spark(table.data):
        from bruit.engines import spark

        if sink is None:
            return spark.mapped(table, function, words, columns=columns, metadata=metadata)
        return spark.write(table, sink, function, words, columns=columns, metadata=metadata)
    if sink is None:
        parts: list[Batch] = []
        map(source, parts, function, columns=columns, rng=words)
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    reading = open_source(table, columns)

    def work(item: tuple[int, Batch]) -> tuple[int, Batch]:
        index, batch = item
        result = function(batch, words.parts(index * batching.BLOCKS, batching.BLOCKS))
        return batching.rows(batch), sinks.checked(result)

    done = written = 0
    with contextlib.closing(reading.batches) as batches:
        results = memory.in_order(work, enumerate(batches))
        with sinks.opened(sink, metadata) as write, contextlib.closing(results):
            for count, batch in results:
                write(batch)
                written += batching.rows(batch)
                done += count
                if table.progress:
                    table.progress(done, reading.total)
    return written


def metadata_of(path: str | os.PathLike[str]) -> dict[str, str]:
    """The texts that `map` kept in a Parquet file.

    Parameters
    ----------
    path
        The path of a Parquet file.
    """
    from bruit.engines import parquet

    return parquet.metadata_of(os.fspath(path))


def all_metadata(path: str | os.PathLike[str]) -> dict[str, dict[str, str]]:
    """The texts that `map` kept in each Parquet file that is read for a path, by the path of the file.

    Parameters
    ----------
    path
        The path of a Parquet file, or of a folder of them. For a CSV file, which keeps no such texts, there is nothing.
    """
    from bruit.engines import parquet

    name = os.fspath(path)
    return parquet.all_metadata(name) if is_parquet(name) else {}
