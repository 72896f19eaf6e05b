"""Counts over time: exact weights, the law, the error, one booking, each number drawn once."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import stat
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit import Ledger, documents
from bruit.entropy import Entropy
from bruit.errors import BudgetError, DataTypeError, FormatError, LedgerError, LimitError, ParameterError
from bruit.privacy.zcdp import rho_to_epsilon
from bruit.releases import ContinualCount, ContinualSeries, DiscreteGaussian
from bruit.releases import continual as module

HALF = rho_to_epsilon(0.5, 1e-6)


def _counts(**options: Any) -> ContinualCount:
    return ContinualCount(**{"steps": 8, "epsilon": 1.0, "delta": 1e-6, **options})


def test_of_1024_days_the_largest_error_is_three_point_three_where_a_tree_has_ten() -> None:
    counts = ContinualCount(steps=1024, epsilon=HALF, delta=1e-6)
    assert abs(counts.rho - 0.5) < 1e-9
    assert 3.2 < counts.total_error.max() <= 3.3
    assert counts.daily_error.max() < 2.1
    # The controls: fresh noise for every day, 32 in the end, and a binary tree with a level for each of 11 powers of 2.
    assert np.sqrt(1024) == 32
    levels = 11
    assert np.sqrt(levels) * np.sqrt(max(bin(day).count("1") for day in range(1, 1025))) > 10.4


def test_weights_are_the_rounded_coefficients_and_their_squares_are_paid_for() -> None:
    exact = [Fraction(1)]
    for lag in range(1, 300):
        exact.append(exact[-1] * (2 * lag - 1) / (2 * lag))
    counts = _counts(steps=300)
    assert all(
        abs(weight - 2**20 * value) <= Fraction(1, 2) for weight, value in zip(counts.weights, exact, strict=True)
    )
    assert isinstance(counts.noise, DiscreteGaussian)
    assert Fraction(counts.change2) / (2 * counts.noise.sigma2) <= Fraction(counts.rho)
    squares = sum(weight**2 for weight in counts.weights)
    assert _counts(steps=300, rows=3).change2 == 9 * squares
    assert _counts(steps=300, rows=3, neighbours="replace").change2 == 36 * squares
    assert _counts(rows=3).guarantee.neighbours == "person-add-remove"


def test_three_events_of_a_person_change_what_is_drawn_by_three_times_the_norm_and_not_by_its_root() -> None:
    weights = np.array(_counts().weights, object)
    worst = max(
        sum(int(value) ** 2 for value in sum(np.r_[[0] * day, weights[: 8 - day]] for day in days))
        for days in ([0, 0, 0], [0, 1, 2], [0, 0, 7])
    )
    assert worst == _counts(rows=3).change2
    assert worst > 3 * _counts().change2


def test_totals_and_days_are_unbiased_and_computed_from_noisy_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    series = _counts().start(rng=7)
    for count in (5, 0, 90, 7):
        series.add(count, rng=7)
    noisy = series._state.noisy
    weights = np.array(series.design.weights[:4], float)
    triangle = np.array([[weights[i - j] if i >= j else 0 for j in range(4)] for i in range(4)])
    assert np.allclose(series.daily().values, np.linalg.solve(triangle, np.array(noisy, float)))
    assert np.allclose(series.totals().values, np.cumsum(series.daily().values))
    # Without noise the counts themselves come out: what is published is unbiased.
    monkeypatch.setattr(DiscreteGaussian, "sample", lambda self, size, words: words.stream() and np.zeros(size, int))
    plain = _counts().start(rng=7)
    for count in (5, 0, 90, 7):
        plain.add(count, rng=7)
    assert np.allclose(plain.totals().values, [5, 5, 95, 102])
    assert plain._state.noisy != noisy


def test_the_error_that_is_stated_is_the_error_that_is_seen() -> None:
    counts = ContinualCount(steps=6, epsilon=HALF, delta=1e-6)
    entropy, runs = Entropy(5), 400
    ends = []
    for _ in range(runs):
        series = counts.start(rng=entropy)
        for count in (3, 1, 4, 1, 5, 9):
            series.add(count, rng=entropy)
        ends.append(series.totals().values)
    deviations = (np.array(ends) - np.cumsum([3, 1, 4, 1, 5, 9])) / counts.total_error
    # Six standard deviations of the mean of 400 draws, and of their mean square, whose law has a kurtosis of 3.
    assert np.abs(deviations.mean(axis=0)).max() < 6 / np.sqrt(runs)
    assert np.abs((deviations**2).mean(axis=0) - 1).max() < 6 * np.sqrt(2 / runs)
    assert np.abs((deviations[:, -1] * 1.6) ** 2).mean() > 1 + 6 * np.sqrt(2 / runs)  # a third less noise is noticed


def test_a_series_is_booked_once_kept_for_its_owner_and_goes_on_from_its_file(tmp_path: Path) -> None:
    books, path = Ledger(epsilon=1.0, delta=1e-5), tmp_path / "visits.json"
    series = _counts().start(path, books, label="visits")
    first = series.add(100, "2026-05-01")
    again = ContinualSeries.open(path)
    second = again.add(50, "2026-05-02")
    assert second.labels == ("2026-05-02",)
    assert ContinualSeries.open(path).totals().values.tolist() == [*first.values, *second.values]
    assert len(books.entries) == 1
    assert books.entries[0].label.startswith("visits (")
    assert books.spent.epsilon == 1.0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "secret" in json.loads(path.read_text())["holds"]
    again.book(books)  # it is booked: nothing happens
    assert len(books.entries) == 1
    assert "100" not in repr(again) + repr(again._state)
    with pytest.raises(DataTypeError):
        pickle.dumps(again)


def test_a_day_is_drawn_once_and_nothing_is_drawn_beyond_the_last(tmp_path: Path) -> None:
    path = tmp_path / "visits.json"
    series, other = _counts(steps=2).start(path), ContinualSeries.open(path)
    series.add(1, "monday")
    kept = path.read_bytes()
    with pytest.raises(ParameterError, match="drawn once"):
        other.add(1, "monday")
    assert path.read_bytes() == kept
    other.add(1, "tuesday")
    with pytest.raises(LimitError, match="2 days"):
        series.add(1, "wednesday")
    for wrong in (1.5, "3", None, True):
        with pytest.raises(DataTypeError):
            series.add(wrong)
    with pytest.raises(ParameterError, match="exists"):
        _counts().start(path)


def test_a_kill_before_the_file_is_written_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "visits.json"
    series = _counts().start(path)
    with monkeypatch.context() as patch:
        patch.setattr(documents, "write_secret", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            series.add(10, "monday")
    assert ContinualSeries.open(path).days == series.days == ()


def test_a_kill_between_the_booking_and_the_file_does_not_book_twice(tmp_path: Path, monkeypatch: Any) -> None:
    path, books = tmp_path / "visits.json", Ledger(epsilon=1.0, delta=1e-5)
    with monkeypatch.context() as patch:
        patch.setattr(ContinualSeries, "_keep", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            _counts().start(path, books)
    series = ContinualSeries.open(path)
    assert (series.booked, len(books.entries)) == (False, 1)
    with pytest.raises(LedgerError, match="not booked"):
        series.add(1)
    series.book(books)
    assert (series.booked, len(books.entries)) == (True, 1)
    series.add(1)


def test_a_ledger_that_refuses_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(BudgetError):
        _counts().start(tmp_path / "visits.json", Ledger(epsilon=0.5, delta=1e-5))
    assert not (tmp_path / "visits.json").exists()


def test_seeds_are_for_the_whole_series_or_for_none_of_it() -> None:
    seeded, secure = _counts().start(rng=7), _counts().start()
    assert (seeded.simulated, secure.simulated) == (True, False)
    for series, rng in ((seeded, None), (secure, 7)):
        with pytest.raises(ParameterError, match="every day"):
            series.add(1, rng=rng)


@pytest.mark.parametrize(
    "damage",
    [
        {"noisy": []},
        {"counts": ["x"]},
        {"days": 3},
        {"files": []},
        {"files": ["x"]},
        {"key": ""},
        {"design": {"steps": 3}},
    ],
)
def test_a_damaged_file_is_refused(damage: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "visits.json"
    _counts().start(path).add(5)
    body = documents.unseal(path.read_bytes(), ContinualSeries.FORMAT) | damage
    path.write_text(documents.seal(ContinualSeries.FORMAT, body))
    with pytest.raises(FormatError):
        ContinualSeries.open(path)
    with pytest.raises(FormatError, match="no series"):
        ContinualSeries.open(tmp_path / "nowhere.json")


def test_counts_beyond_the_limit_count_as_that() -> None:
    series = _counts().start()
    series.add(10**30)
    assert series._state.counts == [module.MOST_COUNT]


def test_a_series_in_memory_does_not_go_on_in_a_forked_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lasting, kept = _counts().start(), _counts().start(tmp_path / "visits.json")
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(LedgerError, match="fork"):
        lasting.add(5)
    assert lasting.days == ()
    kept.add(5)  # a file is shared by all processes


def test_threads_that_share_a_series_add_a_day_each() -> None:
    series = _counts().start()
    barrier, shown = threading.Barrier(4), []

    def work() -> None:
        barrier.wait()
        shown.append(float(series.add(1000).values[-1]))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(series.days) == len(series._state.noisy) == 4


@pytest.mark.parametrize(
    ("days", "earlier"),
    [
        (["2026-05-01", "2026-05-03"], "2026-05-02"),
        (["2026-05-01", "20260503"], "2026-05-02"),
        (["2026-05-01T10:00", "2026-05-01T12:00"], "2026-05-01T11:00"),
        (["2026-05-01T10:00+02:00", "2026-05-01T12:00+02:00"], "2026-05-01T09:30+00:00"),
        (["2026-05", "2026-07"], "2026-06"),
        (["9", "10"], "3"),
        (["2026-05-01", "holiday", "2026-05-03", "another"], "2026-05-02"),
    ],
)
def test_an_earlier_day_after_a_later_one_is_refused_unless_it_is_meant(days: list[str], earlier: str) -> None:
    series = _counts().start()
    for day in days:
        series.add(1, day)
    with pytest.raises(ParameterError, match=f"{re.escape(repr(earlier))} is before .*--anyway .*anyway=True"):
        series.add(1, earlier)
    assert series.days == tuple(days)
    series.add(1, earlier, anyway=True)
    assert series.days == (*days, earlier)


@pytest.mark.parametrize("days", [("monday", "friday", "a"), ("2026-05-03", "spring", "1"), ("3", None), (5, None, 7)])
def test_names_that_say_no_order_are_taken_in_any(days: tuple[Any, ...]) -> None:
    series = _counts().start()
    for day in days:
        series.add(1, day)
    assert len(series.days) == len(days)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-05-01", "20260501"),
        ("2026-05-01", " 2026-05-01 "),
        ("1", "01"),
        ("caf\u00e9", "cafe\u0301"),
        ("2026-05-01T10:00+00:00", "2026-05-01T12:00+02:00"),
    ],
)
def test_a_day_under_two_spellings_is_one_day_and_nothing_overrules_that(first: str, second: str) -> None:
    series = _counts().start()
    series.add(1, first)
    for anyway in (False, True):
        with pytest.raises(ParameterError, match="drawn once"):
            series.add(1, second, anyway=anyway)


def test_a_file_is_counted_for_one_day_whatever_its_name_unless_it_is_meant(tmp_path: Path) -> None:
    monday, copy, grown = (tmp_path / name for name in ("monday.csv", "copy.csv", "grown.csv"))
    monday.write_bytes(b"x\n1\n2\n")
    copy.write_bytes(b"x\n1\n2\n")
    grown.write_bytes(b"x\n1\n2\n3\n")
    path = tmp_path / "visits.series"
    _counts().start(path).add(2, "2026-05-04", file=monday)
    kept = path.read_bytes()
    for name in (monday, copy):
        with pytest.raises(ParameterError, match=r"for the day '2026-05-04'.*--anyway .*anyway=True"):
            ContinualSeries.open(path).add(2, "2026-05-05", file=name)
    assert path.read_bytes() == kept
    series = ContinualSeries.open(path)
    series.add(2, "2026-05-05", file=copy, anyway=True)
    series.add(3, "2026-05-06", file=grown)
    series.add(2, "2026-05-07")
    with pytest.raises(ParameterError, match="cannot be read again"):
        series.add(2, "2026-05-08", file=tmp_path / "gone.csv")
    folder, twin = tmp_path / "parts", tmp_path / "same"
    for place in (folder, twin):
        place.mkdir()
        (place / "a.parquet").write_bytes(b"a")
    series.add(2, "2026-05-08", file=folder)
    with pytest.raises(ParameterError, match="added already"):
        series.add(2, "2026-05-09", file=twin)


def test_a_file_without_events_may_come_again(tmp_path: Path) -> None:
    sunday, series = tmp_path / "sunday.csv", _counts().start()
    sunday.write_bytes(b"x\n")
    for day in ("2026-05-03", "2026-05-10"):
        series.add(0, day, file=sunday)
    assert len(series.days) == 2


def test_what_is_kept_of_a_file_tells_nothing_without_the_key(tmp_path: Path) -> None:
    file, bodies = tmp_path / "day.csv", []
    file.write_bytes(b"x\n1\n")
    for name in ("a.series", "b.series"):
        _counts().start(tmp_path / name).add(1, file=file)
        bodies.append(documents.unseal((tmp_path / name).read_bytes(), ContinualSeries.FORMAT))
    first, second = bodies
    assert (first["key"], first["files"]) != (second["key"], second["files"])
    assert first["files"] != second["files"]
    for algorithm in ("sha256", "blake2b", "md5"):
        assert hashlib.new(algorithm, file.read_bytes()).hexdigest()[:32] not in str(bodies)


def test_a_series_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    path, file = tmp_path / "visits.series", tmp_path / "day.csv"
    file.write_bytes(b"x\n1\n")
    first = _counts().start(path).add(1, "2026-05-01")
    body = documents.unseal(path.read_bytes(), ContinualSeries.FORMAT)
    del body["files"], body["key"]
    path.write_text(documents.seal(ContinualSeries.FORMAT, body))
    series = ContinualSeries.open(path)
    assert series.totals().values.tolist() == first.values.tolist()
    series.add(1, "2026-05-02", file=file)
    with pytest.raises(ParameterError, match="'2026-05-02'"):
        ContinualSeries.open(path).add(1, "2026-05-03", file=file)


@pytest.mark.parametrize(("days", "shown"), [
    (["2026-05-01", "2026-05-02", "2026-05-03"], ["2026-05-01", "2026-05-02", "2026-05-03"]),
    (["2026-05", "2026-06"], ["2026-05", "2026-06"]),
    (["monday", "tuesday"], ["monday", "tuesday"]),
    (["2026-05-03", "2026-05-01"], ["2026-05-03", "2026-05-01"]),
    ([None, None, None], ["1", "2", "3"]),
    (["2026-05-01"], ["2026-05-01"]),
    ([f"2026-05-{day:02d}" for day in range(1, 10)], [f"2026-05-0{day}" for day in (1, 3, 5, 7, 9)]),
    ([f"2026-05-01T{hour:02d}:30" for hour in range(7)], [f"2026-05-01T0{hour}:30" for hour in (0, 3, 6)]),
])  # fmt: skip
def test_the_names_of_days_stand_below_the_figure(days: list[Any], shown: list[str]) -> None:
    pytest.importorskip("matplotlib")
    series = _counts(steps=9).start()
    for day in days:
        series.add(100, day, anyway=True)
    labels = [label.get_text() for label in series.plot().get_xticklabels()]
    assert labels == shown
