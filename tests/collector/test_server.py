"""The server takes what the page sends, refuses all else without counting it, and leaks nothing."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import random
import re
import ssl
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from bruit.collector import intake as intake_module
from bruit.collector import limits as limits_module
from bruit.collector import open_store, results_page
from bruit.collector import results as results_module
from bruit.collector import server as server_module
from bruit.collector.demo import running
from bruit.collector.limits import LIFETIME, AddressLimit, SurveyLimit, network
from bruit.collector.open_survey import OpenSurvey, link_hash
from bruit.collector.server import Limits, application
from bruit.collector.serving import Listening
from bruit.errors import ParameterError
from bruit.survey import PersonalLink

sys.path.insert(0, str(Path(__file__).parent))
from serving import post, raw, report_bytes, request, served

from ..surveys import ALCOHOL, TOKEN


class Running(NamedTuple):
    """A served survey."""

    port: int
    open_survey: OpenSurvey
    store: object
    path: Path


@pytest.fixture
def site(tmp_path, opened, survey_file) -> Iterator[Running]:
    """A served survey in a store of SQLite."""
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    with running(store, Listening(port=0)) as port:
        yield Running(port, open_survey, store, tmp_path)


def answer(open_survey: OpenSurvey, drinks: str = "Yes", **settings) -> bytes:
    return open_survey.survey.answer({"drinks": drinks, "class": "A"}, **settings)


def test_a_report_is_counted_once_and_every_answer_has_one_size(site, monkeypatch) -> None:
    body = answer(site.open_survey)
    assert [post(site.port, body), post(site.port, body)] == [201, 200]
    assert request(site.port, "GET", "/s/alcohol/report")[0] == 204
    own = site.open_survey.survey.identity
    pages = [f"/s/alcohol/report?survey={identity}" for identity in (own, own[::-1])]
    assert [request(site.port, "GET", page)[0] for page in pages] == [204, 404]
    forged = re.sub(rb'"drinks":"(.)"', lambda match: b'"drinks":"%d"' % (1 - int(match[1])), body)
    assert post(site.port, forged) == 409
    assert post(site.port, body, "another") == 404
    site.store.close("alcohol")
    assert [post(site.port, body), post(site.port, answer(site.open_survey))] == [200, 410]
    assert request(site.port, "GET", "/s/alcohol/report")[0] == 204  # as of a few seconds ago
    monkeypatch.setattr(server_module, "_FRESH", 0.0)
    assert request(site.port, "GET", "/s/alcohol/report")[0] == 410
    assert site.store.totals("alcohol") == (1, 1, 2)


def test_the_page_is_served_as_it_is_with_a_policy_that_only_its_own_script_meets(site) -> None:
    status, headers, content = request(site.port, "GET", "/s/alcohol")
    assert (status, content) == (200, site.open_survey.page)
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert not {"set-cookie", "server", "date", "access-control-allow-origin"} & set(headers)


def test_results_are_for_the_token_alone_unless_they_are_public(site, opened, several_file) -> None:
    for _ in range(10):
        post(site.port, answer(site.open_survey))
    assert request(site.port, "GET", "/s/alcohol/results")[0] == 404
    assert request(site.port, "GET", "/s/alcohol/results?token=another")[0] == 404
    status, headers, content = request(site.port, "GET", f"/s/alcohol/results?token={TOKEN}")
    assert status == 200
    assert b"<b>10</b> answers counted" in content
    policy = headers["content-security-policy"]
    assert re.search(r"script-src 'sha256-[^']*'; style-src 'sha256-[^']*'; img-src data:; form-action 'none'", policy)
    assert "connect-src" not in policy
    assert headers["cache-control"] == "no-store"
    opened(site.store, several_file, "health", public=True)
    assert request(site.port, "GET", "/s/health/results")[0] == 200


def test_results_are_in_the_language_that_the_reader_wants_most(site, opened, tmp_path) -> None:
    text = ALCOHOL.replace("title =", 'title.fr = "L’alcool"\ntitle.en =', 1)
    for key in ("text", "labels"):
        text = re.sub(rf"(?m)^{key} = (.*)$", rf"{key}.en = \1\n{key}.fr = \1", text)
    path = tmp_path / "both.toml"
    path.write_text(f'languages = ["en", "fr"]\n{text}', encoding="utf-8")
    opened(site.store, path, "both", public=True)
    wanted = {
        "": "en",
        "de, it": "en",
        "fr": "fr",
        "en;q=0.7, fr-CH": "fr",
        "fr;q=0, en;q=0.1": "en",
        "\u00e9, ;;,": "en",
    }
    for header, language in wanted.items():
        status, _, content = request(site.port, "GET", "/s/both/results?present", Accept_Language=header)
        assert status == 200
        assert f'<html lang="{language}">'.encode() in content
        assert f'<main lang="{language}">'.encode() in content


def test_a_page_of_results_is_made_once_for_all_who_look_and_anew_when_it_changes(
    tmp_path, opened, survey_file, monkeypatch
) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file, public=True)
    app, pages, estimates = application(store), [], []
    make, round_ = results_page.pages, results_module._round

    def counted_pages(shown, *, public):
        assert public
        pages.append(shown.totals.answered)
        return make(shown, public=public)

    monkeypatch.setattr(results_page, "pages", counted_pages)
    monkeypatch.setattr(results_module, "_round", lambda *part: estimates.append(1) or round_(*part))

    async def post_and_look(reports: int, looks: int) -> None:
        for _ in range(reports):
            assert await asked(app, "/s/alcohol/report", answer(open_survey)) == 201
        statuses = (asked(app, "/s/alcohol/results", b"", method="GET") for _ in range(looks))
        assert set(await asyncio.gather(*statuses)) == {200}

    async def everything() -> None:
        await post_and_look(10, 8)
        assert (pages, estimates) == ([10], [1])
        monkeypatch.setattr(server_module, "_IDLE", 1e9)
        await post_and_look(1, 3)
        assert pages == [10]  # it cost more than it would tell
        monkeypatch.setattr(server_module, "_IDLE", 0.0)
        await post_and_look(0, 3)
        await post_and_look(0, 1)
        assert (pages, estimates) == ([10, 11], [1])  # the same estimates, another number of answers
        await post_and_look(9, 1)
        assert (pages, estimates) == ([10, 11, 20], [1, 1])
        store.close("alcohol")
        await post_and_look(0, 1)
        assert pages == [10, 11, 20, 20]

    asyncio.run(everything())
    store.disconnect()


def test_a_survey_opens_and_closes_at_its_times_and_a_clock_that_goes_back_does_not_open_it(
    site, survey_file, opened
) -> None:
    text = survey_file.read_text()
    now = datetime.now(UTC).replace(microsecond=0)
    survey_file.write_text(f"opens = {(now + timedelta(days=1)).isoformat()}\n{text}")
    early = opened(site.store, survey_file, "early")
    status, _, content = request(site.port, "GET", "/s/early", Accept="text/html")
    assert status == 404
    assert f"opens at this time: {now + timedelta(days=1):%Y-%m-%d, %H:%M} (UTC)".encode() in content
    assert b"alcohol this week" not in content  # what is asked is not shown before it is asked
    assert post(site.port, answer(early), "early") == 404
    assert request(site.port, "GET", "/s/early/report")[0] == 404
    survey_file.write_text(f"closes = {(now - timedelta(days=1)).isoformat()}\n{text}")
    late = opened(site.store, survey_file, "late")
    assert late.is_over()
    assert not late.is_over(now - timedelta(days=2))
    assert request(site.port, "GET", "/s/late/report")[0] == 410
    assert post(site.port, answer(late), "late") == 410
    assert site.store.survey("late").closed


def test_reports_at_the_closing_time_close_a_survey_once(tmp_path, opened, survey_file, monkeypatch) -> None:
    ended = (datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)).isoformat()
    survey_file.write_text(f"closes = {ended}\n{survey_file.read_text()}")
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    closed, close = [], store.close
    monkeypatch.setattr(store, "close", lambda name: closed.append(name) or close(name))

    async def many(app) -> list[int]:
        return await asyncio.gather(*(asked(app, "/s/alcohol/report", answer(open_survey)) for _ in range(20)))

    assert asyncio.run(many(application(store))) == [410] * 20
    assert asyncio.run(many(application(store))) == [410] * 20
    assert closed == ["alcohol"]
    store.disconnect()


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("/", b"Surveys are answered here"),
        ("/favicon.ico", b"There is no such survey here"),
        ("/s/another", b"There is no such survey here"),
        ("/s/alcohol/results", b"There are no results to be seen"),
        ("/s/another/results?token=<script>", b"There are no results to be seen"),
    ],
)
def test_people_get_a_short_page_and_programs_json_where_there_is_nothing_to_see(site, path, heading) -> None:
    status, headers, content = request(site.port, "GET", path)
    assert (status, headers["content-type"], json.loads(content)["status"]) == (404, "application/problem+json", 404)
    status, headers, content = request(site.port, "GET", path, Accept="text/html,*/*;q=0.8", Accept_Language="de, en")
    assert (status, headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert heading in content
    assert b"<script" not in content
    assert "script" not in headers["content-security-policy"]
    _, _, content = request(site.port, "GET", path, Accept="text/html", Accept_Language="en;q=0.8, fr-CH;q=0.9")
    assert b'<html lang="fr">' in content


def test_a_single_use_link_is_spent_once(site, opened, survey_file) -> None:
    open_survey = opened(site.store, survey_file, "linked", links=True)
    own = PersonalLink("the-token-of-one-link")
    site.store.add_links("linked", [link_hash(own.token)])
    body = answer(open_survey, link=own.text)
    assert post(site.port, answer(open_survey), "linked") == 403
    assert [post(site.port, body, "linked"), post(site.port, body, "linked")] == [201, 200]
    assert post(site.port, answer(open_survey, link=own.text), "linked") == 403


def hostile(open_survey: OpenSurvey) -> Iterator[tuple[str, bytes]]:
    """Requests that nobody's page sends: a name, and the bytes."""
    good = answer(open_survey)
    chance = random.Random(18)

    def whole(body: bytes, path: str = "/s/alcohol/report", kind: str = "application/json", more: str = "") -> bytes:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        return head.encode() + body

    yield "empty", whole(b"")
    yield "too short", whole(good[:-1])
    yield "too long", whole(good + b" ")
    yield "huge", whole(b"0" * 1_000_000)
    yield "another kind", whole(good, kind="text/plain")
    yield "a form", whole(good, kind="application/x-www-form-urlencoded")
    yield "no kind", b"POST /s/alcohol/report HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
    yield "a length that is none", b"POST /s/alcohol/report HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n"
    yield "two lengths", whole(good, more=f"Content-Length: {len(good) + 1}\r\n")
    yield "chunks and a length", whole(good, more="Transfer-Encoding: chunked\r\n")
    yield (
        "a large chunk",
        (
            b"POST /s/alcohol/report HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + b"fffff\r\n" + b"0" * 0xFFFFF + b"\r\n0\r\n\r\n"
        ),
    )
    yield "no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    yield "a long line", b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n"
    yield "many headers", b"GET /s/alcohol HTTP/1.1\r\n" + b"X: y\r\n" * 10_000 + b"\r\n"
    for path in ("/s/../../etc/passwd", "/s/%2e%2e/report", "/s/alcohol%00/report", "/s/ALCOHOL/report", "/s//report"):
        yield path, whole(good, path)
    for method in ("PUT", "DELETE", "PATCH", "TRACE"):
        yield method, f"{method} /s/alcohol/report HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    yield "a key twice", whole(good.replace(b'"pad":"', b'"id":"', 1))
    yield "another survey", whole(good.replace(open_survey.survey.digest.encode(), b"0" * 64))
    yield "another round", whole(good.replace(b'"round":"1"', b'"round":"2"'))
    yield "a class that there is not", whole(good.replace(b'"class":"0"', b'"class":"7"'))
    yield "an impossible message", whole(re.sub(rb'"drinks":"."', b'"drinks":"2"', good))
    yield "a number that is no text", whole(re.sub(rb'"drinks":"(.)"', rb'"drinks": \1 ', good))
    yield "a capital in the id", whole(good.replace(b'"id":"', b'"id":"A', 1)[:-1])
    yield "SQL", whole(good.replace(b"000000", b"';--0\"", 1))
    yield "null", whole(b"null".ljust(len(good)))
    yield "deep", whole(b"[" * len(good))
    yield "not UTF-8", whole(b"\xff" * len(good))
    for number in range(60):
        body = bytearray(good)
        for _ in range(chance.randrange(1, 4)):
            body[chance.randrange(len(body))] = chance.randrange(256)
        fixed = bytes(body)
        if not _is_report(open_survey, fixed):
            yield f"changed {number}", whole(fixed)


