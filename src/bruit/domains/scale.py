"""Categories in an order: never, seldom, often. Estimates of them keep the order, and have a mean and a median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bruit.domains.categories import Categories
from bruit.domains.outside import Outside
from bruit.errors import ParameterError


@dataclass(frozen=True, kw_only=True, repr=False)
class Scale(Categories):
    """Answers in an order, as of a Likert scale; asked and protected as categories are.

    Parameters
    ----------
    labels
        The answers, the least first.
    missing
        As for `Categories`. A category for missing answers stands apart from the scale: mean and median are those of
        the people who have an answer.

    Examples
    --------
    >>> agree = Scale(labels=["no", "hardly", "yes"])
    >>> agree.encode(["yes", "no"]).tolist(), agree.to_dict()["kind"]
    ([2, 0], 'scale')
    """

    ordered: ClassVar[bool] = True
    policies: ClassVar[tuple[Outside, ...]] = ("refuse",)

    def __post_init__(self) -> None:
        if self.labels is None:
            raise ParameterError(
                'A scale must have labels, the least first, as in Scale(labels=["no", "hardly", "yes"]).'
            )
        super().__post_init__()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {**super().to_dict(), "kind": "scale"}
