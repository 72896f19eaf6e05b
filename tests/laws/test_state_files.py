"""A file with state is one file: whatever name it is opened by, and by how many at once, one entry has one draw."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import bruit
from bruit import documents
from bruit.errors import BruitError, BudgetError, ParameterError
from bruit.oracles import Memory, Repeated
from bruit.privacy import Ledger
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import storage
from bruit.publications import Publication, publish
from bruit.releases import ContinualCount, ContinualSeries, Release
from bruit.releases.noise import DiscreteGaussian

fcntl = pytest.importorskip("fcntl", reason="state files need POSIX locks")

SOURCE = Path(bruit.__file__).parent
PANEL = Repeated(bruit.oracle("GRR", epsilon=1.0, k=64), epoch=2.0)
COUNTS = ContinualCount(steps=4, epsilon=1.0, delta=1e-6)
HALF = Guarantee(epsilon=0.6, neighbours="add-remove")


# The files with state, and one entry of each. An entry is asked for by any name; what it gives is what is told.


def _ledger(path: Path) -> Any:
    """A release for more than half of the budget: there is one of it."""
    with contextlib.suppress(BudgetError):
        Ledger.open(path).spend(HALF, "more than half")
    return [(entry.index, entry.label) for entry in Ledger.open(path).entries]


def _start_publication(path: Path) -> None:
    path.parent.joinpath("people.csv").write_text("age\n" + "20\n30\n" * 20)
    Ledger.open(path, epsilon=2.0)


def _publication(path: Path) -> Any:
    plan = Publication(
        title="People",
        table="people.csv",
        requests=[bruit.publications.Request("people", "count")],
        epsilon=0.01,
        ledger=path.absolute(),
        output=Path(f"shown-{threading.get_ident()}-{path.name}"),
        page=False,
        folder=REAL,
    )
    values = publish(plan).results["people"].values.tolist()
    return values, len(Ledger.open(path).entries)


def _series(path: Path) -> Any:
    """One day; whoever comes later is refused, and shown what was published."""
    with contextlib.suppress(ParameterError):
        ContinualSeries.open(path).add(1000, "monday")
    return ContinualSeries.open(path).totals().values.tolist()


def _memory(path: Path) -> Any:
    return Memory(path, PANEL).report(3, round=1).tolist()


def _store(path: Path) -> Any:
    """Links of a survey are spent once: here, those that anybody has put in are seen by all."""
    from bruit.collector.sqlite import SqliteStore

    store = SqliteStore(path)
    try:
        store.add_links("survey", [b"link"])
        return store._connection.execute("SELECT count(*) FROM links").fetchone()
    finally:
        store.disconnect()


def _start_store(path: Path) -> None:
    from bruit.collector.sqlite import SqliteStore

    SqliteStore(path).disconnect()


@dataclass(frozen=True)
class State:
    """A kind of state file: how it begins, its one entry, and the step at which two who are not alone would meet."""

    module: str
    start: Callable[[Path], Any]
    entry: Callable[[Path], Any]
    place: tuple[Any, str] | None


STATES = {
    "ledger": State("privacy/ledger/storage", lambda path: Ledger.open(path, epsilon=1.0), _ledger, None),
    "publication": State("privacy/ledger/storage", _start_publication, _publication, (Release, "publish")),
    "series": State("releases/continual", COUNTS.start, _series, (DiscreteGaussian, "sample")),
    "memory": State("oracles/memory", lambda path: Memory.create(path, PANEL), _memory, (Memory, "_words")),
    "store": State("collector/sqlite", _start_store, _store, None),
}
#: Those whose file is replaced at every change.
REPLACED = ("series", "memory")

REAL = Path()


@pytest.fixture(params=STATES)
def state(request: pytest.FixtureRequest) -> State:
    return STATES[request.param]


@pytest.fixture
def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the file is, in a folder of its own."""
    folder = tmp_path / "real"
    folder.mkdir()
    (folder / "within").mkdir()
    monkeypatch.setitem(globals(), "REAL", folder)
    return folder / "state.sqlite"


# Other names of the same file.


