"""Vectors: codes, words and the report that they give, by which samplers in other languages are compared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from bruit.entropy import Entropy
from bruit.laws import BitsLaw, ClampedLaw, DistanceLaw, Hash, LeaningLaw, MixedLaw, Parity, Subset, TwoLevelLaw
from bruit.laws.parity import GROUP_BITS
from bruit.laws.words import WORDS, stream, uniform

if TYPE_CHECKING:
    from bruit.cards.card import Card, PublicQuestion
    from bruit.cards.question import CardQuestion

#: Functions by which the first bits of a text often have other parities than all of them.
_FUNCTIONS = (0x1B3D5E6F789ACD, 0x2545F4914F6CDD, 0x0123456789ABCD, 0x3C6EF372FE94F8)
#: A boundary is tried as each of this many first words of a report, and as the last.
PLACES = 4


class Vector(NamedTuple):
    """What a sampler must do: from these codes and these words, all of which it uses, this report.

    With rounds the first words give the memo, and those that follow the report of that memo.
    """

    codes: tuple[int, ...]
    words: tuple[int, ...]
    report: dict[str, str]
    memo: dict[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain texts, for other languages."""
        codes, words = [str(code) for code in self.codes], [str(word) for word in self.words]
        memo = {} if self.memo is None else {"memo": self.memo}
        return {"codes": codes, "words": words, "report": self.report, **memo}


def vectors(card: Card, n: int, entropy: Entropy) -> list[Vector]:
    """Vectors with every boundary in the first places, and n with random words alone."""
    words = stream(entropy)

    every: tuple[CardQuestion | PublicQuestion, ...] = (*card.questions, *card.public)

    def codes() -> tuple[int, ...]:
        return tuple(uniform(question.answers, words) for question in every)

    def ends() -> list[tuple[int, ...]]:
        first, last = (0,) * len(every), tuple(question.answers - 1 for question in every)
        return [first, last, codes()]

    used = len(_drawn(card, codes(), [], words).words)
    places = sorted({*range(min(used, PLACES)), used - 1})
    edges = sorted(set(chain.from_iterable(map(_around, _boundaries(card)))))
    edged = []
    for edge in edges:
        for place in places:
            edged += [_drawn(card, answers, [*(next(words) for _ in range(place)), edge], words) for answers in ends()]
    return edged + [_drawn(card, codes(), [], words) for _ in range(n)]


def _drawn(card: Card, codes: tuple[int, ...], start: list[int], words: Iterator[int]) -> Vector:
    """The report from words that begin so, and the words that it took."""
    used: list[int] = []

    def recorded() -> Iterator[int]:
        for word in chain(start, words):
            used.append(word)
            yield word

    source = recorded()
    memo = None if card.rounds is None else card.draw_memo_codes(codes, source)
    report = card.sample_codes(codes, source) if memo is None else card.refresh(memo, source)
    return Vector(codes, tuple(used), report, memo)


def _around(word: int) -> list[int]:
    return [near for near in (word - 1, word, word + 1) if 0 <= near < WORDS]


def _boundaries(card: Card) -> Iterator[int]:
    """Words at which something else begins, for any question and for what is drawn before them."""
    yield from (0, WORDS - 1)
    yield from _shares(sum(card.weights or (1,) * len(card.questions)))
    for question in card.questions:
        yield from _of_law(question.law if question.memo is None else question.memo)
        yield from () if question.refresh is None else (question.refresh,)
        yield from _of_sets(question)
        if question.fake is not None:
            yield from _shares(len(question.values))
            yield from (question.prior or ())[:2]


def _of_law(law: Any) -> Iterator[int]:
    if isinstance(law, TwoLevelLaw):
        step = law.inside - law.outside
        kept = step * law.members
        yield from (step, kept, kept + law.outside, law.total)
    elif isinstance(law, BitsLaw):
        yield from (law.own, law.other)
    elif isinstance(law, LeaningLaw):
        yield from (law.least, law.least + (law.cells - 1) * law.slope, law.total)
    elif isinstance(law, MixedLaw):
        yield from _of_law(law.coin)
        yield from (law.coin.total + word for word in _of_law(law.window))
    elif isinstance(law, DistanceLaw | ClampedLaw):
        for code in (0, law.rows // 2, law.rows - 1):
            total, left = law.total(code), int(law.tables.left[code])
            yield from _shares(total, (1, law.weights[0], left, left + 1, total - 1))


def _of_sets(question: CardQuestion) -> Iterator[int]:
    sets = question.law.sets
    if isinstance(sets, Hash) and sets.pool is not None:
        yield from _shares(len(sets.pool))
    if isinstance(sets, Parity):
        yield from (word << GROUP_BITS | group for word in _FUNCTIONS for group in (sets.share - 1, sets.share))
    if isinstance(sets, Subset) and sets.size > 1:
        yield from _shares(sets.values - 1)


def _shares(choices: int, shares: tuple[int, ...] = (1,)) -> Iterator[int]:
    """The first words of some shares of a uniform draw: those that may be skipped are among them."""
    for share in (*shares, choices - 1):
        yield -(-(share << 64) // choices)
