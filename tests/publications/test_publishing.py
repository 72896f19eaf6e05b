"""A publication is booked once and one draw of it is shown, whatever is killed when."""

import contextlib
import os
import shutil
import signal
import threading
from pathlib import Path

import pytest

from bruit import engines
from bruit.errors import BudgetError, FormatError, LedgerError, ParameterError
from bruit.privacy import Ledger
from bruit.privacy.ledger import storage
from bruit.publications import Publication, Published, publish, publishing
from bruit.releases import Release
from bruit.releases.kept import Once

LABELS = ["Visits: mean age by sex", "Visits: quartiles", "Visits: visits", "Visits: zones by zone"]


def entries(plan):
    path = plan.parent / "visits.ledger"
    return Ledger.open(path).entries if path.exists() else ()


def kept(plan):
    folder = plan.parent / "visits.ledger.results"
    return sorted(folder.glob("publication-*.json")) if folder.exists() else []


def numbers(published):
    return [result.values.tolist() for result in published.results.values()]


def test_all_is_booked_at_once_with_a_line_per_statistic_and_saved_whole(plan):
    published = publish(plan)
    assert published.is_new
    assert list(published.results) == ["visits", "zones", "mean age", "quartiles"]  # in the order of the file
    assert [entry.label for entry in entries(plan)] == [*LABELS, "published: Visits"]
    assert Ledger.open(plan.parent / "visits.ledger").spent.epsilon == 1.0
    assert sorted(file.name for file in published.folder.iterdir()) == [
        "results.csv",
        "results.json",
        "results.parquet",
    ]
    saved = Published.load(published.folder / "results.json")
    assert numbers(saved) == numbers(published)
    (batch,) = engines.batches(published.folder / "results.parquet")
    assert set(batch) == {"statistic", "column", "group", "label", "value", "error", "lower", "upper"}
    assert len(batch["value"]) == sum(map(len, published.results.values()))
    assert published["mean age"].guarantee.neighbours == "person-add-remove"


def test_run_again_it_shows_what_was_published_and_spends_nothing(plan):
    first = publish(plan)
    before = (plan.parent / "visits.ledger").read_bytes()
    text = plan.read_text().replace('title = "Visits"', 'title = "Visits, corrected"  # another comment')
    blocks = text.split("[[statistic]]")
    plan.write_text("[[statistic]]".join([blocks[0], *reversed(blocks[1:])]))  # neither title nor order matter
    (plan.parent / "visits.csv").unlink()
    again = publish(plan)
    assert (again.is_new, again.date, again.title, numbers(again)) == (False, first.date, "Visits", numbers(first))
    assert (plan.parent / "visits.ledger").read_bytes() == before


def test_other_statistics_and_another_edition_are_other_publications(plan):
    text = plan.read_text()
    digests = {Publication.load(plan).digest}
    for change in (
        ("weight = 2", "weight = 3"),
        ("rows = 4", "rows = 5"),
        ("18..100:1", "18..99:1"),
        ("visits.csv", "b.csv"),
    ):
        plan.write_text(text.replace(*change))
        digests.add(Publication.load(plan).digest)
    plan.write_text('edition = "second"\n' + text)
    digests.add(Publication.load(plan).digest)
    assert len(digests) == 6


def test_a_publication_that_does_not_fit_is_refused_before_the_table_is_read(plan):
    plan.write_text(plan.read_text().replace("budget = { epsilon = 2.0,", "budget = { epsilon = 0.9,"))
    (plan.parent / "visits.csv").unlink()
    with pytest.raises(BudgetError, match=r"needs ε=1\.0, 0\.9 remain"):
        publish(plan)
    assert entries(plan) == ()


def test_a_folder_of_something_else_is_not_touched(plan):
    (plan.parent / "plan").mkdir()
    with pytest.raises(ParameterError, match='output = "plan-2"'):
        publish(plan)
    assert entries(plan) == ()


#: Where a run is killed: what is replaced by a kill, and whether the spend is booked then, and the draw saved.
POINTS = {
    "before the booking": (Once, "_book", False, False),
    "after the booking": (Release, "publish", True, False),
    "before the closing line": (Once, "_close", True, False),
    "before the digest of the table is on the disk": (Path, "replace", True, False),
    "before the rename": (Once, "_name", True, False),
    "before the files": (publishing, "_write_files", True, True),
    "before the folder appears": (Path, "rename", True, True),
}


def killed(plan, place, name):
    """Run in a process of its own, which is killed when it comes to a function; what it leaves stays."""
    child = os.fork()
    if not child:
        setattr(place, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        try:
            publish(plan)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the test forks")
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_leaves_no_result_without_a_booking_and_the_next_run_spends_no_more(plan, point):
    place, name, booked, saved = POINTS[point]
    killed(plan, place, name)
    assert (len(entries(plan)) >= len(LABELS), len(kept(plan))) == (booked, saved)
    before = Published.load(kept(plan)[0]) if saved else None
    unfinished = list((plan.parent / "visits.ledger.results").glob(".*partial")) if booked else []
    if point == "before the rename":  # with the closing line, what is finished is the only draw
        before = Published.load(unfinished[0])
    assert all(file.stat().st_mode & 0o077 == 0 for file in unfinished)
    published = publish(plan)
    assert before is None or numbers(before) == numbers(published)
    assert [entry.label for entry in entries(plan)] == [*LABELS, "published: Visits"]
    assert not any(file.exists() for file in unfinished)
    assert len(kept(plan)) == 1
    assert not list(plan.parent.glob(".*partial"))


def test_a_booking_that_was_cut_short_is_completed_and_not_repeated(plan):
    publish(plan)
    path = plan.parent / "visits.ledger"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + lines[3][:20])  # two whole lines of four, and a part of the third
    for file in kept(plan):
        file.unlink()
    publish(plan)
    assert [entry.label for entry in entries(plan)] == [*LABELS, "published: Visits"]
    assert Ledger.open(path).spent.epsilon == 1.0


