"""Kills of `bruit release`, `bruit publish` and `bruit limits`: one draw for one booking, and none is lost.

Each series is one result. It is run and killed some times, at an instant that is planted or at a random one, and then
once to the end. Whatever the runs printed or left is compared with the ledger.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bruit import documents
from bruit.privacy import Ledger

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the test forks")

#: Forks a command for every line that it reads, so that no time is spent on imports, and plants a kill or a fault.
FORGE = """
import json, os, signal, sys
import bruit.publications.publishing, bruit.engines.csv, bruit.engines.arrow, pyarrow.parquet, bruit.cli.release
from pathlib import Path
from bruit.cli import limits, publish, result
from bruit.cli.app import main
from bruit.releases import kept

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def before(owner, name):
    setattr(owner, name, kill)

def after(owner, name):
    whole = getattr(owner, name)
    setattr(owner, name, lambda *a, **o: (whole(*a, **o), kill()))

def half(self, text, **options):
    with open(self, "w") as stream:
        stream.write(text[: len(text) // 2])
    kill()

def elsewhere(self):
    kept.documents.create_secret(self.path.with_name(".lost"), "")
    return self.path.with_name(".lost")

def shown_first(self, text, **options):
    print(text, flush=True)
    kill()

PLANS = {
    "before the booking": lambda: before(kept.Once, "_book"),
    "after the booking": lambda: after(kept.Once, "_book"),
    "half written": lambda: setattr(Path, "write_text", half),
    "before the rename": lambda: before(kept.Once, "_name"),
    "after the rename": lambda: after(kept.Once, "_name"),
    "loses what was reserved": lambda: (setattr(kept.Once, "_reserve", elsewhere), after(kept.Once, "_book")),
    "shows before it saves": lambda: setattr(Path, "write_text", shown_first),
}
for line in sys.stdin:
    run = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(run["folder"])
        for number, name in ((1, run["out"]), (2, run["err"])):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = ["bruit", *run["args"]]
        PLANS.get(run["plan"], lambda: None)()
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        sys.stdout.flush()
        os._exit(code)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""

PUBLICATION = """
title = "Visits"
edition = "{number}"
output = "edition {number}"
table = "visits.csv"
epsilon = 0.25
ledger = "visits.ledger"
budget = {{ epsilon = 1000.0 }}
person = {{ column = "visitor", rows = 3 }}
page = false

[[statistic]]
name = "visits"
kind = "count"

[[statistic]]
name = "ages"
kind = "mean"
of = "age=0..100"
"""

#: Instants at which a run is stopped.
INSTANTS = ("after the booking", "half written", "before the rename", "after the rename", "before the booking")


class Series:
    """Runs of one command for one result after the other, in a folder, killed and not."""

    def __init__(self, folder: Path, command: str, forge: subprocess.Popen) -> None:
        self.folder, self.command, self.forge = folder, command, forge
        rows = [f"{i % 400 // (1 + i % 3)},{20 + i % 60}" for i in range(900)]
        (folder / "visits.csv").write_text("\n".join(["visitor,age", *rows]) + "\n")

    def arguments(self, number: int) -> list[str]:
        """The command for a result that no other number has."""
        if self.command == "publish":
            plan = self.folder / f"plan {number}.toml"
            plan.write_text(PUBLICATION.format(number=number))
            return ["publish", plan.name, "--json"]
        book = ["--ledger", "visits.ledger", "--budget", "1000", "--json"]
        if self.command == "limits":
            return [
                "limits",
                "visits.csv",
                "--person",
                "visitor",
                "-e",
                "1",
                "--spend",
                f"0.3{1000 + number}",  # so much noise that two draws are never the same
                "--most",
                "20",
                *book,
            ]
        asked = ["--count", "--mean", "age=0..100", "-e", f"0.{1000 + number}", "-o", f"run {number}.json!"]
        return ["release", "visits.csv", *asked, "--person", "visitor:rows=3", *book]

    def run(self, number: int, plan: str = "", after: float | None = None, *more: str) -> tuple[int, str]:
        """The status with which a run ended, and what it printed."""
        names = {name: f"{number}.{name}" for name in ("out", "err")}
        line = {"args": [*self.arguments(number), *more], "plan": plan, "folder": str(self.folder), **names}
        self.forge.stdin.write(json.dumps(line) + "\n")
        self.forge.stdin.flush()
        child = int(self.forge.stdout.readline())
        if after is not None:
            time.sleep(after)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        status = int(self.forge.stdout.readline())
        return status, (self.folder / names["out"]).read_text()

    def entries(self) -> list:
        path = self.folder / "visits.ledger"
        return [entry for entry in Ledger.open(path).entries if entry.guarantee.epsilon] if path.exists() else []

    def results(self) -> dict[str, str]:
        """The numbers of everything that stands under a final name, beside the ledger."""
        folder = self.folder / "visits.ledger.results"
        files = sorted(folder.glob("*.json")) if folder.exists() else []
        return {file.name: numbers(file.read_text()) for file in files}


def numbers(text: str) -> str:
    """What noise has touched in a document: its values."""
    body = json.loads(text)
    documents.unseal(text, body["format"])
    results = [item["result"] for item in body["results"]] if "results" in body else [body]
    return json.dumps([item.get("values") or [item.get("rows"), item.get("seen")] for item in results])


def check_series(series: Series, number: int, plans: list[tuple[str, float | None]], *, again: bool = False) -> int:
    """Kill a series so often, then let it end; how many runs were really killed.

    No result without its booking; one booking, one draw that is shown or kept; no booking without its result.
    """
    before, kept = {entry.index for entry in series.entries()}, series.results()
    shown, kills = set(), 0
    for plan, after in plans:
        status, printed = series.run(number, plan, after, *(["--again"] if again else []))
        kills += status == signal.SIGKILL
        assert status in (signal.SIGKILL, 0), (series.folder / f"{number}.err").read_text()
        if printed.rstrip().endswith("}"):
            shown.add(numbers(printed))
        booked = {entry.result for entry in series.entries()}
        assert set(series.results()) <= booked, "A result without its booking."
        output = series.folder / f"run {number}.json"
        assert not output.exists() or numbers(output.read_text()) in series.results().values()
        if again and len(series.results()) > len(kept):
            break  # it is kept: --again would be one more draw, paid for and kept by itself
    status, printed = series.run(number)
    assert status == 0, f"The last run is refused: {(series.folder / f'{number}.err').read_text()}"
    shown.add(numbers(printed))
    assert len(shown) == 1, "Two draws of one booking were shown."
    own = [entry for entry in series.entries() if entry.index not in before]
    assert len({entry.result for entry in own}) == 1, "It is booked twice, and one of the results is lost."
    assert len(own) == {"limits": 1, "release": 2, "publish": 2}[series.command]
    assert series.results()[own[0].result] in shown
    return kills


@pytest.fixture(scope="module")
def forge():
    process = subprocess.Popen([sys.executable, "-c", FORGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process
    process.stdin.close()
    process.stdout.close()
    process.wait(20)


@pytest.fixture(params=["release", "publish", "limits"])
def series(request, tmp_path, forge):
    return Series(tmp_path, request.param, forge)


def test_a_dozen_kills_lose_nothing_and_show_one_draw(series: Series) -> None:
    assert check_series(series, 0, [(plan, None) for plan in INSTANTS[:3]]) == 3
    assert check_series(series, 1, [("after the rename", None)]) == 1


@pytest.mark.audit
def test_two_hundred_kills_lose_nothing_and_show_one_draw(series: Series) -> None:
    draw, kills, number = random.Random(200), 0, 0
    begun = time.monotonic()
    check_series(series, 0, [])
    lasts = time.monotonic() - begun
    while kills < 200:
        number += 1
        random_instants = [("", draw.uniform(0.2, 1.1) * lasts) for _ in range(2)]
        planted = [(plan, None) for plan in draw.sample(INSTANTS, 2)]
        plans = draw.choice([random_instants, planted, [*planted, *random_instants], [*random_instants, *planted]])
        again = series.command != "publish" and number % 5 == 0
        kills += check_series(series, number, plans, again=again)
    assert number < 400


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("loses what was reserved", "booked twice, and one of the results is lost|The last run is refused"),
        ("shows before it saves", "Two draws of one booking were shown"),
    ],
)
def test_the_check_catches_a_twin_that(series: Series, plan: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_series(series, 0, [(plan, None)])
