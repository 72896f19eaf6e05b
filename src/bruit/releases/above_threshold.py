"""The sparse vector technique (SVT, AboveThreshold): which of many answers are the first above a threshold.

However many answers are asked about, only those above are paid for: what lies below the threshold is told for free. The
price is that the session ends with the answer above that it was opened for, by default the first. Noise on the answers
grows with how many may be above; going on after that takes another session and another ε.

Answers, threshold and sensitivity are whole numbers, and so is the noise, which is exact. Other answers are first
expressed in whole numbers of a unit: count − n/10 becomes 10·count − n with sensitivity 10. The arguments are in
``above_threshold.proof.md``.

Rejected: giving the noisy answer together with "above", or going on after it with noise for one answer above. Both are
found in published code, and both lose more than ε. Rejected, too: a new noisy threshold after each answer above, as the
book has it. It is as private with more noise.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.entropy import Randomness, Words
from bruit.errors import DataTypeError, LedgerError, translated
from bruit.privacy.booking import LedgerLike, booked
from bruit.privacy.guarantee import Guarantee
from bruit.privacy.ledger import Line
from bruit.privacy.zcdp import pure_rho
from bruit.releases.laws import FirstAboveLaw
from bruit.releases.noise import MOST_SUM, DiscreteLaplace, cut
from bruit.releases.person import MOST_ROWS
from bruit.releases.statistic import CENTRAL, CentralNeighbours

__all__ = ["AboveThreshold", "AboveThresholdSession"]

#: Thresholds are at most this, and answers are cut to it, so that sums with noise fit 64 bits.
MOST = MOST_SUM
#: The most answers above that a session may give.
MOST_ABOVE = 10**6
#: How many draws of noise a session makes at a time.
_BLOCK = 512


@dataclass(frozen=True, kw_only=True)
class AboveThreshold:
    """Find the first answers above a threshold, and pay for those only (sparse vector technique, SVT).

    Parameters
    ----------
    epsilon
        The privacy loss that a whole session may have.
    threshold
        What the answers are compared with; public, a whole number.
    sensitivity
        The most that one record changes an answer, a whole number. Answers beyond ±2⁶¹ count as that.
    monotone
        Whether, besides, the changes that one record makes to different answers differ by at most `sensitivity`. This
        holds when they all move the same way, as counts do when one record is added, and for counts below different
        bounds when one record is replaced. It allows half the noise. If it is said of other answers, the session loses
        up to 1.5 ε.
    neighbours
        Under which neighbours the two statements above hold: ``"add-remove"`` or ``"replace"``.
    rows
        Where people have several rows, how many of a person count in the answers: `Person.bounded` gives such rows.
        The two statements above are then about one *row* that is added or removed, whatever the neighbours, and the
        guarantee is about a person.
    answers_above
        How many answers above a session gives before it closes. The noise on the answers grows with it.

    Guarantee
    ---------
    ε for all that a session ever says, for answers that may be chosen one after the other. With noise of scale s₁ on
    the threshold, s₂ on the answers and c answers above, the loss is sensitivity·(1/s₁ + 2c/s₂), and
    sensitivity·(1/s₁ + c/s₂) for monotone answers. One answer above has s₁ = 2/ε and s₂ = 4/ε, or 2/ε for both.
    Several have 1/s₁ : 2c/s₂ = 1 : (2c)^⅔, or 1/s₁ : c/s₂ = 1 : c^⅔, which is best where all answers are far from the
    threshold. No smaller loss holds for all streams of answers.

    Error
    -----
    With probability 1 − β, no answer among k that is passed over lies more than α above the threshold, and the one
    found lies at most α below it. `accuracy(k, beta)` gives the α of the noise that is drawn. For one answer above it
    is at most 6(ln k + ln(2/β))·sensitivity/ε + 1, or 4(…)·sensitivity/ε + 1 for monotone answers; the book has 8(…)/ε.

    References
    ----------
    Dwork and Roth (2014), The algorithmic foundations of differential privacy, section 3.6. Lyu, Su and Li (2017),
    Understanding the sparse vector technique for differential privacy.

    Examples
    --------
    >>> alarm = AboveThreshold(epsilon=1.0, threshold=1000, monotone=True)
    >>> session = alarm.start(rng=7)
    >>> session.ask(20), session.ask(35)
    (False, False)
    >>> session.first([40, 3000, 10])
    3
    >>> session.ask(20)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bruit.errors.LedgerError: This session is closed: ...

    Three days above for one ε:

    >>> busy = AboveThreshold(epsilon=1.0, threshold=1000, monotone=True, answers_above=3)
    >>> busy.start(rng=7).all_above([20, 3000, 35, 4000, 40, 5000, 6000])
    [1, 3, 5]
    """

    #: What a seed is mixed with.
    verb: ClassVar[str] = "above-threshold"

    epsilon: float
    threshold: int
    sensitivity: int = 1
    monotone: bool = False
    neighbours: CentralNeighbours = "add-remove"
    rows: int | None = None
    answers_above: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.spent_epsilon(epsilon=self.epsilon))
        _checks.warn_of_weak(self.epsilon)
        object.__setattr__(self, "threshold", _checks.integer(low=-MOST, high=MOST, threshold=self.threshold))
        object.__setattr__(self, "sensitivity", _checks.integer(low=1, sensitivity=self.sensitivity))
        object.__setattr__(self, "monotone", bool(self.monotone))
        _checks.one_of(CENTRAL, neighbours=self.neighbours)
        if self.rows is not None:
            object.__setattr__(self, "rows", _checks.integer(low=1, high=MOST_ROWS, rows=self.rows))
        above = _checks.integer(low=1, high=MOST_ABOVE, answers_above=self.answers_above)
        object.__setattr__(self, "answers_above", above)
        _ = self.threshold_noise, self.answer_noise  # what cannot be drawn exactly is refused here

    @cached_property
    def threshold_noise(self) -> DiscreteLaplace:
        """The noise on the threshold."""
        # Exact: the part of the answers is at least a half (Sterbenz), so that both parts are ε together.
        return DiscreteLaplace.calibrate(self._change, self.epsilon - self._answers_epsilon)

    @cached_property
    def answer_noise(self) -> DiscreteLaplace:
        """The noise on each answer."""
        return DiscreteLaplace.calibrate(self.answers_above * self._gap, self._answers_epsilon)

    @property
    def _answers_epsilon(self) -> float:
        """The part of ε for the answers: a half for one answer above, more for several."""
        if self.answers_above == 1:
            return self.epsilon / 2
        ratio: float = (self.answers_above * self._gap / self._change) ** (2 / 3)
        return self.epsilon * max(0.5, ratio / (1 + ratio))

    @property
    def _change(self) -> int:
        """The most that an answer changes between neighbours: `sensitivity` for each row that comes or goes."""
        if self.rows is None:
            return self.sensitivity
        return self.sensitivity * self.rows * (2 if self.neighbours == "replace" else 1)

    @property
    def _gap(self) -> int:
        """The most by which the changes of two answers differ."""
        return self._change if self.monotone else 2 * self._change

    @property
    def loss(self) -> Fraction:
        """The exact privacy loss of a session."""
        return self.threshold_noise.loss(self._change) + self.answer_noise.loss(self.answers_above * self._gap)

    @property
    def guarantee(self) -> Guarantee:
        """What a whole session promises: the ε asked; the exact `loss` is at most that, and at most 10⁻⁹ of it less."""
        neighbours: Any = self.neighbours if self.rows is None else f"person-{self.neighbours}"
        return Guarantee(epsilon=self.epsilon, neighbours=neighbours)

    @property
    def rho(self) -> float:
        """The ρ-zCDP of a session: that of any pure release, ε²/2. Its losses span more than ε: no eighth here."""
        return pure_rho(self.epsilon)

    def accuracy(self, k: int, beta: float = 0.05) -> int:
        """By how much an answer can be misjudged, but for a probability β, when k answers are asked about.

        >>> AboveThreshold(epsilon=1.0, threshold=0).accuracy(k=1000, beta=0.05)
        49
        """
        _checks.integer(low=1, k=k)
        _checks.probability(beta=beta)
        # Half of β for the threshold, the other half for the worst of the k answers.
        return int(self.threshold_noise.half_width(1 - beta / 2) + self.answer_noise.half_width(1 - beta / (2 * k)))

    def start(
        self, ledger: LedgerLike | None = None, rng: Randomness = None, *, label: str | None = None
    ) -> AboveThresholdSession:
        """Book the guarantee, then draw the noisy threshold: a session that answers until it has all its "above".

        Parameters
        ----------
        ledger
            The ledger to book in, or a part of it. Without one nothing is booked.
        rng
            None for secure noise; a whole number for a reproducible session, which is marked as simulated; or an
            `Entropy`.
        label
            What the ledger writes down; public.
        """
        words = Words.resolve(rng, self.verb, self.digest)
        return AboveThresholdSession(self, booked(self, ledger, words, label))

    def lines(self, label: str | None = None) -> list[Line]:
        """What a ledger books."""
        return [Line(self.guarantee, label or "first above threshold", self.rho)]

    def law(self, answers: Iterable[int]) -> FirstAboveLaw:
        """Which of these answers is the first above; for audits, and as secret as the answers.

        Later answers above are not in this law: `above_threshold.proof.md` has the law of all.
        """
        exact = _whole_numbers(list(answers))
        return FirstAboveLaw(tuple(exact.tolist()), self.threshold, self.threshold_noise, self.answer_noise)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {
            "kind": "above-threshold",
            "epsilon": self.epsilon,
            "threshold": self.threshold,
            "sensitivity": self.sensitivity,
            "monotone": self.monotone,
            "neighbours": self.neighbours,
            **({} if self.rows is None else {"rows": self.rows}),
            **({} if self.answers_above == 1 else {"answers_above": self.answers_above}),
        }

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this value."""
        return documents.digest(self.to_dict())


