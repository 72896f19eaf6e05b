"""Finding the attribute that was told truly among the fakes of RS+FD and RS+RFD.

P(attribute j was sampled | reports) is proportional to Σₓ fⱼ(x)·P(yⱼ | x) / Fⱼ(yⱼ), with f the frequencies and F the
law of fakes: only the marginal frequencies count, whatever attributes have to do with each other. Who knows f and F
cannot do better than to name the largest; f comes from the reports themselves. A classifier that learns from replayed
collections comes near this rate, and does not pass it but by chance.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.attacks.people import draw_codes, how_many
from bruit.attacks.result import AttackResult, rows, scored
from bruit.collection import Plan
from bruit.collection.design import Reports
from bruit.collection.fake import Fake
from bruit.collection.plan import without_public
from bruit.domains.codes import Codes
from bruit.engines import memory
from bruit.entropy import Randomness, Words
from bruit.errors import DataError, MissingExtraError, ParameterError, ParameterTypeError
from bruit.estimation import Estimate
from bruit.estimation.consistency import norm_sub

Floats: TypeAlias = NDArray[np.float64]
#: What the attacker has besides the reports: nothing; some sampled attributes; or those and simulated people.
Knowledge: TypeAlias = Literal["none", "partial", "hybrid"]
#: Which law of fakes an attacker goes by: that of the plan, or the uniform one, which is a mistake where there is a
#: prior.
Fakes: TypeAlias = Literal["plan", "uniform"]
#: The name of the classifier of the papers.
XGBOOST = "xgboost"

_TREES = 100
#: What XGBoost had by default when the papers were written; today's defaults find less.
_SETTINGS = {
    "max_depth": 3,
    "learning_rate": 0.1,
    "objective": "multi:softmax",
    "tree_method": "hist",
    "nthread": 1,  # its threads wait for each other without sleeping: on shared cores two are fifty times slower
    "verbosity": 0,
}


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
        by default.
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
        replays the plan on simulated people. ``"partial"``: knows the sampled attribute of some people, and goes by
        those alone. ``"hybrid"``: both.
    synthetic
        How many simulated people for each real one.
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
    >>> attack = sampled_attribute(plan, people, rng=7)
    >>> round(attack.baseline, 3), attack.leaks
    (0.333, True)
    """
    _checks.one_of(get_args(Knowledge), knowledge=knowledge)
    _checks.one_of(get_args(Fakes), fakes=fakes)
    _checks.positive(synthetic=synthetic)
    _checks.probability(share=share)
    imagined = with_fakes(plan, fakes)
    plan = without_public(plan)
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
        machine = _fresh(attacker, len(plan.schema), generator)
        guesses = case.by_learning(machine, synthetic, words.made_up, generator)
        name = _name_of(attacker)
    return scored(
        guesses == sampled[~compromised],
        baseline=1 / len(plan.schema),
        description=f"sampled attribute of {plan.method} by {name}, {_words(knowledge, share, fakes)}",
        level=level,
    )


