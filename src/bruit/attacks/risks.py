"""What each attack would achieve on a plan, before anybody is asked: on people who do not exist.

The population is the one that the attacker is taken to know: all values alike, or the frequencies that are given, with
attributes that have nothing to do with each other. Where a rate has a closed form it is exact. Otherwise it is the mean
of the posterior probability of the best guess over simulated people, which is right as often as it says; only
re-identification is counted. No data are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.attacks.people import _shares, draw_codes
from bruit.attacks.reidentification import reidentification
from bruit.attacks.sampled_attribute import _posterior, replay, with_fakes
from bruit.collection import Plan
from bruit.collection.cross_tables import title as table_title
from bruit.collection.fake import Fake
from bruit.collection.plan import without_public
from bruit.entropy import Words
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.tables import Column, Table, Tabular, percent

Floats: TypeAlias = NDArray[np.float64]

#: The names of the attacks.
VALUE, SAMPLED, ALIKE = "value from the reports", "sampled attribute", "sampled attribute, everybody alike"
#: How many numbers of a posterior are held at most.
MOST_NUMBERS = 1 << 22
#: People times values beyond which looking for people would take long, and is left out.
MOST_WORK = 1 << 28


@dataclass(frozen=True, kw_only=True)
class Risk:
    """How often an attack would be right.

    Parameters
    ----------
    attack
        What is attacked, in words.
    attribute
        Of which attribute; None where it is about the whole record.
    rate
        How often it would be right.
    baseline
        How often somebody would be right who has not seen the reports.
    standard_error
        The standard error of the rate, which comes from simulated people; 0 where the rate is exact.
    """

    attack: str
    attribute: str | None
    rate: float
    baseline: float
    standard_error: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {
            "attack": self.attack,
            "attribute": self.attribute,
            "rate": self.rate,
            "baseline": self.baseline,
            "standard_error": self.standard_error,
        }


class Risks(Tabular, tuple[Risk, ...]):
    """The risk of each attack, in order; prints as a table."""

    def table(self) -> Table:
        """Every attack with how often it would be right: columns attack, attribute, rate, baseline, standard_error."""
        columns = [
            Column("attack", [risk.attack for risk in self], kind="text", write=str),
            Column("attribute", [risk.attribute for risk in self], "of", "label", lambda name: name or ""),
            Column("rate", [risk.rate for risk in self], "right", write=percent),
            Column("baseline", [risk.baseline for risk in self], "blindly", write=percent),
            Column("standard_error", [risk.standard_error for risk in self], hidden=True),
        ]
        return Table("How often each attack would be right about simulated people", columns, noun="risk")


@_checks.renamed({"people": "n=1000"})
def risks(plan: Plan, frequencies: Mapping[str, Any] | None = None, *, n: int = 1000, rng: int = 0) -> Risks:
    """The risk of each attack on a plan, before anybody is asked; nothing is read from data.

    The value of each attribute, guessed from all of a person's reports; the sampled attribute, where fakes hide it, in
    this population and in one where everybody has the same record, which is the worst where fakes are uniform; and the
    person among `n` simulated ones, after one survey, as the nearest record and among the ten nearest. What would
    take long, because an attribute has very many values, is left out.

    Parameters
    ----------
    plan
        The plan.
    frequencies
        The share of each value, by attribute; where none are given, all values are alike.
    n
        How many people are made up.
    rng
        A seed: the same plan has the same figures.

    Examples
    --------
    >>> plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, 1.0, "RS+FD[GRR]")
    >>> for risk in risks(plan)[:3]:
    ...     print(f"{risk.attack}, {risk.attribute}: {risk.rate:.3f}, blindly {risk.baseline:.3f}")
    value from the reports, a: 0.616, blindly 0.500
    value from the reports, b: 0.616, blindly 0.500
    sampled attribute, None: 0.500, blindly 0.500
    """
    if not isinstance(plan, Plan):
        raise ParameterTypeError("plan must be a bruit.Plan.")
    plan = without_public(plan)  # what is sent in clear is no secret to guess
    _checks.integer(low=10, n=n)
    known = frequencies or {}
    if not set(known) <= set(plan.schema):
        raise ParameterError("frequencies must name attributes of the schema.")
    shares = {name: _shares(name, known.get(name), attribute.size) for name, attribute in plan.schema.items()}
    words = Words.resolve(_checks.integer(low=0, rng=rng), "risks", plan.digest).split(3)
    if plan.design.counted_tables:
        values = _values_of_tables(plan, shares, n, words[0])
        return Risks((*values, *_reidentified(plan, shares, n, words[2])))
    return Risks(
        (
            *_values(plan, shares, set(known), n, words[0]),
            *_sampled(plan, shares, n, words[1]),
            *_reidentified(plan, shares, n, words[2]),
        )
    )


def _values(plan: Plan, shares: dict[str, Floats], uneven: set[str], people: int, words: Words) -> Iterator[Risk]:
    for part, (name, own) in zip(words.split(len(shares)), shares.items(), strict=True):
        baseline = float(own.max())
        try:
            if name not in uneven:
                rate, error = plan.design.guessability(name), 0.0
            else:
                rate, error = _guessed(plan, name, shares, people, part)
        except LimitError:
            continue
        yield Risk(attack=VALUE, attribute=name, rate=max(rate, baseline), baseline=baseline, standard_error=error)


def _values_of_tables(plan: Plan, shares: dict[str, Floats], people: int, words: Words) -> Iterator[Risk]:
    """The value of each attribute, guessed from the report on a cell of a table, where attributes are independent."""
    design: Any = plan.design
    own = words.split(len(shares) * len(design.tables))
    for place, (name, share) in enumerate(shares.items()):
        baseline = float(share.max())
        rate, error = (1 - design.chance(name)) * baseline, 0.0
        for number, names in enumerate(design.tables):
            if name not in names:
                continue
            n = max(10, min(people, MOST_NUMBERS // math.prod(design.shape(names))))
            who, noise = own[place * len(design.tables) + number].split(2)
            codes = draw_codes({other: shares[other] for other in names}, n, who.stream().generator())
            mean, spread = _mean(design.best_posterior(names, name, codes, shares, noise))
            chance = design.drawn.chance(table_title(names))
            rate, error = rate + chance * mean, math.hypot(error, chance * spread)
        yield Risk(attack=VALUE, attribute=name, rate=max(rate, baseline), baseline=baseline, standard_error=error)


def _guessed(plan: Plan, name: str, shares: dict[str, Floats], people: int, words: Words) -> tuple[float, float]:
    """The mean of the posterior of the likeliest value of one attribute."""
    own, mechanism = shares[name], plan.mechanisms[name]
    n = max(10, min(people, MOST_NUMBERS // own.size))
    who, noise = words.split(2)
    generator = who.stream().generator()
    if not plan.design.hides:
        codes = mechanism.codes_of(draw_codes({name: own}, n, generator)[name])
        weight = mechanism.likelihood(mechanism.randomize(codes, noise)) * own
        best = weight.max(axis=1) / weight.sum(axis=1)
        chance = plan.design.chance(name)
        return _mean(chance * best + (1 - chance) * own.max())
    design = with_fakes(plan)
    reports, _ = replay(design, draw_codes(shares, n, generator), noise)
    true = mechanism.likelihood(reports[name])
    ratios = {key: column.likelihood_ratio(reports[key], shares[key]) for key, column in design.columns.items()}
    # P(value | reports) ∝ f(value)·(ρ(report, value) + Σ of the other attributes' ρ).
    others = sum(ratio for key, ratio in ratios.items() if key != name)
    odds = true / (true @ own)[:, None] * ratios[name][:, None]
    best = (own * (odds + np.asarray(others)[:, None])).max(axis=1) / (others + ratios[name])
    return _mean(best)


def _sampled(plan: Plan, shares: dict[str, Floats], people: int, words: Words) -> Iterator[Risk]:
    if not plan.design.hides:
        return
    design = with_fakes(plan)
    # Everybody with the value that fakes have least often.
    alike = {name: np.eye(1, own.size, _rarest(design, name))[0] for name, own in shares.items()}
    for part, (attack, population) in zip(words.split(2), ((SAMPLED, shares), (ALIKE, alike)), strict=True):
        widest = sum(own.size for own in population.values())
        n = max(100, min(20 * people, MOST_NUMBERS // widest))
        who, noise = part.split(2)
        reports, _ = replay(design, draw_codes(population, n, who.stream().generator()), noise)
        rate, error = _mean(_posterior(design, reports, population).max(axis=1))
        yield Risk(attack=attack, attribute=None, rate=rate, baseline=1 / len(plan.schema), standard_error=error)


def _rarest(design: Fake, name: str) -> int:
    return int(np.argmin(design.columns[name].prior_frequency))


def _reidentified(plan: Plan, shares: dict[str, Floats], people: int, words: Words) -> Iterator[Risk]:
    if any(attribute.domain.missing == "drop" for attribute in plan.schema.values()):
        return
    cells = sum(mechanism.size for mechanism in plan.mechanisms.values())
    if people * max(cells, sum(own.size for own in shares.values())) > MOST_WORK:
        return
    who, noise = words.split(2)
    codes = draw_codes(shares, people, who.stream().generator())
    made_up = {name: attribute.values(codes[name]) for name, attribute in plan.schema.items()}
    try:
        attack = reidentification([plan], made_up, rng=noise.stream())
    except LimitError:
        return
    for many, result in attack.top.items():
        rate = result.accuracy
        yield Risk(
            attack=f"re-identification among {people:,}, top {many}",
            attribute=None,
            rate=rate,
            baseline=result.baseline,
            standard_error=math.sqrt(rate * (1 - rate) / people),
        )


def _mean(values: Floats) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(values.size)
