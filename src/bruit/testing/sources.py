"""That the same people give the same reports, the same tally and the same refusals from whichever source they come."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import engines
from bruit.collection import Plan
from bruit.domains import Categories, Grid
from bruit.domains.domain import Domain
from bruit.engines.batch import as_bytes
from bruit.engines.sources import is_spark
from bruit.entropy import Entropy, Randomness
from bruit.errors import BruitError
from bruit.testing._evidence import Mechanism, require

#: From column name to a list with one entry per person: text, a whole number, a boolean, a float, or None for a gap.
Table: TypeAlias = Mapping[str, list[Any]]
#: Makes a table of n people.
TableMaker: TypeAlias = Callable[[int], Table]
#: Opens a source: from a table and an empty folder, what the engines read, for as long as the context lasts.
Source: TypeAlias = Callable[[Table, Path], AbstractContextManager[Any]]
#: From column name to reports.
Reports: TypeAlias = dict[str, NDArray[Any]]

#: The column of a mechanism that is no plan and has no name for it.
COLUMN = "answer"
#: How many people a table with something to refuse has.
FEW = 40
#: One person in this number has a gap, where the policy allows it.
GAPS = 7
#: The files to which reports are written and from which they are counted.
REPORT_FILES = ("reports.parquet", "reports.csv")


def check_sources(
    design: Mechanism | Plan,
    people: TableMaker | None = None,
    *,
    n: int = 1_000,
    sources: Mapping[str, Source] | None = None,
    rng: Randomness = 0,
) -> dict[str, str]:
    """The same people give the same reports for a seed, the same tally and the same refusals from every source.

    Sources are lists and arrays, frames, batches, files, file objects and standard input. A mechanism is asked as a
    plan for one column and, where the data are in memory, by itself. A value that is not declared, and a gap where gaps
    are refused, must raise the same error everywhere. Reports that are written to a file and read back must have
    the tally that they have in memory, impossible ones included.

    Parameters
    ----------
    design
        A mechanism, or a plan for one column or several.
    people
        Makes a table of n people. By default their values are drawn from the declared domains, with numbers
        between the cells of a grid, and with gaps where the policy allows them.
    n
        How many people. With more than `bruit.engines.BATCH`, sources are read in several batches.
    sources
        Other sources, by name, instead of all that `bruit.testing.sources.SOURCES` lists: functions of a table and an
        empty folder that give a context manager. A DataFrame of Spark must have one partition: with several, each has
        its own noise.
    rng
        Randomness of the people and of the reports.

    Returns
    -------
    dict
        The sources that were left out because a library is not installed, with the reason.

    Examples
    --------
    >>> from bruit.domains import Categories
    >>> from bruit.oracles import RandomizedResponse
    >>> gaps = Categories(labels=["no", "yes"], missing="category")
    >>> left_out = check_sources(RandomizedResponse(epsilon=1.0, domain=gaps))
    >>> set(left_out) <= {"pandas", "pandas with its own gaps", "polars"}
    True
    """
    entropy = Entropy.resolve(rng, "check_sources", design.digest)
    seed = int(entropy.words(1)[0])
    case = _Case(design, seed)
    tables = people or _ExamplePeople(case.domains, entropy)
    table, bad = tables(n), _bad_tables(case.domains, tables(FEW))
    expected = case.expected(table)
    errors = {rule: case.errors(broken) for rule, broken in bad.items()}
    for rule, by_way in errors.items():
        known = all(isinstance(error, BruitError) for error in by_way.values())
        require(known, f"People with {rule} are accepted, or raise no BruitError.")
    left_out = {}
    for name, source in (SOURCES if sources is None else sources).items():
        try:
            case.compare(name, source, table, expected)
        except _NotInstalledError as reason:
            left_out[name] = str(reason)
            continue
        for rule, broken in bad.items():
            case.compare_errors(name, source, broken, rule, errors[rule])
    case.compare_files(table, expected)
    return left_out


class _NotInstalledError(Exception):
    """A source needs a library that is not there."""


@dataclass(frozen=True)
class _Case:
    """A mechanism or plan, and the seed of its reports."""

    design: Mechanism | Plan
    seed: int

    @cached_property
    def plan(self) -> Plan:
        """The plan that is asked."""
        return self.design if isinstance(self.design, Plan) else Plan({COLUMN: self.design})

    @property
    def domains(self) -> dict[str, Domain]:
        """The domain of each column."""
        return {name: attribute.domain for name, attribute in self.plan.schema.items()}

    def by_plan(self, source: Any) -> Reports:
        """Reports of a source by the plan."""
        return _collected(self.plan.privatize(source, rng=self.seed))

    def by_mechanism(self, source: Any) -> Reports:
        """Reports of a column by the mechanism."""
        return {COLUMN: self.design.privatize(source[COLUMN], rng=self.seed)}

    def ways(self, source: Any) -> dict[str, Callable[[Any], Reports]]:
        """How a source can be asked."""
        ways: dict[str, Callable[[Any], Reports]] = {"by the plan": self.by_plan}
        if _in_memory(source) and not isinstance(self.design, Plan):
            ways["by the mechanism"] = self.by_mechanism
        return ways

    def expected(self, table: Table) -> dict[str, Reports]:
        """What every source must give, by the way it is asked: the reports of a mapping of lists."""
        # As batches: people who are left out are left out before blocks are cut, batch by batch.
        expected = {way: reports(table) for way, reports in self.ways(table).items()}
        expected["by the plan"] = self.by_plan(iter([table]))
        tally = self.plan.tally(expected["by the plan"])
        require(tally.refused == 0, "Reports that were just made are refused.")
        if "by the mechanism" in expected:
            alone = self.design.tally(expected["by the mechanism"][COLUMN])
            same = alone.n == tally.n and alone.refused == tally.refused
            require(same, "The plan counts other reports than the mechanism by itself.")
        return expected

    def errors(self, table: Table) -> dict[str, Exception | None]:
        """What a mapping of lists raises, by the way it is asked."""
        return {way: _error(lambda reports=reports: reports(table)) for way, reports in self.ways(table).items()}  # type: ignore[misc]

    def compare(self, name: str, source: Source, table: Table, expected: Mapping[str, Reports]) -> None:
        """A failure unless this source gives these reports and their tally."""
        with _opened(source, table) as opened:
            for way, reports in self.ways(opened).items():
                if _in_memory(opened) and self._drops_between_batches(table):
                    continue
                require(_same(reports(opened), expected[way]), f"From {name}, {way}, people have other reports.")
        with _opened(source, table) as opened:
            counted = self.plan.tally(self.plan.privatize(opened, rng=self.seed))
            same = self._drops_between_batches(table) or counted == self.plan.tally(expected["by the plan"])
            require(same, f"Reports from {name} have another tally.")

    def compare_errors(
        self, name: str, source: Source, table: Table, rule: str, expected: Mapping[str, Exception | None]
    ) -> None:
        """A failure unless this source refuses these people in the same words."""
        with _opened(source, table) as opened:
            for way, reports in self.ways(opened).items():
                error = _error(lambda reports=reports: reports(opened))  # type: ignore[misc]
                require(error is not None, f"From {name}, {way}, people with {rule} are accepted.")
                same = type(error) is type(expected[way]) and str(error) == str(expected[way])
                require(same, f"From {name}, {way}, people with {rule} are refused in other words: {_kind(error)}.")

    def compare_files(self, table: Table, expected: Mapping[str, Reports]) -> None:
        """A failure unless reports in a file, honest or damaged, have the tally that they have in memory."""
        honest = expected["by the plan"]
        for file in REPORT_FILES:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / file
                self.plan.privatize(iter([table]), rng=self.seed, to=path)
                written = replace(self.plan.tally(path), simulated=False)  # Parquet says that there was a seed
                require(written == self.plan.tally(honest), f"Reports in {file} have another tally.")
                damaged = _damaged(honest)
                engines.map(damaged, path, lambda batch, _: batch)
                same = self.plan.tally(path) == self.plan.tally(damaged)
                require(same, f"Impossible reports in {file} are refused otherwise than in memory.")

    def _drops_between_batches(self, table: Table) -> bool:
        """Whether people are left out before blocks are cut, which sources that come in batches do batch by batch."""
        dropping = any(domain.missing == "drop" for domain in self.domains.values())
        return dropping and len(next(iter(table.values()))) > engines.BATCH


# People.


class _ExamplePeople:
    """Tables of people whose values are drawn from domains."""

    def __init__(self, domains: Mapping[str, Domain], entropy: Entropy) -> None:
        self.domains, self.entropy = domains, entropy

    def __call__(self, n: int) -> Table:
        return {name: self._column(domain, n) for name, domain in self.domains.items()}

    def _column(self, domain: Domain, n: int) -> list[Any]:
        values = self._numbers(domain, n) if isinstance(domain, Grid) else self._labels(domain, n)
        if domain.missing != "refuse":
            values[::GAPS] = [None] * len(values[::GAPS])
        return values

    def _numbers(self, grid: Grid, n: int) -> list[Any]:
        """Whole numbers where each has a cell of its own, else numbers that lie between cells."""
        if isinstance(grid.low, int) and isinstance(grid.high, int) and grid.cells == grid.high - grid.low + 1:
            return [grid.low + code for code in self.entropy.integers(grid.cells, n).tolist()]
        shares = self.entropy.words(n) / 2.0**64
        return list(np.clip(grid.low + shares * (grid.high - grid.low), grid.low, grid.high).tolist())

    def _labels(self, domain: Any, n: int) -> list[Any]:
        labels = domain.names if isinstance(domain, Categories) else domain.decode(np.arange(domain.size)).tolist()
        count = domain.declared
        return [labels[code] for code in self.entropy.integers(count, n).tolist()]


def _bad_tables(domains: Mapping[str, Domain], table: Table) -> dict[str, Table]:
    """Tables of which the last person breaks a rule, by the rule."""
    bad: dict[str, Table] = {}
    for name, domain in domains.items():
        stranger = _stranger(domain)
        if stranger is not None:
            bad[f"a value that is not declared in {name!r}"] = _with_last(table, name, stranger)
        if domain.missing == "refuse":
            bad[f"a gap in {name!r}"] = _with_last(table, name, None)
    return bad


def _stranger(domain: Domain) -> Any:
    """A value of the right kind that is not declared; None where every value of the kind is, or is taken."""
    if domain.outside in ("clamp", "other"):
        return None
    if isinstance(domain, Grid):
        return domain.high + (1 if isinstance(domain.high, int) else 1.5)
    if not isinstance(domain, Categories):
        return None
    labels = domain.names[: domain.k]
    if isinstance(labels[0], bool):
        return None
    if isinstance(labels[0], int):
        return max(label for label in labels if isinstance(label, int)) + 1
    return "".join(map(str, labels))


def _with_last(table: Table, name: str, value: Any) -> Table:
    return {**table, name: [*table[name][:-1], value]}


# Sources.


def _held(make: Callable[[Table], Any]) -> Source:
    """A source that a function of the table makes, and nothing has to close."""
    return lambda table, folder: contextlib.nullcontext(make(table))


def _arrays(table: Table) -> dict[str, NDArray[Any]]:
    return {name: _array(values) for name, values in table.items()}


def _array(values: Sequence[Any]) -> NDArray[Any]:
    """As NumPy keeps a column: numbers with gaps as floats, other values with gaps as objects."""
    kinds = {type(value) for value in values if value is not None}
    if None not in values:
        return np.array(values)
    if kinds <= {int, float}:
        return np.array([np.nan if value is None else value for value in values], float)
    return np.array(values, object)


def _frame(backend: str) -> Source:
    return _held(lambda table: _native(table, backend))


def _native(table: Table, backend: Any) -> Any:
    import narwhals.stable.v1 as nw

    try:
        return nw.from_dict(dict(table), backend=backend).to_native()
    except ImportError:
        raise _NotInstalledError(f"{backend} is not installed.") from None


def _batches(table: Table) -> Iterator[Table]:
    """Pieces of other lengths than batches have."""
    n = len(next(iter(table.values())))
    cuts = [0, min(1, n), n // 3, n // 3, n]
    pieces = itertools.pairwise(cuts)
    return ({name: values[start:stop] for name, values in table.items()} for start, stop in pieces)


@contextlib.contextmanager
def _csv(table: Table, folder: Path) -> Iterator[Any]:
    path = folder / "people.csv"
    path.write_bytes(_csv_bytes(table))
    yield path


@contextlib.contextmanager
def _standard_input(table: Table, folder: Path) -> Iterator[Any]:
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(_csv_bytes(table)))
    try:
        yield "-"
    finally:
        sys.stdin = before


def _csv_bytes(table: Table) -> bytes:
    """A line per person; a gap is an empty cell, and of one column a blank line, as polars and pyarrow write it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(table)
    for row in zip(*table.values(), strict=True):
        if row == (None,):
            text.write("\r\n")  # the writer would put quotes there
        else:
            writer.writerow(row)
    return text.getvalue().encode()


