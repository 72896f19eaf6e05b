"""The JavaScript sampler, run by Node: equal to Python on every vector, and by its own randomness the right law."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from bruit.cards import Card, CardQuestion, javascript
from bruit.cards import card as card_module
from bruit.laws import TwoLevelLaw
from bruit.numbers import number
from bruit.oracles import LocalHashing, RandomizedResponse, oracle

NODE = shutil.which("node")
SAMPLER = Path(card_module.__file__).with_name("sample.mjs")
DRIVER = Path(__file__).with_name("node_driver.mjs")

needs_node = pytest.mark.skipif(NODE is None, reason="the JavaScript sampler is tried with Node, which is not on PATH")

#: How often a comparison may fail a sampler that is right; the controls below fail as surely.
ALARM = 1e-8
DRAWS = 100_000


def run(jobs, sampler=SAMPLER):
    """What the sampler in this file answers to these jobs."""
    done = subprocess.run(
        [NODE, str(DRIVER), sampler.as_uri()],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def comparisons(designs):
    """The vectors of every design."""
    return {name: comparison(design.card) for name, design in designs.items()}


def comparison(card, n=40):
    vectors = [{**vector.to_dict(), "packed": card.pack(vector.report).hex()} for vector in card.vectors(n, rng=1)]
    return {"task": "compare", "card": card.to_bytes().decode(), "vectors": vectors}


@needs_node
def test_every_vector_of_every_design_gives_the_same_report(comparisons):
    answers = run(list(comparisons.values()))
    assert [name for name, answer in zip(comparisons, answers, strict=True) if not all(answer)] == []
    assert sum(map(len, answers)) > 10_000


@needs_node
def test_any_text_is_drawn_as_in_python(open_card):
    (answers,) = run([comparison(open_card)])
    assert all(answers)
    assert len(answers) > 60


@needs_node
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(id & 1023n) < share", "(id & 1023n) <= share"),
        ("code >> (length - prefix) : code", "code : code >> (length - prefix)"),
        ("odd((word >> row) & value)", "odd(word & value)"),
        ("const word = id >> 10n;", "const word = id;"),
        ("id | (bucketBy(id) << 64n)", "(id >> 10n << 10n) | (bucketBy(id) << 64n)"),
    ],
)
def test_a_mistake_in_the_parities_shows_on_the_vectors(right, wrong, open_card, tmp_path):
    assert javascript().count(right) == 1
    twin = tmp_path / "sample.mjs"
    twin.write_text(javascript().replace(right, wrong), encoding="utf-8")
    (answers,) = run([comparison(open_card)], twin)
    assert not all(answers)


def assigned_comparison(card, place, *, told):
    """Reports on the question at a place, with the words that they took; the sampler is told another one, or this."""
    generator, vectors = np.random.default_rng(place), []
    for _ in range(60):
        codes = [int(generator.integers(question.answers)) for question in card.questions]
        words = [int(word) for word in generator.integers(2**64, size=60, dtype=np.uint64)]
        left = iter(words)
        report = card.sample_codes(codes, left, place=place)
        used = [str(word) for word in words[: len(words) - len(list(left))]]
        vectors.append({"codes": codes, "words": used, "report": report, "packed": card.pack(report).hex()})
    return {"task": "compare", "card": card.to_bytes().decode(), "vectors": vectors, "place": told}


@needs_node
def test_an_assigned_question_is_drawn_as_in_python_and_another_place_is_noticed(designs):
    card = designs["SMP weighted"].card
    places = range(len(card.questions))
    answers = run([assigned_comparison(card, place, told=place) for place in places])
    assert all(map(all, answers))
    assert [len(answer) for answer in answers] == [60] * len(places)
    (wrong,) = run([assigned_comparison(card, 0, told=1)])
    assert not any(wrong)


@needs_node
def test_a_question_is_assigned_where_one_of_several_is_reported_on(designs):
    job = {"task": "refused", "codes": [0, 0], "place": 0, "card": designs["SPL[GRR]"].card.to_bytes().decode()}
    assert "one of several" in run([job])[0]


@needs_node
def test_a_vector_with_another_report_or_another_word_is_noticed(designs):
    job = comparison(designs["GRR"].card)
    job["vectors"][3]["report"]["answer"] = "12" if job["vectors"][3]["report"]["answer"] != "12" else "11"
    job["vectors"][5]["words"].append("7")
    job["vectors"][8]["packed"] = "ff"
    (answer,) = run([job])
    assert [place for place, equal in enumerate(answer) if not equal] == [3, 5, 8]


#: Mistakes that a sampler can have, one at a time; each must show on some vector.
MISTAKES = {
    "the total is taken": ("while (word >= total)", "while (word > total)"),
    "no word is skipped": ("while (word >= total)", "while (false)"),
    "unfair words are taken": ("BigInt.asUintN(64, product) < unfair", "false"),
    "one word too many is skipped": ("BigInt.asUintN(64, product) < unfair", "BigInt.asUintN(64, product) <= unfair"),
    "the boundary belongs to the set": ("return word < kept", "return word <= kept"),
    "a bit is set at its boundary": ("if (next() < (value", "if (next() <= (value"),
    "the coin leans one word more": ("return word < law.least", "return word <= law.least"),
    "the coin takes a word of the window": ("return word < first", "return word <= first"),
    "a member twice": ("((others >> place) & 1n ? last : place)", "place"),
    "the first member keeps its place": ("((others - lower) << 1n) | (1n << first) | lower", "others | (1n << first)"),
    "left and right change places": ("? place - stretch", "? place + stretch"),
    "the value itself twice": ("share - left + law.weights[0]", "share - left"),
    "not clamped": ("Math.min(Math.max(found, 0), last)", "Math.abs(found)"),
    "the parity is odd": ("odd(free & column) ? lowest", "!odd(free & column) ? lowest"),
    "another hyperplane": ("(prime - (product % prime)) % prime", "product % prime"),
    "another hash": ("0xbb67ae85n", "0xbb67ae87n"),
    "the seed's words change places": ("a | (b << 64n)", "b | (a << 64n)"),
    "fakes are not drawn for the true question": (
        "const own = message(question, code, next);\n  return isTrue ? own : standIn;",
        "return isTrue ? message(question, code, next) : standIn;",
    ),
    "zeros have an own bit": ("isTrue ? code : null", "code"),
    "the prior is forgotten": ("question.prior\n", "false\n"),
    "weights are forgotten": ("weighted(card.weights, next)", "Number(uniform(BigInt(card.weights.length), next))"),
    "a memo is refreshed at its boundary": ("next() < weight ? fresh", "next() <= weight ? fresh"),
    "a bit is turned at its boundary": ("if (next() < weight) row", "if (next() <= weight) row"),
    "a bit is tossed and not turned": ("row ^= 1n << value", "row |= 1n << value"),
    "the hash function is drawn anew": (
        "BigInt.asUintN(Number(digits), memo) |",
        "BigInt.asUintN(Number(digits), next()) |",
    ),
    "another attribute in every round": ("texts(card, [which, renewed", "texts(card, [0n, renewed"),
    "the memo has the law of a report": ("law: question.memo", "law: question.law"),
    "bytes in the other order": ("BigInt(8 * place)", "BigInt(8 * (size - 1 - place))"),
}


@pytest.mark.audit
@needs_node
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_sampler_shows_on_the_vectors(name, comparisons, tmp_path):
    right, wrong = MISTAKES[name]
    assert javascript().count(right) == 1
    twin = tmp_path / "sample.mjs"
    twin.write_text(javascript().replace(right, wrong), encoding="utf-8")
    answers = run(list(comparisons.values()), twin)
    assert not all(map(all, answers))


def chi_square(counts, probabilities):
    """The probability of counts as far from the law as these; messages that are seldom expected are taken together."""
    shares = np.array(probabilities, float)
    often = shares * counts.sum() > 20
    seen, law = counts[often], shares[often]
    if not often.all():
        seen, law = np.append(seen, counts[~often].sum()), np.append(law, shares[~often].sum())
    expected = law * counts.sum()
    return special.chdtrc(len(law) - 1, ((seen - expected) ** 2 / expected).sum())


#: A mechanism of every shape and kind of sets, so that the message that is likeliest for its last value is very likely.
LIKELY = {
    "two_level, self": RandomizedResponse(epsilon=3.0, k=3),
    "two_level, subset": oracle("SS", epsilon=2.5, k=5, omega=2),
    "two_level, hadamard": oracle("HR", epsilon=2.0, k=3, blocks=1),
    "two_level, projective": oracle("PGR", epsilon=2.0, k=7, prime=2),
    "two_level, hash": LocalHashing(epsilon=3.0, k=6, kind="LH", g=3, pool=4),
    "two_level, window": number("piecewise", epsilon=5.0, bounds=(0, 5)),
    "bits": oracle("SUE", epsilon=5.0, k=3),
    "distance, cut": number("staircase", epsilon=4.0, bounds=(0, 3)),
    "distance, clamped": number("laplace", epsilon=2.5, bounds=(0, 1), clamped=True),
    "leaning": number("duchi", epsilon=2.0, bounds=(0, 9)),
    "mixed": number("hybrid", epsilon=5.0, bounds=(0, 5)),
}


def messages_of(mechanism):
    """All messages as texts, in the order of the rows of the law."""
    form = mechanism.card("a").columns["a"]
    sets = mechanism.sets
    known = range(mechanism.law.messages) if sets is None or sets.kind == "window" else sets.messages()
    return [form.text(message) for message in known]


@pytest.mark.audit
@needs_node
def test_reports_drawn_by_node_have_the_law_and_a_twin_off_by_two_per_cent_has_not():
    """10⁵ draws each with words of the operating system; the twin's support of the own value is 2 % likelier."""
    jobs = [
        {"task": "count", "card": found.card("a").to_bytes().decode(), "codes": [found.size - 1], "draws": DRAWS}
        for found in LIKELY.values()
    ]
    for (name, found), seen in zip(LIKELY.items(), run(jobs), strict=True):
        messages, row = messages_of(found), np.array(found.law.row(found.size - 1), float)
        assert set(seen) <= set(messages), name
        counts = np.array([seen.get(message, 0) for message in messages])
        assert chi_square(counts, row) > ALARM, name
        # The messages that support the value, or are near it, against all others.
        near = row > (row.max() + row.min()) / 2
        own, hits = row[near].sum(), counts[near].sum()
        assert 0.75 < own < 0.97, name
        assert chi_square(np.array([hits, DRAWS - hits]), [own, 1 - own]) > ALARM, name
        twin = 1.02 * own
        assert chi_square(np.array([hits, DRAWS - hits]), [twin, 1 - twin]) < ALARM, name


