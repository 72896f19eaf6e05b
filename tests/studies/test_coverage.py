"""The page of coverage is what the studies say, and nothing on it points nowhere."""

import pkgutil
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from bruit.errors import ParameterError
from bruit_studies import all_studies
from bruit_studies.claim import KINDS

ROOT = Path(__file__).parents[2]
TOOL = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "coverage_page.py")))
STUDIES = all_studies()
KNOWN = {
    "study": {study.name for study in STUDIES},
    "figure": {f"{study.name}/{plot.name}" for study in STUDIES for plot in study.plots},
    "claim": {claim.id for study in STUDIES for claim in study.claims},
}


def points_nowhere(target):
    """Whether a target is neither a name of bruit, a study, a figure, a claim nor a file of the repository."""
    kind, _, name = target.partition(":")
    if name:
        return name not in KNOWN.get(kind, ())
    if "/" in target:
        return not (ROOT / target).exists()
    try:
        return pkgutil.resolve_name(target) is None
    except (AttributeError, ImportError, ValueError):
        return True


def test_nothing_points_nowhere():
    targets = {target for item in (*TOOL.ITEMS, *TOOL.claimed(STUDIES)) for target in item.works}
    assert [target for target in sorted(targets) if points_nowhere(target)] == []


@pytest.mark.parametrize(
    "target",
    [
        "bruit.oracles.Nothing",
        "bruit.nothing",
        "study:none",
        "figure:krr/none",
        "claim:none",
        "page:krr",
        "docs/nothing.md",
    ],
)
def test_what_points_nowhere_is_caught(target):
    assert points_nowhere(target)


def test_every_figure_of_a_study_that_a_document_has_is_named_at_most_once_per_item():
    for item in TOOL.ITEMS:
        assert len(set(item.works)) == len(item.works)


def test_an_item_without_a_place_that_works_says_what_is_missing():
    with pytest.raises(ParameterError, match="says what is missing"):
        TOOL.Item("LDP slides", "slide 1", "a picture")
    assert TOOL.Item("LDP slides", "slide 1", "a picture", missing="all").state == "missing"
    assert TOOL.Item("LDP slides", "slide 1", "a picture", ("study:krr",), "a half").state == "partly"
    assert TOOL.Item("LDP slides", "slide 1", "a picture", ("study:krr",)).state == "works"


def test_the_page_is_what_the_tool_writes():
    assert (ROOT / "docs" / "reference" / "coverage.md").read_text() == TOOL.page(), "run python tools/coverage_page.py"


def test_the_page_of_claims_has_every_claim_and_counts_its_verdicts_right():
    text = (ROOT / "docs" / "reference" / "claims.md").read_text()
    rows = re.findall(r"^\| .* \| .* \| \*\*([a-z ]+)\*\* \| .* \|$", text, re.MULTILINE)
    counts = ", ".join(f"{rows.count(kind)} {kind}" for kind in KINDS if kind in rows)
    assert f"There are {counts}.\n" in text
    assert len(rows) == sum(len(study.claims) for study in STUDIES)
