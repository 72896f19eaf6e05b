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
from bruit.releases import Release, Released
from bruit.testing._evidence import ALARM, Fold, declared_values, require
from bruit.testing.after_booking import check_release_after_booking
from bruit.testing.silence import _listening, check_canary
from bruit.testing.single_use import check_single_use

#: How many draws tell two streams apart, and how many estimate a standard deviation.
DRAWS = 200
#: How many outputs an empirical audit draws, where a release does not know its own law.
TRIALS = 4_000


def check_release(
    release: Release,
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
        The release, one of bruit's or a class of your own derived from `bruit.releases.Release`.
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
    case = _Case(release, list(values) if values is not None else declared_values(release), fold or release.fold)
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
        return self.fold(records).reveal(design=self.release.digest)

    def some(self) -> list[Any]:
        """A few dozen records."""
        return (self.values * 40)[:40]


def _check_promise(case: _Case) -> None:
    """The guarantee is central, stated in advance and not above what was asked."""
    promise = case.release.guarantee
    require(isinstance(promise, Guarantee) and not promise.local, "The guarantee must be add-remove or replace.")
    asked = getattr(case.release, "epsilon", math.inf)
    require(promise.epsilon <= asked, "The stated ε is above what was asked.")


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
    for one, other in pairs:
        first, second = case.counts(one), case.counts(other)
        loss = case.release.loss_between(first, second)
        if loss is None:
            break
        known = True
        require(loss <= Fraction(promise.epsilon), "The stated ε is below the exact loss between two neighbours.")
        worst = max(worst, loss)
    if known:
        require(worst >= attained * promise.epsilon, f"No pair attains more than {float(worst):.6g} of the stated ε.")
        return
    for one, other in _most_different(case, pairs, 2):
        _audit(case, one, other, trials, entropy)


def _audit(case: _Case, one: Any, other: Any, trials: int, entropy: Entropy) -> None:
    def outputs(records: Any, size: int, stream: Entropy) -> NDArray[Any]:
        raw = case.fold(records)
        return np.array([case.release.release(raw, rng=stream).values for _ in range(size)])

    promise = case.release.guarantee
    found = audit.empirical(outputs, one, other, trials=trials, delta=promise.delta, level=1 - ALARM, rng=entropy)
    require(found.passes(promise), "Two neighbours are told apart more often than the stated ε allows.")


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
    """A ledger that notes whether noise was drawn before it was asked."""

    def __init__(self, stream: _Watched, rho: float | None) -> None:
        self.stream = stream
        self.rho = rho
        self.booked: list[tuple[Guarantee, bool]] = []

    def spend(self, guarantee: Guarantee, label: str, *, rho: float | None = None) -> None:
        """Note the spend."""
        require(isinstance(label, str) and bool(label), "A release is booked without a label.")
        require(rho == self.rho, "The ledger is not told the ρ of the release.")
        self.booked.append((guarantee, self.stream.drawn))


def _check_books(case: _Case) -> None:
    """The spend is booked, once and whole, before anything is drawn; a refusal draws nothing and spends nothing."""
    release, promise = case.release, case.release.guarantee
    raw = case.fold(case.some())
    stream = _Watched()
    notary = _Notary(stream, release.rho)
    release.release(raw, notary, stream)
    require([guarantee for guarantee, _ in notary.booked] == [promise], "The ledger is not told the stated guarantee.")
    require(not notary.booked[0][1], "Noise is drawn before the spend is booked.")
    require(stream.drawn, "The release does not use the randomness that it is given.")
    ledger = Ledger(promise.epsilon, promise.delta, promise.neighbours)
    release.release(raw, ledger, Entropy())
    require(ledger.spent == promise, "A ledger has not exactly the stated guarantee in its books.")
    stream = _Watched()
    _raises(BudgetError, "A spent budget", lambda: release.release(raw, ledger, stream))
    require(not stream.drawn, "Noise is drawn although the ledger refuses.")
    _check_nothing_spent(case, raw)


def _check_nothing_spent(case: _Case, raw: RawTally) -> None:
    """A raw tally of another release, or a bad seed, is found before anything is spent."""
    release, promise = case.release, case.release.guarantee
    ledger = Ledger(promise.epsilon, promise.delta, promise.neighbours)
    other = RawTally(design=documents.digest(raw.design), counts=raw.reveal(design=raw.design))
    _raises(DesignError, "The raw tally of another release", lambda: release.release(other, ledger))
    _raises(RandomnessError, "A bad seed", lambda: release.release(raw, ledger, "seed"))  # type: ignore[arg-type]
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
    require(whole.size == case.release.cells, "A raw tally has another size than stated.")


def _check_seeds(case: _Case, entropy: Entropy) -> None:
    """The same seed gives the same result, and is marked; nothing else repeats."""
    release, raw = case.release, case.fold(case.some())
    seed = int(entropy.words(1)[0])

    def drawn(*seeds: Any) -> list[list[Any]]:
        return [release.release(raw, rng=each).values.tolist() for each in seeds]

    require(drawn(seed) == drawn(seed), "The same seed does not give the same result.")
    seeds = range(seed, seed + DRAWS)
    require(len({str(each) for each in drawn(*seeds)}) > 1, "All seeds give the same result.")
    stream = Entropy(seed)
    require(len({str(each) for each in drawn(*[stream] * DRAWS)}) > 1, "An Entropy used again gives the same result.")
    require(len({str(each) for each in drawn(*[None] * DRAWS)}) > 1, "Without a seed, results repeat.")
    marks = [release.release(raw, rng=each).simulated for each in (seed, Entropy(seed), None, Entropy())]
    require(marks == [True, True, False, False], "A result does not tell whether its noise came from a seed.")


def _check_single_use(case: _Case, entropy: Entropy) -> None:
    raw = case.fold(case.some())
    check_single_use({case.release.name: lambda stream: case.release.release(raw, rng=stream).values}, rng=entropy)


def _check_documents(case: _Case, entropy: Entropy) -> None:
    """A result has one label and one error for each value, and survives being written down."""
    found = case.release.release(case.fold(case.some()), rng=entropy)
    require(len(found.labels) == found.values.size == found.error.size, "Values, labels and errors differ in number.")
    require(found.guarantee == case.release.guarantee, "A result does not carry the guarantee of its release.")
    again = Released.from_json(found.to_json())
    require(again.to_json() == found.to_json() and repr(again) == repr(found), "A result does not survive being saved.")
    require(documents.digest(case.release.to_dict()) == case.release.digest, "The digest is not that of to_dict.")
    _ = repr(found), found._repr_html_()


def _check_error(case: _Case, entropy: Entropy) -> None:
    """Where the error is known beforehand, results vary as much as it says."""
    try:
        stated = np.asarray(case.release.error, np.float64)
    except ParameterError:
        return
    if not (np.isfinite(stated).all() and (stated > 0).all()):
        return
    raw = case.fold(case.some())
    runs = 2_000
    drawn = np.array([case.release.release(raw, rng=entropy).values for _ in range(runs)], np.float64)
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
        found = release.release(raw, rng=entropy)
        _ = repr(raw), str(raw), repr(release), repr(found)
    require("redacted" in repr(raw), "A raw tally shows what it holds.")
    require(not heard.printed() and not heard.warned, "A release prints or warns about something.")
    check_canary(case.fold, case.some())


def _raises(kind: type[Exception], what: str, attempt: Callable[[], object]) -> None:
    try:
        attempt()
    except kind:
        return
    raise AssertionError(f"{what} is accepted.")


def _most_different(case: _Case, pairs: list[Any], size: int) -> list[Any]:
    """The pairs whose raw tallies differ most."""
    return sorted(pairs, key=lambda pair: -int(np.abs(case.counts(pair[0]) - case.counts(pair[1])).sum()))[:size]
