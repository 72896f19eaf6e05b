"""The least number of people whose estimate has a smaller squared error than the guess 1/k for each of k answers.

The guess 1/k for each of k answers has the squared error ‖f − 1/k‖², however many people answer. An unbiased estimate
has the sum of its variances, V/n. So it is nearer, in expectation, from n = V/‖f − 1/k‖² on. If answers are alike no
number of people is enough. So frequencies must be named: those of a prior, or those of Zipf's law as a reference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from bruit.collection.criterion import MANY, Floats
from bruit.collection.plan import Plan
from bruit.estimation.fewest_people import fewest_people
from bruit.tables import counted

#: Which frequencies are taken: those that a plan declares, or 1, ½, ⅓, … in the order of the values.
Reference: TypeAlias = Literal["prior", "zipf"]
#: The most attributes, and the most numbers of people, that the sentence lists.
MOST_NAMED = 6


def zipf(size: int) -> Floats:
    """The frequencies of Zipf's law with exponent 1.

    >>> zipf(2).round(3).tolist()
    [0.667, 0.333]
    """
    weights = 1 / np.arange(1, size + 1)
    return np.asarray(weights / weights.sum())


def reference(plan: Plan) -> Reference:
    """Which frequencies are taken where none are given."""
    return "prior" if plan.method.known_frequencies() else "zipf"


def people_to_beat_uniform(plan: Plan, frequencies: Mapping[str, Any] | None = None) -> dict[str, int | None]:
    """The least number of people whose estimate of each attribute is nearer to the truth than the uniform guess.

    Parameters
    ----------
    plan
        The plan. Attributes whose mean is estimated are left out.
    frequencies
        The frequencies of attributes, by name. By default those of the plan's prior, and otherwise those of Zipf's law:
        proportional to 1, ½, ⅓, ….

    Returns
    -------
    dict
        By attribute, in expectation of the squared error summed over values; None where the guess is the truth.

    Examples
    --------
    >>> schema = {name: ["a", "b", "c", "d", "e"] for name in ("work", "home", "food", "town", "sport")}
    >>> people_to_beat_uniform(Plan(schema, 1.0, "SMP[GRR]"))["work"]
    757
    """
    names = [name for name in plan.schema if plan.design.gives(name) == "frequency"]
    known: dict[str, Any] = {name: zipf(plan.schema[name].size) for name in names}
    known |= {**plan.method.known_frequencies(), **(frequencies or {})}
    return {name: _people(plan, name, np.asarray(known[name], float)) for name in names}


def _people(plan: Plan, name: str, frequency: Floats) -> int | None:
    """The least number of people for whom the sum of the variances is at most the squared error of the guess."""
    distance = float(np.sum((frequency - 1 / frequency.size) ** 2))
    if distance < 1e-12:
        return None

    def error(n: int) -> float:
        return float(plan.design.variance(name, frequency, n, "population").sum())

    least = MANY * error(MANY) / distance  # fewer are not enough: a random number of reports costs more
    return fewest_people(lambda n: error(n) <= distance * (1 + 1e-12), max(1, math.ceil(least * (1 - 1e-12))))


def few_people(plan: Plan, n: int) -> list[str]:
    """A sentence that names the attributes for which n people are too few; or an empty list."""
    short = {name: people for name, people in people_to_beat_uniform(plan).items() if people is not None and people > n}
    if not short:
        return []
    alike = {most: [name for name, people in short.items() if people == most] for most in short.values()}
    first, *others = (
        (_listed(alike[most]), f"until about {counted(most, 'person')} answer") for most in sorted(alike, reverse=True)
    )
    text = f"an estimate of {first[0]} is further from the truth than guessing that all answers are alike, {first[1]}"
    more = "".join(f"; of {names}, {until}" for names, until in others[:MOST_NAMED])
    more += f"; and so on for {counted(len(others) - MOST_NAMED, 'smaller number')}" if len(others) > MOST_NAMED else ""
    whose = "follow the prior" if reference(plan) == "prior" else "follow Zipf's law (1, 1/2, 1/3, …)"
    return [
        f"With {counted(n, 'person')} {text}{more}. "
        f"That is for answers that {whose}; more even answers need more people."
    ]


def _listed(names: list[str]) -> str:
    """Some names, and how many there are besides."""
    shown = names if len(names) <= MOST_NAMED else [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1:,} others"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