def _is_report(open_survey: OpenSurvey, body: bytes) -> bool:
    try:
        open_survey.survey.parse(body)
    except ValueError:
        return False
    return True


def test_hostile_requests_get_4xx_and_change_nothing_but_refused(site, capfd, caplog) -> None:
    first = answer(site.open_survey)
    assert post(site.port, first) == 201
    before = site.store.tallies("alcohol", site.open_survey.survey.plan.digest, 2, shown=False)
    with caplog.at_level(logging.DEBUG):
        for name, content in hostile(site.open_survey):
            status = re.match(rb"HTTP/1\.1 (\d{3})", raw(site.port, content))
            assert status is not None, name
            assert 400 <= int(status[1]) < 500, name
    totals = site.store.totals("alcohol")
    assert (totals.answered, totals.repeated) == (1, 0)
    assert totals.refused >= 60
    assert site.store.tallies("alcohol", site.open_survey.survey.plan.digest, 2, shown=False) == before
    assert post(site.port, first) == 200
    shown = capfd.readouterr()
    logged = [record for record in caplog.records if record.name.startswith(("uvicorn", "bruit", "starlette"))]
    assert shown.out + shown.err == ""
    assert not any("127.0.0.1" in record.getMessage() or "alcohol" in record.getMessage() for record in logged)


