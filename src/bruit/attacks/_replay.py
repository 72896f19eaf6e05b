"""A collection with fakes played again, remembering which attribute was true: what an attacker can do at home."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.collection import Plan
from bruit.collection.design import Reports
from bruit.collection.fake import Fake
from bruit.domains.domain import Codes
from bruit.engines import memory
from bruit.entropy import Words
from bruit.errors import ParameterError, ParameterTypeError

#: Which law of fakes an attacker goes by: that of the plan, or the uniform one, which is a mistake where there is a
#: prior.
Fakes: TypeAlias = Literal["plan", "uniform"]


def with_fakes(plan: Plan, fakes: Fakes = "plan") -> Fake:
    """The design of a plan with fakes, as an attacker imagines it."""
    if not isinstance(plan, Plan):
        raise ParameterTypeError("The sampled attribute is hidden by a plan: give a bruit.Plan.")
    design = plan.design
    if not isinstance(design, Fake):
        raise ParameterError(f"Only RS+FD and RS+RFD hide which attribute is true, this plan is {plan.method}.")
    if fakes == "plan":
        return design
    if plan.kind != "RS+RFD":
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
    """Reports as a table for a classifier: a column for each code, or for each bit."""
    parts = []
    for name, column in design.columns.items():
        found = reports[name]
        if not column.exclusive:
            found = np.unpackbits(found, axis=1, count=column.mechanism.size, bitorder="little")
        parts.append(found.reshape(len(found), -1))
    return np.hstack(parts)
