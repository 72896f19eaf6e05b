"""The memory of a client: one memo per epoch, the same bytes for a retry, and a file that is whole or absent."""

import stat
import threading

import numpy as np
import pytest

import bruit
from bruit import documents
from bruit.domains import Categories
from bruit.errors import BruitError, DataError, DesignError, FormatError, ParameterError
from bruit.oracles import Memory, Repeated
from bruit.oracles import memory as module

NAMES = ["GRR", "SUE", "OUE", "SS", "PGR", "HR", "OLH"]


@pytest.fixture
def panel():
    return Repeated(bruit.oracle("GRR", epsilon=1.0, k=40), 6.0)


def memo_of(memory, person="", epoch=0):
    return memory._read()[person][str(epoch)]["memo"]


@pytest.mark.parametrize("name", NAMES)
def test_a_retry_sends_the_same_bytes_whatever_the_value_and_the_seed(name, tmp_path):
    panel = Repeated(bruit.oracle(name, epsilon=0.5, k=9), 1.0)
    memory = Memory.create(tmp_path / "memory", panel)
    report = memory.report(3, round=1, rng=1)
    again = Memory(tmp_path / "memory", panel).report(8, round=1, rng=2)
    assert again.tobytes() == report.tobytes()
    assert panel.oracle.tally(report).n == 1
    assert memory.rounds() == 1


def test_the_memo_stays_whatever_the_value_becomes(panel, tmp_path):
    memory = Memory.create(tmp_path / "memory", panel)
    memory.report(3, round=0)
    memo = memo_of(memory)
    reports = [int(memory.report((3 + r) % 40, round=r)[0]) for r in range(1, 41)]
    assert memo_of(memory) == memo
    # A report is the memo with chance 0.07 or so here; values that follow each other would not give one report often.
    assert memory.rounds() == 41
    assert len(set(reports)) > 1


def test_the_value_is_looked_at_in_the_first_report_only(panel, tmp_path):
    memory = Memory.create(tmp_path / "memory", panel)
    memory.report(3, round=0)
    assert memory.report(None, round=1).size == 1
    with pytest.raises(BruitError):
        memory.report(None, round=0, epoch=1)


def test_epochs_and_people_have_memos_of_their_own(tmp_path):
    panel = Repeated(bruit.oracle("OUE", epsilon=0.2, k=64), 0.3)
    memory = Memory.create(tmp_path / "memory", panel)
    for epoch in range(3):
        for person in "ab":
            memory.report(5, round=0, epoch=epoch, person=person)
    memos = {memo_of(memory, person, epoch) for person in "ab" for epoch in range(3)}
    assert len(memos) == 6


def test_memos_and_reports_have_the_law_of_the_panel(tmp_path):
    """Each report of its own person: the mean of the estimates is the truth; the control is another value."""
    panel = Repeated(bruit.oracle("GRR", epsilon=2.0, k=3), 4.0)
    memory = Memory.create(tmp_path / "memory", panel)
    reports = np.concatenate([memory.report(2, round=0, person=str(i), rng=1) for i in range(100)])
    frequency = panel.oracle.estimate(panel.oracle.tally(reports)).frequency
    deviation = float(np.sqrt(panel.oracle.variance(np.array([1.0]), 100, "people")[0]))
    assert abs(frequency[2] - 1) < 5 * deviation
    assert abs(frequency[1] - 1) > 5 * deviation


