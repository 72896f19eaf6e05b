"""What a release would publish, and how exactly: computed from declared parameters, before any data are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bruit.privacy.guarantee import Guarantee
from bruit.releases.person import Person
from bruit.releases.statistic import AdditiveStatistic, Statistic
from bruit.tables import Column, Table, counted, digits

__all__ = ["USUAL_ROWS", "Prospect", "prospect_table"]

#: For so many records the errors of means and variances are said, unless more is known.
USUAL_ROWS = 1000


class Prospect(NamedTuple):
    """One statistic before its release: its noise, its part of ε and δ, how many values, and their error in words.

    `by_size` says whether the error depends on the number of records; `rho` is its part of ρ, where that is split.
    """

    statistic: str
    noise: str
    epsilon: float
    delta: float
    values: int | None
    error: str
    by_size: bool = False
    rho: float | None = None

    @classmethod
    def of(cls, name: str, statistic: Statistic, groups: int, n: int) -> Prospect:
        """The prospect of a statistic for so many groups, of n records each."""
        additive = isinstance(statistic, AdditiveStatistic)
        noise = "exponential" if not additive else "Gaussian" if statistic.delta else "Laplace"
        error, other = (statistic.describe_error(size) for size in (n, 2 * n))
        return cls(name, noise, statistic.epsilon, statistic.delta, groups * statistic.outcomes, error, error != other)


def prospect_table(
    rows: Sequence[Prospect],
    guarantee: Guarantee,
    n: int,
    person: Person | None = None,
    title: str = "",
    *,
    grouped: bool = False,
) -> Table:
    """The prospects of a release as a table."""
    notes = [f"guarantee of all together: {guarantee}"]
    if any(row.by_size for row in rows):
        notes.append(f"errors of means and variances are those of {counted(n, 'record')}{' in each group' * grouped}")
    if any(row.error.startswith("±") for row in rows):
        notes.append("± is one standard deviation of the noise")
    if person is not None:
        notes.append(person.describe())
    in_rho = any(row.rho is not None for row in rows)
    columns = {name: [getattr(row, name) for row in rows] for name in Prospect._fields}
    return Table(
        title or "What would be published, and how exactly",
        [
            Column("statistic", columns["statistic"], kind="label", write=str),
            Column("noise", columns["noise"], kind="text", write=str),
            *([Column("rho", columns["rho"], "ρ", write=digits(4))] if in_rho else []),
            Column("epsilon", columns["epsilon"], "ε", write=digits(4)),
            Column("delta", columns["delta"], "δ", write=digits(3), hidden=not any(columns["delta"])),
            Column("values", columns["values"], write=lambda values: "?" if values is None else f"{values:,}"),
            Column("error", columns["error"], "expected error", kind="text", write=str),
        ],
        notes,
        {"guarantee": guarantee.to_dict()},
        noun="prospect",
    )
