"""The law of a whole plan, written down from its parts: P(reports | record) for every record, in fractions.

Nothing here uses the formulas of `bruit.collection.guarantees`: true reports come from the mechanisms' own matrices,
fakes from what the docstrings say they are, and all combinations are enumerated.
"""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import pytest

import bruit
from bruit.collection.fake import Fake
from bruit.collection.sample import Sample
from bruit.oracles import UnaryEncoding

from ..plans import planned


def fake_law(column):
    """F(y) for every message y of a column's mechanism."""
    rows = column.mechanism.matrix()
    if column.fake == "zeros":
        assert isinstance(column.mechanism, UnaryEncoding)
        q, k = column.mechanism.q, column.mechanism.size
        return [q ** y.bit_count() * (1 - q) ** (k - y.bit_count()) for y in range(2**k)]
    size = len(rows)
    prior = (
        [Fraction(1, size)] * size if column.weights is None else [Fraction(weight, 2**64) for weight in column.weights]
    )
    if column.fake == "value":
        return prior
    return [sum(prior[v] * rows[v][y] for v in range(size)) for y in range(len(rows[0]))]


def records(plan):
    """Every record, as a tuple of codes."""
    return list(itertools.product(*(range(found.size) for found in plan.schema.values())))


def law(plan):
    """One mapping from report to probability for every record; a report is a tuple of messages."""
    design, matrices = plan.design, [found.matrix() for found in plan.mechanisms.values()]
    messages = [range(len(matrix[0])) for matrix in matrices]
    found = {}
    for record in records(plan):
        if isinstance(design, Sample):
            total = sum(design.weights.values())
            found[record] = {
                (place, y): Fraction(design.weights[name], total) * matrices[place][record[place]][y]
                for place, name in enumerate(plan.schema)
                for y in messages[place]
            }
        elif isinstance(design, Fake):
            fakes = [fake_law(column) for column in design.columns.values()]
            found[record] = {
                reports: sum(
                    math.prod(matrices[j][record[j]][y] if j == true else fakes[j][y] for j, y in enumerate(reports))
                    for true in range(len(plan.schema))
                )
                / len(plan.schema)
                for reports in itertools.product(*messages)
            }
        else:
            found[record] = {
                reports: math.prod(matrices[j][record[j]][y] for j, y in enumerate(reports))
                for reports in itertools.product(*messages)
            }
    return found


def worst_ratio(plan, unit):
    """The largest ratio over all reports and all pairs of records that differ so."""
    table = law(plan)
    pairs = [
        (first, second)
        for first, second in itertools.permutations(table, 2)
        if unit == "person" or sum(a != b for a, b in zip(first, second, strict=True)) == 1
    ]
    return max(table[first][report] / table[second][report] for first, second in pairs for report in table[first])


@pytest.fixture(scope="session")
def exact():
    """What these tests share: the written law of a plan, and its worst ratio."""
    return SimpleNamespace(law=law, worst_ratio=worst_ratio)


@pytest.fixture(scope="session")
def make():
    """A plan for attributes of these sizes; where the method needs a prior, with an uneven one."""

    def made(method, shape, epsilon=1.0, **settings):
        schema = {f"a{j}": bruit.Categories(k=k) for j, k in enumerate(shape)}
        if "RFD" in method:
            settings.setdefault("prior", {f"a{j}": [1 + 3 * v for v in range(k)] for j, k in enumerate(shape)})
        return planned(schema, epsilon, method, **settings)

    return made
