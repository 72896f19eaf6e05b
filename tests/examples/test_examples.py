"""The examples run as a reader runs them: silently but for their results, in seconds, and in their own folder."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
#: Seconds of processor time that an example may take.
MOST = 20.0


class Ran:
    """What an example printed and wrote, and the time that it took."""

    def __init__(self, name: str, folder: Path) -> None:
        self.home, self.out = folder / "home", folder / "out"
        self.home.mkdir()
        self.out.mkdir()
        before = _children_time()
        self.run = subprocess.run(
            [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py")],
            capture_output=True,
            encoding="utf-8",
            check=False,
            cwd=self.home,
            env={**os.environ, "EXAMPLES_FOLDER": str(self.out), "PYTHONIOENCODING": "utf-8"},
            timeout=300,
        )
        self.seconds = _children_time() - before
        self.text = self.run.stdout


def _children_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module", params=["steward", "survey_maker", "student"])
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Ran]:
    return request.param, Ran(request.param, tmp_path_factory.mktemp(request.param))


def test_every_example_is_run_here_and_named_in_the_readme() -> None:
    assert [path.stem for path in EXAMPLES] == ["steward", "student", "student_project", "survey_maker"]
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    for path in EXAMPLES:
        assert f"[{path.name}]({path.name})" in text


def test_an_example_opens_as_a_notebook_and_begins_with_a_title() -> None:
    for path in EXAMPLES:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0] == "# %% [markdown]"
        assert lines[1].startswith("# # ")
        assert lines.count("# %%") >= 4


@pytest.mark.audit
def test_an_example_ends_well_without_a_warning_and_in_seconds(ran: tuple[str, Ran]) -> None:
    _, done = ran
    assert done.run.returncode == 0, done.run.stderr
    assert done.run.stderr == ""
    assert done.seconds < MOST


@pytest.mark.audit
def test_an_example_writes_to_the_given_folder_only(ran: tuple[str, Ran]) -> None:
    name, done = ran
    written = sorted(path.name for path in done.out.iterdir())
    assert list(done.home.iterdir()) == []
    assert written == {"steward": [], "survey_maker": ["marital-status.png", "marital-status.svg"]}.get(
        name, ["warner"]
    )


def test_an_example_prints_what_its_reader_came_for(ran: tuple[str, Ran]) -> None:
    name, done = ran
    for line in TOLD[name]:
        assert line in done.text


#: A few lines of each; with fixed seeds they are the same everywhere.
TOLD = {
    "steward": [
        "Budget: ε = 1",
        "Released count by sex",
        "Deciles of hours per week:",
        "Spent: ε = 0.4; left: ε = 0.6",
        "Its guarantee: ε = 0.4 (central, one record added or removed)",
        "Refused. Budget exceeded: this release needs ε=0.5, 0.2 remain of 1.0.",
        "Left: ε = 0.2",
    ],
    "survey_maker": [
        "GRR    28,765 people",
        "A person has   ε = 2 (local, the whole record changed)",
        "value from the reports, sex: 59.5%, blindly 50.0%",
        "sampled attribute of RS+FD[GRR] by Bayes",
        "Married-civ-spouse",
        "Figure:",
    ],
    "student": [
        " 64  OLH",
        "       1             1.000               1.332",
        "staircase as printed: ε is at least 1.2",
        "1 is NOT kept",
        "staircase calibrated: ε is at least 0.9",
        "- confirmed: The survey with two fair coins is ln(3)-LDP.",
        "- slip: f̂ = 2r − ½ estimates the original number of yes.",
    ],
}
