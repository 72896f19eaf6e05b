"""How commands end: signals, broken pipes and defects, each with its code, no half-written file, and no data."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bruit.cli import console, exits

BRUIT = Path(sys.executable).with_name("bruit")
SECRET = "s3cr3t-value"


@pytest.mark.audit("csv", "parquet-1-129", "parquet-2-130")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
    ids=str,
)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_signal_half_way_leaves_no_reports(tmp_path, number, code, kind):
    process = subprocess.Popen(
        [BRUIT, "privatize", "-", "c=no,yes", "-e", "1", "-o", f"r.{kind}"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    with process:
        process.stdin.write(b"c\n" + b"yes\n" * 1000)
        process.stdin.flush()
        patience = time.monotonic() + 60
        while not list(tmp_path.glob(".*.partial")):
            assert process.poll() is None
            assert time.monotonic() < patience
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(timeout=60) == code
        assert b"interrupted" in process.stderr.read()
    assert list(tmp_path.iterdir()) == []


def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with exits.stoppable():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.audit(share=3)
@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("arguments", [("data", "adult", "-o", "-"), ("data",), ("data", "--json"), ("data", "adult")])
def test_a_reader_that_stops_reading_ends_the_command_quietly(arguments):
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([BRUIT, *arguments], stdout=write, stderr=subprocess.PIPE, timeout=120, check=False)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (console.Exit.PIPE, b"")


@pytest.fixture
def defect(monkeypatch):
    """A command with a mistake in it, which has a person's value in its hands."""
    from bruit.collection import Plan

    def fail(self, *_):
        raise KeyError(SECRET)

    monkeypatch.setattr(Plan, "randomize", fail)
    return ("smokes=no,yes", "--epsilon", "1", "-o", "reports.parquet")


def test_a_defect_has_a_code_of_its_own_and_shows_no_data(run, survey, defect, tmp_path):
    told = run("privatize", survey, *defect, code=70)
    assert "this is a defect of bruit (KeyError in collection/files.py, line" in told.err
    assert SECRET not in told.err
    assert "Traceback" not in told.err
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]


def test_a_traceback_is_shown_only_on_request(run, survey, defect, monkeypatch):
    monkeypatch.setenv("BRUIT_DEBUG", "1")
    assert "Traceback" in run("privatize", survey, *defect, code=70).err


def test_every_code_is_explained():
    assert set(console.MEANINGS) == set(console.Exit)