def _link(real: Path) -> Path:
    name = real.parent.parent / "link.sqlite"
    name.symlink_to(real)
    return name


def _link_beside(real: Path) -> Path:
    name = real.with_name("beside.sqlite")
    name.symlink_to(real.name)
    return name


def _link_to_a_link(real: Path) -> Path:
    name = real.with_name("second.sqlite")
    name.symlink_to(_link(real))
    return name


def _folder_link(real: Path) -> Path:
    name = real.parent.parent / "folder"
    name.symlink_to(real.parent, target_is_directory=True)
    return name / real.name


def _relative(real: Path) -> Path:
    return Path(os.path.relpath(real))


def _dotted(real: Path) -> Path:
    return real.parent / "." / "within" / ".." / real.name


def _other_case(real: Path) -> Path:
    name = real.with_name(real.name.upper())
    if not real.with_name("WITHIN").exists():
        pytest.skip("this file system tells capital letters from small ones")
    return name


NAMES = {
    "link": _link,
    "link beside it": _link_beside,
    "link to a link": _link_to_a_link,
    "link to the folder": _folder_link,
    "relative": _relative,
    "dotted": _dotted,
    "other case": _other_case,
}


def _links_of(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_symlink()}


def one_draw(state: State, real: Path, name: Path) -> None:
    """Ask for one entry by two names, one after the other: one draw, in the file itself, and links stay links."""
    state.start(real)
    links = _links_of(real.parent.parent)
    before = real.read_bytes()
    drawn = [state.entry(path) for path in (name, real, name)]
    assert drawn == [drawn[0]] * 3, "two names, two draws"
    assert _links_of(real.parent.parent) == links, "a link was replaced"
    kept = real.with_name(f"{real.name}.results")
    assert kept.is_dir() or real.read_bytes() != before or real.with_name(f"{real.name}-wal").exists()
    assert not real.is_symlink()
    assert not list(real.parent.parent.rglob(".*.partial"))


