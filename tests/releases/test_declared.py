"""Statistics by a line of text: kind, questions and options, as after ``--statistic``."""

from __future__ import annotations

import pytest

from bruit.errors import ParameterError, ParameterTypeError
from bruit.releases import Count, Histogram, Mean, Median, PowerBounds, Quantiles, Statistic, Sum, Tables, Variance
from bruit.releases.declared import Declaration, read_declaration, statistic_kind

READ = {
    "count": ((), {}),
    "count: weighted_by=stands_for=0..5": ((), {"weighted_by": "stands_for=0..5"}),
    "variance: age=0..120:1": (("age=0..120:1",), {}),
    "Mean:  age=0..120  missing=drop outside=refuse": (("age=0..120",), {"missing": "drop", "outside": "refuse"}),
    "bounds: income missing=drop": (("income",), {"missing": "drop"}),
    "quantiles: age=0..120:1 at=0.1:0.9:0.1": (("age=0..120:1",), {"at": "0.1:0.9:0.1"}),
    "quantiles: age=0..120 at=0.5": (("age=0..120",), {"at": 0.5}),
    "tables: sex=F,M & smokes=no,yes tables=sex,smokes;sex": (
        ("sex=F,M", "smokes=no,yes"), {"tables": "sex,smokes;sex"},
    ),
    'histogram: my town="R & D",Sales': (('my town="R & D",Sales',), {}),
    'histogram: town="a b=c",d': (('town="a b=c",d',), {}),
    "histogram: town=New York,Bern": (("town=New York,Bern",), {}),
    "median: when=2023-01-01T00:00..2023-01-02T00:00/hour": (("when=2023-01-01T00:00..2023-01-02T00:00/hour",), {}),
}  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_a_text_is_read_as_kind_questions_and_options(text: str) -> None:
    declaration = read_declaration(text)
    assert (declaration.questions, declaration.options) == READ[text]
    assert declaration.kind == text.partition(":")[0].lower()
    assert isinstance(declaration.statistic(epsilon=1.0), Statistic)


@pytest.mark.parametrize(
    ("text", "statistic"),
    [
        ("count", Count(epsilon=1.0)),
        ("count: weighted_by=w=0..5", Sum("w", bounds=(0, 5), epsilon=1.0)),
        ("sum: age=0..120", Sum("age", bounds=(0, 120), epsilon=1.0)),
        ("mean: age=0..120", Mean("age", bounds=(0, 120), epsilon=1.0)),
        ("variance: age=0..120:1", Variance("age", bounds=(0, 120), step=1.0, epsilon=1.0)),
        ("histogram: sex=F,M", Histogram("sex", domain=["F", "M"], epsilon=1.0)),
        ("bounds: income", PowerBounds("income", epsilon=1.0)),
        ("median: age=0..120", Median("age", bounds=(0, 120), epsilon=1.0)),
        ("quantiles: x=0..9 at=1/4,3/4", Quantiles("x", quantiles=(0.25, 0.75), bounds=(0, 9), epsilon=1.0)),
        ("tables: a=0,1 & b=0,1", Tables({"a": ["0", "1"], "b": ["0", "1"]}, epsilon=1.0)),
    ],
)
def test_a_declaration_is_the_statistic_that_a_program_would_write(text: str, statistic: Statistic) -> None:
    assert read_declaration(text).statistic(epsilon=1.0).digest == statistic.digest


WRONG = {
    "age=0..120": "must begin with its kind",
    "": "must begin with its kind",
    "average: age=0..120": 'Did you mean kind = "mean"',
    "mode: sex=F,M": "kind must be one of",
    "mean: age=0..120 at=0.5": "Kind 'mean' has no option 'at'",
    "mean: age=0..120 mising=drop": "Did you mean 'missing'",
    "mean: age=0..120 missing=drop missing=drop": "twice",
    "mean:": "Kind 'mean' takes one question, as in age=0..120",
    "mean: age=0..120 & income=0..9": "takes one question",
    "count: age=0..120": "has no option 'age'",
    "variance: age=0..120/12": "write age=0..120:1",
    "variance: age=0..120 weighted_by=w=0..5": "Kind 'variance' has no option 'weighted_by'",
    "mean: age=0..120:1 weighted_by=w=0..5": "takes bounds alone",
    "mean: age=0..120 weighted_by=w=1..5": "Weights go from 0",
    "bounds: income=0..9": "has no option 'income'",
    "quantiles: age=0..120 at=0.1:0.9": "at must be numbers",
    "quantiles: age=0..120 at=1.5": "at must be",
    "tables:": "Tables need the columns",
    "tables: sex=F,M & sex=F,M": "twice",
    "tables: sex=F,M & a=0,1 tables=sex,shoes": "tables must name columns",
    "histogram: sex=?": "must be declared, as in sex=no,yes",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_cannot_be_read_is_refused_with_the_right_spelling(text: str) -> None:
    with pytest.raises((ParameterError, ParameterTypeError), match=WRONG[text]):
        read_declaration(text).statistic(epsilon=1.0)


def test_each_kind_that_can_be_declared_has_an_example_that_works() -> None:
    for name in Statistic.kinds:
        kind = statistic_kind(name)
        texts = kind.example().split(" & ") if kind.example() else []
        assert isinstance(Declaration(name, texts).statistic(epsilon=1.0), kind)
