"""The ledger: never above its budget, never without what was released, whatever happens to the machine."""

from __future__ import annotations

import copy
import errno
import fcntl
import json
import logging
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit import documents
from bruit.errors import (
    BruitError,
    BudgetError,
    FormatError,
    LedgerError,
    ParameterError,
    ParameterTypeError,
)
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Ledger, accounts, storage
from bruit.privacy.ledger.accounts import shown_down, shown_up
from bruit.privacy.zcdp import pure_rho
from bruit.rounding import decimal

SECRET = "a label nobody should quote"


def promise(epsilon=0.1, delta=0.0, neighbours="add-remove"):
    return Guarantee(epsilon=epsilon, delta=delta, neighbours=neighbours)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.ledger"


@pytest.fixture(params=["memory", "file"])
def start(request, path):
    """A ledger of either kind, with the budget that a test asks for."""
    if request.param == "memory":
        return Ledger
    return lambda *args, **kwargs: Ledger.open(path, *args, **kwargs)


@pytest.fixture
def book(path):
    """A file of four lines: a header and three entries."""
    ledger = Ledger.open(path, epsilon=1.0)
    for _ in range(3):
        ledger.spend(promise(), SECRET)
    return ledger


# The budget


def test_ten_tenths_fit_in_one_and_eleven_do_not(start):
    ledger = start(epsilon=1.0)
    for step in range(10):
        ledger.spend(promise(0.1), f"release {step}")
    assert ledger.spent == promise(1.0)
    assert ledger.remaining == (0.0, 0.0)
    with pytest.raises(BudgetError):
        ledger.spend(promise(5e-324), "the smallest double there is")
    assert len(ledger) == 10


def test_a_refusal_says_what_was_asked_what_is_left_and_what_to_do(start):
    ledger = start(epsilon=1.0)
    ledger.spend(promise(0.8), "mean")
    with pytest.raises(BudgetError) as refusal:
        ledger.spend(promise(0.5), SECRET)
    assert str(refusal.value) == (
        "Budget exceeded: this release needs ε=0.5, 0.2 remain of 1.0. Lower epsilon, or open a new ledger "
        "for the data of other people."
    )
    evidence = refusal.value
    assert (evidence.requested, evidence.remaining, evidence.total) == (0.5, 0.2, 1.0)


def test_epsilon_and_delta_must_both_hold(start):
    ledger = start(epsilon=1.0, delta=1e-6)
    ledger.spend(promise(0.1, 6e-7), "first")
    with pytest.raises(BudgetError, match=r"needs δ=6e-07, 4e-07 remain of 1e-06\. Of ε, 0\.9 remain of 1\.0\. Lower"):
        ledger.spend(promise(0.1, 6e-7), "too much delta")
    with pytest.raises(BudgetError, match=r"needs ε=1\.0, 0\.9 remain"):
        ledger.spend(promise(1.0, 1e-9), "too much epsilon")
    assert ledger.spent == promise(0.1, 6e-7)


def test_a_pure_ledger_takes_no_delta(start):
    with pytest.raises(BudgetError, match="δ"):
        start(epsilon=1.0).spend(promise(0.1, 1e-12), "gaussian")


epsilons = st.one_of(st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0]), st.floats(0, 1.5))
requests = st.lists(
    st.tuples(
        epsilons,
        st.sampled_from([0.0, 1e-7, 3e-7, 1e-6]),
        st.sampled_from([None, ("x", "a"), ("x", "b"), ("x", "c"), ("y", "a"), ("y", "b")]),
    ),
    max_size=25,
)


def slow_total(accepted, name):
    """The obvious account: add within parts, take the worst of a group, add the groups."""
    total, groups = Fraction(0), defaultdict(lambda: defaultdict(Fraction))
    for guarantee, place in accepted:
        amount = Fraction(repr(getattr(guarantee, name)))
        if place is None:
            total += amount
        else:
            groups[place[0]][place[1]] += amount
    return total + sum(max(parts.values()) for parts in groups.values())


def play(ledger, asked, bytes_now=lambda: b""):
    """Make the requests in two parallel blocks and outside; check after each, return what was accepted."""
    accepted = []
    with ledger.parallel("x", fixed=True) as x, ledger.parallel("y", fixed=True) as y:
        for epsilon, delta, place in asked:
            guarantee = promise(epsilon, delta, ledger.neighbours)
            before = (ledger.entries, ledger.spent, ledger.remaining, bytes_now())
            try:
                if place is None:
                    ledger.spend(guarantee, "plain")
                else:
                    {"x": x, "y": y}[place[0]].spend(guarantee, place[1])
            except BudgetError:
                assert (ledger.entries, ledger.spent, ledger.remaining, bytes_now()) == before
                trial = [*accepted, (guarantee, place)]
                over_epsilon = slow_total(trial, "epsilon") > 1
                over_delta = slow_total(trial, "delta") > Fraction("1e-6")
                assert over_epsilon or over_delta  # nothing that fits is refused
            else:
                accepted.append((guarantee, place))
    return accepted


