"""A card: all that somebody's device needs to draw a report, in whole numbers, for any language.

A plan is for those who ask and count. A card is for those who answer: the answers as texts, the integer weights of
every law, which messages support a value, and how reports are written; nothing on it is a float, and no number must be
computed from ε. It is identified by the SHA-256 of the very bytes that are served. ``docs/reference/cards.md``
specifies it, and ``sample.mjs`` beside this module draws from it in a browser or in Node.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from bruit import _checks, documents
from bruit._renamed import Signpost
from bruit.cards import content
from bruit.cards.question import MOST_VALUES, CardQuestion, code_of, is_unicode
from bruit.cards.vectors import Vector, vectors
from bruit.entropy import Entropy, Randomness
from bruit.errors import BruitError, DataError, DataTypeError, FormatError, LimitError, ParameterError, translated
from bruit.laws import Form
from bruit.laws.words import WORDS, Words, stream, uniform, weighted
from bruit.tables import counted

#: How the questions of a person are reported: one alone, all, one that is told, or one among fakes.
Method: TypeAlias = Literal["one", "SPL", "SMP", "RS+FD", "RS+RFD"]

#: The most bytes of a card.
MOST_BYTES = 1 << 20
#: The most questions, and the columns of reports that tell which question was drawn.
MOST_QUESTIONS = 1024
SAMPLED_COLUMNS = ("attribute", "report")


class PublicQuestion(NamedTuple):
    """A question whose answer is sent in clear: its name, and the answers as texts."""

    name: str
    values: tuple[str, ...]

    @property
    def answers(self) -> int:
        """How many codes there are."""
        return len(self.values)


@dataclass(frozen=True, eq=False, repr=False)
class Card:
    """What a person's device needs to answer a plan.

    Parameters
    ----------
    plan
        The digest of the plan, or of the mechanism, that counts the reports.
    method
        ``"one"``, ``"SPL"``, ``"SMP"``, ``"RS+FD"`` or ``"RS+RFD"``.
    questions
        The questions, in the order of the plan.
    weights
        For SMP: how often each question is drawn, in whole numbers.
    public
        The questions whose answers are sent in clear, after all others.
    rounds, epochs
        How many rounds an epoch has and how many epochs there are, where the same person is asked again.

    Guarantee
    ---------
    A report that `sample` draws has exactly the law from which the plan computes its ε, given uniform words.
    ``card.proof.md`` has the argument.

    Examples
    --------
    >>> import bruit
    >>> card = bruit.Plan({"smokes": ["no", "yes"]}, epsilon=1.0).card()
    >>> card.questions[0].values
    ('no', 'yes')
    >>> report = card.sample({"smokes": "yes"})
    >>> report["smokes"] in ("0", "1"), len(card.pack(report))
    (True, 1)
    >>> Card.from_bytes(card.to_bytes()) == card
    True

    Where the same person is asked again, a memo is drawn once in an epoch, kept, and refreshed in every round:

    >>> repeat = bruit.collection.Repeat(12, epochs=4, epoch_epsilon=2.0)
    >>> card = bruit.Plan({"smokes": ["no", "yes"]}, 1.0, repeat=repeat).card()
    >>> memo = card.draw_memo({"smokes": "yes"})
    >>> january, february = card.refresh(memo), card.refresh(memo)
    """

    FORMAT = "bruit.card/1"

    plan: str
    method: Method
    questions: tuple[CardQuestion, ...]
    weights: tuple[int, ...] | None = None
    public: tuple[PublicQuestion, ...] = ()
    rounds: int | None = None
    epochs: int | None = None

    def __post_init__(self) -> None:
        _checks.one_of(get_args(Method), method=self.method)
        if not isinstance(self.plan, str) or not re.fullmatch("[0-9a-f]{32}", self.plan):
            raise ParameterError("plan must be a digest: 32 hexadecimal digits.")
        self._check_questions()
        self._check_weights()
        self._check_public()
        self._check_rounds()
        room = sum(question.size for question in self.questions)
        room += sum(len(json.dumps(question, ensure_ascii=False).encode()) + 200 for question in self.public)
        if room > MOST_BYTES:
            raise LimitError(
                f"A card has at most {MOST_BYTES:,} bytes, this one could have {room:,}: "
                "ask for fewer or shorter answers, or with a smaller pool of hash functions."
            )

    def _check_questions(self) -> None:
        names = [question.name for question in self.questions]
        if not 1 <= len(names) <= MOST_QUESTIONS or len(set(names)) < len(names):
            raise ParameterError(f"A card must have from 1 to {MOST_QUESTIONS:,} questions, with different names.")
        if (self.method == "one") > (len(names) == 1) or (len(names) == 1) > (self.method in ("one", "SMP")):
            raise ParameterError('The method "one" is for one question, the others are for several.')
        for question in self.questions:
            if (question.fake is not None) != self.method.startswith("RS"):
                raise ParameterError("Fakes belong to the methods RS+FD and RS+RFD, and to all of their questions.")

    def _check_weights(self) -> None:
        if (self.weights is not None) != (self.method == "SMP"):
            raise ParameterError("weights belong to the method SMP.")
        weights = self.weights
        if weights is not None and (len(weights) != len(self.questions) or min(weights) < 1 or sum(weights) > WORDS):
            raise ParameterError("weights must be whole numbers, 1 or above, one per question, of sum 2⁶⁴ at most.")

    def _check_public(self) -> None:
        names = [question.name for question in self.public]
        if len(set(names)) < len(names) or set(names) & {*self._private_columns, *(own.name for own in self.questions)}:
            raise ParameterError("What is sent in clear must have names of its own on a card.")
        for name, values in self.public:
            if not all(isinstance(text, str) and is_unicode(text) for text in (name, *values)) or not name.strip():
                raise ParameterError("The name of a question and its answers must be whole Unicode texts.")
            if not 1 <= len(set(values)) == len(values) <= MOST_VALUES:
                raise ParameterError("The answers to a question must be different texts.")

    def _check_rounds(self) -> None:
        again = {question.memo is not None for question in self.questions}
        if again != {self.rounds is not None} or (self.rounds is None) != (self.epochs is None):
            raise ParameterError("Rounds and epochs belong together, and to questions that all have memos.")
        if self.rounds is not None:
            _checks.integer(low=1, high=WORDS, rounds=self.rounds)
            _checks.integer(low=1, high=WORDS, epochs=self.epochs)

    # What it says.

    @cached_property
    def columns(self) -> dict[str, Form]:
        """The columns of a report, in order: what each is called and how it keeps its message."""
        clear = {question.name: Form.integers(len(question.values)) for question in self.public}
        return {**self._private_columns, **clear}

    @property
    def _private_columns(self) -> dict[str, Form]:
        forms = [question.form for question in self.questions]
        if self.method == "SMP":
            which = Form.integers(len(forms))
            return dict(zip(SAMPLED_COLUMNS, (which, Form.widest(forms)), strict=True))
        return {question.name: form for question, form in zip(self.questions, forms, strict=True)}

    if not TYPE_CHECKING:  # a checker is to see what is missing
        content = Signpost("to_bytes()")
        read = Signpost("from_bytes(data)")

    def to_bytes(self) -> bytes:
        """The card as it is served: canonical JSON. Every number is a decimal string."""
        return self._content

    @cached_property
    def _content(self) -> bytes:
        return documents.canonical(self._body()).encode()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content, 64 hexadecimal digits: what ``sha256sum card.json`` says."""
        return hashlib.sha256(self._content).hexdigest()

    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "format": self.FORMAT,
            "plan": self.plan,
            "method": self.method,
            "questions": [question.to_dict() for question in self.questions],
            "columns": [
                {"name": name, "dtype": form.kind, "bytes": str(form.size)} for name, form in self.columns.items()
            ],
        }
        if self.weights is not None:
            body["weights"] = content.texts(self.weights)
        if self.public:
            body["public"] = [{"name": name, "values": list(values)} for name, values in self.public]
        if self.rounds is not None:
            body["rounds"], body["epochs"] = str(self.rounds), str(self.epochs)
        return body

    @classmethod
    def from_bytes(cls, data: bytes) -> Card:
        """The card whose content these bytes are; anything else, also the same said in another way, is refused."""
        if not isinstance(data, bytes) or len(data) > MOST_BYTES:
            raise FormatError(f"A card must be bytes, at most {MOST_BYTES:,}.")
        rule = f"This is not a whole {cls.FORMAT} document: it is cut short or damaged."
        kinds = (BruitError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
        with translated(kinds, lambda _: FormatError(rule)):
            body = documents.parsed(data.decode(), cls.FORMAT)
            weights = tuple(content.whole(weight) for weight in body["weights"]) if "weights" in body else None
            questions = tuple(CardQuestion.from_dict(question) for question in body["questions"])
            clear = tuple(PublicQuestion(own["name"], tuple(own["values"])) for own in body.get("public", ()))
            rounds, epochs = (content.whole(body[name]) if name in body else None for name in ("rounds", "epochs"))
            card = cls(body["plan"], body["method"], questions, weights, clear, rounds, epochs)
        if card.to_bytes() != data:
            raise FormatError(f"This {cls.FORMAT} document is not in the one form that its digest is computed from.")
        return card

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Card) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        names = ", ".join(f"{question.name!r}" for question in self.questions)
        return f"Card({names}; {self.method}; {counted(len(self._content), 'byte')}; sha256 {self.digest[:16]}…)"

    # What a person's device does.

    def sample(self, values: Mapping[str, str], words: Iterable[int] | None = None) -> dict[str, str]:
        """The report of one person: a text for each column.

        Parameters
        ----------
        values
            The person's answer to each question, as the text on the card.
        words
            Random 64-bit words, used in order. None takes them from the operating system.
        """
        return self.sample_codes(self._codes(values), words)

    def sample_codes(
        self, codes: Sequence[int], words: Iterable[int] | None = None, *, place: int | None = None
    ) -> dict[str, str]:
        """The same from the codes of the answers: their places among the texts of each question, public ones last.

        Of SMP, `place` is the question that was assigned to this person at random; by default the device draws it.
        """
        private, clear = self._checked_codes(codes)
        if self.rounds is not None:
            raise ParameterError("This card asks the same person again: keep draw_memo(…), and send refresh(memo).")
        if place is not None and self.method != "SMP":
            raise ParameterError("A question is assigned where one of several is reported on: leave place out.")
        return self._texts([*self._messages(private, _words(words), place), *clear])

    def draw_memo(self, values: Mapping[str, str], words: Iterable[int] | None = None) -> dict[str, str]:
        """The memo of one person for one epoch: to be kept and shown to nobody. A text for each column of a report.

        Parameters
        ----------
        values, words
            As for `sample`.
        """
        return self.draw_memo_codes(self._codes(values), words)

    def draw_memo_codes(self, codes: Sequence[int], words: Iterable[int] | None = None) -> dict[str, str]:
        """The same from the codes of the answers."""
        private, clear = self._checked_codes(codes)
        self._check_again()
        source, pairs = _words(words), list(zip(self.questions, private, strict=True))
        if self.method == "SMP":
            which = weighted(self.weights or (), source)
            return self._texts([which, self.questions[which].sample_memo(private[which], source), *clear])
        return self._texts([*(question.sample_memo(code, source) for question, code in pairs), *clear])

    def refresh(self, memo: Mapping[str, str], words: Iterable[int] | None = None) -> dict[str, str]:
        """The report of one round from the memo of its epoch. Draw it once, keep it, and send that.

        Parameters
        ----------
        memo
            As `draw_memo` gave it; what is sent in clear stays as it is.
        words
            As for `sample`.
        """
        self._check_again()
        rule = "memo must be one that draw_memo gave for this card."
        with translated((KeyError, TypeError, ValueError, OverflowError), lambda _: DataError(rule)):
            messages = [form.number(memo[name]) for name, form in self.columns.items()]
        many, source = len(self._private_columns), _words(words)
        private, clear = messages[:many], messages[many:]
        if self.method == "SMP":
            which, message = private
            if which >= len(self.questions):
                raise DataError(rule)
            return self._texts([which, self.questions[which].refreshed(message, source), *clear])
        pairs = zip(self.questions, private, strict=True)
        return self._texts([*(question.refreshed(message, source) for question, message in pairs), *clear])

    def _codes(self, values: Mapping[str, str]) -> list[int]:
        names = {question.name for question in self._every}
        if not isinstance(values, Mapping) or set(values) != names:
            raise DataError("values must have an answer to every question of the card, and to no other.")
        private = [question.code(values[question.name]) for question in self.questions]
        return [*private, *(code_of(own, values[own.name]) for own in self.public)]

    def _checked_codes(self, codes: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
        """The codes of the answers that are private, and of those that are sent in clear."""
        if len(codes) != len(self._every):
            raise DataError("codes must have one entry per question.")
        for code, question in zip(codes, self._every, strict=True):
            if type(code) is not int or not 0 <= code < question.answers:
                raise DataError(f"The code of the answer to {question.name!r} must be its place among the texts.")
        return codes[: len(self.questions)], codes[len(self.questions) :]

    def _check_again(self) -> None:
        if self.rounds is None:
            raise ParameterError("This card asks once, and has no memo: send sample(…).")

    def _texts(self, messages: Sequence[int]) -> dict[str, str]:
        return {name: form.text(message) for (name, form), message in zip(self.columns.items(), messages, strict=True)}

    @property
    def _every(self) -> tuple[CardQuestion | PublicQuestion, ...]:
        return (*self.questions, *self.public)

    def _messages(self, codes: Sequence[int], words: Words, place: int | None = None) -> list[int]:
        """One message for each column of a report that is not sent in clear."""
        if self.method == "SMP":
            which = weighted(self._weights_of(place), words)
            return [which, self.questions[which].sample(codes[which], words)]
        pairs = list(zip(self.questions, codes, strict=True))
        if self.method in ("one", "SPL"):
            return [question.sample(code, words) for question, code in pairs]
        true = uniform(len(pairs), words)
        return [question.sample_faked(code, place == true, words) for place, (question, code) in enumerate(pairs)]

    def _weights_of(self, place: int | None) -> Sequence[int]:
        """The weights of the draw; with a place, all of the weight is on it, so that as many words are drawn."""
        if place is None:
            return self.weights or ()
        _checks.integer(low=0, high=len(self.questions) - 1, place=place)
        return [int(other == place) for other in range(len(self.questions))]

    def pack(self, report: Mapping[str, str]) -> bytes:
        """A report as bytes: its columns one after the other, as many bytes for every person."""
        return b"".join(form.unpacked(report[name]) for name, form in self.columns.items())

    # Writing a sampler.

    def vectors(self, n: int, rng: Randomness = None) -> list[Vector]:
        """Codes, words and the report that they must give, to try a sampler on.

        Parameters
        ----------
        n
            How many vectors with random words. Others come first, with the words at which something else begins: 0, the
            boundaries of the laws and their neighbours, the totals, and 2⁶⁴ − 1.
        rng
            As for every verb; vectors are public, so any will do.
        """
        _checks.integer(low=0, n=n)
        return vectors(self, n, Entropy.resolve(rng, "vectors", self.plan))


def javascript() -> str:
    """The sampler for browsers and Node, an ES module, as text."""
    return resources.files("bruit.cards").joinpath("sample.mjs").read_text(encoding="utf-8")


def _words(words: Iterable[int] | None) -> Words:
    """These words, or those of the operating system."""
    return stream(Entropy()) if words is None else _checked(words)


def _checked(words: Iterable[int]) -> Words:
    """The words, if they are words; an error that shows none of them otherwise."""
    for word in words:
        if type(word) is not int or not 0 <= word < WORDS:
            raise DataTypeError("words must be whole numbers below 2⁶⁴.")
        yield word
    raise DataError("words ended before the report was drawn.")
