"""Reports of an open question are counters: none is lost or changed, and no order of arrival is kept."""

from __future__ import annotations

import sqlite3
from hashlib import sha256

import numpy as np
import pytest

from bruit.collector import Outcome, Store
from bruit.collector import report_counters as kept_module
from bruit.collector.intake import _Waiting, commit
from bruit.collector.links import issue
from bruit.collector.report_counters import FIRST, increments, reports
from bruit.collector.store import REPORTS
from bruit.errors import FormatError, LimitError

from ..surveys import OPEN

DTYPE = kept_module._DTYPE


@pytest.fixture
def school(store, opened, tmp_path):
    path = tmp_path / "school.toml"
    path.write_text(OPEN, encoding="utf-8")
    return opened(store, path, "school")


def bodies(open_survey, number, **settings):
    return [open_survey.survey.answer({"problem": "noise" if i % 3 else "bus"}, **settings) for i in range(number)]


def send(store: Store, open_survey, *every):
    return commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in every])


def sent(open_survey, every):
    """The reports in these bodies, in the order of their ids."""
    rows = [bytes.fromhex(open_survey.survey.parse(body).columns["problem"]) for body in every]
    return np.sort(np.frombuffer(b"".join(rows), DTYPE), order=["id", "bucket"])


def cells(rows):
    return [(*key, count) for key, count in increments(rows, 1)]


def test_reports_come_back_from_their_counters_whatever_their_ids_are() -> None:
    generator = np.random.default_rng(1)
    ids = [0, 1, 2**63 - 1, 2**63, 2**64 - 1, *generator.integers(0, 2**64, 500, dtype=np.uint64).tolist()]
    rows = np.array([(own, bucket) for own in ids for bucket in (0, 7, 255)], DTYPE)
    back = reports([(0, 1, REPORTS, len(rows)), *cells(rows)])
    assert back.tolist() == sorted(rows.tolist())
    assert all(0 <= cell < 2**63 and stratum >= FIRST for stratum, _, cell, _ in cells(rows))


def test_the_counters_of_other_strata_are_no_reports() -> None:
    assert reports([(0, 1, REPORTS, 0), (-1, 1, 0, 7), (-1, 0, 2, 3), (0, 1, 5, 9)]).size == 0


@pytest.mark.parametrize("counter", [(FIRST + 512, 1, 0, 1), (FIRST, 1, REPORTS, 1), (FIRST, 77, 0, 1)])
def test_a_counter_that_no_report_has_is_refused(counter) -> None:
    with pytest.raises(FormatError):
        reports([(0, 1, REPORTS, 1), counter])
    assert reports([(0, 1, REPORTS, 1), (FIRST, 1, 0, 1)]).size == 1


@pytest.mark.parametrize("kept", [[], [(FIRST, 1, 0, 2**62)], [(FIRST, 1, 0, 1)], [(FIRST, 1, 0, 2)]])
def test_a_store_with_more_or_fewer_reports_than_it_counted_is_refused_before_room_is_made(kept) -> None:
    with pytest.raises(FormatError):
        reports([(0, 1, REPORTS, 2), *kept])


def test_more_reports_than_fit_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(kept_module, "MOST_CELLS", 1)
    with pytest.raises(LimitError):
        reports([(0, 1, REPORTS, 2), (FIRST, 1, 0, 1), (FIRST, 1, 1, 1)])


def test_a_second_report_with_a_known_id_is_refused_whatever_else_it_has(store, school) -> None:
    """It would take the place of the first, or stand beside it in the number of answers and in nothing else."""
    every = bodies(school, 40)
    send(store, school, *every[:20])
    before = sent(school, every)
    for body in every:
        own = school.survey.parse(body)
        hint = own.columns["problem"]
        bucket = f"{int(hint[16:], 16) ^ 1:02x}"
        copy = own._replace(id=bytes(15) + body[-5:-4], columns={"problem": hint[:16] + bucket})
        assert send(store, school, body, school.survey.body.fill(copy))[1] == Outcome.OTHER_BYTES
    assert store.totals("school").answered == 40
    store.close("school", whole=True)
    assert reports(store.counters("school")).tolist() == before.tolist()


def test_every_report_is_kept_once_and_a_retry_is_not(store, school) -> None:
    every = bodies(school, 100)
    assert send(store, school, *every[:60]) == [Outcome.COUNTED] * 60
    assert send(store, school, *every) == [Outcome.REPEATED] * 60 + [Outcome.COUNTED] * 40
    assert reports(store.counters("school")).tolist() == sent(school, every).tolist()
    assert store.totals("school") == (100, 0, 60)


def test_reports_are_shown_in_steps_as_answers_are(store, school) -> None:
    every = bodies(school, 150)
    send(store, school, *every[:99])
    assert reports(store.counters("school")).size == 0
    send(store, school, every[99])
    send(store, school, *every[100:])
    assert reports(store.counters("school")).tolist() == sent(school, every[:100]).tolist()
    assert store.waiting("school") == 50