@pytest.mark.parametrize("neighbours", ["add-remove", "replace", "person"])
@settings(max_examples=60, deadline=None)
@given(asked=requests)
def test_no_sequence_of_requests_exceeds_the_budget_and_a_refused_one_leaves_no_trace(neighbours, asked):
    ledger = Ledger(epsilon=1.0, delta=1e-6, neighbours=neighbours)
    accepted = play(ledger, asked)
    for name in ("epsilon", "delta"):
        exact = slow_total(accepted, name)
        assert exact <= Fraction(repr(getattr(ledger, name)))
        stated = Fraction(repr(getattr(ledger.spent, name)))
        assert exact <= stated <= exact + exact / 10**15
        left = Fraction(repr(getattr(ledger.remaining, name)))
        assert left + exact <= Fraction(repr(getattr(ledger, name)))


@settings(max_examples=15, deadline=None)
@given(asked=requests)
def test_a_refused_request_leaves_the_bytes_of_the_file_alone(asked):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ledger")
        ledger = Ledger.open(path, epsilon=1.0, delta=1e-6, neighbours="replace")
        accepted = play(ledger, asked, path.read_bytes)
        again = Ledger.open(path)
        assert again.entries == ledger.entries
        assert again.spent == ledger.spent
        assert len(again) == len(accepted)


@given(st.lists(st.floats(0.0, 0.1), max_size=10))
def test_what_remains_can_be_spent_in_one_release(values):
    ledger = Ledger(epsilon=1.0)
    for value in values:
        ledger.spend(promise(value), "some")
    left = ledger.remaining.epsilon
    ledger.spend(promise(left), "the rest")
    assert ledger.remaining.epsilon < 1e-15


# Disjoint parts


def test_disjoint_parts_cost_the_worst_part(start):
    ledger = start(epsilon=1.0)
    with ledger.parallel("by region") as parts:
        booked = []
        for region, epsilon in [("north", 0.2), ("south", 0.4), ("west", 0.3)]:
            parts.spend(promise(epsilon), region)
            booked.append(ledger.spent.epsilon)
    assert booked == [0.2, 0.4, 0.4]


def test_under_replace_parts_must_be_said_to_keep_their_records(start):
    ledger = start(epsilon=1.0, neighbours="replace")
    with pytest.raises(ParameterError, match="a record may move"), ledger.parallel("by sex"):
        pass
    with ledger.parallel("by day of arrival", fixed=True) as parts:
        for day, epsilon in [("Monday", 0.2), ("Tuesday", 0.4), ("Wednesday", 0.3)]:
            parts.spend(promise(epsilon, neighbours="replace"), day)
    assert ledger.spent.epsilon == 0.4


def test_two_releases_on_one_part_add(start):
    ledger = start(epsilon=1.0)
    with ledger.parallel("by sex") as parts:
        women = parts.part("women")
        women.spend(promise(0.2), "count")
        women.spend(promise(0.2), "mean age")
        parts.spend(promise(0.3), "men")
    assert ledger.spent.epsilon == 0.4
    assert [entry.part for entry in ledger.entries] == ["women", "women", "men"]
    assert {entry.group for entry in ledger.entries} == {"by sex #0"}


def test_two_blocks_with_the_same_label_add(start):
    ledger = start(epsilon=1.0)
    for _ in range(2):
        with ledger.parallel("by sex") as parts:
            parts.spend(promise(0.25), "women")
            parts.spend(promise(0.25), "men")
    assert ledger.spent.epsilon == 0.5


def test_a_part_is_refused_only_for_what_it_adds_to_the_block(start):
    ledger = start(epsilon=1.0)
    with ledger.parallel("by sex") as parts:
        parts.spend(promise(0.9), "women")
        with pytest.raises(BudgetError, match=r"needs ε=0.2, 0.1 remain of 1.0"):
            parts.spend(promise(0.2), "women")
        parts.spend(promise(1.0), "men")
    assert ledger.spent.epsilon == 1.0


def test_a_block_that_failed_keeps_what_was_booked_in_it(start):
    ledger = start(epsilon=1.0)

    def fail():
        with ledger.parallel("by sex") as parts:
            kept.append(parts)
            parts.spend(promise(0.25), "women")
            raise ZeroDivisionError

    kept = []
    with pytest.raises(ZeroDivisionError):
        fail()
    assert ledger.spent.epsilon == 0.25
    with pytest.raises(LedgerError, match="has ended"):
        kept[0].spend(promise(0.25), "men")
    assert len(ledger) == 1


# Results


