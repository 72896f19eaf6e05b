"""Models fitted on a DataFrame are those that are fitted in memory, for the same seed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bruit
from bruit.errors import BudgetError, DataError
from bruit.learning import (
    AdditiveClassifier,
    AdditiveRegressor,
    KMeans,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
)

Frames = Callable[..., Any]

BOX = bruit.Schema({"age": bruit.Grid(17, 90), "height": bruit.Grid(100, 250)})
MIXED = bruit.Schema({"age": bruit.Grid(17, 90), "sex": ["F", "M", "X"]})


@pytest.fixture(scope="module")
def people() -> dict[str, Any]:
    draw = np.random.default_rng(5)
    sex = draw.choice(["F", "M", "X"], 3000)
    age = draw.integers(17, 91, 3000)
    height = 150 + draw.random(3000) * 50 + (sex == "M") * 10
    return {"age": age, "height": height, "sex": sex}


@pytest.fixture(scope="module")
def frame(frame_of: Frames, people: dict[str, Any]) -> Any:
    return frame_of({name: column.tolist() for name, column in people.items()}, 3)


def learned(model: Any) -> str:
    """All that a fit learned, in words that tell any two floats apart."""
    found = {name: value for name, value in sorted(vars(model).items()) if name.endswith("_")}
    with np.printoptions(floatmode="unique", threshold=sys.maxsize):
        return repr(found)


MODELS: dict[str, tuple[Callable[..., Any], str | None, list[str]]] = {
    "naive Bayes": (
        lambda **more: NaiveBayes(1.0, bounds=BOX, classes=["F", "M", "X"], random_state=3, **more),
        "sex",
        ["age", "height", "sex"],
    ),
    "naive Bayes with categories": (
        lambda **more: NaiveBayes(1.0, bounds=MIXED, classes=[False, True], method="vaidya", random_state=3, **more),
        "tall",
        ["age", "sex", "tall"],
    ),
    "additive": (
        lambda **more: AdditiveClassifier(40.0, bounds=BOX, classes=["F", "M", "X"], random_state=3, **more),
        "sex",
        ["age", "height", "sex"],
    ),
    "additive with categories": (
        lambda **more: AdditiveClassifier(4.0, bounds=MIXED, classes=[False, True], delta=1e-6, random_state=3, **more),
        "tall",
        ["age", "sex", "tall"],
    ),
    "logistic": (
        lambda **more: LogisticRegression(4.0, bounds=MIXED, classes=[False, True], random_state=3, **more),
        "tall",
        ["age", "sex", "tall"],
    ),
    "additive regression": (
        lambda **more: AdditiveRegressor(40.0, bounds=(17, 90), target_bounds=(100, 250), random_state=3, **more),
        "height",
        ["age", "height"],
    ),
    "line": (
        lambda **more: LinearRegression(1.0, bounds=(17, 90), target_bounds=(100, 250), random_state=3, **more),
        "height",
        ["age", "height"],
    ),
    "line, Gaussian": (
        lambda **more: LinearRegression(
            1.0, bounds={"age": bruit.Grid(17, 90)}, target_bounds=(100, 250), delta=1e-6, random_state=3, **more
        ),
        "height",
        ["age", "height"],
    ),
    "centres": (
        lambda **more: KMeans(2, epsilon=5.0, bounds=BOX, iterations=2, random_state=3, **more),
        None,
        ["age", "height"],
    ),
    "centres, printed": (
        lambda **more: KMeans(
            2, epsilon=50.0, bounds=([17, 100], [90, 250]), method="lloyd", iterations=2, random_state=3, **more
        ),
        None,
        ["age", "height"],
    ),
}


@pytest.mark.audit("naive Bayes]", "logistic", "additive regression", "additive]")
@pytest.mark.filterwarnings("ignore:At this ε noise hides")
@pytest.mark.usefixtures("any_epsilon")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_the_same_from_spark_and_from_memory(name: str, people: dict[str, Any], frame: Any) -> None:
    make, target, columns = MODELS[name]
    table = {**people, "tall": people["height"] > 180}
    ledger = bruit.Ledger(epsilon=100.0, delta=1e-3)  # a ledger in memory stays on the driver
    there = make(ledger=ledger).fit(frame.selectExpr("*", "height > 180 AS tall").select(*columns), target)
    here = make().fit({column: table[column] for column in columns}, target)
    assert learned(there) == learned(here)
    assert ledger.spent.epsilon == there.guarantee_.epsilon


def test_what_a_worker_refuses_spends_nothing_and_shows_nothing(frame: Any) -> None:
    frame = frame.coalesce(1)
    ledger = bruit.Ledger(epsilon=1.0)
    model = NaiveBayes(epsilon=1.0, bounds=BOX, classes=["F", "M"], ledger=ledger)
    with pytest.raises(DataError, match="one of the declared classes") as error:
        model.fit(frame, "sex")
    assert "X" not in str(error.value)
    with pytest.raises(DataError, match="must have a column 'income'"):  # seen before any task runs
        LinearRegression(epsilon=1.0, bounds=BOX, target_bounds=(0, 1), ledger=ledger).fit(frame, "income")
    model = LinearRegression(bounds=BOX, target_bounds=(100, 250), epsilon=2.0, ledger=ledger)
    with pytest.raises(BudgetError):
        model.fit(frame.drop("sex").withColumnRenamed("height", "h").selectExpr("age", "h AS height", "h AS y"), "y")
    assert ledger.spent.epsilon == 0
