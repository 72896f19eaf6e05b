"""Which engine reads the data of a command: this process, or Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bruit import _checks
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.engines import TextOptions

#: The engines, by name.
ENGINES = ("local", "spark")

Name = Annotated[
    str, typer.Option("--engine", help="local: this process, with all its cores. spark: a Spark cluster, or local[2].")
]
Master = Annotated[
    str | None,
    typer.Option("--master", help="Where Spark runs, as in local[2] or spark://host:7077; local[*] unless said."),
]


class Engine(NamedTuple):
    """How the data of a command are read, and what its progress counts."""

    read: Callable[[str, TextOptions], Any]  # a table
    reports: Callable[[str], Any]
    unit: str = "rows"


#: This process.
LOCAL = Engine(lambda file, text: file, lambda file: file)


def is_spark(engine: str, master: str | None) -> bool:
    """Whether Spark is asked for, after the options were checked."""
    spark = _checks.one_of(ENGINES, **{"--engine": engine}) == "spark"
    if master is not None and not spark:
        raise ParameterError("--master is for --engine spark: name both.")
    return spark


@contextmanager
def opened(engine: str, master: str | None) -> Iterator[Engine]:
    """The engine; Spark starts here, and stops when the block ends."""
    if not is_spark(engine, master):
        yield LOCAL
        return
    from bruit.engines import spark

    session = spark.session(master)
    try:
        yield Engine(
            lambda file, text: spark.read(session, file, text),
            lambda file: spark.read_reports(session, file),
            "tasks",
        )
    finally:
        session.stop()
