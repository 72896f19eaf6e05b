"""Codes are counted once, into the same store, results and pages as reports, and forgotten when a survey is closed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from bruit.collector.collecting import collect
from bruit.collector.intake import _Waiting, commit
from bruit.collector.open_survey import OpenSurvey
from bruit.collector.results import results
from bruit.collector.store import CODE_MARK
from bruit.errors import DataError, ParameterError
from bruit.survey.code_files import CodeRow

from ..surveys import ALCOHOL, ROUNDS

VALUES = {"drinks": "Yes", "class": "A"}


@pytest.fixture
def open_survey(opened, store, survey_file) -> OpenSurvey:
    return opened(store, survey_file, opening="abc")


def rows(codes, submitters=None):
    names = submitters or [""] * len(codes)
    return [CodeRow("codes.csv", number, (code,), who) for number, (code, who) in enumerate(zip(codes, names), 1)]  # noqa: B905


def numbers(places):
    return [place.number for place in places]


def codes_of(open_survey, number):
    return [open_survey.survey.answer_code(VALUES) for _ in range(number)]


def test_codes_count_as_the_reports_in_them(store, open_survey) -> None:
    codes = codes_of(open_survey, 25)
    assert collect(store, open_survey, rows(codes)).counted == 25
    assert store.totals("alcohol") == (25, 0, 0)
    reports = [open_survey.survey.codes.read(code).report for code in codes]
    tallies = store.tallies("alcohol", open_survey.survey.plan.digest, 2, shown=False)
    ones = sum(report.columns["drinks"] == "1" for report in reports)
    assert [(key, tally.n, tally.counts.tolist()) for key, tally in tallies.items()] == [
        ((0, 1), 25, [25 - ones, ones])
    ]
    shown = results(store, open_survey)
    assert shown.shown == 25  # one commit, and at least a step


def test_two_thousand_copies_count_once(store, open_survey) -> None:
    (code,) = codes_of(open_survey, 1)
    collected = collect(store, open_survey, rows([code, *[code.lower()] * 1_999]))
    assert (collected.counted, len(collected.twice)) == (1, 1_999)
    assert store.totals("alcohol") == (1, 0, 0)


def test_a_file_that_grows_may_be_collected_any_number_of_times(store, open_survey) -> None:
    codes = codes_of(open_survey, 30)
    for number in (10, 10, 20, 30, 30):
        collected = collect(store, open_survey, rows(codes[:number]))
        assert collected.in_store == number
    assert store.totals("alcohol") == (30, 0, 0)  # nothing is called repeated or refused
    assert collect(store, open_survey, rows(codes[::-1])).before == 30  # in any order


def test_the_same_id_with_another_content_is_set_aside(store, open_survey) -> None:
    form = open_survey.survey.codes
    code, changed = (form.write(77, (place,), {"drinks": "1"}) for place in (0, 1))
    collected = collect(store, open_survey, rows([code, changed, code]))
    assert (collected.counted, numbers(collected.twice)) == (1, [3])
    assert [place.number for place in collected.set_aside] == [2]
    again = collect(store, open_survey, rows([changed, code]))
    assert (again.counted, again.before, [place.number for place in again.set_aside]) == (0, 1, [1])
    assert store.totals("alcohol").answered == 1


def test_a_submitter_counts_once_also_when_the_file_comes_in_another_order(store, open_survey) -> None:
    codes = codes_of(open_survey, 4)
    names = ["anna", "bo", "anna", ""]
    collected = collect(store, open_survey, rows(codes, names), per_submitter=True)
    assert (collected.counted, numbers(collected.further), numbers(collected.nameless)) == (2, [3], [4])
    again = collect(store, open_survey, rows(codes[::-1], names[::-1]), per_submitter=True)
    assert (again.counted, again.before, numbers(again.further)) == (0, 2, [2])
    assert store.totals("alcohol").answered == 2


def test_one_code_of_two_submitters_counts_once(store, open_survey) -> None:
    (code,) = codes_of(open_survey, 1)
    for counted, before in ((1, 0), (0, 1)):
        collected = collect(store, open_survey, rows([code, code], ["anna", "bo"]), per_submitter=True)
        assert (collected.counted, collected.before, numbers(collected.twice)) == (counted, before, [2])


def test_codes_that_no_page_can_have_drawn_are_mistyped(store, opened, tmp_path) -> None:
    """Of lists of four of twelve labels, one of three is forged: the check fits, and the law does not."""
    from ..surveys import LONG

    path = tmp_path / "long.toml"
    path.write_text(LONG, encoding="utf-8")
    open_survey = opened(store, path, "long")
    forged = open_survey.survey.codes.write(5, (), {"town": "0000"})
    collected = collect(store, open_survey, rows([forged, open_survey.survey.answer_code({"town": "Gray"})]))
    assert (collected.counted, len(collected.mistyped)) == (1, 1)


def test_a_survey_with_links_rounds_or_an_end_takes_no_codes(store, opened, survey_file, tmp_path) -> None:
    codes = codes_of(opened(store, survey_file, "free"), 1)
    linked = opened(store, survey_file, "linked", links=True)
    with pytest.raises(ParameterError, match="opened with --links"):
        collect(store, linked, rows(codes))
    path = tmp_path / "rounds.toml"
    path.write_text(ROUNDS, encoding="utf-8")
    with pytest.raises(ParameterError, match="opened with --links"):
        collect(store, opened(store, path, "rounds", links=True), rows(codes))
    store.close("free")
    with pytest.raises(ParameterError, match="is closed"):
        collect(store, OpenSurvey(store.survey("free")), rows(codes))


def test_what_is_remembered_of_codes_is_deleted_when_a_survey_is_closed(store, open_survey) -> None:
    """Those of reports stay, so that a retry is acknowledged."""
    collect(store, open_survey, rows(codes_of(open_survey, 12)))
    body = open_survey.survey.answer(VALUES)
    commit(store, [_Waiting(open_survey, open_survey.read(body), None)])
    ids = [bytes(row[0]) for row in store._run("SELECT id FROM {ids}")]
    assert sum(own.startswith(CODE_MARK) for own in ids) == 12
    store.close("alcohol", whole=True)
    (left,) = [bytes(row[0]) for row in store._run("SELECT id FROM {ids}")]
    assert left == open_survey.read(body).entry.id
    assert store.totals("alcohol").answered == 13


def test_after_closing_no_code_is_in_the_file_of_a_store(opened, tmp_path, survey_file) -> None:
    from bruit.collector import open_store
    from bruit.collector.collecting import _entry

    path = tmp_path / "surveys.sqlite"
    store = open_store(path)
    open_survey = opened(store, survey_file)
    codes = codes_of(open_survey, 40)
    collect(store, open_survey, rows(codes))
    entries = [_entry(open_survey.survey.codes.read(code).report.id, code.replace("-", "")) for code in codes]
    store.settle()
    before = path.read_bytes()
    assert all(entry.id in before and entry.body in before for entry in entries)  # the control
    store.close("alcohol", whole=True)
    store.disconnect()
    assert not any(entry.id in path.read_bytes() or entry.body in path.read_bytes() for entry in entries)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM ids").fetchone() == (0,)


def test_a_survey_that_says_codes_takes_no_report_over_the_network(store, opened, tmp_path) -> None:
    path: Path = tmp_path / "codes.toml"
    path.write_text('channel = "codes"\n' + ALCOHOL, encoding="utf-8")
    open_survey = opened(store, path, "codes")
    assert open_survey.page == open_survey.survey.page(code=True)
    with pytest.raises(DataError, match="answered by codes"):
        open_survey.read(open_survey.survey.answer(VALUES))