def test_a_body_that_does_not_arrive_is_given_up(site, monkeypatch) -> None:
    monkeypatch.setattr(server_module, "_READ_TIME", 0.2)
    head = b"POST /s/alcohol/report HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
    assert raw(site.port, head + b"0").startswith(b"HTTP/1.1 408 ")
    assert site.store.totals("alcohol") == (0, 0, 0)


def test_the_journal_is_emptied_soon_after_a_report(site, monkeypatch) -> None:
    journal = site.path / "surveys.sqlite-wal"
    monkeypatch.setattr(intake_module, "SETTLE", 0.05)
    monkeypatch.setattr(intake_module, "QUIET", -1)
    post(site.port, answer(site.open_survey))
    assert journal.stat().st_size  # it waits while reports come
    monkeypatch.setattr(intake_module, "QUIET", 9)
    assert any(not journal.stat().st_size or time.sleep(0.02) for _ in range(500))
    assert post(site.port, answer(site.open_survey)) == 201


def test_a_path_of_another_case_is_another_survey(site) -> None:
    assert request(site.port, "GET", "/s/Alcohol")[0] == 404
    assert request(site.port, "GET", "/S/alcohol")[0] == 404


def test_an_unexpected_error_says_nothing_about_the_report(site, monkeypatch, capfd) -> None:
    body = answer(site.open_survey)
    monkeypatch.setattr(OpenSurvey, "read", lambda *_: (_ for _ in ()).throw(RuntimeError(body.decode())))
    assert post(site.port, body) == 500
    shown = capfd.readouterr()
    assert "drinks" not in shown.out + shown.err
    monkeypatch.undo()
    monkeypatch.setattr(type(site.store), "commit", lambda *_: 1 / 0)
    assert post(site.port, body) == 503
    monkeypatch.undo()
    assert post(site.port, body) == 201


