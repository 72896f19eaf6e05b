"""Models of people with several rows: what counts of them, what noise hides them, and what is promised."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bruit import Ledger
from bruit.entropy import Entropy
from bruit.errors import DataError, ParameterError
from bruit.learning import KMeans, LinearRegression, NaiveBayes
from bruit.learning._sums import SumNoise
from bruit.releases import Person
from bruit.releases.person import PeopleWarning

BOUNDS = {"age": (0, 100), "height": (100, 200)}
OTHERS = pd.DataFrame(
    {"user": [1, 1, 2, 3], "age": [20.0, 30, 40, 50], "height": [150.0, 160, 170, 180], "y": [0, 1, 0, 1]}
)
#: One person with ten rows that stand at bounds.
TEN = pd.DataFrame({"user": [9] * 10, "age": [100.0] * 10, "height": [200.0] * 10, "y": [1] * 8 + [0] * 2})


def _models(**options: Any) -> list[Any]:
    options = {"epsilon": 1.0, "bounds": BOUNDS, "person": "user", "rows": 3, "rng": 7} | options
    delta = options.pop("delta", 0.0)
    line = {"target_bounds": (0, 1), "delta": delta}
    centres = {"n_clusters": 2, "iterations": 2, "delta": delta}
    exact = [] if delta else [NaiveBayes(classes=[0, 1], method=m, **options) for m in ("joint", "vaidya")]
    exact += [] if delta else [LinearRegression(method="functional", target_bounds=(0, 1), **options)]
    exact += [] if delta else [KMeans(method="lloyd", n_clusters=2, iterations=2, **options)]
    return [*exact, LinearRegression(**line, **options), KMeans(**centres, **options)]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[SumNoise, Any]]:
    """The sums that noise is added to, with that noise; the result has none, so that a second fit goes the same way."""
    seen: list[tuple[SumNoise, Any]] = []

    def draw(self: SumNoise, sums: Any, entropy: Any) -> Any:
        seen.append((self, np.array(sums, object)))
        return np.zeros(len(sums), np.int64)

    monkeypatch.setattr(SumNoise, "draw", draw)
    return seen


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_a_person_with_ten_rows_loses_epsilon_at_most_and_without_bounds_more(
    neighbours: Any, delta: float, drawn: list[tuple[SumNoise, Any]]
) -> None:
    other = TEN.assign(age=100 - TEN["age"], height=100.0, y=1 - TEN["y"])
    tables = [pd.concat([OTHERS, TEN]), OTHERS if neighbours == "add-remove" else pd.concat([OTHERS, other])]
    for model in _models(neighbours=neighbours, delta=delta):
        losses = []
        # An Entropy, because a seed would be mixed with the sums; ten rows and noise for three are the control.
        for rows in (3, 10):
            sums = []
            for table in tables:
                drawn.clear()
                model.set_params(rows=rows, rng=Entropy(7)).fit(table, None if isinstance(model, KMeans) else "y")
                sums.append(list(drawn))
            if rows == 10:
                model.set_params(rows=3)
                narrow = [
                    SumNoise(n.units, n.sensitivity, n.epsilon, n.delta, n.share, model._times) for n, _ in sums[0]
                ]
                sums = [[(noise, total) for noise, (_, total) in zip(narrow, side, strict=True)] for side in sums]
            losses.append(
                sum((n.loss_between(a, b) for (n, a), (_, b) in zip(*sums, strict=True)), Fraction(0))
            )  # fmt: skip
        budget = drawn[0][0].rho if delta else 1
        assert 0 < losses[0] <= budget, model
        # At the bounds, and not hidden by a printed sensitivity that is far too large, ten rows show.
        assert losses[1] > losses[0]
        if not delta and isinstance(model, NaiveBayes) and model.method == "joint" and neighbours == "add-remove":
            assert losses[0] > Fraction(9, 10)
            assert losses[1] > 3


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_guarantee_speaks_of_people_and_a_ledger_of_rows_refuses_it() -> None:
    for model in _models():
        target = None if isinstance(model, KMeans) else "y"
        books = Ledger(epsilon=1.0, neighbours="person-add-remove")
        model.set_params(ledger=books).fit(pd.concat([OTHERS, TEN]), target)
        assert model.guarantee_.neighbours == "person-add-remove"
        assert books.spent.epsilon == 1.0
        assert model.feature_names_in_.tolist() == ["age", "height"]
        with pytest.raises(Exception, match=r"neighbours|person"):
            model.set_params(ledger=Ledger(epsilon=1.0)).fit(OTHERS, target)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_source_gives_the_same_model(tmp_path: Path) -> None:
    table = pd.concat([OTHERS, TEN]).sample(frac=1, random_state=3)
    table.to_csv(tmp_path / "people.csv", index=False)
    table.to_parquet(tmp_path / "people.parquet", index=False)
    for model in (_models()[0], _models()[-2], _models()[-1]):
        supervised = not isinstance(model, KMeans)
        target = "y" if supervised else None
        first = vars(model.fit(pd.concat([OTHERS, TEN]), target)).copy()
        name = {NaiveBayes: "theta_", LinearRegression: "coef_", KMeans: "cluster_centers_"}[type(model)]
        for source in (table, tmp_path / "people.csv", tmp_path / "people.parquet", dict(table)):
            assert (getattr(model.fit(source, target), name) == first[name]).all()
        if supervised:
            assert (getattr(model.fit(table.drop(columns="y"), table["y"]), name) == first[name]).all()


def test_what_a_person_needs_is_said() -> None:
    with pytest.raises(ParameterError, match="rows=10"):
        NaiveBayes(epsilon=1.0, bounds=BOUNDS, classes=[0, 1], person="user").fit(OTHERS, "y")
    with pytest.raises(ParameterError, match="name the person"):
        NaiveBayes(epsilon=1.0, bounds=BOUNDS, classes=[0, 1], rows=3).fit(OTHERS, "y")
    with pytest.raises(ParameterError, match="there are none"):
        NaiveBayes(epsilon=1.0, bounds=BOUNDS, classes=[0, 1], person=Person("user", groups=2, rows_per_group=1)).fit(
            OTHERS, "y"
        )
    with pytest.raises(ParameterError, match=r'bounds=\{"age"'):
        KMeans(2, epsilon=1.0, bounds=(0, 1), person="user", rows=3).fit(OTHERS)
    with pytest.raises(ParameterError, match="a frame, a mapping or a file"):
        KMeans(2, epsilon=1.0, bounds=BOUNDS, person="user", rows=3).fit(np.ones((3, 2)))
    with pytest.raises(DataError, match="'nobody'"):
        KMeans(2, epsilon=1.0, bounds=BOUNDS, person="nobody", rows=3).fit(OTHERS)


def test_a_table_that_repeats_an_identifier_draws_a_warning() -> None:
    table = OTHERS.rename(columns={"user": "user_id"})
    with pytest.warns(PeopleWarning, match="'user_id'") as warned:
        NaiveBayes(epsilon=1.0, bounds=BOUNDS, classes=[0, 1], rng=7).fit(table, "y")
    assert warned[0].filename == __file__  # the line of whoever called
    with pytest.warns(PeopleWarning, match="'user_id'"):
        LinearRegression(epsilon=1.0, bounds=BOUNDS, target_bounds=(0, 1), rng=7).fit(
            table.drop(columns="y"), table["y"]
        )
    NaiveBayes(epsilon=1.0, bounds=BOUNDS, classes=[0, 1], rng=7).fit(table.drop_duplicates("user_id"), "y")
