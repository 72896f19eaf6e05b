"""Widths in a publication file: each statistic takes its least ε or ρ, and the others share what is left."""

import pytest

from bruit.errors import ParameterError
from bruit.publications import Publication
from bruit.releases import Count, Mean, Within

HEAD = 'title = "T"\ntable = "t.csv"\nledger = "t.ledger"\nexpected_rows = 1000\n'
COUNT = '[[statistic]]\nname = "people"\nkind = "count"\nwithin = 50\n'
MEAN = '[[statistic]]\nname = "age"\nkind = "mean"\nof = "age=0..100"\n'


def opened(tmp_path, text):
    (tmp_path / "plan.toml").write_text(text)
    return Publication.load(tmp_path / "plan.toml")


def test_without_an_epsilon_the_publication_costs_what_its_widths_need(tmp_path):
    plan = opened(tmp_path, HEAD + COUNT + MEAN + "within = 0.5\n")
    count, mean = Count(within=50), Mean("age", bounds=(0, 100), within=Within(0.5, n=1000))
    assert plan.shares == {"people": (count.epsilon, 0.0), "age": (mean.epsilon, 0.0)}
    assert plan.guarantee.epsilon == pytest.approx(count.epsilon + mean.epsilon)
    assert "within" in str(plan.prospects())


def test_others_share_what_is_left(tmp_path):
    plan = opened(tmp_path, "epsilon = 1.0\n" + HEAD + COUNT + MEAN)
    assert plan.shares["age"][0] == pytest.approx(1 - Count(within=50).epsilon)
    assert plan.guarantee.epsilon <= 1


def test_widths_out_of_reach_are_refused_with_what_could_be_had(tmp_path):
    with pytest.raises(ParameterError, match=r"there is 0\.1.*people within \d+, age within"):
        opened(tmp_path, "epsilon = 0.1\n" + HEAD + COUNT + MEAN + "within = 0.5\n")


def test_widths_in_rho_take_the_noise_that_costs_less(tmp_path):
    plan = opened(tmp_path, "rho = 0.5\n" + HEAD + COUNT + MEAN + "within = 0.5\n")
    assert all(delta for _, delta in plan.shares.values())
    assert plan.rho_shares["people"] < Count(within=50).epsilon ** 2 / 2
    assert plan.guarantee.epsilon < 3  # of what is spent, not of all that could be
    with pytest.raises(ParameterError, match="need ρ"):
        opened(tmp_path, "rho = 0.01\n" + HEAD + COUNT + MEAN + "within = 0.5\n")


def test_a_delta_is_used_where_it_costs_less(tmp_path):
    zones = '[[statistic]]\nname = "zones"\nkind = "histogram"\nof = "zone=a,b,c"\nwithin = 50\n'
    people = '[person]\ncolumn = "id"\nrows = 60\ngroups = 60\nrows_per_group = 1\n'
    by = f'by = "zone={",".join(f"z{i}" for i in range(60))}"\n'
    wide = (COUNT + by + zones).replace("within = 50", "within = 500")
    plan = opened(tmp_path, "delta = 1e-6\n" + HEAD + people + wide)
    alone = opened(tmp_path, HEAD + people + wide)
    assert plan.shares["people"][1] > 0
    assert plan.guarantee.epsilon < alone.guarantee.epsilon
    assert sum(delta for _, delta in plan.shares.values()) <= 1e-6


def test_a_mean_needs_the_number_of_rows(tmp_path):
    with pytest.raises(ParameterError, match=r"'age'.*expected_rows"):
        opened(tmp_path, HEAD.replace("expected_rows = 1000\n", "") + MEAN + "within = 0.5\n")
