"""Cards: whole numbers only, one form in bytes, and reports with exactly the law of the plan."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

import bruit.cards.question as question_module
from bruit import Plan
from bruit.cards import Card, CardQuestion
from bruit.cards.question import texts
from bruit.collection import Method
from bruit.entropy import Entropy
from bruit.errors import DataError, DataTypeError, FormatError, LimitError, ParameterError
from bruit.laws import BitsLaw, Itself, Subset, TwoLevelLaw
from bruit.laws import words as word_module
from bruit.laws.words import stream
from bruit.numbers import number
from bruit.oracles import LocalHashing, UnaryEncoding, oracle

DIGEST = "0123456789abcdef" * 2
ALARM = 1e-8


def leaves(part):
    if isinstance(part, dict):
        return [leaf for item in part.values() for leaf in leaves(item)]
    if isinstance(part, list):
        return [leaf for item in part for leaf in leaves(item)]
    return [part]


def test_a_card_has_texts_and_no_numbers(design):
    assert all(type(leaf) is str for leaf in leaves(json.loads(design.card.to_bytes())))


def test_a_card_is_canonical_and_known_by_the_hash_of_its_bytes(design):
    card = design.card
    text = json.dumps(json.loads(card.to_bytes()), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text.encode() == card.to_bytes()
    assert card.digest == hashlib.sha256(card.to_bytes()).hexdigest()
    assert card.plan == design.maker.digest


@pytest.mark.audit(share=3)
def test_a_card_that_was_read_is_the_card_that_was_written(design):
    card = Card.from_bytes(design.card.to_bytes())
    assert card == design.card
    assert card.to_bytes() == design.card.to_bytes()
    assert [type(question.law) for question in card.questions] == [type(q.law) for q in design.card.questions]
    assert card.vectors(20, rng=3) == design.card.vectors(20, rng=3)


def test_the_size_of_a_card_is_known_before_it_is_written(design):
    assert len(design.card.to_bytes()) <= sum(question.size for question in design.card.questions)


def test_the_columns_of_a_card_are_those_of_the_reports(design):
    empty = design.empty
    assert list(empty) == list(design.card.columns)
    for name, form in design.card.columns.items():
        column = empty[name]
        size = column.shape[1] if column.ndim == 2 else column.dtype.itemsize
        kind = str(column.dtype) if column.ndim == 1 and not column.dtype.names else "bytes"
        assert (form.kind, form.size) == (kind, size)


@pytest.mark.audit("SUE")
def test_reports_drawn_from_a_card_are_counted_by_its_maker(design):
    words = stream(Entropy(1))
    codes = [len(question.values) - 1 for question in design.card.questions]
    reports = [design.draw(codes, words) for _ in range(60)]
    tally = design.tally(reports)
    assert (tally.n, tally.refused) == (60, 0)
    assert {len(design.card.pack(report)) for report in reports} == {sum(f.size for f in design.card.columns.values())}


def test_a_packed_report_is_the_bytes_of_its_columns():
    card = Plan({"a": ["x", "y"], "b": [str(i) for i in range(300)]}, 1.0, "SPL[GRR]").card()
    assert card.pack({"a": "1", "b": "258"}) == bytes([1, 2, 1])
    card = UnaryEncoding(epsilon=1.0, k=10).card("a")
    assert card.pack({"a": "0103"}) == bytes([1, 3])


# The law of whole reports.


def tiny(kind, prior=None):
    """A question with so few words that every sequence of them can be tried."""
    laws = {
        "value": TwoLevelLaw(inside=2, outside=1, sets=Itself(values=2)),
        "noise": TwoLevelLaw(inside=1, outside=1, sets=Itself(values=3)),
        "zeros": BitsLaw(own=3, other=1, sets=Subset(values=2)),
        "bits": BitsLaw(own=3, other=1, sets=Subset(values=2)),
        "subset": TwoLevelLaw(inside=1, outside=1, sets=Subset(values=3, size=1)),
        None: TwoLevelLaw(inside=2, outside=1, sets=Itself(values=2)),
    }
    law = laws[kind]
    names = tuple("xyz"[: law.sets.values])
    fake = {"bits": "noise", "subset": "noise"}.get(kind, kind)
    return lambda name: CardQuestion(name, names, law, fake, prior)


def row(question, code):
    """P(message | code) as a dictionary; of bits, with the four words that there are here."""
    law = question.law
    if isinstance(law, BitsLaw):
        chances = [Fraction(law.own if value == code else law.other, 4) for value in range(2)]
        return {m: math.prod(p if m >> v & 1 else 1 - p for v, p in enumerate(chances)) for m in range(4)}
    return dict(zip(law.sets.messages(), law.row(code), strict=True))


def fake_row(question):
    size = len(question.values)
    shares = [Fraction(1, size)] * size if question.prior is None else [Fraction(w, 4) for w in question.prior]
    if question.fake == "value":
        return dict(enumerate(shares))
    if question.fake == "zeros":
        return row(question, None)
    rows = [row(question, code) for code in range(size)]
    return {m: sum(share * r.get(m, 0) for share, r in zip(shares, rows, strict=True)) for m in rows[0]}


def whole_law(card, codes):
    """The exact law of a report's messages, from the definition of the method."""
    questions = card.questions
    rows = [row(question, code) for question, code in zip(questions, codes, strict=True)]
    seen = Counter()
    if card.method == "SMP":
        for which, weight in enumerate(card.weights):
            for message, chance in rows[which].items():
                seen[which, message] += Fraction(weight, sum(card.weights)) * chance
        return seen
    mixes = [rows]
    if card.method.startswith("RS"):
        fakes = [fake_row(question) for question in questions]
        mixes = [[rows[j] if j == true else fakes[j] for j in range(len(rows))] for true in range(len(rows))]
    for mix in mixes:
        for messages in itertools.product(*mix):
            chance = math.prod(r[m] for r, m in zip(mix, messages, strict=True))
            seen[messages] += chance / len(mixes)
    return seen