@needs_node
def test_a_card_whose_weights_are_off_by_two_per_cent_is_noticed():
    right = RandomizedResponse(epsilon=2.0, labels=("no", "yes"))
    law = right.law
    inside = law.inside * 102 // 100
    twin = TwoLevelLaw(inside=inside, outside=law.total - inside, sets=law.sets)
    wrong = Card(right.digest, "one", (CardQuestion("a", ("no", "yes"), twin),))
    jobs = [
        {"task": "count", "card": card.to_bytes().decode(), "codes": [1], "draws": DRAWS}
        for card in (right.card("a"), wrong)
    ]
    fine, twin = ([seen.get(message, 0) for message in "01"] for seen in run(jobs))
    assert chi_square(np.array(fine), law.row(1)) > ALARM
    assert chi_square(np.array(twin), law.row(1)) < ALARM


@needs_node
def test_codes_that_are_no_places_are_refused_without_showing_them(designs):
    card = designs["GRR"].card.to_bytes().decode()
    bad = [[13], [-1], [0.5], ["0"], [], [0, 0], [None]]
    answers = run([{"task": "refused", "card": card, "codes": codes} for codes in (*bad, [12])])
    assert all(answer.startswith("RangeError: There must be one code per question") for answer in answers[:-1])
    assert answers[-1] == ""


@needs_node
def test_another_format_is_refused(designs):
    other = designs["GRR"].card.to_bytes().decode().replace("bruit.card/1", "bruit.card/2")
    (answer,) = run([{"task": "refused", "card": other, "codes": [0]}])
    assert "bruit.card/1" in answer


def test_the_sampler_needs_nothing_but_whole_numbers_and_getrandomvalues():
    source = re.sub(r"//[^\n]*|/\*.*?\*/", "", javascript(), flags=re.DOTALL)
    assert not re.search(r"import|require|Math\.random|subtle|fetch|parseFloat|\d\.\d", source)
    assert source.count("crypto.") == 1
    assert "crypto.getRandomValues" in source
    assert max(map(len, javascript().splitlines())) <= 120
