"""Estimates as tables for other programs: of all questions, or of one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bruit.collector.results import LEVEL, SurveyResults
from bruit.tables import Table
from bruit.tables.table import Column

__all__ = ["question_table", "table"]

_NAMES = ("round", "attribute", "group", "member", "answers", "label", "estimate", "standard_error", "lower", "upper")
_TEXTS = ("attribute", "group", "member", "label")


def table(results: SurveyResults) -> Table:
    """All estimates in one table: a row per round, attribute, group and value.

    ``answers`` is the number of reports on that attribute, of that group, in that round: those that the estimate of the
    row is made from. It is at least ``shown_from`` in every row.

    Parameters
    ----------
    results
        What is shown.
    """
    return _table(results, list(_rows(results)), "Estimates of all questions", _NAMES)


def question_table(results: SurveyResults, attributes: Collection[str], round_number: int | None = None) -> Table:
    """The rows of that table on some attributes, in one round or in all: what a card of the page shows.

    Its numbers are those of the page, with as many digits: shares to a tenth of a percent, means with four digits. The
    page may be public, and a file that is saved from it says nothing that it does not.

    Parameters
    ----------
    results
        What is shown.
    attributes
        The attributes of a question, or the table of two.
    round_number
        The round; None for all.
    """
    rows = [
        (*row[:6], *(_as_shown(number, row.is_mean) for number in (row.estimate, row.lower, row.upper)))
        for row in _rows(results)
        if row.attribute in attributes and round_number in (None, row.round)
    ]
    return _table(results, rows, "Estimates of a question", [name for name in _NAMES if name != "standard_error"])


def _as_shown(number: float, is_mean: bool) -> float:
    return float(f"{number:.4g}") if is_mean else round(number, 3)


class EstimateRow(NamedTuple):
    """A value of an attribute in a group and a round, with its estimate."""

    round: int
    attribute: str
    group: str
    member: str
    answers: int | None
    label: str
    estimate: float
    standard_error: float
    lower: float
    upper: float
    is_mean: bool = False


def _table(results: SurveyResults, rows: Sequence[tuple[Any, ...]], title: str, names: Sequence[str]) -> Table:
    columns = [
        Column(name, [row[place] for row in rows], kind="text" if name in _TEXTS else "number", write=str)
        for place, name in enumerate(names)
    ]
    about = {"survey": results.survey.digest, "level": LEVEL, **_numbers(results)}
    return Table(title, columns, [], about)


def _rows(results: SurveyResults) -> Iterator[EstimateRow]:
    for number, questions in results.rounds.items():
        for question in questions:
            parts = [("", "", question.n, question.answer), *(group[:4] for group in question.groups)]
            for group, member, n, answer in parts:
                is_mean = not hasattr(answer, "frequency")
                for values in _values(answer):
                    yield EstimateRow(number, question.name, group, member, n, *values, is_mean)
    for crossed in results.crossed:
        for values in _values(crossed.cells):
            yield EstimateRow(1, " × ".join(crossed.names), "", "", crossed.n, *values)


def _values(answer: Any) -> Iterator[tuple[str, float, float, float, float]]:
    """Label, estimate, standard error and interval."""
    if answer is None:
        return
    ends = np.asarray(answer.interval(LEVEL), float).reshape(-1, 2).tolist()
    if hasattr(answer, "frequency"):
        numbers = zip(answer.labels, answer.frequency.tolist(), answer.standard_error.tolist(), ends, strict=True)
        for label, share, error, pair in numbers:
            name = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
            yield (name, share, error, *pair)
    else:
        yield ("mean", answer.mean, answer.standard_error, *ends[0])


def _numbers(results: SurveyResults) -> dict[str, int]:
    refused, repeated = results.totals.refused, results.totals.repeated
    return {"answered": results.totals.answered, "shown": results.shown, "refused": refused, "repeated": repeated}
