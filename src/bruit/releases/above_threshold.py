"""The sparse vector technique (SVT, AboveThreshold): which of many answers is the first above a threshold.

However many answers are asked about, the cost is that of one: what lies below the threshold is told for free. The price
is that the session ends with the first answer above; going on takes another session and another ε.

Answers, threshold and sensitivity are whole numbers, and so is the noise, which is exact. Other answers are first
expressed in whole numbers of a unit: count − n/10 becomes 10·count − n with sensitivity 10. The arguments are in
``above_threshold.proof.md``.

Rejected: giving the noisy answer together with "above", or going on after it with the same noisy threshold. Both are
found in published code, and both lose more than ε.
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
#: How many draws of noise a session makes at a time.
_BLOCK = 512


@dataclass(frozen=True, kw_only=True)
class AboveThreshold:
    """Find the first answer above a threshold, for the price of one answer (sparse vector technique, SVT).

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

    Guarantee
    ---------
    ε for all that a session ever says, for answers that may be chosen one after the other. With noise of scale s₁ on
    the threshold and s₂ on the answers, the loss is sensitivity·(1/s₁ + 2/s₂), and sensitivity·(1/s₁ + 1/s₂) for
    monotone answers: s₁ = 2/ε and s₂ = 4/ε, or 2/ε for both. No smaller number holds for all streams of answers.

    Error
    -----
    With probability 1 − β, no answer among k that is passed over lies more than α above the threshold, and the one
    found lies at most α below it. `accuracy(k, beta)` gives the α of the noise that is drawn. It is at most
    6(ln k + ln(2/β))·sensitivity/ε + 1, or 4(…)·sensitivity/ε + 1 for monotone answers; the book has 8(…)/ε.

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
    """

    #: What a seed is mixed with.
    verb: ClassVar[str] = "above-threshold"

    epsilon: float
    threshold: int
    sensitivity: int = 1
    monotone: bool = False
    neighbours: CentralNeighbours = "add-remove"
    rows: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.spent_epsilon(epsilon=self.epsilon))
        _checks.warn_of_weak(self.epsilon)
        object.__setattr__(self, "threshold", _checks.integer(low=-MOST, high=MOST, threshold=self.threshold))
        object.__setattr__(self, "sensitivity", _checks.integer(low=1, sensitivity=self.sensitivity))
        object.__setattr__(self, "monotone", bool(self.monotone))
        _checks.one_of(CENTRAL, neighbours=self.neighbours)
        if self.rows is not None:
            object.__setattr__(self, "rows", _checks.integer(low=1, high=MOST_ROWS, rows=self.rows))
        _ = self.threshold_noise, self.answer_noise  # what cannot be drawn exactly is refused here

    @cached_property
    def threshold_noise(self) -> DiscreteLaplace:
        """The noise on the threshold."""
        return DiscreteLaplace.calibrate(self._change, self.epsilon / 2)

    @cached_property
    def answer_noise(self) -> DiscreteLaplace:
        """The noise on each answer."""
        return DiscreteLaplace.calibrate(self._gap, self.epsilon / 2)

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
        return self.threshold_noise.loss(self._change) + self.answer_noise.loss(self._gap)

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
        """Book the guarantee, then draw the noisy threshold: a session that answers until the first "above".

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
        """Which of these answers is the first above; for audits, and as secret as the answers."""
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
        }

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this value."""
        return documents.digest(self.to_dict())


class AboveThresholdSession:
    """What `AboveThreshold.start` gives: answers go in, "below" or "above" comes out, until the first "above".

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
        self._index: int | None = None
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
        """The index of the answer above, counted from 0 over the whole session; None while there is none."""
        return self._index

    @property
    def closed(self) -> bool:
        """Whether an answer was found above."""
        return self._index is not None

    @property
    def simulated(self) -> bool:
        """Whether the noise came from a seed."""
        return not self._words.secure

    def ask(self, true_answer: Any) -> bool:
        """Whether this answer is above the threshold, noise on both; True closes the session."""
        return self._compare(_whole_numbers([true_answer])) is not None

    def first(self, answers: Iterable[Any]) -> int | None:
        """The index of the first answer above, which closes the session; None if there is none among these.

        The index counts from the first answer of the session, so that a stream may come in pieces. An iterator is read
        no further than it must be.
        """
        if isinstance(answers, np.ndarray | Sequence):
            return self._compare(_whole_numbers(answers))
        for answer in answers:
            if self.ask(answer):
                return self._index
        return None

    def _compare(self, answers: NDArray[np.int64]) -> int | None:
        with self._lock:
            self._check_open()
            for start in range(0, answers.size, _BLOCK):
                piece = answers[start : start + _BLOCK]
                above = np.flatnonzero(piece + self._next_noise(piece.size) >= self._threshold)
                if above.size:
                    self._index = self._answered + int(above[0])
                    self._answered = self._index + 1
                    return self._index
                self._answered += piece.size
        return None

    def _next_noise(self, size: int) -> NDArray[np.int64]:
        """Noise that was never used, the same however the answers come in pieces."""
        while self._noise.size < size:
            self._blocks += 1
            fresh = self._design.answer_noise.sample(_BLOCK, self._words.part(self._blocks))
            self._noise = np.concatenate([self._noise, fresh])
        noise, self._noise = self._noise[:size], self._noise[size:]
        return noise

    def _check_open(self) -> None:
        if self._index is not None:
            raise LedgerError(
                "This session is closed: it has found its answer above the threshold. "
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
        state = f"answer {self._index} is above" if self.closed else f"asked: {self._answered}"
        return f"<AboveThresholdSession: {state}, {self.guarantee}{', simulated' if self.simulated else ''}>"


def _whole_numbers(answers: Any) -> NDArray[np.int64]:
    """Answers as whole numbers, cut to ±2⁶¹; the message names the rule and no answer."""
    if not (isinstance(answers, np.ndarray) and answers.dtype.kind in "ui" and answers.ndim == 1):
        rule = "answers must be whole numbers: multiply them to whole numbers of a unit."
        with translated(TypeError, lambda _: DataTypeError(rule)):
            answers = np.array([operator.index(answer) for answer in answers], object)
    return cut(answers)
