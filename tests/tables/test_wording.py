"""Counts, intervals and bounds of belief are written by one function each, wherever they are written."""

import ast
import math
import re
from pathlib import Path

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit import Guarantee

SOURCE = Path(bruit.__file__).parent
NOUNS = ("reports", "rows", "people", "records", "claims", "entries", "columns", "cells", "bytes", "answers")
#: Where what stands before such a word is never one, or no count. Declared limits, in capitals, are neither.
NEVER_ONE = {
    ("bruit_studies/cli/tour/story.py", "answers"): "the seven answers",
    ("bruit_studies/cli/tour/story.py", "people"): "the people of Adult",
    ("bruit_studies/cli/tour/story.py", "reports"): "their reports",
    ("cards/question.py", "answers"): "a limit",
    ("collector/export.py", "reports"): "shown_from is two or more",
    ("collector/results.py", "reports"): "the same",
    ("datasets/dataset.py", "columns"): "a table with several columns",
    ("datasets/reading.py", "cells"): "a table with several columns",
    ("estimation/distribution.py", "cells"): "a grid has two or more",
    ("estimation/distribution.py", "entries"): "the same",
    ("learning/privatizer.py", "reports"): "a verb",
    ("mechanism.py", "entries"): "a domain has two or more",
    ("numbers/base.py", "entries"): "a grid has two or more",
    ("numbers/mean.py", "cells"): "a limit",
    ("releases/quantiles/histogram.py", "records"): "a limit",
    ("survey/body.py", "bytes"): "a report has more",
    ("survey/check.py", "answers"): "a question has two or more",
    ("survey/check.py", "people"): "a mean, with a fraction",
    ("survey/paper.py", "answers"): "a question has two or more",
    ("tables/table.py", "cells"): "the columns of a table",
    ("testing/laws.py", "reports"): "many reports per value",
}


def phrases(tree):
    """Every value in a formatted text that is followed by a space and a word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for value, after in zip(node.values, node.values[1:], strict=False):
                if isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant):
                    word = after.value.split(" ")[1] if after.value.startswith(" ") else ""
                    yield word.strip(".,:;)"), ast.unparse(value)


def test_no_count_stands_before_a_plural_that_may_be_wrong():
    found = set()
    commands = SOURCE.with_name("bruit_studies") / "cli"  # the sentences of the studies are about many trials
    for path in (*SOURCE.rglob("*.py"), *commands.rglob("*.py")):
        for word, value in phrases(ast.parse(path.read_text(encoding="utf-8"))):
            if word in NOUNS and not re.match(r"\{[A-Z_]+\b", value):
                found.add((path.relative_to(SOURCE.parent).as_posix().removeprefix("bruit/"), word))
    assert found == set(NEVER_ONE), "write counted(n, noun), or say here why it is never one"


def test_the_search_finds_a_plural_after_a_count():
    tree = ast.parse('f"{n:,} reports, {len(x)} more"')
    assert [word for word, _ in phrases(tree)] == ["reports", "more"]


@given(st.floats(1e-6, 20), st.floats(1e-9, 1 - 1e-9))
def test_a_belief_is_bounded_on_the_private_side_and_tightly(epsilon, prior):
    low, high = Guarantee(epsilon=epsilon, neighbours="value").belief(prior)
    with mpmath.workdps(40):
        odds = mpmath.mpf(prior) / (1 - mpmath.mpf(prior))
        most, least = (x / (1 + x) for x in (odds * mpmath.exp(sign * mpmath.mpf(epsilon)) for sign in (1, -1)))
        assert low <= least <= most <= high or high == 1.0
        assert high - most <= 1e-14 * most
        assert least - low <= 1e-14 * least


def test_a_guarantee_of_nothing_moves_no_belief():
    assert Guarantee(epsilon=0.0, neighbours="value").belief(0.3) == (0.3, 0.3)


def test_the_belief_after_a_report_is_never_told_too_small():
    from bruit.figures import plot_beliefs, style

    words = style.description(style.whole(plot_beliefs(Guarantee(epsilon=1.0, neighbours="value"))))
    assert "from 10 % to 24 %, from 50 % to 74 %" in words
    readme = (SOURCE.parents[1] / "README.md").read_text(encoding="utf-8")
    assert "at most 74 %" in " ".join(readme.split())
    assert math.ceil(100 * math.e / (1 + math.e)) == 74


@pytest.mark.parametrize("name", ["importlib", "logging", "annotations", "Any", "TYPE_CHECKING"])
def test_dir_lists_the_public_names_and_nothing_that_bruit_only_uses(name):
    assert name not in dir(bruit)
    public = {name for name in dir(bruit) if not name.startswith("_")}
    assert {*bruit.__all__} - {"__version__"} <= public
    assert all(getattr(bruit, name) is not None for name in public)
    assert {"attacks", "learning", "oracles", "privacy"} <= public
