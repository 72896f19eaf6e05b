"""`bruit plan`: what will be asked of each person, and what that guarantees, before anybody is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from bruit import _checks, documents
from bruit.cli import _engine, _options, _questions, console
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.analysis import SecondGroup
    from bruit.attacks import Prospects
    from bruit.collection import Plan, Repeat


def plan(
    question: _questions.Questions = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="The most that a person's reports may tell.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="The CSV or Parquet file that questions such as smokes=? are read from, which discloses the answers; "
            "without a question, all its columns."
        ),
    ] = None,
    csv: _engine.Csv = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="SPL[x], SMP[x], RS+FD[x] or RS+RFD[x] with a mechanism for x, or ADP to choose one for each "
            "attribute; SMP2[x] for two attributes of each person, SMPk[x] for the number of least error; SMP[ADP] if "
            "none is named. For one attribute, the mechanism alone; the one of least error if "
            "none is named."
        ),
    ] = None,
    base: Annotated[
        list[str] | None, typer.Option(help="Another mechanism for one attribute, as in age=square-wave; repeatable.")
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(
            help="For RS+RFD: a .json file of the frequencies that the fakes of each attribute follow, "
            '{"sex": [0.4, 0.6], …}, or what bruit estimate --json printed of an earlier round.'
        ),
    ] = None,
    budgets: Annotated[
        list[str] | None,
        typer.Option(help="For SPL: the part of ε of one attribute, as in sex=0.2; one for each attribute."),
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            help="For SMP: how often one attribute is drawn, as in sex=1, one for each; or rotation, for few people in "
            "a file: equal shares, assigned at random. For TAB, neyman: the least variance summed over all tables."
        ),
    ] = None,
    unit: Annotated[
        str, typer.Option(help="Whom ε speaks of: person (the whole record) or attribute (one of it).")
    ] = "person",
    table: Annotated[
        list[str] | None,
        typer.Option(
            help="For TAB: a table that is asked for, as in sex,smokes; repeatable. All pairs if none is named."
        ),
    ] = None,
    public: _questions.Public = None,
    rounds: Annotated[int | None, typer.Option(help="Ask the same people again: how many rounds an epoch has.")] = None,
    epochs: Annotated[
        int | None, typer.Option(help="How many epochs there are, each with memos of its own; 1 by default.")
    ] = None,
    epoch_epsilon: Annotated[
        float | None, typer.Option(help="The most that all reports of one epoch may tell (with --rounds).")
    ] = None,
    follow_changes: Annotated[
        bool,
        typer.Option(
            "--follow-changes",
            help="For one question asked in rounds: a memo for every value of a person, which protects less; the "
            "ε of an epoch is then that of one memo.",
        ),
    ] = False,
    missing: Annotated[
        str | None, typer.Option(help="A missing value: refuse (default), or category (one of its own).")
    ] = None,
    outside: _options.Outside = None,
    people: Annotated[int, typer.Option("--people", "-n", help="How many people will answer.")] = 10_000,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where the plan goes: a .json file.")] = None,
    check_compliance: Annotated[
        float | None,
        typer.Option(
            help="Also plan a second random group at this other ε, as plan.2.json: together the two show how many "
            "people do not follow. For one question, by GRR."
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            help="Also write a page for an ethics board, in en or fr, beside the plan as plan.fr.html: what is asked, "
            "what leaves a person, and what that tells."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="What the survey is called on that page.")] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Replace a plan that exists already, as -o plan.json! does.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Plan which attributes are asked for and how, and show what to expect before anybody is asked.

    Shown for each attribute: how many values it has, its mechanism, the expected error, as the half-width of a 95 %
    interval of a frequency or of a mean, and how often the best guess of a person's value is right, with and without
    the reports. Then the other attacks. All of that is about simulated people, whose values are all equally frequent or
    follow the prior. The plan is what bruit privatize takes.

    With --rounds and --epoch-epsilon, --epsilon is that of one report, and it is shown what one report, two, an epoch
    and all epochs tell, and how often the best guess is right that has seen all reports of an epoch.

    With a plan in place of questions, as bruit plan or bruit survey export wrote it, --sheet writes its page.
    """
    from bruit import sheets
    from bruit.attacks import prospects
    from bruit.collection import Method, Plan
    from bruit.collection.design import Unit
    from bruit.collection.method import DEFAULT
    from bruit.collection.prior import read_prior

    policies = {"--missing": missing, "--outside": outside}
    if question is not None and len(question) == 1 and _options.is_plan(Path(question[0])):
        options = {
            "--epsilon": epsilon, "--data": data, "--csv": csv, "--method": method, "--base": base, "--prior": prior,
            "--budgets": budgets, "--weights": weights, "--table": table, "--public": public, "--rounds": rounds,
            "--epochs": epochs, "--epoch-epsilon": epoch_epsilon, "--follow-changes": follow_changes or None,
            **policies, "--output": output, "--check-compliance": check_compliance,
            "--json": as_json or None,
        }  # fmt: skip
        _write_sheet(Path(question[0]), sheet, options, people=people, title=title, force=force)
        return
    speaks = _checks.one_of(get_args(Unit), **{"--unit": unit})
    source = None if data is None else _options.read(data, _engine.options(csv))
    declared = _questions.schema(question, policies, source)
    if epsilon is None:
        raise ParameterError("--epsilon must be given: the most that a person's reports may tell, for example 1.")
    output, replaces = _options.destination(output)
    force = force or replaces
    _check_output(output, force=force)
    page = _page(sheet, output, force=force)
    known = None if prior is None else read_prior(prior, declared)
    settings = {
        "mechanisms": _questions.pairs(base, "--base", "age=square-wave", str),
        "budgets": _questions.pairs(budgets, "--budgets", "sex=0.2", float),
        **_weights(weights),
        "tables": None if table is None else [_questions.names(text, "--table") for text in table],
        "prior": known and known.frequencies,
    }
    clear = _questions.public(public, declared) or None
    several = len(declared) - len(clear or ()) > 1
    named = _options.method(method, several=several) or (DEFAULT if check_compliance is None else "GRR")
    repeat = _repeat(rounds, epochs, epoch_epsilon, follow_changes=follow_changes)
    planned = Plan(declared, epsilon, Method.named(named, **settings), unit=speaks, public=clear, repeat=repeat)
    _checks.integer(low=1, **{"--people": people})
    second = None if check_compliance is None else _second_group(planned, check_compliance, people)
    beside = None if second is None or output is None else output.with_suffix(".2.json")
    _check_output(beside, force=force)
    expected = prospects(planned, people, prior=known, from_data=data is not None)
    written = "" if sheet is None else sheets.sheet(planned, sheet, n=people, title=title)
    if output is not None:
        documents.write_text(output, planned.to_json() + "\n")
    if second is not None and beside is not None:
        documents.write_text(beside, second.plan.to_json() + "\n")
    if page is not None:
        documents.write_text(page, written)
        console.note(f"sheet: {page}")
    if as_json:
        document = {"plan": None if output is None else str(output), **expected.to_dict()}
        if second is not None:
            document["second_group"] = {"plan": None if beside is None else str(beside), **second.to_dict()}
        console.print_json(document)
        return
    _tell(expected, output)
    if second is not None:
        _tell_second(second, beside)


