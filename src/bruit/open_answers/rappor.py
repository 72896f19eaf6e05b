"""RAPPOR in full: cohorts, Bloom filters, a stored memo (PRR) and fresh noise in every report (IRR).

A person is in a cohort, drawn at random, whose public hash turns any text into h of m bits. A memo of the m bits is
drawn once in an epoch and stored. Each report randomises the memo again and names the cohort. The collector names
candidates afterwards.

Rejected: bits of the text that are never cleared, as some clients have them: a bit that is clear in the memo then says
for certain which texts were not given, and ε is infinite. Rejected: the lasso that chooses candidates before the test,
because p-values after it hold for no list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains.codes import Codes
from bruit.engines import memory, report_parsing
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import BruitError, FormatError, ParameterError, translated
from bruit.estimation.tally import Counts, Tally
from bruit.laws import BitsLaw, Form, Subset
from bruit.laws.words import WORDS
from bruit.open_answers.candidates import CellLaw
from bruit.open_answers.cohorts import CohortMechanism
from bruit.open_answers.public_hash import HASH, HASHES_LIMIT, PublicHash, fingerprints
from bruit.open_answers.two_steps import TwoSteps
from bruit.privacy.composition import sequential
from bruit.privacy.guarantee import Guarantee
from bruit.rounding import log_ceiling, share
from bruit.typing import ColumnLike

#: The most bits of a filter.
BIT_LIMIT = 2**16
#: The most reports of a memo whose ε is computed from whole numbers; what more cost is at most that of the memo.
ROUNDS_LIMIT = 4096
#: Random bytes drawn at a time.
_SLICE_BYTES = 1 << 19
#: The bytes of the number of a cohort, which begin a report.
_COHORT_BYTES = 2
_PUBLISHED = "RAPPOR.as_published(f=…, p=…, q=…)"


@dataclass(frozen=True, kw_only=True)
class RAPPOR(CohortMechanism):
    """Report any text, once or many times; the collector names candidates afterwards.

    A report is a row of ``uint8``: two bytes for the cohort, then the bits, both in little order. A memo has the same
    form.

    Parameters
    ----------
    epsilon
        ε₁, the most that one report may tell.
    epoch_epsilon
        ε∞, the most that all reports of one memo may tell, at least ε₁. Equal to it, a report is the memo itself.
    bits
        m, how many bits a filter has.
    hashes
        h, how many bits a text sets. More than 1 does not help: each has its part of ε. For small ε₁ the variance is h
        times as large, and at ε₁ = 2 with 2 it is 2.5 times. It is there to reproduce what was published.
    cohorts
        C, how many public hash functions there are. More cost the collector memory, and tell more candidates apart.
    weights
        The four chances of the two steps in units of 2⁻⁶⁴, where `as_published` chose them.

    Guarantee
    ---------
    `guarantee` is that of one report, `after` that of several reports of one stored memo, and ``guarantees["epoch"]``
    that of any number. Each is exact for texts without a common bit, and computed from the whole numbers that are
    drawn with. `between` gives it for two texts. The memo must be stored and used whatever the answer becomes. A memo
    drawn again costs as much as another epoch: `over`. ``rappor.proof.md`` has the argument.

    **The cohort is in every report of a memo.** It tells nothing of the text, and with few people in a cohort it links
    the reports of a person.

    Error
    -----
    n·Var is close to q(1−q)/(h(p−q)²(1−h/m)) for a rare text, with p and q of a report: that of OUE at ε₁ for h = 1.
    S candidates multiply it by 1/(1 − S/(C·m)).

    References
    ----------
    Erlingsson, Ú., Pihur, V., Korolova, A. (2014), RAPPOR: randomized aggregatable privacy-preserving ordinal response.

    Examples
    --------
    >>> design = RAPPOR(epsilon=2.0, epoch_epsilon=4.0)
    >>> memos = design.memoize(["Bus", " bus ", "tram"], rng=7)
    >>> january, february = design.answer(memos, rng=1), design.answer(memos, rng=2)
    >>> design.tally(january).n
    3
    >>> [round(design.after(rounds).epsilon, 3) for rounds in (1, 2, 4)]
    [2.0, 3.44, 3.99]
    >>> paper = RAPPOR.as_published(f=0.5, p=0.5, q=0.75, bits=128, hashes=2)
    >>> [round(paper.after(rounds).epsilon, 3) for rounds in (1, 2, 4)], round(paper.epoch_epsilon, 3)
    ([1.074, 2.017, 3.289], 4.394)
    """

    name: ClassVar[str] = "RAPPOR"

    epsilon: float
    epoch_epsilon: float
    bits: int = 128
    hashes: int = 1
    cohorts: int = 64
    weights: tuple[int, int, int, int] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for parameter in ("epsilon", "epoch_epsilon"):
            object.__setattr__(self, parameter, _checks.epsilon(**{parameter: getattr(self, parameter)}))
        if self.epoch_epsilon < self.epsilon:
            raise ParameterError(
                f"epoch_epsilon must be at least epsilon, {self.epsilon:g}, got {self.epoch_epsilon:g}."
            )
        object.__setattr__(self, "hashes", _checks.integer(low=1, high=HASHES_LIMIT, hashes=self.hashes))
        object.__setattr__(self, "bits", _checks.integer(low=2 * self.hashes, high=BIT_LIMIT, bits=self.bits))
        self._check_cohorts(self.bits + 1, self.hashes)
        if self.weights is not None:
            object.__setattr__(self, "weights", _four(self.weights))
            if (self.epsilon, self.epoch_epsilon) != _epsilons(self.steps, self.hashes):
                raise ParameterError(f"epsilon and epoch_epsilon must be what the weights give: use {_PUBLISHED}.")

    @classmethod
    def as_published(cls, *, f: float, p: float, q: float, bits: int = 128, hashes: int = 2, cohorts: int = 64) -> Self:
        """RAPPOR with the paper's parameters; both ε follow.

        Parameters
        ----------
        f
            How often a bit of the memo is random: it is then set half of the time.
        p, q
            How often a report has a bit set that is clear in the memo, and one that is set in it.
        bits, hashes, cohorts
            As for the class.
        """
        steps = TwoSteps.as_published(f, p, q)
        _checks.integer(low=1, high=HASHES_LIMIT, hashes=hashes)
        report, memo = _epsilons(steps, hashes)
        weights = (steps.own, steps.other, steps.shown, steps.added)
        return cls(epsilon=report, epoch_epsilon=memo, bits=bits, hashes=hashes, cohorts=cohorts, weights=weights)

    @classmethod
    def count_mean_sketch(cls, *, epsilon: float, buckets: int = 1024, functions: int = 64) -> Self:
        """CMS as published: one bucket of a public hash function, each bit flipped alike, and a memo that is shown.

        Candidates are estimated by least squares, which remove the error of shared buckets.

        >>> sketch = RAPPOR.count_mean_sketch(epsilon=1.0)
        >>> round(sketch.guarantee.epsilon, 12), round(sketch.variance(0.0, 1), 3)
        (1.0, 3.923)
        """
        law = BitsLaw.calibrate(_checks.epsilon(epsilon=epsilon), Subset(values=2))
        steps = TwoSteps(law.own, law.other, WORDS, 0)
        report, memo = _epsilons(steps, 1)
        weights = (steps.own, steps.other, steps.shown, steps.added)
        return cls(epsilon=report, epoch_epsilon=memo, bits=buckets, cohorts=functions, weights=weights)

    @cached_property
    def steps(self) -> TwoSteps:
        """The chances of a bit: of the memo, and of a report of it."""
        if self.weights is not None:
            return TwoSteps(*self.weights)
        return TwoSteps.calibrate(share(self.epsilon, self.hashes), share(self.epoch_epsilon, self.hashes))

    @cached_property
    def hash(self) -> PublicHash:
        """Which bits a text sets in each cohort."""
        return PublicHash(self.cohorts, self.bits, self.hashes)

    @cached_property
    def form(self) -> Form:
        """The dtype and bytes of a memo or report."""
        return Form.row(_COHORT_BYTES + self._width)

    @property
    def cell_law(self) -> CellLaw:
        """How often a report has a bit set that the text sets, and any other."""
        return CellLaw(float(self.steps.p), float(self.steps.q), self.hashes)

    @property
    def _width(self) -> int:
        return (self.bits + 7) // 8

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Those whose cohort exists, without a bit beyond the last one."""
        return np.asarray((_cohorts(reports) < self.cohorts) & (reports[:, -1] <= self._padding))

    @property
    def _padding(self) -> int:
        return 0xFF >> -self.bits % 8

    # What a person does.

    def memoize(self, values: ColumnLike, rng: Randomness = None) -> NDArray[Any]:
        """The memos of an epoch, one per person: to be stored by the person and shown to nobody.

        Parameters
        ----------
        values
            One text per person.
        rng
            As for `privatize`.
        """
        return self.remember(self.encode(values), Words.resolve(rng, "memoize", self.digest))

    def answer(self, memos: NDArray[Any], rng: Randomness = None) -> NDArray[Any]:
        """The reports of one round, one per memo; with fresh randomness in every round.

        Parameters
        ----------
        memos
            As `memoize` gives them.
        rng
            As for `privatize`. A number must be another one in every round: the same one gives the same reports.
        """
        return self.report(memos, Words.resolve(rng, "answer", self.digest))

    def remember(self, codes: Codes, words: Words) -> NDArray[Any]:
        """Memos of codes that `encode` gave; block i of these people uses up part i of the words."""
        return self._in_blocks(self._memos, codes, words)

    def report(self, memos: NDArray[Any], words: Words) -> NDArray[Any]:
        """Reports of memos; block i of these people uses up part i of the words."""
        known = report_parsing.strict(self.form, memos)
        if not self.valid(known).all():
            raise ParameterError("memos must be those that this design gave.")
        return self._in_blocks(self._reports, known, words)

    def _randomize(self, codes: Codes, entropy: Entropy) -> NDArray[Any]:
        """A memo that is used once."""
        return self._reports(self._memos(codes, entropy), entropy)

    def _memos(self, codes: Codes, entropy: Entropy) -> NDArray[Any]:
        from bruit.kernels import unary_encoding as kernel

        cohorts = entropy.integers(self.cohorts, codes.size)
        cells = self.hash.of_people(codes, cohorts)
        bits = self._drawn(self.steps.other, codes.size, entropy)
        for place in range(self.hashes):
            own = entropy.words(codes.size)
            kernel.own_bits(np.ascontiguousarray(cells[:, place]), own, np.uint64(self.steps.own), self._padding, bits)
        return np.hstack([cohorts.astype("<u2").view(np.uint8).reshape(-1, _COHORT_BYTES), bits])

    def _reports(self, memos: NDArray[Any], entropy: Entropy) -> NDArray[Any]:
        reports, steps = memos.copy(), self.steps
        memo, shown = memos[:, _COHORT_BYTES:], self._drawn(steps.shown, len(memos), entropy)
        added = self._drawn(steps.added, len(memos), entropy)
        bits = (memo & shown) | (~memo & added)
        bits[:, -1] &= self._padding
        reports[:, _COHORT_BYTES:] = bits
        return reports

    def _drawn(self, weight: int, rows: int, entropy: Entropy) -> NDArray[np.uint8]:
        """Rows of bits, each set with this weight of all words."""
        out = np.empty(rows * self._width, np.uint8)
        for start in range(0, out.size, _SLICE_BYTES):
            _bernoulli(weight, entropy, out[start : start + _SLICE_BYTES])
        return out.reshape(rows, self._width)

    # What is promised.

    @property
    def guarantee(self) -> Guarantee:
        """What one report tells, rounded up: at most `epsilon`."""
        return self.after(1)

    @property
    def guarantees(self) -> dict[str, Guarantee]:
        """What one report tells, and what all reports of a memo do, however many."""
        epoch = Guarantee(epsilon=log_ceiling(self.steps.memo_ratio**self.hashes), neighbours="value")
        return {"report": self.guarantee, "epoch": epoch}

    def after(self, rounds: int) -> Guarantee:
        """What this number of reports of one stored memo tells in all: the exact ε, rounded up."""
        rounds = _checks.integer(low=1, rounds=rounds)
        return self._apart(self.hashes, rounds)

    def between(self, first: str, second: str, rounds: int = 1) -> Guarantee:
        """The same between two texts: less where they share bits in every cohort."""
        rounds = _checks.integer(low=1, rounds=rounds)
        return self._apart(self.hash.differing(fingerprints([first, second]).tolist()), rounds)

    def over(self, epochs: int) -> Guarantee:
        """What several epochs tell in all, each with a memo of its own; for any two histories of answers."""
        epochs = _checks.integer(low=1, high=ROUNDS_LIMIT, epochs=epochs)
        single = Guarantee(epsilon=self.guarantees["epoch"].epsilon, neighbours="person")
        return sequential([single] * epochs)

    def _apart(self, differing: int, rounds: int) -> Guarantee:
        """What reports tell of two texts of which each sets this number of bits that the other does not."""
        ratio = self.steps.ratio(rounds) if rounds <= ROUNDS_LIMIT else self.steps.memo_ratio
        return Guarantee(epsilon=log_ceiling(ratio**differing), neighbours="value")

    # What the collector does.

    @property
    def _counts(self) -> int:
        return self.cohorts * (1 + self.bits)

    def _count(self, reports: NDArray[Any]) -> Counts:
        """For each cohort its people, then the people with each bit set."""
        cohorts = _cohorts(reports)
        order = np.argsort(cohorts, kind="stable")
        present, starts = np.unique(cohorts[order], return_index=True)
        table = np.zeros((self.cohorts, 1 + self.bits), np.int64)
        table[:, 0] = np.bincount(cohorts, minlength=self.cohorts)
        bits = np.unpackbits(reports[order, _COHORT_BYTES:], axis=1, count=self.bits, bitorder="little")
        if len(present):
            table[present, 1:] = np.add.reduceat(bits, starts, axis=0, dtype=np.int64)
        return table.reshape(-1)

    def _cells(self, tally: Tally) -> tuple[Counts, Counts]:
        table = tally.counts.reshape(self.cohorts, 1 + self.bits)
        return table[:, 0], table[:, 1:]

    def _simulate(self, where: Counts, table: Counts, generator: np.random.Generator) -> Counts:
        people = where.sum(axis=0)
        own = np.zeros((self.cohorts, self.bits), np.int64)
        for many, cells in zip(where, table, strict=True):
            own[np.arange(self.cohorts)[:, None], cells] += many[:, None]
        p, q = float(self.steps.p), float(self.steps.q)
        bits = generator.binomial(own, p) + generator.binomial(people[:, None] - own, q)
        return np.hstack([people[:, None], bits]).reshape(-1)

    # Identity.

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        weights = {} if self.weights is None else {"weights": [str(weight) for weight in self.weights]}
        sizes = {"bits": self.bits, "hashes": self.hashes, "cohorts": self.cohorts}
        epsilons = {"epsilon": self.epsilon, "epoch_epsilon": self.epoch_epsilon}
        return {"open_answers": self.name, "hash": HASH, **epsilons, **sizes, **weights}

    @classmethod
    def from_dict(cls, body: Any) -> Self:
        """The inverse of `to_dict`."""
        rule = "This document does not describe RAPPOR that this version knows."
        with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
            if body["open_answers"] != cls.name or body["hash"] != HASH:
                raise ValueError
            weights = body.get("weights")
            return cls(
                **{name: body[name] for name in ("epsilon", "epoch_epsilon", "bits", "hashes", "cohorts")},
                weights=None if weights is None else _four(weights),
            )


