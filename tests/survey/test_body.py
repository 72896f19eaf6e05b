"""The body of a report: one length, one form, and nothing else is read."""

from __future__ import annotations

import itertools
import json

import pytest

from bruit.errors import BruitError, DataError
from bruit.survey import PersonalLink
from bruit.survey.body import Report

from ..plans import only_mechanism

ANSWERS = {
    "drinks": "Yes",
    "hours": "7.5",
    "happy": "3",
    "seen": ["theft"],
    "class": "C",
}


def test_a_body_is_json_with_sorted_keys_no_spaces_and_ascii_only(many):
    body = many.answer(ANSWERS, link=PersonalLink("abcdefghijklm-_9").text)
    document = json.loads(body)
    assert json.dumps(document, sort_keys=True, separators=(",", ":")).encode() == body
    assert list(document) == ["id", "link", "pad", "public", "report", "round", "survey"]
    assert document["public"] == {"class": "2"}
    assert (document["link"], document["round"], document["survey"]) == ("abcdefghijklm-_9", "1", many.digest)
    assert set(document["pad"]) <= {"0"}


def test_a_body_is_read_as_it_was_written(many):
    for link in ("", "x" * 32):
        body = many.answer(ANSWERS, link=PersonalLink(link).text if link else "")
        report = many.parse(body)
        assert len(body) == many.body_length
        assert many.body.fill(report) == body
        assert (report.link, report.public, report.round, len(report.id)) == (link, (2,), 1, 16)


def test_every_answer_and_every_report_of_a_survey_has_the_same_length(one, long, many):
    for survey, question in ((one, "drinks"), (long, "town")):
        values = survey.questions[0].values
        assert {len(survey.answer({question: value})) for value in values for _ in range(20)} == {survey.body_length}
    for drinks, hours in itertools.product(("No", "I would rather not say"), ("0", "12")):
        bodies = [many.answer({**ANSWERS, "drinks": drinks, "hours": hours}) for _ in range(40)]
        assert {len(body) for body in bodies} == {many.body_length}


def test_all_that_the_law_can_give_is_read_and_nothing_else(one, long):
    """Every text of one byte of GRR; every set of twelve answers by SS."""
    read = [number for number in range(256) if _is_read(one, {"drinks": str(number)})]
    assert read == [0, 1]
    size = only_mechanism(long.plan).omega
    texts = [number.to_bytes(2, "little").hex() for number in range(1 << 16)]
    step = texts[::37] + [(sum(1 << place for place in places)).to_bytes(2, "little").hex() for places in ((0, 1, 2),)]
    for text in step:
        message = int.from_bytes(bytes.fromhex(text), "little")
        assert _is_read(long, {"town": text}) == (message.bit_count() == size and message < 1 << 12)


def _is_read(survey, columns):
    try:
        survey.parse(survey.body.fill(Report(bytes(16), "", (), 1, columns)))
    except DataError:
        return False
    return True


def test_a_sampled_question_must_exist_and_its_message_must_be_one_of_its_own(many):
    report = many.parse(many.answer(ANSWERS))
    cases = (("0", "2", True), ("0", "3", False), ("3", "1", True), ("3", "2", False), ("6", "0", False))
    for attribute, message, fine in cases:
        body = many.body.fill(report._replace(columns={"attribute": attribute, "report": message}))
        if fine:
            assert many.parse(body).columns["report"] == message
        else:
            with pytest.raises(DataError, match="its law can give"):
                many.parse(body)


def _hostile(body):
    """Bodies of the same length that no page sends."""
    text = body.decode()
    yield "another survey", text[:-66] + "0" * 64 + '"}'
    yield "capitals in the id", text.replace(text[7:39], "A" * 32)
    yield "pad that is no zeros", text.replace('"pad":"0', '"pad":"1')
    yield "pad with spaces", text.replace('"pad":"0', '"pad":" ')
    yield "a space for a zero of the pad", text.replace('"pad":"0', '"pad": "')
    yield "one more key", text.replace('"pad":"' + "0" * 8, '"pad":"","x":"')
    yield "the round 0", text.replace('"round":"1"', '"round":"0"')
    yield "the round 2", text.replace('"round":"1"', '"round":"2"')
    yield "a public place too far", text.replace('"class":"2"', '"class":"3"')
    yield "a public place that is no digit", text.replace('"class":"2"', '"class":"x"')
    yield "an Arabic digit", text.replace('"class":"2"', '"class":"٢"')[: len(text) - 1]
    yield "no quotes around a number", text.replace('"round":"1"', '"round": 1 ')
    yield "another order", text.replace('"round":"1","survey"', '"survey":"1","round"')
    yield "a leading zero", text.replace('"pad":"0', '"pad":"').replace('"attribute":"', '"attribute":"0')
    yield "a sign", text.replace('"pad":"0', '"pad":"').replace('"attribute":"', '"attribute":"+')
    yield "a line end", text.replace('"pad":"0', '"pad":"') + "\n"
    yield "a line before", "\n" + text.replace('"pad":"0', '"pad":"')
    yield "a quote in the link", text.replace('"link":"","pad":"0', '"link":""","pad":"')
    yield "a link with a slash", text.replace('"link":"","pad":"0', '"link":"/","pad":"')
    yield "a link too long", text.replace('"link":"","pad":"' + "0" * 33, '"link":"' + "a" * 33 + '","pad":"')
    yield "nothing but zeros", "0" * len(text)


def test_every_hostile_body_is_refused_without_showing_it(many):
    body = many.answer(ANSWERS)
    cases = dict(_hostile(body))
    assert len(cases) == 21
    for name, text in cases.items():
        assert text.encode() != body, name
        with pytest.raises(DataError) as error:
            many.parse(text.encode())
        assert "survey" in str(error.value), name
        assert len(str(error.value)) < 90, name
        assert error.value.__context__ is None, name


@pytest.mark.parametrize("junk", [b"", b"{}", None, "text", bytearray(b"x"), b"\xff" * 247, b"[" * 100_000])
def test_junk_is_refused(many, junk):
    with pytest.raises(DataError):
        many.parse(junk)


def test_every_body_with_one_byte_changed_is_another_report_or_is_refused(many):
    body = many.answer(ANSWERS)
    read = 0
    for place in range(len(body)):
        for byte in b'0179afz"\\{ \x00\xff':
            twin = body[:place] + bytes([byte]) + body[place + 1 :]
            try:
                report = many.parse(twin)
            except BruitError:
                continue
            assert many.body.fill(report) == twin
            read += 1
    assert read > 100  # other digits of the id


def test_two_surveys_with_equal_questions_cannot_be_mixed(one, write):
    from ..surveys import ONE

    twin = write(ONE.replace("Alcohol at school", "Alcohol in town"), "twin.toml")
    assert twin.plan == one.plan
    with pytest.raises(DataError):
        twin.parse(one.answer({"drinks": "Yes"}))


def test_answers_are_checked_without_showing_them(many):
    for bad in ({**ANSWERS, "drinks": "canary"}, {**ANSWERS, "seen": "theft"}, {**ANSWERS, "seen": ["theft"] * 2}, {}):
        with pytest.raises(DataError) as error:
            many.answer(bad)
        assert "canary" not in str(error.value)
    with pytest.raises(BruitError, match="link"):
        many.answer(ANSWERS, link="a b")
    with pytest.raises(BruitError, match="round"):
        many.answer(ANSWERS, round=2)
