"""One question of a card: its answers as texts, the law of its messages, and how it is faked where it is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from bruit.cards import content
from bruit.errors import DataError, FormatError, LimitError, ParameterError, translated
from bruit.laws import BitsLaw, ClampedLaw, DistanceLaw, Form, Itself, Law, LeaningLaw, TwoLevelLaw
from bruit.laws.words import WORDS, Words, uniform, weighted

#: What a fake is: a value as it is, bits of which none is the true one, or the message of somebody with a random value.
FakeKind: TypeAlias = Literal["value", "zeros", "noise"]

#: The most answers of a question, and of one whose answers are numbers, so that a card stays small.
MOST_VALUES = 1 << 16
MOST_CELLS = 256
#: The most bytes that a whole number takes on a card, and that a question takes besides its texts and numbers.
NUMBER_BYTES = 26
QUESTION_BYTES = 700


@dataclass(frozen=True)
class CardQuestion:
    """A question, and how the answer of one person becomes a message.

    Parameters
    ----------
    name
        The name of its column.
    values
        The answers, as texts, in the order of their codes; none where the answer is any text, which has a code itself.
    law
        The exact law of a true message.
    fake
        What is reported where another question was drawn; None where nothing is faked.
    prior
        How likely each value is to be faked, in whole numbers of sum 2⁶⁴; None for all alike.
    memo
        The law of the memo, where the same person is asked again; None where everybody is asked once.
    refresh
        How many of 2⁶⁴ words draw a message in place of the memo, or of bits turn a bit over.
    """

    name: str
    values: tuple[str, ...]
    law: Law
    fake: FakeKind | None = None
    prior: tuple[int, ...] | None = None
    memo: Law | None = None
    refresh: int | None = None

    def __post_init__(self) -> None:
        rows, exact = _rows(self.law)
        if not all(isinstance(text, str) and is_unicode(text) for text in (self.name, *self.values)):
            raise ParameterError("The name of a question and its answers must be whole Unicode texts.")
        if not self.name.strip():
            raise ParameterError("A question must have a name that is not empty.")
        if len(set(self.values)) < len(self.values):
            raise ParameterError("The answers to a question must be different texts.")
        if self.is_open and (self.values or self.fake or self.memo):
            raise ParameterError("A question with any text for an answer must have no list of answers, fakes or memo.")
        if self.answers > rows or (exact and self.answers < rows) or self.answers < 2:
            raise ParameterError("A question must have as many answers as its law has values.")
        if self.fake == "zeros" and not isinstance(self.law, BitsLaw):
            raise ParameterError("Noise on zeros is for the law of bits.")
        if self.fake == "value" and not isinstance(self.law.sets, Itself):
            raise ParameterError("A value as it is can be the fake of randomised response only.")
        prior = self.prior
        if prior is not None and (len(prior) != len(self.values) or sum(prior) != WORDS or min(prior) < 1):
            raise ParameterError("A prior must have a whole number, 1 or above, for every answer, and the sum 2⁶⁴.")
        self._check_memo()

    def _check_memo(self) -> None:
        """A memo has the messages of a report, and its own weights."""
        if self.memo is None and self.refresh is None:
            return
        if self.memo is None or self.refresh is None or not 0 <= self.refresh <= WORDS:
            raise ParameterError("A question that is asked again must have the law of its memo, and a refresh.")
        if not isinstance(self.memo, TwoLevelLaw | BitsLaw) or self.fake is not None:
            raise ParameterError("A memo must have a law of two levels or of bits, and no fakes beside it.")
        if self.memo.shape != self.law.shape or self.memo.sets != self.law.sets:
            raise ParameterError("A memo must have the messages of a report.")

    @property
    def is_open(self) -> bool:
        """Whether the answer is any text, which has no place in a list."""
        return self.law.sets is not None and self.law.sets.kind == "parity"

    @property
    def answers(self) -> int:
        """How many codes there are."""
        return self.law.sets.capacity if self.is_open and self.law.sets is not None else len(self.values)

    @property
    def form(self) -> Form:
        """What its messages look like."""
        return Form.of_law(self.law)

    def code(self, value: Any) -> int:
        """The code of an answer, which is one of the texts."""
        return code_of(self, value)

    def sample(self, code: int, words: Words) -> int:
        """The message of a person whose answer has this code."""
        return self.law.sample(code, words)

    def sample_faked(self, code: int, true: bool, words: Words) -> int:
        """The same where most messages are fake: of the code if this is the true question, else as if of another.

        The same is drawn either way: which question is the true one decides only which of two numbers is kept.
        """
        if isinstance(self.law, BitsLaw) and self.fake == "zeros":
            return self.law.sample(code if true else None, words)
        stand_in = uniform(len(self.values), words) if self.prior is None else weighted(self.prior, words)
        if self.fake == "noise":
            return self.sample(code if true else stand_in, words)
        own = self.sample(code, words)
        return own if true else stand_in

    def sample_memo(self, code: int, words: Words) -> int:
        """The memo of a person whose answer has this code."""
        return self._again.sample(code, words)

    def refreshed(self, memo: int, words: Words) -> int:
        """The report of a memo in one round."""
        return self._again.refresh(memo, self.refresh or 0, words)

    @property
    def _again(self) -> TwoLevelLaw | BitsLaw:
        if not isinstance(self.memo, TwoLevelLaw | BitsLaw):
            raise ParameterError(f"{self.name!r} is asked once, and has no memo.")
        return self.memo

    @property
    def size(self) -> int:
        """The most bytes that the question takes on a card, without writing it."""
        pool, sets = getattr(self.law.sets, "pool", None), self.law.sets
        numbers = len(getattr(self.law, "weights", ())) + 2 * len(pool or ()) + len(self.prior or ())
        numbers += 0 if self.memo is None else 8
        if sets is not None and not content.has_rule(sets):
            numbers += len(self.values) * sets.members
        written = json.dumps([*self.values, self.name, self.name], ensure_ascii=False)
        return len(written.encode()) + NUMBER_BYTES * numbers + QUESTION_BYTES

    def to_dict(self) -> dict[str, Any]:
        """Plain texts, for a card."""
        body: dict[str, Any] = {"name": self.name, "values": list(self.values), "law": content.write_law(self.law)}
        if self.law.sets is not None:
            body["sets"] = content.write_sets(self.law.sets, len(self.values))
        if self.fake is not None:
            body["fake"] = self.fake
        if self.prior is not None:
            body["prior"] = content.texts(self.prior)
        if self.memo is not None:
            body["memo"], body["refresh"] = content.write_law(self.memo), str(self.refresh)
        return body

    @classmethod
    def from_dict(cls, body: Any) -> CardQuestion:
        """The inverse of `to_dict`."""
        values = tuple(body["values"])
        if not all(isinstance(text, str) for text in (body["name"], *values)) or len(values) > MOST_VALUES:
            raise FormatError("A question must have a name and answers, which are texts.")
        sets = content.read_sets(body["sets"]) if "sets" in body else None
        if body.get("fake") not in (None, "value", "zeros", "noise"):
            raise FormatError("A fake must be a value, zeros or noise.")
        prior = tuple(content.whole(weight) for weight in body["prior"]) if "prior" in body else None
        law = content.read_law(body["law"], sets)
        memo = content.read_law(body["memo"], sets) if "memo" in body else None
        refresh = content.whole(body["refresh"]) if "refresh" in body else None
        return cls(body["name"], values, law, cast("FakeKind | None", body.get("fake")), prior, memo, refresh)


def code_of(question: Any, value: Any) -> int:
    """The place of an answer among the texts of a question."""
    if getattr(question, "is_open", False):
        raise DataError(f"{question.name!r} takes any text: give sample_codes its code, as in OpenText().code(text).")
    rule = f"The answer to {question.name!r} must be one of the texts on the card."
    with translated(ValueError, lambda _: DataError(rule)):
        return question.values.index(value)  # type: ignore[no-any-return] # of a tuple


def texts(labels: Iterable[Any]) -> tuple[str, ...]:
    """Labels or points as texts that tell them apart; numbers with as few digits as that takes, up to 15 or all.

    >>> texts(["no", "yes"]), texts([0.0, 0.1 + 0.2, 17.0]), texts([False, True])
    (('no', 'yes'), ('0', '0.3', '17'), ('False', 'True'))
    """
    known = list(labels)
    short = [f"{label:.15g}" if isinstance(label, float) else str(label) for label in known]
    return tuple(short if len(set(short)) == len(short) else map(str, known))


def check_values(size: int, most: int, name: str) -> None:
    """Refuse a question with too many answers, before anything is made of them."""
    if size > most:
        raise LimitError(f"A card has at most {most:,} answers to a question of this kind; {name!r} has {size:,}.")


def is_unicode(text: str) -> bool:
    """Whether a text has no half characters, which no card can hold."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _rows(law: Any) -> tuple[int, bool]:
    """How many values a law has rows for, and whether there must be an answer for each; else there may be fewer."""
    if isinstance(law, DistanceLaw | ClampedLaw):
        return law.rows, True
    if isinstance(law, LeaningLaw):
        return law.cells, True
    return law.sets.capacity, law.sets.kind in ("self", "window", "subset")
