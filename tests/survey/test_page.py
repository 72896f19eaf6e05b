"""The page as a file: what is in it, and what it is allowed to do."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from bruit.errors import ParameterError
from bruit.survey import security_policy

from ..plans import only_mechanism
from .browser import data_of, script_of


def test_a_page_is_one_file_that_names_nothing_outside_itself(many):
    page = many.page().decode()
    assert not re.search(r"(src|srcset|action|poster|ping|formaction)\s*=\s*[\"']", page.split('id="data"')[0])
    assert re.findall(r'href="([^"]*)"', page.split('id="data"')[0]) == ["data:,"]
    script = script_of(many.page())
    assert not re.search(r"document\.cookie|XMLHttpRequest|WebSocket|sendBeacon|EventSource|import\(|eval\(", script)
    assert not re.search(
        r"innerHTML|insertAdjacentHTML|document\.write|Math\.random|sessionStorage|replaceState", script
    )
    assert script.count("pushState") == script.count('history.pushState(null, "")') == 1  # with nothing in it
    assert script.count("fetch(") == 1


def test_the_policy_names_the_script_and_the_style_by_their_hashes(many):
    page = many.page()
    policy = security_policy(page)
    style = re.search("<style>(.*?)</style>", page.decode(), re.DOTALL)[1]
    for text in (script_of(page), style):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    for rule in ("connect-src 'self'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
        assert f"; {rule}" in policy
    assert "unsafe" not in policy


def test_another_host_is_the_only_one_that_the_page_may_reach(one):
    policy = security_policy(one.page(address="https://collect.example.org/s/class/report"))
    assert "connect-src https://collect.example.org;" in policy
    for address in ("", "javascript:alert(1)", "//evil.example", "a'; script-src *", "https:", "ftp://x/y"):
        with pytest.raises(ParameterError, match="address"):
            one.page(address=address)


def test_the_data_of_the_page_end_where_they_end(write):
    from ..surveys import ONE

    hostile = '</script><script>alert(1)</script><!-- {{SCRIPT}} & \\" \\u2028'
    page = write(ONE.replace("Alcohol at school", hostile)).page()
    assert page.count(b"<script") == 2
    assert page.count(b"</script>") == 2
    title = json.loads(data_of(page))["title"]["en"]
    assert title.startswith('</script><script>alert(1)</script><!-- {{SCRIPT}} & "')
    assert b"<title>&lt;/script&gt;" in page


def test_the_card_is_served_in_the_page_as_it_is_hashed(many):
    data = json.loads(data_of(many.page()))
    assert hashlib.sha256(data["card"].encode()).hexdigest() == many.card.digest
    assert data["digest"] == many.digest


def test_odds_and_beliefs_are_those_of_the_integers(one, long, many):
    (attribute,) = json.loads(data_of(one.page()))["attributes"]
    assert (attribute["own"], attribute["other"], attribute["reading"]) == ([73, 100], [27, 100], "value")
    beliefs = json.loads(data_of(one.page()))["beliefs"]
    assert beliefs[49] == ["26", "74"]
    assert len(beliefs) == 99
    (attribute,) = json.loads(data_of(long.page()))["attributes"]
    oracle = only_mechanism(long.plan)
    assert attribute["reading"] == "list"
    assert attribute["own"] == [round(100 * oracle.p), 100]
    assert attribute["other"] == [round(100 * oracle.q), 100]
    hours = json.loads(data_of(many.page()))["attributes"][1]
    assert hours["own"][0] + hours["other"][0] in (99, 100, 101)  # the law of the two ends is the same, mirrored
    assert hours["own"][0] < hours["other"][0]


@pytest.mark.parametrize(("epsilon", "most"), [(0.5, "63"), (1.0, "74"), (2.0, "89"), (3.0, "96")])
def test_a_belief_of_one_half_is_moved_as_far_as_the_literature_says_and_rounded_up(write, epsilon, most):
    from ..surveys import ONE

    survey = write(ONE.replace("epsilon = 1.0", f"epsilon = {epsilon}"))
    assert json.loads(data_of(survey.page()))["beliefs"][49][1] == most


def test_no_page_says_anonymous(one, many):
    for survey in (one, many):
        assert not re.search("anonym", survey.page().decode(), re.IGNORECASE)


def test_only_a_page_has_a_policy():
    with pytest.raises(ParameterError, match=r"Survey\.page"):
        security_policy(b"<html></html>")
