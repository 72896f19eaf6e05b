"""A statistic from outside, the most frequent category, works everywhere in one file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import bruit
from bruit import Ledger
from bruit.domains import Categories
from bruit.domains.schema import as_domain
from bruit.privacy.zcdp import bounded_range_rho
from bruit.releases import Count, Exponential, Release, Result, Results, Statistic
from bruit.rounding import log_ceiling
from bruit.testing import check_release, check_release_after_booking


@dataclass(frozen=True)
class MostFrequent(Statistic):
    """The most frequent value, by the exponential mechanism on counts."""

    kind: ClassVar[str] = "most frequent value"

    column: str | None = None
    _: KW_ONLY
    domain: Any
    epsilon: float
    neighbours: Any = "add-remove"

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain", as_domain(self.domain))

    @property
    def size(self) -> int:
        return self.domain.size

    @property
    def choice(self) -> Exponential:
        # One record more raises one count and no other: all scores move the same way. A replaced one moves two.
        return Exponential.calibrate(self.epsilon, monotone=not self.public)

    @property
    def rho(self) -> float:
        return bounded_range_rho(self.epsilon)

    def count(self, batch: Mapping[str, Any]) -> Any:
        return np.bincount(self.domain.encode(self.values(batch)), minlength=self.size)

    def scores(self, counts: Any) -> Any:
        """How far each count is below the largest."""
        return np.minimum(counts.max() - counts, 2**40).astype(np.int64)

    def publish(self, counts: Any, words: Any) -> Result:
        place = self.choice.choose(self.scores(counts), words.stream())
        return self._result([self.domain.names[place]], simulated=not words.secure)

    def loss_between(self, first: Any, second: Any) -> Fraction:
        return Fraction(log_ceiling(self.choice.ratio(self.scores(first), self.scores(second))))


TABLE = {"eye": ["brown"] * 60 + ["blue"] * 20 + ["green"] * 10, "sex": ["F", "M"] * 45}
EYES = Categories(labels=["brown", "blue", "green"])
MODE = MostFrequent("eye", domain=EYES, epsilon=2.0)


@pytest.mark.audit("replace")
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_it_keeps_the_common_laws(neighbours: str) -> None:
    statistic = MostFrequent(domain=EYES, epsilon=1.0, neighbours=neighbours)
    check_release(statistic)


def test_nothing_depends_on_the_data_after_booking() -> None:
    check_release_after_booking(MostFrequent(domain=EYES, epsilon=1.0))


def test_it_is_released_and_booked_with_its_own_rho() -> None:
    ledger = Ledger(epsilon=2.0)
    result = bruit.release(TABLE, MODE, ledger=ledger, rng=7)
    assert result.value == "brown"
    (entry,) = ledger.entries
    assert (entry.label, entry.rho) == ("most frequent value of eye", bounded_range_rho(2.0))


def test_it_works_by_group_and_beside_other_statistics() -> None:
    asked = {"eyes": MODE, "people": Count(epsilon=1.0)}
    results = bruit.release(TABLE, asked, by={"sex": ["F", "M"]}, rng=7)
    assert results["eyes"].values.tolist() == ["brown", "brown"]
    assert results["eyes"].labels == results["people"].labels == ("F", "M")


def test_its_result_has_a_table_and_survives_being_saved(tmp_path: Path) -> None:
    results = bruit.release(TABLE, [MODE, Count(epsilon=1.0)], rng=7)
    (result, _) = results.values()
    assert "brown" in repr(result)
    assert result.to_frame("pandas")["value"].tolist() == ["brown"]
    result.save(tmp_path / "result.json")
    assert Result.load(tmp_path / "result.json").value == "brown"
    results.save(tmp_path / "results.json")
    assert Results.load(tmp_path / "results.json")[MODE.title].value == "brown"


def test_a_document_holds_it_and_a_file_asks_for_it(tmp_path: Path) -> None:
    assert Release.from_json(Release(MODE).to_json()).digest == Release(MODE).digest
    ask = {"statistics": [{"kind": MODE.kind, "column": "eye", "domain": ["brown", "blue", "green"], "epsilon": 2}]}
    (tmp_path / "ask.json").write_text(json.dumps(ask))
    assert bruit.release(TABLE, tmp_path / "ask.json", rng=7)[MODE.title].value == "brown"
