"""Local hashing (LH): binary (BLH), optimised (OLH), and with a pool of seeds (also called fast local hashing, FLH).

Each person draws a hash function at random, puts their value into one of g buckets by it, and reports the function
together with their bucket, after randomised response over the g buckets. The report is as small for a million values as
for ten, and as accurate as optimised unary encoding; the collector pays, with one hash per person and value.

The hash family is in ``bruit.kernels.hash_family``; it is part of the format of a report. Which values a report
supports is computed for every report: a table of hashes would need few functions, and so a pool, with its error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.domains.codes import Codes, code_dtype
from bruit.engines import memory, report_parsing
from bruit.entropy import Entropy
from bruit.errors import DataError, LimitError, ParameterError
from bruit.estimation import consistency
from bruit.estimation.consistency import Step
from bruit.estimation.estimate import Consistent
from bruit.estimation.support import SupportModel, Target
from bruit.estimation.tally import NO_REPORT, Counts, Tally
from bruit.kernels import hash_family
from bruit.laws import Hash, Itself, TwoLevelLaw
from bruit.oracles.base import Joint, Masses, Oracle, SupportOracle
from bruit.oracles.local_hashing.lines import Words, count_support, likelihood_step, lines_of
from bruit.oracles.local_hashing.pool import SeedPool
from bruit.oracles.local_hashing.pool_error import PooledModel, PoolError
from bruit.oracles.refreshing import refresh_messages
from bruit.rounding import exp_floor

Kind = Literal["OLH", "BLH", "LH"]

#: The most buckets; the best number at the largest ε is below it.
BUCKET_LIMIT = 2**30
#: A tally with a pool has pool × g counts of eight bytes.
CELL_LIMIT = 2**26
#: `matrix` has pool × g columns, and one row per value.
COLUMN_LIMIT = 4096
ROW_LIMIT = 1024
#: How many seeds the twin has whose law is written down, where there is room for them.
TWIN_POOL = 16


@dataclass(frozen=True, kw_only=True)
class LocalHashing(SupportOracle):
    """Report a hash function drawn at random, and the bucket of one's value by it after randomised response.

    Parameters
    ----------
    epsilon, k, labels, domain
        As for every `Oracle`.
    kind
        ``"OLH"`` takes the number of buckets that is best for a rare value, about e^ε + 1; ``"BLH"`` takes two;
        ``"LH"`` takes `g`.
    g
        How many buckets; 0 leaves it to `kind`.
    pool
        None: each person draws a function of their own. A number: each draws from a public pool of that size, the
        same for all collections. Reports are then three times smaller and can be counted as they come, without keeping
        any; but the estimates have an error that more people do not reduce (`pool_error`). They are unbiased over the
        choice of the pool, not given the pool.

    Guarantee
    ---------
    ε-LDP for one answer (neighbours ``"value"``). The function is drawn without a look at the value. Given the
    function, the report is randomised response over g buckets, whose exact weights A and B have A/B ≤ e^ε. So no report
    is more than A/B times likelier under one value than under another. ``local_hashing.proof.md`` has the argument.

    Error
    -----
    n·Var = (e^ε + g − 1)² / ((g − 1)(e^ε − 1)²) for a rare value, whatever k; with the best g, 4e^ε/(e^ε − 1)². A pool
    adds at most 1/((g − 1)·pool) to the variance, and Σf² times that in all: take a pool of 5n or more, or watch it.
    The estimate of one value is exact in law. What is said of several values together (`simulate`, covariances,
    guessability) takes their hashes for independent, of which the family has a proof for each two of them.

    References
    ----------
    Bassily, R., Smith, A. (2015), Local, private, efficient protocols for succinct histograms.
    Wang, T., Blocki, J., Li, N., Jha, S. (2017), Locally differentially private protocols for frequency estimation.
    Dietzfelbinger, M. (1996), Universal hashing and k-wise independent random variables via integer arithmetic.

    Examples
    --------
    >>> oracle = LocalHashing(epsilon=1.0, k=1000)
    >>> oracle.g, oracle.report_bytes
    (4, 17)
    >>> reports = oracle.privatize([7, 7, 999], rng=7)
    >>> reports.dtype.names, len(reports)
    (('a', 'b', 'bucket'), 3)
    >>> oracle.guarantee.epsilon <= 1.0
    True
    >>> LocalHashing(epsilon=1.0, k=1000, pool=100_000).report_bytes
    5
    """

    kind: Kind = "OLH"
    g: int = 0
    pool: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.one_of(get_args(Kind), kind=self.kind)
        object.__setattr__(self, "g", self._number_of_buckets())
        if self.pool is not None:
            object.__setattr__(self, "pool", _checks.integer(low=1, pool=self.pool))
            if self.pool * self.g > CELL_LIMIT:
                raise LimitError(
                    f"pool must be at most {CELL_LIMIT // self.g:,} with {self.g:,} buckets, got {self.pool}: "
                    "a tally has pool × g counts. Without a pool there is no limit."
                )
        if self.law.epsilon < self.epsilon * (1 - 1e-9):
            raise LimitError(f"g must be smaller at this epsilon, got {self.g}: the integer law cannot meet both.")

    @property
    def name(self) -> str:
        """OLH, BLH or LH."""
        return self.kind

    @cached_property
    def p(self) -> Fraction:
        """The exact probability that the true value lies in the reported bucket."""
        return self.law.probability(inside=True)

    @cached_property
    def q(self) -> Fraction:
        """The exact probability that a given other value lies in the reported bucket: 1/g, or a hair more."""
        return self._other + self._keep * hash_family.agreement(self.g)

    @property
    def joint(self) -> Joint:
        """From how often two and three hashes agree."""
        # Three hashes: exact if they are independent, which the family has no proof of.
        three = self._other * hash_family.agreement(self.g) + self._keep * hash_family.agreement(self.g, 3)
        return self.p * hash_family.agreement(self.g), three

    def masses(self, prior: Sequence[Fraction]) -> Masses:
        """Limits that hold for every hash function: one value alone in the bucket, or all but one."""
        return Masses(min(prior), 1 - min(prior))

    def supports(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """The values in the reported bucket, under the reported function."""
        if self._pool is None:
            a, b = reports["a"], reports["b"]
        else:
            a, b = self._pool.seeds[:, reports["seed"].astype(np.int64)]
        buckets = hash_family.bucket(a[:, None], b[:, None], self._words, self.g)
        return np.asarray(buckets == reports["bucket"][:, None].astype(np.int64))

    def scores(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """As for every oracle with p and q; an error with a pool, given which no scores are unbiased."""
        if self._pool is not None:
            raise ParameterError(
                "Scores are unbiased where everybody draws a hash function of their own: leave pool out."
            )
        return super().scores(reports)

    @property
    def guessability(self) -> float:
        """The best guess is any value in the reported bucket; or any at all, if the bucket is empty.

        The mean over all hash functions, taking the hashes of all values for independent.
        """
        # Σ over buckets of the likeliest value's P(value and bucket): A/(kZ) if any value is in it, else B/(kZ).
        empty = filled = 0.0
        for size, many in hash_family.bucket_sizes(self.g):
            none = self.size * math.log1p(-size / hash_family.HASHES)
            empty += many * math.exp(none)
            filled -= many * math.expm1(none)
        return (float(self.p) * filled + float(self._other) * empty) / self.size

    @property
    def report_bytes(self) -> float:
        """Two words and a bucket; with a pool, the number of a seed and a bucket."""
        return self._dtype.itemsize

    def decode_steps(self, n: int) -> float:
        """One hash per value and person, or per value and seed of the pool."""
        return float(n * self.size if self.pool is None else n + self.pool * self.size)

    @property
    def pool_error(self) -> float:
        """The most that the pool can add to a standard error, however many answer; 0 without a pool."""
        return 0.0 if self._pool_error is None else math.sqrt(self._pool_error.rate)

    @property
    def twin(self) -> Self:
        """The same mechanism with a pool so small that `matrix` can write its law down."""
        most = max(1, COLUMN_LIMIT // self.g)
        if self.pool is not None and self.pool <= most:
            return self
        return replace(self, pool=min(TWIN_POOL, most))

    def variance(self, frequency: Any, n: int, target: Target = "population") -> NDArray[np.float64]:
        """The exact variance of the estimate of a value whose true frequency is given.

        With a pool it includes what the pool adds, over the choice of the pool. That depends on the frequencies of
        the other values: give those of all values, in an array with one entry per value, or the worst is assumed,
        which is that all other people have the same value.
        """
        known = np.asarray(frequency, float)
        plain = super().variance(known, n, target)
        if self._pool_error is None:
            return plain
        added = self._pool_error.variance if known.shape == (self.size,) else self._pool_error.worst
        return plain + added(known, n, target)

    def typical_variance(self, frequency: float, n: int, target: Target = "population") -> float:
        """The variance for a value of this frequency where the others share the rest evenly; Var* at frequency 0."""
        if self._pool_error is None:
            return super().typical_variance(frequency, n, target)
        return Oracle.typical_variance(self, frequency, n, target)  # what a pool adds depends on the others

    def most_likely(self, reports: Any) -> Consistent:
        """The most likely frequencies given the reports, by EM on the true likelihood; n × k hashes a step."""
        if self.pool is not None:
            return super().most_likely(reports)
        checked = report_parsing.parse(self.form, reports).kept()
        lines = lines_of(checked["a"], checked["b"], checked["bucket"], self.g)
        if not lines.size:
            raise DataError(NO_REPORT)
        step = self._step(lines, np.ones(lines.shape[1], np.int64))
        frequency = consistency.em(step, self.size, n=lines.shape[1])
        frequency.flags.writeable = False
        return Consistent(method="em", frequency=frequency, labels=self.domain.names)

    def _check_matrix(self) -> None:
        self._small_pool()
        if self.size > ROW_LIMIT:
            raise LimitError(f"matrix() is made for at most {ROW_LIMIT:,} values; p and q say the same.")

    def message(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """The column of a report: seed·g + bucket."""
        self._small_pool()
        return np.asarray(reports["seed"].astype(np.int64) * self.g + reports["bucket"])

    def _small_pool(self) -> SeedPool:
        """The pool, if all its seeds and buckets are few enough for a matrix."""
        if self._pool is None:
            raise LimitError(
                "A report carries one of 2¹²⁸ seeds, too many for matrix() and message(); given its seed it is "
                "randomised response over g buckets. `twin` has the same law with few seeds."
            )
        if self._cells() > COLUMN_LIMIT:
            raise LimitError(f"matrix() is made for pool × g up to {COLUMN_LIMIT:,}; `twin` has the same law.")
        return self._pool

    def _number_of_buckets(self) -> int:
        """What the kind asks for."""
        if self.kind == "LH":
            return _checks.integer(low=2, high=BUCKET_LIMIT, g=self.g)
        chosen = 2 if self.kind == "BLH" else _best_buckets(self.epsilon)
        if _checks.integer(g=self.g) not in (0, chosen):
            raise ParameterError(
                f'g must be 0 or {chosen} for {self.kind} at this epsilon, got {self.g}: for another use kind="LH".'
            )
        return chosen

    @cached_property
    def law(self) -> TwoLevelLaw:
        """Given the seed, the true bucket or any bucket."""
        return TwoLevelLaw.calibrate(self.epsilon, Hash(buckets=self.g, pool=self._pool))

    @property
    def _other(self) -> Fraction:
        """The probability of each bucket other than the true one."""
        return self.law.probability(inside=False)

    @property
    def _keep(self) -> Fraction:
        """The probability of keeping the true bucket, where otherwise any bucket is drawn."""
        return self.p - self._other

    def words_of(self, codes: Codes) -> Words:
        """π of these codes: what a function is applied to."""
        return self._words[codes]

    @cached_property
    def _words(self) -> Words:
        """π of every code."""
        return hash_family.scramble(np.arange(self.size)).astype(np.uint64)

    @cached_property
    def _pool(self) -> SeedPool | None:
        return None if self.pool is None else SeedPool(self.pool, self.g)

    @cached_property
    def _pool_error(self) -> PoolError | None:
        return None if self.pool is None else PoolError.of(self.pool, hash_family.agreement(self.g))

    @cached_property
    def _dtype(self) -> np.dtype[Any]:
        seed = [("a", "<u8"), ("b", "<u8")] if self.pool is None else [("seed", "<u4")]
        return np.dtype([*seed, ("bucket", code_dtype(self.g).newbyteorder("<"))])

    def _settings(self) -> dict[str, Any]:
        return {"g": self.g} if self.pool is None else {"g": self.g, "pool": self.pool}

    def _cells(self) -> int:
        return self.size if self.pool is None else self.pool * self.g

    def _is_possible(self, tally: Tally) -> bool:
        """With a pool each report counts once; without, any number of values may be supported by all."""
        return super()._is_possible(tally) if self.pool is None else tally.total == tally.n

    def _empty_reports(self, n: int) -> NDArray[Any]:
        return np.empty(n, self._dtype)

    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        from bruit.kernels import local_hashing, randomized_response

        law, n = self.law, codes.size
        words = memory.block_words(entropy, 3 * n if self._pool is None else n)
        if self._pool is None:
            seeds = words[n:].reshape(2, n)
            out["a"], out["b"] = seeds
        else:
            seed = entropy.integers(self._pool.size, n)
            seeds = self._pool.seeds.take(seed.astype(np.int64), axis=1)
            out["seed"] = seed
        own = np.empty(n, np.uint32)
        local_hashing.buckets(codes, self._words, seeds, np.uint64(self.g), own)
        memory.draw_again(words[:n], law.total, entropy)
        keep, outside = np.uint64(law.inside - law.outside), np.uint64(law.outside)
        randomized_response.randomize(own, words[:n], keep, outside, out["bucket"])

    def at_epsilon(self, epsilon: float) -> Self:
        """The same buckets and functions at another ε."""
        return replace(self, epsilon=epsilon, kind="LH")

    def _refresh(self, memos: NDArray[Any], keep: Fraction, entropy: Entropy, out: NDArray[Any]) -> None:
        """The function of a memo stays; its bucket is kept or becomes any, all equally likely."""
        out[:] = memos
        bucket = np.empty(len(memos), memos.dtype["bucket"])
        refresh_messages(np.ascontiguousarray(memos["bucket"]), self.g, keep, entropy, bucket)
        out["bucket"] = bucket

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Those whose bucket exists, and their seed where there is a pool."""
        fine = np.asarray(reports["bucket"] < self.g)
        return fine if self.pool is None else fine & (reports["seed"] < self.pool)

    def _count(self, reports: NDArray[Any]) -> tuple[Counts, int]:
        if self._pool is not None:
            return self._pool.count(reports["seed"], reports["bucket"])
        return count_support(reports["a"], reports["b"], reports["bucket"], self.g, self._words)

    def support(self, tally: Tally) -> Counts:
        """The counts, or with a pool those of all seeds and buckets that a value has."""
        return tally.counts if self._pool is None else self._pool.support(tally.counts, self._words)

    def _model(self, tally: Tally) -> SupportModel:
        plain = SupportModel(self.support(tally), tally.n, self.p, self.q, *self.joint)
        pool, error = self._pool, self._pool_error
        if pool is None or error is None:
            return plain
        return PooledModel(**vars(plain), error=error, likelihood=lambda: self._step(*pool.lines(tally.counts)))

    def _step(self, lines: Words, times: Counts) -> Step:
        return likelihood_step(lines, times, self._words, self._other, self._keep)

    def _simulate(self, people: Counts, generator: np.random.Generator) -> Counts:
        if self._pool is None:
            # Each cell has this law exactly; together they have it where hashes are independent.
            others = people.sum() - people
            drawn: Counts = generator.binomial(people, float(self.p)) + generator.binomial(others, float(self.q))
            return drawn
        # Keep the true bucket with probability p − other; all others draw any bucket, whatever their value.
        kept = generator.binomial(people, float(self._keep))
        return self._pool.simulate(kept, int((people - kept).sum()), self._words, generator)


def _best_buckets(epsilon: float) -> int:
    """The g of least Var* = q(1−q)/(p−q)², computed exactly for those around e^ε + 1, where the formula is least."""
    near = exp_floor(epsilon, 1)
    return min(range(max(2, near), near + 4), key=lambda g: _rare_variance(epsilon, g))


def _rare_variance(epsilon: float, g: int) -> Fraction:
    law = TwoLevelLaw.calibrate(epsilon, Itself(values=g))
    p, other = law.probability(inside=True), law.probability(inside=False)
    q = other + (p - other) * hash_family.agreement(g)
    return q * (1 - q) / (p - q) ** 2
