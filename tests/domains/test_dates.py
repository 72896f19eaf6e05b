"""Dates and times as a declared, finite domain."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bruit.domains.dates import Dates, Period
from bruit.domains.domain import DictionaryColumn
from bruit.errors import BruitError, DataError, DataTypeError, FormatError, ParameterError, ParameterTypeError

CANARY = "1999-09-19"
EVERY: tuple[Period, ...] = ("hour", "day", "week", "month")


def _slow_code(moment: datetime, every: Period, first: datetime) -> int:
    """How many periods after the one of `first` a moment lies, counted with datetime alone."""
    if every == "month":
        return (moment.year - first.year) * 12 + moment.month - first.month
    if every == "hour":
        return int((moment.replace(minute=0, second=0, microsecond=0) - first) / timedelta(hours=1))
    day = moment.date()
    if every == "week":
        monday = day - timedelta(days=day.weekday())
        return (monday - (first.date() - timedelta(days=first.weekday()))).days // 7
    return (day - first.date()).days


@pytest.mark.parametrize("every", EVERY)
def test_codes_are_those_of_a_count_with_datetime(every: Period) -> None:
    first, last = datetime(1968, 1, 1), datetime(1972, 12, 31, 23)  # around 1970, where numbers change their sign
    domain = Dates(first, last, every=every)
    moments = [first + timedelta(hours=37 * step, minutes=59) for step in range(1150)]
    moments = [moment for moment in moments if moment <= last]
    expected = [_slow_code(moment, every, first) for moment in moments]
    assert domain.encode(moments).tolist() == expected


@pytest.mark.parametrize("every", EVERY)
def test_decoding_gives_the_start_of_each_period(every: Period) -> None:
    domain = Dates("2023-01-30", "2024-03-02", every=every)
    starts = domain.decode(np.arange(domain.k))
    assert domain.encode(starts.astype("M8[s]")).tolist() == list(range(domain.k))
    assert len(set(domain.labels)) == domain.k == domain.size


def _sources(moments: list[datetime]) -> dict[str, Any]:
    texts = np.array([moment.isoformat() for moment in moments], object)
    return {
        "objects": moments,
        "texts": texts,
        "texts with a space": [moment.isoformat(" ") for moment in moments],
        "numpy": np.array(moments, "M8[us]"),
        "numpy ns": np.array(moments, "M8[ns]"),
        "pandas": pd.Series(moments),
        "polars": pl.Series(moments),
        "dictionary": DictionaryColumn(texts, np.arange(len(moments))),
    }


@pytest.mark.parametrize("source", _sources([]))
@pytest.mark.parametrize("every", EVERY)
def test_every_source_of_moments_gives_the_same_codes(every: Period, source: str) -> None:
    moments = [datetime(2023, 1, 1) + timedelta(hours=11 * step) for step in range(600)]
    domain = Dates("2023-01-01", "2023-12-31T23:00", every=every)
    assert domain.encode(_sources(moments)[source]).tolist() == domain.encode(moments).tolist()


def test_a_missing_date_follows_the_policy() -> None:
    gaps = [date(2023, 1, 2), None]
    assert Dates("2023-01-01", "2023-01-03", missing="category").encode(gaps).tolist() == [1, 3]
    assert Dates("2023-01-01", "2023-01-03", missing="drop").encode(gaps).tolist() == [1]
    array = np.array(["2023-01-02", "NaT"], "M8[D]")
    assert Dates("2023-01-01", "2023-01-03", missing="drop").encode(array).tolist() == [1]
    with pytest.raises(DataError, match="missing"):
        Dates("2023-01-01", "2023-01-03").encode(gaps)
    assert np.isnat(Dates("2023-01-01", "2023-01-03", missing="category").decode([3])[0])


@pytest.mark.parametrize(
    ("every", "values"),
    [
        ("day", [CANARY]),  # outside the range
        ("day", ["19/09/1999"]),
        ("day", [f"{CANARY}T10:00+02:00"]),
        ("day", [datetime(1999, 9, 19, tzinfo=UTC)]),
        ("day", pd.Series([pd.Timestamp(CANARY, tz="UTC")])),
        ("day", [19990919]),
        ("day", ["1999-09"]),
        ("hour", [date(1999, 9, 19)]),
        ("hour", [CANARY]),
        ("day", ["1999-19-39"]),
    ],
)
def test_what_is_no_date_of_the_range_is_refused_without_being_shown(every: Period, values: Any) -> None:
    with pytest.raises((DataError, DataTypeError)) as caught:
        Dates("2023-01-01", "2023-12-31", every=every).encode(values)
    chain: BaseException | None = caught.value
    while chain is not None:
        assert "1999" not in str(chain)
        assert "19" not in str(chain).replace("2023-01", "")
        chain = chain.__context__


def test_an_entry_of_a_dictionary_that_nobody_has_may_be_anything() -> None:
    cells = DictionaryColumn(np.array(["2023-01-02", "never"], object), np.array([0, -1, 0]))
    assert Dates("2023-01-01", "2023-01-03", missing="category").encode(cells).tolist() == [1, 3, 1]


def test_the_middle_ages_are_not_wrapped_around() -> None:
    domain = Dates("1066-01-01", "1066-12-31", every="month")
    assert domain.encode([date(1066, 10, 14)]).tolist() == [9]
    with pytest.raises(DataError):
        domain.encode([date(1650, 10, 14)])


def test_a_date_outside_is_clipped_on_request() -> None:
    domain = Dates("2023-01-01", "2023-12-31", every="month")
    assert replace(domain, outside="clamp").encode(["2020-01-01", "2030-01-01"]).tolist() == [0, 11]


@pytest.mark.parametrize(
    ("error", "parameters"),
    [
        (ParameterError, {"first": "2023-01-01", "last": "2023-01-01"}),
        (ParameterError, {"first": "2023-02-01", "last": "2023-01-01"}),
        (ParameterError, {"first": "yesterday", "last": "2023-01-01"}),
        (ParameterError, {"first": datetime(2023, 1, 1, tzinfo=UTC), "last": "2023-02-01"}),
        (ParameterTypeError, {"first": 2023, "last": 2024}),
        (ParameterError, {"first": "2023-01-01", "last": "2024-01-01", "every": "year"}),
        (BruitError, {"first": "0001-01-01", "last": "2262-01-01", "every": "hour"}),
    ],
)
def test_a_range_that_makes_no_sense_is_refused(error: type[Exception], parameters: dict[str, Any]) -> None:
    with pytest.raises(error):
        Dates(**parameters)


def test_a_document_gives_the_domain_back() -> None:
    domain = Dates(date(2023, 1, 1), "2023-12-31", every="week", missing="category")
    assert Dates.from_dict(domain.to_dict()) == domain
    with pytest.raises(FormatError):
        Dates.from_dict({"kind": "dates", "first": "2023-01-01"})
