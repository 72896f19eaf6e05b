"""Bits of a few buckets, drawn once and shown permanently (dBitFlip, dBitFlipPM).

The values fall into b buckets. A person draws d of them to hold, and for each held bucket, and for all others together,
a memo of d bits. Everything is drawn before any value is looked at, and stored permanently. A report shows the held
buckets and the memo of the one that the value is in, as it is. So a value that stays in its bucket gives the same
report each time, and costs what one report costs. A value that moves to another bucket shows for certain that it moved.

For d = 1 the bit is Warner's, at the requested ε. The published protocol takes the bits of d ≥ 2 there, and one
report tells half of what is allowed. Rejected: a second step that hides changes. With all buckets held that is L-SUE.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains import Categories
from bruit.domains.codes import Codes
from bruit.engines import memory, report_parsing
from bruit.entropy import Entropy, Words
from bruit.errors import BruitError, DataError, FormatError, LimitError, ParameterError, translated
from bruit.estimation.estimate import Estimate
from bruit.estimation.support import Target
from bruit.estimation.tally import IMPOSSIBLE, NO_REPORT, Tally, check_design
from bruit.laws import BitsLaw, Form
from bruit.oracles.following import FollowedChanges
from bruit.oracles.held_bits import HeldBitsModel, held_variance
from bruit.oracles.unary_encoding import UnaryEncoding
from bruit.privacy.guarantee import Guarantee
from bruit.randomizer import Randomizer
from bruit.rounding import log_ceiling
from bruit.tables import counted
from bruit.tables.facts import declared
from bruit.typing import ColumnLike, Label

#: The most buckets that a person holds: a memo of as many bits is stored for each.
HELD_LIMIT = 64
#: The most buckets: a position takes two bytes.
BUCKETS_LIMIT = 1 << 16


@dataclass(frozen=True, kw_only=True)
class DBitFlip(FollowedChanges, Randomizer):
    """Ask the same people again if their values rarely change: each reports d of b bits, always the same (dBitFlipPM).

    Parameters
    ----------
    epsilon
        The most that one report may tell, and all reports of a value that stays in its bucket.
    held
        How many buckets a person holds, d: from 1 to 64, and at most `buckets`.
    buckets
        How many buckets, b: value v of k is in bucket ⌊v·b/k⌋. Every value has its own by default.
    k, labels, domain
        The values, as for every `Oracle`.

    Guarantee
    ---------
    One report has ε, and so have all reports of a person whose value **stays in its bucket**, however many: they are
    copies (`unchanged`). **A move to another bucket is visible with certainty**: no finite ε holds between histories
    that move differently (`after` says so, `loss` is infinite). Between histories whose moves look alike, `same_moves`
    has d times the ε of the bits. The papers state (d + 1)·ε. ``bit_flip.proof.md`` has the argument.

    **The held buckets are in every report and link all reports of a person permanently.** They are drawn evenly and
    tell nothing of the value. A lost memory that is replaced costs once more what its reports tell.

    Error
    -----
    n·Var = (b/d)·√E/(√E − 1)² + f(1 − f)(b/d − 1) for these n people, E = e^ε, about; √E is E for d = 1. A frequency
    is estimated from the people who hold its bucket. The published formula divides by all, and has f where f(1 − f)
    stands here. Reports that are copies do not average out.

    References
    ----------
    Ding, B., Kulkarni, J., Yekhanin, S. (2017), Collecting telemetry data privately.

    Examples
    --------
    >>> design = DBitFlip(epsilon=1.0, held=2, k=24, buckets=8)
    >>> people = design.start(3, rng=7)
    >>> monday, tuesday = design.answer(people, [0, 9, 23]), design.answer(people, [2, 9, 0])
    >>> bool((monday[:2] == tuesday[:2]).all())     # hours 0 and 2 are in one bucket
    True
    >>> design.unchanged(365).epsilon <= 1.0, design.loss(2)
    (True, inf)
    >>> answer = design.estimate(design.tally(design.privatize([0, 9, 23] * 4000, rng=7)))
    >>> answer.labels[:2], answer.frequency[:4].round(1).tolist()
    (('0–2', '3–5'), [0.3, -0.0, 0.0, 0.3])
    """

    epsilon: float
    held: int
    buckets: int = 0
    k: int = field(default=0, repr=False)
    labels: Sequence[Label] | None = field(default=None, repr=False)
    domain: Categories = None  # type: ignore[assignment] # from k or labels

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        values = UnaryEncoding(epsilon=1.0, k=self.k, labels=self.labels, domain=self.domain).domain
        for name, value in (("domain", values), ("k", values.k), ("labels", values.labels)):
            object.__setattr__(self, name, value)
        most = min(values.size, BUCKETS_LIMIT)
        default = self.buckets == 0 and not isinstance(self.buckets, bool)
        buckets = _checks.integer(low=2, high=most, buckets=values.size if default else self.buckets)
        object.__setattr__(self, "buckets", buckets)
        object.__setattr__(self, "held", _checks.integer(low=1, high=min(buckets, HELD_LIMIT), held=self.held))
        high = _checks.EPSILON_LIMITS[1] / 2
        if self.held == 1 and self.epsilon > high:
            raise LimitError(
                f"epsilon must be at most {high:g} where one bucket is held: its bit has the law of twice it."
            )

    @classmethod
    def as_published(cls, *, epsilon: float, held: int, **values: Any) -> Self:
        """The protocol as published at this ε: the same for two held buckets or more; for one, at its true ε, half.

        >>> published = DBitFlip.as_published(epsilon=1.0, held=1, k=10)
        >>> round(published.guarantee.epsilon, 9), round(published.typical_variance(0.0, 1), 1)
        (0.5, 39.2)
        >>> round(DBitFlip(epsilon=1.0, held=1, k=10).typical_variance(0.0, 1), 1)
        9.2
        """
        stated = _checks.epsilon(epsilon=epsilon)
        return cls(epsilon=stated / 2 if held == 1 else stated, held=held, **values)

    @property
    def name(self) -> str:
        """The literature's name."""
        return "dBitFlipPM"

    # The laws.

    @cached_property
    def law(self) -> BitsLaw:
        """What the bits of a memo are drawn by, with one bit more: that of the values in no held bucket."""
        return self._memo_bits.law

    @cached_property
    def _memo_bits(self) -> UnaryEncoding:
        """Symmetric bits, one more than a report has: the last is cut off. One bit tells half of what two tell."""
        return UnaryEncoding(epsilon=self.epsilon if self.held > 1 else 2 * self.epsilon, kind="SUE", k=self.held + 1)

    @property
    def _step(self) -> Fraction:
        """The largest ratio of one bit: between a held bucket and none."""
        return self.law.p / self.law.q

    def _facts(self) -> dict[str, Any]:
        """For a notebook: parameters, those of the domain, and what one report promises."""
        facts = {"mechanism": self.name, **super()._facts()}
        facts.pop("domain")
        return {**facts, **declared(self.domain), "guarantee": self.guarantee}

    # The form of reports: the bits, and the places of the held buckets.

    @property
    def form(self) -> Form:
        """A row of bytes: the bits in little bit order, then the held buckets, ascending, two bytes each."""
        return Form.row(self._bit_bytes + 2 * self.held)

    @cached_property
    def memo_form(self) -> Form:
        """The dtype of what a person stores: the held buckets, and a memo for each and one for all others."""
        memos = ("memos", "u1", (self.held + 1, self._bit_bytes))
        return Form(np.dtype([("held", "<u2", (self.held,)), memos]))

    @property
    def _bit_bytes(self) -> int:
        return (self.held + 7) // 8

    @property
    def _padding(self) -> int:
        """The last byte with all its bits set."""
        return 0xFF >> -self.held % 8

    def encode(self, values: ColumnLike) -> Codes:
        """Codes of values."""
        return self.domain.encode(values)

    def bucket_of(self, codes: Codes) -> NDArray[np.int64]:
        """The bucket of each code."""
        return codes.astype(np.int64) * self.buckets // self.domain.size

    @cached_property
    def bucket_names(self) -> tuple[Any, ...]:
        """The label of each bucket: that of its only value, or of the first and the last one."""
        names, size = self.domain.names, self.domain.size
        if self.buckets == size:
            return tuple(names)
        ends = [-(-bucket * size // self.buckets) for bucket in range(self.buckets + 1)]
        pairs = [(names[first], names[last - 1]) for first, last in itertools.pairwise(ends)]
        return tuple(str(first) if first == last else f"{first}–{last}" for first, last in pairs)

    def held_buckets(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The held buckets of each report, ascending."""
        return np.ascontiguousarray(reports[:, self._bit_bytes :]).view("<u2").astype(np.int64)

    def bits(self, reports: NDArray[Any]) -> NDArray[np.uint8]:
        """The bit of each held bucket."""
        return np.unpackbits(reports[:, : self._bit_bytes], axis=1, count=self.held, bitorder="little")

    def valid(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Which reports, or which stored rows, there can be."""
        if rows.dtype == self.memo_form.dtype:
            last = rows["memos"][..., -1].max(axis=1, initial=0)
            return np.asarray(self._are_held(rows["held"].astype(np.int64)) & (last <= self._padding))
        return np.asarray(self._are_held(self.held_buckets(rows)) & (rows[:, self._bit_bytes - 1] <= self._padding))

    def _are_held(self, held: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Ascending, so all different, and below the number of buckets."""
        return np.asarray((np.diff(held, axis=1) > 0).all(axis=1) & (held[:, -1] < self.buckets))

    # What a person does.

    def _draw(self, people: int, words: Words) -> NDArray[Any]:
        subsets, memos = words.split(2)
        stored = np.empty(people, self.memo_form.dtype)
        stored["held"] = self._subsets(people, subsets.stream())
        classes = np.tile(np.arange(self.held + 1), people)
        stored["memos"] = self._memos(classes, memos).reshape(people, self.held + 1, self._bit_bytes)
        return stored

    def _subsets(self, people: int, entropy: Entropy) -> NDArray[np.int64]:
        """Floyd's algorithm: each subset of `held` buckets is equally likely. Ascending."""
        chosen = np.full((people, self.held), -1, np.int64)
        for place, last in enumerate(range(self.buckets - self.held, self.buckets)):
            drawn = entropy.integers(last + 1, people).astype(np.int64)
            taken = (chosen[:, :place] == drawn[:, None]).any(axis=1)
            chosen[:, place] = np.where(taken, last, drawn)
        return np.sort(chosen, axis=1)

    def _memos(self, classes: NDArray[np.int64], words: Words) -> NDArray[np.uint8]:
        """The memo of each class: of a held bucket by its place, or of all others."""
        drawn = self._memo_bits.randomize(self._memo_bits.codes_of(classes), words)
        memos: NDArray[np.uint8] = drawn[:, : self._bit_bytes].copy()
        memos[:, -1] &= self._padding
        return memos

    @staticmethod
    def _classes(held: NDArray[np.int64], buckets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each bucket among those held; after the last one where it is none of them."""
        same = held == buckets[:, None]
        return np.asarray(np.where(same.any(axis=1), same.argmax(axis=1), held.shape[1]))

    def _rows(self, memos: NDArray[np.uint8], held: NDArray[np.int64]) -> NDArray[np.uint8]:
        places = held.astype("<u2").view(np.uint8).reshape(len(held), 2 * self.held)
        return np.concatenate([memos, places], axis=1)

    def select(self, stored: NDArray[Any], codes: Codes) -> NDArray[Any]:
        """The report of each person: the held buckets, and the memo of the one that the current value is in."""
        self._check_stored(stored, codes)
        held = stored["held"].astype(np.int64)
        classes = self._classes(held, self.bucket_of(codes))
        return self._rows(stored["memos"][np.arange(len(stored)), classes], held)

    def report(self, memos: NDArray[Any], words: Words) -> NDArray[Any]:
        """The memos as they are; no words are used."""
        known = report_parsing.strict(self.form, memos)
        if not self.valid(known).all():
            raise ParameterError("memos must be those that this design gave.")
        return known

    def randomize(self, codes: Codes, words: Words) -> NDArray[Any]:
        """One report of people who store nothing; block i of these people uses up part i of the words."""
        out = self.form.empty(codes.size)

        def write(index: int, block: slice) -> None:
            subsets, memos = words.part(index).split(2)
            held = self._subsets(codes[block].size, subsets.stream())
            out[block] = self._rows(self._memos(self._classes(held, self.bucket_of(codes[block])), memos), held)

        memory.each_block(codes.size, write)
        return out

    # What is promised.

    @cached_property
    def guarantee(self) -> Guarantee:
        """What one report tells: the ratio of two bits, or of the only one."""
        return Guarantee(epsilon=log_ceiling(self._step ** min(self.held, 2)), neighbours="value")

    @property
    def guarantees(self) -> dict[str, Guarantee]:
        """What one report tells, and what all reports of a value that stays in its bucket do: the same."""
        return {"report": self.guarantee, "unchanged": self.guarantee}

    def unchanged(self, rounds: int) -> Guarantee:
        """What this number of reports tells between two values that stay in their buckets: what one report tells."""
        _checks.integer(low=1, rounds=rounds)
        return self.guarantee

    def loss(self, rounds: int) -> float:
        """The ε of this number of reports between any two histories of values: infinite from two on."""
        return self.guarantee.epsilon if _checks.integer(low=1, rounds=rounds) == 1 else math.inf

    def after(self, rounds: int) -> Guarantee:
        """What one report tells; of more there is no ε for any two histories of values, and the error says so."""
        if math.isinf(self.loss(rounds)):
            raise ParameterError(
                "A value that moves to another bucket is seen to move, so between any two histories the ε of "
                f"{counted(rounds, 'report')} is infinite. unchanged({rounds}) has the ε of values that stay in their "
                "bucket."
            )
        return Guarantee(epsilon=self.guarantee.epsilon, neighbours="person")

    def same_moves(self, rounds: int) -> float:
        """The ε between two histories that look alike: equal at the same pairs of rounds, others being one bucket.

        "Others" are the buckets that the person does not hold. So what is alike depends on the held buckets, and not on
        the values alone. At most d times the ε of the bits, exactly.
        """
        kinds = min(_checks.integer(low=1, rounds=rounds), self.held + (self.held < self.buckets))
        # Every held bucket becomes another held one, and costs two bits; or, with the others, goes round through them.
        return log_ceiling(self._step ** (2 * min(kinds, self.held) if self.held > 1 else kinds))

    # What the collector does.

    def count(self, reports: Any) -> Tally:
        """How many hold each bucket, then how many of them have its bit set; impossible reports are refused."""
        kept, refused = report_parsing.lawful(self.form, reports, self.valid)
        held, bits = self.held_buckets(kept), self.bits(kept).astype(bool)
        counts = [np.bincount(buckets, minlength=self.buckets) for buckets in (held.ravel(), held[bits])]
        return Tally(design=self.digest, counts=np.concatenate(counts).astype(np.int64), n=len(kept), refused=refused)

    def estimate(self, tally: Tally, target: Target = "population") -> Estimate:
        """Unbiased frequencies of the buckets, each from the people who hold it, with variance and intervals."""
        check_design(tally, self.digest, 2 * self.buckets)
        holders, counts = self._halves(tally)
        if tally.n and not holders.all():
            raise DataError(
                "Nobody here holds some of the buckets, so that they have no estimate: ask more people, raise held, or "
                "lower buckets."
            )
        if not tally.n:
            raise DataError(NO_REPORT)
        return Estimate(
            model=HeldBitsModel(counts, tally.n, self.law.p, self.law.q, holders=holders),
            n=tally.n,
            refused=tally.refused,
            labels=self.bucket_names,
            target=target,
            guarantee=self.guarantee,
            mechanism=self.name,
            simulated=tally.simulated,
        )

    def _halves(self, tally: Tally) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many hold each bucket, and how many of them have its bit set, where reports can have given them."""
        holders, counts = tally.counts[: self.buckets], tally.counts[self.buckets :]
        if (counts > holders).any() or (holders > tally.n).any() or sum(holders.tolist()) != tally.n * self.held:
            raise DataError(IMPOSSIBLE)
        return holders, counts

    def variance(self, frequency: Any, n: int, target: Target = "population") -> NDArray[np.float64]:
        """The variance to expect where n·d/b people hold each bucket, and the true frequency is given."""
        n = _checks.integer(low=1, n=n)
        holders = np.float64(n * self.held / self.buckets)
        return held_variance(np.asarray(frequency, float), (holders, n), (self.law.p, self.law.q), target)

    def typical_variance(self, frequency: float, n: int, target: Target = "population") -> float:
        """The same for a bucket of this frequency; Var* at frequency 0."""
        return float(self.variance(frequency, n, target))

    # Identity.

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this design; tallies and memories carry it."""
        return documents.digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        settings = {"held": self.held, "buckets": self.buckets, "domain": self.domain.to_dict()}
        return {"bit_flip": {"epsilon": self.epsilon, **settings}}

    @classmethod
    def from_dict(cls, body: Any) -> Self:
        """The inverse of `to_dict`."""
        rule = "This document does not describe a dBitFlipPM design that this version knows."
        with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
            settings = dict(body["bit_flip"])
            return cls(**{**settings, "domain": Categories.from_dict(settings["domain"])})