async def asked(
    app, path: str, body: bytes, scheme: str = "http", client: str = "192.0.2.1", method: str = "POST"
) -> int:
    """The status that an application answers to a report, without a socket."""
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "root_path": "", "scheme": scheme,
        "query_string": b"", "headers": [(b"content-type", b"application/json")], "client": (client, 1),
        "server": ("x", 80), "http_version": "1.1", "state": {},
    }  # fmt: skip
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[dict] = []

    async def receive():
        return messages.pop()

    async def send(message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"]


@pytest.fixture
def one_key(monkeypatch) -> None:
    """Addresses share a counter once in 65,536 times: under this key those of the tests do not."""
    monkeypatch.setattr(limits_module, "Entropy", lambda: SimpleNamespace(bytes=bytes))


def test_limits_hold_for_a_survey_and_for_an_address(tmp_path, opened, survey_file, one_key) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    path = "/s/alcohol/report"

    async def many(app, clients) -> Counter:
        return Counter([await asked(app, path, answer(open_survey), client=client) for client in clients])

    app = application(store, limits=Limits(per_second=1_000, per_address=5))
    assert asyncio.run(many(app, ["192.0.2.1"] * 8 + ["192.0.2.2"])) == {201: 6, 429: 3}
    app = application(store, limits=Limits(per_second=0.5, per_address=100))
    assert asyncio.run(many(app, [f"192.0.2.{i}" for i in range(8)])) == {201: 5, 429: 3}
    store.disconnect()


def test_an_address_over_its_limit_takes_nothing_of_the_limit_of_the_survey(
    tmp_path, opened, survey_file, one_key
) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    app = application(store, limits=Limits(per_second=1, per_address=5))

    async def many(clients) -> list[int]:
        return [await asked(app, "/s/alcohol/report", answer(open_survey), client=client) for client in clients]

    assert asyncio.run(many(["2001:db8::1"] * 3 + ["2001:db8::2"] * 40)).count(201) == 5
    assert asyncio.run(many(["2001:db8:0:1::1", "192.0.2.1"])) == [201, 201]
    store.disconnect()


def test_the_limit_of_a_survey_holds_where_more_surveys_are_wanted_than_are_held(
    tmp_path, opened, survey_file, monkeypatch
) -> None:
    monkeypatch.setattr(server_module, "_MOST_DESKS", 1)
    store = open_store(tmp_path / "surveys.sqlite")
    bodies = {name: answer(opened(store, survey_file, name)) for name in ("alcohol", "second")}
    app = application(store, limits=Limits(per_second=0.1))

    async def many() -> list[int]:
        return [await asked(app, f"/s/{name}/report", body) for _ in range(2) for name, body in bodies.items()]

    assert asyncio.run(many()) == [201, 201, 429, 429]
    store.disconnect()


def test_addresses_of_ipv6_share_a_limit_in_a_network_of_64_bits() -> None:
    limit = AddressLimit(1)
    assert [limit.allows("2001:db8::1"), limit.allows("2001:db8::ffff:0:0:1")] == [True, False]
    near = ["2001:db8:0:1::1", "fe80::1%eth0", "::ffff:192.0.2.1", "192.0.2.2", "no::address"]
    assert len({network(address) for address in [*near, "2001:db8::1", "192.0.2.1"]}) == 6


def test_the_key_of_the_address_limit_is_thrown_away_with_its_counters() -> None:
    now = [0.0]
    limit = AddressLimit(1, clock=lambda: now[0])
    key = limit._key
    assert [limit.allows("192.0.2.1"), limit.allows("192.0.2.1")] == [True, False]
    now[0] = LIFETIME - 1
    assert not limit.allows("192.0.2.1")
    now[0] = LIFETIME
    assert limit.allows("192.0.2.1")
    assert limit._key != key
    assert "192.0.2.1" not in repr(vars(limit))


def test_the_limit_of_a_survey_fills_up_again() -> None:
    now = [0.0]
    limit = SurveyLimit(2, clock=lambda: now[0])
    assert sum(limit.allows() for _ in range(100)) == 20
    now[0] = 1.0
    assert sum(limit.allows() for _ in range(100)) == 2


def test_behind_a_proxy_only_https_is_served(tmp_path, opened, survey_file) -> None:
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, survey_file)
    app = application(store, behind_proxy=True, https=True)

    async def both() -> list[int]:
        return [await asked(app, "/s/alcohol/report", answer(open_survey), scheme) for scheme in ("http", "https")]

    assert asyncio.run(both()) == [426, 201]
    store.disconnect()


