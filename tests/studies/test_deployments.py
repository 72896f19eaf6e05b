"""Deployments: every fact has a source, and every ε is that of the library's own mechanism."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from bruit.errors import ParameterError
from bruit.open_answers import RAPPOR
from bruit_studies.deployments import DEPLOYMENTS, Deployment, find, overview

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "deployments.md"
EVERY = pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment.name)


def facts(name: str) -> dict[str, float | str]:
    deployment = find(name)
    return {fact.what: fact.number for fact in (*deployment.law(), *deployment.losses())}


@EVERY
def test_a_deployment_has_a_source_with_a_link(deployment: Deployment) -> None:
    assert deployment.sources
    assert all(source.link.startswith("https://") and source.text for source in deployment.sources)


@EVERY
def test_more_of_a_deployment_never_tells_less(deployment: Deployment) -> None:
    numbers = [fact.number for fact in deployment.losses() if not isinstance(fact.number, str)]
    assert numbers == sorted(numbers)


@EVERY
def test_a_table_shows_all_facts_and_sources(deployment: Deployment) -> None:
    text = deployment.table().text(width=None)
    for fact in (*deployment.law(), *deployment.losses()):
        assert fact.what in " ".join(text.split())
    assert text.count("source: ") == len(deployment.sources)


@EVERY
def test_the_page_links_every_source(deployment: Deployment) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"]({source.link})" in page for source in deployment.sources)


def test_the_page_shows_the_overview_of_the_command() -> None:
    table, _ = overview().text(width=None).split("\nbruit study deployments NAME")
    page = [line.rstrip() for line in PAGE.read_text(encoding="utf-8").splitlines()]
    assert [line for line in table.splitlines() if line.rstrip() not in page] == []


def test_chrome_told_twice_what_the_figure_of_the_paper_has_for_one_report() -> None:
    # p_s = ¼ + ¾·½ = 5/8 and q_s = 3/8; two bits of the own value differ.
    known = facts("chrome")
    assert known["one report"] == pytest.approx(4 * math.log(5 / 3), rel=1e-9)
    assert known["all reports of one home page"] == pytest.approx(4 * math.log(3), rel=1e-9)
    assert known["a bit of the own value is reported as 1"] == pytest.approx(5 / 8)
    assert known["any other bit is reported as 1"] == pytest.approx(3 / 8)
    figure = RAPPOR.as_published(f=0.5, p=0.5, q=0.75, bits=128, hashes=2, cohorts=128)
    assert figure.after(1).epsilon == pytest.approx(1.07, abs=0.005)


def test_apple_flips_a_bit_as_published() -> None:
    known = facts("apple")
    flipped = 1 / (1 + math.exp(2.0))
    assert known["any other bit is reported as 1"] == pytest.approx(flipped)
    assert known["a bit of the own value is reported as 1"] == pytest.approx(1 - flipped)


def test_apple_states_no_number_that_researchers_read() -> None:
    read = {what: number for what, number in facts("apple").items() if "read by researchers" in what}
    assert sorted(map(str, read.values())) == ["1 or 2", "16.0"]
    assert not any("macOS" in what and "Apple" in what for what in facts("apple"))


def test_windows_sends_a_bit_of_an_unused_app_by_1bitmean() -> None:
    known = facts("windows")
    assert known["an app that was not used is reported as 1"] == pytest.approx(1 / (math.exp(0.686) + 1))
    assert known["an app that was used all the time is reported as 1"] == pytest.approx(1 / (math.exp(-0.686) + 1))


def test_apps_that_share_six_hours_come_as_close_to_the_stated_epsilon_as_one_likes() -> None:
    # Report 1 of each of n apps that share the time, and 0 of one more app; another person used only that one.
    known = facts("windows")
    unused, always = (known[f"an app that was {use} is reported as 1"] for use in ("not used", "used all the time"))
    assert isinstance(unused, float)
    assert isinstance(always, float)

    def loss(n: int) -> float:
        shared = n * math.log((unused + (always - unused) / n) / unused)
        return shared + math.log((1 - unused) / (1 - always))

    losses = [loss(n) for n in (1, 10, 1000, 10**5)]
    assert losses == sorted(losses)
    assert losses[-1] == pytest.approx(1.672, abs=5e-4)
    assert losses[-1] < known["all apps in six hours"] == pytest.approx(1.672, abs=5e-4)  # type: ignore[operator]


def test_the_census_adds_up_to_less_than_the_sum() -> None:
    both = facts("census")["persons and housing units together, δ = 10⁻¹⁰"]
    assert 17.14 < both < 17.14 + 2.47  # type: ignore[operator]


def test_a_name_is_read_in_any_case_and_others_are_refused() -> None:
    assert find(" Chrome ") is find("chrome")
    with pytest.raises(ParameterError, match="chrome"):
        find("chrom")
    with pytest.raises(ParameterError, match="Did you mean 'flux-vision'"):
        find("Orange")


def test_the_overview_has_each_deployment_once() -> None:
    assert overview().data()["name"] == [deployment.name for deployment in DEPLOYMENTS]


def test_the_overview_compares_spans_of_the_same_name() -> None:
    spans = overview().data()
    assert spans["report"] == ["-", pytest.approx(2.0433, abs=1e-4), "1 or 2", pytest.approx(1.672, abs=5e-4), "-"]
    assert [span == "-" for span in spans["day"]] == [True, False, False, False, True]
    assert [span == "-" for span in spans["publication"]] == [False, True, True, True, False]


def test_the_census_names_all_counts_without_noise() -> None:
    text = find("census").table().text(width=None)
    assert all(count in text for count in ("population of each state", "housing units of each block", "group-quarters"))