def one_draw_at_once(
    state: State, real: Path, name: Path, monkeypatch: pytest.MonkeyPatch, patience: float = 0.3
) -> None:
    """Ask for it by two names at once; who is not alone meets the other one before anything is drawn."""
    state.start(real)
    meeting = threading.Barrier(2)
    assert state.place is not None
    owner, method = state.place
    step = getattr(owner, method)

    def wait(*args: Any, **kwargs: Any) -> Any:
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait(patience)
        return step(*args, **kwargs)

    monkeypatch.setattr(owner, method, wait)
    told: list[Any] = []

    def enter(path: Path) -> None:
        try:
            told.append(state.entry(path))
        except BruitError as refusal:  # neither of two may be refused because of the other
            told.append(refusal)

    workers = [threading.Thread(target=enter, args=(path,)) for path in (real, name)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert told[0] == told[1], "two names, two draws"
    assert not (name.is_symlink() and not real.exists())


@pytest.mark.parametrize("spelling", NAMES)
def test_one_entry_has_one_draw_whatever_the_file_is_called(state: State, real: Path, spelling: str) -> None:
    one_draw(state, real, NAMES[spelling](real))


@pytest.mark.parametrize("spelling", ["link", "link to the folder", "other case"])
@pytest.mark.parametrize("kind", [name for name in STATES if STATES[name].place])
def test_two_who_know_a_file_by_two_names_take_turns(
    kind: str, spelling: str, real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_draw_at_once(STATES[kind], real, NAMES[spelling](real), monkeypatch)


def _unresolved(path: str | os.PathLike[str]) -> Path:
    """How it was: the name as it was given."""
    return Path(path).absolute()


@pytest.mark.parametrize("kind", [*REPLACED, "publication"])
def test_the_law_sees_a_file_that_is_known_by_its_name(kind: str, real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "state_file", _unresolved)
    monkeypatch.setattr(documents, "_AS_IT_IS", 0)
    monkeypatch.setattr(storage.os, "O_NOFOLLOW", 0)
    monkeypatch.setattr(storage.os, "lstat", os.stat)
    with pytest.raises(AssertionError, match="two draws"):
        one_draw_at_once(STATES[kind], real, _link(real), monkeypatch, patience=30.0)


#: What asks only which file a ledger is, to write beside it under the ledger's lock.
BESIDE_A_LEDGER = {
    "releases/sources": "tests/releases/test_sources.py has its links and modes",
    "publications/publishing": "looks whether a result is there though the ledger is lost; opens and writes nothing",
}


def test_the_law_ranges_over_every_file_with_state() -> None:
    users = {
        path.relative_to(SOURCE.parent).with_suffix("").as_posix().removeprefix("bruit/")
        for package in (SOURCE, SOURCE.with_name("bruit_studies"))
        for path in package.rglob("*.py")
        if "documents.state_file(" in path.read_text(encoding="utf-8")
    }
    assert users == {state.module for state in STATES.values()} | BESIDE_A_LEDGER.keys()


# What is not one file with one name.


def test_a_file_with_a_second_hard_link_is_refused_before_anything_is_drawn(
    state: State, real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.start(real)
    second = real.parent.parent / "second.sqlite"
    second.hardlink_to(real)
    before = real.read_bytes()
    if state.place:
        monkeypatch.setattr(*state.place, lambda *_, **__: pytest.fail("something was drawn"))
    for name in (real, second):
        with pytest.raises(BruitError, match="several names on the disk"):
            state.entry(name)
    assert real.read_bytes() == before
    monkeypatch.undo()
    monkeypatch.setitem(globals(), "REAL", real.parent)
    second.unlink()
    state.entry(real)


def _opened(kind: str, path: Path) -> Callable[[], Any]:
    """A new state file that is kept open, and a change of it."""
    if kind == "ledger":
        ledger = Ledger.open(path, epsilon=1.0)
        return lambda: ledger.spend(HALF, "release")
    if kind == "series":
        series = COUNTS.start(path)
        return lambda: series.add(3)
    memory = Memory.create(path, PANEL)
    return lambda: memory.report(3, round=1)


@pytest.mark.parametrize("kind", ["ledger", *REPLACED])
def test_a_second_hard_link_is_noticed_by_whoever_has_the_file_open(kind: str, real: Path) -> None:
    change = _opened(kind, real)
    real.with_name("second").hardlink_to(real)
    with pytest.raises(BruitError, match="several names on the disk"):
        change()


def test_a_pipe_or_a_folder_or_a_circle_of_links_is_refused(state: State, real: Path) -> None:
    os.mkfifo(real)
    with pytest.raises(BruitError):
        state.entry(real)
    real.unlink()
    real.mkdir()
    with pytest.raises(BruitError):
        state.entry(real)
    real.rmdir()
    real.symlink_to(real.with_name("other"))
    real.with_name("other").symlink_to(real)
    with pytest.raises(BruitError):
        state.entry(real)


def test_a_link_to_no_file_begins_the_file_where_it_leads(state: State, real: Path) -> None:
    name = _link(real)
    real.parent.joinpath("people.csv").write_text("age\n" + "20\n30\n" * 20)
    if state.start is _start_publication:
        Ledger.open(name, epsilon=2.0)
    else:
        state.start(name)
    assert name.is_symlink()
    assert real.is_file()
    assert state.entry(name) == state.entry(real)


def test_a_file_is_the_same_after_a_change_of_folder(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(real.parent)
    ledger = Ledger.open("a.ledger", epsilon=1.0)
    series, memory = COUNTS.start("series"), Memory.create("memory", PANEL)
    from bruit.collector.sqlite import SqliteStore

    store = SqliteStore("a.sqlite")
    monkeypatch.chdir(real.parent.parent)
    ledger.spend(HALF, "release")
    first, report = series.add(5), memory.report(3, round=1)
    names: list[Any] = []
    reader = threading.Thread(target=lambda: names.append(store.names()))  # it has a connection of its own
    reader.start()
    reader.join()
    assert names == [[]]
    store.disconnect()
    assert {path.name for path in real.parent.parent.iterdir()} == {"real"}
    monkeypatch.chdir(real.parent)
    assert len(Ledger.open("a.ledger").entries) == 1
    assert ContinualSeries.open("series").totals().values.tolist() == first.values.tolist()
    assert Memory("memory", PANEL).report(3, round=1).tolist() == report.tolist()


@pytest.mark.parametrize("kind", ["ledger", *REPLACED])
def test_a_link_that_takes_the_place_of_an_open_file_is_refused(kind: str, real: Path) -> None:
    change, elsewhere = _opened(kind, real), real.with_name("elsewhere")
    real.rename(elsewhere)
    real.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    with pytest.raises(BruitError, match=r"moved|cannot be opened"):
        change()
    assert elsewhere.read_bytes() == before
    assert real.is_symlink()


def test_a_lock_is_never_somebody_elses_file(real: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    real.with_name(f".{real.name}.lock").symlink_to(victim)
    for start in (COUNTS.start, lambda path: Memory.create(path, PANEL)):
        with pytest.raises(ParameterError, match="is a link, and a lock must be a file of its own"):
            start(real)
    assert not victim.exists()


def test_a_lock_that_is_removed_while_somebody_waits_for_it_is_made_anew(real: Path) -> None:
    lock, order = real.with_name(f".{real.name}.lock"), []
    waits = threading.Event()

    def third() -> None:
        with documents.alone_with(real):
            order.append("third")

    def second() -> None:
        waits.set()
        with documents.alone_with(real):
            order.append("second")
            worker = threading.Thread(target=third)
            worker.start()
            worker.join(0.2)
            order.append("second ends")
        worker.join()

    with documents.alone_with(real):
        worker = threading.Thread(target=second)
        worker.start()
        waits.wait(5)
        threading.Event().wait(0.1)  # it has opened the lock
        lock.unlink()
    worker.join()
    assert order == ["second", "second ends", "third"]


def test_what_is_shown_is_the_name_that_was_given(real: Path) -> None:
    name = _link(real)
    ledger = Ledger.open(name, epsilon=1.0)
    assert (ledger.path, ledger.results) == (name, real.with_name("state.sqlite.results"))
    assert "link.sqlite" in repr(ledger)
    real.unlink()
    memory = Memory.create(name, PANEL)
    assert memory.path == name
    assert "link.sqlite" in repr(memory)


# What kills leave.


def _die_in_the_middle(state: State, path: Path) -> None:
    """A process that is killed when the new version is written, and has not taken the place of the old one."""
    child = os.fork()
    if not child:
        Path.replace = lambda *_: os._exit(9)  # type: ignore[assignment,method-assign]
        try:
            state.entry(path)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.parametrize("kind", [*REPLACED, "publication"])
@pytest.mark.parametrize("spelling", ["link", "dotted"])
def test_the_next_change_removes_what_a_kill_left(kind: str, spelling: str, real: Path) -> None:
    state = STATES[kind]
    state.start(real)
    _die_in_the_middle(state, real)
    left = list(real.parent.rglob(".*.partial"))
    assert left
    assert all(path.stat().st_mode & 0o077 == 0 for path in left)
    state.entry(NAMES[spelling](real))
    assert not list(real.parent.rglob(".*.partial"))
    assert state.entry(real) == state.entry(real)


@pytest.mark.parametrize("kind", STATES)
def test_what_a_kill_left_by_name_is_gone_after_a_change_and_what_is_anothers_stays(kind: str, real: Path) -> None:
    if kind == "store":
        pytest.skip("SQLite has a journal of its own")
    STATES[kind].start(real)
    documents.create_secret(documents.partial_name(real), "true counts")
    other = documents.partial_name(real.with_name("state.sqlite.other"))
    documents.create_secret(other, "of another file")
    STATES[kind].entry(real)
    assert documents.unfinished(real) == []
    assert other.exists()


def test_reading_removes_nothing(real: Path) -> None:
    COUNTS.start(real)
    documents.create_secret(documents.partial_name(real), "somebody may be at work")
    ContinualSeries.open(real).totals()
    assert len(documents.unfinished(real)) == 1


def test_nobody_removes_what_another_is_at_work_on(real: Path) -> None:
    COUNTS.start(real)
    with documents.alone_with(real):
        partial = documents.partial_name(real)
        documents.create_secret(partial, "at work")
        other = threading.Thread(target=lambda: ContinualSeries.open(real).add(3))
        other.start()
        other.join(0.2)
        assert other.is_alive()
        assert partial.exists()
    other.join()
    assert not partial.exists()


def test_a_ledger_whose_start_was_killed_has_one_name(real: Path) -> None:
    Ledger.open(real, epsilon=1.0)
    documents.partial_name(real).hardlink_to(real)  # killed between the two
    assert Ledger.open(real).entries == ()
    assert real.stat().st_nlink == 2  # whoever only reads changes nothing
    Ledger.open(real).spend(HALF, "release")
    assert real.stat().st_nlink == 1
    real.with_name("second").hardlink_to(real)
    documents.partial_name(real).hardlink_to(real)
    with pytest.raises(BruitError, match="several names"):
        Ledger.open(real)


def test_whoever_starts_a_ledger_while_another_tidies_up_uses_the_others(
    real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def tidied_up(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "link", link)
        Ledger.open(real, epsilon=1.0).spend(HALF, "release")
        link(source, target)

    monkeypatch.setattr(os, "link", tidied_up)
    assert len(Ledger.open(real, epsilon=1.0).entries) == 1


def test_a_folder_that_is_removed_while_somebody_waits_for_it_is_made_anew(real: Path) -> None:
    folder, got = real.with_name("results"), []

    def wait() -> None:
        with storage.locked_folder(folder):
            got.append(folder.stat().st_ino)

    with storage.locked_folder(folder):
        worker = threading.Thread(target=wait)
        worker.start()
        threading.Event().wait(0.1)
        folder.rmdir()
    worker.join()
    assert got == [folder.stat().st_ino]


@pytest.mark.parametrize("kind", ["a file", "a link to nothing"])
def test_results_that_are_no_folder_are_refused_before_anything_is_booked(kind: str, real: Path) -> None:
    _start_publication(real)
    results = real.with_name(f"{real.name}.results")
    results.touch() if kind == "a file" else results.symlink_to("nowhere")
    with pytest.raises(BruitError, match="must be the folder of results"):
        _publication(real)
    assert Ledger.open(real).entries == ()


# The same with processes, again and again.

RACER = """
import sys
from pathlib import Path
from bruit.publications import Publication, Request, publish
folder = Path(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    edition, name = line.split()
    options = dict(title="People", table="people.csv", requests=[Request("people", "count")], epsilon=0.01, page=False)
    place = dict(ledger=folder / name, output=Path(f"{name} {edition}"), folder=folder, edition=edition)
    plan = Publication(**options, **place)
    print(publish(plan).results["people"].values.tolist(), flush=True)
"""


def racing(folder: Path, trials: int) -> list[tuple[str, str]]:
    """Two processes that run the same publications at once, each by its own name of the ledger."""
    folder.joinpath("people.csv").write_text("age\n" + "20\n30\n" * 20)
    Ledger.open(folder / "real", epsilon=10.0)
    (folder / "link").symlink_to("real")
    command = [sys.executable, "-c", RACER, str(folder)]
    racers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    pairs = []
    for racer in racers:
        assert racer.stdout
        assert racer.stdout.readline() == "ready\n"
    for edition in range(trials):
        for racer, name in zip(racers, ("real", "link"), strict=True):
            assert racer.stdin
            racer.stdin.write(f"{edition} {name}\n")
            racer.stdin.flush()
        first, second = (racer.stdout.readline() for racer in racers if racer.stdout)
        pairs.append((first, second))
    for racer in racers:
        racer.communicate(timeout=20)
    return pairs


@pytest.mark.audit
def test_two_hundred_publications_by_two_names_at_once_are_two_hundred_draws(tmp_path: Path) -> None:
    pairs = racing(tmp_path, 200)
    assert all(first == second != "" for first, second in pairs)
    assert len(Ledger.open(tmp_path / "real").entries) == 400
