"""No public draw of a secure stream uses words that were used before; what does breaks the law."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.dummy import DummyClassifier

from bruit import attacks, audit, engines, learning, numbers, oracles, releases, testing
from bruit.collection import RSRFD, SMP, LongitudinalMean, OpenQuestion, Plan, Repeat
from bruit.domains import Categories, Grid
from bruit.entropy import Entropy, Words
from bruit.errors import RandomnessError
from bruit.open_answers import RAPPOR, HeavyHitters
from bruit.privacy import Ledger
from bruit.publications import Publication, Request, publish
from bruit.releases import (
    AboveThreshold,
    Count,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Release,
    StaircaseNoise,
)
from bruit.releases.quantiles.points import RecordPoints
from bruit.testing import single_use

SCHEMA = {"a": ["0", "1", "2"], "b": Categories(labels=("x", "y"), missing="category"), "c": Grid(0, 9)}
CATEGORIES = {"a": ["0", "1", "2"], "b": ["x", "y"]}
COHORTS, ANSWERS = RAPPOR(epsilon=1.0, epoch_epsilon=2.0, bits=16), ["noise", "bus", "noise"] * 4
COHORT_MEMOS = COHORTS.memoize(ANSWERS)
WHY, REASONS = OpenQuestion("why", HeavyHitters(2.0)), {"why": np.array(["noise", "bus", "noise"])}
PRIOR = {"a": [0.5, 0.3, 0.2], "b": [0.5, 0.5]}

PLANS = [
    Plan({"a": ["0", "1", "2"]}, 1.0, "GRR"),
    Plan({"c": Grid(0, 9)}, 1.0, "piecewise"),
    Plan(SCHEMA, 2.0, "SPL[GRR]"),
    Plan(SCHEMA, 2.0, "SMP[OLH]"),
    Plan(CATEGORIES, 2.0, SMP("OUE", assign="rotation")),
    Plan(CATEGORIES, 2.0, "RS+FD[GRR]"),
    Plan(CATEGORIES, 2.0, "RS+FD[OUE-z]"),
    Plan(CATEGORIES, 2.0, RSRFD(prior=PRIOR)),
]

NOISES = [DiscreteLaplace(Fraction(100)), DiscreteGaussian(Fraction(25, 4)), StaircaseNoise.calibrate(10, 1.0)]

SESSIONS = [
    AboveThreshold(epsilon=1.0, threshold=100),
    AboveThreshold(epsilon=0.5, threshold=0, monotone=True),
    AboveThreshold(epsilon=1.0, threshold=100, answers_above=3),
]


@pytest.mark.audit("RS+FD[OUE-z]-2", "RS+RFD[ADP]-2", "SMP[OLH]-3", "SMP[OUE]-2", "SPL[GRR]-3", "piecewise-1")
@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.method}-{len(plan.schema)}")
def test_a_plan_uses_words_once(plan: Plan) -> None:
    assert testing.check_single_use(plan) is None


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
def test_a_noise_uses_words_once(noise: Any) -> None:
    assert testing.check_single_use(noise) is None


def test_every_public_noise_and_every_method_of_a_plan_is_checked() -> None:
    public = {item for item in vars(releases).values() if inspect.isclass(item) and issubclass(item, releases.Noise)}
    assert {type(noise) for noise in NOISES} == public - {releases.Noise}
    assert {type(plan.design).__name__ for plan in PLANS} == {"Single", "Split", "Sample", "Rotation", "Fake"}


@pytest.mark.parametrize("design", SESSIONS, ids=["plain", "monotone", "several"])
def test_a_session_uses_words_once(design: AboveThreshold) -> None:
    assert testing.check_single_use(design) is None


def test_the_noise_within_a_session_does_not_repeat() -> None:
    """Blocks of answers have words of their own: with a threshold out of reach, all noise of a session is seen."""
    session = AboveThreshold(epsilon=0.1, threshold=10**9).start()
    drawn = np.concatenate([session._next_noise(size) for size in (1, 300, 700, 1, 2000)])
    windows = {drawn[i : i + 12].tobytes() for i in range(len(drawn) - 12)}
    assert len(windows) == len(drawn) - 12


def test_a_grouped_release_uses_words_once() -> None:
    release = Release(Count(epsilon=0.5), by={"g": ["F", "M"]})
    raw = release.fold({"g": ["F", "M", "F"]})
    assert testing.check_single_use(lambda entropy: release.publish(raw, rng=entropy)["count"].values) is None


# Every public verb, in any order.

GRR = oracles.oracle("GRR", epsilon=1.0, k=4)
SUBSETS = oracles.SubsetSelection(epsilon=1.0, k=6)
WAVE = numbers.SquareWave(epsilon=1.0, bounds=(0.0, 1.0), cells=8)
NUMBER = WAVE.estimate(WAVE.simulate([100] * 8, rng=1))
DISTRIBUTION = NUMBER.distribution()
QUANTILES = releases.Quantiles(bounds=(0, 10), epsilon=1.0, quantiles=(0.5,), cells=100)
COUNTS = QUANTILES.count({"values": np.linspace(0.0, 10.0, 20)})
EDGES = releases.HistogramQuantiles(bounds=(0, 10), epsilon=1.0, cells=100)
CROSSED = releases.Tables({"a": ["0", "1"], "b": ["x", "y", "z"]}, epsilon=1.0, delta=1e-6)
MEAN = releases.InverseSensitivity(statistic="mean", bounds=(0, 10), epsilon=1.0)
FAKES = Plan(CATEGORIES, 2.0, "RS+FD[GRR]")
TABLE = {"a": ["0", "1", "2"] * 4, "b": ["x", "y"] * 6}
CODES, AGES, TEXTS = np.arange(20) % 4, np.linspace(0.0, 10.0, 20), ["u", "v"] * 10
X, Y = np.linspace(0.0, 1.0, 20).reshape(10, 2), np.arange(10) % 2
RAW = Count(epsilon=1.0).fold(AGES)
PANEL = oracles.Repeated(GRR, 2.0)
MEMOS = PANEL.memoize(CODES)
LINKED = oracles.LongitudinalHashing(oracles.oracle("OLH", epsilon=1.0, k=4), 2.0)
LINKED_PEOPLE = LINKED.start(20)
FLIPPED = oracles.DBitFlip(epsilon=1.0, held=2, k=4)
THRESHOLDS = LongitudinalMean(numbers.Duchi(epsilon=1.0, bounds=(0.0, 10.0)), 2.0)
THRESHOLD_PEOPLE = THRESHOLDS.start(20)
TOWN = numbers.MetricPlane(epsilon=0.1, x=(0, 100), y=(0, 100))
TOWN_CODES = TOWN.encode(np.stack([AGES, AGES], axis=1))
FOLDER = tempfile.TemporaryDirectory()
MEMORY = oracles.Memory.create(f"{FOLDER.name}/memory", PANEL)

ROUNDS = Plan(CATEGORIES, 2.0, "SPL[GRR]", repeat=Repeat(3, epoch_epsilon=3.0))
ROUND_MEMOS = ROUNDS.panel.memoize(TABLE)

VISITS = {"user": np.repeat(np.arange(200), 5), "zone": np.tile(np.arange(5), 200)}
PEOPLE = Release(releases.Histogram("zone", domain=list(range(5)), epsilon=1.0), person=releases.Person("user", rows=1))
GUIDE = releases.LimitsGuide(releases.Count(epsilon=1.0), "user", {"zone": range(5)})
DAYS = releases.ContinualCount(steps=4, epsilon=1.0, delta=0.01)
IN_ZONES = releases.Person("user", groups=1, rows_per_group=1)
NAMED = releases.Count(epsilon=1.0, delta=0.01)
ZONES = Release({"zones": NAMED}, "zone", IN_ZONES)
GEOMETRIC = releases.SelectionNoise(Fraction(1), Fraction(1, 100))
ZONES_RAW = ZONES.fold(VISITS, 1)
ZONE_SUMS = Release({"count": NAMED, "sum": releases.Sum("zone", bounds=(0, 9), epsilon=1.0)}, "zone", IN_ZONES)
ZONE_SUMS_RAW = ZONE_SUMS.fold(VISITS, 1)


UNION = Release.union([PEOPLE, ZONES])
UNION_TALLY = UNION.fold(VISITS, 1)
PUBLICATION = Publication(
    "Visits", "visits", [Request("people", "histogram", "zone=0..4", person=releases.Person("user", rows=1))], 1.0,
    Path("ledger"), budget={"epsilon": 1e6}, page=False, folder=Path(FOLDER.name),
)  # fmt: skip


def published(entropy: Entropy) -> Any:
    """A new edition for every call."""
    edition = secrets.token_hex(8)
    plan = dataclasses.replace(PUBLICATION, edition=edition, output=Path(edition))
    return publish(plan, VISITS, entropy)["people"].values


def kept(entropy: Entropy) -> Any:
    """One more result for every call, beside one ledger."""
    ledger = Ledger.open(Path(FOLDER.name) / "kept.ledger", epsilon=1e6)
    return releases.publish_once(Count(epsilon=0.1).alone, AGES, ledger, entropy, again=True)


def test_a_union_uses_words_once() -> None:
    assert (
        testing.check_single_use(lambda entropy: UNION.publish(UNION_TALLY, rng=entropy)["histogram of zone"].values)
        is None
    )


def words_of(entropy: Entropy) -> Words:
    return Words.resolve(entropy, "test", "")


def drawn_by_map(entropy: Entropy) -> Any:
    out: list[Any] = []
    engines.map({"x": CODES}, out, lambda batch, words: {"y": GRR.randomize(batch["x"], words)}, rng=entropy)
    return out[0]["y"]


def responses(value: int, trials: int, entropy: Entropy) -> Any:
    return GRR.privatize([value] * trials, rng=entropy)


#: A model that learnt nothing.
RULE = DummyClassifier().fit(X, Y)


def privatizer(entropy: Entropy) -> Any:
    return learning.LocalPrivatizer(epsilon=2.0, bounds=(0.0, 1.0), rng=entropy)


#: How every public function and method that takes randomness is called, by where it is defined.
CALLS: dict[str, Callable[[Entropy], Any]] = {
    "entropy.Entropy.resolve": lambda e: Entropy.resolve(e, "verb", "design").words(2),
    "entropy.Words.resolve": lambda e: [part.stream().words(2) for part in words_of(e).split(2)],
    "estimation.distribution.DistributionEstimate.bootstrap": lambda e: DISTRIBUTION.bootstrap(20, rng=e),
    "estimation.number.NumberEstimate.table": lambda e: NUMBER.table(quantiles=[0.5], rng=e).to_csv(),
    "engines.running.map": drawn_by_map,
    "releases.person.Person.bounded": lambda e: releases.Person("user", rows=1).bounded(VISITS, rng=e)["zone"],
    "releases.release.Release.fold": lambda e: PEOPLE.fold(VISITS, e).reveal(design=PEOPLE.digest),
    "publications.publishing.publish": published,
    "releases.limits.LimitsGuide.fold": lambda e: GUIDE.fold(VISITS, e).reveal(design=GUIDE.digest),
    "releases.limits.LimitsGuide.publish": lambda e: GUIDE.publish(GUIDE.fold(VISITS, 1), rng=e).errors,
    "releases.limits.choose_limits": lambda e: (
        releases.choose_limits(VISITS, releases.Count(epsilon=1.0), person="user", by={"zone": range(5)}, rng=e).errors
    ),
    "releases.kept.publish_once": lambda e: kept(e).result["count"].values,
    "releases.continual.ContinualCount.start": lambda e: DAYS.start(rng=e).add(5, rng=e).values,
    "releases.continual.ContinualSeries.add": lambda e: DAYS.start(rng=e).add(5, rng=e).values,
    "releases.release.Release.bounded": lambda e: list(PEOPLE.bounded(releases.Person("user", rows=1), e).key),
    "releases.groups._Fixed.draw": lambda e: (
        PEOPLE.grouping.draw(PEOPLE.parts[0], [[np.arange(5)]], words_of(e))["histogram of zone"].values
    ),
    "releases.groups.SelectedGroups.draw": lambda e: ZONE_SUMS.publish(ZONE_SUMS_RAW, rng=e)["sum"].values,
    "releases.groups.SelectedGroups.named": lambda e: ZONES.grouping.named(
        {label: int(numbers[0]) for label, numbers in ZONES_RAW.reveal(design=ZONES.digest).items()}, words_of(e)
    )[1],
    "releases.selection.SelectionNoise.draw": lambda e: releases.SelectionNoise(Fraction(1), Fraction(1, 100)).draw(
        40, e
    ),
    "randomizer.Randomizer.privatize": lambda e: GRR.privatize(CODES, rng=e),
    "mechanism.LocalMechanism.randomize": lambda e: GRR.randomize(CODES, words_of(e)),
    "mechanism.LocalMechanism.simulate": lambda e: GRR.simulate([5] * 4, rng=e),
    "oracles.subset_selection.SubsetSelection.simulate_marginal": lambda e: SUBSETS.simulate_marginal([5] * 6, rng=e),
    "oracles.base.Oracle.refresh": lambda e: SUBSETS.refresh(SUBSETS.privatize([1, 2]), Fraction(1, 2), words_of(e)),
    "oracles.repeated.Repeated.memoize": lambda e: PANEL.memoize(CODES, rng=e),
    "oracles.repeated.Repeated.answer": lambda e: PANEL.answer(MEMOS, rng=e),
    "oracles.repeated.Repeated.remember": lambda e: PANEL.remember(CODES, words_of(e)),
    "oracles.repeated.Repeated.report": lambda e: PANEL.report(MEMOS, words_of(e)),
    "oracles.repeated.Repeated.simulate": lambda e: PANEL.simulate([50] * 4, rounds=2, rng=e).frequency,
    "oracles.following.FollowedChanges.start": lambda e: LINKED.start(20, rng=e),
    "oracles.following.FollowedChanges.answer": lambda e: LINKED.answer(LINKED_PEOPLE, CODES, rng=e),
    "oracles.following.FollowedChanges.remember": lambda e: LINKED.remember(LINKED.encode(CODES), words_of(e)),
    "oracles.following.FollowedChanges.report": lambda e: LINKED.report(
        LINKED.select(LINKED_PEOPLE, LINKED.encode(CODES)), words_of(e)
    ),
    "oracles.longitudinal_hashing.LongitudinalHashing.report": lambda e: LINKED.report(
        LINKED.select(LINKED_PEOPLE, LINKED.encode(CODES)), words_of(e)
    ),
    "oracles.bit_flip.DBitFlip.report": lambda e: FLIPPED.report(
        FLIPPED.select(FLIPPED.start(20, rng=e), FLIPPED.encode(CODES)), words_of(e)
    ),
    "oracles.bit_flip.DBitFlip.randomize": lambda e: FLIPPED.randomize(FLIPPED.encode(CODES), words_of(e)),
    "numbers.metric_plane.MetricPlane.randomize": lambda e: TOWN.randomize(TOWN_CODES, words_of(e)),
    "collection.longitudinal_mean.LongitudinalMean.report": lambda e: THRESHOLDS.report(
        THRESHOLDS.select(THRESHOLD_PEOPLE, THRESHOLDS.encode(AGES)), words_of(e)
    ),
    "oracles.memory.Memory.report": lambda e: MEMORY.report(1, round=MEMORY.rounds(), rng=e),
    "oracles.memory.Memory.reports": lambda e: MEMORY.reports([1], ["a"], round=MEMORY.rounds(person="a"), rng=e),
    "collection.open_question.OpenQuestion.privatize": lambda e: WHY.privatize(REASONS, rng=e),
    "collection.open_question.OpenQuestion.randomize": lambda e: WHY.randomize(WHY.encode(REASONS), words_of(e)),
    "open_answers.heavy_hitters.HeavyHitters.privatize": lambda e: WHY.mechanism.privatize(REASONS["why"], rng=e),
    "open_answers.heavy_hitters.HeavyHitters.randomize": lambda e: WHY.mechanism.randomize(
        WHY.encode(REASONS), words_of(e)
    ),
    "open_answers.rappor.RAPPOR.memoize": lambda e: COHORTS.memoize(ANSWERS, rng=e),
    "open_answers.rappor.RAPPOR.remember": lambda e: COHORTS.remember(COHORTS.encode(ANSWERS), words_of(e)),
    "open_answers.rappor.RAPPOR.answer": lambda e: COHORTS.answer(COHORT_MEMOS, rng=e),
    "open_answers.rappor.RAPPOR.report": lambda e: COHORTS.report(COHORT_MEMOS, words_of(e)),
    "open_answers.cohorts.CohortMechanism.randomize": lambda e: COHORTS.randomize(COHORTS.encode(ANSWERS), words_of(e)),
    "open_answers.cohorts.CohortMechanism.simulate": lambda e: COHORTS.simulate({"noise": 20, "bus": 5}, rng=e),
    "collection.panel.Panel.memoize": lambda e: ROUNDS.panel.memoize(TABLE, rng=e),
    "collection.panel.Panel.answer": lambda e: ROUNDS.panel.answer(ROUND_MEMOS, rng=e),
    "collection.panel.Panel.remember": lambda e: ROUNDS.panel.remember(ROUNDS.encode(TABLE), words_of(e)),
    "collection.panel.Panel.report": lambda e: ROUNDS.panel.report(ROUND_MEMOS, words_of(e)),
    "collection.plan.Plan.privatize": lambda e: FAKES.privatize(TABLE, rng=e),
    "collection.plan.Plan.randomize": lambda e: FAKES.randomize(FAKES.schema.encode(TABLE), words_of(e)),
    "collection.plan.Plan.simulate": lambda e: FAKES.simulate({"a": [3, 2, 1], "b": [3, 3]}, rng=e),
    "releases.above_threshold.AboveThreshold.start": lambda e: SESSIONS[0].start(rng=e).first([10] * 600),
    "releases.above_threshold.AboveThresholdSession.__init__": lambda e: releases.AboveThresholdSession(
        SESSIONS[0], words_of(e)
    ).first([10]),
    "releases.statistic.Statistic.release": lambda e: Count(epsilon=1.0).release(RAW, rng=e),
    "releases.statistic.AdditiveStatistic.publish": lambda e: Count(epsilon=1.0).publish(np.array([5]), words_of(e)),
    "releases.statistic.Statistic.publish": lambda e: QUANTILES.publish(COUNTS, words_of(e)),
    "releases.quantiles.ranked.Quantiles.publish": lambda e: QUANTILES.publish(COUNTS, words_of(e)),
    "releases.quantiles.histogram.HistogramQuantiles.publish": lambda e: EDGES.publish(np.arange(100), words_of(e)),
    "releases.tables.Tables.publish": lambda e: CROSSED.publish(np.arange(6), words_of(e)),
    "releases.inverse_sensitivity.InverseSensitivity.publish": lambda e: MEAN.publish(np.arange(1025), words_of(e)),
    "releases.release.Release.publish": lambda e: Count(epsilon=1.0).alone.publish(RAW, rng=e),
    "releases.release.release": lambda e: releases.release(AGES, Count(epsilon=1.0), rng=e),
    "releases.noise.Noise.draw": lambda e: NOISES[0].draw(5, e),
    "releases.noise.Noise.sample": lambda e: NOISES[0].sample(5, words_of(e)),
    "releases.noise.KernelNoise.sample": lambda e: NOISES[1].sample(5, words_of(e)),
    "releases.exponential.Exponential.choose": lambda e: Exponential.calibrate(1.0).choose([0, 1, 2], e),
    "releases.exponential.Exponential.draw": lambda e: Exponential.calibrate(1.0).draw([1, 2], e),
    "releases.quantiles.ranked.Quantiles.draw_places": lambda e: QUANTILES.draw_places(
        RecordPoints(QUANTILES.count({"values": AGES})), e
    ),
    **{
        f"learning.additive.{module}.{name}.__init__": lambda e, name=name: getattr(learning, name)(
            epsilon=10.0, bounds=(0, 1), classes=[0, 1], rng=e
        ).fit(X, Y)
        for module, name in (("classifier", "AdditiveClassifier"), ("logistic_regression", "LogisticRegression"))
    },
    "learning.additive.regressor.AdditiveRegressor.__init__": lambda e: learning.AdditiveRegressor(
        epsilon=10.0, bounds=(0, 1), target_bounds=(0, 1), rng=e
    ).fit(np.tile(X, (500, 1)), np.tile(Y, 500)),
    "learning.kmeans.model.KMeans.__init__": lambda e: learning.KMeans(1, epsilon=1.0, bounds=(0, 1), rng=e).fit(X),
    "learning.linear_regression.model.LinearRegression.__init__": lambda e: learning.LinearRegression(
        epsilon=1.0, bounds=(0, 1), target_bounds=(0, 1), random_state=e
    ).fit(X, Y),
    "learning.privatizer.LocalPrivatizer.__init__": lambda e: privatizer(e).fit_transform(X),
    "learning.naive_bayes.model.NaiveBayes.__init__": lambda e: learning.NaiveBayes(
        epsilon=1.0, bounds=(0, 1), classes=[0, 1], rng=e
    ).fit(X, Y),
    "learning.local_naive_bayes.LocalNaiveBayes.__init__": lambda e: learning.LocalNaiveBayes(
        epsilon=1.0, bounds={"x": [0, 1]}, classes=[0, 1], rng=e
    ).fit({"x": [0, 1] * 200}, [0, 1] * 200),
    "learning.honest.honest_split": lambda e: learning.honest_split(
        X, Y, privatizer(Entropy(1)), classes=[0, 1], epsilon=1.0, random_state=0, rng=e
    ),
    "learning.honest.randomize_labels": lambda e: learning.randomize_labels(Y, epsilon=1.0, classes=[0, 1], rng=e),
    "learning.scores.score.private_score": lambda e: learning.private_score(RULE, X, Y, epsilon=1.0, rng=e),
    "learning.scores.cross.private_cross_score": lambda e: learning.private_cross_score(
        learning.NaiveBayes(epsilon=1.0, bounds=(0, 1), classes=[0, 1], random_state=1),
        X,
        Y,
        folds=2,
        epsilon=1.0,
        rng=e,
    ),
    "attacks.guess.best_guess": lambda e: attacks.best_guess(GRR, CODES, rng=e),
    "attacks.people.draw_people": lambda e: attacks.draw_people(FAKES.schema, {}, 5, rng=e),
    "attacks.guess.guess": lambda e: attacks.guess(GRR, CODES, rng=e),
    "attacks.reidentification.reidentification": lambda e: attacks.reidentification([FAKES] * 2, TABLE, top=[1], rng=e),
    "attacks.sampled_attribute.sampled_attribute": lambda e: attacks.sampled_attribute(FAKES, TABLE, rng=e),
    "attacks.rounds.averaging": lambda e: attacks.averaging(PANEL, rounds=[1, 2], n=20, rng=e),
    "attacks.rounds.change_detection": lambda e: attacks.change_detection(PANEL, rounds=4, n=20, rng=e),
    "audit.empirical.empirical": lambda e: audit.empirical(responses, 0, 1, trials=100, rng=e),
    "audit.plans.empirical_plan": lambda e: audit.empirical_plan(FAKES, trials=100, rng=e),
}

#: They take a seed, and nothing else.
SEEDS_ONLY = {"attacks.risks.risks"}
PACKAGES = ("entropy", "privacy", "domains", "estimation", "engines", "mechanism", "oracles", "numbers", "collection")
PACKAGES += ("open_answers",)
PACKAGES += ("releases", "learning", "attacks", "datasets", "audit", "figures", "publications")
RANDOMNESS = {"rng", "entropy", "words", "random_state"}


def public_functions(package: str) -> Iterator[Any]:
    module = importlib.import_module(f"bruit.{package}")
    for name in getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]):
        item = getattr(module, name)
        if inspect.isfunction(item):
            yield item
        elif inspect.isclass(item) and item.__module__.startswith("bruit."):
            members = [
                getattr(item, name, None) for name in dir(item) if not name.startswith("_") or name == "__init__"
            ]
            methods = (member for member in members if inspect.isfunction(member) or inspect.ismethod(member))
            # Those that a class of scikit-learn has draw nothing of a person's.
            yield from (method for method in methods if not method.__module__.startswith("sklearn."))


def test_every_public_function_that_takes_randomness_is_among_those_that_are_called() -> None:
    names = {
        f"{function.__module__}.{function.__qualname__}".removeprefix("bruit.")
        for package in PACKAGES
        for function in public_functions(package)
        if RANDOMNESS & set(inspect.signature(function).parameters)
    }
    assert names - SEEDS_ONLY == set(CALLS)


def test_no_public_function_takes_the_number_of_a_block() -> None:
    for package in PACKAGES:
        for function in public_functions(package):
            if function.__module__ == "bruit.entropy":
                continue  # where words are numbered
            assert not {"first_block", "block"} & set(inspect.signature(function).parameters), function


def test_every_public_verb_uses_words_once_in_any_order_in_threads_and_after_a_fork() -> None:
    assert testing.check_single_use(CALLS, outputs=False) is None


CHEAP = [name for name in CALLS if name.split(".")[0] not in ("learning", "attacks", "audit", "estimation")]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(CHEAP), st.sampled_from(["same", "spawned", "words"])), max_size=12))
def test_no_sequence_of_verbs_repeats_a_stream(sequence: list[tuple[str, str]]) -> None:
    log = single_use._Log()
    entropy = log.entropy()
    for name, way in sequence:
        if way == "words":
            entropy.words(3)
        CALLS[name](entropy.spawn() if way == "spawned" else entropy)
    log.check("A sequence of verbs")


# Controls: each breaks the law in one way, and must be found.


class DrawsByNumber(DiscreteLaplace):
    """What bruit did once: block i of every draw from a stream whose key is made of the parent's key and i."""

    def draw(self, size: int, rng: Any = None) -> Any:
        return self.sample(size, Words._under(rng._current().key, rng.secure, type(rng)))


