"""What a notebook shows of a value: every public one has a table or a reason, and no text in it can be a tag."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import bruit
from bruit import Grid, Guarantee, Plan, Schema, datasets, learning, releases
from bruit.collection import LongitudinalMean, OpenQuestion, Repeat, compare
from bruit.domains import Attribute
from bruit.learning import search_cost
from bruit.numbers import BoundedLaplace, Duchi, Hybrid, MetricNumber, MetricPlane, Piecewise, SquareWave, Staircase
from bruit.open_answers import RAPPOR, HashedResponse, HeavyHitters
from bruit.oracles import DBitFlip, LongitudinalHashing, Repeated
from bruit.tables import Described, Table, Tabular
from bruit.tables.facts import facts_table

#: A label that is a program where it is not escaped.
HOSTILE = "<script>alert(1)</script>"
#: Packages whose values people meet; engines, cards, laws, sheets and tables have none, and others are no library.
PACKAGES = (
    "bruit", "bruit.analysis", "bruit.attacks", "bruit.audit", "bruit.collection", "bruit.datasets", "bruit.domains",
    "bruit.estimation", "bruit.learning", "bruit.numbers", "bruit.open_answers", "bruit.oracles", "bruit.privacy",
    "bruit.publications", "bruit.releases",
)  # fmt: skip
_ROW = "a row of a table that has HTML"
_PART = "a part of a schema, which has HTML; its repr is one line"
_INSIDE = "a law or noise inside a statistic: its repr is its definition, or redacted"
_LEDGER = "a line of a ledger, which has HTML"
#: Public classes without HTML, each with its reason.
_METHOD = "one line says it; a plan, which has it, has HTML"
PLAIN = {
    "Entropy": "randomness shows nothing",
    "Memory": "a person's own memory shows nothing but its file",
    "RawTally": "raw counts show nothing",
    "Term": _ROW, "WaldTest": _ROW, "Risk": _ROW, "Transcript": _ROW, "Worst": _ROW, "Comparison": _ROW,
    "Choice": _ROW, "TableContrast": _ROW, "RoundContrast": _ROW, "Independence": _ROW, "MedianEstimate": _ROW,
    "Prospect": _ROW, "PowerBounds": _ROW, "PanelChoice": _ROW,
    "Answers": "a mapping of estimates, each of which has HTML", "ConsistentTables": "a mapping of tables with HTML",
    "GroupDesign": "two words in a row of a comparison of groups",
    "DatasetColumn": "a line of a data set's description", "CatalogueEntry": "a line of the list of data sets",
    "Entry": _LEDGER, "Line": _LEDGER, "Remaining": _LEDGER, "Head": _LEDGER, "SignedHead": _LEDGER,
    "Booking": "a ledger as one release gets it", "Part": "a ledger as one release gets it",
    "Parts": "a ledger as one release gets it",
    "Attribute": _PART, "Bins": _PART, "Categories": _PART, "MultiChoice": _PART, "Chosen": _PART, "Dates": _PART,
    "Grid": _PART, "Interval": _PART, "OpenText": _PART, "Policy": _PART, "Scale": _PART,
    "SupportModel": _INSIDE, "ExclusiveSupportModel": _INSIDE, "ChoiceLaw": _INSIDE, "FirstAboveLaw": _INSIDE,
    "NamedLaw": _INSIDE, "SumLaw": _INSIDE, "TreeLaw": _INSIDE, "DiscreteGaussian": _INSIDE, "StaircaseNoise": _INSIDE,
    "DiscreteLaplace": _INSIDE, "SelectionNoise": _INSIDE, "LengthFunction": _INSIDE, "Stretch": _INSIDE,
    "Exponential": _INSIDE,
    "AboveThreshold": "one line; what it publishes has HTML", "Person": "two words in a release",
    "GroupAnswers": "answers by group, each of which has HTML",
    "OpenReports": "one line says how many reports there are",
    "NoGroups": _INSIDE, "DeclaredGroups": _INSIDE, "SelectedGroups": _INSIDE,
    "AboveThresholdSession": "one line says its state", "ContinualSeries": "one line says its state; totals have HTML",
    "ContinualCount": "the design of a series, in one line", "LimitsGuide": "one line; what it chooses has HTML",
    "Panel": "the rounds of a plan, which has HTML", "Repeat": _METHOD,
    "One": _METHOD, "SPL": _METHOD, "SMP": _METHOD, "SMPk": _METHOD, "RSFD": _METHOD, "RSRFD": _METHOD, "TAB": _METHOD,
    "Task": "what a method is given to settle", "Settled": "what a plan is made of, which has HTML",
    "Kept": "a result, which has HTML, with its file and date", "Declaration": "a line of text",
    "Within": "a number and its unit",
    "Prospects": "tables, each of which has HTML", "SecondGroup": "two lines say it",
    "Request": "a part of a publication", "Publication": "a file that its author reads; what it publishes has HTML",
}  # fmt: skip


def public_classes() -> Iterator[type]:
    """Classes of values: no errors, no protocols, nothing abstract."""
    seen = set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            item = getattr(module, name)
            if not inspect.isclass(item) or item in seen or issubclass(item, BaseException):
                continue
            if inspect.isabstract(item) or getattr(item, "_is_protocol", False):
                continue
            seen.add(item)
            yield item


def undisclosed(classes: list[type]) -> list[str]:
    """Classes that have neither HTML nor a reason."""
    return [item.__name__ for item in classes if not hasattr(item, "_repr_html_") and item.__name__ not in PLAIN]


def test_the_packages_of_the_list_are_all_that_give_values() -> None:
    inside = {"__main__", "cards", "cli", "documents", "engines", "entropy", "errors", "figures", "kernels", "laws"}
    inside |= {"mechanism", "pages", "randomizer", "registry", "rounding", "sheets", "survey", "collector", "tables"}
    inside |= {"testing", "referrals"}
    names = {module.name for module in pkgutil.iter_modules(bruit.__path__) if not module.name.startswith("_")}
    assert {package.removeprefix("bruit.") for package in PACKAGES} - {"bruit"} == names - inside - {"typing"}


def test_every_public_value_has_html_or_a_reason() -> None:
    assert undisclosed(list(public_classes())) == []
    names = {item.__name__ for item in public_classes()}
    assert set(PLAIN) <= names | {"Prospect", "Exponential"}, "a reason for a class that is gone"


def test_a_value_without_html_or_reason_is_found_out() -> None:
    @dataclasses.dataclass
    class Forgotten:
        epsilon: float

    assert undisclosed([Forgotten]) == ["Forgotten"]


def test_all_html_comes_from_the_one_table_or_from_scikit_learn() -> None:
    homes = {Table._repr_html_, Tabular._repr_html_, Described._repr_html_}
    own = {
        item.__name__
        for item in public_classes()
        if hasattr(item, "_repr_html_") and getattr(item._repr_html_, "__module__", "").startswith("bruit")
        if item._repr_html_ not in homes
    }
    # Each of these hands on to a table, and each is a sample below or has a test beside its own.
    assert own == {"Dataset", "DistributionEstimate", "Ledger", "Plan", "Results", "Schema"}


X = np.random.default_rng(1).uniform(0, 1, (60, 2))
Y = (X[:, 0] > 0.5).astype(int)
LABELS = [HOSTILE, "b", "c"]


def ledger() -> Any:
    book = bruit.Ledger(epsilon=1.0)
    book.spend(Guarantee(epsilon=0.5, neighbours="add-remove"), HOSTILE)
    return book


def estimate() -> Any:
    oracle = bruit.oracle("GRR", epsilon=1.0, labels=LABELS)
    return oracle.estimate(oracle.simulate([50, 30, 20], rng=1))


def candidates() -> Any:
    design = RAPPOR(epsilon=1.0, epoch_epsilon=2.0)
    return design.estimate(design.simulate({HOSTILE: 50, "b": 30}, rng=1), [HOSTILE, "c"])


def fitted() -> Any:
    return learning.NaiveBayes(1.0, bounds=(0, 1), classes=[HOSTILE, "b"], rng=1).fit(X, np.where(Y, "b", HOSTILE))


def additive() -> Any:
    model = learning.AdditiveClassifier(1.0, bounds=(0, 1), classes=[HOSTILE, "b", "c"], rng=1)
    return model.fit(X, np.where(Y, "b", HOSTILE))


def searched() -> Any:
    model = learning.NaiveBayes(bounds=(0, 1), classes=[0, 1])
    return search_cost(learning.GridSearchCV(model, {"epsilon": [1.0, 2.0]}, cv=2), X, Y)


SAMPLES: dict[str, Callable[[], Any]] = {
    **{
        f"oracle {name}": lambda name=name: bruit.oracle(name, epsilon=1.0, labels=LABELS)
        for name in ("GRR", "OUE", "SUE", "OLH", "BLH", "SS", "HR", "PGR")
    },
    **{
        f"number {kind.__name__}": lambda kind=kind: kind(epsilon=1.0, bounds=(0.0, 100.0))
        for kind in (BoundedLaplace, Staircase, Duchi, Piecewise, Hybrid, SquareWave, MetricNumber)
    },
    "panel": lambda: Repeated(bruit.oracle("GRR", epsilon=1.0, labels=LABELS), epoch=2.0),
    "longitudinal hashing": lambda: LongitudinalHashing(bruit.oracle("OLH", epsilon=1.0, labels=LABELS), 2.0),
    "bit flip": lambda: DBitFlip(epsilon=1.0, held=2, labels=LABELS),
    "heavy hitters": lambda: HeavyHitters(epsilon=1.0),
    "open question": lambda: OpenQuestion(HOSTILE, HeavyHitters(epsilon=1.0)),
    "RAPPOR": lambda: RAPPOR(epsilon=1.0, epoch_epsilon=2.0),
    "O-RR": lambda: HashedResponse(epsilon=1.0),
    "candidates": candidates,
    "plane": lambda: MetricPlane(epsilon=1.0, x=(0, 12), y=(0, 9), unit="km"),
    "longitudinal mean": lambda: LongitudinalMean(Duchi(epsilon=1.0, bounds=(0, 24)), 2.0),
    "plan": lambda: Plan({HOSTILE: LABELS, "age": Grid(18, 90)}, epsilon=1.0, public={f"in {HOSTILE}": LABELS}),
    "plan of rounds": lambda: Plan({HOSTILE: LABELS}, epsilon=1.0, repeat=Repeat(3, epoch_epsilon=2.0)),
    "schema": lambda: Schema([Attribute(HOSTILE, LABELS, public=True), Attribute("age", Grid(18, 90))]),
    "guarantee": lambda: Guarantee(epsilon=1.0, neighbours="value"),
    "guarantee with δ": lambda: Guarantee(epsilon=1.0, delta=1e-6, neighbours="person-replace"),
    "tally": lambda: bruit.oracle("GRR", epsilon=1.0, labels=LABELS).simulate([5, 3, 2], rng=1),
    "data set": lambda: datasets.load("adult"),
    "half of a data set": lambda: datasets.load("adult").train,
    "statistic": lambda: releases.Mean(HOSTILE, bounds=(0, 100), epsilon=1.0),
    "histogram": lambda: releases.Histogram(HOSTILE, domain=LABELS, epsilon=1.0),
    "release": lambda: releases.Release({HOSTILE: releases.Count(epsilon=1.0)}, by={"sex": LABELS}),
    "estimate": estimate,
    "ledger": ledger,
    "choose": lambda: bruit.choose(k=5, epsilon=1.0),
    "compare": lambda: compare({HOSTILE: LABELS, "smokes": ["no", "yes"]}, epsilon=1.0),
    "search": searched,
    "model": lambda: learning.NaiveBayes(1.0, bounds=(0, 1), classes=[HOSTILE, "b"]),
    "fitted model": fitted,
    "regression": lambda: learning.LinearRegression(1.0, bounds=(0, 1), target_bounds=(0, 1)),
    "additive": lambda: learning.AdditiveClassifier(1.0, bounds=(0, 1), classes=[HOSTILE, "b"]),
    "fitted additive": additive,
    "logistic regression": lambda: learning.LogisticRegression(1.0, bounds=(0, 1), classes=[HOSTILE, "b"]),
    "additive regression": lambda: learning.AdditiveRegressor(1.0, bounds=(0, 1), target_bounds=(0, 1)),
    "shape": lambda: additive().shapes_["x0"],
    "explanation": lambda: additive().explain(X[:2]),
    "k-means": lambda: learning.KMeans(2, epsilon=1.0, bounds=(0, 1)),
    "local model": lambda: learning.LocalNaiveBayes(1.0, bounds={HOSTILE: LABELS}, classes=[0, 1]),
    "scaler": lambda: learning.DeclaredScaler({HOSTILE: (0, 1)}),
    "privatizer": lambda: learning.LocalPrivatizer(1.0, bounds={HOSTILE: LABELS}),
    "grid search": lambda: learning.GridSearchCV(
        learning.NaiveBayes(1.0, bounds=(0, 1), classes=[HOSTILE, "b"]), {"method": ["joint"]}
    ),
}


class Tags(HTMLParser):
    """Names of the tags of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.append(tag)


