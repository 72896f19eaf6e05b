"""Results as files: tables for other programs, and plan and tally, from which ``bruit estimate`` says the same."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bruit import documents
from bruit.collector.results import LEVEL, SurveyResults
from bruit.errors import DataError, ParameterError
from bruit.estimation import Tally
from bruit.tables import Table
from bruit.tables.table import Column

__all__ = ["card_table", "export", "table"]

_NAMES = ("round", "attribute", "group", "member", "answers", "label", "estimate", "standard_error", "lower", "upper")


def table(results: SurveyResults) -> Table:
    """All estimates in one table: a row per round, attribute, group and value.

    ``answers`` is the number of reports on that attribute, of that group, in that round: those that the estimate of the
    row is made from. It is at least ``shown_from`` in every row.

    Parameters
    ----------
    results
        What is shown.
    """
    return _table(results, list(_rows(results)), "Estimates of all questions")


def card_table(results: SurveyResults, attributes: Collection[str], round_number: int | None = None) -> Table:
    """The rows of that table on some attributes, in one round or in all: what a card of the page shows.

    Parameters
    ----------
    results
        What is shown.
    attributes
        The attributes of a question, or the table of two.
    round_number
        The round; None for all.
    """
    rows = [row for row in _rows(results) if row[1] in attributes and round_number in (None, row[0])]
    return _table(results, rows, "Estimates of a question")


def _table(results: SurveyResults, rows: Sequence[tuple[Any, ...]], title: str) -> Table:
    columns = [
        Column(name, [row[place] for row in rows], kind="text" if place in (1, 2, 3, 5) else "number", write=str)
        for place, name in enumerate(_NAMES)
    ]
    about = {"survey": results.survey.digest, "level": LEVEL, **_numbers(results)}
    return Table(title, columns, [], about)


def _rows(results: SurveyResults) -> Iterator[tuple[Any, ...]]:
    for number, questions in results.rounds.items():
        for question in questions:
            parts = [("", "", question.n, question.answer), *(group[:4] for group in question.groups)]
            for group, member, n, answer in parts:
                for values in _values(answer):
                    yield (number, question.name, group, member, n, *values)
    for crossed in results.crossed:
        for label, *numbers in _values(crossed.cells):
            yield (1, " × ".join(crossed.names), "", "", crossed.n, label, *numbers)


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


def export(results: SurveyResults, folder: Path, *, replace: bool = False) -> list[str]:
    """Write all files into a folder; their names.

    Parameters
    ----------
    results
        What is shown.
    folder
        Where to; it is made if there is none.
    replace
        Whether files that are there may be replaced.
    """
    if not any(results.parts.values()):
        raise DataError(
            f"There are too few answers to show: a question is shown from {results.survey.shown_from} reports on."
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not replace:
        raise ParameterError(f"{folder.name!r} is there and is not empty: give a new folder, or --replace.")
    folder.mkdir(parents=True, exist_ok=True)
    whole = table(results)
    texts = {
        "results.csv": whole.to_csv(),
        "results.json": whole.to_json() + "\n",
        "plan.json": results.survey.plan.to_json() + "\n",
        **dict(_tallies(results)),
        **({"over-rounds.json": _over_rounds(results)} if results.series else {}),
    }
    for name, text in texts.items():
        documents.write_text(folder / name, text)
    _write_parquet(whole, folder / "results.parquet")
    return sorted([*texts, "results.parquet"])


def _tallies(results: SurveyResults) -> Iterator[tuple[str, str]]:
    """The tally of each round without hidden questions, which it names, and those of its strata with what they are."""
    for number in results.rounds:
        name = "tally.json" if results.survey.rounds == 1 else f"tally-round-{number}.json"
        left_out = results.left_out(number)
        body = {**results.tally(number).to_dict(), **({"left_out": left_out} if left_out else {})}
        yield name, documents.seal(Tally.FORMAT, body) + "\n"
    if results.survey.public:
        sizes = {name: list(labels) for name, labels in results.survey.public.items()}
        strata = [
            {"round": number, "stratum": stratum, "tally": tally.to_dict()}
            for (stratum, number), tally in results.strata.items()
        ]
        body = {"public": sizes, "strata": strata, "answers_in_strata_not_shown": _hidden(results)}
        yield "strata.json", json.dumps(body, ensure_ascii=False, indent=1) + "\n"


def _hidden(results: SurveyResults) -> dict[str, int]:
    """How many answers of each round are in strata that are not shown."""
    hidden = dict.fromkeys(map(str, results.rounds), 0)
    for key, tally in results.tallies.items():
        hidden[str(key[1])] += 0 if key in results.strata else tally.n
    return hidden


def _over_rounds(results: SurveyResults) -> str:
    """What ``bruit estimate --over-rounds --json`` prints of the tallies of all rounds."""
    return "[\n" + ",\n".join(table.to_json() for table in results.tables) + "\n]\n"


def _write_parquet(whole: Table, path: Path) -> None:
    from pyarrow import parquet

    with documents.replacing(path) as partial:
        parquet.write_table(whole.to_frame("pyarrow"), partial)
