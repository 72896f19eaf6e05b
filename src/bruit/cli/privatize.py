"""`bruit privatize`: make the answers in one or more columns private, file to file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bruit import _checks, documents
from bruit.cli import _engine, _options, _questions, console, open_question
from bruit.errors import BruitError, MissingError, ParameterError, translated
from bruit.tables import at_least, at_most, counted

if TYPE_CHECKING:
    from bruit.collection import Plan
    from bruit.collection.mechanisms import Mechanism
    from bruit.privacy import Ledger


def privatize(
    file: Annotated[
        str, typer.Argument(help="CSV or Parquet file, a folder of Parquet files, or - for CSV on standard input.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Where the reports go: a .parquet or .csv file; by Spark, a .parquet folder."
        ),
    ],
    question: _questions.Questions = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="The most that a person's reports may tell.")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="A plan written before, instead of questions and what belongs to them."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="The mechanism, by its name; bruit choose lists them. For numbers: hybrid, piecewise or duchi for a "
            "mean, square-wave for quantiles, laplace, staircase; metric for ε per unit of "
            "distance. For several questions, as for bruit plan. The one of "
            "least error if none is named."
        ),
    ] = None,
    open_ended: Annotated[
        bool,
        typer.Option(
            "--open-ended",
            help="The question is a column of short texts without a list of answers: the first eight letters count.",
        ),
    ] = False,
    public: _questions.Public = None,
    missing: Annotated[
        str | None,
        typer.Option(help="A missing answer: refuse (default), drop, or category (one of its own)."),
    ] = None,
    outside: _options.Outside = None,
    memory: Annotated[
        Path | None,
        typer.Option(help="For a plan with rounds: the .json file of the memos of these people, for their eyes only."),
    ] = None,
    round_number: Annotated[
        int | None,
        typer.Option("--round", help="For a plan with rounds: which round this is, from 1 through all epochs."),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            help="For a plan with rounds: the column that tells people apart; without it the file has one row."
        ),
    ] = None,
    new_memory: Annotated[
        bool, typer.Option("--new-memory", help="Make the memory although the epoch has begun: one that was lost.")
    ] = False,
    csv: _engine.Csv = None,
    ledger: Annotated[
        Path | None, typer.Option(help="Book the guarantee in this ledger, before the reports appear.")
    ] = None,
    budget: _options.Budget = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Make the run repeatable, for studies: anyone who has the seed can remove the noise."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace reports that exist already, and their plan, as -o r.csv! does.")
    ] = False,
    engine: _engine.Name = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make each answer to a question private, as in bruit privatize people.csv smokes=no,yes -e 1 -o reports.parquet

    Every person's answer is randomised on its own, and the reports are written with a small plan beside them
    (reports.parquet.plan.json) that `bruit estimate` needs. The possible answers must be declared, as a list or for
    numbers as bounds: reading them from the data would disclose them. Numbers and booleans match the answers that are
    spelt like them: 3, 0.5, true.
    """
    from bruit.collection import files
    from bruit.collection.mechanisms import metric_facts

    _options.check_whole(seed=seed)
    output, replaces = _options.replaced(output)
    force = force or replaces
    text = _engine.options(csv)
    data = None if _engine.is_spark(engine) or file == "-" else _options.read(file, text)
    policies = {"--missing": missing, "--outside": outside}
    declared = _plan(plan, question, epsilon, method, policies, public, data, open_ended=open_ended, engine=engine)
    files.check_output(output, file, declared, replace=force, spark=_engine.is_spark(engine), how="--force")
    rounds = _rounds(declared, memory, round_number, person, engine, new=new_memory)
    books = _books(declared, ledger, budget)
    # The summary comes first, so that an error in it costs nothing.
    promised = {
        "guarantee": declared.guarantee.to_dict(),
        **metric_facts(declared.mechanisms),
        "digest": declared.digest,
    }
    facts = _described(declared)
    _warn(output, seed)
    with _engine.opened(engine, csv) as reads, console.progress("privatize", reads.unit) as report:
        source = _options.read(reads.table(file), text, report)
        with console.warnings(), translated(MissingError, lambda error: _with_options(error, declared)):
            if books is None:
                people = declared.privatize(source, seed, to=output, replace=force, **rounds)
            else:
                people = _booked(books, declared, output, lambda path: declared.privatize(source, seed, to=path))
    result = {
        "reports": str(output),
        "plan": str(files.plan_path(output)),
        "people": people,
        **facts,
        "sent_in_clear": list(declared.public),
        **({} if declared.repeat is None else {"round": round_number, "memory": str(memory)}),
        **promised,
    }
    console.print_json(result) if as_json else _show(declared, result)


