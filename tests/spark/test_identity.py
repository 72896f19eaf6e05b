"""Spark says of two spellings what memory says: one person or two, and refuses what may be two people."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from bruit.errors import DataError
from bruit.releases import Count, Person, Release

NFC = "Jos\N{LATIN SMALL LETTER E WITH ACUTE}"
NFD = unicodedata.normalize("NFD", NFC)
RELEASE = Release(Count(epsilon=1.0), person=Person("user", rows=1))
GROUPS = Release(Count(epsilon=1.0, delta=1e-3), "zone", Person("user", groups=1, rows_per_group=1))

#: Names of a column, of which several may be of one person.
COLUMNS: list[list[Any]] = [
    [NFC, NFD, "Jose", NFC.upper(), NFC + " "],
    ["3", "3.0", "03", "+3", " 3", "\N{FULLWIDTH DIGIT THREE}", "3"],
    [3, -3, 3, 10**15],
    [3.0, -0.0, 0.0, 3.0],
    [True, False, True],
    ["true", "True", "TRUE", "true"],
]


@pytest.mark.parametrize("names", COLUMNS, ids=lambda names: type(names[0]).__name__)
def test_spark_knows_as_many_people_as_memory(frame_of: Any, names: list[Any]) -> None:
    table = {"user": names, "zone": ["a"] * len(names)}
    frame = frame_of(table, 2)
    expected = RELEASE.fold(table, 3).reveal(design=RELEASE.digest).tolist()
    assert RELEASE.fold(frame, 3).reveal(design=RELEASE.digest).tolist() == expected
    assert GROUPS.fold(frame, 3).reveal(design=GROUPS.digest) == GROUPS.fold(table, 3).reveal(design=GROUPS.digest)
    assert expected[0] > 1


def test_spark_refuses_floats_from_where_their_type_loses_whole_numbers(spark: Any) -> None:
    for kind, limit in (("float", 2**24), ("double", 2**53)):
        for number in (limit, -limit, 0.5):
            frame = spark.createDataFrame([(float(number), "a"), (1.0, "a")], f"user {kind}, zone string")
            with pytest.raises(DataError, match="known by a whole number or a text"):
                RELEASE.fold(frame, 3)
        frame = spark.createDataFrame([(float(limit - 1), "a"), (float(limit - 2), "a")], f"user {kind}, zone string")
        assert RELEASE.fold(frame, 3).reveal(design=RELEASE.digest).tolist() == [2]


def test_spark_refuses_text_that_is_no_unicode(spark: Any) -> None:
    frame = spark.sql("SELECT CAST(X'73656372ff6574' AS STRING) AS user, 'a' AS zone")
    with pytest.raises(DataError, match="not whole Unicode") as caught:
        RELEASE.fold(frame, 3)
    assert "secr" not in str(caught.value)
