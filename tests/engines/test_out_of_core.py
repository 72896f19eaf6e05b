"""People of a table larger than memory: the same rows count as in memory, and nothing stays on the disk."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bruit.engines import batch as batching
from bruit.engines import bounding as engine
from bruit.engines import out_of_core
from bruit.errors import BruitError, DataError, MissingError
from bruit.releases import Count, Histogram, Person, Release, Sum

pytest.importorskip("duckdb")

ZONES = ["a", "b", "c", "d"]


def _trips(rows: int) -> pd.DataFrame:
    draw = np.random.default_rng(5)
    users = draw.integers(0, max(2, rows // 8), rows)
    accents = np.array(["Zoe\N{COMBINING DIAERESIS}", "Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}"])
    return pd.DataFrame(
        {
            "user": [f"{accents[i % 2]}{user}" for i, user in enumerate(users)],
            "number": users,
            "zone": draw.choice(ZONES, rows, p=[0.5, 0.3, 0.15, 0.05]),
            "fare": draw.integers(-5, 6, rows).astype(float),
        }
    )


def _releases(column: str = "user") -> list[Any]:
    statistics = [Count(epsilon=1.0), Histogram("zone", domain=ZONES, epsilon=1.0)]
    statistics.append(Sum("fare", bounds=(-3, 5), epsilon=1.0))
    return [
        Release(statistics, None, Person(column, rows=2)),
        Release(statistics, {"zone": ZONES}, Person(column, groups=2, rows_per_group=2)),
        Release(statistics, {"zone": ZONES}, Person(column, rows=3, groups=2, rows_per_group=2)),
        Release(Count(epsilon=1.0, delta=1e-6), "zone", Person(column, groups=2, rows_per_group=1)),
    ]


def _counts(release: Any, source: Any) -> Any:
    counts = release.fold(source, 3).reveal(design=release.digest)
    if isinstance(counts, Mapping):
        return {label: numbers.tolist() for label, numbers in counts.items()}
    return counts.tolist()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Batches of 4,096 rows, parts of about 3,000, and a temporary folder to look into."""
    monkeypatch.setattr(engine, "MOST_ROWS", 500)
    monkeypatch.setattr(batching, "BATCH", 4096)
    monkeypatch.setattr(out_of_core, "PART_ROWS", 3000)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize(("column", "kind"), [("user", "csv"), ("number", "parquet")])
