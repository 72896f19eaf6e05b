"""Designs that follow changes: a person stores a memo for each bucket, and shows the one of the current value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.codes import Codes
from bruit.entropy import Randomness, Words
from bruit.errors import DataError, ParameterError
from bruit.laws import Form, TwoLevelLaw
from bruit.oracles.histories import BucketHistories
from bruit.oracles.repeated import ROUNDS_LIMIT
from bruit.privacy.guarantee import Guarantee
from bruit.rounding import log_ceiling
from bruit.tables import Described


class FollowedChanges(Described, ABC):
    """What a person stores permanently, and what a round shows of it.

    `LongitudinalHashing`, `DBitFlip` and `bruit.collection.LongitudinalMean` are such designs. A memory takes all.

    Guarantee
    ---------
    `after` is for any two histories of values with the same times of reports, `unchanged` for two values that stay.
    When somebody reports must not depend on the value. The proof note of each design has the argument.
    """

    @property
    @abstractmethod
    def digest(self) -> str:
        """32 hexadecimal digits that identify this design; memories carry it."""

    @property
    @abstractmethod
    def memo_form(self) -> Form:
        """The dtype of what a person stores."""

    @abstractmethod
    def valid(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Which reports, or which stored rows, there can be."""

    @abstractmethod
    def encode(self, values: Any) -> Codes:
        """Codes of values."""

    @abstractmethod
    def select(self, stored: NDArray[Any], codes: Codes) -> NDArray[Any]:
        """The memo of the bucket that each person's current value is in."""

    @abstractmethod
    def report(self, memos: NDArray[Any], words: Words) -> NDArray[Any]:
        """Reports of selected memos; block i of these people uses up part i of the words."""

    @abstractmethod
    def _draw(self, people: int, words: Words) -> NDArray[Any]:
        """What people store."""

    @property
    @abstractmethod
    def guarantees(self) -> dict[str, Guarantee]:
        """What is promised, by name; ``"report"`` is for one report."""

    @abstractmethod
    def after(self, rounds: int) -> Guarantee:
        """What this number of reports tells of any two histories of values."""

    @abstractmethod
    def unchanged(self, rounds: int) -> Guarantee:
        """What this number of reports tells between two values that never change."""

    def _check_stored(self, stored: NDArray[Any], codes: Codes) -> None:
        """Refuse rows that this design does not store, and values that are not one per person."""
        if stored.dtype != self.memo_form.dtype or not self.valid(stored).all():
            raise ParameterError("stored must be what this design gave at the start.")
        if len(stored) != len(codes):
            raise DataError("There must be a value for every person: missing values are dropped.")

    @property
    def stored_bytes(self) -> int:
        """How much a person stores, whatever the number of rounds."""
        return self.memo_form.dtype.itemsize

    @property
    def follow_changes(self) -> bool:
        """True: estimates speak of the values of each round, and a memory looks at the value in each."""
        return True

    # What a person does.

    def start(self, people: int, rng: Randomness = None) -> NDArray[Any]:
        """What each of these people stores permanently; no value is needed.

        Parameters
        ----------
        people
            How many.
        rng
            As for `Oracle.privatize`.
        """
        count = _checks.integer(low=0, people=people)
        return self._draw(count, Words.resolve(rng, "start", self.digest))

    def answer(self, stored: NDArray[Any], values: Any, rng: Randomness = None) -> NDArray[Any]:
        """The reports of one round from the current values; with fresh randomness in every round.

        Parameters
        ----------
        stored
            As `start` gives it, in the order of the people.
        values
            One value per person.
        rng
            As for `Oracle.privatize`. A number must be another one in every round: the same one gives the same reports.
        """
        memos = self.select(stored, self.encode(values))
        return self.report(memos, Words.resolve(rng, "answer", self.digest))

    def remember(self, codes: Codes, words: Words) -> NDArray[Any]:
        """What people store; of their codes only the number is used."""
        return self._draw(len(codes), words)

    def epoch_of(self, round: int, epoch: int | None = None) -> int:
        """Always 0: what is stored is permanent."""
        _checks.integer(low=0, round=round)
        if epoch not in (None, 0):
            raise ParameterError("This design has no epochs: what a person stores is permanent. Leave epoch out.")
        return 0


class RefreshedBuckets(FollowedChanges):
    """A design whose reports show the memo of a bucket, or with some chance any message: what histories cost.

    Guarantee
    ---------
    `after` grows with every report. ``longitudinal_hashing.proof.md`` has the argument.
    """

    @property
    @abstractmethod
    def keep(self) -> Fraction:
        """How often a report shows the memo and not any message; 1 − λ, exactly."""

    @property
    @abstractmethod
    def memo_law(self) -> TwoLevelLaw:
        """What the memo of a bucket is drawn by."""

    @property
    @abstractmethod
    def _report_guarantee(self) -> Guarantee:
        """What one report tells."""

    @cached_property
    def _histories(self) -> BucketHistories:
        return BucketHistories(self.memo_law, self.keep)

    @cached_property
    def guarantees(self) -> dict[str, Guarantee]:
        """What one report tells, what one answer among any others does, and what a value that never changes does."""
        unchanged = Guarantee(epsilon=log_ceiling(self.memo_law.ratio), neighbours="value")
        return {"report": self._report_guarantee, "one-round": self.one_round, "unchanged": unchanged}

    @property
    def exact_rounds(self) -> int:
        """Up to how many reports `after` is exact."""
        return self._histories.searched_rounds

    def after(self, rounds: int) -> Guarantee:
        """What this number of reports tells of any two histories of values, rounded up; beyond `exact_rounds` a bound.

        With fewer values than buckets it is a bound too.
        """
        rounds = _checks.integer(low=1, high=ROUNDS_LIMIT, rounds=rounds)
        return Guarantee(epsilon=log_ceiling(self._histories.largest_ratio(rounds)), neighbours="person")

    def unchanged(self, rounds: int) -> Guarantee:
        """What this number of reports tells between two values that never change: exact, at most that of a memo."""
        rounds = _checks.integer(low=1, rounds=rounds)
        if rounds > ROUNDS_LIMIT:
            return self.guarantees["unchanged"]
        return Guarantee(epsilon=log_ceiling(self.memo_law.repeated_ratio(self.keep, rounds)), neighbours="value")

    @cached_property
    def one_round(self) -> Guarantee:
        """What all reports tell of the answer in one round, whatever the other answers: at most ln R."""
        return Guarantee(epsilon=log_ceiling(self._histories.round_ratio), neighbours="value")
