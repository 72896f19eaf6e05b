"""Longitudinal local hashing (LOLOHA, BiLOLOHA): one hash function per person, and a memo for each bucket.

A person draws a hash function into g buckets and, for each bucket, a memo. Both are drawn before any value is looked at
and are stored permanently. A report shows the memo of the bucket of the current value, or with some chance any
bucket. So reports follow the values of each round, and a change within a bucket leaves no trace.

Rejected: a new function with every memo, which shows each change for certain. Rejected: epochs, because the function
would have to stay, and links the reports of a person in any case.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains.codes import Codes
from bruit.engines import report_parsing
from bruit.entropy import Words
from bruit.errors import BruitError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.estimation.tally import Tally
from bruit.kernels import hash_family
from bruit.laws import Form, TwoLevelLaw
from bruit.oracles.following import RefreshedBuckets
from bruit.oracles.local_hashing import LocalHashing
from bruit.oracles.named import from_dict
from bruit.oracles.randomized_response import RandomizedResponse
from bruit.oracles.series import Series
from bruit.privacy.guarantee import Guarantee
from bruit.typing import ColumnLike

#: The most buckets: a person stores a memo for each.
BUCKET_LIMIT = 256


@dataclass(frozen=True)
class LongitudinalHashing(RefreshedBuckets):
    """Ask the same people again and follow their values: one hash function per person, one memo for each bucket.

    Parameters
    ----------
    oracle
        What one report is: local hashing (OLH, BLH, LH) without a pool. Its ε is that of a single report.
    memo_epsilon
        The most that all reports of one memo may tell; above the ε of the oracle.

    Guarantee
    ---------
    One report has the ε of the oracle. `after` gives what T reports tell of any two histories of values with the same
    times of reports: exact up to `exact_rounds`, else a bound. **It grows with every report**, by about
    (1 − 1/g)·ln R. `unchanged` gives the ε between two people who never change: at most `memo_epsilon`. `one_round`
    gives the ε of one answer among any others: ln R. The papers state g·ε∞ (`published_claim`). That holds
    between histories whose *buckets* are equal at the same pairs of rounds, and between no others.
    ``longitudinal_hashing.proof.md`` has the argument.

    **The function is in every report and links all reports of a person permanently.** It tells nothing of the value.
    A lost memory that is replaced costs once more what its reports tell.

    Error
    -----
    One round has the variance of the oracle. The mean of T rounds of a value that stays has (V − W)/T + W, where W is
    the variance of the oracle at `memo_epsilon`. W is above 1/(g − 1): the noise of the function never averages out.

    References
    ----------
    Arcolezi, H. H. et al. (2023), Frequency estimation of evolving data under local differential privacy.

    Examples
    --------
    >>> import bruit
    >>> design = LongitudinalHashing(bruit.oracle("BLH", epsilon=1.0, k=100), memo_epsilon=2.0)
    >>> people = design.start(3, rng=7)
    >>> january = design.answer(people, [7, 7, 99], rng=1)
    >>> february = design.answer(people, [7, 8, 99], rng=2)
    >>> design.oracle.tally(february).n
    3
    >>> [round(design.after(rounds).epsilon, 2) for rounds in (1, 2, 4, 5)], design.published_claim
    ([1.0, 2.0, 3.36, 4.02], 4.0)
    """

    oracle: LocalHashing
    memo_epsilon: float

    def __post_init__(self) -> None:
        if not isinstance(self.oracle, LocalHashing):
            raise ParameterTypeError('oracle must be local hashing, such as bruit.oracle("OLH", …) gives.')
        object.__setattr__(self, "memo_epsilon", _checks.epsilon(memo_epsilon=self.memo_epsilon))
        if self.oracle.pool is not None:
            raise ParameterError("Each person draws a hash function of their own: leave pool out.")
        _checks.integer(low=2, high=BUCKET_LIMIT, g=self.oracle.g)
        if self.memo_epsilon <= self.oracle.epsilon or self.keep >= 1:
            raise ParameterError(
                f"memo_epsilon must be above the epsilon of one report, {self.oracle.epsilon:g}, got "
                f"{self.memo_epsilon:g}: memos that are shown as they are give every change of bucket away."
            )

    @property
    def buckets(self) -> int:
        """How many buckets, g."""
        return self.oracle.g

    @cached_property
    def memo(self) -> LocalHashing:
        """The oracle whose report has the law of a function and the memo of one bucket."""
        return self.oracle.at_epsilon(self.memo_epsilon)

    @cached_property
    def keep(self) -> Fraction:
        """How often a report shows the memo and not any bucket; 1 − λ, exactly."""
        return self.memo.law.keep_chance(self.oracle.law)

    @cached_property
    def _bucket_memo(self) -> RandomizedResponse:
        """What the memo of a bucket is drawn by."""
        return RandomizedResponse(epsilon=self.memo_epsilon, k=self.buckets)

    @property
    def form(self) -> Form:
        """The dtype of a report."""
        return self.oracle.form

    @cached_property
    def memo_form(self) -> Form:
        """The dtype of what a person stores: the function, and the memos of all buckets."""
        bucket = self.form.dtype["bucket"]
        return Form(np.dtype([("a", "<u8"), ("b", "<u8"), ("memos", bucket, (self.buckets,))]))

    def encode(self, values: ColumnLike) -> Codes:
        """Codes of values, as the oracle reads them."""
        return self.oracle.encode(values)

    def valid(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Which reports, or which stored rows, there can be."""
        if rows.dtype == self.memo_form.dtype:
            return np.asarray((rows["memos"] < self.buckets).all(axis=1))
        return self.oracle.valid(rows)

    # What a person does.

    def _draw(self, people: int, words: Words) -> NDArray[Any]:
        functions, memos = words.split(2)
        stored = np.empty(people, self.memo_form.dtype)
        stored["a"], stored["b"] = functions.stream().words(2 * people).reshape(2, people)
        own = self._bucket_memo.codes_of(np.tile(np.arange(self.buckets), people))
        stored["memos"] = self._bucket_memo.randomize(own, memos).reshape(people, self.buckets)
        return stored

    def select(self, stored: NDArray[Any], codes: Codes) -> NDArray[Any]:
        """The function and the memo of the bucket that each person's current value is in."""
        self._check_stored(stored, codes)
        buckets = hash_family.bucket(stored["a"], stored["b"], self.oracle.words_of(codes), self.buckets)
        memos = self.form.empty(len(stored))
        memos["a"], memos["b"] = stored["a"], stored["b"]
        memos["bucket"] = stored["memos"][np.arange(len(stored)), buckets]
        return memos

    def report(self, memos: NDArray[Any], words: Words) -> NDArray[Any]:
        """Reports of selected memos; block i of these people uses up part i of the words."""
        known = report_parsing.strict(self.form, memos)
        if not self.oracle.valid(known).all():
            raise ParameterError("memos must be those that this design gave.")
        return self.oracle.refresh(known, self.keep, words)

    # What is promised.

    @property
    def memo_law(self) -> TwoLevelLaw:
        """What the memo of a bucket is drawn by: randomised response over the buckets."""
        return self._bucket_memo.law

    @property
    def _report_guarantee(self) -> Guarantee:
        return self.oracle.guarantee

    @property
    def published_claim(self) -> float:
        """g·ε∞, as the papers state. It holds only between histories whose buckets agree at the same pairs of rounds.

        Other histories pass it after enough rounds. Values that are equal at the same pairs of rounds are not enough: a
        function may put two values of the one history into one bucket, and those of the other into two.
        """
        return self.buckets * self.memo_epsilon

    # What the collector does.

    def series(self, tallies: Sequence[Tally]) -> Series:
        """Estimates of several rounds, one tally of `oracle` for each: of each, of their mean, and of differences."""
        known = tuple(tallies)
        return Series(self.oracle, self.memo, known, (0,) * len(known), follow_changes=True)

    # Identity.

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this design; memories carry it."""
        return documents.digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"longitudinal_hashing": self.oracle.to_dict(), "memo_epsilon": self.memo_epsilon}

    @classmethod
    def from_dict(cls, body: Any) -> Self:
        """The inverse of `to_dict`."""
        rule = "This document does not describe longitudinal hashing that this version knows."
        with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
            return cls(from_dict(body["longitudinal_hashing"]), body["memo_epsilon"])  # type: ignore[arg-type]


def published_buckets(epsilon: float, epoch_epsilon: float) -> int:
    """The number of buckets that LOLOHA is published with, best for its own second step.

    >>> [published_buckets(*pair) for pair in ((0.5, 1.0), (1.0, 2.0), (2.0, 4.0), (3.0, 5.0))]
    [2, 3, 7, 17]
    """
    a, b = math.exp(epoch_epsilon), math.exp(epsilon)
    if a == b:
        return 2
    root = math.sqrt(max(0.0, a**4 - 14 * a**2 - 12 * a**2 * b**2 + 12 * a * b + 12 * a**3 * b + 1))
    return max(2, round((root - a**2 + 6 * a - 6 * b + 1) / (6 * (a - b))))
