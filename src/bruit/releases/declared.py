"""Statistics by the spelling of a question: ``"mean"`` and ``age=0..120``.

The command line and the file of a publication declare statistics in this way.
"""

from __future__ import annotations

import re
from typing import Any

from bruit import _checks
from bruit.domains import Bins, Grid, Interval
from bruit.domains.declare import number_question, question
from bruit.domains.outside import check_outside
from bruit.errors import ParameterError
from bruit.releases.bounds import Bounds
from bruit.releases.counts import Count, Histogram
from bruit.releases.moments import Mean, Sum, Variance
from bruit.releases.quantiles import HistogramQuantiles, Median, Quantiles
from bruit.releases.statistic import Statistic
from bruit.releases.weighted import WeightedMean, WeightedSum

__all__ = ["KINDS", "QUARTILES", "counted_values", "declared"]

#: The kinds of statistics that can be declared by a text.
KINDS = ("count", "histogram", "sum", "mean", "variance", "median", "quantiles", "bounds")
#: The quantiles where none are named.
QUARTILES = (0.25, 0.5, 0.75)

_MOMENTS: dict[str, Any] = {"sum": Sum, "mean": Mean, "variance": Variance}


def declared(
    kind: str,
    text: str = "",
    *,
    missing: Any = "refuse",
    outside: Any = None,
    method: str | None = None,
    quantiles: tuple[float, ...] = QUARTILES,
    weights: str = "",
    option: str = "",
    **privacy: Any,
) -> Statistic:
    """The statistic of this kind of the column and the values that a text declares.

    Parameters
    ----------
    kind
        One of `KINDS`; a count needs no text.
    text
        The question, as in ``age=0..120``.
    missing, outside, method, quantiles
        As for the statistics that have them.
    weights
        The column of weights with its bounds, for counts, sums and means, as in ``stands_for=0..5``.
    option
        What stands before the question where it is written, for messages.
    privacy
        ``epsilon``, ``delta`` and ``neighbours``.

    Examples
    --------
    >>> declared("mean", "age=0..120", epsilon=0.5).bounds
    (0.0, 120.0)
    """
    _checks.one_of(KINDS, kind=kind)
    if weights:
        return _weighted(kind, text, weights, missing=missing, outside=outside, **privacy)
    if kind == "count":
        return Count(**privacy)
    if kind == "bounds":
        if not text.strip() or "=" in text:
            raise ParameterError(f"{option.strip() or kind} takes the name of a column alone, as in {option}income.")
        return Bounds(text.strip(), missing=missing, **privacy)
    if kind == "histogram":
        name, domain = counted_values(text, missing, outside, option=option)
        check_outside(outside, domain.policies)
        return Histogram(name, domain=domain, **privacy)
    if kind in ("median", "quantiles"):
        points = (0.5,) if kind == "median" else quantiles
        policies = {"missing": missing, "outside": outside}
        return _quantiles(kind, text, **policies, method=method, points=points, **privacy)
    name, bounds, cells, step = number_question(text)
    if cells is not None:
        raise ParameterError(
            f"{option.strip() or kind} takes bounds, and a step after a colon: write {name}={bounds[0]}..{bounds[1]}:1."
        )
    interval = Interval(*bounds, missing=missing, outside=outside)
    statistic: Statistic = _MOMENTS[kind](name, bounds=interval, step=step, **privacy)
    return statistic


def _weighted(kind: str, text: str, weights: str, **options: Any) -> Statistic:
    """A statistic of records that have weights."""
    if kind not in ("count", "sum", "mean"):
        raise ParameterError(f"Records can have weights in counts, sums and means, not in a {kind}.")
    column, limits, cells, step = number_question(weights)
    if limits[0] != 0 or cells is not None or step is not None:
        raise ParameterError(f"Weights go from 0 to the largest that a record can have: write {column}=0..{limits[1]}.")
    policies = {policy: options.pop(policy) for policy in ("missing", "outside")}
    if kind == "count":
        return Sum(column, bounds=Interval(*limits, **policies), **options)
    name, bounds, cells, step = number_question(text)
    if cells is not None or step is not None:
        raise ParameterError(f"With weights, {name} takes bounds alone: write {name}={bounds[0]}..{bounds[1]}.")
    kinds: Any = {"sum": WeightedSum, "mean": WeightedMean}[kind]
    statistic: Statistic = kinds(
        name, weight=column, bounds=Interval(*bounds, **policies), weight_bounds=limits, **options
    )
    return statistic


def counted_values(text: str, missing: Any = "refuse", outside: Any = None, *, option: str = "") -> tuple[str, Any]:
    """A column and the values that are counted of it: categories, dates, a grid, or bins; as in `declared`.

    >>> counted_values("age=0..100/4")[1].size
    4
    """
    if re.search(r"\.\.[^,]*/[0-9]+$", text) and not re.search(r"[0-9]-[0-9]", text):
        bins = number_question(text)
        return bins.name, Bins.even(bins.bounds, bins.cells or 1, missing=missing, outside=outside)
    name, domain = question(text, missing, outside)
    if domain is None:
        raise ParameterError(
            f"The values of {name!r} must be declared, as in {option}{name}=no,yes: reading them from the "
            "data would tell which values occur, and that is not covered by any noise."
        )
    if outside == "other":
        check_outside(outside, domain.policies)
    return name, domain


def _quantiles(
    kind: str, text: str, *, missing: Any, outside: Any, method: str | None, points: tuple[float, ...], **privacy: Any
) -> Statistic:
    if re.search(r"=\s*[0-9]{4}-[0-9]{2}", text):
        name, dates = question(text, missing, outside)
        span: dict[str, Any] = {"bounds": dates, "method": method or "auto", **privacy}
        return Median(name, **span) if kind == "median" else Quantiles(name, quantiles=points, **span)
    name, bounds, cells, step = number_question(text)
    if method == "histogram":
        interval = Interval(*bounds, outside=outside)
        return HistogramQuantiles(name, quantiles=points, bounds=interval, cells=cells or 1000, **privacy)
    options: dict[str, Any] = {"method": method or "auto", **privacy}
    if step is not None:
        options["bounds"] = question(text, missing, outside).domain
    elif cells is not None:
        options["bounds"] = Grid(*bounds, cells=cells, missing=missing, outside=outside)
    else:
        options["bounds"] = Interval(*bounds, missing=missing, outside=outside)
    return Median(name, **options) if kind == "median" else Quantiles(name, quantiles=points, **options)
