"""Where the data of a command are read: in this process or by Spark, and how their CSV is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, NamedTuple

import typer

from bruit import _checks
from bruit.errors import ParameterError

Name = Annotated[
    str,
    typer.Option(
        "--engine",
        help="local: this process, with all its cores. spark, or where Spark runs: local[2], spark://host:7077.",
    ),
]
Csv = Annotated[
    list[str] | None,
    typer.Option(
        "--csv",
        metavar="KEY=VALUE",
        help='How CSV is written, repeatable: "delimiter=;" (or tab), encoding=latin-1, missing=NA for a text that '
        "means that nothing is there, besides an empty cell.",
    ),
]

_KEYS = ("delimiter", "encoding", "missing", "quote")


class Engine(NamedTuple):
    """How the data of a command are read, and what its progress counts."""

    table: Callable[[str], Any]
    reports: Callable[[str], Any]
    unit: str = "rows"


#: This process.
LOCAL = Engine(lambda file: file, lambda file: file)


def is_spark(engine: str) -> bool:
    """Whether Spark is asked for."""
    if engine == "local":
        return False
    spark = engine == "spark" or engine.startswith(("local[", "spark://", "yarn", "k8s://", "mesos://"))
    return spark or bool(_checks.one_of(("local", "spark", "local[2]", "spark://host:7077"), **{"--engine": engine}))


@contextmanager
def opened(engine: str, csv: list[str] | None = None, text: Mapping[str, Any] | None = None) -> Iterator[Engine]:
    """The engine; Spark starts here, and stops when the block ends. `text` is how CSV is written, in place of `csv`."""
    if not is_spark(engine):
        yield LOCAL
        return
    from bruit import engines
    from bruit.engines import spark

    session = spark.session(None if engine == "spark" else engine)
    written = engines.TextOptions(**(options(csv) if text is None else text))
    try:
        yield Engine(
            lambda file: spark.read(session, file, written), lambda file: spark.read_reports(session, file), "tasks"
        )
    finally:
        session.stop()


def options(csv: list[str] | None) -> dict[str, Any]:
    """How CSV is written, as `bruit.engines.read` takes it."""
    chosen: dict[str, Any] = {"missing": [""]}
    for text in csv or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise ParameterError('--csv must read as in "delimiter=;", encoding=latin-1 or missing=NA.')
        _checks.one_of(_KEYS, **{"--csv": key})
        if key == "missing":
            chosen["missing"].append(value)
        else:
            chosen[key] = {"tab": "\t", "comma": ",", "semicolon": ";"}.get(value, value)
    return {**chosen, "missing": tuple(chosen["missing"])}
