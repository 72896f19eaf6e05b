"""`bruit result`: a result that was paid for is shown again, all of it, for nothing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bruit import documents, releases
from bruit.privacy import Ledger
from bruit.releases import Result

BRUIT = Path(sys.executable).with_name("bruit")
HISTOGRAM = ("data.csv", "--histogram", "x=0..60/60", "-e", 0.1)
BOOK = ("--ledger", "budget.jsonl", "--budget", 1)


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data.csv").write_text("x,g\n" + "".join(f"{i % 60},{'ab'[i % 2]}\n" for i in range(600)))


def spent(tmp_path):
    return Ledger.open(tmp_path / "budget.jsonl").spent.epsilon


def lines_with_intervals(text):
    return [" ".join(line.split()) for line in text.splitlines() if " … " in line]


def test_the_rows_that_were_not_shown_are_shown_for_nothing(run, data, tmp_path):
    ended = run("release", *HISTOGRAM, *BOOK)
    shown = lines_with_intervals(ended.out)
    assert len(shown) == 20
    assert "and 40 more" in ended.out
    assert "--rows" not in ended.out + ended.err  # nothing that would have to be paid for again
    command = next(line.strip() for line in ended.out.splitlines() if line.strip().startswith("bruit "))
    assert command == "bruit result budget.jsonl 0"
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    again = run(*command.split()[1:])
    assert len(lines_with_intervals(again.out)) == 60
    assert lines_with_intervals(again.out)[:20] == shown
    assert spent(tmp_path) == 0.1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_saved_result_is_the_one_that_was_printed(run, data, tmp_path):
    printed = run("release", *HISTOGRAM, *BOOK, "--json", "-o", "copy.json").json()
    assert run("result", "budget.jsonl", 0, "--json").json() == printed
    assert run("result", "copy.json", "--json").json() == printed
    (kept,) = (tmp_path / "budget.jsonl.results").iterdir()
    assert json.loads(kept.read_text()) == printed
    assert Result.load(kept).to_dict() == Result.load(tmp_path / "copy.json").to_dict()


def test_every_release_of_a_ledger_keeps_its_own_result(run, data, tmp_path):
    printed = [run("release", "data.csv", "--count", "-e", 0.1, *BOOK, "--again", "--json").out for _ in range(2)]
    run("release", "data.csv", "--count", "--mean", "x=0..60", "--by", "g=a,b", "-e", 0.1, *BOOK)
    ended = run("ledger", "show", "budget.jsonl")
    assert [line.split()[-1] for line in ended.out.splitlines()[2:6]] == ["0", "1", "2", "3"]
    assert "bruit result budget.jsonl 0" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert [run("result", "budget.jsonl", number, "--json").out for number in (0, 1)] == printed
    groups = [run("result", "budget.jsonl", number, "--json").out for number in (2, 3)]
    assert groups[0] == groups[1]  # two statistics, one file
    entries = run("ledger", "show", "budget.jsonl", "--json").json()["entries"]
    assert [entry["lost"] for entry in entries] == [False] * 4
    assert len({entry["result"] for entry in entries}) == 3
    assert all((tmp_path / "budget.jsonl.results" / entry["result"]).exists() for entry in entries)


def test_rows_and_levels_are_a_matter_of_showing(run, data):
    run("release", *HISTOGRAM, *BOOK, "--level", 0.7)
    few = run("result", "budget.jsonl", 0, "--rows", 3)
    assert len(lines_with_intervals(few.out)) == 3
    assert "and 57 more" in few.out
    assert "bruit result budget.jsonl 0" in few.out
    widths = []
    for level in (0.5, 0.7, 0.95, 0.99):
        row = run("result", "budget.jsonl", 0, "--level", level, "--json").json()["values"][0]
        widths.append(row["upper"] - row["lower"])
    assert widths == sorted(set(widths))
    refused = run("result", "budget.jsonl", 0, "--level", 0.6, code=2)
    assert "0.5, 0.7, 0.8, 0.9, 0.95, 0.99" in refused.err


def test_what_has_no_result_is_told_apart(run, data, tmp_path):
    ledger = Ledger.open(tmp_path / "budget.jsonl", epsilon=1.0)
    releases.release([1, 2], releases.Count(epsilon=0.1), ledger=ledger)
    assert "without a file" in run("result", "budget.jsonl", 0, code=2).err
    assert "result" not in run("ledger", "show", "budget.jsonl").out.splitlines()[1]
    run("release", "data.csv", "--count", "-e", 0.1, *BOOK)
    next((tmp_path / "budget.jsonl.results").iterdir()).unlink()
    assert "stopped before it was saved" in run("result", "budget.jsonl", 1, code=4).err
    shown = run("ledger", "show", "budget.jsonl")
    assert [line.split()[-1] for line in shown.out.splitlines()[2:4]] == ["0.1", "lost"]
    assert "lost: booked" in shown.out
    assert "no entry 7" in run("result", "budget.jsonl", 7, code=2).err
    assert "is a ledger" in run("result", "budget.jsonl", code=2).err
    run("result", "nothing.json", code=4)
    run("result", "nothing.jsonl", 3, code=4)


def test_a_damaged_result_is_refused(run, data, tmp_path):
    run("release", "data.csv", "--count", "-e", 0.1, *BOOK)
    (kept,) = (tmp_path / "budget.jsonl.results").iterdir()
    whole = kept.read_text()
    kept.write_text(whole.replace('"count"', '"other"'))
    assert "digest" in run("result", "budget.jsonl", 0, code=4).err
    kept.write_text(whole[:50])
    run("result", "budget.jsonl", 0, code=4)
    kept.write_text(documents.seal("bruit.result/1", {"name": "count", "values": [7]}))
    assert "missing or wrong" in run("result", "budget.jsonl", 0, code=4).err


def test_a_folder_that_cannot_be_written_to_is_found_before_anything_is_spent(run, data, tmp_path):
    (tmp_path / "budget.jsonl.results").write_text("in the way")
    ended = run("release", "data.csv", "--count", "-e", 0.1, *BOOK, code=4)
    assert ended.out == ""
    assert spent(tmp_path) == 0.0


def test_labels_of_any_kind_give_names_of_files(run, data, tmp_path):
    for label in ("../../etc/passwd", "naïve 日本", ".", "x" * 200, "a\\b|c:d*"):
        run("release", "data.csv", "--count", "-e", 0.01, *BOOK, "--label", label, "--again")
    folder = tmp_path / "budget.jsonl.results"
    assert len(list(folder.iterdir())) == 5
    assert {path.parent for path in tmp_path.rglob("*.json")} == {folder}
    for number in range(5):
        run("result", "budget.jsonl", number)


@pytest.mark.audit
@pytest.mark.skipif(os.name == "nt", reason="needs a pipe that breaks")
def test_who_stops_reading_still_has_the_result(data, tmp_path):
    """Saved before shown: a reader that closes its end loses nothing."""
    command = [BRUIT, "release", *map(str, HISTOGRAM), *map(str, BOOK), "--show", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.close()
    process.wait(timeout=60)
    (kept,) = (tmp_path / "budget.jsonl.results").iterdir()
    assert len(Result.load(kept)) == 60
    assert spent(tmp_path) == 0.1


INTERRUPTED = """
import os, signal, sys
from bruit.releases import Count
from bruit.cli.app import main
whole = Count.publish
def draw(self, counts, entropy):
    os.kill(os.getpid(), signal.{name})
    return whole(self, counts, entropy)
Count.publish = draw
sys.argv = ["bruit", "release", "data.csv", "--count", "-e", "0.1", "--ledger", "budget.jsonl", "--budget", "1"]
main()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs POSIX signals")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_an_interruption_between_the_spend_and_the_result_is_said(data, tmp_path, name, code):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.replace("{name}", name)],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert "the spend is booked, and there is no result" in done.stderr
    assert not (tmp_path / "budget.jsonl.results").exists()
    assert spent(tmp_path) == 0.1