def test_an_entry_names_the_file_of_its_result_before_there_is_one(start):
    ledger = start(epsilon=1.0)
    ledger.keeping("deciles.json").spend(promise(0.2), "deciles", rho=0.001)
    with ledger.keeping("by-sex.json").parallel("by sex") as parts:
        parts.spend(promise(0.2), "women")
        parts.part("men").spend(promise(0.1), "count")
    ledger.spend(promise(0.2), "count")
    assert [entry.result for entry in ledger.entries] == ["deciles.json", "by-sex.json", "by-sex.json", None]
    assert [entry.rho for entry in ledger.entries] == [0.001, pure_rho(0.2), pure_rho(0.1), pure_rho(0.2)]
    assert ledger.spent.epsilon == 0.6
    if ledger.path:
        assert Ledger.open(ledger.path).entries == ledger.entries
        assert ledger.results == ledger.path.with_name("study.ledger.results")
        assert not ledger.results.exists()
    else:
        assert ledger.results is None


@pytest.mark.parametrize(
    "name", ["../elsewhere.json", "/etc/passwd.json", ".hidden.json", "a/b.json", "deciles", "a b.json", "", 7]
)
def test_a_result_lies_in_the_ledger_s_own_folder(book, path, name):
    with pytest.raises(ParameterError, match=r"name of a \.json file"):
        book.keeping(name)
    body = {**book.entries[0].row(), "index": 3, "result": name}
    with path.open("ab") as stream:
        stream.write(storage.entry_line(body, json.loads(path.read_text().splitlines()[-1])["digest"]))
    with pytest.raises(FormatError, match="Line 5"):
        Ledger.open(path)


@pytest.mark.parametrize("rho", [-1.0, True, "0.1", [0.1]])
def test_a_rho_in_a_file_is_a_number_or_nothing(book, path, rho):
    body = {**book.entries[0].row(), "index": 3, "rho": rho}
    with path.open("ab") as stream:
        stream.write(storage.entry_line(body, json.loads(path.read_text().splitlines()[-1])["digest"]))
    with pytest.raises(FormatError, match="Line 5"):
        Ledger.open(path)


def test_a_booking_is_not_pickled_and_its_copy_is_itself(book):
    booking = book.keeping("deciles.json")
    assert copy.deepcopy(booking) is booking
    with pytest.raises(LedgerError, match="cannot be pickled"):
        pickle.dumps(booking)


# What is refused at the door


@pytest.mark.parametrize("label", ["", "two\nlines", "bell\a", "x" * 201, "\ud800", "\u2028"])
def test_a_label_stands_on_one_line(start, label):
    ledger = start(epsilon=1.0)
    with pytest.raises(ParameterError, match="label must be 1 to 200 printable characters"):
        ledger.spend(promise(), label)
    with pytest.raises(ParameterError, match="label"), ledger.parallel(label):
        pass
    assert len(ledger) == 0


def test_a_label_is_text_and_a_spend_is_a_guarantee(start):
    ledger = start(epsilon=1.0)
    with pytest.raises(ParameterTypeError, match="label"):
        ledger.spend(promise(), 7)
    with pytest.raises(ParameterTypeError, match="Guarantee"):
        ledger.spend(0.1, "mean")
    assert len(ledger) == 0


@pytest.mark.parametrize("kept", ["add-remove", "replace", "value", "attribute", "person"])
@pytest.mark.parametrize("asked", ["add-remove", "replace", "value", "attribute", "person"])
def test_a_ledger_books_one_kind_of_neighbours(kept, asked):
    ledger = Ledger(epsilon=1.0, neighbours=kept)
    if kept == asked:
        assert ledger.spend(promise(neighbours=asked), "mean").index == 0
        return
    with pytest.raises(LedgerError, match=f"kept for '{kept}' neighbours.*for '{asked}'"):
        ledger.spend(promise(neighbours=asked), "mean")
    assert len(ledger) == 0


@pytest.mark.parametrize(
    "budget",
    [{"epsilon": 0}, {"epsilon": float("inf")}, {"delta": 1.5}, {"neighbours": "friends"}],
)
def test_an_impossible_budget_is_refused_and_makes_no_file(path, budget):
    with pytest.raises(ParameterError):
        Ledger(**budget)
    with pytest.raises(ParameterError):
        Ledger.open(path, **{"epsilon": 1.0, **budget})
    assert not path.exists()


# What people see


def test_the_repr_is_readable(book):
    assert repr(Ledger()) == ("<Ledger: ε = 0.0 of 1.0 spent, 1.0 remain, entries: 0, add-remove>")
    assert repr(book) == ("<Ledger study.ledger: ε = 0.3 of 1.0 spent, 0.7 remain, entries: 3, add-remove>")
    assert "δ = 0.0 of 1e-06 spent" in repr(Ledger(delta=1e-6))


def test_the_repr_of_a_ledger_whose_file_is_gone_does_not_fail(book, path):
    path.unlink()
    assert repr(book) == "<Ledger study.ledger: cannot be read now>"
    assert "cannot be read now" in book._repr_html_()


