"""The same people again: longitudinal collection with memoisation (L-GRR, L-SUE or basic RAPPOR, L-OSUE).

The mean of twelve reports of the same value with fresh noise gives the value away. So a message is drawn
once in an *epoch*, the memo, and every report of the epoch shows the memo with a chance, or else any message at all.
All reports together tell no more than the memo.

One report is a report of the oracle itself: the chance is the exact fraction that makes it so. Estimates, variances,
intervals, attacks, cards and audits of a round are therefore those of the oracle, and nothing here repeats them.
Memoised subset selection is as good in one round as subset selection without memory, whatever the ε of an epoch.

Rejected: the two rounds of randomised response as L-GRR is published, which take the second law from a formula that is
right for two values only; at 50 values their variance is 26 times larger. Rejected: a memo derived from a key and the
current value, because equal memos then show which values are equal, and the ε of an epoch holds no longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains.codes import Codes
from bruit.engines import report_parsing
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import BruitError, FormatError, ParameterError, ParameterTypeError, translated
from bruit.estimation.tally import Tally
from bruit.laws import Form
from bruit.mechanism import whole_counts
from bruit.oracles.base import Oracle
from bruit.oracles.named import from_dict
from bruit.oracles.series import Series
from bruit.privacy.composition import sequential
from bruit.privacy.guarantee import Guarantee
from bruit.rounding import log_ceiling
from bruit.tables import Described
from bruit.typing import ColumnLike

#: The most rounds of an epoch whose ε is computed from whole numbers; what more cost is at most that of the epoch.
ROUNDS_LIMIT = 4096


@runtime_checkable
class RefreshedLaw(Protocol):
    """A law whose messages can be shown again with a chance: two levels, or bits."""

    def keep_chance(self, report: Any) -> Fraction:
        """How often a message is kept for the outcome to have the law `report`."""
        ...

    def repeated_ratio(self, keep: Fraction, rounds: int) -> Fraction:
        """The largest ratio of several reports of one message, exactly."""
        ...

    def round_ratio(self, keep: Fraction) -> Fraction:
        """The largest ratio of one report of any two messages."""
        ...

    def refresh_weight(self, keep: Fraction) -> int:
        """How many of 2⁶⁴ words refresh a message, rounded up."""
        ...


@dataclass(frozen=True)
class Repeated(Described):
    """Ask the same people again: each report is one of `oracle`, and all of an epoch tell at most `epoch`.

    A person draws a memo from the value at the first report of an epoch, stores it, and uses it in every round of that
    epoch whatever the value becomes. Estimates therefore speak of the values at the first reports. Epochs are public:
    the same for everybody, or at least not chosen by the value.

    Parameters
    ----------
    oracle
        What one report is: GRR, SUE, OUE, SS, HR, PGR, hashing, or a `SetOracle`. Its ε is that of a single report.
    epoch
        The most that all reports of one epoch may tell together, at least the ε of the oracle. Equal to it, every
        report of an epoch is the memo itself.
    follow_changes
        Whether a person draws another memo for another value, and takes the old one again when a value returns.
        Estimates then speak of the values of each round. It protects less: see below.

    Guarantee
    ---------
    `guarantees` has ``"report"`` and ``"epoch"``; `after` gives the ε of several reports of one epoch, which is exact,
    at most that of the epoch, and may be more than the sum of single reports. `over` gives that of several epochs, for
    any two histories of values of one person with the same times of reports. ``repeated.proof.md`` has the argument.
    Two memos in one epoch, as after a memory was lost, cost as much as two epochs. With hashing, the function of
    a memo is in every report of the epoch: it links the reports of a person, and tells nothing of the value.

    With `follow_changes` there is no ε of an epoch. `same_changes` gives what holds between histories whose values are
    equal at the same pairs of rounds: as many times the ε of the memo as there are different values. When somebody
    changes is not hidden, and `after` gives what holds for any two histories: T·ln R, which grows with every report.

    Error
    -----
    One round has the variance of the oracle. The mean of T rounds has (V − W)/T + W, where W is the variance of the
    oracle at ε `epoch`: the memo does not average out.

    References
    ----------
    Erlingsson, Ú., Pihur, V., Korolova, A. (2014), RAPPOR: randomized aggregatable privacy-preserving ordinal response.
    Ding, B., Kulkarni, J., Yekhanin, S. (2017), Collecting telemetry data privately.
    Arcolezi, H. H. et al. (2022), Improving the utility of locally differentially private protocols for longitudinal
    and multidimensional frequency estimates.
    Arcolezi, H. H. et al. (2023), Frequency estimation of evolving data under local differential privacy.

    Examples
    --------
    >>> from bruit.oracles import RandomizedResponse
    >>> panel = Repeated(RandomizedResponse(epsilon=1.0, k=50), epoch=2.0)
    >>> memos = panel.memoize([7, 7, 49], rng=7)
    >>> reports = [panel.answer(memos, rng=round) for round in range(12)]
    >>> panel.oracle.tally(reports[0]).n
    3
    >>> print(panel.after(12))
    ε = 2 (local, one answer changed)
    >>> [round(panel.after(rounds).epsilon, 3) for rounds in (1, 2, 3)]
    [1.0, 1.903, 1.995]
    """

    oracle: Oracle
    epoch: float
    follow_changes: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.oracle, Oracle):
            raise ParameterTypeError("oracle must be an Oracle, such as bruit.oracle(...) gives.")
        object.__setattr__(self, "epoch", _checks.epsilon(epoch=self.epoch))
        if self.epoch < self.oracle.epsilon or self.keep > 1:
            raise ParameterError(
                f"epoch must be at least the epsilon of one report, {self.oracle.epsilon:g}, got {self.epoch:g}."
            )
        if self.follow_changes:
            self._check_following()
        # Nobody's memos: an oracle that cannot draw a message evenly refuses them.
        self.oracle.refresh(self.oracle.form.empty(0), self.keep, Words(0))

    def _check_following(self) -> None:
        """Refuse what would show every change for certain."""
        if self.keep == 1:
            raise ParameterError(
                "follow_changes needs an epoch above the epsilon of one report: memos that are shown as they are give "
                "every change away."
            )
        if self.oracle.sets is not None and self.oracle.sets.kind == "hash":
            raise ParameterError(
                "follow_changes is not for hashing: another memo has another hash function, which gives every change "
                "away. Take GRR, SS, OUE, SUE, HR or PGR, or LongitudinalHashing."
            )

    @cached_property
    def memo(self) -> Oracle:
        """The oracle that a memo is drawn by: the same messages at the ε of the epoch."""
        if self.epoch == self.oracle.epsilon:
            return self.oracle
        return self.oracle.at_epsilon(self.epoch)

    @cached_property
    def keep(self) -> Fraction:
        """How often a report shows the memo and not any message; of bits, each bit. 1 − λ, exactly."""
        return self._law.keep_chance(self.oracle.law)

    @property
    def refresh_weight(self) -> int:
        """What a card says of a round: how many of 2⁶⁴ words refresh a memo, or a bit of it; rounded up."""
        return self._law.refresh_weight(self.keep)

    @property
    def form(self) -> Form:
        """The dtype and bytes of a memo or report."""
        return self.oracle.form

    def encode(self, values: ColumnLike) -> Codes:
        """Codes of values, as the oracle reads them."""
        return self.oracle.encode(values)

    def valid(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Which memos or reports there can be, of rows in their form."""
        return self.oracle.valid(rows)

    @property
    def _law(self) -> RefreshedLaw:
        law = self.memo.law
        if not isinstance(law, RefreshedLaw):
            raise ParameterError(f"{self.oracle.name} cannot be repeated: its law is of neither two levels nor bits.")
        return law

    # What a person does.

    def memoize(self, values: Any, rng: Randomness = None) -> NDArray[Any]:
        """The memos of an epoch, one per person: to be stored by the person and shown to nobody.

        Parameters
        ----------
        values, rng
            As for `Oracle.privatize`.
        """
        return self.remember(self.oracle.encode(values), Words.resolve(rng, "memoize", self.digest))

    def answer(self, memos: NDArray[Any], rng: Randomness = None) -> NDArray[Any]:
        """The reports of one round, one per memo; with fresh randomness in every round.

        Parameters
        ----------
        memos
            As `memoize` gives them.
        rng
            As for `Oracle.privatize`. A number must be another one in every round: the same one gives the same reports.
        """
        return self.report(memos, Words.resolve(rng, "answer", self.digest))

    def remember(self, codes: Codes, words: Words) -> NDArray[Any]:
        """Memos of codes that `oracle.encode` gave; block i of these people uses up part i of the words."""
        return self.memo.randomize(codes, words)

    def report(self, memos: NDArray[Any], words: Words) -> NDArray[Any]:
        """Reports of memos; block i of these people uses up part i of the words."""
        known = report_parsing.strict(self.oracle.form, memos)
        if not self.oracle.valid(known).all():
            raise ParameterError("memos must be those that this design gave.")
        return self.oracle.refresh(known, self.keep, words)

    def epoch_of(self, round: int, epoch: int | None = None) -> int:
        """The epoch that a round is said to be in, 0 unless something is said."""
        _checks.integer(low=0, round=round)
        return _checks.integer(low=0, epoch=0 if epoch is None else epoch)

    # What is promised.

    @cached_property
    def guarantees(self) -> dict[str, Guarantee]:
        """What one report tells of the value behind the memo, and what all reports of an epoch do, however many.

        With `follow_changes` the second is for ``"same-changes"`` and histories that take on every value.
        """
        if self.follow_changes:
            return {"report": self.oracle.guarantee, "same-changes": self.same_changes(self.oracle.size)}
        return {"report": self.oracle.guarantee, "epoch": self.memo.guarantee}

    def same_changes(self, values: int) -> Guarantee:
        """What all reports of an epoch tell that follow changes among this number of values.

        It holds between histories whose values are equal at the same pairs of rounds, and no others: when somebody
        changes is not hidden.
        """
        values = _checks.integer(low=1, high=self.oracle.size, values=values)
        memo = Guarantee(epsilon=self.memo.guarantee.epsilon, neighbours="same-changes")
        return sequential([memo] * values)

    def _any_histories(self, rounds: int) -> Guarantee:
        """T·ln R: every report of any memo is at most R times as likely as of any other."""
        single = self.oracle.guarantee.epsilon if rounds == 1 else log_ceiling(self._law.round_ratio(self.keep))
        return sequential([Guarantee(epsilon=single, neighbours="person")] * rounds)

    def after(self, rounds: int) -> Guarantee:
        """What this number of reports of one epoch tells in all: the exact ε, rounded up.

        With `follow_changes`, a bound for any two histories of values.
        """
        rounds = _checks.integer(low=1, rounds=rounds)
        if self.follow_changes:
            return self._any_histories(_checks.integer(low=1, high=ROUNDS_LIMIT, rounds=rounds))
        if rounds > ROUNDS_LIMIT:
            return self.guarantees["epoch"]
        ratio = self._law.repeated_ratio(self.keep, rounds)
        return Guarantee(epsilon=log_ceiling(ratio), neighbours="value")

    def over(self, epochs: int, rounds: int | None = None) -> Guarantee:
        """What several epochs tell in all, with this number of rounds each, or any; for any two histories."""
        epochs = _checks.integer(low=1, high=ROUNDS_LIMIT, epochs=epochs)
        if self.follow_changes and rounds is None:
            raise ParameterError("With follow_changes every report costs: say how many rounds an epoch has.")
        single = self.guarantees["epoch"] if rounds is None else self.after(rounds)
        whole = Guarantee(epsilon=single.epsilon, neighbours="person")
        return sequential([whole] * epochs)

    # What the collector does.

    def series(self, tallies: Sequence[Tally], epochs: Sequence[int] | None = None) -> Series:
        """Estimates of several rounds: of each, of their mean, and of differences.

        Parameters
        ----------
        tallies
            One tally of `oracle` for each round.
        epochs
            The number of the epoch of each round; without it all rounds are of one epoch.
        """
        known = tuple(tallies)
        when = tuple(epochs) if epochs is not None else (0,) * len(known)
        return Series(self.oracle, self.memo, known, when, follow_changes=self.follow_changes)

    def simulate(self, counts: Any, rounds: int, rng: Randomness = None) -> Series:
        """A series of people of whom counts[v] have value v at their first report, with the law of real reports.

        Parameters
        ----------
        counts
            One number per value; or one row of them per epoch, all of the same number of people.
        rounds
            How many rounds each epoch has; everybody reports in each.
        rng
            As for `Oracle.simulate`.
        """
        rounds = _checks.integer(low=1, high=ROUNDS_LIMIT, rounds=rounds)
        table = np.atleast_2d(np.asarray(counts))
        people = [whole_counts(row, self.oracle.size) for row in table]
        generator = Entropy.resolve(rng, "simulate", self.digest).generator()
        tallies = [
            Tally(design=self.oracle.digest, counts=drawn, n=int(row.sum()), simulated=True)
            for row in people
            for drawn in self.oracle.simulate_rounds(self.memo, row, self.keep, rounds, generator)
        ]
        return self.series(tallies, [epoch for epoch in range(len(people)) for _ in range(rounds)])

    # Identity.

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this design; memories carry it."""
        return documents.digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        following = {"follow_changes": True} if self.follow_changes else {}
        return {"repeated": self.oracle.to_dict(), "epoch": self.epoch, **following}

    @classmethod
    def from_dict(cls, body: Any) -> Self:
        """The inverse of `to_dict`."""
        rule = "This document does not describe a repeated oracle that this version knows."
        with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
            return cls(from_dict(body["repeated"]), body["epoch"], follow_changes=bool(body.get("follow_changes")))
