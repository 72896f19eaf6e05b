"""The page of results: one HTML file, in every language of the survey that there are texts for.

Its script switches languages, shows one question at a time for a projector, moves the slider and saves pictures and
tables. It sends and loads nothing, and without it the page shows the same numbers in the reader's language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from bruit.collector.alarm import Deviation, is_tested
from bruit.collector.bars import Row, local, main_rows, percent, rows
from bruit.collector.cards import ResultCard, beyond_scale, cards
from bruit.collector.drawing import drawing
from bruit.collector.estimates import question_table
from bruit.collector.explanations import dots
from bruit.collector.results import LEVEL, SurveyResults
from bruit.collector.sentences import answers, headline, label, quoted_lead, text
from bruit.collector.wording import TEXTS
from bruit.estimation import TableEstimate
from bruit.oracles import Series
from bruit.pages import fill, isolated, source
from bruit.survey import Survey

__all__ = ["held_back", "languages", "page", "pages", "question_files"]


class CardSection(NamedTuple):
    """Cards under a heading: those of a round, or over all rounds; the heading may be empty."""

    heading: str
    cards: tuple[ResultCard, ...]


def page(results: SurveyResults, *, public: bool = False) -> bytes:
    """The page, in the first language of the survey that there are texts for; the others are in it too.

    Parameters
    ----------
    results
        What is shown.
    public
        Whether everybody may see it, and not only the person who runs the survey.
    """
    return next(iter(pages(results, public=public).values()))


def pages(results: SurveyResults, *, public: bool = False) -> dict[str, bytes]:
    """The page by the language that it begins in; the pages differ in nothing else.

    Parameters
    ----------
    results, public
        As for one page.
    """
    articles = {language: _article(results, language, public=public) for language in languages(results.survey)}
    data = _data(results, articles)
    return {
        language: fill(
            "results.html.j2",
            language=language,
            title=articles[language]["title"],
            articles=articles,
            results=results,
            totals=results.totals,
            tested=is_tested(results.survey.plan) and results.survey.open_question is None,
            data=data,
            script=source(_script()),
        ).encode()
        for language in articles
    }


def languages(survey: Survey) -> tuple[str, ...]:
    """The languages of a page: those of the survey that there are texts for, or English."""
    return tuple(language for language in survey.languages if language in TEXTS) or ("en",)


@cache
def _script() -> str:
    return resources.files("bruit.collector").joinpath("results_page.mjs").read_text(encoding="utf-8")


def question_files(results: SurveyResults) -> dict[str, str]:
    """A table (CSV) of each question, and a picture (SVG) in each language: what the page saves.

    Parameters
    ----------
    results
        What is shown.
    """
    articles = {language: _article(results, language, public=True) for language in languages(results.survey)}
    files = {f"question-{key}.csv": content for key, content in _tables(results, articles).items()}
    for language, article in articles.items():
        drawings = _drawings(article, language)
        files |= {f"question-{key}.{language}.svg": content for key, content in drawings.items()}
    return files


def _data(results: SurveyResults, articles: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the script needs: files to save, and the numbers of the sliders."""
    first = next(iter(articles.values()))
    return {
        "name": results.name,
        "csv": _tables(results, articles),
        "svg": {language: _drawings(article, language) for language, article in articles.items()},
        "why": {card.key: card.why.table() for card in _shown(first) if card.why},
        "words": {language: _script_words(article) for language, article in articles.items()},
    }


def _shown(article: Mapping[str, Any]) -> list[ResultCard]:
    """The cards that show an estimate."""
    return [card for section in article["sections"] for card in section.cards if card.rows]