def _epsilons(steps: TwoSteps, hashes: int) -> tuple[float, float]:
    """The ε of one report and of a memo."""
    return log_ceiling(steps.ratio(1) ** hashes), log_ceiling(steps.memo_ratio**hashes)


def _four(weights: Any) -> tuple[int, int, int, int]:
    if not isinstance(weights, tuple | list) or len(weights) != 4:
        raise ParameterError(f"weights must be four whole numbers: use {_PUBLISHED}.")
    own, other, shown, added = (documents.whole_number(weight, "A weight") for weight in weights)
    return own, other, shown, added


def _cohorts(reports: NDArray[Any]) -> NDArray[np.int64]:
    """The cohort of each report."""
    low, high = reports[:, 0].astype(np.int64), reports[:, 1].astype(np.int64)
    return np.asarray(low + (high << 8))


def _bernoulli(weight: int, entropy: Entropy, out: NDArray[np.uint8]) -> None:
    """Overwrite bytes with bits, each set with this weight of all words."""
    from bruit.kernels import bits

    if weight in (0, WORDS):
        out[:] = 0xFF if weight else 0
        return
    lanes = np.empty((out.size + 7) // 8, np.uint64)
    tied = np.empty_like(lanes)
    words = memory.block_words(entropy, bits.PLANES * lanes.size)
    undecided = bits.bernoulli(words, np.uint64(weight), lanes, tied)
    bits.settle(entropy.words(undecided), np.uint64(weight), lanes, tied)
    out[:] = lanes.view(np.uint8)[: out.size]
