"""What all releases share, and that the common laws notice a release that breaks them."""

from __future__ import annotations

import copy
import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit.domains import Interval
from bruit.entropy import Entropy, Words
from bruit.errors import DataError, DataTypeError, DesignError, ParameterError, ParameterTypeError
from bruit.estimation import RawTally
from bruit.privacy.ledger import Line
from bruit.releases import AdditiveStatistic, Count, Histogram, Mean, Release, Sum
from bruit.testing import check_release
from bruit.testing.release import neighbours_of


def broken(name: str, base: Any = Count, **methods: Any) -> Any:
    return type(name, (base,), methods)


def booked(name: str, **methods: Any) -> Any:
    """A count whose release has other methods."""
    return broken(name, alone=property(type(f"{name}Release", (Release,), methods)))


def _draws_first(self: Any, raw: Any, ledger: Any = None, rng: Any = None, *, label: Any = None) -> Any:
    rng = rng.spawn() if isinstance(rng, Entropy) else rng
    return Release.publish(self, raw, ledger, rng, label=label)


def _books_twice(self: Any, label: Any = None) -> Any:
    return Release.lines(self, label) * 2


def _hides_its_rho(self: Any, label: Any = None) -> Any:
    return [Line(line.guarantee, line.label, line.rho / 4) for line in Release.lines(self, label)]


def _never_books(self: Any, raw: Any, ledger: Any = None, rng: Any = None, *, label: Any = None) -> Any:
    return Release.publish(self, raw, None, rng, label=label)


def _own_randomness(self: Any, counts: Any, words: Words) -> Any:
    return Count.publish(self, counts, Words() if words.secure else Words(7))


def _draws_nothing(self: Any, counts: Any, words: Words) -> Any:
    return self.from_noisy(counts, self.noise(), None, not words.secure)


def _half_scale(self: Any, counts: Any, words: Words) -> Any:
    noise = type(self.noise())(self.noise().scale / 2)
    return self.from_noisy(counts + noise.sample(1, words), self.noise(), None, not words.secure)


def _logs(self: Any, batch: Any) -> Any:
    logging.getLogger("bruit").warning("counting")
    print("counting")
    return Count.count(self, batch)


def _shows(self: Any, batch: Any) -> Any:
    column = batch["values"]
    if any(isinstance(value, str) for value in getattr(column, "entries", ())):
        raise DataError(f"these are bad: {column}")
    return Count.count(self, batch)


def _forgets_empty(self: Any, batch: Any) -> Any:
    return np.maximum(Count.count(self, batch), 1)


def _marks_nothing(self: Any, noisy: Any, noise: Any, n: Any, simulated: bool) -> Any:
    return Count.from_noisy(self, noisy, noise, n, False)


BROKEN: dict[str, tuple[Any, str]] = {
    "draws before booking": (booked("DrawsFirst", publish=_draws_first), "before the spend|although the ledger"),
    "books twice": (booked("BooksTwice", lines=_books_twice), "not told the stated guarantee"),
    "books another ρ than its own": (booked("HidesRho", lines=_hides_its_rho), "not told the ρ"),
    "never books": (booked("NeverBooks", publish=_never_books), "not told the stated guarantee"),
    "takes randomness of its own": (broken("Own", publish=_own_randomness), "the same result"),
    "has no noise": (broken("NoNoise", publish=_draws_nothing), "the same result"),
    "has half the noise it says": (broken("HalfScale", publish=_half_scale), "vary as the stated error"),
    "prints": (broken("Prints", count=_logs), "prints"),
    "shows a value": (broken("Shows", count=_shows), "is shown by a DataError"),
    "counts splits differently": (broken("Splits", count=_forgets_empty), "how the records were split"),
    "does not mark seeds": (broken("Marks", from_noisy=_marks_nothing), "came from a seed"),
    "states another size": (broken("Size", size=property(lambda self: 2)), "another size"),
    "promises too little": (broken("Promise", noise=lambda self, n=None:
        type(Count(epsilon=1.0).noise())(Count(epsilon=1.0).noise().scale / 2)), "below the exact loss"),
}  # fmt: skip


@pytest.mark.audit("has", "shows")
@pytest.mark.parametrize("fault", BROKEN)
def test_the_common_laws_notice_a_release_that(fault: str) -> None:
    kind, complaint = BROKEN[fault]
    with pytest.raises(AssertionError, match=complaint):
        check_release(kind(epsilon=1.0))


def test_the_common_laws_pass_an_honest_release_and_ask_for_what_it_attains() -> None:
    check_release(Count(epsilon=1.0), attained=1 - 1e-8)
    with pytest.raises(AssertionError, match="No pair attains"):
        check_release(Histogram(domain=["a", "b"], epsilon=1.0), values=["a", "a"], attained=1.1)


def _unknown_law(self: Any, first: Any, second: Any) -> None:
    return None


@pytest.mark.audit("add-remove", "replace")
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_a_release_that_does_not_know_its_law_is_audited_by_samples(neighbours: Any) -> None:
    honest = broken("Unknown", Histogram, loss_between=_unknown_law)
    check_release(honest(domain=["a", "b"], epsilon=1.0, neighbours=neighbours))
    liar = broken("Liar", honest, noise=lambda self, n=None: Count(epsilon=4.0).noise(),
                  expected_error=lambda self, n=None: Count(epsilon=4.0).standard_error)  # fmt: skip
    with pytest.raises(AssertionError, match="told apart more often"):
        check_release(liar(domain=["a", "b"], epsilon=1.0, neighbours=neighbours), trials=6_000)


