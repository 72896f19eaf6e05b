"""Tables of attributes that were reported apart: which methods tell them, and the product estimator for SPL."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bruit.engines import memory, reports
from bruit.engines.parsing import Rows
from bruit.engines.sources import Source
from bruit.errors import DataError, DataTypeError, LimitError, ParameterError
from bruit.estimation import Estimate, Tally, Target
from bruit.estimation.cross_table import TableEstimate
from bruit.estimation.product import ProductModel, Side
from bruit.estimation.tally import NO_REPORT

if TYPE_CHECKING:
    from bruit.collection.plan import Plan

#: The most cells of a table from reports made apart.
MOST_CELLS = 1 << 20
#: How many entries of support are held at a time.
CHUNK = 1 << 22

#: Why there is no table from reports on single attributes.
THEOREM = (
    "Reports of {kind} have a law that depends on the margins alone: two populations with the same margins and any "
    "other table send the same reports, so that no estimator of a table exists. Ask for the table itself, with "
    "TAB[ADP], declare one of the attributes as public, or split ε with SPL."
)


def check(plan: Plan, names: tuple[str, ...], *, whole: bool = False) -> None:
    """That a table of these attributes can be had; with `whole`, from the reports themselves."""
    clear = [name for name in names if name in plan.public]
    if clear:
        raise ParameterError(
            f"{clear[0]!r} is sent in clear, which makes groups and no table: use answers.by({clear[0]!r}), or --by."
        )
    if plan.kind == "one":
        raise ParameterError("A table needs two attributes or more, and this plan asks for one.")
    if plan.kind == "SMPk":
        raise ParameterError(f"{plan.method} gives each attribute by itself: for a table take TAB[ADP] or SPL[ADP].")
    if plan.design.tables_from is None:
        raise ParameterError(THEOREM.format(kind=plan.kind))
    for name in names:
        if name not in plan.schema:
            raise ParameterError(f"table must name attributes of the plan: {', '.join(map(repr, plan.schema))}.")
    if len(names) < 2 or len(set(names)) < len(names):
        raise ParameterError('table must name two attributes or more, as in table("sex", "smokes").')
    if plan.design.tables_from == "reports" and not whole:
        raise ParameterError(
            "A tally of SPL counts every attribute by itself: a table needs the reports. Use "
            f'plan.table(reports, "{names[0]}", "{names[1]}").'
        )


def product(plan: Plan, source: Any, names: tuple[str, ...], target: Target) -> TableEstimate:
    """The table of two attributes from reports by SPL: unbiased, with its exact variance."""
    if len(names) != 2:
        raise ParameterError("From SPL a table of two attributes can be had: name two.")
    if isinstance(source, Tally):
        check(plan, names)
    oracles: list[Any] = [plan.mechanisms[name] for name in names]
    for name, oracle in zip(names, oracles, strict=True):
        if not hasattr(oracle, "p") or not hasattr(oracle, "joint"):
            raise ParameterError(
                f"{oracle.name} supports other values than the own one unequally often, or is no oracle: a table with "
                f"{name!r} cannot be had from its reports. Use GRR, SS or OUE."
            )
    shape = tuple(plan.schema[name].size for name in names)
    if math.prod(shape) > MOST_CELLS:
        raise LimitError(f"A table from reports made apart has at most {MOST_CELLS:,} cells, not {math.prod(shape):,}.")
    tally = _counted(plan, source, names, oracles, shape)
    if not tally.n:
        raise DataError(NO_REPORT)
    both, first, second = np.split(tally.counts, [math.prod(shape), math.prod(shape) + shape[0]])
    sides = (Side(oracles[0].p, oracles[0].q, oracles[0].joint), Side(oracles[1].p, oracles[1].q, oracles[1].joint))
    axes = tuple(plan.schema[name].labels for name in names)
    cells = Estimate(
        model=ProductModel(both.reshape(shape), first, second, tally.n, sides),
        n=tally.n,
        refused=tally.refused,
        labels=tuple((row, column) for row in axes[0] for column in axes[1]),
        target=target,
        guarantee=plan.guarantee,
        mechanism=f"SPL[{oracles[0].name} × {oracles[1].name}]",
        simulated=tally.simulated,
    )
    return TableEstimate(cells, names, axes)


def _counted(plan: Plan, source: Any, names: tuple[str, ...], oracles: list[Any], shape: tuple[int, ...]) -> Tally:
    """How many people support both of two values, and each; people with any impossible report are refused."""
    if isinstance(source, Tally):
        raise DataTypeError("A table from SPL needs the reports, not a tally.")

    def count(rows: Rows) -> Tally:
        fine = plan.valid(rows.reports)
        columns = [rows.reports[name][fine] for name in names]
        both, first, second = np.zeros(shape, np.int64), np.zeros(shape[0], np.int64), np.zeros(shape[1], np.int64)
        for _, block in memory.blocks(len(columns[0]), max(1, CHUNK // max(shape))):
            left, right = (
                oracle.supports(column[block]).astype(np.float64)
                for oracle, column in zip(oracles, columns, strict=True)
            )
            # Whole numbers below 2⁵³ as floats, so that the product is exact and fast.
            both += (left.T @ right).astype(np.int64)
            first += left.sum(axis=0).astype(np.int64)
            second += right.sum(axis=0).astype(np.int64)
        counts = np.concatenate([both.ravel(), first, second])
        refused = rows.refused + int((~fine).sum())
        return Tally(design=plan.digest, counts=counts, n=int(fine.sum()), refused=refused)

    result: Tally = reports.fold(Source.of(source), plan.form, count)
    return replace(result, simulated=result.simulated)
