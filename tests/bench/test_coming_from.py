"""The pairs of the pages "Coming from …": their call and ours give answers of the same distribution.

A pair is a block ``py``, which runs in the environment of the other library, and the block ``python`` that follows.
Both leave a list of numbers in `answer`. Each is run many times. Two empirical distributions of n runs each are further
apart than 2·√(ln(4/α)/2n) with probability at most α, whatever the law (the inequality of Dvoretzky, Kiefer, Wolfowitz
and Massart, for both sides), so that no test has to assume one.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "how-to"
#: The environment of bench/peers.py in which the calls of a page run.
ENVIRONMENTS = {
    "coming_from_diffprivlib": "diffprivlib",
    "coming_from_multi_freq_ldpy": "ldp",
    "coming_from_opendp": "opendp",
    "coming_from_pure_ldp": "ldp",
}
RUNS = 4000
#: The false alarm rate of one comparison; the pages have fewer than 100 numbers.
ALARM = 1e-8

#: Runs code from standard input as often as it says, and prints the answers.
DRIVER = """
import json, sys, warnings
warnings.simplefilter("ignore")
job = json.load(sys.stdin)
code = compile(job["code"], "pair", "exec")
answers = []
for _ in range(job["runs"]):
    names = {}
    exec(code, names)
    answers.append([float(number) for number in names["answer"]])
print(json.dumps(answers))
"""


class Pair(NamedTuple):
    """Their code and ours."""

    page: str
    place: int
    theirs: str
    ours: str

    def __str__(self) -> str:
        return f"{self.page}-{self.place}"


def pairs(page: str, text: str) -> list[Pair]:
    """The pairs of a page; a block of theirs without one of ours is an error."""
    codes = re.findall(r"^```(python|py)\b[^\n]*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    theirs = [place for place, (language, _) in enumerate(codes) if language == "py"]
    assert all(place + 1 < len(codes) and codes[place + 1][0] == "python" for place in theirs), page
    return [Pair(page, number, codes[place][1], codes[place + 1][1]) for number, place in enumerate(theirs)]


PAIRS = [pair for page in ENVIRONMENTS for pair in pairs(page, (PAGES / f"{page}.md").read_text(encoding="utf-8"))]


def distance(first: Any, second: Any) -> float:
    """The largest difference of two empirical distribution functions."""
    points = np.sort(np.concatenate([first, second]))
    ranks = [np.searchsorted(np.sort(numbers), points, side="right") / len(numbers) for numbers in (first, second)]
    return float(np.abs(ranks[0] - ranks[1]).max())


def most(runs: int) -> float:
    """How far two distributions of the same law are apart at most."""
    return 2 * math.sqrt(math.log(4 / ALARM) / (2 * runs))


def distances(theirs: list[list[float]], ours: list[list[float]]) -> list[float]:
    """The distance of every number of the answers."""
    first, second = np.array(theirs), np.array(ours)
    assert first.shape == second.shape
    return [distance(first[:, place], second[:, place]) for place in range(first.shape[1])]


def run(python: Path | str, code: str, runs: int = RUNS) -> list[list[float]]:
    """The answers of a block."""
    job = json.dumps({"code": code, "runs": runs})
    done = subprocess.run(
        [str(python), "-c", DRIVER], input=job, capture_output=True, text=True, check=False, timeout=1200
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers: list[list[float]] = json.loads(done.stdout)
    return answers


@pytest.fixture(scope="module")
def interpreter() -> Callable[[str], Path]:
    """The Python of another library's environment, which is made if need be."""
    sys.path.insert(0, str(ROOT / "bench"))
    peers = importlib.import_module("peers")
    sys.path.remove(str(ROOT / "bench"))

    @functools.cache
    def ready(page: str) -> Path:
        try:
            python: Path = peers.ready(peers.ENVIRONMENTS[ENVIRONMENTS[page]])
        except peers.SetupError as error:
            pytest.skip(str(error))
        return python

    return ready


@pytest.mark.audit
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_their_call_and_ours_have_the_same_distribution(pair: Pair, interpreter: Callable[[str], Path]) -> None:
    theirs, ours = run(interpreter(pair.page), pair.theirs), run(sys.executable, pair.ours)
    assert max(distances(theirs, ours)) <= most(RUNS)


@pytest.mark.audit
@pytest.mark.parametrize("page", ENVIRONMENTS)
def test_a_pair_with_another_epsilon_is_caught(page: str, interpreter: Callable[[str], Path]) -> None:
    pair = next(pair for pair in PAIRS if pair.page == page)
    other = re.sub(r"epsilon=[\d.]+", "epsilon=8.0", pair.ours)
    assert other != pair.ours
    assert max(distances(run(interpreter(page), pair.theirs), run(sys.executable, other))) > most(RUNS)


def test_every_page_has_pairs_and_all_compile() -> None:
    assert {pair.page for pair in PAIRS} == set(ENVIRONMENTS)
    for pair in PAIRS:
        compile(pair.theirs, str(pair), "exec")
        compile(pair.ours, str(pair), "exec")
    assert len(PAIRS) >= 10


def test_a_block_of_theirs_without_ours_is_an_error() -> None:
    with pytest.raises(AssertionError):
        pairs("page", "```py\nanswer = []\n```\n\n```py\nanswer = []\n```\n")


def test_the_distance_sees_another_mean_and_another_spread() -> None:
    numbers = np.linspace(-3, 3, 2001)
    assert distance(numbers, numbers) == 0
    assert distance(numbers, numbers + 1) > most(RUNS)
    assert distance(numbers, numbers * 2) > most(RUNS)
    assert most(RUNS) < 0.1


def test_a_block_that_fails_says_why() -> None:
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run(sys.executable, "answer = [1 / 0]", runs=1)
    assert run(sys.executable, "answer = [1, 2]", runs=2) == [[1.0, 2.0]] * 2