def test_the_file_is_for_its_owner_alone_and_whole_after_every_report(panel, tmp_path):
    path = tmp_path / "memory"
    memory = Memory.create(path, panel)
    memory.report(3, round=0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert documents.unfinished(path) == []
    assert documents.unseal(path.read_bytes(), "bruit.memory/1")["design"] == panel.digest


def test_a_full_disk_leaves_the_old_memory_and_sends_nothing(panel, tmp_path, monkeypatch):
    path = tmp_path / "memory"
    memory = Memory.create(path, panel)
    memory.report(3, round=0)
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError("full")

    monkeypatch.setattr(module.documents, "sync", full)
    with pytest.raises(OSError, match="full"):
        memory.report(3, round=1)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert documents.unfinished(path) == []
    assert memory.rounds() == 1


def test_two_threads_draw_one_memo_and_lose_no_report(panel, tmp_path):
    path = tmp_path / "memory"
    Memory.create(path, panel)
    reports = []

    def ask(number):
        reports.append(Memory(path, panel).report(3, round=number % 4).tobytes())

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory = Memory(path, panel)
    assert memory.rounds() == 4
    assert set(reports) == {memory.report(3, round=r).tobytes() for r in range(4)}


def test_a_lost_memory_says_what_a_new_one_costs(panel, tmp_path):
    with pytest.raises(ParameterError, match="cost ε = 6 once more"):
        Memory(tmp_path / "memory", panel)


def test_a_memory_is_not_replaced_nor_used_for_another_design(panel, tmp_path):
    Memory.create(tmp_path / "memory", panel)
    with pytest.raises(ParameterError, match="exists"):
        Memory.create(tmp_path / "memory", panel)
    with pytest.raises(DesignError):
        Memory(tmp_path / "memory", Repeated(panel.oracle, 3.0))
    with pytest.raises(BruitError, match="Repeated"):
        Memory(tmp_path / "memory", panel.oracle)
    with pytest.raises(BruitError, match="Repeated"):
        Memory.create(tmp_path / "other", panel.oracle)


def test_a_damaged_memory_is_refused(panel, tmp_path):
    path = tmp_path / "memory"
    memory = Memory.create(path, panel)
    memory.report(3, round=0)
    text = path.read_text()
    path.write_text(text.replace('"memo": "', '"memo": "0'))
    with pytest.raises(FormatError, match="digest"):
        memory.report(3, round=1)
    for memo in ("ff", "0", "zz", "0000"):
        module._write(path, panel.digest, {"": {"0": {"memo": memo, "reports": {}}}})
        with pytest.raises(FormatError, match="damaged"):
            memory.report(3, round=1)
    for people in (
        [],
        {"": []},
        {"": {"0": []}},
        {"": {"0": {"reports": {}}}},
        {"": {"0": {"memo": 7, "reports": {}}}},
    ):
        module._write(path, panel.digest, people)
        with pytest.raises(FormatError, match="damaged"):
            memory.report(3, round=1)


def test_a_missing_value_that_is_dropped_has_no_memo(tmp_path):
    panel = Repeated(bruit.oracle("GRR", epsilon=1.0, domain=Categories(labels=["a", "b"], missing="drop")), 2.0)
    memory = Memory.create(tmp_path / "memory", panel)
    with pytest.raises(DataError, match="missing"):
        memory.report(None, round=0)
    assert memory.rounds() == 0


@pytest.mark.parametrize("bad", [{"round": -1}, {"round": 1.5}, {"round": 0, "epoch": -1}, {"round": 0, "person": 7}])
def test_bad_numbers_are_refused(panel, tmp_path, bad):
    memory = Memory.create(tmp_path / "memory", panel)
    with pytest.raises(BruitError):
        memory.report(3, **bad)


def test_a_system_without_locks_is_told_so(panel, tmp_path, monkeypatch):
    monkeypatch.setattr(module.documents, "fcntl", None)
    with pytest.raises(ParameterError, match="POSIX locks"):
        Memory.create(tmp_path / "memory", panel)


def test_nothing_that_is_printed_has_a_memo(panel, tmp_path):
    memory = Memory.create(tmp_path / "memory", panel)
    memory.report(3, round=0, person="Ada")
    assert "Ada" not in repr(memory)
    assert memo_of(memory, "Ada") not in repr(memory).removesuffix(")").split("design ")[0]


NFC, NFD = "Jos\N{LATIN SMALL LETTER E WITH ACUTE}", "Jose\N{COMBINING ACUTE ACCENT}"


def as_before(path, panel, names):
    """A memory as earlier versions wrote it: people by their spelling, each with a memo and a report of round 0."""
    history = {"0": {"memo": "03", "reports": {"0": "05"}}}
    body = {"design": panel.digest, "people": dict.fromkeys(names, history)}
    path.write_text(documents.seal("bruit.memory/1", body))
    return path


@pytest.mark.parametrize("pair", [(NFC, NFD), ("3", "3.0"), ("true", "True"), ("False", "false"), ("0", "-0.0")])
def test_a_memory_of_before_in_which_two_people_are_one_is_refused_by_number_and_not_by_name(panel, tmp_path, pair):
    path = as_before(tmp_path / "memory", panel, ["Ada", *pair, "Bob"])
    before = path.read_bytes()
    with pytest.raises(DataError, match="2 names in this memory are spellings of 1 person") as caught:
        Memory(path, panel)
    told = "".join(map(str, (caught.value.args, caught.value.__context__, caught.value.__cause__)))
    assert not any(name in told for name in ("Ada", "Bob", NFC, NFD))
    assert path.read_bytes() == before


def test_a_memory_of_before_without_such_pairs_keeps_its_memos_and_reports(panel, tmp_path):
    path = as_before(tmp_path / "memory", panel, ["Ada", NFD, "7", ""])
    for person in ("Ada", NFC, NFD, "7", ""):
        memory = Memory(path, panel)
        assert memory.report(None, round=0, person=person).tolist() == [5]
        memory.report(None, round=1, person=person)
        assert memory.rounds(person=person) == 2
    assert {memo_of(memory, person) for person in ("Ada", NFC, "7", "")} == {"03"}
    assert len(memory._read()) == 4
    # From now on the file says that names are keys, and "7.0" is another person than "7", as in a release.
    memory.report(3, round=0, person="7.0")
    assert len(Memory(path, panel)._read()) == 5


@pytest.mark.parametrize(("spelt", "other"), [("3.0", "3"), ("True", "true"), ("-0.0", "0")])
def test_a_number_that_was_spelt_as_a_text_before_is_found_by_both_and_has_no_second_memo(
    panel, tmp_path, spelt, other
):
    path = as_before(tmp_path / "memory", panel, ["Ada", spelt])
    for round, person in enumerate((other, spelt, other)):
        memory = Memory(path, panel)
        memory.report(None, round=round, person=person)
        assert len(memory._read()) == 2
    with pytest.raises(DataError, match="named twice"):
        memory.reports([None, None], [spelt, other], round=7)


def test_a_half_character_in_a_name_is_refused_without_the_name_or_the_memory(panel, tmp_path):
    memory = Memory.create(tmp_path / "memory", panel)
    memory.report(3, round=0, person="Ada")
    before = memory.path.read_bytes()
    for ask in (
        lambda: memory.report(3, round=1, person="secret\ud83d"),
        lambda: memory.reports([3, 4], ["Ada", "secret\udcff"], round=1),
        lambda: memory.rounds(person="secret\ud83d"),
    ):
        with pytest.raises(DataError, match="not whole Unicode") as caught:
            ask()
        error = caught.value
        assert error.__context__ is None
        assert error.__cause__ is None
        assert not any(word in str(error.args) for word in ("secret", "Ada", "memo"))
    assert memory.path.read_bytes() == before