def test_the_table_in_a_notebook_is_escaped():
    ledger = Ledger(epsilon=1.0)
    ledger.spend(promise(), "<script>alert(1)</script>")
    table = ledger._repr_html_()
    assert "<script>" not in table
    assert "&lt;script&gt;" in table


def test_the_report_has_one_row_of_plain_values_per_release(book):
    first = book.report()[0]
    stamp = first.pop("time")
    assert stamp.endswith("+00:00")
    assert first == {
        "index": 0,
        "label": SECRET,
        "epsilon": 0.1,
        "delta": 0.0,
        "rho": pure_rho(0.1),
        "group": None,
        "part": None,
        "result": None,
    }
    assert len(book.report()) == len(book) == 3


def test_entries_cannot_be_changed(book):
    with pytest.raises(AttributeError):
        book.entries[0].label = "another"


def test_an_empty_ledger_is_not_false(start):
    assert start(epsilon=1.0)


# Copies


def test_a_copy_is_the_ledger_itself(start):
    ledger = start(epsilon=1.0)
    assert copy.copy(ledger) is ledger
    assert copy.deepcopy({"model": [ledger]})["model"][0] is ledger
    with ledger.parallel("by sex") as parts:
        part = parts.part("women")
        assert copy.deepcopy(parts) is parts
        assert copy.copy(part) is part


def test_a_ledger_in_memory_is_not_pickled():
    with pytest.raises(LedgerError, match=r"cannot be pickled.*Ledger\.open"):
        pickle.dumps(Ledger())


def test_a_ledger_on_disk_travels_as_its_path(book):
    twin = pickle.loads(pickle.dumps(book))
    twin.spend(promise(), "from the other side")
    assert book.entries == twin.entries
    assert len(book) == 4


def test_a_parallel_block_is_not_pickled(book):
    with book.parallel("by sex") as parts:
        for thing in (parts, parts.part("women")):
            with pytest.raises(LedgerError, match="cannot be pickled"):
                pickle.dumps(thing)


# Opening


def test_a_ledger_is_found_again_as_it_was_left(book, path):
    again = Ledger.open(path)
    assert again.entries == book.entries
    assert (again.epsilon, again.delta, again.neighbours) == (1.0, 0.0, "add-remove")
    assert Ledger.open(path, epsilon=1.0, delta=0.0, neighbours="add-remove").spent == book.spent


@pytest.mark.parametrize(
    "other", [{"epsilon": 2.0}, {"delta": 1e-6}, {"neighbours": "replace"}], ids=["epsilon", "delta", "neighbours"]
)
def test_a_ledger_is_not_opened_with_another_budget(book, path, other):
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=f"started with {next(iter(other))}=|kept for 'add-remove' neighbours"):
        Ledger.open(path, **other)
    assert path.read_bytes() == before


def test_a_ledger_of_a_refused_first_release_may_be_started_again(path):
    with pytest.raises(BudgetError):
        Ledger.open(path, epsilon=1.0).spend(Guarantee(epsilon=2.0, neighbours="add-remove"), "too much")
    with pytest.raises(LedgerError, match="Nothing is booked in it: delete the file to start it"):
        Ledger.open(path, epsilon=3.0)
    Ledger.open(path).spend(Guarantee(epsilon=0.5, neighbours="add-remove"), "one")
    with pytest.raises(LedgerError, match="or start another one"):
        Ledger.open(path, epsilon=3.0)


def test_a_missing_ledger_needs_a_budget(path):
    with pytest.raises(LedgerError, match=r"does not exist.*Ledger.open\(path, epsilon=1.0\)"):
        Ledger.open(path)
    assert not path.exists()


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(LedgerError, match=r"could not be created.*existing folder"):
        Ledger.open(tmp_path / "nowhere" / "ledger", epsilon=1.0)


def test_creation_leaves_one_file(path):
    Ledger.open(path, epsilon=1.0)
    assert list(path.parent.iterdir()) == [path]
    header = json.loads(path.read_text())
    assert header["format"] == "bruit.ledger/1"
    assert path.stat().st_nlink == 1