def drawn_law(card, codes, words, draws, place=None):
    """The exact law of `sample_codes` where every sequence of words is equally likely."""
    seen = Counter()
    for sequence in itertools.product(range(words), repeat=draws):
        source = iter(sequence)
        try:
            messages = card._messages(codes, source, place)
        except StopIteration:
            continue
        assert next(source, None) is None
        seen[tuple(messages)] += 1
    return {messages: Fraction(count, seen.total()) for messages, count in seen.items()}


CARDS = {
    "one": ("one", [tiny(None)], None, 1),
    "SPL": ("SPL", [tiny(None), tiny(None)], None, 2),
    "SMP": ("SMP", [tiny(None), tiny(None)], (1, 3), 2),
    "RS+FD, values": ("RS+FD", [tiny("value"), tiny("value")], None, 5),
    "RS+FD, zeros": ("RS+FD", [tiny("zeros"), tiny("zeros")], None, 5),
    "RS+FD, noise on bits": ("RS+FD", [tiny("bits"), tiny("value")], None, 6),
    "RS+FD, subsets": ("RS+FD", [tiny("subset"), tiny("value")], None, 5),
    "RS+RFD, values": ("RS+RFD", [tiny("value", (1, 3)), tiny("value", (3, 1))], None, 5),
    "RS+RFD, bits": ("RS+RFD", [tiny("bits", (1, 3)), tiny("value", (3, 1))], None, 6),
}


@pytest.mark.parametrize("name", CARDS)
def test_all_words_of_a_tiny_card_give_the_law_of_its_method(name, monkeypatch):
    """Four words in all: every sequence is tried, and the counts are the probabilities."""
    for module in (word_module, question_module):
        monkeypatch.setattr(module, "WORDS", 4)
    method, questions, weights, draws = CARDS[name]
    card = Card(DIGEST, method, tuple(make(f"q{i}") for i, make in enumerate(questions)), weights)
    for codes in itertools.product(*(range(len(question.values)) for question in card.questions)):
        assert drawn_law(card, codes, 4, draws) == {m: p for m, p in whole_law(card, codes).items() if p}


@pytest.mark.parametrize("place", [0, 1])
def test_an_assigned_question_is_reported_with_its_own_law_and_as_many_words(place, monkeypatch):
    for module in (word_module, question_module):
        monkeypatch.setattr(module, "WORDS", 4)
    card = Card(DIGEST, "SMP", tuple(make(f"q{i}") for i, make in enumerate([tiny(None), tiny(None)])), (1, 3))
    for codes in itertools.product(*(range(len(question.values)) for question in card.questions)):
        law = {m: p for m, p in whole_law(card, codes).items() if p and m[0] == place}
        assert drawn_law(card, codes, 4, 2, place) == {m: p / sum(law.values()) for m, p in law.items()}
        assert drawn_law(card, codes, 4, 2, 1 - place) != drawn_law(card, codes, 4, 2, place)