@contextlib.contextmanager
def _parquet(table: Table, folder: Path) -> Iterator[Any]:
    _write_parquet(table, folder / "people.parquet")
    yield folder / "people.parquet"


@contextlib.contextmanager
def _parquet_folder(table: Table, folder: Path) -> Iterator[Any]:
    half = len(next(iter(table.values()))) // 2
    for name, part in (("1", slice(None, half)), ("2", slice(half, None))):
        _write_parquet({column: values[part] for column, values in table.items()}, folder / f"{name}.parquet")
    yield folder


def _write_parquet(table: Table, path: Path) -> None:
    import narwhals.stable.v1 as nw

    nw.from_native(_native(table, "pyarrow"), eager_only=True).write_parquet(path)


#: The sources that are tried unless others are given.
SOURCES: dict[str, Source] = {
    "lists": _held(lambda table: table),
    "NumPy": _held(_arrays),
    "pandas": _frame("pandas"),
    "pandas with its own gaps": _held(lambda table: _native(table, "pandas").convert_dtypes()),
    "polars": _frame("polars"),
    "Arrow": _frame("pyarrow"),
    "batches": _held(_batches),
    "CSV": _csv,
    "a file object": _held(lambda table: io.BytesIO(_csv_bytes(table))),
    "standard input": _standard_input,
    "Parquet": _parquet,
    "a folder of Parquet files": _parquet_folder,
}