def test_whoever_loses_the_race_to_create_a_ledger_opens_the_winners(book, path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr(os.path, "lexists", lambda _: False)  # looked too early
    assert Ledger.open(path, epsilon=1.0).entries == book.entries
    with pytest.raises(LedgerError, match="started with"):
        Ledger.open(path, epsilon=5.0)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


# Damage


def altered(lines, number, **changes):
    """Line `number` with other content, and its digests as they were."""
    lines[number - 1] = json.dumps({**json.loads(lines[number - 1]), **changes}).encode() + b"\n"


def reforged_header(lines):
    body = documents.unseal(lines[0], "bruit.ledger/1")
    lines[0] = documents.seal("bruit.ledger/1", {**body, "epsilon": 100.0}).encode() + b"\n"


DAMAGES = {
    "smaller epsilon in the middle": (3, lambda lines: altered(lines, 3, epsilon=0.01)),
    "other label": (2, lambda lines: altered(lines, 2, label="harmless")),
    "last line edited": (4, lambda lines: altered(lines, 4, epsilon=0.0)),
    "middle line removed": (3, lambda lines: lines.pop(2)),
    "first entry removed": (2, lambda lines: lines.pop(1)),
    "two lines swapped": (2, lambda lines: lines.insert(1, lines.pop(2))),
    "line repeated": (4, lambda lines: lines.insert(2, lines[2])),
    "empty line": (3, lambda lines: lines.insert(2, b"\n")),
    "spaces added": (3, lambda lines: lines.insert(2, lines.pop(2).replace(b",", b", "))),
    "not JSON": (3, lambda lines: lines.insert(2, b"\xff\xfe\n")),
    "JSON of another kind": (3, lambda lines: lines.insert(2, b"[1]\n")),
    "not a number": (3, lambda lines: altered(lines, 3, epsilon=float("nan"))),
    "edited header": (1, lambda lines: altered(lines, 1, epsilon=100.0)),
    "header with its digest made again": (2, reforged_header),
    "truncated header": (1, lambda lines: lines.__setitem__(slice(None), [lines[0][:40]])),
    "header of another format": (1, lambda lines: altered(lines, 1, format="bruit.tally/1")),
    "header with half a character": (1, lambda lines: altered(lines, 1, note="\ud800")),
    "no header": (1, lambda lines: lines.pop(0)),
    "empty file": (1, lambda lines: lines.clear()),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_and_its_line_is_named(book, path, name):
    number, damage = DAMAGES[name]
    lines = path.read_bytes().splitlines(keepends=True)
    damage(lines)
    path.write_bytes(b"".join(lines))
    with pytest.raises(FormatError, match=f"Line {number} of the ledger") as error:
        Ledger.open(path)
    assert SECRET not in str(error.value)
    with pytest.raises((FormatError, LedgerError)):
        Ledger.open(path, epsilon=1.0)
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("body", [{"epsilon": 1.0}, {"epsilon": -1.0, "delta": 0.0, "neighbours": "replace"}])
def test_a_header_without_a_sensible_budget_is_refused(path, body):
    path.write_bytes(storage.header_line(body))
    with pytest.raises(FormatError, match="Line 1"):
        Ledger.open(path)


@pytest.mark.parametrize(
    "change",
    [
        {"index": 7},
        {"epsilon": -0.1},
        {"epsilon": True},
        {"label": None},
        {"group": "x #0"},
        {"extra": 1},
    ],
    ids=str,
)
def test_a_chained_line_that_bruit_would_not_write_is_refused(path, change):
    Ledger.open(path, epsilon=1.0)
    _, digest = storage.read_header([path.read_bytes()])
    body = {"index": 0, "label": "x", "epsilon": 0.1, "delta": 0.0}
    body |= {"group": None, "part": None, "time": "now"}
    with path.open("ab") as stream:
        stream.write(storage.entry_line({**body, **change}, digest))
    with pytest.raises(FormatError, match="Line 2"):
        Ledger.open(path)


def test_whole_last_lines_that_vanished_are_not_noticed_by_a_newcomer(book, path):
    """A known limit, stated in the documentation: the chain has no end mark."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    assert len(Ledger.open(path)) == 2


def test_lost_lines_are_noticed_by_whoever_read_them(book, path):
    os.truncate(path, len(path.read_bytes().splitlines(keepends=True)[0]))
    with pytest.raises(LedgerError, match="lost entries"):
        book.spend(promise(), "after the loss")
    with pytest.raises(LedgerError, match="lost entries"):
        _ = book.spent


def test_a_file_that_vanished_is_not_made_anew(book, path):
    path.unlink()
    with pytest.raises(LedgerError, match="does not exist, or no longer"):
        book.spend(promise(), "after the loss")
    assert not path.exists()


def test_a_file_that_was_replaced_is_refused_until_opened_again(book, path):
    twin = path.with_name("copy")
    twin.write_bytes(path.read_bytes())
    twin.replace(path)
    with pytest.raises(LedgerError, match="moved or replaced"):
        book.spend(promise(), "on the copy")
    assert len(Ledger.open(path)) == 3


def test_damage_that_others_do_while_the_ledger_is_open_is_found(book, path):
    with path.open("ab") as stream:
        stream.write(b'{"epsilon":0.0}\n')
    for _ in range(2):
        with pytest.raises(FormatError, match="Line 5"):
            book.spend(promise(), "after the damage")


# A torn last line


@pytest.mark.parametrize("tail", [b"{", b'{"delta":0.0,"digest":"00', b"\0" * 300])
def test_an_unfinished_line_is_ignored_by_readers_and_cut_by_the_next_writer(book, path, tail, caplog):
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    with caplog.at_level(logging.WARNING, "bruit"):
        ledger = Ledger.open(path)
    assert "unfinished line" in caplog.text
    assert SECRET not in caplog.text
    assert len(ledger) == 3
    assert path.read_bytes() == whole + tail
    with pytest.raises(BudgetError):
        ledger.spend(promise(5.0), "too much")
    assert path.read_bytes() == whole + tail  # a refused request writes nothing, not even this
    ledger.spend(promise(), "next")
    assert path.read_bytes().startswith(whole + b"{")
    assert len(Ledger.open(path)) == 4


# A full or failing disk


def short_write(handle, content):
    return os.pwrite(handle, content[:20], os.fstat(handle).st_size)


def no_space(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def bad_disk(*_):
    raise OSError(errno.EIO, "Input/output error")


FAILURES = [("write", short_write), ("write", no_space), ("fsync", bad_disk)]


@pytest.mark.parametrize(("call", "failure"), FAILURES)
def test_a_failing_disk_books_nothing_and_releases_nothing(book, path, monkeypatch, call, failure):
    before = path.read_bytes(), book.entries
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failure)
        with pytest.raises(LedgerError, match="nothing was released") as error:
            book.spend(promise(), SECRET)
    assert SECRET not in str(error.value)
    assert (path.read_bytes(), book.entries) == before
    assert book.spend(promise(), "when there is room again").index == 3
    assert len(Ledger.open(path)) == 4


@pytest.mark.parametrize(("call", "failure"), FAILURES)
def test_a_failing_disk_creates_nothing(path, monkeypatch, call, failure):
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failure)
        with pytest.raises(LedgerError, match="could not be created"):
            Ledger.open(path, epsilon=1.0)
    assert not path.exists()
    assert [entry for entry in path.parent.iterdir() if not entry.name.endswith(".partial")] == []


def test_a_spend_returns_only_after_one_write_that_was_synced_under_the_lock(book, path, monkeypatch):
    calls = []

    def seen(name):
        real = getattr(os, name)

        def call(*args):
            with path.open("rb") as other, pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
            calls.append(name)
            return real(*args)

        return call

    for name in ("write", "fsync", "ftruncate"):
        monkeypatch.setattr(os, name, seen(name))
    book.spend(promise(), "mean")
    assert calls == ["write", "fsync"]


def test_a_failed_first_part_does_not_name_the_group(book, monkeypatch):
    with book.parallel("by sex") as parts:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", no_space)
            with pytest.raises(LedgerError):
                parts.spend(promise(0.2), "women")
        book.spend(promise(0.1), "meanwhile")
        parts.spend(promise(0.2), "women")
        parts.spend(promise(0.2), "men")
    assert [entry.group for entry in book.entries[3:]] == [None, "by sex #4", "by sex #4"]
    assert book.spent.epsilon == 0.6


@pytest.mark.parametrize("step", ["read", "add"])
def test_an_interruption_after_the_line_is_written_forgets_nothing(book, path, monkeypatch, step):
    real = getattr(accounts.Books, step)

    def interrupted(books, thing):
        if step == "add":
            real(books, thing)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(accounts.Books, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            book.spend(promise(), "interrupted")
    assert len(book) == 4
    assert book.spent == Ledger.open(path).spent == promise(0.4)


def test_a_ledger_that_may_not_be_written_can_still_be_read(book, path, monkeypatch):
    real = os.open

    def read_only(name, flags, *rest, **more):
        if flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(name, flags, *rest, **more)

    monkeypatch.setattr(os, "open", read_only)
    assert len(Ledger.open(path)) == 3
    with pytest.raises(LedgerError, match=r"cannot be opened \(Permission denied\)"):
        book.spend(promise(), "mean")


def test_a_ledger_held_by_a_stopped_program_is_an_error_after_a_while(book, path, monkeypatch):
    monkeypatch.setattr(storage, "PATIENCE", 0.05)
    before = path.read_bytes()
    with path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(LedgerError, match="Another program has held the ledger"):
            book.spend(promise(), "mean")
    assert path.read_bytes() == before
    assert book.spend(promise(), "mean").index == 3


# Several at once


def test_two_ledgers_on_one_file_see_each_other(path):
    one, two = Ledger.open(path, epsilon=1.0), Ledger.open(path)
    one.spend(promise(0.7), "first")
    assert two.spent.epsilon == 0.7
    with pytest.raises(BudgetError, match=r"0\.3 remain"):
        two.spend(promise(0.5), "second")
    two.spend(promise(0.3), "second")
    assert one.remaining == (0.0, 0.0)


def spent_by_threads(ledgers, epsilon):
    """How many releases of `epsilon` threads get in all, one thread per ledger."""
    done, failures = [], []

    def work(ledger):
        try:
            while True:
                done.append(ledger.spend(promise(epsilon), "small").index)
        except BudgetError:
            pass
        except BaseException as error:  # a thread's own errors would go unseen
            failures.append(error)

    threads = [threading.Thread(target=work, args=[ledger]) for ledger in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    return done


def test_threads_do_not_overspend_together(start):
    ledger = start(epsilon=1.0)
    assert sorted(spent_by_threads([ledger] * 4, 0.01)) == list(range(100))
    assert ledger.remaining == (0.0, 0.0)


def test_threads_with_ledgers_of_their_own_on_one_file_do_not_overspend(path):
    ledgers = [Ledger.open(path, epsilon=1.0) for _ in range(3)]
    assert sorted(spent_by_threads(ledgers, 0.01)) == list(range(100))


class ChecksBeforeLocking(Ledger):
    """The broken twin: it asks whether a release fits, and books it later, without asking again."""

    meeting = None

    def spend(self, guarantee, label, *, rho=None):
        if self.remaining.epsilon < guarantee.epsilon:
            raise BudgetError("spent", requested=0.0, remaining=0.0, total=0.0)
        self.meeting.wait(timeout=10)  # both have asked, nobody has booked
        return super().spend(guarantee, label, rho=rho)

    def _check_budget(self, books, entry):
        pass


def test_a_ledger_that_checks_before_it_locks_is_caught_overspending(path):
    Ledger.open(path, epsilon=1.0)
    ChecksBeforeLocking.meeting = threading.Barrier(2)
    done = spent_by_threads([ChecksBeforeLocking.open(path) for _ in range(2)], 1.0)
    assert len(done) == 2  # the control: the very same race, lost
    assert Ledger.open(path).spent.epsilon == 2.0
    assert Ledger.open(path).remaining == (0.0, 0.0)


# Other processes. Each script gets the ledger's path as its argument.

PRELUDE = """
import os, sys
from bruit.errors import BruitError, BudgetError, LedgerError
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Ledger
path = sys.argv[1]
def say(text):
    os.write(1, f"{text}\\n".encode())
small = Guarantee(epsilon=0.01, neighbours="add-remove")
"""

RACER = """
ledger = Ledger.open(path, epsilon=1.0)
say("ready")
sys.stdin.readline()
while True:
    try:
        say(ledger.spend(small, "small").index)
    except BudgetError:
        break
"""

SPENDER = """
ledger = Ledger.open(path, epsilon=1e9)
while True:
    say(ledger.spend(small, "small").index)
"""

FORKED = """
memory, disk = Ledger(epsilon=1.0), Ledger.open(path, epsilon=1.0)
memory.spend(small, "parent"), disk.spend(small, "parent")
disk._lock.acquire()  # as if another thread were in the middle of something
child = os.fork()
if child == 0:
    disk.spend(small, "child")
    assert memory.spent.epsilon == 0.01
    try:
        memory.spend(small, "child")
    except LedgerError as error:
        say(error)
    os._exit(0)
disk._lock.release()
assert os.waitpid(child, 0)[1] == 0
assert memory.spend(small, "parent again").index == 1
say(disk.spend(small, "parent again").index)
"""

FULL_DISK = """
import resource
ledger = Ledger.open(path, epsilon=1.0)
ledger.spend(small, "fits")
size = os.path.getsize(path)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, size + 50))
for _ in range(2):
    try:
        ledger.spend(small, "does not fit")
    except LedgerError as error:
        say(error)