def executed(html: str) -> bool:
    """Whether a hostile label would run."""
    return "alert(1)</script>" in html or "<script>alert" in html


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_value_is_shown_without_a_warning_and_with_every_label_escaped(sample: str) -> None:
    value = SAMPLES[sample]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        html = value._repr_html_()
    assert "table" in Tags(html).names
    assert not executed(html)
    if not hasattr(value, "get_params"):
        assert set(Tags(html).names) <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "br", "bdi"}
        assert len(html) < 20_000


def test_a_value_that_does_not_escape_is_found_out() -> None:
    class Careless(Described):
        def _repr_html_(self) -> str:
            return f"<table><caption>{HOSTILE}</caption></table>"

    assert executed(Careless()._repr_html_())
    assert not executed(facts_table(HOSTILE, {HOSTILE: (HOSTILE, [HOSTILE])})._repr_html_())


def test_every_kind_of_html_that_is_not_a_results_table_has_a_sample() -> None:
    shown = {type(make()) for make in SAMPLES.values()}
    described = {
        item for item in public_classes() if hasattr(item, "_repr_html_") and not issubclass(item, Tabular | Table)
    }
    statistics = {item for item in described if issubclass(item, releases.Statistic)}
    assert {item.__name__ for item in described - shown - statistics} == {
        "Results",
        "RandomizedSearchCV",
    }


