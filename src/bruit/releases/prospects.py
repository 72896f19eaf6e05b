"""What a release would publish, and how exactly: computed from declared parameters, before any data are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bruit.privacy.guarantee import Guarantee
from bruit.releases.person import Person
from bruit.releases.statistic import Statistic
from bruit.tables import Column, Table, counted, digits, plural

__all__ = ["Prospect", "prospect_table"]

#: The numbers of records for which errors of means and variances are stated, where none is expected.
SIZES = (100, 1_000, 10_000, 100_000)


class Prospect(NamedTuple):
    """One statistic before its release: its noise, its part of ε and δ, how many values, and their error in words.

    `by_size` says whether the error depends on the number of records; `rho` is its part of ρ, where that is split;
    `within` is the width from which ε follows.
    """

    statistic: str
    noise: str
    epsilon: float
    delta: float
    values: int | None
    error: str
    by_size: bool = False
    rho: float | None = None
    within: str = ""

    @classmethod
    def of(cls, name: str, statistic: Statistic, groups: int, n: int | None) -> Prospect:
        """The prospect of a statistic for `groups` groups of n records each; None: for several numbers of records."""
        errors = [statistic.describe_error(size) for size in (SIZES if n is None else (n, 2 * n))]
        by_size = len(set(errors)) > 1
        error = _for_sizes(errors) if by_size and n is None else errors[0]
        return cls(
            name, statistic.noise_name, statistic.epsilon, statistic.delta, groups * statistic.outcomes, error, by_size
        )


def _for_sizes(errors: Sequence[str]) -> str:
    """The errors for each number of records, in words."""
    return ", ".join(f"{error} ({size:,})" for error, size in zip(errors, SIZES, strict=True))


def sizes_note(n: int | None, where: str = "", noun: str = "record") -> str:
    """What the errors of means and variances are computed for."""
    if n is None:
        return f"errors of means and variances depend on the number of {plural(noun)}{where}, in parentheses"
    return f"errors of means and variances are those of {counted(n, noun)}{where}"


def prospect_table(
    rows: Sequence[Prospect],
    guarantee: Guarantee,
    n: int | None,
    person: Person | None = None,
    title: str = "",
    *,
    grouped: bool = False,
) -> Table:
    """The prospects of a release as a table."""
    notes = [f"guarantee of all together: {guarantee}"]
    if any(row.by_size for row in rows):
        notes.append(sizes_note(n, " in each group" * grouped))
    if any(row.error.startswith("±") for row in rows):
        notes.append("± is one standard deviation of the noise")
    if any(row.within for row in rows):
        notes.append("within: half the width of a 95 % interval, from which ε follows")
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
            Column("within", columns["within"], kind="text", write=str, hidden=not any(columns["within"])),
        ],
        notes,
        {"guarantee": guarantee.to_dict()},
        noun="prospect",
    )