assert os.path.getsize(path) == size
"""

# Dies just before, or just after, the n-th call that touches the disk; one child for each n.
DIES_EVERYWHERE = """
import functools
ledger = Ledger.open(path, epsilon=1e9)
names = ["open", "write", "fsync", "ftruncate", "link", "unlink", "close"]
real = {name: getattr(os, name) for name in names}
def counted(name, deadly, after, torn):
    def call(*args, **kwargs):
        state["calls"] += 1
        if state["calls"] == deadly:
            if torn and name == "write":
                real["write"](args[0], args[1][:torn])
            if after:
                real[name](*args, **kwargs)
            os._exit(9)
        return real[name](*args, **kwargs)
    return call
def child(work, pipe, **how):
    for name in names:
        setattr(os, name, counted(name, **how))
    work(lambda entry: real["write"](pipe, f"{entry.index}\\n".encode()))
    os._exit(0)
def create_and_spend(done):
    done(Ledger.open(target, epsilon=1e9).spend(small, "a"))
def spend_twice(done):
    done(ledger.spend(small, "b"))
    done(ledger.spend(small, "b"))
deaths = 0
for work in (create_and_spend, spend_twice):
    for after, torn in ((False, 0), (True, 0), (False, 1), (False, 30)):
        deadly = 0
        while True:
            deadly += 1
            state = {"calls": 0}
            target = f"{path}.{work.__name__}.{after}.{torn}.{deadly}"
            before = len(ledger)
            ours, theirs = os.pipe()
            pid = os.fork()
            if pid == 0:
                child(work, theirs, deadly=deadly, after=after, torn=torn)
            os.close(theirs)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            done = [int(line) for line in os.read(ours, 1000).split()]
            os.close(ours)
            where = Ledger.open(target, epsilon=1e9) if work is create_and_spend else ledger
            known = {entry.index for entry in where.entries}
            assert known >= set(done), (work, deadly)
            start = 0 if work is create_and_spend else before
            assert len(known) - start <= len(done) + 1, (work, deadly)
            where.spend(small, "and it goes on")
            deaths += code == 9
            if code == 0:
                break
            assert code == 9, code