class RepeatsWordsUnderAnotherScale(DrawsByNumber):
    """The same words at every call, and no two outputs alike: what is drawn is scaled."""

    def draw(self, size: int, rng: Any = None) -> Any:
        return (1 + int(rng.words(1)[0] % 1_000_000)) * super().draw(size, rng)


class KeepsItsNoise(DiscreteLaplace):
    def draw(self, size: int, rng: Any = None) -> Any:
        kept = self.__dict__.setdefault("kept", super().draw(size, rng))
        rng.words(1)
        return kept


class KeepsAFewNoises(DiscreteLaplace):
    """Every seventh draw is the first one."""

    def draw(self, size: int, rng: Any = None) -> Any:
        turn = self.__dict__["turn"] = self.__dict__.get("turn", -1) + 1
        drawn = super().draw(size, rng)
        return self.__dict__.setdefault(f"kept {turn % 7}", drawn)


class KeepsAGenerator(DiscreteLaplace):
    """A generator of NumPy that is seeded once, for the whole program: forks go on with it."""

    def draw(self, size: int, rng: Any = None) -> Any:
        generator = self.__dict__.setdefault("generator", rng.generator())
        rng.words(1)
        return generator.integers(0, 1000, size)


class OneGeneratorPerThread(DiscreteLaplace):
    """A generator for each thread, seeded by how many draws it has made."""

    local = threading.local()

    def draw(self, size: int, rng: Any = None) -> Any:
        self.local.turn = getattr(self.local, "turn", 0) + 1
        rng.words(1)
        return np.random.default_rng(self.local.turn).integers(0, 1000, size)


