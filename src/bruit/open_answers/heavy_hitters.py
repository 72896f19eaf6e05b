"""Heavy hitters (PEM): frequent answers that nobody listed, from one report of each person.

A code of many bits is looked for in two steps. The first group of people reports the first half of the bits, and the
prefixes with the most support are kept. The second group reports all bits, and certifies answers below the kept
prefixes. A report shows a random linear hash function and a randomised bucket of it, so that a Walsh–Hadamard transform
counts the support of all codes at once, without a list.

Rejected: more than two steps, which leave fewer people to each and lose recall; and the same people in both steps,
because each report would have half of ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bruit import _checks, documents
from bruit.domains import OpenText
from bruit.domains.codes import Codes
from bruit.engines import memory, report_parsing
from bruit.entropy import Entropy, Randomness, Words
from bruit.errors import BruitError, DataError, FormatError, ParameterTypeError, translated
from bruit.estimation.fewest_people import fewest_people
from bruit.estimation.intervals import exceeded_limit
from bruit.estimation.tally import NO_REPORT
from bruit.kernels import linear_hashing
from bruit.laws import Form, Itself, TwoLevelLaw
from bruit.laws.parity import GROUP_BITS
from bruit.open_answers.certification import Certification
from bruit.open_answers.frequent_answers import FrequentAnswers
from bruit.open_answers.letter_weights import LetterWeights
from bruit.open_answers.open_reports import OpenReports
from bruit.privacy.guarantee import Guarantee
from bruit.tables import Described
from bruit.typing import ColumnLike

#: Of 1,024 ids, the first 430 report the first half of the bits: 42 of 100 people.
FIRST_GROUP, IDS = 430, 1 << GROUP_BITS
#: How many prefixes of the first group are kept.
KEPT_PREFIXES = 64
#: How often any answer that nobody gave is certified, at most.
FALSE_NAMES = 0.05
#: How many rests of a table are compared with their limits at a time: forged reports would name them all.
_ROWS = 1 << 20
#: The most bits of a bucket: the matrix of 48 bits then takes all 54 of a word.
MOST_BUCKET_BITS = 7
#: The most people that a size is stated for: binomial tails are computed up to here.
MOST_PEOPLE = 10**9


@dataclass(frozen=True)
class HeavyHitters(Described):
    """Report any short text privately; the frequent ones are found afterwards, without a list.

    Parameters
    ----------
    epsilon
        The most that a report may tell.
    domain
        How texts are read, and how many of their letters count: 8 at most.

    Guarantee
    ---------
    One report has ε against any two texts. **A second report of a person costs ε again**: nothing is stored, and there
    are no rounds. A report's id is fresh and is drawn without a look at the text, and so are the hash function and the
    group, which it decides. So it links nothing. With ``OpenText(missing="drop")`` the guarantee speaks of those who
    answer: that somebody did not shows. ``heavy_hitters.proof.md`` has the argument.

    Error
    -----
    `people_needed` gives how many people an answer of a known share needs. A share that is shown has the variance of
    local hashing over the second group. It is unbiased before selection. The share of
    an answer with an even chance to be shown is too high by 0.8 standard errors; that of a seldom shown one by up to
    three. Intervals ignore this.
    With chance 0.95 an estimate shows nothing that no honest person gave. Common letters need less support than rare
    ones (`LetterWeights`).

    References
    ----------
    Wang, T., Li, N., Jha, S. (2018), Locally differentially private heavy hitter identification.

    Examples
    --------
    >>> design = HeavyHitters(epsilon=2.0, domain=OpenText(letters=3))
    >>> reports = design.privatize(["bus"] * 3000 + ["tram"] * 2000, rng=7)
    >>> reports.dtype.names
    ('id', 'bucket')
    >>> design.estimate(reports).labels
    ('bus', 'tra')
    >>> design.people_needed(0.2) < HeavyHitters(epsilon=2.0).people_needed(0.2)
    True
    """

    epsilon: float
    domain: OpenText = field(default=OpenText(), kw_only=True)

    #: As documents and commands call it.
    name: ClassVar[str] = "heavy-hitters"
    #: Its ε is of any two texts, and not per distance.
    metric: ClassVar[None] = None
    #: What its reports estimate.
    gives: ClassVar[str] = "frequent answers"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checks.epsilon(epsilon=self.epsilon))
        if not isinstance(self.domain, OpenText):
            raise ParameterTypeError("domain must be an OpenText: what people may write.")

    # The design.

    @cached_property
    def bucket_bits(self) -> int:
        """The t of 2ᵗ buckets: the one of least variance for rare answers at this ε."""
        return min(range(1, MOST_BUCKET_BITS + 1), key=lambda t: _rare_variance(_law(self.epsilon, t)))

    @cached_property
    def law(self) -> TwoLevelLaw:
        """What a bucket becomes: itself, or any."""
        return _law(self.epsilon, self.bucket_bits)

    @cached_property
    def p(self) -> Fraction:
        """The exact probability that a report supports the person's own text."""
        return self.law.probability(inside=True)

    @property
    def q(self) -> Fraction:
        """The exact probability that a report supports any given other text."""
        return Fraction(1, self.law.outcomes)

    @property
    def bits(self) -> tuple[int, int]:
        """How many bits the two groups report, the first ones: half of all, and all."""
        return self.domain.bits // 2, self.domain.bits

    @property
    def _kept(self) -> int:
        """How many prefixes are kept."""
        return min(KEPT_PREFIXES, 1 << self.bits[0])

    @property
    def form(self) -> Form:
        """The dtype of a report: an id, and a bucket of its hash function."""
        return Form(np.dtype([("id", "<u8"), ("bucket", "u1")]))

    @cached_property
    def guarantee(self) -> Guarantee:
        """What one report promises: ε is the logarithm of the law's ratio, rounded up."""
        return Guarantee(epsilon=self.law.epsilon, neighbours="value")

    # What a person does.

    def encode(self, values: ColumnLike) -> Codes:
        """Codes of texts: their first letters, normalised."""
        return self.domain.encode(values)

    def privatize(self, values: ColumnLike, rng: Randomness = None) -> NDArray[Any]:
        """Reports, one per person, in the order of the texts. One person is ``[text]``."""
        return self.randomize(self.encode(values), Words.resolve(rng, "privatize", self.digest))

    def randomize(self, codes: Codes, words: Words) -> NDArray[Any]:
        """Reports of codes that `encode` gave; block i of these people uses up part i of the words."""
        out = self.form.empty(codes.size)

        def write(index: int, block: slice) -> None:
            self._randomize(codes[block], words.part(index).stream(), out[block])

        memory.each_block(codes.size, write)
        return out

    def _randomize(self, codes: Codes, entropy: Entropy, out: NDArray[Any]) -> None:
        from bruit.kernels import randomized_response

        law, n = self.law, codes.size
        words = memory.block_words(entropy, 2 * n)
        out["id"] = words[n:]
        own = self.buckets(out["id"], codes)
        memory.draw_again(words[:n], law.total, entropy)
        keep, outside = np.uint64(law.inside - law.outside), np.uint64(law.outside)
        randomized_response.randomize(own, words[:n], keep, outside, out["bucket"])

    def buckets(self, ids: NDArray[np.uint64], codes: NDArray[Any]) -> NDArray[np.uint8]:
        """The bucket of each code under the function of its id: of the first half of its bits, or of all."""
        half, whole = self.bits
        values = codes.astype(np.int64) >> np.where(in_first_group(ids), whole - half, 0)
        return linear_hashing.buckets(ids >> np.uint64(GROUP_BITS), values, self.bucket_bits)

    # What the collector does.

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Those whose bucket exists; any id does."""
        return np.asarray(reports["bucket"] < self.law.outcomes)

    def count(self, reports: Any) -> OpenReports:
        """The reports that a person can have sent, and how many others there are; these add."""
        return OpenReports(self.digest, *report_parsing.lawful(self.form, reports, self.valid))

    def estimate(self, reports: Any, *, name: str = "") -> FrequentAnswers:
        """The answers that are certified, with their shares, from the second group.

        Parameters
        ----------
        reports
            As `privatize` gives them, a list or column of which each entry is one report or one refusal, or what
            `count` gave of them. A further report with the same id is refused: it is a copy. Decoding takes seconds
            and about 300 MB.
        name
            What the answers are about, for the table.
        """
        counted = reports if isinstance(reports, OpenReports) else self.count(reports)
        counted.check(self.digest)
        counted = counted.distinct()
        if not counted.n:
            raise DataError(NO_REPORT)
        first, second = self.groups(counted.rows)
        certified = self._certified(first, second)
        codes, support = self._ordered(certified.codes, certified.support)
        return FrequentAnswers(
            labels=tuple(self.domain.text(code) for code in codes.tolist()),
            support=support,
            certifying=len(second),
            n=counted.n,
            refused=counted.refused,
            raised=certified.raised,
            design=self,
            simulated=counted.simulated,
            name=name,
        )

    def groups(self, reports: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The reports of the first half of the bits, and those of all."""
        first = in_first_group(reports["id"])
        return reports[first], reports[~first]

    def _prefixes(self, reports: NDArray[Any]) -> NDArray[np.uint64]:
        """The prefixes with the most support in the first group above what nobody's have; of equal ones the least."""
        from bruit.kernels import linear_support as kernel

        lead = int(math.log2(kernel.TOGETHER))
        table = kernel.table(len(reports), self.bucket_bits, self.bits[0] - lead)
        self._support(reports, np.arange(kernel.TOGETHER, dtype=np.uint64), table)
        counts = table.T.ravel()  # by prefix: its first bits are the column
        weights, many = LetterWeights(self.bits[0]), self._kept
        counts -= self._limits(len(reports), many * weights.by_rarity).astype(counts.dtype)[weights.rarity]
        least = np.partition(counts, counts.size - many)[counts.size - many]
        above, equal = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
        return np.concatenate([above, equal[: many - above.size]]).astype(np.uint64)

    def _certified(self, first: NDArray[Any], second: NDArray[Any]) -> Certification:
        """Codes with more support in the second group than an answer of nobody has, below prefixes of the first."""
        from bruit.kernels import linear_support as kernel

        step, n = self.bits[1] - self.bits[0], len(second)
        weights = LetterWeights(step)
        limits = self._limits(n, FALSE_NAMES / self._kept * weights.by_rarity)
        certified = Certification(n, float(self.p), float(self.q), int(limits.max()))
        if limits.min() >= n:  # not even an answer of all would be certified
            return certified
        prefixes, rarity = self._prefixes(first), weights.rarity
        table = kernel.table(n, self.bucket_bits, step)
        for start in range(0, len(prefixes), kernel.TOGETHER):
            four = prefixes[start : start + kernel.TOGETHER]
            self._support(second, four, table)
            for low in range(0, len(table), _ROWS):
                counts = table[low : low + _ROWS]
                rests, columns = np.nonzero(counts > limits.min() + certified.raised)
                support = counts[rests, columns].astype(np.int64)
                codes = (four[columns].astype(np.int64) << step) | (low + rests)
                certified.add(codes, support, support - limits[rarity[low + rests]])
        return certified

    def _limits(self, reports: int, tails: NDArray[np.float64]) -> NDArray[np.int64]:
        """The critical counts: the support of an answer that nobody gave exceeds them with at most these chances."""
        return np.array([_limit(reports, self.q, tail) if tail < 1 else -1 for tail in tails.tolist()], np.int64)

    def _ordered(self, codes: NDArray[Any], support: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Those that are codes of texts, the most supported first."""
        texts = np.array([self._is_text(code) for code in codes.tolist()], np.bool_)
        codes, support = codes[texts], support[texts]
        order = np.lexsort((codes, -support))
        return codes[order], support[order]

    def _is_text(self, code: int) -> bool:
        """Whether a code is that of some text: others have a sign after the end, or two spaces, or no letter."""
        return self.domain.code(self.domain.text(code)) == code

    def _support(self, reports: NDArray[Any], prefixes: NDArray[np.uint64], table: NDArray[Any]) -> None:
        """Write how many reports support each code below four prefixes: a row per rest, a column per prefix."""
        from bruit.kernels import linear_support as kernel

        words = reports["id"] >> np.uint64(GROUP_BITS)
        kernel.support(words, np.ascontiguousarray(reports["bucket"]), self.bucket_bits, prefixes, table)

    # What to expect.

    def people_needed(self, share: float, chance: float = 0.9) -> int:
        """About how many people must report for an answer of this share to be found with this chance.

        Found means kept by the first group and certified by the second: two binomial counts above their limits. They
        are those of an answer with about one letter in four outside a to z. One of a to z alone needs fewer people.

        >>> HeavyHitters(epsilon=2.0).people_needed(0.2)
        2292
        """
        share, chance = _checks.probability(share=share), _checks.probability(chance=chance)
        return fewest_people(lambda people: self._chance_to_find(people, share) >= chance, least=0, most=MOST_PEOPLE)

    def least_share(self, people: int, chance: float = 0.9) -> float | None:
        """About the least share of an answer that these people find with this chance; None if they find none.

        >>> round(HeavyHitters(epsilon=2.0).least_share(10_000), 3)
        0.092
        """
        people, chance = _checks.integer(low=0, high=MOST_PEOPLE, people=people), _checks.probability(chance=chance)
        low, high = 0.0, 1.0
        if self._chance_to_find(people, high) < chance:
            return None
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self._chance_to_find(people, middle) >= chance else (middle, high)
        return high

    def _chance_to_find(self, people: int, share: float) -> float:
        """How likely an answer of this share is found among these people, if its code weighs as much as most."""
        half, whole = self.bits
        return self._chance_at(people, share, 2.0**-half, 2.0 ** (half - whole))

    def _chance_at(self, people: int, share: float, first: float, last: float) -> float:
        """The same where the two halves of its code have these weights."""
        from scipy import special

        second = people - people * FIRST_GROUP // IDS
        kept = self._kept
        r = float(self.q) + share * float(self.p - self.q)
        chance = 1.0
        for n, tail in ((people - second, kept * first), (second, FALSE_NAMES / kept * last)):
            chance *= float(special.bdtrc(_limit(n, self.q, tail), n, r)) if tail < 1 else 1.0
        return chance

    # Identity.

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this design."""
        return documents.digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for documents."""
        return {"mechanism": self.name, "epsilon": self.epsilon, "domain": self.domain.to_dict()}

    @classmethod
    def from_dict(cls, body: Any) -> Self:
        """The inverse of `to_dict`."""
        rule = "This document does not describe heavy hitters that this version knows."
        with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
            design = cls(body["epsilon"], domain=OpenText.from_dict(body["domain"]))
            if documents.canonical(design.to_dict()) != documents.canonical(body):
                raise FormatError(rule)
            return design


def in_first_group(ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which reports are of the first half of the bits: by their ids alone."""
    return np.asarray(ids & np.uint64(IDS - 1) < FIRST_GROUP)


def _law(epsilon: float, t: int) -> TwoLevelLaw:
    return TwoLevelLaw.calibrate(epsilon, Itself(values=1 << t))


def _rare_variance(law: TwoLevelLaw) -> Fraction:
    """Var* = q(1−q)/(p−q)²."""
    p, q = law.probability(inside=True), Fraction(1, law.outcomes)
    return q * (1 - q) / (p - q) ** 2


def _limit(n: int, q: Fraction, tail: float) -> int:
    """The critical count: the support of an answer that nobody gave exceeds it with probability at most `tail`."""
    return int(exceeded_limit(n, float(q), tail))
