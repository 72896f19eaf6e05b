"""Surveys that ask the same people again: the file, memos, claims, and what is said of all rounds."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from bruit import Plan
from bruit.collection import Repeat
from bruit.errors import BruitError, DataError, ParameterError
from bruit.survey import PersonalLink

from ..plans import only_mechanism
from ..surveys import ONE, ROUNDS
from . import browser as browsers
from .test_draws import in_node, needs_node

LINK = "abcdefghijklmnop-_Z9"
OWN = PersonalLink(LINK).text
YES = {"slept": "Yes", "class": "B"}


def test_the_plan_is_one_with_rounds_and_the_times_are_no_part_of_the_survey(panel, write):
    assert panel.plan == Plan({"slept": ["No", "Yes"]}, 1.0, repeat=Repeat(2, epochs=2, epoch_epsilon=2.0))
    assert (panel.has_rounds, panel.rounds, panel.opens) == (True, 4, panel.round_opens[0])
    assert write(ROUNDS.replace("2026-01-26", "2026-02-02")).digest == panel.digest
    assert write(ROUNDS.replace("epoch_epsilon = 2.0", "epoch_epsilon = 1.9")).digest != panel.digest
    hour = timedelta(hours=1)
    first = panel.round_opens[0]
    assert [panel.round_at(first + shift) for shift in (-hour, hour, 170 * hour, 9_999 * hour)] == [0, 1, 2, 4]


def test_rounds_of_one_each_need_no_epsilon_of_their_own(write):
    survey = write(ROUNDS.replace("epoch_epsilon = 2.0\nrounds = 2\nepochs = 2", "epochs = 4"))
    assert survey.plan.guarantee.epsilon == pytest.approx(4)
    assert survey.rounds == 4


REFUSED = {
    "no ε of an epoch": ("epoch_epsilon = 2.0\n", "", "epoch_epsilon = 2"),
    "an ε of an epoch below that of a report": ("epoch_epsilon = 2.0", "epoch_epsilon = 0.5", "epoch_epsilon must be"),
    "three times for four rounds": (", 2026-01-26T08:00:00+01:00", "", "round_opens must have 4 times"),
    "a time without its offset": ("2026-01-26T08:00:00+01:00", "2026-01-26T08:00:00", "4 times with their offset"),
    "times that go back": ("2026-01-26", "2025-01-26", "round_opens must be in order"),
    "opens beside the times": ("people = 60", "opens = 2026-01-01T08:00:00+01:00", "leave opens out"),
    "it closes before the last round": ("people = 60", "closes = 2026-01-20T08:00:00+01:00", "must come before closes"),
    "a number": ('"yes-no"', '"number"\nfrom = 0\nto = 5', "has no memo"),
    "more rounds than links can hold": ("rounds = 2", "rounds = 300", "at most 400"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_with_bad_rounds_is_refused_with_the_right_spelling(case, write):
    old, new, message = REFUSED[case]
    assert ROUNDS.count(old) >= 1
    with pytest.raises(BruitError, match=message):
        write(ROUNDS.replace(old, new, 1))


@pytest.mark.parametrize(("key", "message"), [("epoch_epsilon = 2.0", "rounds = 4"), ("round_opens = []", "add r")])
def test_keys_of_rounds_do_nothing_silently_where_people_are_asked_once(key, message, write):
    with pytest.raises(BruitError, match=message):
        write(ONE.replace("people = 30", key))


def test_a_memo_gives_the_reports_of_its_epoch_and_keeps_the_answers_in_clear(panel):
    memo = panel.draw_memo(YES)
    bodies = [panel.refresh(memo, link=OWN, round=number) for number in (1, 2, 2)]
    reports = [panel.parse(body) for body in bodies]
    assert [report.round for report in reports] == [1, 2, 2]
    assert {report.link for report in reports} == {LINK}
    assert {report.public for report in reports} == {(1,)}
    assert len({len(body) for body in bodies}) == 1
    assert len({report.id for report in reports}) == 3
    with pytest.raises(ParameterError, match=r"keep draw_memo\(values\)"):
        panel.answer(YES)
    with pytest.raises(ParameterError, match="round must be"):
        panel.refresh(memo, link=OWN, round=5)


def test_a_claim_is_as_long_as_a_report_and_nothing_else_is_read_as_one(panel, one):
    body = panel.claim(link=OWN, epoch=2)
    claim = panel.claim_body.parse(body)
    assert (claim.link, claim.epoch, len(body)) == (LINK, 2, panel.body_length)
    assert panel.claim_body.fill(claim) == body
    third = panel.claim_round(body, round=3)
    assert panel.claim_body.parse(third) == claim._replace(round=3)
    assert len(third) == len(body)
    for number in (0, 2, 5):
        with pytest.raises(ParameterError, match="round must be"):
            panel.claim_round(body, round=number)
    report = panel.refresh(panel.draw_memo(YES), link=OWN, round=1)
    forged = [
        report, body[:-1], body + b" ", body.replace(b'"epoch":"2"', b'"epoch":"3"'), b"",
        body.replace(b'"epoch":"2"', b'"epoch":"0"'), body.replace(panel.digest[:4].encode(), b"zzzz"), None,
        body.replace(b'"pad":"0', b'"pad":"1'), body.replace(b'"round":"0"', b'"round":"2"'),
    ]  # fmt: skip
    for bad in forged:
        with pytest.raises(DataError):
            panel.claim_body.parse(bad)
    with pytest.raises(DataError):
        panel.parse(body)
    with pytest.raises(ParameterError, match="asks once"):
        one.claim(link=OWN, epoch=1)


def test_a_page_with_rounds_needs_personal_links_and_states_all_rounds(panel):
    with pytest.raises(ParameterError, match="--links"):
        panel.page()
    data = json.loads(browsers.data_of(panel.page(links=True)))
    plan, panel_data = panel.plan, data["panel"]
    assert panel_data["opens"][0] == "2026-01-05T08:00:00+01:00"
    assert datetime.fromisoformat(panel_data["opens"][3]) == panel.round_opens[3]
    epsilons = [[float(epsilon) for epsilon, _ in row] for row in panel_data["accounts"]]
    one, two = plan.panel.after(1).epsilon, plan.panel.after(2).epsilon
    exact = [[one, two], [two + one, 2 * two]]
    assert epsilons == [[math.ceil(1000 * epsilon) / 1000 for epsilon in row] for row in exact]
    # e^ε / (1 + e^ε), rounded up.
    most = [[float(percent) for _, percent in row] for row in panel_data["accounts"]]
    assert most == [[math.ceil(100 / (1 + math.exp(-epsilon))) for epsilon in row] for row in exact]
    assert data["beliefs"][49][1] == "97"


def test_the_check_says_what_a_report_an_epoch_and_all_rounds_tell(panel):
    notes = " ".join(panel.check().table().notes)
    assert "4 rounds in 2 epochs: ε = 1 for one report" in notes
    assert "97 % at most, after all rounds" in notes
    assert "shows in the next epoch" in notes


@needs_node
def test_the_script_writes_claims_and_rounds_as_python_reads_them(panel, tmp_path):
    memo = panel.draw_memo(YES)
    places = {"class": "1"}
    job = {"record": {"memo": memo.columns, "places": places}, "link": LINK}
    job["claim"] = {"id": "0123456789abcdef" * 2, "link": LINK, "epoch": 2, "round": 3}
    expression = (
        "[drawRound(job.survey, read(job.survey.card), job.record, job.link, 3), claimOf(job.survey, job.claim)]"
    )
    body, claim = in_node(panel.page(links=True), job, tmp_path, expression)
    report = panel.parse(body.encode())
    assert (report.round, report.link, report.public) == (3, LINK, (1,))
    assert panel.claim_body.parse(claim.encode()) == (bytes.fromhex(job["claim"]["id"]), LINK, 2, 3)


#: A record that a nearly full browser does not take, and one that another tab has ended.
RECORDS = """(() => {
  const kept = new Map();
  let full = false;
  globalThis.localStorage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem(name, text) { if (full) throw new Error("full"); kept.set(name, text); },
    removeItem: (name) => kept.delete(name),
  };
  const record = memory("x");
  const states = [record.get()];
  record.set({ id: "1" });
  full = true;
  record.set({ id: "1", memo: {} });
  states.push(record.get(), memory("x").get());
  full = false;
  record.set({ id: "1", claimed: true });
  kept.set("x", JSON.stringify({ used: true }));
  states.push(record.get());
  kept.delete("x");
  states.push(record.get());
  const records = [null, { id: "1" }, { claimed: true }, { id: "1", memo: {} }, { sent: true }, { used: true }];
  return [states, records.map(stage), relinked('{"id":"0","link":"a$&b","public":{"link":"1"}}', "a$&b", "")];
})()"""


@needs_node
def test_what_this_page_holds_comes_before_what_was_stored_earlier_and_not_before_what_others_stored_later(
    panel, tmp_path
):
    states, stages, unlinked = in_node(panel.page(links=True), {}, tmp_path, RECORDS)
    assert states == [None, {"id": "1", "memo": {}}, {"id": "1"}, {"used": True}, None]
    assert stages == [0, 1, 1, 2, 3, 3]
    assert unlinked == '{"id":"0","link":"","public":{"link":"1"}}'


#: Counts the reports of two rounds of many people with one answer; `memo` draws the memo of each round.
PAIRS = """(() => {
  const { survey, code, draws } = job;
  const card = read(survey.card);
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < draws; i += 1) {
    let memo = drawMemo(card, [code]);
    const sent = [1, 2].map((round) => {
      if (job.anew) memo = drawMemo(card, [code]);
      const body = drawRound(survey, card, { memo, places: { class: "0" } }, "", round);
      return Number(JSON.parse(body).report.slept);
    });
    counts[2 * sent[0] + sent[1]] += 1;
  }
  return counts;
})()"""


def joint_law(survey, code):
    """How likely each pair of reports is: the sum over memos, of which each round shows one or any message alike."""
    memos = survey.plan.panel.memos.mechanisms["slept"].law.row(code)
    replaced = Fraction(survey.plan.panel.repeated["slept"].refresh_weight, 1 << 64)
    shown = [[replaced / 2 + (1 - replaced) * (memo == report) for report in (0, 1)] for memo in (0, 1)]
    return [sum(memos[m] * shown[m][a] * shown[m][b] for m in (0, 1)) for a in (0, 1) for b in (0, 1)]


@needs_node
def test_two_rounds_follow_the_law_of_one_memo_and_a_page_that_draws_anew_does_not(panel, tmp_path):
    def chance(code, anew):
        job = {"code": code, "draws": 6_000, "anew": anew}
        counts = np.array(in_node(panel.page(links=True), job, tmp_path, PAIRS))
        expected = np.array([float(share) for share in joint_law(panel, code)]) * counts.sum()
        return special.chdtrc(3, ((counts - expected) ** 2 / expected).sum())

    assert sum(joint_law(panel, 0)) == 1
    # One round is a report of the plan, but for what a card rounds to the private side.
    short = only_mechanism(panel.plan).law.row(0)[0] - sum(joint_law(panel, 0)[:2])
    assert 0 <= short < Fraction(1, 1 << 63)
    assert chance(0, anew=False) > 1e-8
    assert chance(1, anew=False) > 1e-8
    assert chance(1, anew=True) < 1e-8