say(deaths)
"""


def run(script, path):
    answer = subprocess.run(
        [sys.executable, "-c", PRELUDE + script, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines()


def begin(script, path, **more):
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + script, str(path)], stdout=subprocess.PIPE, text=True, **more
    )


def test_two_processes_racing_for_a_hundred_small_releases_get_exactly_a_hundred(path):
    racers = [begin(RACER, path, stdin=subprocess.PIPE) for _ in range(2)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = [racer.communicate(timeout=60)[0] for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0]
    assert sorted(int(index) for answer in answers for index in answer.split()) == [*range(100)]
    assert Ledger.open(path).remaining == (0.0, 0.0)


def test_after_a_fork_a_ledger_on_disk_is_shared_and_one_in_memory_is_refused(path):
    refusal, index = run(FORKED, path)
    assert "cannot be spent from after a fork" in refusal
    assert index == "2"
    assert [entry.label for entry in Ledger.open(path).entries] == ["parent", "child", "parent again"]


def test_a_real_full_disk_books_nothing(path):
    messages = run(FULL_DISK, path)
    assert len(messages) == 2
    assert all("nothing was released" in message for message in messages)
    assert [entry.label for entry in Ledger.open(path).entries] == ["fits"]


def test_a_death_at_any_call_to_the_disk_loses_nothing_that_was_acknowledged(path):
    (deaths,) = run(DIES_EVERYWHERE, path)
    assert int(deaths) > 40


def kill_at_random(path, times, seed):
    """Kill a spending process again and again; after each, what it reported must be in the ledger."""
    chance = random.Random(seed)
    reported = 0
    for round_ in range(times):
        with begin(SPENDER, path) as spender:
            first = spender.stdout.readline() if round_ % 5 else ""  # else: die in start-up, perhaps
            time.sleep(chance.uniform(0, 0.03) if round_ % 5 else chance.uniform(0.02, 0.3))
            spender.send_signal(signal.SIGKILL)
            # Not by communicate(), which does not give what readline() read ahead.
            lines = (first + spender.stdout.read()).splitlines()
        reported += len(lines)
        if not path.exists():
            assert reported == 0
            continue
        known = {entry.index for entry in Ledger.open(path).entries}
        assert {int(line) for line in lines} <= known
        assert reported <= len(known) <= reported + round_ + 1
    return reported


def test_a_killed_process_never_loses_a_release_that_it_reported(path):
    assert kill_at_random(path, 10, seed=1) > 10


@pytest.mark.audit
def test_two_hundred_kills_never_lose_a_release_that_was_reported(path):
    assert kill_at_random(path, 200, seed=2) > 200


def test_every_error_is_one_of_ours(book, path):
    path.write_bytes(b"")
    for act in (lambda: book.spent, lambda: book.spend(promise(), "x"), lambda: Ledger.open(path)):
        with pytest.raises(BruitError):
            act()


@pytest.mark.parametrize("total", [2.0, 1.0, 0.3333333333333333, 1e-5, 7.0])
def test_amounts_are_shown_in_few_digits_and_never_less_than_was_spent_nor_more_than_is_left(total):
    draw = random.Random(3)
    for _ in range(200):
        exact = decimal(total) * Fraction(draw.randrange(1, 10**18), 10**18)
        spent, left = shown_up(exact, total), shown_down(decimal(total) - exact, total)
        assert exact <= Fraction(spent) <= decimal(total)
        assert 0 <= Fraction(left) <= decimal(total) - exact
        assert Fraction(spent) - exact < decimal(total) / 10**5
    assert shown_up(decimal(total), total) == shown_down(decimal(total), total) == repr(total)


def test_three_thirds_of_a_budget_are_shown_as_it():
    ledger = Ledger(epsilon=2.0)
    for _ in range(3):
        ledger.spend(Guarantee(epsilon=0.3333333333333333, neighbours="add-remove"), "a third")
    assert ledger.spent.epsilon == 0.9999999999999999
    assert "ε = 1.0 of 2.0 spent, 1.0 remain" in repr(ledger)