def _write_sheet(
    path: Path, language: str | None, options: dict[str, Any], *, people: int, title: str, force: bool
) -> None:
    """Write the page of a plan that there is, beside it."""
    from bruit import sheets
    from bruit.collection import Plan

    if language is None:
        raise ParameterError(f"{path.name} is a plan already: --sheet en writes its page for an ethics board.")
    for name in (name for name, value in options.items() if value is not None):
        raise ParameterError(f"{path.name} is a plan already, and --sheet writes its page: leave {name} out.")
    page, known = _page(language, path, force=force), Plan.load(path)
    written = sheets.sheet(known, language, n=people, title=title)
    if page is not None:
        documents.write_text(page, written)
    console.say(f"sheet: {page}", whole=True)
    if not known.public:
        console.note("The plan of a survey lacks its questions in clear; bruit survey sheet has them all.")


def _page(language: str | None, output: Path | None, *, force: bool) -> Path | None:
    """Where the page for an ethics board goes: beside the plan, or in this folder."""
    from bruit.sheets import LANGUAGES

    if language is None:
        return None
    _checks.one_of(LANGUAGES, **{"--sheet": language})
    page = (output or Path("plan.json")).with_suffix(f".{language}.html")
    if page.exists() and not force:
        raise ParameterError(f"{page} exists: write to another name (-o), or replace it with --force.")
    return page


def _repeat(rounds: Any, epochs: int | None, epsilon: float | None, *, follow_changes: bool) -> Repeat | None:
    """How often the same people are asked; None where it is once."""
    from bruit.collection import Repeat

    if (rounds, epochs, epsilon) == (None, None, None) and not follow_changes:
        return None
    return Repeat(rounds, 1 if epochs is None else epochs, epsilon, follow_changes)


def _weights(texts: list[str] | None) -> dict[str, Any]:
    """How often attributes or tables are drawn: numbers, or the name of a rule."""
    if texts == ["rotation"]:
        return {"assign": "rotation"}
    if texts in (["neyman"], ["equal"]):
        return {"weights": texts[0]}
    return {"weights": _questions.pairs(texts, "--weights", "sex=1", int)}


def _check_output(output: Path | None, *, force: bool) -> None:
    if output is None:
        return
    _options.check_file(output, "--output", (".json",))
    if output.exists() and not force:
        raise ParameterError(f"{output} exists: write to another name, or replace it with --force.")


def _second_group(first: Plan, epsilon: float, people: int) -> SecondGroup:
    from bruit.analysis.compliance import second_group

    if len(first.schema) > 1:
        raise ParameterError("--check-compliance is for one question: plan the others by themselves.")
    second = second_group(first, _checks.epsilon(**{"--check-compliance": epsilon}), people)
    if second.plan.guarantee.epsilon > first.guarantee.epsilon:
        raise ParameterError("--check-compliance must be below --epsilon, the most that anybody's report may tell.")
    return second


def _tell(expected: Prospects, output: Path | None) -> None:
    """The tables, what should not be missed, and the next command."""
    console.show(*expected.tables)
    if expected.warning:
        console.warn(expected.warning)
    if output is not None:
        console.say(f"plan: {output}", whole=True)
        again = "" if expected.plan.repeat is None else " --memory memory.json --person COLUMN --round 1"
        console.say(f"next: bruit privatize FILE --plan {output}{again} -o reports.parquet", style="dim", whole=True)


def _tell_second(second: SecondGroup, path: Path | None) -> None:
    """What the second group is for."""
    for line in second.lines:
        console.say(line)
    if path is not None:
        console.say(f"second plan: {path}", whole=True)
        console.say("Put people into the two groups by chance, and whatever they may answer.", style="dim")
        console.say("then: bruit analyse compliance REPORTS REPORTS-OF-THE-SECOND-GROUP", style="dim", whole=True)