class TakesUsedWords(DiscreteLaplace):
    def sample(self, size: int, words: Words) -> Any:
        try:
            return super().sample(size, words)
        except RandomnessError:
            return super().sample(size, Words(3))


class SameWordsInEveryBlock(DiscreteLaplace):
    def sample(self, size: int, words: Words) -> Any:
        own = words.stream()
        key = own.bytes(32)
        parts = [Words._under(key, words.secure, type(own)) for _ in range(0, size, 65_536)]
        pieces = [super(SameWordsInEveryBlock, self).sample(min(size, 65_536), part) for part in parts]
        return np.concatenate(pieces)[:size]


BROKEN: list[tuple[Any, str]] = [
    (DrawsByNumber, "repeats its output when it is called again"),
    (RepeatsWordsUnderAnotherScale, "A mixture of calls uses the same random words twice"),
    (KeepsItsNoise, "for independent streams are equal 300 of 300 times"),
    (KeepsAFewNoises, "repeats its output when it is called again"),
    (KeepsAGenerator, "repeats its output after a fork"),
    (OneGeneratorPerThread, "repeats its output in another thread"),
    (TakesUsedWords, "sample takes words that were used before"),
    (SameWordsInEveryBlock, "sample of several blocks uses the same random words twice"),
]


@pytest.mark.audit(share=3)
@pytest.mark.parametrize(("kind", "words"), BROKEN, ids=lambda item: getattr(item, "__name__", ""))
def test_a_noise_that_repeats_breaks_the_law(kind: Any, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        testing.check_single_use(kind(Fraction(100)))


def test_what_holds_its_noise_or_ignores_the_stream_breaks_the_law() -> None:
    held = Entropy()
    with pytest.raises(AssertionError, match="does not draw from the stream"):
        testing.check_single_use(lambda entropy: held.words(5))
    with pytest.raises(AssertionError, match="too little to tell"):
        testing.check_single_use(lambda entropy: entropy.words(1)[0] > 0)


class _Repeated(Release):
    def publish(self, raw: Any, ledger: Any = None, rng: Any = None, *, label: Any = None) -> Any:
        words = Words._under(rng._current().key, rng.secure, type(rng))
        return {"count": self.statistics["count"].publish(raw.reveal(design=self.digest), words)}


class RepeatsRelease(Count):
    alone = property(_Repeated)  # type: ignore[assignment]


class _OneSeed(Release):
    def publish(self, raw: Any, ledger: Any = None, rng: Any = None, *, label: Any = None) -> Any:
        rng.words(1)
        return super().publish(raw, ledger, 7, label=label)


class OneNoiseForAll(Count):
    alone = property(_OneSeed)  # type: ignore[assignment]


class RepeatsSession(AboveThreshold):
    def start(self, ledger: Any = None, rng: Any = None, *, label: Any = None) -> Any:
        return releases.AboveThresholdSession(self, Words._under(rng._current().key, rng.secure, type(rng)))


class RepeatsPlan(Plan):
    def privatize(self, table: Any, rng: Any = None) -> Any:
        key = rng._current().key
        rng.words(1)
        return self.randomize(self.schema.encode(table), Words._under(key, rng.secure, type(rng)))


@pytest.mark.audit("OneNoiseForAll")
@pytest.mark.parametrize(
    ("subject", "words"),
    [
        (RepeatsRelease(epsilon=0.1), "publish repeats its output when it is called again"),
        (OneNoiseForAll(epsilon=0.1), "its noise repeats"),
        (RepeatsSession(epsilon=0.1, threshold=9), "start repeats its output when it is called again"),
        (RepeatsPlan(CATEGORIES, 1.0, "SPL[GRR]"), "privatize repeats its output when it is called again"),
    ],
    ids=lambda item: type(item).__name__,
)
def test_a_release_a_session_or_a_plan_that_repeats_breaks_the_law(subject: Any, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        testing.check_single_use(subject)


def test_an_error_in_a_thread_or_in_a_forked_process_is_not_a_success() -> None:
    main = threading.get_ident()

    def fails_elsewhere(entropy: Entropy) -> Any:
        if threading.get_ident() != main:
            raise ValueError("elsewhere")
        return entropy.words(4)

    with pytest.raises(ValueError, match="elsewhere"):
        testing.check_single_use(fails_elsewhere)
