"""The page of judgements has the labels of the page of claims, and the rule stands where studies are written."""

import re
from pathlib import Path

import numpy as np
import pytest

from bruit.releases import AboveThreshold
from bruit.tables import typeset
from bruit_studies import all_studies
from bruit_studies.claim import KINDS
from bruit_studies.decile_lemmas import by_the_proof, empirical_decile, falsified
from bruit_studies.deciles import beyond
from bruit_studies.inverse_sensitivity import lengths_by_definition
from bruit_studies.numeric_cleaning.laws import printed_gamma, unbounded_loss
from bruit_studies.rounds import best_buckets, printed, published_buckets

DOCS = Path(__file__).parents[2] / "docs"
CLAIMS = {claim.id: claim for study in all_studies() for claim in study.claims}
PAGE = (DOCS / "explanation" / "judgements.md").read_text(encoding="utf-8")


def _letters(text):
    return re.sub(r"[\W_]", "", text)


def _labels():
    """The label of each claim on the page of claims."""
    rows = [line.split(" | ") for line in (DOCS / "reference" / "claims.md").read_text(encoding="utf-8").splitlines()]
    shown = {_letters(row[0]): row[2].strip("*") for row in rows if len(row) > 3}
    return {name: shown[_letters(typeset(claim.statement))] for name, claim in CLAIMS.items()}


def _judged(rows):
    """Claims of a table with the label that it gives: the last cell but one of the labels."""
    return [(name, label) for names, label in rows for name in re.findall(r"`([a-z0-9-]+)`", names)]


CHANGED = _judged(re.findall(r"^\| (`.*?`) \| [a-z]+ \| ([a-z]+) \| ", PAGE, re.MULTILINE))
NEW = _judged(re.findall(r"^\| (`.*?`) \| ([a-z]+) \| [A-Z`e]", PAGE, re.MULTILINE))


def test_every_label_of_the_page_is_that_of_the_page_of_claims():
    labels = _labels()
    assert len(CHANGED) > 20
    assert len(NEW) >= 9
    assert [(name, label) for name, label in (*CHANGED, *NEW) if labels[name] != label] == []
    assert {label for _, label in (*CHANGED, *NEW)} <= set(KINDS)


def test_the_counts_of_today_are_those_of_the_page_of_claims():
    labels = list(_labels().values())
    counts = ", ".join(f"{labels.count(kind)} {kind}" for kind in KINDS if kind in labels)
    assert f"Now, of {len(labels)} [claims](../reference/claims.md): {counts}.\n" in PAGE


def test_a_label_that_disagrees_is_caught():
    assert [name for name, label in [("warner-ratio", "refuted")] if _labels()[name] != label] == ["warner-ratio"]


@pytest.mark.parametrize("page", ["how-to/add_a_study.md", "../src/bruit_studies/README.md"])
def test_the_rule_for_fairness_stands_where_studies_are_written(page):
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    assert "strongest reading" in text
    assert "not how much better one can do" in text
    assert "two slides later" in text


def test_no_statement_stands_in_quotation_marks():
    assert [claim.id for claim in CLAIMS.values() if re.match(r"[“\"«]", claim.statement)] == []


def test_what_a_listing_implies_is_marked_as_our_reading():
    read = {"cleaning-comparison", "cleaning-bounds", "learning-listing-bounds", "resampled-staircase-ldp"}
    assert {claim.id for claim in CLAIMS.values() if "our reading" in claim.statement} == read


# What the new verdicts are computed from, against other ways to the same numbers.


def test_the_published_number_of_buckets_is_the_best_of_all_up_to_rounding():
    for epoch, first in ((1.0, 0.5), (2.0, 1.0), (4.0, 2.0), (5.0, 3.0)):
        assert published_buckets(first, epoch) == best_buckets(first, epoch) == {1.0: 2, 2.0: 3, 4.0: 7, 5.0: 17}[epoch]


def test_a_report_of_l_grr_has_at_most_the_epsilon_that_is_stated_whatever_the_number_of_values():
    losses = [printed(k).epsilon for k in (2, 3, 10, 50, 1000)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(1.0)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_staircase_noise_alone_loses_epsilon_and_with_steps_that_are_too_short_more(epsilon, monkeypatch):
    assert unbounded_loss(epsilon, printed_gamma(epsilon)) == pytest.approx(epsilon)
    monkeypatch.setattr("bruit_studies.numeric_cleaning.laws._step", lambda distance, gamma: np.floor(2 * distance))
    assert unbounded_loss(epsilon, printed_gamma(epsilon)) == pytest.approx(2 * epsilon)


def test_the_last_line_of_the_proof_is_false_where_the_statement_is_true():
    assert by_the_proof(100, 5, 0.001, "uniform") > empirical_decile(100, 5, 0.001, "uniform").exact
    assert empirical_decile(100, 5, 0.001, "uniform").printed < empirical_decile(100, 5, 0.001, "uniform").exact
    assert (falsified("uniform"), falsified("normal")) == ((162, 648), (288, 648))  # as the proof note has it


def test_queries_that_are_kept_reach_beyond_the_first_copy_as_often_as_nothing_was_above_in_it():
    session = AboveThreshold(epsilon=1 / 9, threshold=270, neighbours="replace")
    once = np.exp(session.law(np.arange(1, 101) * 3).log_probabilities)
    twice = np.exp(session.law(np.tile(np.arange(1, 101) * 3, 9)).log_probabilities)
    assert beyond(300, 100, 9) == pytest.approx(float(once[-1] - twice[-1]), rel=1e-9)


def test_lengths_by_definition_of_a_median_count_records_to_change():
    assert lengths_by_definition((0, 0, 4), 5) == {0: 0, 1: 1, 2: 1, 3: 1, 4: 1}
    assert lengths_by_definition((0, 0, 0), 5) == {0: 0, 1: 2, 2: 2, 3: 2, 4: 2}
