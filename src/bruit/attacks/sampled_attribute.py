"""Finding the attribute that was told truly among the fakes of RS+FD and RS+RFD.

P(attribute j was sampled | reports) is proportional to Σₓ fⱼ(x)·P(yⱼ | x) / Fⱼ(yⱼ), with f the frequencies and F the
law of fakes: only the marginal frequencies count, whatever attributes have to do with each other. Who knows f and F
cannot do better than to name the largest; f comes from the reports themselves. A classifier that learns from replayed
collections comes near this rate, and does not pass it but by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.attacks import _classifiers as classifiers
from bruit.attacks._replay import Fakes, features, replay, with_fakes
from bruit.attacks.people import draw_codes, how_many
from bruit.attacks.result import AttackResult, rows, scored
from bruit.collection import Plan
from bruit.collection.design import Reports
from bruit.collection.fake import Fake
from bruit.entropy import Randomness, Words
from bruit.errors import DataError, ParameterError
from bruit.estimation import Estimate
from bruit.estimation.consistency import norm_sub

Floats: TypeAlias = NDArray[np.float64]
#: What the attacker has besides the reports: nothing; some people's sampled attribute; or that, and made-up people too.
Knowledge: TypeAlias = Literal["none", "partial", "hybrid"]


def sampled_posterior(
    plan: Plan, reports: Any, frequencies: Mapping[str, Any] | None = None, *, fakes: Fakes = "plan"
) -> Floats:
    """How likely each attribute is to be the sampled one, given a person's reports: a row per person.

    Parameters
    ----------
    plan
        RS+FD or RS+RFD.
    reports
        As `Plan.privatize` gives them.
    frequencies
        What the attacker takes for the frequencies of the values, by attribute; estimated from the reports themselves
        unless given.
    fakes
        ``"plan"``, the law that fakes follow. ``"uniform"`` is for studies: the mistake of an attacker who does not
        know that the fakes of RS+RFD follow a prior.

    Examples
    --------
    >>> plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, 2.0, "RS+FD[GRR]")
    >>> frequencies = {"a": [0.9, 0.1], "b": [0.5, 0.5]}
    >>> sampled_posterior(plan, {"a": [0, 1], "b": [0, 0]}, frequencies).round(2).tolist()
    [[0.62, 0.38], [0.28, 0.72]]
    """
    _checks.one_of(get_args(Fakes), fakes=fakes)
    design = with_fakes(plan, fakes)
    if plan.tally(reports).refused:
        raise DataError("reports must be ones that the plan can have made: leave out people whom its tally refuses.")
    known = estimated(plan, reports) if frequencies is None else _clean(plan, frequencies)
    return _posterior(design, reports, known)


def sampled_attribute(
    plan: Plan,
    table: Any,
    *,
    attacker: Any = "bayes",
    knowledge: Knowledge = "none",
    synthetic: float = 5.0,
    share: float = 0.1,
    fakes: Fakes = "plan",
    level: float = 0.95,
    rng: Randomness = None,
) -> AttackResult:
    """Let people report by a plan, find each one's sampled attribute from the reports, and count how often it is right.

    Parameters
    ----------
    plan
        RS+FD or RS+RFD.
    table
        The people who report.
    attacker
        ``"bayes"``, the closed form; ``"xgboost"``, as in the papers; or a classifier with ``fit`` and ``predict``, as
        scikit-learn has them, which is copied and left as it is.
    knowledge
        ``"none"``: the attacker has the reports only, estimates the frequencies from them and, to train a classifier,
        replays the plan on made-up people. ``"partial"``: knows the sampled attribute of some people, and goes by
        those alone. ``"hybrid"``: both.
    synthetic
        How many made-up people for each real one.
    share
        The share of people whose sampled attribute is known; the others are attacked.
    fakes
        The law of fakes that the attacker goes by: ``"plan"``, or for studies of RS+RFD the mistaken ``"uniform"``.
    level
        Of the interval.
    rng
        As for every verb.

    Examples
    --------
    >>> plan = Plan({"a": ["0", "1"], "b": ["0", "1"], "c": ["0", "1"]}, 3.0, "RS+FD[GRR]")
    >>> people = {"a": ["0"] * 1000, "b": ["1"] * 1000, "c": ["0", "1"] * 500}
    >>> found = sampled_attribute(plan, people, rng=7)
    >>> round(found.baseline, 3), found.leaks
    (0.333, True)
    """
    _checks.one_of(get_args(Knowledge), knowledge=knowledge)
    _checks.one_of(get_args(Fakes), fakes=fakes)
    _checks.positive(synthetic=synthetic)
    _checks.probability(share=share)
    imagined = with_fakes(plan, fakes)
    words = words_of(plan, rng)
    codes = plan.encode(table)
    how_many(codes)
    reports, sampled = replay(with_fakes(plan), codes, words.reports)
    generator = words.choices.stream().generator()
    compromised = np.zeros(sampled.size, np.bool_)
    if knowledge != "none":
        compromised[generator.permutation(sampled.size)[: max(1, round(share * sampled.size))]] = True
    case = _Case(plan, imagined, reports, sampled, compromised, knowledge)
    if isinstance(attacker, str) and attacker == "bayes":
        guesses, name = case.by_posterior(), "Bayes"
    else:
        machine = classifiers.fresh(attacker, plan.d, generator)
        guesses = case.by_learning(machine, synthetic, words.made_up, generator)
        name = classifiers.name_of(attacker)
    return scored(
        guesses == sampled[~compromised],
        baseline=1 / plan.d,
        description=f"sampled attribute of {plan.method} by {name}, {_words(knowledge, share, fakes)}",
        level=level,
    )


class _AttackWords(NamedTuple):
    """What is drawn for the reports of the people, for the attacker's choices, and for made-up people."""

    reports: Words
    choices: Words
    made_up: Words


