"""The common laws of a release from raw records: guarantee, books, fold, seeds, single use, documents, silence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit import audit, documents
from bruit.entropy import Entropy, Randomness
from bruit.errors import BudgetError, DesignError, ParameterError, RandomnessError
from bruit.estimation import RawTally
from bruit.privacy import Guarantee, Ledger
from bruit.privacy.ledger import Line
from bruit.releases import Release, Result, Results, Statistic
from bruit.testing._evidence import ALARM, Fold, declared_values, require
from bruit.testing.after_booking import check_release_after_booking
from bruit.testing.silence import _listening, check_canary
from bruit.testing.single_use import check_single_use

#: How many draws tell two streams apart, and how many estimate a standard deviation.
DRAWS = 200
#: How many outputs an empirical audit draws, where a release does not know its own law.
TRIALS = 4_000


def check_release(
    release: Statistic | Release,
    *,
    values: Sequence[Any] | None = None,
    fold: Fold | None = None,
    attained: float = 0.0,
    trials: int = TRIALS,
    rng: Randomness = 0,
) -> None:
    """Run every common law on a release; the first that it breaks raises an `AssertionError` that says which.

    The guarantee is compared with the exact privacy loss between neighbouring data sets (small ones, with ties and
    edges, empty ones too) where the release knows its law, as `loss_between`; and audited by samples where it does not.

    Parameters
    ----------
    release
        A statistic, one of bruit's or a class of your own derived from `bruit.releases.Statistic`; or a `Release`.
    values
        Some values that a record may have, the most different ones among them. By default the ends of what is declared,
        what lies outside and between.
    fold
        From a list of such values to a raw tally; by default the release's own.
    attained
        The least share of ε that the worst pair must attain, where the law is known.
    trials
        How many outputs the empirical audit draws under each input.
    rng
        Randomness of the statistical checks: a seed, so that a failure can be repeated.

    Examples
    --------
    >>> from bruit.releases import Count
    >>> check_release(Count(epsilon=0.5), attained=1 - 1e-9)
    """
    whole: Release = release.alone if isinstance(release, Statistic) else release
    case = _Case(whole, list(values) if values is not None else declared_values(whole), fold or whole.fold)
    entropy = Entropy.resolve(rng, "check_release", release.digest)
    _check_promise(case)
    _check_loss(case, attained, trials, entropy)
    _check_books(case)
    _check_merge(case)
    _check_seeds(case, entropy)
    _check_single_use(case, entropy)
    _check_documents(case, entropy)
    _check_error(case, entropy)
    _check_silence(case, entropy)
    check_release_after_booking(release, values=case.values, fold=case.fold)


class _Case(NamedTuple):
    """A release, values that records may have, and how they are folded."""

    release: Release
    values: list[Any]
    fold: Fold

    def counts(self, records: Any) -> NDArray[np.int64]:
        """The whole numbers without noise."""
        counts: NDArray[np.int64] = self.fold(records).reveal(design=self.release.digest)
        return counts

    def publish(self, raw: RawTally, ledger: Any = None, rng: Any = None) -> Results:
        """The results of the release."""
        return self.release.publish(raw, ledger, rng)

    def values_of(self, raw: RawTally, rng: Any = None) -> list[Any]:
        """All published values, one after the other."""
        return [value for result in self.publish(raw, rng=rng).values() for value in result]

    def some(self) -> list[Any]:
        """A few dozen records."""
        return (self.values * 40)[:40]


def _check_promise(case: _Case) -> None:
    """The guarantee is central, stated in advance and not above what was asked."""
    promise = case.release.guarantee
    require(isinstance(promise, Guarantee) and not promise.local, "The guarantee must be add-remove or replace.")
    for statistic in case.release.statistics.values():
        requested = getattr(statistic, "epsilon", math.inf)
        require(statistic.guarantee.epsilon <= requested, "The stated ε is above what was asked.")


def neighbours_of(values: Sequence[Any], neighbours: str) -> Iterator[tuple[list[Any], list[Any]]]:
    """Pairs of small data sets that differ in one record: without records, with one, with ties, at the edges."""
    first, last = values[0], values[-1]
    starts: list[list[Any]] = [[], *([value] for value in values), [first] * 7, [last] * 6, [first, last] * 3]
    starts += [list(values), sorted(values, key=str) * 2]
    for start, value in itertools.product(starts, values):
        if neighbours == "add-remove":
            yield start, [*start, value]
        else:
            yield from ((start, [*start[:place], value, *start[place + 1 :]]) for place in range(len(start)))


def _check_loss(case: _Case, attained: float, trials: int, entropy: Entropy) -> None:
    """No pair of neighbours loses more than ε, and the worst as much as is said to be attained."""
    promise = case.release.guarantee
    pairs = list(neighbours_of(case.values, promise.neighbours))
    worst: Fraction | float = 0
    known = False
    for start, neighbour in pairs:
        first, second = case.counts(start), case.counts(neighbour)
        loss = case.release.loss_between(first, second)
        if loss is None:
            break
        known = True
        require(loss <= Fraction(promise.epsilon), "The stated ε is below the exact loss between two neighbours.")
        worst = max(worst, loss)
    if known:
        require(worst >= attained * promise.epsilon, f"No pair attains more than {float(worst):.6g} of the stated ε.")
        return
    for start, neighbour in _most_different(case, pairs, 2):
        _audit(case, start, neighbour, trials, entropy)


def _audit(case: _Case, start: Any, neighbour: Any, trials: int, entropy: Entropy) -> None:
    def outputs(records: Any, size: int, stream: Entropy) -> NDArray[Any]:
        raw = case.fold(records)
        return np.array([case.values_of(raw, stream) for _ in range(size)])

    promise = case.release.guarantee
    measured = audit.empirical(
        outputs, start, neighbour, trials=trials, delta=promise.delta, level=1 - ALARM, rng=entropy
    )
    require(measured.passes(promise), "Two neighbours are told apart more often than the stated ε allows.")


class _Watched(Entropy):
    """A stream that remembers whether anything was drawn from it."""

    __slots__ = ("drawn",)

    def __init__(self) -> None:
        self.drawn = False
        super().__init__()

    def fill(self, out: NDArray[Any]) -> None:
        self.drawn = True
        super().fill(out)


class _Notary:
    """A ledger that notes whether noise was drawn before it booked."""

    def __init__(self, stream: _Watched) -> None:
        self.stream = stream
        self.booked: list[tuple[Line, bool]] = []

    def spend(self, guarantee: Guarantee, label: str, *, rho: float | None = None) -> None:
        """Note one spend."""
        self.book([Line(guarantee, label, rho)])

    def book(self, lines: Sequence[Line]) -> None:
        """Note the spends."""
        self.booked += [(line, self.stream.drawn) for line in lines]


def _check_books(case: _Case) -> None:
    """The spend is booked, once and whole, before anything is drawn; a refusal draws nothing and spends nothing."""
    release, promise = case.release, case.release.guarantee
    raw = case.fold(case.some())
    stream = _Watched()
    notary = _Notary(stream)
    release.publish(raw, notary, stream)
    lines, statistics = [line for line, _ in notary.booked], list(release.statistics.values())
    stated = [statistic.guarantee for statistic in statistics]
    require([line.guarantee for line in lines] == stated, "The ledger is not told the stated guarantee.")
    require([line.rho for line in lines] == [item.rho for item in statistics], "The ledger is not told the ρ.")
    require(all(isinstance(line.label, str) and line.label for line in lines), "A release is booked without a label.")
    require(not any(drawn for _, drawn in notary.booked), "Noise is drawn before the spend is booked.")
    require(stream.drawn, "The release does not use the randomness that it is given.")
    ledger = Ledger(promise.epsilon, promise.delta, promise.neighbours)
    release.publish(raw, ledger, Entropy())
    require(ledger.spent.epsilon <= promise.epsilon, "A ledger has more than the stated guarantee in its books.")
    require(len(ledger) == len(statistics), "A ledger has not one entry for each statistic.")
    stream = _Watched()
    _raises(BudgetError, "A spent budget", lambda: release.publish(raw, ledger, stream))
    require(not stream.drawn, "Noise is drawn although the ledger refuses.")
    _check_nothing_spent(case, raw)


def _check_nothing_spent(case: _Case, raw: RawTally) -> None:
    """A raw tally of another release, or a bad seed, is found before anything is spent."""
    release, promise = case.release, case.release.guarantee
    ledger = Ledger(promise.epsilon, promise.delta, promise.neighbours)
    other = RawTally(design=documents.digest(raw.design), counts=raw.reveal(design=raw.design))
    _raises(DesignError, "The raw tally of another release", lambda: release.publish(other, ledger))
    _raises(RandomnessError, "A bad seed", lambda: release.publish(raw, ledger, "seed"))  # type: ignore[arg-type]
    require(len(ledger) == 0, "A release that fails beforehand is booked all the same.")


def _check_merge(case: _Case) -> None:
    """Splitting the records anywhere, in any order, and adding the raw tallies gives the raw tally of all."""
    records = case.some()
    whole = case.counts(records)
    for place in (0, 1, len(records) // 3, len(records)):
        parts = case.fold(records[place:]) + case.fold(records[:place])
        same = np.array_equal(parts.reveal(design=case.release.digest), whole)
        require(same, "A raw tally depends on how the records were split.")
    require(np.array_equal(case.counts(records[::-1]), whole), "A raw tally depends on the order of the records.")
    require(whole.size == _size(case.release), "A raw tally has another size than stated.")


def _check_seeds(case: _Case, entropy: Entropy) -> None:
    """The same seed gives the same result, and is marked; nothing else repeats."""
    release, raw = case.release, case.fold(case.some())
    seed = int(entropy.words(1)[0])

    def drawn(*seeds: Any) -> list[list[Any]]:
        return [case.values_of(raw, item) for item in seeds]

    require(drawn(seed) == drawn(seed), "The same seed does not give the same result.")
    seeds = range(seed, seed + DRAWS)
    require(len({str(values) for values in drawn(*seeds)}) > 1, "All seeds give the same result.")
    stream = Entropy(seed)
    require(
        len({str(values) for values in drawn(*[stream] * DRAWS)}) > 1, "An Entropy used again gives the same result."
    )
    require(len({str(values) for values in drawn(*[None] * DRAWS)}) > 1, "Without a seed, results repeat.")
    marks = [_marked(release.publish(raw, rng=item)) for item in (seed, Entropy(seed), None, Entropy())]
    require(marks == [True, True, False, False], "A result does not tell whether its noise came from a seed.")


def _check_single_use(case: _Case, entropy: Entropy) -> None:
    raw = case.fold(case.some())
    name = ", ".join(case.release.statistics)
    check_single_use({name: lambda stream: np.array(case.values_of(raw, stream))}, rng=entropy)


def _check_documents(case: _Case, entropy: Entropy) -> None:
    """A result has one label and one error for each value, and it and its release survive being written down."""
    results = case.publish(case.fold(case.some()), rng=entropy)
    for result, statistic in zip(results.values(), case.release.statistics.values(), strict=True):
        alike = len(result.labels) == result.values.size == result.standard_error.size
        require(alike, "Values, labels and errors differ in number.")
        require(result.guarantee == statistic.guarantee, "A result does not carry the guarantee of its statistic.")
        again = Result.from_json(result.to_json())
        same = again.to_json() == result.to_json() and repr(again) == repr(result)
        require(same, "A result does not survive being saved.")
        _ = repr(result), result._repr_html_()
    require(Results.from_json(results.to_json()).to_json() == results.to_json(), "Results do not survive being saved.")
    require(documents.digest(case.release.to_dict()) == case.release.digest, "The digest is not that of to_dict.")


def _check_error(case: _Case, entropy: Entropy) -> None:
    """Where the error is known beforehand, results vary as much as it says."""
    if len(case.release.statistics) > 1 or case.release.by is not None:
        return
    (statistic,) = case.release.statistics.values()
    try:
        stated = np.asarray(statistic.standard_error, np.float64)
    except ParameterError:
        return
    if not (np.isfinite(stated).all() and (stated > 0).all()):
        return
    raw = case.fold(case.some())
    runs = 2_000
    drawn = np.array([case.values_of(raw, entropy) for _ in range(runs)], np.float64)
    # The fourth moment is taken from the sample, because noise may be heavy-tailed.
    spread = drawn - drawn.mean(axis=0)
    variance, fourth = (spread**2).mean(axis=0), (spread**4).mean(axis=0)
    limit = 7 * np.sqrt((fourth - variance**2) / runs) + 1e-9 * stated**2
    require(bool((np.abs(variance - stated**2) <= limit).all()), "Results do not vary as the stated error says.")


def _check_silence(case: _Case, entropy: Entropy) -> None:
    """Nothing is logged, printed or warned; no error shows a value; a raw tally shows nothing."""
    release = case.release
    case.fold(case.some())  # what is compiled or loaded at the first use may well be logged
    with _listening() as heard:
        raw = case.fold(case.some())
        results = release.publish(raw, rng=entropy)
        _ = repr(raw), str(raw), repr(release), repr(results)
    require("redacted" in repr(raw), "A raw tally shows what it holds.")
    require(not heard.printed() and not heard.warned, "A release prints or warns about something.")
    check_canary(case.fold, case.some())


def _marked(results: Results) -> bool:
    return all(result.simulated for result in results.values())


def _size(release: Release) -> int:
    """How many whole numbers a release counts."""
    return sum(statistic.size for statistic in release.statistics.values()) * max(1, len(release.groups))


def _raises(kind: type[Exception], what: str, attempt: Callable[[], object]) -> None:
    try:
        attempt()
    except kind:
        return
    raise AssertionError(f"{what} is accepted.")


def _most_different(case: _Case, pairs: list[Any], size: int) -> list[Any]:
    """The pairs whose raw tallies differ most."""
    return sorted(pairs, key=lambda pair: -int(np.abs(case.counts(pair[0]) - case.counts(pair[1])).sum()))[:size]