def _tables(results: SurveyResults, articles: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The estimates of each card as CSV; they are the same in all languages."""
    first = next(iter(articles.values()))
    tables = {card.key: question_table(results, card.attributes, card.round) for card in _shown(first)}
    tables |= {crossed["key"]: question_table(results, [crossed["name"]]) for crossed in first["crossed"]}
    return {key: table.to_csv() for key, table in tables.items()}


def _drawings(article: Mapping[str, Any], language: str) -> dict[str, str]:
    return {card.key: drawing(card, article["title"], article["words"], language) for card in _shown(article)}


def _script_words(article: Mapping[str, Any]) -> dict[str, Any]:
    """The texts that change while the page is looked at."""
    names = ("why_reports", "why_more", "why_less", "why_meet", "place", "result")
    quoted = {card.key: card.why.answer for card in _shown(article) if card.why}
    return {**{name: article["words"][name] for name in names}, "answers": quoted}


def _article(results: SurveyResults, language: str, *, public: bool) -> dict[str, Any]:
    """All that the page says in one language."""
    survey, words, own = results.survey, TEXTS[language], _own(results.survey, language)
    clear = [
        words["quoted"].format(text=isolated(question.text[own])) for question in survey.questions if question.clear
    ]
    sections = list(_sections(results, words, own))
    every = [row for section in sections for card in section.cards for row in _rows(card)]
    return {
        "words": words,
        "title": survey.title[own],
        "sections": sections,
        "crossed": [_crossed(results, table, words, own) for table in results.crossed],
        "alarms": list(_alarms(results, words)),
        "alarm_text": words["alarm_text" if survey.open_question is None else "alarm_open_text"],
        "no_test": words["no_test" if survey.open_question is None else "no_test_open"],
        "cut": any(row.below or row.above for row in every),
        "held_back": held_back(results, words, for_asker=not public),
        "guarantee": words[_guarantee(survey)].format(
            epsilon=f"{survey.plan.guarantee.epsilon:.7g}", rounds=survey.rounds
        )
        + " "
        + words["guarantee_clear" if clear else "guarantee_none"].format(clear="; ".join(clear)),
    }


def _own(survey: Survey, language: str) -> str:
    """The language of the survey's own texts."""
    return language if language in survey.languages else survey.languages[0]


def _sections(results: SurveyResults, words: Mapping[str, str], own: str) -> Iterator[CardSection]:
    series = [series for series in results.series.values() if len(series.tallies) > 1]
    if series:
        heading = words["over"].format(count=len(results.rounds))
        yield CardSection(heading, tuple(_over(results, known, words, own) for known in series))
    for number in results.rounds:
        heading = words["round"].format(number=number) if results.survey.rounds > 1 else ""
        yield CardSection(heading, tuple(cards(results, number, words, own)))


def _rows(card: ResultCard) -> Iterator[Row]:
    """The rows of a card, for all people and for groups."""
    yield from (*card.table, *card.changes)
    yield from (row for group in card.groups for part in group.parts for row in part.table)


def _guarantee(survey: Survey) -> str:
    """The name of the text on how answers were protected; those of a survey for paper that was opened came here too."""
    if survey.open_question is not None:
        return "guarantee_open"
    if survey.has_rounds:
        return "guarantee_rounds"
    return "guarantee_codes" if survey.channel == "codes" else "guarantee_collector"


def held_back(results: SurveyResults, words: Mapping[str, str], *, for_asker: bool) -> str:
    """How many answers are not included, and why; nothing where all are, or nothing is shown.

    Parameters
    ----------
    results
        What is shown.
    words
        The texts of the page.
    for_asker
        Whether the person who runs the survey reads it, and may see the commands that include or forget them.
    """
    if not results.held_back or not results.rounds:
        return ""
    number = "one" if results.held_back == 1 else "many"
    line = words[f"{'left_out' if results.closed else 'held'}_{number}"]
    line = line.format(held=results.held_back, step=results.survey.shown_from)
    return f"{line} {words['left_out_all'].format(name=results.name)}" if results.undecided and for_asker else line


def _alarms(results: SurveyResults, words: Mapping[str, str]) -> Iterator[str]:
    yield from (_alarm(deviation, words) for deviation in results.deviations)
    yield from (words["alarm_silent"].format(attribute=part) for part in results.silent_deviations)
    for answer in results.forged:
        moved = words["points"].format(number=percent(answer.answers.lift, words))
        yield words["alarm_open"].format(raised=answer.answers.raised, moved=moved)


def _alarm(deviation: Deviation, words: Mapping[str, str]) -> str:
    line = words["alarm_many" if deviation.label else "alarm_drawn"]
    means = {end: local(f"{getattr(deviation, end):.1f}", words) for end in ("low", "high")}
    return line.format(**{**deviation._asdict(), **means})


def _crossed(results: SurveyResults, table: TableEstimate, words: Mapping[str, str], own: str) -> dict[str, Any]:
    """A table of two attributes: a row for each value of the first, each cell with its share and interval."""
    first, second = table.names
    ends = np.asarray(table.interval(LEVEL), float).reshape(*table.shape, 2)
    test = table.independence(LEVEL)
    cells = [
        [
            {
                "value": words["percent"].format(number=percent(share, words)),
                "interval": f"{percent(low, words)} … {percent(high, words)}",
            }
            for share, (low, high) in zip(shares, pairs, strict=True)
        ]
        for shares, pairs in zip(table.frequency.tolist(), ends.tolist(), strict=True)
    ]
    beyond = bool((ends < 0).any() or (ends > 1).any())
    return {
        "key": f"table-{results.crossed.index(table) + 1}",
        "name": " × ".join(table.names),
        "outside": words["outside_share"].format(n=answers(table.n, words)) if beyond else "",
        "heading": words["together"].format(
            first=isolated(text(results.survey, first, own)), second=isolated(text(results.survey, second, own))
        ),
        "reports": words["reports"].format(n=table.n),
        "across": [label(results.survey, second, str(value), own) for value in table.axes[1]],
        "rows": [
            (label(results.survey, first, str(value), own), row)
            for value, row in zip(table.axes[0], cells, strict=True)
        ],
        "test": words["together_yes" if test.p_value < 1 - LEVEL else "together_no"].format(
            p=_chance(test.p_value, words)
        ),
    }


def _over(results: SurveyResults, series: Series, words: Mapping[str, str], own: str) -> ResultCard:
    """The mean of the rounds of one attribute, and the last one less the first."""
    survey, name, numbers = results.survey, series.name or "", list(results.rounds)
    mean = series.mean(same_people=False)
    change = series.difference(0, len(numbers) - 1, same_people=False)
    remarks = [words["over_test"].format(p=_chance(change.p_value, words))]
    if len(set(series.epochs)) == 1:
        remarks.append(words["over_same"])
    means = tuple(rows(survey, name, mean, words, own))
    quoted = quoted_lead(survey, name, mean, words, own)
    return ResultCard(
        key=f"{_file_name(survey, name)}-over-rounds",
        attributes=(name,),
        text=text(survey, name, own),
        lead=headline(survey, name, mean, words, own),
        reports=words["over_mean"],
        rows=tuple(main_rows(survey, name, mean, words, own)),
        table=means,
        hidden=(),
        beyond_scale=beyond_scale(means, mean, _reports(results, name), words),
        notes=tuple(remarks),
        dots=dots(survey, name, mean, quoted, words),
        changes=tuple(main_rows(survey, name, change, words, own, signed=True)),
        caption=words["over_change"].format(last=numbers[-1], first=numbers[0]),
    )


def _file_name(survey: Survey, name: str) -> str:
    """An attribute as a part of names of files: its question, and the number of its choice, which may say anything."""
    question = next(question for question in survey.sensitive if name in question.attribute_names)
    place = question.attribute_names.index(name) + 1
    return f"{question.name}-{place}" if question.kind == "several" else question.name


def _reports(results: SurveyResults, name: str) -> int:
    """How many reports on an attribute there are in all rounds."""
    return sum(question.n or 0 for known in results.rounds.values() for question in known if question.name == name)


def _chance(p_value: float, words: Mapping[str, str]) -> str:
    return local("p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}", words)
