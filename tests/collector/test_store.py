"""A store counts a report once, remembers nothing of it but hashes, and shows results in steps."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
from collections import Counter
from pathlib import Path

import pytest

import bruit
from bruit.collector import Outcome, Store, open_store
from bruit.collector import sqlite as sqlite_module
from bruit.collector.intake import _Waiting, commit
from bruit.collector.links import issue
from bruit.collector.open_survey import link_hash
from bruit.collector.results import results
from bruit.collector.results_page import page
from bruit.collector.store import StoreInUse
from bruit.errors import BruitError, FormatError, ParameterError
from bruit.survey import PersonalLink

from ..surveys import ASSIGNED, ROUNDS

COUNTED, REPEATED, OTHER = Outcome.COUNTED, Outcome.REPEATED, Outcome.OTHER_BYTES
SPENT, CLOSED, REFUSED = Outcome.LINK_SPENT, Outcome.CLOSED, Outcome.REFUSED


def send(store: Store, open_survey, *bodies: bytes) -> list[Outcome]:
    """Commit bodies together, as the server does."""
    return commit(store, [_Waiting(open_survey, _read(open_survey, body), None) for body in bodies])


def _read(open_survey, body: bytes):
    try:
        return open_survey.read(body)
    except BruitError:
        return None


#: Tokens of three links.
FIRST, SECOND, THIRD = "first-of-the-links", "second-of-the-link", "third-of-the-links"


def people(open_survey, number: int, token: str = "") -> list[bytes]:
    """Bodies of people who do not exist."""
    link = PersonalLink(token).text if token else ""
    return [
        open_survey.survey.answer({"drinks": "Yes" if i % 3 else "No", "class": "AB"[i % 2]}, link=link)
        for i in range(number)
    ]


def whole(store: Store, open_survey, *, shown: bool = False) -> dict:
    plan = open_survey.survey.plan
    return store.tallies(open_survey.name, plan.digest, plan.design.cells, shown=shown)


@pytest.mark.parametrize("text", [ASSIGNED, ROUNDS], ids=["rotation", "rounds"])
def test_a_survey_that_needs_links_is_not_kept_without_them(text, store, opened, survey_file) -> None:
    survey_file.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="answered by personal links only"):
        opened(store, survey_file)
    assert store.names() == []
    opened(store, survey_file, links=True)
    assert store.names() == ["alcohol"]


def test_a_report_counts_once_whether_its_copies_come_together_or_later(store, opened, survey_file) -> None:
    open_survey = opened(store, survey_file)
    body, other = people(open_survey, 2)
    assert send(store, open_survey, body, body, other) == [COUNTED, REPEATED, COUNTED]
    assert send(store, open_survey, body) == [REPEATED]
    assert store.totals("alcohol") == (2, 0, 2)


def test_other_bytes_under_a_known_id_are_refused_and_change_no_count(store, opened, survey_file) -> None:
    open_survey = opened(store, survey_file)
    (body,) = people(open_survey, 1)
    forged = body.replace(b'"drinks":"0"', b'"drinks":"X"').replace(b'"drinks":"1"', b'"drinks":"0"')
    forged = forged.replace(b'"drinks":"X"', b'"drinks":"1"')
    assert forged != body
    assert send(store, open_survey, body, forged) == [COUNTED, OTHER]
    assert send(store, open_survey, forged) == [OTHER]
    assert store.totals("alcohol") == (1, 2, 0)
    assert sum(tally.n for tally in whole(store, open_survey).values()) == 1


def test_a_message_that_nobody_can_have_drawn_is_refused(store, opened, survey_file) -> None:
    open_survey = opened(store, survey_file)
    (body,) = people(open_survey, 1)
    forged = body.replace(b'"drinks":"0"', b'"drinks":"2"').replace(b'"drinks":"1"', b'"drinks":"2"')
    assert send(store, open_survey, forged, body, b"no report") == [REFUSED, COUNTED, REFUSED]
    assert store.totals("alcohol") == (1, 2, 0)


def test_the_tallies_are_those_of_the_plan_stratum_by_stratum(store, opened, survey_file) -> None:
    open_survey = opened(store, survey_file)
    bodies = people(open_survey, 57)
    for start in range(0, 57, 10):
        send(store, open_survey, *bodies[start : start + 10])
    plan = open_survey.survey.plan
    reports = [open_survey.survey.parse(body) for body in bodies]
    for (stratum, round_number), tally in whole(store, open_survey).items():
        some = [report.columns["drinks"] for report in reports if report.public == (stratum,)]
        assert round_number == 1
        assert tally == plan.tally({"drinks": some})


def test_estimates_are_those_of_bruit_estimate_bit_by_bit(store, opened, several_file) -> None:
    open_survey = opened(store, several_file)
    bodies = [
        open_survey.survey.answer({"smokes": "Yes" if i % 3 else "No", "sport": ("never", "sometimes", "often")[i % 3]})
        for i in range(40)
    ]
    send(store, open_survey, *bodies)
    plan = bruit.Plan.from_json(open_survey.survey.plan.to_json())
    reports = [open_survey.survey.parse(body).columns for body in bodies]
    direct = plan.estimate(plan.tally({name: [report[name] for report in reports] for name in plan.form}))
    (tally,) = whole(store, open_survey).values()
    collected = plan.estimate(tally)
    for name in plan.schema:
        assert collected[name].frequency.tobytes() == direct[name].frequency.tobytes()
        assert collected[name].variance.tobytes() == direct[name].variance.tobytes()


def test_sqlite_and_postgresql_have_the_same_tallies_after_the_same_stream(
    tmp_path, opened, survey_file, database
) -> None:
    stores = [open_store(tmp_path / "surveys.sqlite"), open_store(database)]
    open_surveys = [opened(store, survey_file) for store in stores]
    bodies = people(open_surveys[0], 60)
    forged = [body.replace(b'"drinks":"', b'"drinks":"7')[: len(body)] for body in bodies[:5]]
    other = [body.replace(b'"class":"0"', b'"class":"1"') for body in bodies[:6]]  # under known ids
    stream = [*bodies[:30], *forged, *bodies[:12], b"", *other, *bodies[30:], *bodies[55:]]
    chance = random.Random(7)
    start, outcomes = 0, []
    while start < len(stream):
        stop = start + chance.randint(1, 17)
        first, second = (
            send(store, open_survey, *stream[start:stop])
            for store, open_survey in zip(stores, open_surveys, strict=True)
        )
        assert first == second
        outcomes += first
        start = stop
    assert Counter(outcomes) == {COUNTED: 60, REPEATED: 20, OTHER: 3, REFUSED: 6}
    for shown in (False, True):
        assert whole(stores[0], open_surveys[0], shown=shown) == whole(stores[1], open_surveys[1], shown=shown)
    assert stores[0].totals("alcohol") == stores[1].totals("alcohol") == (60, 9, 20)
    for store in stores:
        store.disconnect()


def test_two_surveys_with_equal_questions_cannot_be_mixed(store, opened, survey_file, tmp_path) -> None:
    open_survey = opened(store, survey_file)
    other = tmp_path / "other.toml"
    other.write_text(survey_file.read_text().replace("Alcohol at school", "Alcohol at home"))
    twin = opened(store, other, "home")
    assert twin.survey.plan == open_survey.survey.plan
    (body,) = people(twin, 1)
    assert send(store, open_survey, body) == [REFUSED]
    assert send(store, twin, body) == [COUNTED]
    with pytest.raises(ParameterError, match="--name"):
        opened(store, other)


def test_a_survey_may_change_its_closing_date_and_gate_and_nothing_else(store, opened, survey_file) -> None:
    opened(store, survey_file)
    text = survey_file.read_text()
    survey_file.write_text("# A comment.\n" + text.replace("shown_from = 10", "shown_from = 20"))
    assert opened(store, survey_file).survey.shown_from == 20
    survey_file.write_text(text.replace("this week", "this month"))
    with pytest.raises(ParameterError, match="other questions or texts"):
        opened(store, survey_file)


def test_after_closing_a_retry_is_acknowledged_and_a_new_report_is_not(store, opened, survey_file) -> None:
    open_survey = opened(store, survey_file)
    body, late = people(open_survey, 2)
    send(store, open_survey, body)
    store.close("alcohol")
    assert send(store, open_survey, body, late) == [REPEATED, CLOSED]
    assert store.totals("alcohol").answered == 1
    with pytest.raises(ParameterError, match="closed"):
        opened(store, survey_file)


def test_a_link_is_spent_once_and_a_retry_with_it_is_acknowledged(store, opened, survey_file) -> None:
    open_survey = opened(store, survey_file, links=True)
    store.add_links("alcohol", [link_hash(FIRST), link_hash(SECOND)])
    (one,) = people(open_survey, 1, FIRST)
    (two,) = people(open_survey, 1, FIRST)
    (stranger,) = people(open_survey, 1, THIRD)
    (without,) = people(open_survey, 1)
    assert send(store, open_survey, one, two, stranger, without).count(COUNTED) == 1
    counted, refused = (one, two) if send(store, open_survey, one) == [REPEATED] else (two, one)
    assert send(store, open_survey, counted, refused, stranger, without) == [REPEATED, SPENT, SPENT, SPENT]
    assert store.links("alcohol") == (2, 1)
    assert store.totals("alcohol").answered == 1
    (fresh,) = people(open_survey, 1, SECOND)
    assert send(store, open_survey, fresh) == [COUNTED]


def test_closing_forgets_the_hashes_of_links_and_keeps_their_numbers(store, opened, survey_file) -> None:
    """Whoever has the sheet of links could tell from hashes who has answered."""
    open_survey = opened(store, survey_file, links=True)
    hashes = {link_hash(name) for name in (FIRST, SECOND, THIRD)}
    store.add_links("alcohol", hashes)
    (body,) = people(open_survey, 1, SECOND)
    (late,) = people(open_survey, 1, FIRST)
    assert send(store, open_survey, body) == [COUNTED]
    held = "SELECT link FROM {links}"
    assert {bytes(link) for (link,) in store._run(held)} == hashes  # the control
    for _ in range(2):  # a survey may be closed again
        store.close("alcohol", whole=True)
        assert not hashes & {bytes(link) for (link,) in store._run(held)}
        assert store.links("alcohol") == (3, 1)
    assert send(store, open_survey, body, late) == [REPEATED, CLOSED]
    with pytest.raises(ParameterError, match="is closed"):
        issue(store, "alcohol", 1)


def test_after_closing_no_hash_of_a_link_is_in_the_file_of_a_store(tmp_path, opened, survey_file) -> None:
    path = tmp_path / "surveys.sqlite"
    store = open_store(path)
    open_survey = opened(store, survey_file, links=True)
    hashes = [link_hash(f"{FIRST}{number}") for number in range(40)]
    store.add_links("alcohol", hashes)
    for number in range(12):
        assert send(store, open_survey, *people(open_survey, 1, f"{FIRST}{number}")) == [COUNTED]
    store.settle()
    assert all(own in path.read_bytes() for own in hashes)  # the control
    store.close("alcohol", whole=True)
    store.disconnect()
    held = b"".join(own.read_bytes() for own in tmp_path.glob("surveys.sqlite*"))
    assert not any(own in held for own in hashes)


def test_a_spent_link_leaves_no_trace_of_the_id_that_came_with_it(store, opened, survey_file) -> None:
    open_survey = opened(store, survey_file, links=True)
    store.add_links("alcohol", [link_hash(FIRST), link_hash(SECOND)])
    (body,) = people(open_survey, 1, THIRD)
    assert send(store, open_survey, body) == [SPENT]
    assert send(store, open_survey, body.replace(THIRD.encode(), SECOND.encode())) == [COUNTED]


def test_results_advance_in_steps_and_closing_shows_the_rest_only_on_demand(store, opened, survey_file) -> None:
    open_survey = opened(store, survey_file)
    bodies = people(open_survey, 25)
    seen = []
    for body in bodies:
        send(store, open_survey, body)
        seen.append(sum(tally.n for tally in whole(store, open_survey, shown=True).values()))
    assert sorted(set(seen)) == [0, 10, 20]
    store.close("alcohol")
    assert sum(tally.n for tally in whole(store, open_survey, shown=True).values()) == 20
    store.close("alcohol", whole=True)
    assert sum(tally.n for tally in whole(store, open_survey, shown=True).values()) == 25


def test_copies_of_a_report_from_many_threads_count_once(address, opened, survey_file) -> None:
    stores = [open_store(address) for _ in range(2)]
    open_survey = opened(stores[0], survey_file)
    (body,) = people(open_survey, 1)
    outcomes: list[Outcome] = []

    def work(store: Store) -> None:
        for _ in range(5):
            outcomes.extend(send(store, open_survey, *[body] * 50))

    threads = [threading.Thread(target=work, args=(store,)) for store in stores * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(outcomes) == {COUNTED: 1, REPEATED: 1999}
    assert stores[0].totals("alcohol") == (1, 0, 1999)
    for store in stores:
        store.disconnect()


def test_processes_that_write_at_once_do_not_wait_for_each_other_forever(address, opened, survey_file) -> None:
    """Every thread has its own connection; locks that were taken in another order would deadlock."""
    store = open_store(address)
    open_survey = opened(store, survey_file, links=True)
    tokens = [os.urandom(10).hex() for _ in range(240)]
    store.add_links("alcohol", map(link_hash, tokens))
    bodies = [body for token in tokens for body in people(open_survey, 1, token)]
    outcomes: list[Outcome] = []

    def work(part: int) -> None:
        order = bodies[part:] + bodies[:part]
        for start in range(0, 240, 40):
            outcomes.extend(send(store, open_survey, *order[start : start + 40][:: 1 if part % 2 else -1]))

    threads = [threading.Thread(target=work, args=(part,)) for part in range(0, 240, 60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(outcomes) == {COUNTED: 240, REPEATED: 720}
    assert store.totals("alcohol") == (240, 0, 720)
    store.disconnect()


def test_an_error_while_counting_leaves_nothing_behind(store, opened, survey_file, monkeypatch) -> None:
    open_survey = opened(store, survey_file)
    (body,) = people(open_survey, 1)
    with monkeypatch.context() as patched:
        patched.setattr(store, "_increase", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            send(store, open_survey, body)
    assert store.totals("alcohol") == (0, 0, 0)
    assert send(store, open_survey, body) == [COUNTED]


def test_a_survey_that_is_deleted_is_gone_and_others_stay(store, opened, survey_file, several_file) -> None:
    open_survey = opened(store, survey_file)
    opened(store, several_file, "health")
    send(store, open_survey, *people(open_survey, 12))
    store.delete("alcohol")
    assert store.names() == ["health"]
    assert store.survey("alcohol") is None
    assert whole(store, open_survey) == {}
    assert send(store, open_survey, *people(open_survey, 1)) == [Outcome.UNKNOWN]


def test_a_report_of_a_deleted_survey_is_not_counted_in_the_next_one_of_its_name(
    store, opened, survey_file, several_file
) -> None:
    before = opened(store, survey_file)
    store.delete("alcohol")
    after = opened(store, several_file)
    (late,) = people(before, 1)
    first, second = (_Waiting(open_survey, open_survey.read(body), None) for open_survey, body in (
        (before, late), (after, after.survey.answer({"smokes": "Yes", "sport": "often"})),
    ))  # fmt: skip
    assert commit(store, [first, second]) == [Outcome.UNKNOWN, COUNTED]
    assert store.totals("alcohol") == (1, 0, 0)
    assert [tally.n for tally in whole(store, after).values()] == [1]
    with pytest.raises(ParameterError, match="deleted"):
        results(store, before)


def test_a_report_is_not_counted_when_its_survey_was_deleted_and_the_same_file_was_opened_again(
    store, opened, survey_file
) -> None:
    before = opened(store, survey_file, opening="first")
    (late,) = people(before, 1)
    store.delete("alcohol")
    after = opened(store, survey_file, opening="second")
    assert before.opened.digest == after.opened.digest
    assert send(store, before, late) == [Outcome.UNKNOWN]
    assert send(store, after, *people(after, 1)) == [COUNTED]


def test_counters_that_are_not_of_the_survey_are_left_out_of_its_results(store, opened, several_file) -> None:
    open_survey = opened(store, several_file)
    send(store, open_survey, *(open_survey.survey.answer({"smokes": "Yes", "sport": "often"}) for _ in range(5)))
    cells = open_survey.survey.plan.design.cells
    with store._transaction():
        store._increase("alcohol", {(0, 1, cells): 3, (0, 2, -1): 9, (1, 1, -1): 9, (1, 1, 0): 9})
        store._show("alcohol")
    shown = results(store, open_survey)
    assert shown.shown == 5
    assert page(shown)


def test_deleting_overwrites_what_the_file_held(tmp_path, opened, survey_file) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    bodies = people(open_survey, 30)
    send(store, open_survey, *bodies)
    secrets = [
        b"alcohol this week",
        open_survey.survey.digest.encode(),
        *(open_survey.read(body).entry.id for body in bodies),
    ]

    def held() -> bytes:
        return b"".join(path.read_bytes() for path in tmp_path.glob("surveys.sqlite*"))

    before = held()
    assert all(secret in before for secret in secrets)
    store.delete("alcohol")
    after = held()
    assert not any(secret in after for secret in secrets)
    store.disconnect()


def test_deleting_and_closing_say_when_another_program_keeps_them_from_overwriting(
    tmp_path, opened, survey_file, monkeypatch
) -> None:
    monkeypatch.setattr(sqlite_module, "_PATIENCE", 0.01)
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    send(store, open_survey, *people(open_survey, 3))
    with contextlib.closing(sqlite3.connect(tmp_path / "surveys.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM surveys").fetchone()
        send(store, open_survey, *people(open_survey, 1))
        with pytest.raises(StoreInUse, match="Nothing was deleted"):
            store.delete("alcohol")
        assert store.totals("alcohol").answered == 4
        with pytest.raises(StoreInUse, match="is closed"):
            store.close("alcohol")
        assert store.survey("alcohol").closed
        with monkeypatch.context() as patched:
            patched.setattr(type(store), "_is_alone", lambda _: True)
            with pytest.raises(StoreInUse, match="is deleted"):
                store.delete("alcohol")
    open_survey = opened(store, survey_file)
    store.close("alcohol")
    assert (tmp_path / "surveys.sqlite-wal").stat().st_size == 0
    store.delete("alcohol")
    assert store.names() == []
    store.disconnect()


def test_a_store_is_for_its_owner_alone_and_says_what_is_not_one(tmp_path: Path) -> None:
    path = tmp_path / "surveys.sqlite"
    open_store(path).disconnect()
    assert path.stat().st_mode & 0o077 == 0
    other = tmp_path / "other.sqlite"
    other.write_bytes(b"no database, but long enough to look like one" * 100)
    with pytest.raises(FormatError, match="no store"):
        open_store(other)


def test_nothing_of_a_report_is_in_the_file_but_its_hashes(tmp_path, opened, survey_file) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    (body,) = people(open_survey, 1)
    send(store, open_survey, body)
    held = b"".join(path.read_bytes() for path in tmp_path.glob("surveys.sqlite*"))
    report = open_survey.survey.parse(body)
    assert open_survey.read(body).entry.id in held
    assert report.id not in held
    assert report.id.hex().encode() not in held
    store.disconnect()


def test_a_backup_and_a_closed_store_have_no_order_of_arrival(tmp_path, opened, survey_file) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    bodies = people(open_survey, 14)
    for body in bodies:
        send(store, open_survey, body)
    ids = [open_survey.read(body).entry.id for body in bodies]

    def by_place(path: Path) -> list[bytes]:
        held = path.read_bytes()
        return sorted(ids, key=held.rindex)

    store.settle()
    assert by_place(tmp_path / "surveys.sqlite") in (ids, ids[::-1])  # while it is open it has one
    store.backup(tmp_path / "copy.sqlite")
    store.close("alcohol")
    for path in (tmp_path / "copy.sqlite", tmp_path / "surveys.sqlite"):
        assert by_place(path) in (sorted(ids), sorted(ids)[::-1])
    store.disconnect()


def test_postgresql_keeps_no_order_of_arrival_after_closing(database, opened, survey_file) -> None:
    import psycopg

    store = open_store(database)
    open_survey = opened(store, survey_file)
    for body in people(open_survey, 30):
        send(store, open_survey, body)
    query = "SELECT id, xmin::text FROM bruit.ids ORDER BY ctid"
    with psycopg.connect(database, autocommit=True) as connection:
        before = connection.execute(query).fetchall()
        store.close("alcohol")
        after = connection.execute(query).fetchall()
    assert len({transaction for _, transaction in before}) == 30
    assert len({transaction for _, transaction in after}) == 1
    assert [key for key, _ in after] == sorted(key for key, _ in before)
    store.disconnect()
