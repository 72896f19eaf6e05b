"""Policies for missing values and values outside belong to domains: nobody else takes them, and all obey them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sources import sources

from bruit import Plan, oracle
from bruit.cli import _questions, release_options
from bruit.domains import Categories, Grid, Interval, Policy
from bruit.domains.outside import OUTSIDE
from bruit.domains.policy import Read
from bruit.errors import DataError, ParameterError
from bruit.learning import NaiveBayes
from bruit.publications import Publication
from bruit.releases import Count, Histogram, Release, Sum

POLICIES = ("missing", "outside")
#: Who takes a policy without being a domain, and why: at most six.
TAKING = {
    "releases/person": "whose row it is may be missing",
    "cli/plan": "the options --missing and --outside",
    "cli/privatize": "the options --missing and --outside",
    "cli/release": "the options --missing and --outside",
    "cli/size": "the option --missing",
    "cli/limits": "the option --missing",
}
#: In how many files a third policy is written at most: where words of a policy stand side by side.
MOST_FILES = 8


def _declared(nodes: Iterable[ast.AST]) -> Iterable[tuple[str, ast.expr | None]]:
    """The parameters of functions and the fields of classes, with their types."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            arguments = node.args
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                yield argument.arg, argument.annotation
        elif isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    yield field.target.id, field.annotation


def takes_a_policy(nodes: Iterable[ast.AST]) -> bool:
    """Whether a parameter or field is a policy: by its name, and by a type that a word can have.

    The weights of a law that are called inside and outside are numbers, and the marks of a gap in a file are a set, or
    a tuple. An option that is repeatable, a list, is a policy.
    """
    return any(name in POLICIES and _is_word(annotation) for name, annotation in _declared(nodes))


def _is_word(annotation: ast.expr | None) -> bool:
    if annotation is None:
        return True
    names = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(annotation) if isinstance(node, ast.Attribute)}
    marks = {"frozenset", "tuple", "Iterable"}
    return not names & marks and bool(names & {"str", "Any", "Literal", "Missing", "Outside"})


def test_only_domains_and_people_have_policies() -> None:
    taking = {source.name for source in sources() if takes_a_policy(source.nodes)}
    assert {name for name in taking if not name.startswith("domains/")} == set(TAKING), "declare it with a domain"
    assert len(TAKING) <= 6


def lists_words(nodes: Iterable[ast.AST], words: Iterable[str]) -> bool:
    """Whether two words of a policy stand side by side, so that a new word may have to stand there too."""
    sides = (ast.Tuple, ast.List, ast.Set, ast.Dict)
    for node in nodes:
        if isinstance(node, sides):
            items = node.keys if isinstance(node, ast.Dict) else node.elts
            if len({item.value for item in items if isinstance(item, ast.Constant)} & set(words)) > 1:
                return True
    return False


@pytest.mark.parametrize("policy", POLICIES)
def test_a_third_policy_is_written_in_few_files(policy: str) -> None:
    listing = [source.name for source in sources() if lists_words(source.nodes, Policy.words(policy))]
    assert len(listing) <= MOST_FILES, listing