def test_the_same_rows_count_as_in_memory_and_nothing_stays_on_the_disk(
    column: str, kind: str, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, path = _trips(10_000), tmp_path / f"trips.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path, index=False)
    through_duckdb = [_counts(release, path) for release in _releases(column)]
    assert not list(small.iterdir())
    monkeypatch.setattr(engine, "MOST_ROWS", 10**6)
    assert through_duckdb == [_counts(release, frame) for release in _releases(column)]


def test_the_parts_of_a_union_keep_their_own_bounds(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, path = _trips(5_000), tmp_path / "trips.parquet"
    frame.to_parquet(path, index=False)
    rows, groups = Person("user", rows=2), Person("user", groups=2, rows_per_group=1)
    union = Release.union(
        [
            Release({"rows": Count(epsilon=1.0)}, None, rows),
            Release({"by": Count(epsilon=1.0)}, {"zone": ZONES}, groups),
            Release({"zones": Count(epsilon=1.0, delta=1e-6)}, "zone", groups),
        ]
    )
    through_duckdb = union.publish(union.fold(path, 3), rng=5)
    monkeypatch.setattr(engine, "MOST_ROWS", 10**6)
    in_memory = union.publish(union.fold(frame, 3), rng=5)
    assert {name: result.values.tolist() for name, result in through_duckdb.items()} == {
        name: result.values.tolist() for name, result in in_memory.items()
    }


def test_rows_of_nobody_are_refused_or_dropped(small: Path) -> None:
    frame = _trips(600)
    frame.loc[[3, 599], "user"] = None
    with pytest.raises(MissingError, match="nobody"):
        _counts(Release(Count(epsilon=1.0), None, Person("user", rows=2)), frame)
    kept = Release(Count(epsilon=1.0), None, Person("user", rows=10**6, missing="drop"))
    assert _counts(kept, frame) == [598]
    assert not list(small.iterdir())


@pytest.mark.parametrize("change", ["another order", "fewer rows", "more rows"])
def test_a_table_that_changes_between_the_readings_is_refused(change: str, small: Path, tmp_path: Path) -> None:
    frame, path = _trips(600), tmp_path / "trips.parquet"
    frame.to_parquet(path, index=False)
    changed = {
        "another order": frame.sample(frac=1, random_state=1),
        "fewer rows": frame[:-1],
        "more rows": pd.concat([frame, frame]),
    }[change]
    release = Release(Count(epsilon=1.0), None, Person("user", rows=2))
    first = release.tally_batch

    def after_the_first_reading(folder: Path) -> Any:
        changed.to_parquet(path, index=False)
        return read_part(folder)

    read_part = out_of_core._read_part
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(out_of_core, "_read_part", after_the_first_reading)
        with pytest.raises(DataError, match="changed while it was read"):
            release.fold(path, 3)
    assert first(batch := {"user": np.array([1])}).reveal(design=release.digest).tolist() == [len(batch)]


def test_a_full_disk_is_told_without_data(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    def full(*arguments: Any, **options: Any) -> Any:
        raise duckdb.IOException("No space left for Zoe17")

    monkeypatch.setattr(duckdb, "connect", full)
    with pytest.raises(BruitError, match="TMPDIR") as caught:
        _counts(_releases()[0], _trips(600))
    assert "Zoe" not in str(caught.value)
    assert caught.value.__context__ is None


def test_kernels_agree_with_plain_sorting() -> None:
    draw = np.random.default_rng(3)
    for rows, groups, per_group in [(3, None, None), (None, 2, 1), (4, 2, 3), (40, 1, 35), (60, None, 50)]:
        person = Person("user", rows, groups, per_group)
        codes = np.minimum(draw.zipf(1.3, 2000), 50) - 1
        zones = draw.integers(0, 4, 2000)
        ranked = engine.RowKeys(draw.integers(0, 5, 2000).astype(np.uint64), zones, np.uint64([7, 2, 9, 2])[zones])
        key = bytes(range(64))
        assert engine.choose(codes, ranked, person.most, key).tolist() == _plainly(person, codes, ranked, key)


def _plainly(person: Person, codes: Any, ranked: engine.RowKeys, key: bytes) -> list[int]:
    """The rows that count, one person after the other."""
    kept = []
    for who in np.unique(codes):
        rows = np.flatnonzero(codes == who).tolist()
        seen: Counter[int] = Counter()
        rank = {}
        for row in rows:
            same = int(ranked.same[row])
            rank[row] = int(engine.hashes(np.array([[same, seen[same]]], np.uint64), key[16:32])[0])
            seen[same] += 1
        rows.sort(key=lambda row: (ranked.group_ranks[row], ranked.groups[row], rank[row]))
        order = list(dict.fromkeys(int(ranked.groups[row]) for row in rows))[: person.groups]
        by_group = [[row for row in rows if ranked.groups[row] == group][: person.rows_per_group] for group in order]
        kept += sorted(itertools.chain(*by_group), key=rank.__getitem__)[: person.rows]
    return sorted(kept)


@pytest.mark.audit
def test_a_million_rows_give_the_same_from_memory_and_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = _trips(10**6)
    frame.to_parquet(tmp_path / "trips.parquet", index=False)
    for release in _releases():
        expected = _counts(release, frame)
        with monkeypatch.context() as patch:
            patch.setattr(engine, "MOST_ROWS", 10**5)
            patch.setattr(out_of_core, "PART_ROWS", 10**5)
            assert _counts(release, tmp_path / "trips.parquet") == expected


_FOLD = """
import resource, sys
from bruit.releases import Count, Mean, Person, Release

zones = [f"z{i}" for i in range(20)]
person = Person("user", groups=3, rows_per_group=2)
release = Release([Count(epsilon=1.0), Mean("fare", bounds=(0, 100), epsilon=1.0)], {"zone": zones}, person)
total = int(release.fold(sys.argv[1], 1).reveal(design=release.digest)[:20].sum())
print(total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.audit
def test_a_hundred_million_rows_are_bounded_below_two_gibibytes(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, piece, people = 10**8, 10**6, 2 * 10**7
    draw = np.random.default_rng(1)
    zones = np.array([f"z{i}" for i in range(20)])
    schema = pa.schema({"user": pa.int64(), "zone": pa.string(), "fare": pa.float64()})
    with pq.ParquetWriter(tmp_path / "trips.parquet", schema) as writer:
        for _ in range(0, rows, piece):
            # A tenth of all rows belong to a thousand people.
            few = draw.random(piece) < 0.1
            user = np.where(few, draw.integers(0, 1000, piece), draw.integers(0, people, piece))
            columns = [user, zones[draw.integers(0, 20, piece)], draw.random(piece) * 100]
            writer.write_table(pa.table(columns, schema=schema))
    command = [sys.executable, "-c", _FOLD, str(tmp_path / "trips.parquet")]
    total, gibibytes = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert float(gibibytes) < 2
    # Nearly everybody has rows, and at most 6 of a person count.
    assert 0.4 * rows < int(total) <= 6 * people