@pytest.mark.parametrize(
    "settings",
    [
        {"host": "0.0.0.0"},
        {"host": "192.0.2.1"},
        {"host": "::"},
        {"host": "survey.example.org"},
        {"address": "http://survey.example.org"},
        {"certificate": Path("cert.pem")},
    ],
)
def test_plain_http_is_for_this_machine_alone(settings) -> None:
    with pytest.raises(ParameterError, match="http"):
        Listening(**settings)


@pytest.mark.parametrize(
    "settings", [{}, {"host": "::1"}, {"host": "localhost"}, {"host": "0.0.0.0", "insecure_demo": True},
                 {"host": "0.0.0.0", "proxy": "10.0.0.1"}, {"host": "0.0.0.0", "certificate": "c", "key": "k"}]
)  # fmt: skip
def test_other_ways_are_served(settings) -> None:
    Listening(**settings)


def test_two_thousand_copies_at_once_count_once(site) -> None:
    body = answer(site.open_survey)
    assert Counter(asyncio.run(_copies([site.port], body, 2_000))) == {201: 1, 200: 1_999}
    assert site.store.totals("alcohol") == (1, 0, 1_999)


def test_two_thousand_copies_over_two_processes_count_once(database, opened, survey_file) -> None:
    store = open_store(database)
    body = answer(opened(store, survey_file))
    with served(database) as first, served(database) as second:
        assert Counter(asyncio.run(_copies([first, second], body, 2_000))) == {201: 1, 200: 1_999}
    assert store.totals("alcohol") == (1, 0, 1_999)
    store.disconnect()