def test_what_was_shown_is_never_drawn_again(plan):
    first = publish(plan)
    kept(plan)[0].unlink()
    assert numbers(publish(plan)) == numbers(first)  # from the copy for readers
    kept(plan)[0].unlink()
    (first.folder / "results.json").unlink()
    first.folder.rename(plan.parent / "elsewhere")
    with pytest.raises(LedgerError, match="Restore it"):
        publish(plan)


def test_what_a_ledger_has_lost_is_booked_again_and_not_drawn_again(plan):
    path = plan.parent / "visits.ledger"
    first = publish(plan)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert numbers(publish(plan)) == numbers(first)
    assert [entry.label for entry in entries(plan)] == [*LABELS, "published: Visits"]
    assert Ledger.open(path).spent.epsilon == 1.0


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_copy_of_which_the_ledger_has_nothing_is_neither_shown_nor_drawn_again(plan, is_gone):
    path = plan.parent / "visits.ledger"
    publish(plan)
    shutil.rmtree(plan.parent / "visits.ledger.results")
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    if is_gone:
        path.unlink()
    with pytest.raises(LedgerError, match="nothing of it"):
        publish(plan)
    assert path.exists() != is_gone


def test_a_link_is_no_folder_for_output(plan):
    first = publish(plan)
    first.folder.rename(plan.parent / "web")
    first.folder.symlink_to(plan.parent / "web")
    plan.write_text(f'edition = "2"\n{plan.read_text()}')
    with pytest.raises(ParameterError, match="is a link"):
        publish(plan)
    assert first.folder.is_symlink()


def test_a_ledger_that_was_put_back_does_not_pay_for_a_third_edition(plan):
    path, text = plan.parent / "visits.ledger", plan.read_text()
    publish(plan)
    before = path.read_bytes().splitlines(keepends=True)[0]
    plan.write_text(f'edition = "2"\noutput = "second"\n{text}')
    publish(plan)
    path.write_bytes(before)
    publish(plan)
    plan.write_text(f'edition = "3"\noutput = "third"\n{text}')
    with pytest.raises(LedgerError, match="put back"):  # the first edition is not in the ledger: it was not run since
        publish(plan)
    plan.write_text(text)
    publish(plan)
    plan.write_text(f'edition = "3"\noutput = "third"\n{text}')
    with pytest.raises(BudgetError):
        publish(plan)


def test_a_damaged_result_is_refused_and_not_drawn_again(plan):
    publish(plan)
    file = kept(plan)[0]
    file.write_text(file.read_text().replace("Visits", "Visitz", 1))
    with pytest.raises(FormatError, match="changed or damaged"):
        publish(plan)


def test_files_for_readers_are_made_again_from_what_is_saved(plan):
    first = publish(plan)
    content = {file.name: file.read_bytes() for file in first.folder.iterdir() if file.suffix != ".parquet"}
    first.folder.rename(plan.parent / "elsewhere")
    again = publish(plan)
    assert {file.name: file.read_bytes() for file in again.folder.iterdir() if file.suffix != ".parquet"} == content


def test_two_at_once_publish_once(plan):
    publication = Publication.load(plan)
    ledger = publication.open_ledger()
    folder = ledger.results
    folder.mkdir()
    storage_patience = storage.PATIENCE
    with storage.locked_folder(folder):
        storage.PATIENCE = 0.1
        try:
            with pytest.raises(LedgerError, match="has held the ledger"):
                publish(plan)
        finally:
            storage.PATIENCE = storage_patience
    assert entries(plan) == ()


def test_two_at_once_write_the_folder_for_readers_once(plan, monkeypatch):
    first = publish(plan)
    shutil.rmtree(first.folder)
    meeting, write = threading.Barrier(2), engines.write_table

    def wait(*args):
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait(0.3)
        write(*args)

    monkeypatch.setattr(engines, "write_table", wait)
    shown = []
    runs = [threading.Thread(target=lambda: shown.append(numbers(publish(plan)))) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert shown == [numbers(first)] * 2
    assert not list(plan.parent.glob(".*partial"))


def test_a_seed_gives_the_same_publication_and_marks_it(plan, tmp_path):
    publication = Publication.load(plan)
    release = publication.release
    source = engines.read(str(tmp_path / "visits.csv"))
    first, second = (release.publish(release.fold(source, 7), rng=7) for _ in range(2))
    assert [result.values.tolist() for result in first.values()] == [
        result.values.tolist() for result in second.values()
    ]
    assert all(result.simulated for result in first.values())