@pytest.mark.parametrize(("method", "place", "match"), [("SMP", 2, "place"), ("SMP", -1, "place"), ("SPL", 0, "leave")])
def test_a_question_that_is_none_or_of_another_method_is_not_assigned(method, place, match):
    card = Plan({"a": ["x", "y"], "b": ["u", "v", "w"]}, 1.0, f"{method}[GRR]").card()
    with pytest.raises(ParameterError, match=match):
        card.sample_codes([0, 0], place=place)


def two_samples(first, second):
    """χ² of two samples having one law, over messages that are seen often enough."""
    places = sorted(set(first) | set(second), key=lambda m: first[m] + second[m])
    pools, rest = [], [0, 0]
    for place in places:
        rest = [rest[0] + first[place], rest[1] + second[place]]
        if sum(rest) >= 100:
            pools.append(rest)
            rest = [0, 0]
    table = np.array(pools, float)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return special.chdtrc(len(pools) - 1, ((table - expected) ** 2 / expected).sum())


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", ["SPL[GRR]", "SMP[SS]", "RS+FD[GRR]", "RS+FD[OUE-z]", "RS+FD[SS]", "RS+RFD[OUE-r]"])
def test_a_card_draws_what_privatize_draws_and_not_what_another_plan_does(method):
    schema, prior = {"a": ["x", "y"], "b": ["u", "v", "w"]}, {"a": [0.8, 0.2], "b": [0.6, 0.3, 0.1]}
    n = 30_000

    def plan(epsilon):
        return Plan(schema, epsilon, Method.named(method, prior=prior if "RFD" in method else None))

    card, words = plan(2.0).card(), stream(Entropy(2))
    drawn = Counter(card.pack(card.sample_codes([1, 0], words)) for _ in range(n))
    for epsilon, same in ((2.0, True), (2.6, False)):
        reports = plan(epsilon).privatize({"a": ["y"] * n, "b": ["u"] * n}, rng=3)
        rows = np.hstack([column.view(np.uint8).reshape(n, -1) for column in reports.values()])
        assert (two_samples(drawn, Counter(map(bytes, rows))) > ALARM) == same


# What cannot be carried.


def test_a_question_with_too_many_answers_is_refused_before_any_work():
    many = oracle("HR", epsilon=1.0, k=10**6)
    with pytest.raises(LimitError, match=r"at most 65,536 answers .* 'city' has 1,000,000"):
        many.card("city")
    fine = number("laplace", epsilon=1.0, bounds=(0.0, 1.0), cells=257)
    with pytest.raises(LimitError, match=r"at most 256 answers"):
        fine.card("height")
    assert "law" not in {**many.__dict__, **fine.__dict__}


def test_a_pool_that_is_too_large_is_refused_before_its_functions_are_made():
    pooled = LocalHashing(epsilon=1.0, k=20, pool=10**6)
    with pytest.raises(LimitError, match=r"at most 1,048,576 bytes.*smaller pool"):
        pooled.card("city")
    assert "seeds" not in pooled._pool.__dict__
    assert len(LocalHashing(epsilon=1.0, k=20, pool=10_000).card("city").to_bytes()) < 2**20


def test_a_card_with_long_texts_is_refused():
    labels = [f"{i}" + "\n" * 9000 for i in range(60)]
    with pytest.raises(LimitError, match="shorter answers"):
        oracle("GRR", epsilon=1.0, labels=labels).card("a")


def test_a_number_that_would_be_rounded_by_chance_is_refused():
    with pytest.raises(ParameterError, match='use rounding="nearest"'):
        number("hybrid", epsilon=1.0, bounds=(0, 9), rounding="stochastic").card("a")