async def _copies(ports: list[int], body: bytes, number: int) -> list[int]:
    """Statuses of so many posts, up to 500 of them at once."""
    content = report_bytes(body)
    left = iter(range(number))
    statuses: list[int] = []

    async def connection(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in left:
            writer.write(content)
            line = await reader.readuntil(b"\r\n\r\n")
            length = int(re.search(rb"content-length: (\d+)", line.lower())[1])
            assert json.loads(await reader.readexactly(length))["status"] == int(line.split()[1])
            statuses.append(int(line.split()[1]))
        writer.close()

    await asyncio.gather(*(connection(ports[i % len(ports)]) for i in range(500)))
    return statuses


def test_certificate_files_give_https_and_browsers_are_told_to_insist(tmp_path, opened, survey_file) -> None:
    certificate, key = _certificate(tmp_path)
    store = open_store(tmp_path / "surveys.sqlite")
    opened(store, survey_file)
    context = ssl.create_default_context(cafile=str(certificate))
    with running(store, Listening(port=0, certificate=certificate, key=key)) as port:
        connection = http.client.HTTPSConnection("localhost", port, timeout=30, context=context)
        with closing(connection):
            connection.request("GET", "/s/alcohol")
            response = connection.getresponse()
            assert response.status == 200
            assert response.getheader("strict-transport-security")
            response.read()
        with pytest.raises((http.client.HTTPException, OSError)):
            request(port, "GET", "/s/alcohol")


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost that signs itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    signed = builder.sign(key, hashes.SHA256())
    (folder / "cert.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return folder / "cert.pem", folder / "key.pem"