class AboveThresholdSession:
    """What `AboveThreshold.start` gives: answers go in, "below" or "above" comes out, until all "above" are given.

    An answer must be a whole number whatever the data, also without records: anything else is refused, which is seen,
    and the session is booked by then.

    It has state and cannot be had twice: a copy is the session itself, pickling is refused, and a process that was
    forked cannot go on with it. Threads may share it.
    """

    def __init__(self, design: AboveThreshold, words: Words) -> None:
        self._design = design
        self._words = words
        self._threshold = design.threshold + int(design.threshold_noise.sample(1, words.part(0))[0])
        self._noise: NDArray[np.int64] = np.empty(0, np.int64)
        self._blocks = 0
        self._answered = 0
        self._above: list[int] = []
        self._lock = threading.RLock()
        self._process = os.getpid()

    @property
    def design(self) -> AboveThreshold:
        """The value that started it."""
        return self._design

    @property
    def guarantee(self) -> Guarantee:
        """What the whole session promises."""
        return self._design.guarantee

    @property
    def answered(self) -> int:
        """How many answers were compared."""
        return self._answered

    @property
    def index(self) -> int | None:
        """The index of the first answer above, counted from 0 over the whole session; None while there is none."""
        return self._above[0] if self._above else None

    @property
    def indices(self) -> tuple[int, ...]:
        """The indices of all answers above so far, counted from 0 over the whole session."""
        return tuple(self._above)

    @property
    def closed(self) -> bool:
        """Whether all answers above were given that the session was opened for."""
        return len(self._above) == self._design.answers_above

    @property
    def simulated(self) -> bool:
        """Whether the noise came from a seed."""
        return not self._words.secure

    def ask(self, true_answer: Any) -> bool:
        """Whether this answer is above the threshold, noise on both; the last True that it may give closes it."""
        return bool(self._compare(_whole_numbers([true_answer]), 1))

    def first(self, answers: Iterable[Any]) -> int | None:
        """The index of the first answer above among these; None if there is none. Later answers are not compared.

        The index counts from the first answer of the session, so that a stream may come in pieces. An iterator is read
        no further than it must be.
        """
        return next(iter(self._ask_for(answers, 1)), None)

    def all_above(self, answers: Iterable[Any]) -> list[int]:
        """The indices of the answers above among these, until the session closes; counted as `first` counts."""
        return self._ask_for(answers, self._design.answers_above)

    def _ask_for(self, answers: Iterable[Any], most: int) -> list[int]:
        """The indices of the first answers above, at most this many."""
        if isinstance(answers, np.ndarray | Sequence):
            return self._compare(_whole_numbers(answers), most)
        indices: list[int] = []
        for answer in answers:
            indices += self._compare(_whole_numbers([answer]), 1)
            if len(indices) == most or self.closed:
                break
        return indices

    def _compare(self, answers: NDArray[np.int64], most: int) -> list[int]:
        with self._lock:
            self._check_open()
            most = min(most, self._design.answers_above - len(self._above))
            indices: list[int] = []
            while answers.size and len(indices) < most:
                noise = self._next_noise(min(answers.size, _BLOCK))
                places = np.flatnonzero(answers[: noise.size] + noise >= self._threshold)[: most - len(indices)]
                indices += [self._answered + int(place) for place in places]
                used = int(places[-1]) + 1 if len(indices) == most else noise.size
                # Nothing was told of the answers after the last one above: their noise serves the next.
                self._noise = np.concatenate([noise[used:], self._noise])
                self._answered += used
                answers = answers[used:]
            self._above += indices
        return indices

    def _next_noise(self, size: int) -> NDArray[np.int64]:
        """Noise that was never used, the same however the answers come in pieces."""
        while self._noise.size < size:
            self._blocks += 1
            fresh = self._design.answer_noise.sample(_BLOCK, self._words.part(self._blocks))
            self._noise = np.concatenate([self._noise, fresh])
        noise, self._noise = self._noise[:size], self._noise[size:]
        return noise

    def _check_open(self) -> None:
        if self.closed:
            several = self._design.answers_above > 1
            raise LedgerError(
                f"This session is closed: it has found its {'answers' if several else 'answer'} above the threshold. "
                "Start another one, which spends its ε again."
            )
        if os.getpid() != self._process:
            raise LedgerError(
                "A session cannot go on after a fork: two processes would use the same noise. Start one in each."
            )

    def __copy__(self) -> AboveThresholdSession:
        return self

    def __deepcopy__(self, memo: object) -> AboveThresholdSession:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise LedgerError("A session cannot be pickled: the copy would answer twice for one ε. Start another one.")

    def __repr__(self) -> str:
        several, shown = len(self._above) > 1, ", ".join(map(str, self._above))
        above = f"answer{'s' if several else ''} {shown} {'are' if several else 'is'} above"
        state = above if self.closed else f"asked: {self._answered}" + (f", {above}" if shown else "")
        return f"<AboveThresholdSession: {state}, {self.guarantee}{', simulated' if self.simulated else ''}>"


def _whole_numbers(answers: Any) -> NDArray[np.int64]:
    """Answers as whole numbers, cut to ±2⁶¹; the message names the rule and no answer."""
    if not (isinstance(answers, np.ndarray) and answers.dtype.kind in "ui" and answers.ndim == 1):
        rule = "answers must be whole numbers: multiply them to whole numbers of a unit."
        with translated(TypeError, lambda _: DataTypeError(rule)):
            answers = np.array([operator.index(answer) for answer in answers], object)
    return cut(answers)
