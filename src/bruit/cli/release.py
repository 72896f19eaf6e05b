"""`bruit release`: publish a statistic of a file with noise, book what it costs, and keep the result.

A result is paid for. It is saved before it is shown, in the folder of results beside the ledger, where `bruit result`
finds it again; so nothing here needs to be run twice.
"""

from __future__ import annotations

import itertools
import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import typer

from bruit import _checks
from bruit.cli import _engine, _kept, _options, console
from bruit.cli.ledger import open_ledger
from bruit.errors import BruitError, BudgetError, DataError, LedgerError, MissingError, ParameterError, translated
from bruit.rounding import decimal_share

if TYPE_CHECKING:
    from bruit.privacy import Ledger
    from bruit.releases import Declaration, Groups, GroupStatistics, Person, Release, Results, Statistic

#: What is drawn with noise, and kept.
Drawn = TypeVar("Drawn")
#: How many rows are shown of a result that is saved, unless asked otherwise.
SHOWN_ROWS = 20
#: How the bounds of a person are chosen.
_HOW_MANY = "bruit limits says how many are best: few lose what people have beyond them, many need more noise."
#: The options that ask for a statistic of a column.
_KINDS = ("histogram", "sum", "mean", "variance", "median", "quantiles", "bounds")


def release(
    file: Annotated[
        str, typer.Argument(help="CSV or Parquet file, a folder of Parquet files, or - for CSV on standard input.")
    ],
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon", "-e", help="The most that all results may tell about a record, or a person; in equal shares."
        ),
    ] = None,
    delta: Annotated[
        float,
        typer.Option(help="0, or a small number such as 1e-6: Gaussian noise, and groups that are not declared."),
    ] = 0.0,
    count: Annotated[bool, typer.Option("--count", help="How many records there are.")] = False,
    histogram: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTION",
            help="How many have each value: sex=F,M, age=17..90, income=0..100/10 (bins), town=@FILE.",
        ),
    ] = None,
    total: Annotated[
        list[str] | None, typer.Option("--sum", metavar="QUESTION", help="The sum of a number, as in age=0..120.")
    ] = None,
    mean: Annotated[
        list[str] | None,
        typer.Option(metavar="QUESTION", help="The mean: age=0..120; numbers outside count as the nearest bound."),
    ] = None,
    variance: Annotated[list[str] | None, typer.Option(metavar="QUESTION", help="The variance: age=0..120.")] = None,
    median: Annotated[
        list[str] | None,
        typer.Option(metavar="QUESTION", help="The median: income=0..1000, age=0..120:1 for whole numbers, or dates."),
    ] = None,
    quantiles: Annotated[
        list[str] | None, typer.Option(metavar="QUESTION", help="Quantiles, as in income=0..1000; --at says which.")
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Powers of two between which a number lies, where nobody knows its bounds."
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(metavar="QUESTION", help="A weight of each record in counts, sums and means: stands_for=0..5."),
    ] = None,
    at: Annotated[
        str, typer.Option(help="Which quantiles: 0.25,0.5,0.75, or 0.1:0.9:0.1 for the nine deciles.")
    ] = "0.25,0.5,0.75",
    cross: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTION",
            help="A column of tables of counts, as in sex=F,M; repeat it: every two columns make a table.",
        ),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="With --cross: only this table, as in sex,smokes; may be repeated."),
    ] = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help='Any other statistic, as "KIND: QUESTION [& QUESTION] [option=value]": "variance: age=0..120", '
            '"tables: sex=F,M & smokes=no,yes", "quantiles: age=0..120:1 at=0.1:0.9:0.1".',
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTION",
            help="One result for each declared group: sex=F,M; zone=a,b,... has one for all others, too. zone=? with "
            "--count and --delta names the groups of many and counts the people, or rows, of each.",
        ),
    ] = None,
    no_group: Annotated[
        str, typer.Option(metavar="POLICY", help="With --by: rows without a group; refuse, or group: one of their own.")
    ] = "refuse",
    person: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Where people have several rows: the column that says whose row it is."),
    ] = None,
    rows: Annotated[int | None, typer.Option(help="With --person: how many rows of a person count at most.")] = None,
    groups: Annotated[
        int | None, typer.Option(help="With --person and --by: in how many groups a person counts at most.")
    ] = None,
    rows_per_group: Annotated[
        int | None, typer.Option(help="With --person and --by: how many rows of a person count in each group.")
    ] = None,
    nobody: Annotated[
        str, typer.Option(metavar="POLICY", help="With --person: rows of nobody; refuse, or drop them.")
    ] = "refuse",
    ask: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read what to publish from a JSON file, instead of the options above."),
    ] = None,
    neighbours: Annotated[
        str, typer.Option(help="add-remove, or replace if the number of records is public.")
    ] = "add-remove",
    method: Annotated[
        str | None,
        typer.Option(help="For quantiles: auto (if none is named), exponential, approximate, joint or histogram."),
    ] = None,
    missing: Annotated[
        str, typer.Option(help="A missing value: refuse, drop, or category for --histogram and --cross.")
    ] = "refuse",
    outside: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="A value outside what is declared: clamp (numbers and dates, if nothing is said), refuse (labels, if "
            "nothing is said), or other (a value of its own: labels, dates and ranges of a histogram).",
        ),
    ] = None,
    csv: _engine.Csv = None,
    ledger: Annotated[Path | None, typer.Option(help="The ledger in which the release is booked.")] = None,
    budget: Annotated[float | None, typer.Option(help="Start the ledger with this ε if there is none.")] = None,
    budget_delta: Annotated[float | None, typer.Option(help="Start it with this δ, too; 0 if nothing is said.")] = None,
    budget_rho: Annotated[
        float | None, typer.Option(help="Start the ledger with this ρ (zCDP) in place of an ε: Gaussian noise adds ρ.")
    ] = None,
    zcdp: Annotated[
        bool, typer.Option("--zcdp", help="With --budget and --budget-delta: keep them in ρ, for many releases.")
    ] = False,
    label: Annotated[str | None, typer.Option(help="What the ledger writes down; public.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Make the run repeatable, for studies: whoever knows the number can undo the noise."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the result to this file, too: .json, .csv, .parquet or .xlsx."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show the split and the expected errors; read no data, spend nothing."),
    ] = False,
    expected_rows: Annotated[
        int | None,
        typer.Option(help="With --dry-run: how many rows are expected, for the errors of means."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Pay for new noise, though the ledger has a result of this release.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file of --output that exists already.")] = False,
    level: Annotated[float, typer.Option(help="How often the intervals cover the truth.")] = 0.95,
    show: Annotated[
        int | None,
        typer.Option(help="How many values to show of a result that is saved, 20 if nothing is said; 0 for all."),
    ] = None,
    engine: _engine.Name = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Publish statistics of a file with noise: counts, histograms, tables, sums, means, variances and quantiles.

    Options for statistics may be repeated: the file is read once, and all are booked together in the ledger before any
    noise is drawn, or refused if the budget does not allow it; then nothing is spent and nothing is written. The
    results are saved beside the ledger, and `bruit result` shows them again without spending. Bounds, categories and
    groups are declared, never read from the data: sex=F,M, age=0..120, when=2023-01-01..2023-12-31/month, town=@FILE.
    A release that the ledger has already, of the same file, is shown as it was; --again pays for new noise.
    """
    from bruit.releases.once import document

    text = _engine.options(csv)
    _engine.is_spark(engine)
    _options.check_whole(seed=seed, show=show)
    _checks.probability(**{"--level": level})
    values = (histogram, total, mean, variance, median, quantiles, bounds)
    columns = {kind: texts or [] for kind, texts in zip(_KINDS, values, strict=True)}
    limits = _Person(person, rows, groups, rows_per_group, nobody)
    tables = _Cross(cross or [], table or [])
    request = _Request(
        count,
        columns,
        by or [],
        epsilon,
        neighbours,
        method,
        missing,
        at,
        limits,
        delta,
        tables,
        no_group,
        weight or "",
        outside,
        statistic or [],
    )
    whole = request.release() if ask is None else request.from_file(ask)
    _check_idle(ledger, expected_rows, again=again, dry_run=dry_run)
    if dry_run:
        started = _budget(ledger, budget, budget_delta, budget_rho, zcdp=zcdp)
        _foresee(whole, file, ledger, started, expected_rows, again=again, as_json=as_json)
        return
    _check_output(output, file, ledger, force=force)
    _check_shown(show, saved=output is not None or ledger is not None)
    started = _budget(ledger, budget, budget_delta, budget_rho, zcdp=zcdp)
    books = None if ledger is None else open_ledger(ledger, whole.guarantee.neighbours, **started)
    once = _kept.keeping(whole, books, file, label)
    kept = None if once is None or again else once.find()
    raw: Any = None
    if kept is None:
        if once is not None:  # before a large file is read; the ledger has the last word
            once.check(again=again)
        with (
            translated(MissingError, lambda error: _gaps(error, whole)),
            _engine.opened(engine, csv) as reads,
            console.progress("release", reads.unit) as report,
        ):
            source = _options.read(reads.table(file), text, report)
            if whole.person is None:
                _warn_of_people(_options.read(reads.table(file), text, None))
            raw = whole.fold(source, seed)

    def draw() -> Any:
        if once is None:
            return whole.publish(raw, None, seed, label=label)
        return kept or once.publish(raw, seed, again=again, level=level)

    def show_whole(results: Results) -> None:
        console.print_json(document(results, level)) if as_json else tell(results, level, 0, "", [])

    shown = _kept.drawn_once(once, draw, output, lambda results: _file_bytes(results, output, level), show_whole)
    _remark(books, seed)
    if as_json:
        console.print_json(document(shown.result, level))
    else:
        most = SHOWN_ROWS if show is None and shown.files else show or 0
        tell(shown.result, level, most, shown.again, shown.remarks)
    for path in shown.files:
        console.note(f"result: {_kept.near(path)}")


def _foresee(
    whole: Release | Groups | GroupStatistics,
    file: str,
    ledger: Path | None,
    budget: dict[str, Any],
    rows: int | None,
    *,
    again: bool,
    as_json: bool,
) -> None:
    """What would be published, how exactly, and what would be left of the budget; from what is declared alone.

    What the ledger would refuse ends as the release itself would.
    """
    groups = max(1, len(getattr(whole, "groups", ())))
    table = whole.prospects(None if rows is None else max(1, rows // groups))
    refusal: BruitError | None = None
    if ledger is not None:
        from bruit.privacy import Ledger

        started = ledger.exists() or not budget
        books = open_ledger(ledger) if started else Ledger(neighbours=whole.guarantee.neighbours, **budget)
        once = _kept.keeping(whole, books, file) if started else None
        known = _kept.foreseen(once, again=again) if once is not None else ""
        try:
            if not known:
                books.check(whole.lines())
            table = replace(table, notes=[*table.notes, known or books.foresee(whole.lines())])
        except (BudgetError, LedgerError) as error:
            refusal = error
    if as_json:
        console.print_json(table.to_json())
    else:
        console.show(table)
    if refusal is not None:
        raise refusal


def _check_idle(ledger: Path | None, rows: int | None, *, again: bool, dry_run: bool) -> None:
    """An option that would do nothing is a misunderstanding."""
    if again and ledger is None:
        raise ParameterError("--again is about a result that a ledger has: give --ledger, too, or leave it out.")
    if rows is not None:
        _checks.integer(low=1, **{"--expected-rows": rows})
        if not dry_run:
            raise ParameterError("--expected-rows is for --dry-run: leave it out, the rows of the file count.")


@dataclass(frozen=True)
class _Person:
    """The options that say who is protected."""

    column: str | None
    rows: int | None
    groups: int | None
    rows_per_group: int | None
    missing: str

    def read(self, rows_per_group: int | None = None) -> Person | None:
        """The person, or None if none is named; with so many rows in a group, unless said."""
        from bruit.releases import Person

        bounds = {"--rows": self.rows, "--groups": self.groups, "--rows-per-group": self.rows_per_group}
        named = {name: value for name, value in bounds.items() if value is not None}
        if self.column is None:
            if named or self.missing != "refuse":
                raise ParameterError(
                    f"{next(iter(named), '--nobody')} is about people with several rows: name the column that says "
                    "whose row it is, as in --person user_id. How many values are shown is --show."
                )
            return None
        for name, value in named.items():
            _checks.integer(low=1, **{name: value})
        _checks.one_of(("refuse", "drop"), **{"--nobody": self.missing})
        per_group = rows_per_group if self.rows_per_group is None else self.rows_per_group
        if self.rows is None and per_group is None:
            raise ParameterError(
                f"Say how many rows of a person count: --person {self.column} --rows 10, or with --by --groups 3 "
                f"--rows-per-group 1. {_HOW_MANY}"
            )
        missing: Any = self.missing
        return Person(self.column, self.rows, self.groups, per_group, missing)


@dataclass(frozen=True)
class _Cross:
    """The options that ask for tables: their columns, and which of them go together."""

    columns: list[str]
    tables: list[str]

    def __post_init__(self) -> None:
        if self.tables and not self.columns:
            raise ParameterError("--table names columns of --cross: declare them, as in --cross sex=F,M.")

    def read(self, missing: Any, outside: Any, privacy: dict[str, Any]) -> list[Statistic]:
        """The tables, as one statistic, or nothing."""
        from bruit.domains.declare import counted_question
        from bruit.engines.batch import clean_name
        from bruit.releases import Tables

        if not self.columns:
            return []
        pairs = [counted_question(text, missing, outside) for text in self.columns]
        if len(dict(pairs)) < len(pairs):
            raise ParameterError("--cross declares a column twice: name each once.")
        chosen = [tuple(clean_name(part) for part in text.split(",") if part.strip()) for text in self.tables]
        for name in itertools.chain(*chosen):
            if name not in dict(pairs):
                near = _checks.suggestion(name, dict(pairs))
                raise ParameterError(f"--table must name columns of --cross, as in --table {pairs[0][0]}.{near}")
        return [Tables(dict(pairs), tables=chosen or None, **privacy)]


def _warn_of_people(source: Any) -> None:
    """Say so if a file looks as if people had several rows, and no person is named."""
    from bruit.releases.person import repeated_identifier

    name = repeated_identifier(source)
    if name is not None:
        console.warn(
            f"column {name!r} looks like an identifier, and occurs several times: this protects a row, and not a "
            f"person with all their rows. For that, add --person {shlex.quote(name)} --rows 10. {_HOW_MANY}"
        )


@dataclass(frozen=True)
class _Request:
    """The options that say what is published."""

    count: bool
    columns: dict[str, list[str]]
    by: list[str]
    epsilon: float | None
    neighbours: str
    method: str | None
    missing: str
    at: str
    person: _Person
    delta: float
    cross: _Cross
    no_group: str
    weight: str | None
    outside: Any = None
    statistics: list[str] = field(default_factory=list)

    def release(self) -> Release | Groups | GroupStatistics:
        """The release that the options ask for."""
        from bruit.domains import Missing, Outside
        from bruit.domains.declare import questions
        from bruit.domains.outside import check_outside
        from bruit.releases import Release
        from bruit.releases.declared import read_declaration

        texts = [(kind, text) for kind, texts in self.columns.items() for text in texts]
        others = [read_declaration(text) for text in self.statistics]
        if not texts and not self.count and not self.cross.columns and not others:
            raise ParameterError("Say what to publish: --count, --mean age=0..120, --histogram sex=F,M, or --ask FILE.")
        if self.epsilon is None:
            raise ParameterError(
                "--epsilon must be given: the most that the results may tell about a record, such as 0.5."
            )
        _checks.one_of(("add-remove", "replace"), **{"--neighbours": self.neighbours})
        _checks.one_of(get_args(Missing), **{"--missing": self.missing})
        if self.outside is not None:
            _checks.one_of(get_args(Outside), **{"--outside": self.outside})
        if not others:
            self._refuse_idle(texts)
        many = len(texts) + self.count + bool(self.cross.columns) + len(others)
        share = decimal_share(_checks.positive(**{"--epsilon": self.epsilon}), many)
        privacy: dict[str, Any] = {"epsilon": share, "neighbours": self.neighbours}
        if _checks.fraction(**{"--delta": self.delta}):
            privacy["delta"] = decimal_share(self.delta, many)
            if {"median", "quantiles"} & {kind for kind, _ in texts}:
                raise ParameterError("--median and --quantiles have no δ: publish them in a command without --delta.")
        _checks.one_of(("refuse", "group"), **{"--no-group": self.no_group})
        self._check_groups()
        gaps: Missing = "category" if self.no_group == "group" else "refuse"
        groups: dict[str, Any] = dict(questions(self.by, gaps, self.outside))
        for domain in groups.values():
            if self.outside == "other" and domain is not None:
                check_outside(self.outside, domain.policies)
        if None in groups.values():
            return self._unknown(groups, texts, others)
        kinds = [("count", ""), *texts] if self.count else texts
        statistics: list[Statistic] = [self._statistic(kind, text, privacy) for kind, text in kinds]
        statistics += self.cross.read(self.missing, self.outside, privacy)
        statistics += [self._completed(item).statistic(**privacy) for item in others]
        return Release(statistics, groups or None, self.person.read())

    def _check_groups(self) -> None:
        """A column without its groups is told both ways to have them."""
        bare = next((text.strip() for text in self.by if "=" not in text), None)
        if bare is not None:
            raise ParameterError(
                f"--by {bare} must declare its groups, as in --by {bare}=a,b: a list that is read from the data tells "
                f"which groups occur. Or name and count only groups of many: --count --by {bare}=? --delta 1e-6."
            )

    def _completed(self, declaration: Declaration) -> Declaration:
        """A declaration with the policies of all, where it has none of its own."""
        from bruit.releases.declared import statistic_kind

        policies = {"missing": self.missing, "outside": self.outside}
        known = statistic_kind(declaration.kind).option_names()
        usual = {name: value for name, value in policies.items() if name in known}
        return replace(declaration, options={**usual, **(declaration.options or {})})

    def _unknown(
        self, groups: dict[str, Any], texts: list[tuple[str, str]], others: list[Declaration]
    ) -> Groups | GroupStatistics:
        """The groups of many people, and sums and means of them, where nobody declares which groups there are."""
        from bruit.releases import Groups, GroupStatistics

        name = next(name for name, domain in groups.items() if domain is None)
        declared = any(domain is not None for domain in groups.values())
        sums = self.count and all(kind in ("sum", "mean", "variance") for kind, _ in texts)
        allowed = sums and not self.cross.columns and not declared and not others
        if allowed and not self.delta:
            raise ParameterError(
                f"--by {name}=? needs a δ, the chance that a group of one person is named: add --delta 1e-6, or one "
                f"far below one over the number of people; or declare the groups, as in --by {name}=a,b."
            )
        if not allowed:
            raise ParameterError(
                f"The groups must be declared, as in --by {name}=a,b: reading them from the data would tell which "
                f"groups occur. Groups of many people can be named and counted: --count --by {name}=? --delta 1e-6, "
                "with sums, means and variances of them, and no other statistic."
            )
        if self.person.column is not None and self.person.rows is None and self.person.groups is None:
            raise ParameterError(
                f"Say in how many groups a person counts at most: --person {self.person.column} --groups 3. Of each "
                f"group the people are counted, and not their rows. {_HOW_MANY}"
            )
        person = self.person.read(rows_per_group=1)
        neighbours: Any = self.neighbours
        share = decimal_share(self.epsilon or 0.0, 1 + len(texts))
        named = Groups(list(groups), epsilon=share, delta=self.delta, neighbours=neighbours, person=person)
        privacy = {"epsilon": share, "neighbours": neighbours}
        statistics = [self._statistic(kind, text, privacy) for kind, text in texts]
        return GroupStatistics(named, {item.title: item for item in statistics}) if statistics else named

    def from_file(self, path: Path) -> Release:
        """The release that a file describes; options that say what to publish would be ignored, and are refused."""
        from bruit.releases import Release

        if (
            self.count
            or any(self.columns.values())
            or self.cross.columns
            or self.statistics
            or self.by
            or self.epsilon is not None
            or self.person.column
        ):
            raise ParameterError(
                "--ask FILE says what is published: leave out --epsilon, --by, --person and the statistics."
            )
        with translated(OSError, lambda _: DataError(f"{str(path)!r} cannot be read.")):
            text = path.read_bytes()
        return Release.from_json(text)

    def _statistic(self, kind: str, text: str, privacy: dict[str, Any]) -> Statistic:
        from bruit.releases.declared import Declaration, statistic_kind

        options: dict[str, Any] = {"missing": self.missing, "method": self.method, "outside": self.outside}
        if kind == "quantiles":
            options["at"] = self.at
        if self.weight:
            options["weighted_by"] = self.weight
        known = statistic_kind(kind).option_names()
        if self.weight and "weighted_by" not in known:
            raise ParameterError(f"Records can have weights in counts, sums and means, not in a {kind}.")
        questions = [] if kind == "count" else [text]
        return Declaration(kind, questions, {name: options[name] for name in known if name in options}).statistic(
            **privacy
        )

    def _refuse_idle(self, texts: list[tuple[str, str]]) -> None:
        """An option that would do nothing is a misunderstanding."""
        kinds = {kind for kind, _ in texts} | ({"cross"} if self.cross.columns else set())
        if self.method is not None and not kinds & {"median", "quantiles"}:
            raise ParameterError("--method is of use with --quantiles and --median: leave it out.")
        if self.missing == "category" and kinds - {"histogram", "cross"}:
            raise ParameterError("--missing category is for --histogram and --cross alone: use --missing drop.")
        if self.missing == "drop" and "cross" in kinds:
            raise ParameterError("--missing drop is not for --cross: a gap is a value there, with --missing category.")
        if self.missing != "refuse" and ((not kinds and not self.weight) or self.method == "histogram"):
            raise ParameterError("--missing is of no use here: leave it out.")
        if self.outside is not None and not self.by and not kinds - {"bounds"} and not self.weight:
            raise ParameterError("--outside is of no use here: leave it out.")


def _gaps(error: Exception, release: Release | Groups | GroupStatistics) -> DataError:
    """A gap that is not provided for, with the option that helps."""
    column = re.match(r"Column '(.*?)': ", str(error))
    name = column[1] if column else ""
    if name in (release.by or ()):
        rule = "some records have no value, and so belong to none of the groups. Add --no-group group to make them one."
    elif any(name in item.columns and item.kind == "tables" for item in getattr(release, "statistics", {}).values()):
        rule = "some records have no value. Add --missing category to count them as a value of their own."
    else:
        rule = "some records have no value. Add --missing drop to leave these records out."
    return DataError(f"Column {name!r}: {rule}")


def _check_output(output: Path | None, source: str, ledger: Path | None, *, force: bool) -> None:
    """That the result may go to `output`, and takes the place of nothing that is needed."""
    if output is None:
        return
    from bruit.engines import written

    _options.check_file(output, "--output", (".json", *written.ENDINGS))
    written.check_ending(output.with_suffix(".csv") if output.suffix.lower() == ".json" else output)
    for path, what in ((Path(source), "data"), (ledger, "ledger")):
        if path is not None and output.resolve() == path.resolve():
            raise ParameterError(f"--output must be another file than the {what}.")
    if output.exists() and not force:
        raise ParameterError(
            f"{output} exists, and what it holds was paid for: write to another name, or replace it with --force."
        )


def _check_shown(show: int | None, *, saved: bool) -> None:
    """What is hidden must be somewhere else."""
    if show and not saved:
        raise ParameterError(
            "--show would hide a part of what is paid for, and nothing keeps the whole: name a file with --output, or "
            "a ledger, beside which results are saved. Without them all values are shown."
        )


def _budget(
    path: Path | None, budget: float | None, delta: float | None, rho: float | None, *, zcdp: bool
) -> dict[str, Any]:
    """The budget with which a ledger is started, as `Ledger` takes it."""
    options = {"--budget": budget, "--budget-delta": delta, "--budget-rho": rho, "--zcdp": zcdp or None}
    first = next((name for name, value in options.items() if value is not None), None)
    if path is None and first is not None:
        raise ParameterError(f"{first} needs --ledger, the file in which it is kept.")
    if delta is not None:
        _checks.fraction(**{"--budget-delta": delta})
    for name, value in (("--budget", budget), ("--budget-rho", rho)):
        if value is not None:
            _checks.positive(**{name: value})
    if budget is not None and rho is not None:
        raise ParameterError("--budget is an ε, and --budget-rho takes its place: give one of them.")
    if delta is not None and budget is None and rho is None:
        raise ParameterError("--budget-delta is a part of the budget: give --budget, too.")
    if zcdp and (budget is None or not delta):
        raise ParameterError("--zcdp keeps an ε and a δ in ρ: give --budget 1 --budget-delta 1e-6, or --budget-rho.")
    declared = {"epsilon": budget, "delta": delta, "rho": rho, "zcdp": zcdp or None}
    return {name: value for name, value in declared.items() if value is not None}


def _remark(books: Ledger | None, seed: int | None) -> None:
    if books is None:
        console.note(
            "nothing is booked: to keep account of what is spent on these people, add --ledger my.ledger --budget 2."
        )
    if seed is not None:
        console.warn("this result is repeatable by its seed. It is for study, and not private.")


def _file_bytes(results: Results, path: Path | None, level: float) -> bytes:
    """What goes into the file that was asked for: a document, or a table of all values."""
    from bruit.engines.written import table_bytes
    from bruit.releases.once import document

    ending = "" if path is None else path.suffix.lower()
    if ending in ("", ".json"):
        return document(results, level).encode() + b"\n"
    return table_bytes(results.table(level), ending)


def tell(results: Results, level: float, rows: int, again: str, remarks: list[str]) -> None:
    """Show the first rows, or all if `rows` is 0; `again` is the command that shows the others for nothing."""
    tables = [result.table(level) for result in results.values()]
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *remarks])
    console.show(*tables, rows=rows, hint="the next command shows all, and spends nothing" if again else "")
    if again and any(0 < rows < len(result) for result in results.values()):
        console.say(f"  {again}", "dim", whole=True)
