"""A metric guarantee says for which distance it holds, and whatever adds, books or compares guarantees refuses it."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

import bruit
from bruit import audit
from bruit.attacks import prospects
from bruit.collection import Plan, Repeat
from bruit.collection.prior import Prior
from bruit.domains import Grid
from bruit.errors import FormatError, ParameterError, ParameterTypeError
from bruit.figures.beliefs import plot_beliefs
from bruit.numbers import MetricNumber, Number, number
from bruit.oracles import Oracle
from bruit.privacy import Guarantee, Ledger, Line, accounting, parallel, sequential
from bruit.privacy.booking import Charge, booked
from bruit.privacy.guarantee import NEARBY_ONLY, check_adds

NEARBY = Guarantee(epsilon=1.0, neighbours="metric", radius=1.0, unit="km")
WORDS = "is not added, booked or compared"


def test_it_says_per_which_distance():
    assert str(NEARBY) == "ε = 1 per km (local, an answer moved by 1 km)"
    small = Guarantee(epsilon=1.5, neighbours="metric", radius=0.2, unit="km")
    assert str(small) == "ε = 1.5 within 0.2 km (local, an answer moved by 0.2 km)"
    nameless = Guarantee(epsilon=1, neighbours="metric", radius=1)
    assert str(nameless) == "ε = 1 per unit (local, an answer moved by 1)"
    assert repr(NEARBY) == "Guarantee(epsilon=1.0, delta=0.0, neighbours='metric', radius=1.0, unit='km')"
    assert NEARBY.local
    assert NEARBY_ONLY in NEARBY._repr_html_().replace("&#x27;", "'")


def test_beliefs_are_those_of_a_distance():
    assert NEARBY.belief(0.5)[1] == pytest.approx(0.731, abs=1e-3)
    assert NEARBY.at(2).belief(0.5) == Guarantee(epsilon=2, neighbours="value").belief(0.5)
    assert [NEARBY.at(distance).epsilon for distance in (0.1, 1, 1.01, 2.5)] == [1, 1, 2, 3]
    for first, second in pairwise(NEARBY.at(distance / 10) for distance in range(1, 60)):
        assert first.epsilon <= second.epsilon
    with pytest.raises(ParameterError, match="speaks of a distance"):
        Guarantee(epsilon=1.0, neighbours="value").at(1)


def test_documents_keep_the_distance_and_others_have_none():
    assert Guarantee.from_dict(NEARBY.to_dict()) == NEARBY
    assert set(Guarantee(epsilon=1.0, neighbours="value").to_dict()) == {"epsilon", "delta", "neighbours"}
    for name in ("radius", "unit"):
        damaged = {key: value for key, value in NEARBY.to_dict().items() if key != name}
        with pytest.raises(FormatError, match="a radius and a unit"):
            Guarantee.from_dict(damaged)
    for neighbours in ("value", "person"):
        with pytest.raises(FormatError, match="a radius and a unit"):  # ε per km is no ε of any two answers
            Guarantee.from_dict({**NEARBY.to_dict(), "neighbours": neighbours})


@pytest.mark.parametrize(
    "options",
    [
        {"neighbours": "metric"},
        {"neighbours": "metric", "radius": -1},
        {"neighbours": "metric", "radius": float("inf")},
        {"neighbours": "metric", "radius": 1, "delta": 1e-6},
        {"neighbours": "metric", "radius": 1, "unit": "a\tb"},
        {"neighbours": "value", "radius": 1},
        {"neighbours": "value", "unit": "km"},
    ],
)
def test_a_distance_belongs_to_metric_guarantees_and_is_checked(options):
    with pytest.raises(ParameterError):
        Guarantee(epsilon=1.0, **options)
    with pytest.raises(ParameterTypeError, match="unit"):
        Guarantee(epsilon=1.0, neighbours="metric", radius=1.0, unit=2)


# Nothing adds, books or compares it.


def _parts(ledger):
    with ledger.parallel("by town", fixed=True) as parts:
        yield parts.spend(NEARBY, "north")


def _part(ledger, use):
    with ledger.parallel("by town", fixed=True) as parts:
        use(parts.part("north"))


def _bound():
    return audit.empirical(bruit.oracle("GRR", epsilon=1.0, k=2), 0, 1, trials=1000, rng=7)


def _ledger():
    return Ledger(epsilon=1.0, neighbours="value")


def _design(method):
    return Plan({"a": ["x", "y"], "b": ["x", "y"]}, 1.0, method).design


LINES = [Line(NEARBY, "position")]
#: What takes guarantees from outside, by its place in the library, and a call of it.
REFUSES = {
    "audit/empirical.py:EmpiricalAudit.passes": lambda: _bound().passes(NEARBY),
    "collection/design.py:Design.together": lambda: _design("SMP[GRR]").together([NEARBY], "person"),
    "collection/split.py:Split.together": lambda: _design("SPL[GRR]").together([NEARBY], "person"),
    "collection/prior.py:Prior.both_rounds": lambda: Prior({}, NEARBY).both_rounds(NEARBY),
    "figures/beliefs.py:plot_beliefs": lambda: plot_beliefs([NEARBY]),
    "privacy/accounting.py:total": lambda: accounting.total([NEARBY], delta=1e-6),
    "privacy/booking.py:booked": lambda: booked(Charge(NEARBY, "position"), _ledger()),
    "privacy/composition.py:sequential": lambda: sequential([NEARBY]),
    "privacy/composition.py:parallel": lambda: parallel([NEARBY]),
    "privacy/guarantee.py:check_adds": lambda: check_adds([NEARBY]),
    "privacy/ledger/__init__.py:Ledger.spend": lambda: _ledger().spend(NEARBY, "position"),
    "privacy/ledger/__init__.py:Ledger.book": lambda: _ledger().book(LINES),
    "privacy/ledger/__init__.py:Ledger.check": lambda: _ledger().check(LINES),
    "privacy/ledger/__init__.py:Ledger.foresee": lambda: _ledger().foresee(LINES),
    "privacy/ledger/__init__.py:Booking.spend": lambda: _ledger().keeping("a.json").spend(NEARBY, "position"),
    "privacy/ledger/__init__.py:Booking.book": lambda: _ledger().keeping("a.json").book(LINES),
    "privacy/ledger/__init__.py:Parts.spend": lambda: next(_parts(_ledger())),
    "privacy/ledger/__init__.py:Part.spend": lambda: _part(_ledger(), lambda part: part.spend(NEARBY, "position")),
    "privacy/ledger/__init__.py:Part.book": lambda: _part(_ledger(), lambda part: part.book(LINES)),
}
#: What shows a guarantee, or is given one by a plan, a release or a model, whose own guarantees are never metric.
CARRIES = {
    "cli/audit.py:_Drawn.lower_bound",
    *(f"collection/{place}.table" for place in ("cross_tables.py:CrossTables", "design.py:Design")),
    *(f"collection/{place}.table_of_reports" for place in ("design.py:Design", "split.py:Split")),
    "collection/cross_tables.py:CrossTables.answer",
    "collection/design.py:Design.answer",
    "collection/fake.py:Fake.answer",
    "collection/one.py:Single.answer",
    "collection/sample.py:Sample.answer",
    "collection/several.py:SeveralSampled.answer",
    "collection/split.py:Split.answer",
    "privacy/booking.py:LedgerLike.spend",
    "privacy/booking.py:LedgerLike.book",
    "privacy/guarantee.py:in_lines",
    "publications/publication.py:Publication.budget_remarks",
    *(f"releases/groups.py:{place}.lines" for place in ("Grouping", "SelectedGroups", "_Fixed")),
    "releases/kept.py:Once.__init__",
    "releases/prospects.py:prospect_table",
    "testing/after_booking.py:_Notary.spend",
    "testing/after_booking.py:_Notary.book",
    "testing/release.py:_Notary.spend",
    "testing/release.py:_Notary.book",
}


def _functions(node: ast.AST, before: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            if isinstance(child, ast.FunctionDef):
                yield f"{before}{child.name}", child
            yield from _functions(child, f"{before}{child.name}.")


def _takers() -> set[str]:
    """The functions with a parameter that is a guarantee or has one, but for private ones, which others call."""
    library = Path(bruit.__file__).parent
    takers = set()
    for path in library.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "Guarantee" not in text and "import Line" not in text and "Spend" not in text:
            continue
        for name, function in _functions(ast.parse(text)):
            arguments = function.args
            hints = [each.annotation for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            named = {part.id for hint in hints if hint for part in ast.walk(hint) if isinstance(part, ast.Name)}
            last = name.rpartition(".")[2]
            own = {"Guarantee", "Line", "Spend"} | ({"Item"} if path.name == "accounting.py" else set())
            if named & own and (not last.startswith("_") or last.startswith("__")):
                takers.add(f"{path.relative_to(library).as_posix()}:{name}")
    return takers


def test_every_function_that_takes_a_guarantee_is_known():
    assert _takers() == set(REFUSES) | CARRIES


@pytest.mark.parametrize("place", REFUSES)
def test_it_is_refused_with_one_error(place):
    with pytest.raises(ParameterError, match=WORDS):
        REFUSES[place]()


def test_an_exact_audit_refuses_a_mechanism_that_calls_it_its_guarantee():
    mechanism = SimpleNamespace(guarantee=NEARBY, matrix=lambda: [])
    with pytest.raises(ParameterError, match=WORDS):
        audit.exact(mechanism)


def test_no_ledger_is_kept_for_it(tmp_path):
    for start in (Ledger, lambda **options: Ledger.open(tmp_path / "ledger.jsonl", **options)):
        with pytest.raises(ParameterError, match="neighbours must be one of"):
            start(epsilon=1.0, neighbours="metric")


# What mechanisms and plans call their guarantee is the ordinary one.


def _mechanisms():
    for name in Number.kinds:
        yield number(name, epsilon=1.0, bounds=(0, 9))
    for name in Oracle.kinds:
        options = {} if name in ("Warner", "RR") else {"k": 3}
        yield bruit.oracle(name, epsilon=1.0, **(options or {"labels": ["no", "yes"]}))


def test_the_guarantee_of_a_mechanism_is_of_any_two_values():
    metric = []
    for mechanism in _mechanisms():
        assert mechanism.guarantee.neighbours == "value", mechanism.name
        assert mechanism.guarantee.epsilon == pytest.approx(audit.exact(mechanism).epsilon)
        if mechanism.metric is not None:
            metric.append(mechanism.name)
            assert mechanism.metric.epsilon <= 1.0 < mechanism.guarantee.epsilon
    assert metric == ["metric"]


def test_a_plan_states_both_and_a_ledger_books_the_ordinary_one():
    plan = Plan({"position": MetricNumber(epsilon=1.0, bounds=(0, 12), unit="km")})
    assert plan.guarantee.neighbours == "person"
    assert plan.guarantee.epsilon == pytest.approx(12)
    assert Plan.from_json(plan.to_json()) == plan
    text = "\n".join(line for table in prospects(plan, 100).tables for line in table.notes)
    for words in ("ε = 1 per km (local, an answer moved by 1 km)", "within the declared bounds: ε = 12", NEARBY_ONLY):
        assert words in text
    ledger = Ledger(epsilon=20.0, neighbours="person")
    ledger.spend(plan.guarantee, "position")
    assert ledger.spent.epsilon == pytest.approx(12)


@pytest.mark.parametrize("method", ["SPL[metric]", "SMP[metric]", "SMPk[metric]"])
def test_a_plan_of_several_attributes_refuses_it(method):
    with pytest.raises(ParameterError, match="a plan of its own"):
        Plan({"x": Grid(0, 9), "y": Grid(0, 9), "z": Grid(0, 9)}, 1.0, method)
    with pytest.raises(ParameterError, match="no memo"):
        Plan({"x": Grid(0, 9)}, 1.0, "metric", repeat=Repeat(3, epoch_epsilon=2.0))


def test_what_is_in_clear_does_not_count_as_a_further_attribute():
    plan = Plan({"x": Grid(0, 9), "school": ["A", "B"]}, 1.0, "metric", public=["school"])
    assert plan.guarantee.epsilon == pytest.approx(9)


def test_a_sheet_and_a_survey_refuse_it(tmp_path):
    from bruit.sheets import sheet
    from bruit.survey import Survey

    path = tmp_path / "far.toml"
    path.write_text(
        'title = "Far"\nintroduction = "We ask."\nasker = "Us"\nepsilon = 1.0\nmethod = "metric"\n'
        '[[question]]\nname = "far"\nkind = "number"\ntext = "How far?"\nfrom = 0\nto = 9\nstep = 1\n'
    )
    with pytest.raises(ParameterError, match="none per distance"):
        Survey.load(path)

    with pytest.raises(ParameterError, match="none per distance"):
        sheet(Plan({"x": Grid(0, 9)}, 1.0, "metric"), "en", n=100)