@pytest.mark.parametrize("whole", [True, False])
def test_closing_shows_the_last_reports_or_forgets_them(whole, store, school) -> None:
    every = bodies(school, 130)
    send(store, school, *every[:100])
    send(store, school, *every[100:])
    store.close("school", whole=whole)
    shown = every if whole else every[:100]
    assert reports(store.counters("school")).tolist() == sent(school, shown).tolist()
    assert reports(store._counters("school", shown=False)).tolist() == sent(school, shown).tolist()


def test_a_report_whose_bucket_is_none_is_refused(store, school) -> None:
    body = bodies(school, 1)[0].decode()
    report = school.survey.parse(body.encode()).columns["problem"]
    forged = body.replace(report, report[:16] + "ff").encode()
    assert send(store, school, forged) == [Outcome.REFUSED]
    assert reports(store._counters("school", shown=False)).size == 0


def test_a_spent_link_keeps_no_second_report(store, opened, tmp_path) -> None:
    path = tmp_path / "school.toml"
    path.write_text(OPEN, encoding="utf-8")
    school = opened(store, path, "school", links=True)
    (link,) = issue(store, "school", 1)
    every = bodies(school, 2, link=link)
    assert send(store, school, every[0]) == [Outcome.COUNTED]
    assert send(store, school, every[1]) == [Outcome.LINK_SPENT]
    assert reports(store._counters("school", shown=False)).tolist() == sent(school, every[:1]).tolist()


def test_deleting_a_survey_deletes_its_reports(store, school) -> None:
    send(store, school, *bodies(school, 100))
    store.delete("school")
    assert reports(store._counters("school", shown=False)).size == reports(store.counters("school")).size == 0


def test_the_store_is_the_same_whatever_the_order_of_arrival_and_hashes_the_ids_of_reports(tmp_path, opened) -> None:
    """Anyone can match a report with the hash of its id; the id itself stands in no other place."""
    from bruit.collector import open_store

    path, files = tmp_path / "school.toml", []
    path.write_text(OPEN, encoding="utf-8")
    every = None
    for name in ("one", "two"):
        store = open_store(tmp_path / f"{name}.sqlite")
        school = opened(store, path, "school")
        every = every or bodies(school, 40)
        for body in every if name == "one" else every[::-1]:
            send(store, school, body)
        store.close("school", whole=False)
        store.disconnect()
        with sqlite3.connect(tmp_path / f"{name}.sqlite") as database:
            files.append([database.execute(f"SELECT * FROM {table}").fetchall() for table in ("ids", "tallies")])
    assert files[0] == files[1]
    ids, tallies = files[0]
    hashes = [bytes(value) for row in ids for value in row[1:]]
    kept = reports((stratum, number, cell, count) for _, stratum, number, cell, count in tallies)
    assert {sha256(b"hint " + own.tobytes()).digest() for own in kept["id"]} <= set(hashes)  # what the pages say
    assert not [own for own in kept["id"] for part in hashes if own.tobytes() in part or own.tobytes()[::-1] in part]


def test_closing_rewrites_reports_in_postgresql_so_that_no_row_tells_when_it_was_written(database, opened, tmp_path):
    import psycopg

    from bruit.collector import open_store

    path = tmp_path / "school.toml"
    path.write_text(OPEN, encoding="utf-8")
    store = open_store(database)
    school = opened(store, path, "school")
    for body in bodies(school, 110):
        send(store, school, body)
    query = "SELECT xmin::text, stratum, round, cell FROM bruit.{} WHERE stratum >= 0 ORDER BY ctid"
    with psycopg.connect(database, autocommit=True) as connection:
        before = connection.execute(query.format("tallies")).fetchall()
        store.close("school", whole=True)
        for table in ("tallies", "shown"):
            after = connection.execute(query.format(table)).fetchall()
            assert len({row[0] for row in after}) == 1
            assert [row[1:] for row in after] == sorted(row[1:] for row in after)
            assert len(after) == 111
    assert len({row[0] for row in before}) > 100  # the control
    store.disconnect()


def test_a_copy_of_the_store_has_the_reports(tmp_path, opened) -> None:
    from bruit.collector import open_store

    path = tmp_path / "school.toml"
    path.write_text(OPEN, encoding="utf-8")
    store = open_store(tmp_path / "surveys.sqlite")
    school = opened(store, path, "school")
    every = bodies(school, 120)
    send(store, school, *every)
    store.backup(tmp_path / "copy.sqlite")
    copy = open_store(tmp_path / "copy.sqlite")
    assert reports(copy.counters("school")).tolist() == sent(school, every).tolist()
    copy.disconnect()
    store.disconnect()