@pytest.mark.parametrize(
    "bad",
    [
        {"plan": "short"},
        {"method": "SPL"},
        {"method": "two"},
        {"weights": (1, 1)},
        {"questions": ()},
        {"questions": (tiny("value")("a"),)},
        {"method": "SMP", "questions": (tiny(None)("a"), tiny(None)("b"))},
        {"method": "SMP", "questions": (tiny(None)("a"), tiny(None)("b")), "weights": (1, 0)},
        {"method": "SMP", "questions": (tiny(None)("a"), tiny(None)("b")), "weights": (1, 2**64)},
        {"method": "SPL", "questions": (tiny(None)("a"), tiny(None)("a"))},
        {"method": "RS+FD", "questions": (tiny("value")("a"), tiny(None)("b"))},
    ],
)
def test_a_card_is_valid_from_birth(bad):
    with pytest.raises(ParameterError):
        Card(**{"plan": DIGEST, "method": "one", "questions": (tiny(None)("a"),), **bad})


@pytest.mark.parametrize(
    "bad",
    [
        {"values": ("x",)},
        {"values": ("x", "\ud800")},
        {"values": ("x", 1)},
        {"name": " "},
        {"name": 3},
        {"values": ("x", "x")},
        {"values": ("x", "y", "z")},
        {"fake": "zeros"},
        {"fake": "value", "prior": (1, 2**64)},
        {"fake": "value", "prior": (0, 2**64)},
        {"fake": "value", "law": BitsLaw(own=3, other=1, sets=Subset(values=2))},
    ],
)
def test_a_question_is_valid_from_birth(bad):
    with pytest.raises(ParameterError):
        CardQuestion(**{"name": "a", "values": ("x", "y"), "law": tiny(None)("a").law, **bad})


# Hostile cards.


def _changed(path, value):
    def change(body):
        *way, last = path
        for step in way:
            body = body[step]
        body[last] = value

    return change


HOSTILE = {
    "a number": _changed(["questions", 0, "law", "inside"], 5),
    "a float": _changed(["questions", 0, "law", "inside"], 0.5),
    "no number": _changed(["questions", 0, "law", "inside"], "five"),
    "a number written otherwise": _changed(["questions", 0, "law", "outside"], "01"),
    "a long number": _changed(["questions", 0, "law", "outside"], "9" * 10_000),
    "weights past all words": _changed(["questions", 0, "law", "inside"], str(2**64)),
    "another count of members": _changed(["questions", 0, "law", "members"], "2"),
    "another shape": _changed(["questions", 0, "law", "shape"], "three_level"),
    "another set": _changed(["questions", 0, "sets", "kind"], "window"),
    "more values": _changed(["questions", 0, "sets", "values"], "4"),
    "an answer that is no text": _changed(["questions", 0, "values", 0], 7),
    "an answer twice": _changed(["questions", 0, "values"], ["no", "no"]),
    "a fake": _changed(["questions", 0, "fake"], "value"),
    "an unknown fake": _changed(["questions", 0, "fake"], "news"),
    "an unknown part": _changed(["advertisement"], "buy"),
    "another column": _changed(["columns", 0, "dtype"], "uint16"),
    "another method": _changed(["method"], "SPL"),
    "another format": _changed(["format"], "bruit.card/2"),
    "another plan": _changed(["plan"], "g" * 32),
    "no questions": _changed(["questions"], []),
    "questions that are none": _changed(["questions"], {"a": 1}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_card_that_was_tampered_with_is_refused(name):
    body = json.loads(oracle("GRR", epsilon=1.0, labels=["no", "yes"]).card("smokes").to_bytes())
    HOSTILE[name](body)
    data = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    with pytest.raises(FormatError):
        Card.from_bytes(data)


def test_what_is_no_card_is_refused():
    content = oracle("GRR", epsilon=1.0, labels=["no", "yes"]).card("smokes").to_bytes()
    spaced = json.dumps(json.loads(content)).encode()
    twice = content.replace(b'{"columns"', b'{"columns":[],"columns"', 1)
    for data in (
        b"",
        content[:-1],
        content + b"\n",
        spaced,
        twice,
        b"\xff" + content,
        b"[" * 9000,
        b"null",
        "{}",
        b" " * 2**21,
    ):
        with pytest.raises(FormatError):
            Card.from_bytes(data)
    assert Card.from_bytes(content).to_bytes() == content


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("PGR", ["questions", 0, "sets", "prime"], "4"),
        ("PGR", ["questions", 0, "sets", "dimension"], "40000000"),
        ("HR", ["questions", 0, "sets", "rows"], "3"),
        ("SS", ["questions", 0, "sets", "size"], "0"),
        ("SS", ["questions", 0, "sets", "values"], str(10**18)),
        ("OLH pool", ["questions", 0, "sets", "pool"], [["1"]]),
        ("OLH pool", ["questions", 0, "sets", "buckets"], "1"),
        ("hybrid", ["questions", 0, "law", "coin", "cells"], "7"),
        ("hybrid", ["questions", 0, "law", "window", "shape"], "bits"),
        ("laplace", ["questions", 0, "law", "weights"], ["0", "1"]),
        ("laplace", ["questions", 0, "law", "stride"], "0"),
        ("laplace", ["questions", 0, "law", "ends"], "open"),
        ("duchi", ["questions", 0, "law", "least"], "0"),
        ("RS+RFD[GRR]", ["questions", 0, "prior"], ["1", "1"]),
        ("RS+RFD[GRR]", ["questions", 1, "prior", 0], str(2**64)),
        ("SMP[GRR]", ["weights"], ["1", "1"]),
    ],
)
def test_a_card_with_a_law_that_is_none_is_refused(designs, name, path, value):
    body = json.loads(designs[name].card.to_bytes())
    _changed(path, value)(body)
    data = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    with pytest.raises(FormatError):
        Card.from_bytes(data)


