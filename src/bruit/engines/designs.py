"""One call for every engine: reports of a table by an oracle, a number mechanism or a plan, and their tally."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bruit.engines import batch as batching
from bruit.engines import reports, running
from bruit.engines.batch import Batch
from bruit.engines.form import Rows
from bruit.engines.sources import Progress, is_spark
from bruit.engines.text import TextOptions
from bruit.entropy import Randomness, Words
from bruit.errors import ParameterError


def privatize(
    source: Any,
    design: Any,
    sink: Any = None,
    *,
    column: str | None = None,
    rng: Randomness = None,
    text: TextOptions = TextOptions(),  # noqa: B008 -- frozen
    metadata: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Any:
    """Reports of a table's rows, wherever the table is.

    Parameters
    ----------
    source
        What `fold` reads: a mapping, a frame, a file, or a Spark DataFrame.
    design
        A plan, or an oracle or number mechanism together with `column`.
    sink
        Where the reports go, as for `map`. Without one they are returned.
    column
        The column that holds the answers, for a single mechanism; the reports have its name.
    rng
        None for secure randomness; a whole number for a reproducible stream; or an `Entropy`.
    text, metadata, progress
        As for `map`.

    Returns
    -------
    dict, DataFrame or int
        With a sink, how many reports were written. Without one a dictionary from column name to array; of a Spark
        DataFrame, a DataFrame that Spark computes when it is needed: write or cache it before it is used twice.

    Examples
    --------
    >>> from bruit.oracles import oracle
    >>> survey = oracle("GRR", epsilon=1.0, labels=["no", "yes"])
    >>> reports = privatize({"smokes": ["no", "yes", "no"]}, survey, column="smokes", rng=7)
    >>> tally(reports, survey, column="smokes").n
    3
    """
    columns, work = _person(design, column)
    words = Words.resolve(rng, "privatize", design.digest)
    if sink is not None:
        return running.map(
            source, sink, work, columns=columns, text=text, metadata=metadata, progress=progress, rng=words
        )
    if is_spark(source):
        from bruit.engines import spark

        return spark.mapped(source, work, words, columns=columns, text=text, metadata=metadata)
    made: list[Batch] = []
    running.map(source, made, work, columns=columns, text=text, progress=progress, rng=words)
    return {name: np.concatenate([batch[name] for batch in made]) for name in made[0]}


def tally(
    source: Any,
    design: Any,
    *,
    column: str | None = None,
    progress: Progress | None = None,
) -> Any:
    """Count the reports of a table, wherever it is and whoever made it.

    Each row is one report or one refusal: ``n`` and ``refused`` of the tally are together the number of rows. In CSV,
    reports stand as decimal or hexadecimal digits; quotes mean nothing there, and a row is a line.

    Parameters
    ----------
    source
        What `fold` reads, with the columns that `privatize` made; others may stand beside them.
    design
        The plan or mechanism that made the reports.
    column
        The column of the reports, for a single mechanism.
    progress
        As for `fold`.
    """
    forms = design.form if _is_plan(design) else {_name(column): design.form}
    single = None if _is_plan(design) else next(iter(forms))

    def count(rows: Rows) -> Any:
        found = design.tally(rows.reports if single is None else rows.reports[single])
        return replace(found, refused=found.refused + rows.refused)

    return reports.fold(source, forms, count, progress=progress)


def _is_plan(design: Any) -> bool:
    return hasattr(design, "schema")


def _name(column: str | None) -> str:
    if column is None:
        raise ParameterError('A single mechanism needs to know which column is meant, as in column="answer".')
    return batching.clean_name(column)


def _person(design: Any, column: str | None) -> tuple[list[str], Callable[[Batch, Words], Batch]]:
    """The columns that a person's side reads, and what it makes of a batch."""
    if _is_plan(design):
        if column is not None:
            raise ParameterError("A plan knows its columns: leave column out.")
        return list(design.schema), lambda batch, words: design.randomize(design.encode(batch), words)
    name = _name(column)

    def work(batch: Batch, words: Words) -> Batch:
        return {name: design.randomize(design.encode(batch[name]), words)}

    return [name], work