def test_a_data_set_shows_its_columns_and_none_of_its_values() -> None:
    data = datasets.load("adult")
    canary = {name: np.array([f"Vesoul {name}"] * len(data), object) for name in data.columns}
    html = dataclasses.replace(data, _table=canary)._repr_html_()
    assert html == data._repr_html_()
    for text in ("48,842 rows", "marital-status", data.licence):
        assert text in html


def test_a_fitted_model_shows_the_same_attributes_whatever_the_data_hold() -> None:
    shown = []
    for secret in ("Vesoul", "Paris"):
        rows = X + (0 if secret == "Paris" else 98765)
        model = learning.NaiveBayes(1.0, bounds=(0, 1), classes=[0, 1], rng=1).fit(rows, Y)
        shown.append(re.sub(r"[\d.,\-\s\[\]e+]+", "", model._repr_html_()))
        assert "98765" not in model._repr_html_()
    assert shown[0] == shown[1]


def test_many_labels_are_shown_as_the_first_ones_and_their_number() -> None:
    html = bruit.oracle("GRR", epsilon=1.0, labels=[f"label {place}" for place in range(1000)])._repr_html_()
    assert "label 9, and 990 more" in html
    assert len(html) < 3000


def test_facts_say_what_the_mechanism_promises() -> None:
    html = bruit.oracle("GRR", epsilon=1.0, labels=["no", "yes"])._repr_html_()
    for text in ("RandomizedResponse", "GRR", "no, yes", "ε = 1 (local, one answer changed)"):
        assert text in html
    html = Guarantee(epsilon=float(np.log(3)), neighbours="value")._repr_html_()
    for text in ("1.098612", "local, one answer changed", "75 %"):
        assert text in html


def test_scikit_learn_still_reads_what_parameters_mean() -> None:
    shown = learning.NaiveBayes(1.0)._get_params_html() if hasattr(BaseEstimator, "_get_params_html") else None
    if getattr(shown, "estimator_class", None) is None:
        pytest.skip("this scikit-learn does not read docstrings")
    text = inspect.getdoc(shown.estimator_class) or ""
    assert "The most that" in text
    assert re.findall(r"^(\w+)\n-{3,}$", text, re.MULTILINE) == [
        name
        for name in re.findall(r"^(\w+)\n-{3,}$", inspect.getdoc(learning.NaiveBayes) or "", re.MULTILINE)
        if name not in ("Guarantee", "Error")
    ]