def words_of(plan: Plan, rng: Randomness) -> _AttackWords:
    """The words of one attack on a plan."""
    return _AttackWords(*Words.resolve(rng, "sampled_attribute", plan.digest).split(3))


@dataclass(frozen=True)
class _Case:
    """Everybody's reports, the truth about them, and whose truth the attacker knows."""

    plan: Plan
    imagined: Fake
    reports: Reports
    sampled: NDArray[np.int64]
    compromised: NDArray[np.bool_]
    knowledge: Knowledge

    def by_posterior(self) -> NDArray[np.int64]:
        """The likeliest attribute of those who are attacked."""
        found = _posterior(self.imagined, rows(self.reports, ~self.compromised), self._frequencies())
        return np.asarray(found.argmax(axis=1), np.int64)

    def by_learning(
        self, machine: classifiers.Classifier, synthetic: float, words: Words, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """What a classifier says of them, after it has learnt from what the attacker knows."""
        table, labels = [], []
        if self.knowledge != "partial":
            size = max(1, round(synthetic * self.sampled.size))
            made_up = draw_codes(estimated(self.plan, self.reports), size, generator)
            fresh, true = replay(self.imagined, made_up, words)
            table.append(features(self.imagined, fresh))
            labels.append(true)
        if self.knowledge != "none":
            table.append(features(self.imagined, rows(self.reports, self.compromised)))
            labels.append(self.sampled[self.compromised])
        machine.fit(np.vstack(table), np.concatenate(labels))
        found = machine.predict(features(self.imagined, rows(self.reports, ~self.compromised)))
        return np.asarray(found, np.int64)

    def _frequencies(self) -> dict[str, Floats]:
        """What the attacker takes for the frequencies."""
        answers = self.plan.estimate(self.plan.tally(self.reports))
        known = {}
        for place, name in enumerate(self.plan.schema):
            found = [answers[name]] if self.knowledge != "partial" else []
            if self.knowledge != "none":
                found += self._from_compromised(place, name)
            known[name] = _combined(found, self.plan.schema[name].size)
        return known

    def _from_compromised(self, place: int, name: str) -> list[Estimate]:
        """The estimate from reports that are known to be true; none if there are none."""
        true = self.compromised & (self.sampled == place)
        oracle = self.imagined.columns[name].mechanism
        return [oracle.estimate(oracle.tally(self.reports[name][true]))] if true.any() else []


def estimated(plan: Plan, reports: Any) -> dict[str, Floats]:
    """The frequencies that the reports of a plan give, by attribute."""
    answers = plan.estimate(plan.tally(reports))
    return {name: _combined([answers[name]], attribute.size) for name, attribute in plan.schema.items()}


def _combined(answers: list[Estimate], size: int) -> Floats:
    """Estimates of the same frequencies, each weighted by its precision, and put on the simplex; uniform if none."""
    if not answers:
        return np.full(size, 1 / size)
    if len(answers) == 1:
        return answers[0].consistent("norm-sub").frequency
    weights = [1 / float(np.mean(answer.model.variance(np.full(size, 1 / size), "population"))) for answer in answers]
    mean = np.average([answer.frequency for answer in answers], axis=0, weights=weights)
    return norm_sub(mean)


def _posterior(design: Fake, reports: Any, known: Mapping[str, Floats]) -> Floats:
    columns = [found.likelihood_ratio(reports[name], known[name]) for name, found in design.columns.items()]
    ratios = np.stack(columns, axis=1)
    return np.asarray(ratios / ratios.sum(axis=1, keepdims=True))


def _clean(plan: Plan, frequencies: Mapping[str, Any]) -> dict[str, Floats]:
    if set(frequencies) != set(plan.schema):
        raise ParameterError("frequencies must name every attribute of the schema, and no other.")
    found = {name: np.asarray(frequencies[name], float) for name in plan.schema}
    for name, shares in found.items():
        if shares.shape != (plan.schema[name].size,) or not (shares >= 0).all() or not shares.sum() > 0:
            raise ParameterError(f"frequencies of {name!r} must be {plan.schema[name].size} numbers, 0 or above.")
    return {name: shares / shares.sum() for name, shares in found.items()}


def _words(knowledge: Knowledge, share: float, fakes: Fakes) -> str:
    words = "no knowledge" if knowledge == "none" else f"{knowledge} knowledge ({share:.0%} of people known)"
    return words if fakes == "plan" else f"{words}, mistaken uniform fakes"
