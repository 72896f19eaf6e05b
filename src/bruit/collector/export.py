"""Results as files: tables, pictures, and plan and tally, from which ``bruit estimate`` says the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bruit import documents
from bruit.collection import OpenQuestion
from bruit.collector.estimates import table
from bruit.collector.results import SurveyResults
from bruit.collector.results_page import question_files
from bruit.errors import DataError, ParameterError
from bruit.estimation import Tally
from bruit.tables import Table

__all__ = ["export"]


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
    is_open = results.survey.open_question is not None
    texts = {
        "results.csv": whole.to_csv(),
        "results.json": whole.to_json() + "\n",
        **question_files(results),
        **(dict(_reports(results)) if is_open else {"plan.json": results.survey.plan.to_json() + "\n"}),
        **({} if is_open else dict(_tallies(results))),
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


def _reports(results: SurveyResults) -> Iterator[tuple[str, str]]:
    """The reports of an open question up to the last step, in the order of their ids, and what decodes them."""
    for (question,) in results.rounds.values():
        answer: Any = question.answer
        yield "reports.csv.plan.json", OpenQuestion(question.name, answer.answers.design).to_json() + "\n"
        form = results.survey.plan.form[question.name]
        lines = (row.tobytes().hex() for row in answer.reports.astype(form.dtype))
        yield "reports.csv", "\n".join([question.name, *lines]) + "\n"


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
