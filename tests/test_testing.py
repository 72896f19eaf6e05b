"""Every law of `bruit.testing` fails on a mechanism that breaks it, and on that one it says why."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bruit import documents, testing
from bruit.domains import Categories
from bruit.domains.domain import DictionaryColumn
from bruit.engines import memory
from bruit.entropy import Entropy, Words
from bruit.errors import DataError, RandomnessError
from bruit.estimation import Estimate, ExclusiveSupportModel, Tally
from bruit.oracles import RandomizedResponse
from bruit.privacy import Guarantee


class SamplesAt(RandomizedResponse):
    """States one ε and samples at another."""

    sampled = 1.0

    def randomize(self, codes: Any, words: Words) -> Any:
        return RandomizedResponse(epsilon=self.sampled, k=self.k).randomize(codes, words)


class LessPrivate(SamplesAt):
    sampled = 1.06


class MorePrivate(SamplesAt):
    sampled = 0.94


class LiesToTheNeighbour(RandomizedResponse):
    """Lies as often as it should, but always with the next value."""

    def _randomize(self, codes: Any, entropy: Entropy, out: Any) -> None:
        super()._randomize(codes, entropy, out)
        out[:] = np.where(out == codes, codes, (codes + 1) % self.size)


class UnknownMessage(RandomizedResponse):
    def message(self, reports: Any) -> Any:
        return reports.astype(np.int64) + 1


class NeverLies(RandomizedResponse):
    def matrix(self) -> Any:
        return [[Fraction(int(x == y)) for y in range(self.k)] for x in range(self.k)]


class PromisesTooMuch(RandomizedResponse):
    @property
    def guarantee(self) -> Guarantee:  # type: ignore[override]
        return Guarantee(epsilon=self.epsilon * (1 - 1e-12), neighbours="value")


class PromisesTooLittle(RandomizedResponse):
    @property
    def guarantee(self) -> Guarantee:  # type: ignore[override]
        return Guarantee(epsilon=self.epsilon * (1 + 1e-12), neighbours="value")


class Wasteful(RandomizedResponse):
    """Samples far below the ε that it was asked for, and says so."""

    @property
    def guarantee(self) -> Guarantee:  # type: ignore[override]
        return RandomizedResponse(epsilon=self.epsilon * 0.99, k=self.k).guarantee

    def matrix(self) -> Any:
        return RandomizedResponse(epsilon=self.epsilon * 0.99, k=self.k).matrix()


class Biased(RandomizedResponse):
    """Estimates as if a little less noise had been added."""

    def _model(self, tally: Tally) -> ExclusiveSupportModel:
        other = RandomizedResponse(epsilon=self.epsilon * 1.1, k=self.k)
        return ExclusiveSupportModel(tally.counts, tally.n, other.p, other.q)


class Clipped(RandomizedResponse):
    """Makes negative frequencies zero, silently."""

    def _model(self, tally: Tally) -> ExclusiveSupportModel:
        model = super()._model(tally)
        floor = np.ceil(tally.n * float(self.q)).astype(np.int64)
        return replace(model, counts=np.maximum(model.counts, floor))


class WrongFormula(RandomizedResponse):
    def variance(self, frequency: Any, n: int, target: Any = "population") -> Any:
        return super().variance(frequency, n, target) * 1.01


class NoisierThanStated(RandomizedResponse):
    """Simulates with 30 % more variance, at the right mean."""

    def _simulate(self, people: Any, generator: Any) -> Any:
        counts = super()._simulate(people, generator)
        spread = np.sqrt(0.3 * people.sum() * float(self.q))
        noise = np.round(generator.normal(0, spread, self.k)).astype(np.int64)
        noise[-1] -= noise.sum()
        return counts + noise


class ShortIntervals(RandomizedResponse):
    def estimate(self, tally: Tally, target: Any = "population") -> Estimate:
        class Short(Estimate):
            def interval(self, level: float = 0.95, *rest: Any, **options: Any) -> Any:
                return super().interval(0.9, *rest, **options)

        plain = super().estimate(tally, target)
        return Short(**{field.name: getattr(plain, field.name) for field in fields(plain)})


class SimulatesAnother(RandomizedResponse):
    def _simulate(self, people: Any, generator: Any) -> Any:
        return RandomizedResponse(epsilon=self.epsilon * 1.1, k=self.k)._simulate(people, generator)


class SimulatesWithoutNoise(RandomizedResponse):
    """Gives the mean of the counts: right on average, but too regular."""

    def _simulate(self, people: Any, generator: Any) -> Any:
        mean = people * float(self.p - self.q) + people.sum() * float(self.q)
        return np.round(generator.normal(mean, 1e-3 * np.sqrt(mean))).astype(np.int64)


class UnmarkedSimulation(RandomizedResponse):
    def simulate(self, counts: Any, rng: Any = None) -> Tally:
        return replace(super().simulate(counts, rng), simulated=False)


class LosesTheFirst(RandomizedResponse):
    """Forgets the first report of every batch."""

    def tally(self, reports: Any) -> Tally:
        return super().tally(reports[1:])


class SplitMatters(RandomizedResponse):
    """Counts the first report of every batch as refused."""

    def tally(self, reports: Any) -> Tally:
        rest = super().tally(reports[1:])
        return replace(rest, refused=rest.refused + len(reports[:1]))


class OrderMatters(RandomizedResponse):
    def tally(self, reports: Any) -> Tally:
        tally = super().tally(reports)
        return replace(tally, counts=tally.counts[::-1]) if len(reports) == 600 and reports[-1] == -1 else tally


class AnyTally(RandomizedResponse):
    def _check_tally(self, tally: Tally) -> None:
        pass


class ForgetsTheOdds(RandomizedResponse):
    def _settings(self) -> dict[str, Any]:
        return {}


class AnotherDigest(RandomizedResponse):
    def tally(self, reports: Any) -> Tally:
        return replace(super().tally(reports), design="0" * 32)


class IgnoresTheSeed(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        return super().privatize(values, None)


class OneNoiseForAll(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        return super().privatize(values, 7)


class RepeatsWithoutSeed(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        return super().privatize(values, 7 if rng is None else rng)


class RepeatsItsEntropy(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        return super().privatize(values, 7 if isinstance(rng, Entropy) else rng)


class RepeatsWords(RandomizedResponse):
    """Makes the words of a call from the key of the stream, which does not change, instead of drawing a new key."""

    def privatize(self, values: Any, rng: Any = None) -> Any:
        return self.randomize(self.domain.encode(values), Words._under(rng._current().key, rng.secure, type(rng)))


class AcceptsUsedWords(RandomizedResponse):
    def randomize(self, codes: Any, words: Words) -> Any:
        try:
            return super().randomize(codes, words)
        except RandomnessError:
            return super().randomize(codes, Words())


class CountsThreads(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        return super().privatize(values, rng + memory.threads() if isinstance(rng, int) else rng)


class SameNoiseInEveryBlock(RandomizedResponse):
    def _randomize(self, codes: Any, entropy: Entropy, out: Any) -> None:
        super()._randomize(codes, Entropy(3), out)

    def privatize(self, values: Any, rng: Any = None) -> Any:
        # Only the place where the people start depends on the seed.
        shift = int(Entropy.resolve(rng, "x", "").words(1)[0] % 1_000)
        return np.roll(super().privatize(np.roll(values, shift), rng), -shift)


class ShowsTheValue(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        try:
            return super().privatize(values, rng)
        except DataError as error:
            raise DataError(f"values must be in the domain, got {values}.") from error


class ShowsTheValueInItsCause(RandomizedResponse):
    """The message is clean, but the error that led to it is not, and a traceback prints both."""

    def privatize(self, values: Any, rng: Any = None) -> Any:
        try:
            return super().privatize(values, rng)
        except DataError as error:
            raise DataError("values must be in the domain.") from ValueError(f"{values}: {error}")


class ShowsTheValueInItsContext(RandomizedResponse):
    """Neither the message nor a printed traceback shows it, but a program that logs what led to an error does."""

    def privatize(self, values: Any, rng: Any = None) -> Any:
        try:
            return super().privatize(values, rng)
        except DataError:
            return self._refuse(values)

    def _refuse(self, values: Any) -> Any:
        try:
            raise ValueError(f"bad: {values}")
        except ValueError:
            raise DataError("values must be in the domain.") from None


class ShowsTheValueInANote(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        try:
            return super().privatize(values, rng)
        except DataError as error:
            error.add_note(f"asked about {values}")
            raise


class PlainErrors(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        try:
            return super().privatize(values, rng)
        except DataError:
            raise ValueError("values must be in the domain.") from None


class AcceptsAnything(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        try:
            return super().privatize(values, rng)
        except DataError:
            return super().privatize([0], rng)


class Grows(RandomizedResponse):
    """Counts whatever number comes along."""

    def _count(self, reports: Any) -> Any:
        known = reports[(reports >= 0) & (reports < self.size + 1)]
        return np.bincount(known.astype(np.int64), minlength=self.size)[: self.size], 0


class RaisesOnImpossible(RandomizedResponse):
    def _count(self, reports: Any) -> Any:
        if reports.size and int(reports.max()) >= self.size:
            raise DataError("reports must be in the domain.")
        return super()._count(reports)


class Logs(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        logging.getLogger("bruit.oracles").debug("asked", extra={"values": values[:3]})
        return super().privatize(values, rng)


class Prints(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        print("working")
        return super().privatize(values, rng)


class Warns(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        warnings.warn("large", stacklevel=2)
        return super().privatize(values, rng)


class Remembers(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        object.__setattr__(self, "last", Entropy().words(1)[0])
        return super().privatize(values, rng)

    def __repr__(self) -> str:
        return f"Remembers({getattr(self, 'last', None)})"


class TellsInErrors(RandomizedResponse):
    def privatize(self, values: Any, rng: Any = None) -> Any:
        try:
            return super().privatize(values, rng)
        except DataError as error:
            raise DataError(f"{values[-1]} is not in the domain.") from error


class ReadsFilesOtherwise(RandomizedResponse):
    """Takes what a file keeps as text for the next value."""

    def encode(self, values: Any) -> Any:
        codes = super().encode(values)
        return (codes + 1) % self.k if isinstance(values, DictionaryColumn) else codes


class RaisesOnJunk(RandomizedResponse):
    """Takes what comes for an array of whole numbers."""

    def tally(self, reports: Any) -> Tally:
        return super().tally(np.asarray(reports).astype(np.int64))


class DropsJunk(RandomizedResponse):
    """Leaves out what it refuses, and does not say so."""

    def tally(self, reports: Any) -> Tally:
        return replace(super().tally(reports), refused=0)


class CountsJunkTwice(RandomizedResponse):
    """Counts whatever it does not understand as two refusals."""

    def tally(self, reports: Any) -> Tally:
        tally = super().tally(reports)
        return replace(tally, refused=2 * tally.refused)


class CountsAllTwice(RandomizedResponse):
    def tally(self, reports: Any) -> Tally:
        tally = super().tally(reports)
        return tally + replace(tally, refused=0)


class JunkTakesOthersAlong(RandomizedResponse):
    """Refuses a report that it understands where it does not understand the one before."""

    def tally(self, reports: Any) -> Tally:
        tally = super().tally(reports)
        lost = min(int(tally.refused > 0), tally.n)
        counts = tally.counts.copy()
        counts[counts.argmax()] -= lost
        return replace(tally, counts=counts, n=tally.n - lost, refused=tally.refused + lost)


class RefusesEverybody(RandomizedResponse):
    def tally(self, reports: Any) -> Tally:
        tally = super().tally(reports)
        return replace(tally, counts=0 * tally.counts, n=0, refused=tally.n + tally.refused)


class SupportsTheNext(RandomizedResponse):
    """Says that a report supports the value after it."""

    def supports(self, reports: Any) -> Any:
        return np.roll(super().supports(reports), 1, axis=1)

    def likelihood(self, reports: Any) -> Any:
        return np.where(super().supports(reports), float(self.law.ratio), 1.0)

    def scores(self, reports: Any) -> Any:
        return (super().supports(reports) - float(self.q)) / float(self.p - self.q)


class SurerThanTheLaw(RandomizedResponse):
    """Says that reports tell more than they do."""

    def likelihood(self, reports: Any) -> Any:
        return super().likelihood(reports) ** 2


class BiasedScores(RandomizedResponse):
    """Takes nothing off for what chance supports."""

    def scores(self, reports: Any) -> Any:
        return self.supports(reports) / float(self.p)


class NamesAnother(RandomizedResponse):
    """Names the value after the one that it supports."""

    def named(self, reports: Any) -> Any:
        return (super().named(reports) + 1) % self.size


class TooMuchMass(RandomizedResponse):
    """Says that every message supports half of the prior at least."""

    def masses(self, prior: Any) -> Any:
        return super().masses(prior)._replace(least=Fraction(1, 2))


class HardToGuess(RandomizedResponse):
    """Says that nothing can be guessed."""

    @property
    def guessability(self) -> float:
        return 1 / self.size


CONTROLS: list[tuple[Callable[..., None], type[RandomizedResponse], str]] = [
    (testing.check_law, LessPrivate, "do not follow matrix"),
    (testing.check_law, MorePrivate, "do not follow matrix"),
    (testing.check_law, LiesToTheNeighbour, "do not follow matrix"),
    (testing.check_law, UnknownMessage, "not one of the messages"),
    (testing.check_law, NeverLies, "probability of zero"),
    (testing.check_guarantee, PromisesTooMuch, "not true of the law"),
    (testing.check_guarantee, PromisesTooLittle, "above the requested one"),
    (testing.check_guarantee, Wasteful, "far below"),
    (testing.check_guarantee, NeverLies, "not true of the law"),
    (testing.check_capabilities, SupportsTheNext, "names a value, and supports others"),
    (testing.check_capabilities, SurerThanTheLaw, "not proportional"),
    (testing.check_capabilities, BiasedScores, "scores of reports are biased"),
    (testing.check_capabilities, NamesAnother, "names a value, and supports others"),
    (testing.check_capabilities, TooMuchMass, "prior mass"),
    (testing.check_capabilities, HardToGuess, "best guess"),
    (testing.check_unbiased, Biased, "biased"),
    (testing.check_unbiased, Clipped, "biased"),
    (testing.check_variance, WrongFormula, "is not what variance"),
    (testing.check_variance, NoisierThanStated, "do not vary as stated"),
    (testing.check_variance, Clipped, "do not vary as stated"),
    (testing.check_coverage, ShortIntervals, "cover"),
    (testing.check_coverage, NoisierThanStated, "cover"),
    (testing.check_simulate, SimulatesAnother, "does not have the law"),
    (testing.check_simulate, SimulatesWithoutNoise, "does not have the law"),
    (testing.check_simulate, UnmarkedSimulation, "not marked"),
    (testing.check_simulate, LessPrivate, "does not have the law"),
    (testing.check_merge, LosesTheFirst, "lost reports"),
    (testing.check_merge, SplitMatters, "split"),
    (testing.check_merge, OrderMatters, "order"),
    (testing.check_merge, AnyTally, "another design"),
    (testing.check_round_trip, AnotherDigest, "does not carry the digest"),
    (testing.check_seeds, IgnoresTheSeed, "same seed does not"),
    (testing.check_seeds, OneNoiseForAll, "Two seeds"),
    (testing.check_seeds, RepeatsWithoutSeed, "Without a seed"),
    (testing.check_seeds, RepeatsItsEntropy, "Entropy used twice"),
    (testing.check_seeds, CountsThreads, "threads"),
    (testing.check_seeds, SameNoiseInEveryBlock, "share their noise"),
    (testing.check_single_use, RepeatsItsEntropy, "does not draw from the stream"),
    (testing.check_single_use, RepeatsWords, "repeats its output when it is called again"),
    (testing.check_single_use, AcceptsUsedWords, "takes words that were used before"),
    (testing.check_bad_input, ShowsTheValue, "shows the value"),
    (testing.check_bad_input, ShowsTheValueInItsCause, "shows the value"),
    (testing.check_bad_input, ShowsTheValueInItsContext, "shows the value"),
    (testing.check_bad_input, ShowsTheValueInANote, "shows the value"),
    (testing.check_bad_input, PlainErrors, "raise ValueError"),
    (testing.check_bad_input, AcceptsAnything, "are accepted"),
    (testing.check_bad_input, Grows, "just counted as refused"),
    (testing.check_sources, ReadsFilesOtherwise, "have other reports"),
    (testing.check_hostile_reports, RaisesOnJunk, "in a list raise ValueError"),
    (testing.check_hostile_reports, DropsJunk, "lost or count twice"),
    (testing.check_hostile_reports, CountsJunkTwice, "lost or count twice"),
    (testing.check_hostile_reports, CountsAllTwice, "lost or count twice"),
    (testing.check_hostile_reports, JunkTakesOthersAlong, "do not count as they do without"),
    (testing.check_hostile_reports, RefusesEverybody, "are refused"),
    (testing.check_silence, Logs, "a log record"),
    (testing.check_silence, Prints, "prints"),
    (testing.check_silence, Warns, "warns"),
    (testing.check_silence, Remembers, "repr of the oracle changes"),
    (testing.check_silence, TellsInErrors, "shown by a DataError"),
    (testing.check_silence, ShowsTheValueInItsCause, "shown by a ValueError"),
    (testing.check_silence, ShowsTheValueInItsContext, "shown by a ValueError"),
    (testing.check_silence, ShowsTheValueInANote, "shown by a DataError"),
]


#: What a document has beside its body.
_SEAL = ("format", "digest")


def read(kind: type[RandomizedResponse]) -> Callable[[Any], RandomizedResponse]:
    """Make a class of this file again from its `to_dict`."""
    return lambda body: kind(epsilon=body["epsilon"], k=Categories.from_dict(body["domain"]).k)


def _run(check: Callable[..., None], oracle: RandomizedResponse) -> None:
    extra = {"read": read(type(oracle))} if check is testing.check_round_trip else {}
    check(oracle, **extra)


def _ids(item: Any) -> str:
    return getattr(item, "__name__", "")


@pytest.mark.audit(share=3)
@pytest.mark.filterwarnings("ignore:large")
@pytest.mark.parametrize(("check", "kind", "words"), CONTROLS, ids=_ids)
def test_a_broken_mechanism_fails_and_is_told_why(
    check: Callable[..., None], kind: type[RandomizedResponse], words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        _run(check, kind(epsilon=1.0, k=4))


#: Checks that run all others, and those that are broken in tests/laws and in tests/releases/test_base.py.
AFTER_BOOKING = ("check_after_booking", "check_model_after_booking", "check_release_after_booking")
BROKEN_ELSEWHERE = ("check_oracle", "check_number", "check_mean", "check_release", "check_canary", *AFTER_BOOKING)


@pytest.mark.parametrize("name", [name for name in testing.__all__ if name not in BROKEN_ELSEWHERE])
def test_every_law_has_a_mechanism_that_breaks_it(name: str) -> None:
    assert getattr(testing, name) in {check for check, _, _ in CONTROLS}


@pytest.mark.audit
def test_check_oracle_passes_an_honest_class_of_ones_own() -> None:
    class MyOwn(RandomizedResponse):
        pass

    assert testing.check_oracle(MyOwn(epsilon=1.5, k=5), read=read(MyOwn)) is None


@pytest.mark.audit
@pytest.mark.parametrize("kind", [PromisesTooMuch, LessPrivate, Biased, SplitMatters, IgnoresTheSeed, Grows, Prints])
def test_check_oracle_finds_what_the_single_checks_find(kind: type[RandomizedResponse]) -> None:
    with pytest.raises(AssertionError):
        testing.check_oracle(kind(epsilon=1.0, k=4), read=read(kind))


def test_an_error_about_an_impossible_report_is_a_failure() -> None:
    with pytest.raises(DataError):
        testing.check_bad_input(RaisesOnImpossible(epsilon=1.0, k=4))


def test_a_design_that_does_not_say_all_is_another_when_read_back() -> None:
    oracle = ForgetsTheOdds.with_odds(3, 1, k=3)
    with pytest.raises(AssertionError, match="does not say all"):
        testing.check_round_trip(oracle, read=read(ForgetsTheOdds))


def test_damage_that_goes_unnoticed_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    read_strictly = Tally.from_json.__func__  # type: ignore[attr-defined]

    def read_kindly(kind: type[Tally], text: str) -> Tally:
        body = json.loads(text)
        return read_strictly(kind, documents.seal("bruit.tally/1", {k: body[k] for k in body if k not in _SEAL}))

    monkeypatch.setattr(Tally, "from_json", classmethod(read_kindly))
    with pytest.raises(AssertionError, match="damaged tally was read"):
        testing.check_round_trip(RandomizedResponse(epsilon=1.0, k=3))


def test_a_sample_too_small_to_tell_is_a_failure_not_a_success() -> None:
    with pytest.raises(AssertionError, match="nothing was shown"):
        testing.check_law(RandomizedResponse(epsilon=0.1, k=8), most=20_000)


def test_reports_too_seldom_noisy_to_tell_seeds_apart_are_a_failure() -> None:
    with pytest.raises(AssertionError, match="cannot be told apart"):
        testing.check_seeds(RandomizedResponse(epsilon=20.0, k=2))


def test_checks_leave_the_environment_and_the_root_logger_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRUIT_THREADS", "2")
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    testing.check_seeds(RandomizedResponse(epsilon=1.0, k=2))
    testing.check_silence(RandomizedResponse(epsilon=1.0, k=2))
    assert (root.level, list(root.handlers)) == before
    assert memory.threads() == 2


@pytest.mark.audit
def test_the_checks_need_no_pytest_and_work_without_assert_statements() -> None:
    code = (
        "import sys; sys.modules['pytest'] = None\n"
        "from bruit import testing\n"
        "from bruit.oracles import RandomizedResponse\n"
        "class Bad(RandomizedResponse):\n"
        "    def _check_tally(self, tally): pass\n"
        "try: testing.check_merge(Bad(epsilon=1.0, k=3))\n"
        "except AssertionError: print('caught')\n"
    )
    run = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout == "caught\n"
