"""`bruit survey results`: estimates of a survey as of the last step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bruit import documents
from bruit.cli import _options, console
from bruit.cli.survey import _store
from bruit.tables import counted

if TYPE_CHECKING:
    from bruit.collector.results import QuestionResult, SurveyResults
    from bruit.survey import Survey


def results(
    name: _store.Name,
    store: _store.Address = _store.DEFAULT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write a page of results instead; x.html! replaces one."),
    ] = None,
) -> None:
    """Show the estimates of a survey, with intervals, and whether its reports follow the law.

    A question is shown from shown_from reports on it, and so is each group. Results advance in steps of at least as
    many answers, so that two looks do not differ by one person's report. The page that --output writes is in every
    language of the survey; open it with #present to show it on a screen, one question at a time.
    """
    from bruit.collector.estimates import table
    from bruit.collector.results import results as look

    output, replaces = _options.destination(output)
    if output is not None:
        _options.check_file(output, "--output", (".html",))
        _options.check_free(output, "", replaces=replaces)
    keeper = _store.opened(store)
    try:
        shown = look(keeper, _store.open_survey(keeper, name))
    finally:
        keeper.disconnect()
    if output is not None:
        write_page(shown, output)
    elif as_json:
        console.print_json(table(shown).to_json())
    else:
        show(shown, name)


def write_page(shown: SurveyResults, output: Path) -> None:
    """Write the page of results, for the asker."""
    from bruit.collector.results_page import page

    documents.write_text(output, page(shown).decode())
    console.note(f"{output} is the page of results; {output.name}#present shows one question at a time, large.")


def show(shown: SurveyResults, name: str, *, kept: bool = True) -> None:
    """Print the estimates of a survey; one that no store keeps is neither open nor closed."""
    from bruit.collector.cards import notes
    from bruit.collector.results_page import held_back
    from bruit.collector.wording import TEXTS

    words = TEXTS["en"]
    answered, refused, repeated = shown.totals
    counts = [counted(answered, "answer"), *[f"{refused:,} refused"] * bool(refused)]
    counts += [f"{repeated:,} sent again"] * bool(repeated)
    state = f" ({'closed' if shown.closed else 'open'})" if kept else ""
    console.say(f"{name}{state}: {', '.join(counts)}.")
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
        console.note(held_back(shown, words, for_asker=True))
    for deviation in shown.deviations:
        what = f"say {deviation.label!r}" if deviation.label else "were drawn"
        console.warn(
            f"these reports do not follow the law: {deviation.number} of {deviation.reports} on "
            f"{deviation.attribute!r} {what}, honest ones from {deviation.low:.1f} to {deviation.high:.1f} on average."
        )
    for part in shown.silent_deviations:
        console.warn(f"these reports do not follow the law: those on {part!r}, whose counts are not shown.")
    for answer in shown.forged:
        console.warn(
            "not all of these reports were drawn by the page: together they fit more answers than people can have "
            f"given. An answer needs {counted(answer.answers.raised, 'further report')} to be shown."
        )
    for which, question in _questions(shown):
        for line in _lines(shown.survey, question, words):
            console.say(which + line)
    console.show(*shown.tables)
    for which, question in _questions(shown):
        for line in notes(shown, question, words):
            console.say(f"{which}{question.name}: {line}", "dim")


def _questions(shown: SurveyResults) -> Iterator[tuple[str, QuestionResult]]:
    """The questions of all rounds, with what says of which round each is."""
    for number, questions in shown.rounds.items():
        for question in questions:
            yield f"round {number}, " if shown.survey.has_rounds else "", question


def _lines(survey: Survey, question: QuestionResult, words: Mapping[str, str]) -> Iterator[str]:
    """The estimate of a question in words, those of its groups that can be compared, and what is not shown."""
    from bruit.collector.sentences import (
        group_caption,
        hidden_groups,
        hidden_question,
        leaves_open,
        respondents,
        sentence,
    )

    if question.hidden:
        yield f"{question.name}: {hidden_question(survey, question, words)}"
        return
    own = survey.languages[0]
    yield f"{question.name}: {sentence(survey, question.name, question.answer, words, own)}"
    if line := respondents(survey, question, words, own):
        yield f"{question.name}: {line}"
    for name, some in groupby(question.groups, key=lambda group: group.question):
        groups, by = list(some), f"{question.name} by {name}: "
        for group in groups:
            if group.hidden:
                continue
            line = by + group_caption(survey, question.name, group, words, own)
            if not leaves_open(survey, question.name, group.answer):
                line += f". {sentence(survey, question.name, group.answer, words, own)}"
            yield line
        yield from (by + line for line in hidden_groups(survey, groups, words, own))
