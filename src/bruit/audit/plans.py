"""Audits of plans for several attributes: over all pairs of records where they can be written down, and from reports.

The exact audit multiplies the laws of true and fake reports out and looks at every report under every record; it uses
none of the formulas that the plan's guarantee comes from. Where that would be too much, the closed form is taken, and
the result tells so. The empirical audit draws reports of two records that are as far apart as records can be, ranks
them by the exact ratio of their probabilities, and certifies as `empirical` does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.attacks.guess import likelihood_of
from bruit.audit.empirical import EmpiricalAudit, empirical
from bruit.audit.exact import ExactAudit, Worst, largest_ratio
from bruit.collection import Plan
from bruit.collection.design import Reports, Unit
from bruit.collection.fake import Fake
from bruit.collection.fake_column import FakeColumn
from bruit.collection.sample import ATTRIBUTE, REPORT, Sample
from bruit.engines import memory
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import LimitError, ParameterTypeError

#: The most records times reports that are written down.
TABLE_LIMIT = 8_000
#: How many likelihoods are held at a time.
CHUNK = 1 << 22

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
    >>> plan = Plan.as_published({"a": ["0", "1"], "b": ["0", "1"]}, epsilon=math.log(2), method="RS+FD[GRR]")
    >>> found = exact_plan(plan)
    >>> found.method, found.holds, round(float(found.ratio), 6), round(found.asked, 6)
    ('enumeration', True, 3.0, 0.693147)
    """
    _check(plan, unit)
    stated = plan.guarantee(unit).epsilon
    table = _table(plan)
    if table is None:
        ratio = plan.design.ratio(unit)
        return ExactAudit(ratio=ratio, stated=stated, asked=plan.epsilon, worst=None, method="closed form")
    found, worst = max((_largest(table, group) for group in _neighbours(plan, unit)), key=lambda each: each[0])
    return ExactAudit(ratio=found, stated=stated, asked=plan.epsilon, worst=worst, method="enumeration")


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
    >>> found = empirical_plan(plan, rng=7)
    >>> 0.9 < found.epsilon_lower < 1.0, found.passes(plan.guarantee("person"))
    (True, True)
    """
    _check(plan, unit)
    first, second = adversarial_records(plan, unit)

    def draw(record: Mapping[str, int], size: int, entropy: Entropy) -> Floats:
        # The ratio of the two probabilities tells all that reports tell about which record it was.
        codes = {name: plan.mechanisms[name].codes_of(np.full(size, code)) for name, code in record.items()}
        return _log_ratio(plan, plan.randomize(codes, Words.resolve(entropy, "audit", plan.digest)), first, second)

    return empirical(draw, first, second, trials=trials, level=level, rng=rng, score=lambda outputs: outputs)


def adversarial_records(plan: Plan, unit: Unit) -> tuple[dict[str, int], dict[str, int]]:
    """Codes of two records that reports can tell apart best, where attributes are told apart by their law alone.

    >>> plan = Plan({"a": ["0", "1"], "b": ["0", "1", "2"]}, 1.0, "SPL[GRR]", budgets={"a": 0.3, "b": 0.7})
    >>> adversarial_records(plan, "attribute")
    ({'a': 0, 'b': 0}, {'a': 0, 'b': 2})
    """
    ends = {name: _ends(plan, name) for name in plan.schema}
    first, second = ({name: pair[side] for name, pair in ends.items()} for side in (0, 1))
    if unit == "person":
        return first, second
    design = plan.design
    ratios = design.attribute_ratios() if isinstance(design, Fake) else _ratios(plan)
    changed = max(ratios, key=lambda name: ratios[name])
    return first, {**first, changed: second[changed]}


def _ratios(plan: Plan) -> dict[str, Fraction]:
    return {name: found.law.ratio for name, found in plan.mechanisms.items()}


def _ends(plan: Plan, name: str) -> tuple[int, int]:
    """Two codes of an attribute that are far apart: what fakes have least and most often, or the outer ones."""
    design, last = plan.design, plan.mechanisms[name].size - 1
    if isinstance(design, Fake):
        shares = design.columns[name].prior
        low, high = shares.index(min(shares)), shares.index(max(shares))
        if low != high:
            return low, high
    return 0, last


# Reports, ranked.


def _log_ratio(plan: Plan, reports: Reports, first: Mapping[str, int], second: Mapping[str, int]) -> Floats:
    """The logarithm of P(reports | first)/P(reports | second) for every person."""
    design = plan.design
    if isinstance(design, Fake):
        # P(reports | record) is proportional to the sum of P(report | value)/P(report | fake) over the attributes.
        ours, theirs = (
            sum(
                column.likelihood_ratio(reports[name], _only(column, record[name]))
                for name, column in design.columns.items()
            )
            for record in (first, second)
        )
        return np.asarray(np.log(ours) - np.log(theirs))
    if isinstance(design, Sample):
        found = np.zeros(len(reports[ATTRIBUTE]))
        for place, name in enumerate(plan.schema):
            rows = np.flatnonzero(reports[ATTRIBUTE] == place)
            own = design._own_reports(design._forms[name], reports[REPORT][rows])
            found[rows] = _own_log_ratio(plan, name, own, first[name], second[name])
        return found
    return np.asarray(sum(_own_log_ratio(plan, name, reports[name], first[name], second[name]) for name in plan.schema))


def _only(column: FakeColumn, code: int) -> Floats:
    return np.asarray(np.eye(1, column.mechanism.size, code)[0])


def _own_log_ratio(plan: Plan, name: str, reports: NDArray[Any], first: int, second: int) -> Floats:
    likelihood, found = likelihood_of(plan.mechanisms[name]), np.empty(len(reports))
    for _, block in memory.blocks(len(reports), max(1, CHUNK // plan.mechanisms[name].size)):
        weight = likelihood(reports[block])
        found[block] = np.log(weight[:, first]) - np.log(weight[:, second])
    return found


# The law, written down.


def _table(plan: Plan) -> Rows | None:
    """P(reports | record), one row per record in the order of `_records`; None if that would be too much."""
    try:
        laws = [found.matrix() for found in plan.mechanisms.values()]
    except LimitError:
        return None
    records, design = math.prod(len(law) for law in laws), plan.design
    widths = [len(law[0]) for law in laws]
    if records * (sum(widths) if isinstance(design, Sample) else math.prod(widths)) > TABLE_LIMIT:
        return None
    if isinstance(design, Sample):
        total = sum(design.weights.values())
        chances = [Fraction(design.weights[name], total) for name in plan.schema]
        return [
            [chance * p for chance, law, code in zip(chances, laws, record, strict=True) for p in law[code]]
            for record in _records(plan)
        ]
    if isinstance(design, Fake):
        fakes = [_fake_law(column, law) for column, law in zip(design.columns.values(), laws, strict=True)]
        return [
            list(_among_fakes([law[code] for law, code in zip(laws, record, strict=True)], fakes))
            for record in _records(plan)
        ]
    return [
        [
            math.prod(each, start=Fraction(1))
            for each in itertools.product(*(law[code] for law, code in zip(laws, record, strict=True)))
        ]
        for record in _records(plan)
    ]


def _among_fakes(true: Rows, fakes: Rows) -> Iterator[Fraction]:
    """The probability of every combination of reports: one attribute, any with the same chance, is true."""
    for places in itertools.product(*(range(len(row)) for row in fakes)):
        fake = [row[place] for row, place in zip(fakes, places, strict=True)]
        yield sum(
            (true[j][place] * math.prod(fake[:j]) * math.prod(fake[j + 1 :]) for j, place in enumerate(places)),
            Fraction(0),
        ) / len(fakes)


def _fake_law(column: FakeColumn, law: Rows) -> list[Fraction]:
    """The probability of every message as a fake."""
    if column.fake == "value":
        return column.prior
    if column.fake == "zeros":  # message i has the bits of i
        q, size = column.mechanism.q, column.mechanism.size
        return [q ** bits.bit_count() * (1 - q) ** (size - bits.bit_count()) for bits in range(2**size)]
    return [
        sum((share * p for share, p in zip(column.prior, each, strict=True)), Fraction(0))
        for each in zip(*law, strict=True)
    ]


def _records(plan: Plan) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(found.size) for found in plan.mechanisms.values())))


def _neighbours(plan: Plan, unit: Unit) -> list[list[int]]:
    """Groups of records, any two of which are neighbours."""
    records = _records(plan)
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
