"""Averaging and change detection: they win over reports that are drawn anew, and stop at the memo."""

import math

import pytest

import bruit
from bruit.attacks import averaging, change_detection
from bruit.errors import ParameterError, ParameterTypeError
from bruit.oracles import Repeated

ORACLES = ["GRR", "SS", "OUE", "OLH", "HR"]
N = 1500


def panel(name, first=1.0, epoch=2.0, k=10):
    return Repeated(bruit.oracle(name, epsilon=first, k=k), epoch)


@pytest.mark.parametrize("name", ORACLES)
def test_averaging_names_nearly_everybody_who_draws_anew_and_stops_at_the_limit_of_a_memo(name):
    attack = averaging(panel(name), rounds=[1, 100], n=N, rng=1)
    deviation = 6 * math.sqrt(0.25 / N)
    assert attack.redrawn[-1].accuracy > 0.85
    assert attack.memoised[-1].accuracy < attack.limit + deviation
    # Control: the limit is passed by reports that are drawn anew, and would be noticed.
    assert attack.redrawn[-1].accuracy > attack.limit + deviation
    # One report is one report, with or without a memo.
    assert abs(attack.redrawn[0].accuracy - attack.memoised[0].accuracy) < 2 * deviation
    assert attack.limit <= math.exp(2.0) / (math.exp(2.0) + 9) + 1e-9


def test_where_an_epoch_is_one_report_more_rounds_tell_nothing():
    attack = averaging(panel("GRR", 1.0, 1.0), rounds=[1, 20], n=N, rng=2)
    assert attack.memoised[0].hits == attack.memoised[1].hits


def test_a_change_is_told_where_a_memo_follows_it_and_not_where_the_memo_stays():
    table = change_detection(panel("GRR", 2.0, 4.0), rounds=16, n=N, rng=3).to_dict()["attacks"]
    rates = {row["attack"]: row["rate"] for row in table}
    deviation = 6 * math.sqrt(0.25 / N)
    assert abs(rates["one memo in the epoch"] - 0.5) < deviation
    assert rates["a memo for every answer"] > 0.5 + deviation
    assert rates["fresh noise in every report"] > 0.5 + deviation


def test_parameters_are_checked():
    with pytest.raises(ParameterTypeError, match="Repeated"):
        averaging(bruit.oracle("GRR", epsilon=1.0, k=3), rounds=[1])
    with pytest.raises(ParameterError, match="increasing"):
        averaging(panel("GRR"), rounds=[4, 1])
    with pytest.raises(ParameterError, match="even number"):
        change_detection(panel("GRR"), rounds=3)


def test_a_seed_gives_the_same_attack_again():
    first, second = (averaging(panel("GRR"), rounds=[3], n=50, rng=4) for _ in range(2))
    assert first.table().to_dict() == second.table().to_dict()
