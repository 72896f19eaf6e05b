"""Personal links that name a question: equal shares at random, one report each, and on no other question."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from bruit import Plan
from bruit.cli.survey.open import _keep
from bruit.collection import rotation
from bruit.collector import links
from bruit.collector.alarm import deviations
from bruit.collector.links import issue
from bruit.collector.open_survey import link_hash
from bruit.collector.results import results
from bruit.errors import ParameterError
from bruit.survey import PersonalLink

from ..surveys import ASSIGNED
from .test_report_counters import send
from .test_server import post, site  # noqa: F401 -- a fixture

OWN = {"smokes": "Yes", "sport": "often"}


@pytest.fixture
def assigned_file(tmp_path):
    path = tmp_path / "rotated.toml"
    path.write_text(ASSIGNED, encoding="utf-8")
    return path


@pytest.fixture
def rotated(store, opened, assigned_file):
    return opened(store, assigned_file, "rotated", links=True)


def test_links_name_the_questions_in_equal_shares_and_are_all_different(store, rotated) -> None:
    given = [issue(store, "rotated", 7) for _ in range(40)]
    shares = Counter(tuple(link.split(".")[1] for link in one) for one in given)
    assert {tuple(sorted(Counter(places).items())) for places in shares} == {
        (("0", 3), ("1", 4)),
        (("0", 4), ("1", 3)),
    }
    assert len(shares) > 10  # of 70 orders; fewer with a chance below 1e-20
    assert len({link for one in given for link in one}) == 280
    assert len({link.partition(".")[0] for one in given for link in one}) == 280


def test_the_questions_of_links_are_the_assignment_of_one_list(store, rotated, monkeypatch) -> None:
    asked = []

    def recorded(n, attributes, stream):
        asked.append((n, attributes))
        return assignment(n, attributes, stream)

    assignment = rotation.assignment
    monkeypatch.setattr(links.rotation, "assignment", recorded)
    issue(store, "rotated", 9)
    assert asked == [(9, 2)]


def test_a_link_reports_on_its_question_once_and_on_no_other(site, opened, assigned_file) -> None:  # noqa: F811
    rotated = opened(site.store, assigned_file, "rotated", links=True)
    (link,) = issue(site.store, "rotated", 1)
    token, place, _ = link.split(".")
    survey = rotated.survey
    other = survey.answer(OWN, link=PersonalLink(token, 1 - int(place)).text)
    own = survey.answer(OWN, link=link)
    assert post(site.port, other, "rotated") == 403
    assert post(site.port, survey.answer(OWN, link=PersonalLink(token[::-1], place).text), "rotated") == 403
    assert [post(site.port, own, "rotated"), post(site.port, own, "rotated")] == [201, 200]
    assert post(site.port, survey.answer(OWN, link=link), "rotated") == 403
    assert post(site.port, other, "rotated") == 403


def test_a_collector_that_kept_tokens_alone_would_take_another_question(site, opened, assigned_file) -> None:  # noqa: F811
    """The control: the place is in the hash, and without it a holder chooses the question."""
    rotated = opened(site.store, assigned_file, "rotated", links=True)
    site.store.add_links("rotated", [link_hash("abcdefghijklmnop.0"), link_hash("abcdefghijklmnop.1")])
    assert post(site.port, rotated.survey.answer(OWN, link=PersonalLink("abcdefghijklmnop", 1).text), "rotated") == 201


def test_results_have_as_many_reports_as_links_named_each_question(store, rotated) -> None:
    given = issue(store, "rotated", 41)
    send(store, rotated, *(rotated.survey.answer(OWN, link=link) for link in given))
    shown = results(store, rotated)
    named = Counter(int(link.split(".")[1]) for link in given)
    assert sorted(named.values()) == [20, 21]
    tally = shown.tallies[0, 1]
    reported = {name: int(rotated.survey.plan.design.reported(name, tally)) for name in OWN}
    assert reported == {"smokes": named[0], "sport": named[1]}


def test_uneven_shares_of_links_raise_no_alarm(store, rotated, opened, assigned_file) -> None:
    """All links named one question, as where links of several calls were handed out: that is no sign of forgery."""
    plan = rotated.survey.plan
    given = [PersonalLink(link.partition(".")[0], 0).text for link in issue(store, "rotated", 60)]
    bodies = [rotated.survey.parse(rotated.survey.answer(OWN, link=link)) for link in given]
    tally = plan.tally(rotated.columns(bodies).reports)
    reports = {name: int(plan.design.reported(name, tally)) for name in OWN}
    assert reports == {"smokes": 60, "sport": 0}
    assert deviations(plan, [tally]) == []
    drawn = Plan(plan.schema, plan.epsilon, "SMP[GRR]")
    assert deviations(drawn, [replace(tally, design=drawn.digest)])  # the control: of questions that devices draw


def test_a_survey_in_rotation_is_opened_with_links(store, assigned_file, tmp_path) -> None:
    with pytest.raises(ParameterError, match="in rotation is answered by personal links"):
        _keep(store, assigned_file, "rotated", "", links=False, public=False, new_token=False)