def _books(plan: Plan, path: Path | None, budget: str | None) -> Ledger | None:
    """The ledger in which reports are booked; what it would refuse is refused before a large file is read."""
    from bruit.cli.ledger import open_ledger
    from bruit.privacy.ledger import Line

    if path is None:
        _options.budget(budget, path)
        return None
    if plan.repeat is not None:
        raise ParameterError("The guarantee of a plan with rounds is for all of them: leave --ledger out.")
    books = open_ledger(path, plan.guarantee.neighbours, **_options.budget(budget, path))
    books.check([Line(plan.guarantee, _label(plan))])
    return books


def _label(plan: Plan) -> str:
    """What the ledger writes down."""
    return f"reports: {', '.join(plan.schema)}"[:200]


def _booked(books: Ledger, plan: Plan, output: Path, privatize: Callable[[Path], Any]) -> Any:
    """Reports that appear, with their plan, when they are booked; until then they stand where nobody looks."""
    from bruit.collection import files
    from bruit.privacy.booking import Charge, booked

    with tempfile.TemporaryDirectory(prefix=".bruit-", dir=output.parent) as folder:
        hidden = Path(folder) / output.name
        people = privatize(hidden)
        booked(Charge(plan.guarantee, _label(plan)), books)
        if output.is_dir():
            files.remove(output)
        files.plan_path(hidden).replace(files.plan_path(output))
        hidden.replace(output)
    return people


def _rounds(
    plan: Plan, memory: Path | None, number: int | None, person: str | None, engine: str, *, new: bool
) -> dict[str, Any]:
    """What a plan with rounds is made private with; a memory is made in the first round of an epoch."""
    from bruit.oracles import Memory

    options = {"--memory": memory, "--round": number, "--person": person, "--new-memory": new or None}
    if plan.repeat is None:
        named = [name for name, value in options.items() if value is not None]
        if named:
            belong = "belongs" if len(named) == 1 else "belong"
            raise ParameterError(f"{' and '.join(named)} {belong} to a plan with rounds (bruit plan --rounds 12 …).")
        return {}
    if memory is None or number is None:
        raise ParameterError(
            "This plan asks the same people again: give --memory memory.json and --round 3, and --person COLUMN where "
            "the file has more than one person."
        )
    if _engine.is_spark(engine):
        raise ParameterError("A memory is a file of this machine: leave --engine out.")
    _options.check_file(memory, "--memory", (".json",))
    plan.panel.epoch_of(number)
    if memory.exists():
        return {"memory": Memory(memory, plan), "round": number, "person": person}
    cost = _cost_of_a_loss(plan)
    if (number - 1) % plan.repeat.rounds and not new:
        raise ParameterError(
            f"There is no memory at {memory}, and the epoch of round {number} has begun. If one was lost, new memos "
            f"cost {cost}: say --new-memory."
        )
    console.note(f"new memory: {memory}. Losing it costs {cost} in the epoch.")
    return {"memory": Memory.create(memory, plan), "round": number, "person": person}


def _cost_of_a_loss(plan: Plan) -> str:
    """What new memos in an epoch that has begun cost."""
    repeat = plan.panel.repeat
    if repeat.follow_changes:
        return f"ε = {repeat.epoch_epsilon:g} once more for every value"
    return f"ε = {plan.guarantees['epoch'].epsilon:g} once more"


def _plan(
    path: Path | None,
    questions: list[str] | None,
    epsilon: float | None,
    method: str | None,
    policies: dict[str, str | None],
    public: list[str] | None,
    data: Any,
    *,
    open_ended: bool,
    engine: str,
) -> Any:
    """What is asked: a plan, or an open question, which has the verbs of one."""
    from bruit.collection import Plan
    from bruit.collection.method import DEFAULT
    from bruit.domains import OpenText

    options = {
        "a question": questions,
        "--epsilon": epsilon,
        "--method": method,
        **policies,
        "--public": public,
        "--open-ended": open_ended or None,
    }
    named = [name for name, value in options.items() if value is not None]
    if path is not None and named:
        raise ParameterError(f"--plan already says what {' and '.join(named)} would: give one or the other.")
    if path is not None:
        return open_question.load(path) if open_question.stands_at(path) else Plan.load(path)
    if epsilon is None and str(method).lower() not in ("warner", "rr"):
        raise ParameterError("--epsilon must be given: the most that a person's reports may tell, for example 1.")
    if open_ended:
        unused = {"--method": method, "--public": public, "--outside": policies["--outside"]}
        open_question.refuse({**unused, "--engine": _engine.is_spark(engine)})
        gaps: tuple[Literal["refuse", "drop"], ...] = ("refuse", "drop")
        missing = _checks.one_of(gaps, **{"--missing": policies["--missing"] or "refuse"})
        return open_question.question(questions, epsilon, OpenText(missing=missing))
    if not questions:
        data = None  # a file is never read for all that it holds
    schema = _questions.schema(questions, policies, data)
    clear = _questions.public(public, schema)
    wanted = _options.method(method, several=len(schema) - len(set(clear)) > 1)
    return Plan(schema, epsilon, wanted or DEFAULT, public=clear or None)