class _AttackWords(NamedTuple):
    """What is drawn for the reports of the people, for the attacker's choices, and for simulated people."""

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
        posterior = _posterior(self.imagined, rows(self.reports, ~self.compromised), self._frequencies())
        return np.asarray(posterior.argmax(axis=1), np.int64)

    def by_learning(
        self, machine: Classifier, synthetic: float, words: Words, generator: np.random.Generator
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
        guesses = machine.predict(features(self.imagined, rows(self.reports, ~self.compromised)))
        return np.asarray(guesses, np.int64)

    def _frequencies(self) -> dict[str, Floats]:
        """What the attacker takes for the frequencies."""
        answers = self.plan.estimate(self.plan.tally(self.reports))
        known = {}
        for place, name in enumerate(self.plan.schema):
            estimates = [answers[name]] if self.knowledge != "partial" else []
            if self.knowledge != "none":
                estimates += self._from_compromised(place, name)
            known[name] = _combined(estimates, self.plan.schema[name].size)
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
    columns = [column.likelihood_ratio(reports[name], known[name]) for name, column in design.columns.items()]
    ratios = np.stack(columns, axis=1)
    return np.asarray(ratios / ratios.sum(axis=1, keepdims=True))


def _clean(plan: Plan, frequencies: Mapping[str, Any]) -> dict[str, Floats]:
    if set(frequencies) != set(plan.schema):
        raise ParameterError("frequencies must name every attribute of the schema, and no other.")
    known = {name: np.asarray(frequencies[name], float) for name in plan.schema}
    for name, shares in known.items():
        if shares.shape != (plan.schema[name].size,) or not (shares >= 0).all() or not shares.sum() > 0:
            raise ParameterError(f"frequencies of {name!r} must be {plan.schema[name].size} numbers, 0 or above.")
    return {name: shares / shares.sum() for name, shares in known.items()}


def _words(knowledge: Knowledge, share: float, fakes: Fakes) -> str:
    words = "no knowledge" if knowledge == "none" else f"{knowledge} knowledge ({share:.0%} of people known)"
    return words if fakes == "plan" else f"{words}, mistaken uniform fakes"


# A collection with fakes played again, remembering which attribute was true: what an attacker can do at home.


def with_fakes(plan: Plan, fakes: Fakes = "plan") -> Fake:
    """The design of a plan with fakes, as an attacker imagines it."""
    if not isinstance(plan, Plan):
        raise ParameterTypeError("The sampled attribute is hidden by a plan: give a bruit.Plan.")
    design: Any = plan.design
    if not design.hides:
        raise ParameterError(f"Only RS+FD and RS+RFD hide which attribute is true, this plan is {plan.method}.")
    if fakes == "plan":
        return design  # type: ignore[no-any-return] # what `hides` says
    if all(column.weights is None for column in design.columns.values()):
        raise ParameterError('fakes="uniform" is a mistake about a prior, and only RS+RFD has one: use fakes="plan".')
    columns = {name: replace(column, weights=None) for name, column in design.columns.items()}
    return Fake.of(design.schema, design.kind, columns)


def replay(design: Fake, codes: Mapping[str, Codes], words: Words) -> tuple[Reports, NDArray[np.int64]]:
    """Reports of people with these codes, and the number of the attribute that each told truly.

    With the same words the reports are those of `Design.randomize`.
    """
    n = len(next(iter(codes.values())))
    out = design.empty_reports(n)
    sampled = np.empty(n, np.int64)
    for index, block in memory.blocks(n):
        people = {name: column[block] for name, column in codes.items()}
        reports = {name: column[block] for name, column in out.items()}
        sampled[block] = design.randomize_knowing(people, words.part(index), reports)
    return out, sampled


def features(design: Fake, reports: Reports) -> NDArray[Any]:
    """Reports as a table for a classifier: a column for each code, or one for each value that a report may support."""
    parts = []
    for name, column in design.columns.items():
        codes = column.mechanism.named(reports[name])
        parts.append(column.mechanism.supports(reports[name]).astype(np.uint8) if codes is None else codes[:, None])
    return np.hstack(parts)


# Classifiers: XGBoost as in the papers, or any with fit and predict.


@runtime_checkable
class Classifier(Protocol):
    """What scikit-learn calls a classifier: it learns labels from rows, and predicts them."""

    def fit(self, rows: Any, labels: Any, /) -> Any:
        """Learn from rows and their labels."""
        ...

    def predict(self, rows: Any, /) -> Any:
        """The labels of rows."""
        ...


@dataclass
class _XGBoost:
    """Boosted trees with the settings that reproduce the papers: depth 3, learning rate 0.1, 100 rounds."""

    classes: int
    seed: int

    def fit(self, rows: NDArray[Any], labels: NDArray[Any]) -> None:
        """Learn from rows and their labels."""
        xgboost = _xgboost()
        settings = {**_SETTINGS, "num_class": self.classes, "seed": self.seed}
        self._trees = xgboost.train(settings, xgboost.DMatrix(rows, label=labels), num_boost_round=_TREES)

    def predict(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """The labels of rows."""
        return np.asarray(self._trees.predict(_xgboost().DMatrix(rows)), np.int64)


def _fresh(attacker: Any, classes: int, generator: np.random.Generator) -> Classifier:
    """A classifier that has learnt nothing yet; the caller's own one stays as it is."""
    if isinstance(attacker, str):
        if attacker != XGBOOST:
            raise ParameterError('attacker must be "bayes", "xgboost" or a classifier with fit and predict.')
        _xgboost()
        return _XGBoost(classes, int(generator.integers(2**31)))
    if isinstance(attacker, type) or not isinstance(attacker, Classifier):
        raise ParameterTypeError('attacker must be "bayes", "xgboost" or a classifier with fit and predict.')
    return copy.deepcopy(attacker)


def _name_of(attacker: Any) -> str:
    """The attacker in words."""
    return "XGBoost" if isinstance(attacker, str) else type(attacker).__name__


def _xgboost() -> Any:
    try:
        return import_module("xgboost")
    except ImportError:
        raise MissingExtraError("The XGBoost attacker", "attack") from None
