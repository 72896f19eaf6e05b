"""Options that several commands spell alike: budgets, files that are replaced, policies by column, and a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from bruit.cli import _options, _questions
from bruit.errors import ParameterError

LEDGER = Path("my.ledger")


@pytest.mark.parametrize(
    ("text", "budget"), [("2", {"epsilon": 2.0}), ("2,1e-6", {"epsilon": 2.0, "delta": 1e-6}), (None, {})]
)
def test_a_budget_is_an_epsilon_and_perhaps_a_delta(text, budget):
    assert _options.budget(text, LEDGER) == budget


@pytest.mark.parametrize("text", ["", "a", "0", "-1", "inf", "nan", "1,1", "1,-0.1", "1,nan", "1,0,0", "1;0"])
def test_what_is_no_budget_is_refused_with_the_right_spelling(text):
    with pytest.raises(ParameterError, match="as in 2 or 2,1e-6"):
        _options.budget(text, LEDGER)
    with pytest.raises(ParameterError, match="needs --ledger"):
        _options.budget("1", None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("x.csv", ("x.csv", False)), ("x.csv!", ("x.csv", True)), ("a!/x.csv", ("a!/x.csv", False)), ("!", ("!", False))],
)
def test_a_mark_at_the_end_replaces_a_file(name, expected):
    assert _options.replaced(Path(name)) == (Path(expected[0]), expected[1])
    assert _options.destination(None) == (None, False)


def test_a_file_that_exists_is_replaced_by_a_mark_or_by_a_person_at_a_terminal(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    _options.check_free(path, "", replaces=False)
    path.touch()
    _options.check_free(path, "", replaces=True)
    with pytest.raises(ParameterError, match=r"exists, and was paid for: .* -o .*x\.csv!"):
        _options.check_free(path, ", and was paid for", replaces=False)
    asked = []
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda text, **_: not asked.append(text))
    _options.check_free(path, "", replaces=False)
    assert asked == [f"{path} exists. Replace it?"]
    monkeypatch.setattr("typer.confirm", lambda text, **_: False)
    with pytest.raises(ParameterError, match="exists"):
        _options.check_free(path, "", replaces=False)


def test_policies_are_for_all_columns_or_for_some():
    texts = ["drop", "age=refuse", " my column = category"]
    assert _questions.policies(texts, "--missing") == {"": "drop", "age": "refuse", "my column": "category"}
    assert _questions.policies(None, "--missing") == {}


@pytest.mark.parametrize("texts", [["dorp"], ["age=dorp"], ["=drop"], ["drop", "refuse"], ["a=drop", "a=drop"], ["a="]])
def test_what_is_no_policy_is_refused_with_the_option(texts):
    with pytest.raises(ParameterError, match="--missing must be"):
        _questions.policies(texts, "--missing")


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("user_id", ("user_id", {})),
        ("user_id:rows=10", ("user_id", {"rows": 10})),
        ("user id: groups=3, rows-per-group=1", ("user id", {"groups": 3, "rows_per_group": 1})),
        ("a:b", ("a:b", {})),
        ("a:b:rows=2", ("a:b", {"rows": 2})),
    ],
)
def test_a_person_is_a_column_with_limits(text, person):
    assert _questions.person(text) == person


@pytest.mark.parametrize("text", ["u:rows=0", "u:rows=x", "u:rows=", "u:row=3", "u:rows=1,rows=2", "u:rows=-1"])
def test_what_is_no_limit_of_a_person_is_refused(text):
    with pytest.raises(ParameterError, match="--person must"):
        _questions.person(text)