# What a person gives.


def test_an_answer_that_is_not_on_the_card_is_refused_without_showing_it():
    card = Plan({"a": ["x", "y"], "b": ["u", "v"]}, 1.0, "SPL[GRR]").card()
    secret = "a secret answer"
    for values in ({"a": secret, "b": "u"}, {"a": "x"}, {"a": "x", "b": "u", secret: "x"}, [secret]):
        with pytest.raises(DataError) as caught:
            card.sample(values)
        errors = [caught.value, caught.value.__cause__, caught.value.__context__]
        assert secret not in " ".join(map(repr, errors))


@pytest.mark.parametrize("codes", [[0], [0, 2], [0, -1], [0, True], [0, 1.0], [0, "1"], [0, 1, 1]])
def test_codes_that_are_no_places_are_refused(codes):
    card = Plan({"a": ["x", "y"], "b": ["u", "v"]}, 1.0, "SPL[GRR]").card()
    with pytest.raises(DataError):
        card.sample_codes(codes)


@pytest.mark.parametrize(
    ("words", "error"), [([], DataError), ([2**64], DataTypeError), ([-1], DataTypeError), ([0.5], DataTypeError)]
)
def test_words_that_are_none_or_too_few_are_refused(words, error):
    with pytest.raises(error):
        oracle("GRR", epsilon=1.0, k=3).card("a").sample_codes([0], words)


def test_a_card_is_shown_in_one_line(design):
    assert "\n" not in repr(design.card)
    assert len(repr(design.card)) < 120


def test_words_come_from_the_operating_system_unless_given():
    card = oracle("OLH", epsilon=1.0, k=9).card("a")
    assert len({card.sample({"a": "3"})["a"] for _ in range(5)}) == 5
    words = Entropy(5).words(60).tolist()
    assert card.sample({"a": "3"}, words) == card.sample({"a": "3"}, iter(words))


def test_points_are_texts_that_tell_them_apart():
    assert texts(np.linspace(0, 1, 11).tolist())[3] == "0.3"
    near = [1.0, math.nextafter(1.0, 2), math.nextafter(1.0, 0)]
    assert texts(near) == tuple(map(repr, near))
    assert number("duchi", epsilon=1.0, bounds=(17, 90)).card("age").questions[0].values[:2] == ("17", "18")


def test_a_question_that_takes_any_text_has_codes_and_no_list(open_card):
    (question,) = open_card.questions
    assert (question.values, question.answers) == ((), 2**48)
    assert Card.from_bytes(open_card.to_bytes()) == open_card
    assert len(open_card.pack(open_card.sample_codes([2**48 - 1]))) == 9
    with pytest.raises(DataError, match=r"sample_codes its code"):
        open_card.sample({"problem": "noise"})
    for codes in ([2**48], [-1], ["0"]):
        with pytest.raises(DataError):
            open_card.sample_codes(codes)
    with pytest.raises(ParameterError, match="no list of answers"):
        CardQuestion("problem", ("a", "b"), question.law)