@pytest.mark.parametrize(
    ("planted", "listed"),
    [
        ("one_of(('clamp', 'refuse', 'other'), outside=word)", True),
        ("Outside = Literal['refuse', 'clamp']", True),
        ("{'refuse': 1, 'clamp': 2}", True),
        ("outside == 'clamp' or outside == 'other'", False),
        ("('refuse', 'group')", False),
    ],
)
def test_a_planted_list_of_words_is_counted(planted: str, listed: bool) -> None:
    assert lists_words(ast.walk(ast.parse(planted)), Policy.words("outside")) is listed


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("def f(x, *, missing='refuse'): ...", True),
        ("class Oracle:\n    outside: Outside | None = None", True),
        ("def f(missing: Literal['refuse', 'drop']): ...", True),
        ("def f(missing: list[str] | None = None): ...", True),
        ("def f(missing: frozenset[str], outside: Fraction): ...", False),
        ("class Law:\n    inside: int\n    outside: int", False),
        ("domain.missing == 'drop'", False),
    ],
)
def test_a_planted_policy_is_found(planted: str, found: bool) -> None:
    assert takes_a_policy(ast.walk(ast.parse(planted))) is found


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A policy that nobody knows: a value outside counts as the first that is declared."""

    def as_the_first(domain: Any, read: Read) -> Read:
        values = np.array(read.values)
        values[read.outside] = domain.low if isinstance(domain, Grid) else 0
        return read._replace(values=values, outside=np.zeros_like(read.outside))

    monkeypatch.setitem(OUTSIDE, "first", as_the_first)
    for kind in (Categories, Grid):
        monkeypatch.setattr(kind, "policies", (*kind.policies, "first"))
    return "first"


def test_a_policy_that_is_unknown_is_refused() -> None:
    policy: Any = "first"
    with pytest.raises(ParameterError, match="outside"):
        Categories(labels=["Bern", "Zug"], outside=policy)


def test_a_new_policy_is_written_in_domains_alone_and_obeyed_by_all(first: Any) -> None:
    towns, ages = Categories(labels=["Bern", "Zug"], outside=first), Grid(0, 9, outside=first)
    table = {"town": ["Bern", "Basel", "Zug", "Rome"], "age": [3, 99, 0, 5]}
    assert oracle("GRR", epsilon=1.0, domain=towns).encode(table["town"]).tolist() == [0, 0, 1, 0]
    codes = Plan({"town": towns, "age": ages}, 2.0).encode(table)
    assert [codes[name].tolist() for name in table] == [[0, 0, 1, 0], [3, 0, 0, 5]]
    release = Release(Count(epsilon=1.0), by={"town": towns, "age": ages})
    counts = release.fold(table).reveal(design=release.digest).reshape(2, 10)
    assert counts[:, [0, 3, 5]].tolist() == [[1, 1, 1], [1, 0, 0]]
    histogram = Histogram("age", domain=ages, epsilon=1.0)
    assert histogram.fold(table).reveal(design=histogram.digest)[[0, 3, 5]].tolist() == [2, 1, 1]
    total = Sum("age", bounds=Interval(0, 9, outside=first), epsilon=1.0, step=1.0)
    assert total.fold(table).reveal(design=total.digest).tolist() == [4, 3 + 0 + 0 + 5]
    model = NaiveBayes(epsilon=10.0, bounds={"town": towns}, classes=[0, 1], random_state=1)
    rows = np.array(table["town"] * 200, object)[:, None]
    model.fit(rows, (rows[:, 0] == "Zug").astype(int))
    assert model.predict(np.array([["Bonn"], ["Zug"]], object)).tolist() == [0, 1]
    of_numbers = NaiveBayes(epsilon=10.0, bounds={"age": ages}, classes=[0, 1], random_state=1)
    years = np.array([[1.0], [8.0]] * 400)
    of_numbers.fit(years, (years[:, 0] > 4).astype(int))
    assert of_numbers.predict([[99.0], [8.0]]).tolist() == [0, 1]  # clamped, 99 would be with the old


def test_options_and_files_say_a_new_policy_by_its_word(first: Any, tmp_path: Path) -> None:
    question, towns = "town=Bern,Zug", Categories(labels=["Bern", "Zug"], outside=first)
    assert _questions.schema([question], {"--outside": first})["town"].domain == towns
    (histogram,) = release_options.release(
        release_options.statistics({"histogram": [question]}, None, count=False),
        epsilon=1.0, delta=0.0, neighbours="add-remove", by=[], person=None, said={"--outside": [first]},
    ).statistics.values()  # fmt: skip
    assert histogram == Histogram("town", domain=towns, epsilon=1.0)
    publication = tmp_path / "publication.toml"
    publication.write_text(
        'title = "T"\ntable = "t.csv"\nepsilon = 1.0\nledger = "t.ledger"\n'
        f'[[statistic]]\nname = "towns"\nkind = "histogram"\nof = "{question}"\noutside = "{first}"\n'
    )
    (part,) = Publication.load(publication).release.parts
    assert part.statistics["towns"] == histogram


def test_a_model_refuses_a_number_outside_where_that_is_declared() -> None:
    model = NaiveBayes(epsilon=1.0, bounds={"age": Grid(0, 9, outside="refuse")}, classes=[0, 1], random_state=1)
    with pytest.raises(DataError, match=r"Column 'age': values must lie in the declared bounds"):
        model.fit([[3.0], [99.0]], [0, 1])
