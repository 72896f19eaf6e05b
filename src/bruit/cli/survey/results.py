"""`bruit survey results`: estimates of a survey as of the last step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bruit.cli import console
from bruit.cli.survey import _store
from bruit.tables import counted

if TYPE_CHECKING:
    from bruit.collector.results import Question
    from bruit.survey import Survey


def results(
    name: _store.Name,
    store: _store.Address = _store.DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show the estimates of a survey, with intervals, and whether its reports follow the law.

    Results advance in steps of at least shown_from answers, so that two looks do not differ by one person's report.
    """
    from bruit.collector import export
    from bruit.collector.results import results as look

    keeper = _store.opened(store)
    try:
        shown = look(keeper, _store.desk(keeper, name))
    finally:
        keeper.disconnect()
    if as_json:
        console.print_json(export.table(shown).to_json())
        return
    answered, refused, repeated = shown.totals
    state = "closed" if shown.closed else "open"
    console.say(f"{name} ({state}): {answered:,} answered, {refused:,} refused, {repeated:,} sent again.")
    if shown.links is not None:
        console.say(
            f"{shown.links.issued:,} personal links, for {counted(shown.survey.rounds, 'round')} each."
            if shown.survey.has_rounds
            else f"{shown.links.spent:,} of {shown.links.issued:,} links are used."
        )
    if not shown.rounds:
        console.say(f"Results are shown from {counted(shown.survey.shown_from, 'answer')} on.")
        return
    if shown.held_back:
        console.note(
            f"{counted(shown.held_back, 'more answer')} waiting: results move in steps of {shown.survey.shown_from}. "
            f"To close the survey and include them: bruit survey close {name} --all"
        )
    for deviation in shown.deviations:
        what = f"say {deviation.label!r}" if deviation.label else "were drawn"
        console.warn(
            f"these reports do not follow the law: {deviation.number} of {deviation.reports} on "
            f"{deviation.attribute!r} {what}, honest ones from {deviation.low:.1f} to {deviation.high:.1f} on average."
        )
    for number, questions in shown.rounds.items():
        which = f"round {number}, " if shown.survey.has_rounds else ""
        for question in questions:
            if question.answer is not None:
                console.say(f"{which}{question.name}: {_sentence(shown.survey, question)}")
    console.show(*shown.tables)
    for number, questions in shown.rounds.items():
        which = f"round {number}, " if shown.survey.has_rounds else ""
        for question in questions:
            if question.n and question.moved is not None:
                console.say(
                    f"{which}{question.name}: {question.forged} forged of {question.n} could have moved an estimate by "
                    f"{question.moved:.3g}.",
                    "dim",
                )


def _sentence(survey: Survey, question: Question) -> str:
    """The estimate of a question in words."""
    from bruit.collector.sentences import sentence
    from bruit.collector.wording import words_of

    return sentence(survey, question.name, question.answer, words_of("en"), survey.languages[0])