@contextlib.contextmanager
def _opened(source: Source, table: Table) -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder, source(table, Path(folder)) as opened:
        yield opened


# Comparisons.


def _in_memory(source: Any) -> bool:
    """Whether columns are read by ``source[name]``."""
    return not is_spark(source) and (isinstance(source, Mapping) or hasattr(source, "columns"))


def _collected(reports: Any) -> Reports:
    """Reports as arrays; those of a Spark DataFrame are computed now, in the order of its one partition."""
    if not is_spark(reports):
        return dict(reports)
    batches: list[Reports] = engines.fold(reports, _listed)
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def _listed(batch: Reports) -> list[Reports]:
    return [batch]


def _same(reports: Reports, expected: Reports) -> bool:
    """Whether reports are equal; Spark keeps whole numbers in wider ones, and records as bytes."""
    if list(reports) != list(expected):
        return False
    pairs = ((as_bytes(reports[name]), as_bytes(expected[name])) for name in expected)
    return all(first.shape == second.shape and bool((first == second).all()) for first, second in pairs)


def _damaged(reports: Reports) -> Reports:
    """The reports, of which every tenth has all bits set in its first column."""
    name = next(iter(reports))
    column = as_bytes(reports[name]).copy()
    column[::10] = np.iinfo(column.dtype).max
    damaged = column if column.shape == reports[name].shape else column.view(reports[name].dtype).reshape(-1)
    return {**reports, name: damaged}


def _error(attempt: Callable[[], object]) -> Exception | None:
    try:
        attempt()
    except Exception as error:
        return error
    return None


def _kind(error: Exception | None) -> str:
    """What an error is, for a message: one of ours says nothing about a person."""
    return f"{type(error).__name__}: {error}" if isinstance(error, BruitError) else type(error).__name__