def _with_options(error: Exception, plan: Plan) -> BruitError:
    """The error about missing answers, with the options that help."""
    from bruit.collection import OpenQuestion
    from bruit.domains.missing import REFUSED

    column = str(error).partition(REFUSED)[0]
    rule = REFUSED
    if len(plan.schema) > 1:
        way_out = "Plan with --missing category to count them as answers of their own."
    elif isinstance(plan, OpenQuestion):
        rule = "Some answers are empty, or have no letter or digit of the Latin script among those that count."
        way_out = "Add --missing drop to leave these people out."
    elif _only(plan).gives == "frequency":
        way_out = "Add --missing drop to leave these people out, or --missing category for an answer of their own."
    else:
        way_out = "Add --missing drop to leave these people out."
    return MissingError(f"{column}{rule} {way_out}")


def _warn(output: Path, seed: int | None) -> None:
    for unfinished in documents.unfinished(output):
        console.warn(
            f"{unfinished} was left by a run that was killed, unless one is still at work. It may hold other reports "
            "of the same people: delete it."
        )
    if seed is not None:
        silent = " A CSV file cannot say so of itself: say it when you hand it on." if output.suffix == ".csv" else ""
        console.warn(f"these reports are repeatable by their seed. They are for study, and not private.{silent}")


def _only(plan: Plan) -> Mechanism:
    """What makes the answer private, of a plan for one question."""
    (mechanism,) = plan.mechanisms.values()
    return mechanism


def _described(plan: Plan) -> dict[str, Any]:
    if len(plan.schema) == 1:
        return {"column": next(iter(plan.schema)), "mechanism": _only(plan).name}
    return {
        "columns": list(plan.schema),
        "method": str(plan.method),
        "guarantee_of_an_attribute": plan.guarantees["attribute"].to_dict(),
    }


def _show(plan: Plan, result: dict[str, Any]) -> None:
    console.say(f"{counted(result['people'], 'report')} written to {result['reports']}", whole=True)
    console.say(f"mechanism: {_only(plan).name}" if len(plan.schema) == 1 else f"method: {plan.method}{_chosen(plan)}")
    console.say(f"plan: {result['plan']}", whole=True)
    if len(plan.schema) == 1 and _only(plan).gives == "mean":
        (attribute,) = plan.schema.values()
        grid: Any = attribute.domain
        console.say(f"grid: {grid.cells:,} numbers from {grid.low} to {grid.high}, {float(grid.step):g} apart")
    if plan.public:
        console.say(f"sent in clear: {', '.join(plan.public)}")
    if plan.repeat is not None:
        _show_round(plan, result)
        return
    from bruit.attacks.prospects import promises
    from bruit.collection.mechanisms import metric_of

    nearby = metric_of(plan.mechanisms)
    low, high = (nearby or plan.guarantee).belief(0.5)
    for line in promises(plan):
        console.say(line)
    reports = "A report moves" if len(plan.schema) == 1 else "Reports move"
    whom = "about a person" if nearby is None else f"between two answers {nearby.distance} apart"
    console.say(f"{reports} an even guess {whom} to {at_least(low)} at least and {at_most(high)} at most.")
    mechanism: Any = next(iter(plan.mechanisms.values()))
    if mechanism.gives == "frequent answers":
        console.say(open_question.outlook(mechanism, result["people"]))
    console.say(f"next: bruit estimate {result['reports']}", style="dim", whole=True)


def _chosen(plan: Plan) -> str:
    """Which mechanisms ADP, the one of least error for each question, stands for."""

    from bruit.collection.mechanisms import ADAPTIVE

    if plan.method.base != ADAPTIVE:
        return ""
    names = sorted({mechanism.name for mechanism in plan.mechanisms.values()})
    return f", where {ADAPTIVE}, the mechanism of least error, is {' or '.join(names)}"


def _show_round(plan: Plan, result: dict[str, Any]) -> None:
    """What a round costs, and what comes next."""
    number, repeat = result["round"], plan.panel.repeat
    epoch = plan.panel.epoch_of(number)
    before = number - (epoch - 1) * repeat.rounds
    console.say(f"round {number}, in epoch {epoch} of {repeat.epochs}; memory: {result['memory']}", whole=True)
    console.say(f"the first {counted(before, 'round')} of this epoch: {plan.panel.after(before)}")
    if repeat.follow_changes:
        console.say(f"guarantee of all {counted(repeat.epochs, 'epoch')}: {plan.guarantees['same-changes']}")
    console.say(f"guarantee of all {counted(repeat.epochs, 'epoch')}: {plan.guarantee}")
    console.say(
        f"next: bruit estimate --over-rounds FILES, or bruit estimate {result['reports']}", style="dim", whole=True
    )
