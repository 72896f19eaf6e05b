"""docs/how-to/de.toml, the worked file of the guide to another language: a survey and its sheet speak it throughout."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from bruit.errors import FormatError
from bruit.survey import Survey
from bruit.survey.wording import TEXTS

WORKED = Path(__file__).parents[2] / "docs" / "how-to" / "de.toml"

SURVEY = """
title = "Alkohol an der Schule"
languages = ["de"]
epsilon = 2.0
people = 30
[[question]]
name = "drinks"
kind = "yes-no"
text = "Hast du diese Woche Alkohol getrunken?"
"""


@pytest.fixture
def survey(tmp_path: Path) -> Survey:
    shutil.copy(WORKED, tmp_path / "de.toml")
    (tmp_path / "class.toml").write_text(SURVEY, encoding="utf-8")
    return Survey.load(tmp_path / "class.toml")


def test_the_page_has_every_text_of_the_worked_file(survey: Survey) -> None:
    page = survey.page(address="report").decode()
    texts = tomllib.loads(WORKED.read_text(encoding="utf-8"))
    assert '<html lang="de"' in page
    for name in ("protection", "own_answer", "decide_text", "draw", "sent", "belief_lasts"):
        assert re.sub(r"\{.*", "", texts[name])[:40] in page, name


def test_no_text_was_left_in_english() -> None:
    texts, english = tomllib.loads(WORKED.read_text(encoding="utf-8")), TEXTS["en"]
    assert [name for name in texts if texts[name] == english[name]] == ["direction", "percent"]


@pytest.mark.parametrize("content", [b"yes = 'J\xe4'", b"\xff\xfe", b"[" * 5000])
def test_a_file_in_another_encoding_is_refused(tmp_path: Path, survey: Survey, content: bytes) -> None:
    (tmp_path / "de.toml").write_bytes(content)
    with pytest.raises(FormatError, match=r"de\.toml.*: texts must be TOML, encoded in UTF-8"):
        Survey.load(tmp_path / "class.toml")


def test_a_translation_from_before_a_text_was_added_is_read_and_keeps_its_digest(
    tmp_path: Path, survey: Survey
) -> None:
    """Surveys are open whose stored texts lack it; its absence is part of their digest."""
    older = re.sub("^lost_last = .*\n", "", WORKED.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (tmp_path / "de.toml").write_text(older, encoding="utf-8")
    before = Survey.load(tmp_path / "class.toml")
    assert "lost_last" not in before.wording["de"]
    assert before.digest != survey.digest
    assert b"lost_until" in before.page(address="report")
