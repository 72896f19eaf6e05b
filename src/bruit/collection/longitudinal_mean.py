"""The mean of a number over rounds (1BitMean): a stored threshold, and a memo for each side of it.

A person draws a threshold and, for each side of it, a memo; both before any number is looked at, and stored
permanently. A report shows the memo of the side that the current number is on, or with some chance a fair coin. One
report is one of Duchi's mechanism. A number that moves without crossing its threshold leaves no trace.

Rejected: a threshold drawn again in every round. A number that never changes would then show both memos, and the ε
of a memo would hold no longer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains.codes import Codes
from bruit.engines import memory, report_parsing
from bruit.entropy import Words
from bruit.errors import BruitError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.estimation.support import Target
from bruit.laws import Form, Itself, TwoLevelLaw
from bruit.numbers import Duchi
from bruit.numbers import from_dict as number_from_dict
from bruit.oracles.following import RefreshedBuckets
from bruit.oracles.refreshing import refresh_messages
from bruit.privacy.guarantee import Guarantee
from bruit.typing import ColumnLike


@dataclass(frozen=True)
class LongitudinalMean(RefreshedBuckets):
    """Ask the same people for a number again and follow it: a stored threshold, and a memo for each side.

    Parameters
    ----------
    number
        What one report is: `Duchi`, with the bounds of the number. Its ε is that of a single report.
    memo_epsilon
        The most that all reports of one memo may tell; above the ε of the number.

    Guarantee
    ---------
    One report has the ε of the number. `after` gives what T reports tell of any two histories of numbers with the same
    times of reports: exact up to `exact_rounds`, else a bound. **It grows with every report.** `unchanged` gives the ε
    between two numbers that never change: at most `memo_epsilon`. `one_round` gives the ε of one answer among any
    others. ``longitudinal_mean.proof.md`` has the argument. A report is one bit and names nobody; many reports of one
    person have the memo's bit more often, and that links them weakly.

    Error
    -----
    One round has the variance of `number`. The mean of T rounds of numbers that stay has (V − W)/T + W, where W is the
    variance at `memo_epsilon`; the threshold never averages out.

    References
    ----------
    Ding, B., Kulkarni, J., Yekhanin, S. (2017), Collecting telemetry data privately.

    Examples
    --------
    >>> from bruit.numbers import Duchi
    >>> design = LongitudinalMean(Duchi(epsilon=1.0, bounds=(0, 24)), memo_epsilon=2.0)
    >>> people = design.start(4000, rng=7)
    >>> monday = design.answer(people, [6] * 4000, rng=1)
    >>> friday = design.answer(people, [18] * 4000, rng=2)
    >>> [round(design.number.estimate(design.number.tally(rows)).mean) for rows in (monday, friday)]
    [6, 18]
    >>> [round(design.after(rounds).epsilon, 2) for rounds in (1, 2, 4)], round(design.unchanged(4).epsilon, 2)
    ([1.0, 2.0, 3.36], 1.97)
    """

    number: Duchi
    memo_epsilon: float

    def __post_init__(self) -> None:
        if not isinstance(self.number, Duchi):
            raise ParameterTypeError("number must be Duchi's mechanism, such as bruit.numbers.Duchi(…) gives.")
        if self.number.rounding != "nearest":
            raise ParameterError('A threshold lies between two cells: use rounding="nearest".')
        object.__setattr__(self, "memo_epsilon", _checks.epsilon(memo_epsilon=self.memo_epsilon))
        if self.memo_epsilon <= self.number.epsilon or self.keep >= 1:
            raise ParameterError(
                f"memo_epsilon must be above the epsilon of one report, {self.number.epsilon:g}, got "
                f"{self.memo_epsilon:g}: memos that are shown as they are give every crossing away."
            )

    @cached_property
    def memo(self) -> Duchi:
        """The mechanism whose report has the law of the memo of a threshold's side: Duchi's, at `memo_epsilon`."""
        return replace(self.number, epsilon=self.memo_epsilon)

    @cached_property
    def keep(self) -> Fraction:
        """How often a report shows the memo and not a fair coin; 1 − λ, exactly."""
        report, memo = self.number.law, self.memo.law
        return Fraction(report.slope * memo.total, memo.slope * report.total)

    @cached_property
    def memo_law(self) -> TwoLevelLaw:
        """What the memo of a side is drawn by: that side with the weight of the last cell, the other with the least."""
        law = self.memo.law
        return TwoLevelLaw(inside=law.total - law.least, outside=law.least, sets=Itself(values=2))

    @property
    def form(self) -> Form:
        """The dtype of a report."""
        return self.number.form

    @cached_property
    def memo_form(self) -> Form:
        """The dtype of what a person stores: the threshold, and the memos of both sides."""
        return Form(np.dtype([("threshold", "<u2"), ("memos", "u1", (2,))]))

    def encode(self, values: ColumnLike) -> Codes:
        """Cells of numbers."""
        return self.number.encode(values)

    def valid(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Which reports, or which stored rows, there can be."""
        if rows.dtype == self.memo_form.dtype:
            return np.asarray((rows["memos"] < 2).all(axis=1) & (rows["threshold"] < self.number.cells - 1))
        return self.number.valid(rows)

    # What a person does.

    def _draw(self, people: int, words: Words) -> NDArray[Any]:
        thresholds, memos = words.split(2)
        stored = np.empty(people, self.memo_form.dtype)
        stored["threshold"] = thresholds.stream().integers(self.number.cells - 1, people)
        ends = self.memo.codes_of(np.tile([0, self.number.cells - 1], people))
        stored["memos"] = self.memo.randomize(ends, memos).reshape(people, 2)
        return stored

    def select(self, stored: NDArray[Any], codes: Codes) -> NDArray[Any]:
        """The memo of the side that each person's current number is on."""
        self._check_stored(stored, codes)
        sides = (codes > stored["threshold"]).astype(np.int64)
        memos: NDArray[Any] = stored["memos"][np.arange(len(stored)), sides].astype(self.form.dtype)
        return memos

    def report(self, memos: NDArray[Any], words: Words) -> NDArray[Any]:
        """Reports of selected memos; block i of these people uses up part i of the words."""
        known = report_parsing.strict(self.form, memos)
        if not self.number.valid(known).all():
            raise ParameterError("memos must be those that this design gave.")
        out = np.empty_like(known)

        def write(index: int, block: slice) -> None:
            refresh_messages(known[block], 2, self.keep, words.part(index).stream(), out[block])

        memory.each_block(len(known), write)
        return out

    # What is promised, and what to expect.

    @property
    def _report_guarantee(self) -> Guarantee:
        return self.number.guarantee

    def variance(self, distribution: Any, n: int, rounds: int, target: Target = "population") -> float:
        """The variance of the mean over rounds of n people whose numbers stay; the cells have these probabilities."""
        rounds = _checks.integer(low=1, rounds=rounds)
        whole, memo = (step.variance(distribution, n, target) for step in (self.number, self.memo))
        return (whole - memo) / rounds + memo

    # Identity.

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this design; memories carry it."""
        return documents.digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"longitudinal_mean": self.number.to_dict(), "memo_epsilon": self.memo_epsilon}

    @classmethod
    def from_dict(cls, body: Any) -> Self:
        """The inverse of `to_dict`."""
        rule = "This document does not describe a longitudinal mean that this version knows."
        with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
            return cls(number_from_dict(body["longitudinal_mean"]), body["memo_epsilon"])  # type: ignore[arg-type]