def test_neighbours_differ_in_one_record_and_include_the_empty_and_the_single() -> None:
    pairs = list(neighbours_of([1, 2, 3], "add-remove"))
    assert all(len(other) == len(one) + 1 and other[:-1] == one for one, other in pairs)
    assert ([], [3]) in pairs
    pairs = list(neighbours_of([1, 2, 3], "replace"))
    assert all(
        len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) <= 1 for one, other in pairs
    )
    assert ([1], [3]) in pairs


# Folding a column.


def test_a_column_is_folded_in_batches_that_add(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def count(self: Any, batch: Any) -> Any:
        seen.append(len(batch["values"]))
        return np.array([seen[-1]])

    monkeypatch.setattr(Count, "count", count)
    release = Count(epsilon=1.0)
    assert release.fold(np.zeros(600_000)).reveal(design=release.digest).tolist() == [600_000]
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("source", "column", "kind"),
    [
        ({"x": [1]}, None, ParameterError),
        ("file.csv", None, ParameterError),
        (Path("file.csv"), None, ParameterError),
        ({"x": [1]}, "y", DataError),
        (3, None, DataTypeError),
        (None, None, DataTypeError),
        (iter([1, 2]), None, DataTypeError),
        ([[1, 2]], None, DataTypeError),
    ],
)
def test_what_is_no_column_is_refused(source: Any, column: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        Sum(column, bounds=(0, 1), epsilon=1.0).fold(source)


def test_a_raw_tally_belongs_to_one_release() -> None:
    half, whole = Count(epsilon=0.5), Count(epsilon=1.0)
    with pytest.raises(DesignError):
        whole.release(half.fold([1, 2]), rng=1)
    with pytest.raises(DesignError):
        _ = half.fold([1]) + whole.fold([1])


def test_equal_releases_have_equal_digests_and_others_have_not() -> None:
    assert Mean(bounds=(0, 1), epsilon=1.0).digest == Mean(bounds=(0.0, 1.0), epsilon=1).digest
    digests = {
        release.digest
        for release in (
            Count(epsilon=1.0),
            Count(epsilon=0.5),
            Mean(bounds=(0, 1), epsilon=1.0),
            Mean(bounds=(0, 2), epsilon=1.0),
            Mean(bounds=(0, 1), epsilon=1.0, neighbours="replace"),
            Mean(bounds=Interval(0, 1, missing="drop"), epsilon=1.0),
            Mean(bounds=(0, 1), epsilon=1.0, step=0.5),
        )
    }
    assert len(digests) == 7


def test_nothing_without_noise_can_be_reached_from_a_result() -> None:
    secret = 733_107
    release = Count(epsilon=0.001)
    found = release.release(release.fold(np.zeros(secret)), rng=1)
    assert found.value != secret
    assert not _holds(found, secret, set())
    assert _holds([RawTally(design="d", counts=[secret]).reveal(design="d")], secret, set())  # the control


def _holds(thing: Any, secret: int, seen: set[int]) -> bool:
    """Whether a number can be reached: by attributes, items, slots and the cells of closures."""
    if id(thing) in seen:
        return False
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return secret in thing.tolist()
    if isinstance(thing, int | float):
        return thing == secret
    inside: list[Any] = list(getattr(thing, "__dict__", {}).values())
    if isinstance(thing, Callable):  # type: ignore[arg-type]
        inside += [cell.cell_contents for cell in getattr(thing, "__closure__", None) or ()]
    if isinstance(thing, dict):
        inside += list(thing.values())
    if isinstance(thing, list | tuple | set):
        inside += list(thing)
    return any(_holds(each, secret, seen) for each in inside)


def test_a_statistic_of_your_own_needs_only_its_counts() -> None:
    @dataclass(frozen=True)
    class Positive(AdditiveStatistic):
        """How many numbers are above zero."""

        column: str | None = None
        epsilon: float = 0.5
        neighbours: Any = "add-remove"

        kind = "positive"
        size = 1

        def count(self, batch: Any) -> Any:
            column = self.values(batch)
            if not isinstance(column, np.ndarray) or column.dtype.kind not in "uif":
                raise DataTypeError("values must be numbers.")
            return np.array([(column > 0).sum()], np.int64)

        def from_noisy(self, noisy: Any, noise: Any, n: Any, simulated: Any) -> Any:
            return self._result(noisy, simulated, standard_error=noise.standard_error)

    check_release(Positive(), values=[-1.0, 1.0, 0.0])


def test_a_call_without_what_is_needed_says_the_whole_call() -> None:
    whole = r'write it as in Mean\("age", bounds=\(0, 100\), epsilon=1\.0\)\.'
    with pytest.raises(ParameterTypeError, match=f"Mean needs bounds: {whole}"):
        Mean("x", epsilon=1)  # type: ignore[call-arg]
    with pytest.raises(ParameterTypeError, match=f"Mean needs epsilon: {whole}"):
        Mean("x", bounds=(0, 1))  # type: ignore[call-arg]
    with pytest.raises(ParameterTypeError, match=f"Mean needs the names of its parameters: {whole}"):
        Mean("x", (0, 1), 1.0)  # type: ignore[misc]
    with pytest.raises(ParameterTypeError, match=r"as in Count\(epsilon=1\.0\)"):
        Count(1.0)  # type: ignore[arg-type, call-arg]
    mean = Mean("x", bounds=(0, 1), epsilon=1.0)
    assert pickle.loads(pickle.dumps(mean)) == copy.deepcopy(mean) == mean
