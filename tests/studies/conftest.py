"""A study small enough to run in a moment, in a module that other processes can import."""

import sys
import textwrap

import pytest

TOY = '''
"""A study of nothing, in which trials can be slow, be skipped or fail."""

import os
import time
from pathlib import Path

from bruit.errors import MissingExtraError
from bruit_studies import Block, Claim, Plot, Skipped, Study, confirmed, refuted


def trial(*, method, epsilon, rng):
    marks = os.environ.get("TOY_MARKS")
    if marks:
        with Path(marks).open("a") as file:
            file.write("x\\n")
    time.sleep(float(os.environ.get("TOY_SLEEP", 0)))
    if method == os.environ.get("TOY_SKIPS"):
        raise Skipped("The file of b is not here.")
    if method == os.environ.get("TOY_NEEDS"):
        raise MissingExtraError("b", "attack")
    if (method, epsilon) == ("b", 2.0) and os.environ.get("TOY_FAILS"):
        raise RuntimeError("the wheel came off")
    draw = rng.generator()
    rows = [{"error": draw.normal() / epsilon, "label": f"{method}{place}"} for place in range(2)]
    return rows if method == "a" else rows[0]


def judge(results):
    return confirmed("It is.", mean=results.where(method="b").mean("error"))


def lean(results):
    return refuted("It is not.", mean=results.where(method="a").mean("error"))


def draw(results):
    from bruit_studies import drawing

    ax = drawing.axes("Errors", x="ε (log scale)", y="error", log="x")
    for place, (method, part) in enumerate(results.by("method")):
        drawing.curve(ax, part.curve("error", "epsilon"), method, place)
    drawing.name_lines(ax)
    return drawing.describe(ax, "Errors fall with ε.")


def table(results):
    from bruit.tables import Table

    return Table.of("Errors", ("method", "error"), [(m, f"{p.mean('error'):.3f}") for m, p in results.by("method")])


STUDY = Study(
    name="toy",
    title="A toy",
    question="Does <it> run?",
    method="It is run. It is run again. It is compared.",
    trial=trial,
    quick=[Block({"method": ["a", "b"], "epsilon": [0.5, 1.0, 2.0]}, 4)],
    full=[Block({"method": ["a", "b"], "epsilon": [0.5, 1.0, 2.0]}, 8)],
    claims=[
        Claim("toy-b", "b is good.", "student project", "§1", judge),
        Claim("toy-a", "a is good.", "student project", "§2", lean),
    ],
    plots=[Plot("errors", "Errors of both.", draw)],
    table=table,
)
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The toy study."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "toy_study.py").write_text(textwrap.dedent(TOY))
    monkeypatch.syspath_prepend(folder)
    sys.modules.pop("toy_study", None)
    import toy_study

    yield toy_study.STUDY
    sys.modules.pop("toy_study", None)
