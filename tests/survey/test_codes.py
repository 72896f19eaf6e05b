"""Codes: what stands in them, how long they are, which damage is refused, and that Python and the page agree."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from scipy import special

from bruit.errors import LimitError, ParameterError
from bruit.survey import CodeState
from bruit.survey.codes import (
    CHECK,
    GROUP,
    LETTERS,
    MOST,
    MOST_COLLISIONS,
    check_digits,
    digits_of,
    grouped,
    is_sound,
    syndromes,
)

from ..surveys import HEALTH, LONG, MANY, ONE, ROUNDS, TABLES
from . import browser as browsers
from .test_body import ANSWERS
from .test_draws import ALARM, OFF, needs_node

SIX = 'title = "Six"\nepsilon = 2.0\npeople = 1000\n' + "".join(
    f'[[question]]\nname = "q{number}"\nkind = "yes-no"\ntext = "Question {number}?"\n' for number in range(6)
)


#: Eighty labels as bits: codes of 28 characters.
WIDE = re.sub(
    r"labels = \[.*?\]",
    f"labels = {[f'label {number}' for number in range(80)]}",
    LONG.replace("epsilon = 1.0", 'epsilon = 1.0\nmethod = "OUE"'),
    flags=re.DOTALL,
)


def codes_of(form, number, seed=1):
    """The digits of so many codes with random ids and contents, a row for each."""
    rng = np.random.default_rng(seed)
    payloads = [int(rng.integers(form.ids)) * form.states + int(rng.integers(form.states)) for _ in range(number)]
    size = form.length - 7
    rows = []
    for payload in payloads:
        mark = form.text_mark(payload)
        body = [form.title_mark, mark >> 5, mark & 31, *(payload >> 5 * place & 31 for place in reversed(range(size)))]
        rows.append([*body, *check_digits(body)])
    return np.array(rows, np.uint8)


def states(form, words):
    """How many codes are counted; those whose check characters fit are read one by one."""
    return sum(form.reading(row, True).state is CodeState.GOOD for row in words[is_sound(words)].tolist())


# What stands in a code.


@pytest.mark.parametrize(("text", "most"), [(ONE, 12), (ONE.replace("30", "1000"), 12), (SIX, 20)])
def test_a_code_is_short_and_ids_of_the_expected_people_seldom_meet(write, text, most) -> None:
    form = write(text).codes
    assert form.length <= most
    assert form.collisions(1_000) <= MOST_COLLISIONS
    assert form.collisions(1_000) == 1_000 * 999 / 2 / form.ids  # n(n − 1)/2 pairs, each alike with chance 1/ids


def test_a_code_grows_with_the_expected_people_and_not_below_a_thousand(write) -> None:
    few, thousand, many = (write(ONE.replace("30", people)) for people in ("2", "1000", "1000000"))
    assert few.codes.length == thousand.codes.length == 12
    assert many.codes.length > 12
    assert many.codes.collisions(1_000_000) <= MOST_COLLISIONS


def test_a_code_reads_as_the_report_that_was_drawn(write) -> None:
    for text, values in ((ONE, {"drinks": "Yes"}), (MANY, ANSWERS), (LONG, {"town": "Gray"})):
        survey = write(text)
        for _ in range(20):
            code = survey.answer_code(values)
            reading = survey.codes.read(code)
            assert reading.state is CodeState.GOOD
            assert survey.parse(survey.body.fill(reading.report)) == reading.report
            ident = int.from_bytes(reading.report.id, "big")
            assert ident < survey.codes.ids
            assert survey.codes.write(ident, reading.report.public, reading.report.columns) == code


def test_a_code_is_read_as_people_write_it(one) -> None:
    code = one.codes.write(12345678, (), {"drinks": "1"})
    spelt = code.lower().replace("0", "o").replace("1", "l").replace("v", "u")
    for text in (code, code.lower(), code.replace("-", ""), code.replace("-", " – "), f" {spelt}\n", "\ufeff" + code):
        assert one.codes.read(text) == one.codes.read(code)
        assert one.codes.read(text).state is CodeState.GOOD


@pytest.mark.parametrize("text", ["", "-", "?" * 12, "ABCD", "A" * 200, "0" * 12, "é" * 12, "\0" * 12, "ABCD-EFGH-JKM"])
def test_what_is_no_code_is_mistyped_and_never_an_error(one, text) -> None:
    assert one.codes.read(text).state is CodeState.MISTYPED


def test_a_code_of_another_survey_and_of_another_text_are_told_apart(write) -> None:
    own = write(ONE)
    another = write(ONE.replace("this week", "this month"))
    longer = write(ONE.replace("30", "1000000"))
    other = write(HEALTH)
    assert own.codes.title_mark != other.codes.title_mark
    codes = [own.codes.read(survey.answer_code({"drinks": "No"})).state for survey in (own, another, longer)]
    assert codes == [CodeState.GOOD, CodeState.OTHER_TEXT, CodeState.OTHER_TEXT]
    foreign = other.answer_code({"smokes": "No", "sport": "often"})
    assert own.codes.read(foreign).state is CodeState.OTHER_SURVEY


def test_codes_of_another_text_are_counted_once_in_a_thousand(write) -> None:
    """The mark has ten bits, and every code has to meet it anew: it is no number that two texts share for ever."""
    own, another = write(ONE), write(ONE.replace("this week", "this month"))
    counted = states(own.codes, codes_of(another.codes, 20_000))
    assert 0 < counted < 60  # 20 on average


def test_rounds_and_reports_that_are_too_long_are_refused(write) -> None:
    with pytest.raises(ParameterError, match="rounds cannot be answered by codes"):
        _ = write(ROUNDS).codes
    labels = ", ".join(f'"label {number}"' for number in range(100))
    wide = LONG.replace("epsilon = 1.0", 'epsilon = 1.0\nmethod = "OUE"')
    with pytest.raises(LimitError, match="fit into a code of 31 characters"):
        _ = write(re.sub(r"labels = \[.*?\]", f"labels = [{labels}]", wide, flags=re.DOTALL)).codes


def test_a_file_that_says_codes_is_refused_where_there_are_none(write) -> None:
    assert write('channel = "codes"\n' + ONE).channel == "codes"
    assert write(ONE).channel == "collector"
    with pytest.raises(ParameterError, match="rounds cannot be answered by codes"):
        write('channel = "codes"\n' + ROUNDS)
    with pytest.raises(ParameterError, match="channel must be one of 'collector', 'codes', 'paper'"):
        write('channel = "code"\n' + ONE)


def test_the_channel_is_no_part_of_what_makes_a_survey_this_survey(write) -> None:
    assert write('channel = "codes"\n' + ONE).digest == write(ONE).digest


def test_a_page_that_sends_has_none_of_the_texts_of_codes(many) -> None:
    texts = many.wording["en"]
    page, codes = browsers.data_of(many.page()), browsers.data_of(many.page(code=True))
    for name in texts:
        if name.startswith("code_"):
            assert json.dumps(texts[name], ensure_ascii=False) not in page, name
            assert json.dumps(texts[name], ensure_ascii=False) in codes, name
        assert f'"print_{name}"' not in page


def test_the_id_does_not_depend_on_the_draw(one) -> None:
    """Ids of codes that say yes and of codes that say no have the same law: their lowest bit is even in both."""
    bits = {"0": [], "1": []}
    for _ in range(1_500):
        report = one.codes.read(one.answer_code({"drinks": "Yes"})).report
        bits[report.columns["drinks"]].append(report.id[-1] & 1)
    for ones in bits.values():
        assert abs(sum(ones) - len(ones) / 2) < 3 * len(ones) ** 0.5  # six standard deviations


# Damage.


def test_the_check_is_that_of_reed_and_solomon_by_plain_arithmetic() -> None:
    """The slow version: polynomials over GF(32) with x⁵ = x² + 1, evaluated at α, α², α³, α⁴."""

    def times(a, b):
        product = 0
        for place in range(5):
            product ^= (a << place) * (b >> place & 1)
        for place in reversed(range(5, 9)):
            product ^= (0x25 << place - 5) * (product >> place & 1)
        return product

    rng = np.random.default_rng(3)
    for length in (8, 12, 31):
        word = rng.integers(32, size=length - CHECK).tolist()
        word += check_digits(word)
        plain = [*word[:-CHECK], *(digit ^ own for digit, own in zip(word[-CHECK:], (25, 18, 7, 12), strict=True))]
        root = 1
        for _ in range(CHECK):
            root = times(root, 2)
            value = 0
            for digit in plain:
                value = times(value, root) ^ digit
            assert value == 0
        assert is_sound(np.array([word], np.uint8)).all()


@pytest.mark.parametrize("text", [ONE, SIX, MANY])
def test_every_wrong_character_and_every_swap_of_neighbours_is_refused(write, text) -> None:
    """All of them, by linearity: whether damage is seen does not depend on the code that was damaged."""
    form = write(text).codes
    zero = np.zeros((1, form.length), np.uint8)
    blank = syndromes(zero)
    places, errors = (grid.ravel() for grid in np.meshgrid(np.arange(form.length), np.arange(1, 32)))
    single = np.zeros((len(places), form.length), np.uint8)
    single[np.arange(len(places)), places] = errors
    assert (syndromes(single) != blank).any(axis=1).all()
    swaps = single.copy()
    swaps[np.arange(len(places)), np.minimum(places + 1, form.length - 1)] = errors  # a swap adds a + b at both
    assert (syndromes(swaps) != blank).any(axis=1).all()


@pytest.mark.parametrize("text", [ONE, SIX])
def test_a_hundred_thousand_codes_with_a_wrong_character_or_a_swap_are_refused(write, text) -> None:
    form = write(text).codes
    words = np.repeat(codes_of(form, 2_000), 50, axis=0)
    assert states(form, words[::50]) == 2_000  # the control: undamaged they are counted
    rng = np.random.default_rng(5)
    rows, places = np.arange(len(words)), rng.integers(form.length, size=len(words))
    wrong = words.copy()
    wrong[rows, places] ^= rng.integers(1, 32, size=len(words)).astype(np.uint8)
    assert not is_sound(wrong).any()
    first = rng.integers(form.length - 1, size=len(words))
    swapped = words.copy()
    swapped[rows, first], swapped[rows, first + 1] = words[rows, first + 1], words[rows, first]
    changed = (swapped != words).any(axis=1)
    assert changed.mean() > 0.9
    assert not is_sound(swapped[changed]).any()


def damaged(words, rng):
    """Other damage: three and more wrong characters, groups swapped, characters moved, and lines of noise."""
    rows, length = np.arange(len(words)), words.shape[1]
    kind = rng.integers(5, size=len(words))
    noise = rng.integers(32, size=words.shape).astype(np.uint8)
    hit = rng.random(words.shape).argsort(axis=1) < rng.integers(3, length + 1, size=(len(words), 1))
    several = np.where(hit, noise, words)
    turned = np.take_along_axis(words, (np.arange(length) + rng.integers(1, length, size=(len(words), 1))) % length, 1)
    moved = words.copy()
    at = rng.integers(length, size=len(words))[:, None]
    places = np.arange(length)
    shifted = np.concatenate([words[:, 1:], noise[:, :1]], axis=1)  # a character is left out, and one is added behind
    moved = np.where(places >= at, shifted, words)
    groups = words.copy()
    a, b = rng.integers(length // GROUP, size=(2, len(words)))
    for place in range(GROUP):
        groups[rows, a * GROUP + place], groups[rows, b * GROUP + place] = (
            words[rows, b * GROUP + place], words[rows, a * GROUP + place],
        )  # fmt: skip
    result = np.choose(kind[:, None], [noise, several, turned, moved, groups]).astype(np.uint8)
    return result[(result != words).any(axis=1)]


def test_other_damage_is_refused(one) -> None:
    words = np.repeat(codes_of(one.codes, 1_000), 300, axis=0)
    bad = damaged(words, np.random.default_rng(6))
    assert len(bad) > 250_000
    assert states(one.codes, bad) <= 5  # 2⁻²⁰ each would be .3; a check of ten bits lets 250 pass
    assert is_sound(bad).sum() <= 12  # the check characters alone: .3 expected


@pytest.mark.audit
@pytest.mark.parametrize("text", [ONE, SIX])
def test_of_ten_million_damaged_codes_at_most_35_are_counted(write, text) -> None:
    form, rng = write(text).codes, np.random.default_rng(7)
    words = np.repeat(codes_of(form, 2_000), 250, axis=0)
    tried = counted = 0
    while tried < 10_000_000:
        bad = damaged(words, rng)
        tried, counted = tried + len(bad), counted + states(form, bad)
    assert counted <= 35


@pytest.mark.parametrize("text", [ONE, MANY])
def test_one_or_two_wrong_characters_are_found_by_their_groups(write, text) -> None:
    form, rng = write(text).codes, np.random.default_rng(8)
    for word in codes_of(form, 40).tolist():
        for number in (1, 2):
            places = rng.choice(form.length, number, replace=False)
            wrong = list(word)
            for place in places:
                wrong[place] ^= int(rng.integers(1, 32))
            reading = form.read("".join(LETTERS[digit] for digit in wrong))
            assert reading.state is CodeState.MISTYPED
            assert reading.groups == tuple(sorted({int(place) // GROUP + 1 for place in places}))


def test_the_groups_of_a_heap_of_errors_are_not_guessed(one) -> None:
    words = np.repeat(codes_of(one.codes, 100), 3, axis=0)
    rng = np.random.default_rng(9)
    words[:, 3:10] = rng.integers(32, size=(len(words), 7))
    readings = [one.codes.reading(row, False) for row in words.tolist()]
    assert sum(reading.groups != () for reading in readings) <= 1


def test_the_longest_code_has_as_many_places_as_the_field_has(one) -> None:
    """At 32 places the first and the last would be one to the check: two errors there would cancel."""
    for length, hidden in ((MOST, False), (MOST + 1, True)):
        word = np.zeros((1, length), np.uint8)
        blank = syndromes(word)
        word[0, [0, -1]] = 5
        assert (syndromes(word) == blank).all() == hidden


# The page writes the same.


VECTORS = """
import { codeOf, qrModules } from "./code.mjs";
const jobs = JSON.parse(process.argv[2]);
console.log(JSON.stringify(jobs.map(({ form, id, values }) => {
  const code = codeOf(form, BigInt(id), values.map(BigInt));
  return [code, qrModules(code).map((row) => row.map(Number).join(""))];
})));
"""


def in_page(jobs, tmp_path):
    """Codes and QR codes as the script of the page writes them."""
    from bruit.survey.page import asset

    (tmp_path / "code.mjs").write_text(asset("code.mjs"), encoding="utf-8")
    (tmp_path / "main.mjs").write_text(VECTORS, encoding="utf-8")
    command = [shutil.which("node"), str(tmp_path / "main.mjs"), json.dumps(jobs)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


@pytest.fixture
def vectors(write):
    """Codes of Python, and what the page needs to write them."""
    jobs, codes = [], []
    for text, values in ((ONE, {"drinks": "Yes"}), (SIX, dict.fromkeys([f"q{n}" for n in range(6)], "No")),
                         (MANY, ANSWERS), (LONG, {"town": "Gray"}), (TABLES, {"smokes": "No", "sport": "often"}),
                         (WIDE, {"town": "label 7"}), (ONE.replace("30", "100000000"), {"drinks": "No"})):  # fmt: skip
        survey = write(text)
        for _ in range(8):
            code = survey.answer_code(values)
            report = survey.codes.read(code).report
            forms = survey.card.columns
            numbers = [*report.public, *(forms[name].number(own) for name, own in report.columns.items())]
            ident = int.from_bytes(report.id, "big")
            jobs.append({"form": survey.codes.to_dict(), "id": str(ident), "values": [str(own) for own in numbers]})
            codes.append(code)
    return jobs, codes


@needs_node
def test_the_page_writes_the_codes_that_python_writes(vectors, tmp_path) -> None:
    jobs, codes = vectors
    assert [code for code, _ in in_page(jobs, tmp_path)] == codes


@needs_node
def test_the_qr_code_of_a_page_is_one_that_another_encoder_writes(vectors, tmp_path) -> None:
    segno = pytest.importorskip("segno", reason="segno is not installed: pip install 'bruit[collector]'")
    for code, rows in in_page(vectors[0][:40:5], tmp_path):  # segno pads the last ones by a byte that is not needed
        options = [segno.make(code, error="m", boost_error=False, micro=False, mask=mask).matrix for mask in range(8)]
        assert rows in [["".join(map(str, row)) for row in matrix] for matrix in options]


@needs_node
def test_the_qr_code_of_a_page_is_read_by_another_decoder(vectors, tmp_path) -> None:
    zxingcpp = pytest.importorskip("zxingcpp", reason="QR codes are read with the package zxing-cpp")
    for code, rows in in_page(vectors[0], tmp_path):
        dark = np.array([list(map(int, row)) for row in rows], np.uint8)
        image = np.kron(np.pad(255 * (1 - dark), 4, constant_values=255), np.ones((5, 5))).astype(np.uint8)
        assert [barcode.text for barcode in zxingcpp.read_barcodes(image)] == [code]


# The law.


COUNT = """
function count({ survey, codes, draws }) {
  const card = read(survey.card);
  return Array.from({ length: draws }, () => drawCode(survey, card, codes, {}).body);
}
"""


def drawn(survey, code, draws, tmp_path, change=("", "")):
    """So many codes of the shipped script, for people whose answer has this code."""
    page = survey.page(code=True)
    script = browsers.script_of(page)
    assert not change[0] or script.count(change[0]) == 1
    (tmp_path / "page.mjs").write_text(script.replace(*change) if change[0] else script, encoding="utf-8")
    job = {"codes": [code], "draws": draws}
    main = f"""
    import {{ drawCode, read }} from "./page.mjs";
    {COUNT}
    console.log(JSON.stringify(count({{ survey: {browsers.data_of(page)}, ...{json.dumps(job)} }})));
    """
    (tmp_path / "main.mjs").write_text(main, encoding="utf-8")
    command = [shutil.which("node"), str(tmp_path / "main.mjs")]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout)


def deviation(survey, codes, code):
    """The probability of reports as far from the law of the card as those in these codes."""
    digits = np.array([digits_of(text) for text in codes], np.uint8)
    assert is_sound(digits).all()
    messages = digits[:, -CHECK - 1] & 1  # the last digit of the payload, of which there are two
    for own, message in zip(digits[:300].tolist(), messages, strict=False):
        assert survey.codes.reading(own, True).report.columns == {"drinks": str(message)}
    row = np.array([float(chance) for chance in survey.plan.mechanisms["drinks"].law.row(code)])
    counts = np.bincount(messages, minlength=len(row))
    expected = row * len(codes)
    return special.chdtrc(len(row) - 1, ((counts - expected) ** 2 / expected).sum())


#: The sampler keeps the own answer for more words, so that a no is in the code 4 % more often.
TWIN = (OFF[0], OFF[1].replace("1032n", "1064n"))


@needs_node
def test_reports_in_codes_follow_the_law_of_the_card_and_a_twin_off_by_four_per_cent_does_not(one, tmp_path) -> None:
    for code in (0, 1):
        assert deviation(one, drawn(one, code, 10_000, tmp_path), code) > ALARM
    assert deviation(one, drawn(one, 0, 30_000, tmp_path, TWIN), 0) < ALARM


def test_groups_of_four() -> None:
    assert grouped("ABCDEFGHJKMNP") == "ABCD-EFGH-JKMN-P"
