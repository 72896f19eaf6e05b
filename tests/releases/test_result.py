"""Results that are kept: what is saved comes back as it was, for nothing, and what is damaged does not."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit import documents, releases
from bruit.domains import Grid
from bruit.errors import FormatError, ParameterError
from bruit.privacy import Ledger
from bruit.privacy.guarantee import Guarantee
from bruit.releases import Result

TABLE = {"age": [31, 40, 22, 57] * 50, "sex": ["F", "M", "F", "M"] * 50}
GROUPS = {"sex": ["F", "M"]}

RESULTS = {
    "count": lambda: releases.release(TABLE, releases.Count(epsilon=0.5), rng=1),
    "histogram": lambda: releases.release(TABLE, releases.Histogram("sex", epsilon=0.5, domain=["F", "M"]), rng=1),
    "numbers as labels": lambda: releases.release(
        TABLE, releases.Histogram("age", epsilon=0.5, domain=Grid(0, 60)), rng=1
    ),
    "groups": lambda: releases.release(TABLE, releases.Mean("age", bounds=(0, 120), epsilon=0.5), rng=1, by=GROUPS),
    "groups of several": lambda: releases.release(
        TABLE, releases.Quantiles("age", bounds=(0, 120), epsilon=0.5, quantiles=[0.25, 0.5]), by=GROUPS, rng=1
    ),
    "quantiles with intervals": lambda: releases.release(
        TABLE,
        releases.Quantiles("age", bounds=(0, 120), epsilon=0.5, neighbours="replace", quantiles=[0.25, 0.5]),
        rng=1,
    ),
    "gaussian": lambda: releases.release(
        TABLE, releases.Variance("age", bounds=(0, 120), epsilon=0.5, delta=1e-6), rng=1
    ),
    "joint": lambda: releases.release(
        TABLE, releases.Quantiles("age", bounds=(0, 120), epsilon=0.5, method="joint", quantiles=[0.5]), rng=1
    ),
}


def same(first: Any, second: Any) -> bool:
    return bool(np.array_equal(np.asarray(first, float), np.asarray(second, float), equal_nan=True))


@pytest.mark.parametrize("kind", RESULTS)
def test_a_saved_result_comes_back_as_it_was(tmp_path: Path, kind: str) -> None:
    result = RESULTS[kind]()
    result.save(tmp_path / "result.json")
    again = Result.load(tmp_path / "result.json")
    assert again.values.dtype == result.values.dtype
    assert again.values.tolist() == result.values.tolist()
    assert (again.labels, again.name, again.notes) == (result.labels, result.name, result.notes)
    assert (again.guarantee, again.simulated, dict(again.statistic)) == (result.guarantee, True, dict(result.statistic))
    assert same(again.standard_error, result.standard_error)
    assert repr(again) == repr(result)
    assert again.to_json() == result.to_json()
    if result.ends is not None:
        for level in (0.5, 0.8, 0.9, 0.95, 0.99):
            assert same(again.interval(level), result.interval(level))


def test_another_level_is_kept_with_the_usual_ones() -> None:
    result = RESULTS["count"]()
    again = Result.from_json(result.to_json(0.7))
    assert again.interval(0.7) == result.interval(0.7)
    assert again.interval(0.95) == result.interval(0.95)
    with pytest.raises(ParameterError, match=r"levels 0\.5, 0\.7, 0\.8, 0\.9, 0\.95, 0\.99"):
        again.interval(0.6)
    assert again.to_json(0.7) == result.to_json(0.7)


def test_large_whole_numbers_and_what_is_not_finite_survive() -> None:
    result = Result(
        name="thing", values=np.array([2**60 + 1, -3]), labels=("a", "b"), standard_error=np.array([math.nan, 1.0]),
        guarantee=Guarantee(epsilon=1.0, neighbours="add-remove"), simulated=False, statistic={},
    )  # fmt: skip
    again = Result.from_json(result.to_json())
    assert again.values.tolist() == [2**60 + 1, -3]
    assert math.isnan(again.standard_error[0])
    assert again.ends is None
    with pytest.raises(ParameterError, match="no interval"):
        again.interval()


def test_a_file_that_exists_is_not_replaced_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    RESULTS["count"]().save(path)
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="paid for"):
        RESULTS["histogram"]().save(path)
    assert path.read_bytes() == before
    RESULTS["histogram"]().save(path, force=True)
    assert Result.load(path).name == "histogram"
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


def test_a_failed_save_leaves_nothing_and_the_result_is_still_there(tmp_path: Path, monkeypatch: Any) -> None:
    ledger = Ledger(epsilon=1.0)
    result = releases.release([1, 2], releases.Count(epsilon=0.5), ledger=ledger)

    def full(self: Path, *_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match="No space"):
            result.save(tmp_path / "count.json")
    assert list(tmp_path.iterdir()) == []
    result.save(tmp_path / "count.json")
    assert Result.load(tmp_path / "count.json").value == result.value
    assert ledger.spent.epsilon == 0.5


def damaged(change: Any) -> str:
    body = documents.unseal(RESULTS["groups of several"]().to_json(), Result.FORMAT)
    change(body)
    return documents.seal(Result.FORMAT, body)


DAMAGES = [
    lambda body: body.pop("values"),
    lambda body: body.update(values=7),
    lambda body: body.update(values=[7]),
    lambda body: body["values"][0].pop("value"),
    lambda body: body["values"][0].update(value="many"),
    lambda body: body["values"][0].update(value=True),
    lambda body: body["values"][0].update(error="much"),
    lambda body: body["values"][1].pop("group"),
    lambda body: body.update(guarantee={"epsilon": -1}),
    lambda body: body.update(simulated="no"),
    lambda body: body.update(name=7),
    lambda body: body.update(statistic=None),
    lambda body: body.pop("intervals"),
    lambda body: body.update(intervals=[{"level": 0.5, "lower": [1.0], "upper": [2.0]}]),
    lambda body: body.update(intervals=[{"level": "half", "lower": [], "upper": []}]),
    lambda body: body.update(notes=None),
]


@pytest.mark.parametrize("change", DAMAGES)
def test_a_document_that_is_not_a_result_is_refused(change: Any) -> None:
    with pytest.raises(FormatError) as refusal:
        Result.from_json(damaged(change))
    assert refusal.value.__cause__ is None


def test_a_changed_or_foreign_file_is_refused(tmp_path: Path) -> None:
    text = RESULTS["count"]().to_json()
    body = json.loads(text)
    for wrong in (
        text[:40],
        text.replace('"count"', '"other"', 1),
        json.dumps({**body, "format": "bruit.tally/1"}),
        json.dumps({**body, "format": "bruit.result/2"}),
        "",
    ):
        (tmp_path / "result.json").write_text(wrong)
        with pytest.raises(FormatError):
            Result.load(tmp_path / "result.json")
