"""Audits of plans for several attributes: over all pairs of records where they can be written down, and from reports.

The exact audit multiplies the laws of true and fake reports out and looks at every report under every record; it uses
none of the formulas that the plan's guarantee comes from. Where that would be too much, the closed form is taken, and
the result tells so. The empirical audit draws reports of two records that are as far apart as records can be, ranks
them by the exact ratio of their probabilities, and certifies as `empirical` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.audit.empirical import EmpiricalAudit, empirical
from bruit.audit.exact import ExactAudit, Worst, largest_ratio
from bruit.collection import Plan
from bruit.collection.design import Unit
from bruit.collection.mechanisms import metric_of
from bruit.collection.plan import without_public
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import LimitError, ParameterTypeError
from bruit.privacy import Guarantee

Floats = NDArray[np.float64]
Rows = list[list[Fraction]]


def exact_plan(plan: Plan, unit: Unit = "person") -> ExactAudit:
    """The largest ratio between the probabilities of the same reports from two records, next to what the plan states.

    Parameters
    ----------
    plan
        The plan.
    unit
        ``"person"``: any two records; ``"attribute"``: two that differ in one attribute.

    Examples
    --------
    >>> import math
    >>> from bruit.collection import RSFD
    >>> plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, math.log(2), RSFD("GRR", published=True))
    >>> audit = exact_plan(plan)
    >>> audit.method, audit.holds, round(float(audit.ratio), 6), round(audit.requested, 6)
    ('enumeration', True, 3.0, 0.693147)
    """
    _check(plan, unit)
    stated = of_one_report(plan, unit).epsilon
    requested = None if metric_of(plan.mechanisms) else plan.epsilon
    try:
        table = plan.design.matrix()
    except LimitError:
        ratio = plan.design.ratio(unit)
        return ExactAudit(ratio=ratio, stated=stated, requested=requested, worst=None, method="closed form")
    largest, worst = max((_largest(table, group) for group in _neighbours(plan, unit)), key=lambda pair: pair[0])
    return ExactAudit(ratio=largest, stated=stated, requested=requested, worst=worst, method="enumeration")


def empirical_plan(
    plan: Plan,
    unit: Unit = "person",
    *,
    trials: int = 100_000,
    level: float = 0.95,
    rng: Randomness = None,
) -> EmpiricalAudit:
    """A lower bound on the ε of a plan, from its reports of two records that are told apart as well as any.

    Parameters
    ----------
    plan
        The plan.
    unit
        ``"person"``: the two records differ in every attribute; ``"attribute"``: in the one that is protected least.
    trials, level, rng
        As for `empirical`.

    Examples
    --------
    >>> plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, epsilon=1.0, method="RS+FD[GRR]")
    >>> audit = empirical_plan(plan, rng=7)
    >>> 0.9 < audit.epsilon_lower < 1.0, audit.passes(plan.guarantee)
    (True, True)
    """
    _check(plan, unit)
    plan = without_public(plan)
    first, second = adversarial_records(plan, unit)

    def draw(record: Mapping[str, int], size: int, entropy: Entropy) -> Floats:
        # The ratio of the two probabilities tells all that reports tell about which record it was.
        codes = {name: plan.design.codes_of(name, np.full(size, code)) for name, code in record.items()}
        reports = plan.randomize(codes, Words.resolve(entropy, "audit", plan.digest))
        return plan.design.log_odds(reports, first, second)

    return empirical(draw, first, second, trials=trials, level=level, rng=rng, score=lambda outputs: outputs)


def adversarial_records(plan: Plan, unit: Unit) -> tuple[dict[str, int], dict[str, int]]:
    """Codes of two records that reports can tell apart best, where attributes are told apart by their law alone.

    >>> from bruit.collection import SPL
    >>> plan = Plan({"a": ["0", "1"], "b": ["0", "1", "2"]}, 1.0, SPL("GRR", budgets={"a": 0.3, "b": 0.7}))
    >>> adversarial_records(plan, "attribute")
    ({'a': 0, 'b': 0}, {'a': 0, 'b': 2})
    """
    design = plan.design
    ends = {name: design.ends(name) for name in plan.schema}
    first, second = ({name: pair[side] for name, pair in ends.items()} for side in (0, 1))
    if unit == "person":
        return first, second
    ratios = design.attribute_ratios()
    changed = max(ratios, key=lambda name: ratios[name])
    return first, {**first, changed: second[changed]}


def of_one_report(plan: Plan, unit: Unit = "person") -> Guarantee:
    """What one report tells; of a plan without rounds, all that it promises."""
    return plan.guarantees[unit] if plan.repeat is None else plan.panel.after(1, unit)


def _neighbours(plan: Plan, unit: Unit) -> list[list[int]]:
    """Groups of records, any two of which are neighbours."""
    records = list(plan.design.records())
    if unit == "person":
        return [list(range(len(records)))]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, record in enumerate(records):
        for place in range(len(record)):
            groups.setdefault((place, *record[:place], *record[place + 1 :]), []).append(number)
    return list(groups.values())


def _largest(table: Rows, group: list[int]) -> tuple[Fraction | float, Worst]:
    ratio, worst = largest_ratio([table[number] for number in group])
    return ratio, Worst(group[worst.first], group[worst.second], worst.message)


def _check(plan: Any, unit: Any) -> None:
    if not isinstance(plan, Plan):
        raise ParameterTypeError("plan must be a bruit.Plan.")
    _checks.one_of(get_args(Unit), unit=unit)
