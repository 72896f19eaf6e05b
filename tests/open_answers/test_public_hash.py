"""The public hash: spellings are one text, cells are different, and nothing of a process is in it."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from bruit.errors import DataTypeError, MissingError
from bruit.open_answers.public_hash import PublicHash, fingerprint, fingerprints


def test_spellings_of_one_answer_are_one_text_and_the_whole_text_counts() -> None:
    assert len(set(fingerprints(["L’école", " l'ÉCOLE ", "l'école"]).tolist())) == 1
    assert fingerprint("a" * 1000 + "b") != fingerprint("a" * 1000 + "c")
    assert fingerprint("\ud800") != fingerprint("\ud801")
    assert fingerprints([3, 3.0, "3"]).tolist() == [fingerprint("3")] * 3


def test_the_hash_never_changes() -> None:
    assert fingerprint("bus") == 0xD0AF712A33B8D997
    assert PublicHash(4, 128, 3).table([fingerprint("bus")]).tolist() == RECORDED


RECORDED = [[[13, 21, 38], [25, 92, 47], [19, 91, 17], [49, 9, 83]]]


@pytest.mark.parametrize(("entry", "error"), [(None, MissingError), (" ", MissingError), ([1], DataTypeError)])
def test_what_is_no_text_is_refused_without_showing_it(entry: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        fingerprints([entry, "Vesoul"])


def test_a_text_sets_different_cells_and_all_sets_alike() -> None:
    table = PublicHash(2000, 4, 2).table(range(5)).reshape(-1, 2)
    assert (table[:, 0] != table[:, 1]).all()
    many = Counter(map(tuple, np.sort(table, axis=1).tolist()))
    assert set(many) == set(itertools.combinations(range(4), 2))
    assert max(abs(count - len(table) / 6) for count in many.values()) < 6 * np.sqrt(len(table) / 6)


def test_people_get_the_cells_of_the_table() -> None:
    public = PublicHash(8, 32, 2)
    codes, cohorts = fingerprints(["a", "b", "a", "c"]), np.array([0, 7, 3, 3], np.uint64)
    table = public.table(codes.tolist())
    assert np.array_equal(public.of_people(codes, cohorts), table[np.arange(4), cohorts.astype(int)])
    assert public.of_people(codes[:0], cohorts[:0]).shape == (0, 2)


def test_texts_that_share_cells_differ_in_fewer() -> None:
    public = PublicHash(1, 4, 2)
    differing = {public.differing([0, other]) for other in range(1, 40)}
    assert differing == {0, 1, 2}
    assert public.differing([5, 5]) == 0


@pytest.mark.parametrize("run", ["\u05b0\u05b1", "\u05b0\u200d\u05b1", "\u05b0\u05b1\ufe0f\u00ad", "\u0f73"])
def test_long_runs_of_marks_are_cut_whatever_stands_between_them_and_is_not_seen(run: str) -> None:
    shortest = fingerprint("a" + run * 30)
    assert fingerprint("a" + run * 31) == fingerprint("a" + run * 10_000) == shortest


def test_a_narrow_float_is_the_decimal_that_it_is_written_as():
    assert fingerprints(np.array([0.1, 3], np.float32)).tolist() == fingerprints(["0.1", "3"]).tolist()
