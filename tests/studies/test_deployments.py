"""Deployments: every fact has a source, and every ε is that of the library's own mechanism."""

from __future__ import annotations

import math

import pytest

from bruit.errors import ParameterError
from bruit_studies.deployments import DEPLOYMENTS, Deployment, find, overview

EVERY = pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment.name)


def facts(name: str) -> dict[str, float | str]:
    deployment = find(name)
    return {fact.what: fact.number for fact in (*deployment.law(), *deployment.losses())}


@EVERY
def test_a_deployment_has_a_source_that_can_be_opened(deployment: Deployment) -> None:
    assert deployment.sources
    assert all(source.link.startswith("https://") and source.text for source in deployment.sources)


@EVERY
def test_more_of_a_deployment_never_tells_less(deployment: Deployment) -> None:
    numbers = [fact.number for fact in deployment.losses() if not isinstance(fact.number, str)]
    assert numbers == sorted(numbers)


@EVERY
def test_a_table_shows_all_facts_and_sources(deployment: Deployment) -> None:
    text = str(deployment.table())
    for fact in (*deployment.law(), *deployment.losses()):
        assert fact.what.split()[0] in text
    assert text.count("source: ") == len(deployment.sources)


def test_chrome_told_twice_what_the_paper_has_for_one_report() -> None:
    # p_s = ¼ + ¾·½ = 5/8 and q_s = 3/8; two bits of the own value differ.
    known = facts("chrome")
    assert known["one report"] == pytest.approx(4 * math.log(5 / 3), rel=1e-9)
    assert known["all reports of one home page"] == pytest.approx(4 * math.log(3), rel=1e-9)
    assert known["a bit of the own value is reported as 1"] == pytest.approx(5 / 8)
    assert known["any other bit is reported as 1"] == pytest.approx(3 / 8)


def test_apple_flips_a_bit_as_published() -> None:
    known = facts("apple")
    flipped = 1 / (1 + math.exp(2.0))
    assert known["any other bit is reported as 1"] == pytest.approx(flipped)
    assert known["a bit of the own value is reported as 1"] == pytest.approx(1 - flipped)


def test_windows_sends_a_bit_of_an_unused_app_as_published() -> None:
    known = facts("windows")
    assert known["an app that was not used is reported as 1"] == pytest.approx(1 / (math.exp(1.672) + 1))
    assert known["one report, of six hours"] <= 1.672  # type: ignore[operator]


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
