"""The panel of Montana: the stated loss is a real one, the file is optional, and trials measure what they say."""

import gzip
import math

import numpy as np
import pytest

from bruit.entropy import Entropy
from bruit.errors import FormatError
from bruit.oracles import RandomizedResponse, Repeated
from bruit_studies import Skipped, montana, rounds


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A made-up panel of 400 people whose weights go around; everybody has 20 values, four rounds each."""
    table = (np.arange(400)[:, None] + np.arange(montana.ROUNDS)) % 20 * 13
    header = ",".join(f"PWGTP{place}" for place in range(1, montana.ROUNDS + 1))
    lines = [header, *(",".join(map(str, row)) for row in table.tolist()), ""]
    path = tmp_path / montana.FILE
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    monkeypatch.setenv(montana.VARIABLE, str(tmp_path))
    return path


@pytest.mark.parametrize("history", [(1, 2, 1), (1, 1, 1), (1, 2, 2), (0, 1, 2), (0, 0, 1)])
def test_the_loss_beside_somebody_who_never_changes_is_that_of_the_definition(history):
    panel = Repeated(RandomizedResponse(epsilon=0.5, k=3), 1.0, follow_changes=True)
    laws = [rounds._joint(values, 3, 1.0, 1 - float(panel.keep)) for values in ((0, 0, 0), (2, 2, 2), history)]
    times = np.unique(history, return_counts=True)[1]
    other = 2 if history == (0, 0, 1) else 0
    place = (other,) * 3
    exact = math.log(laws[other // 2][place] / laws[2][place])
    assert montana.loss_against_one_value(panel, times) == pytest.approx(exact, abs=1e-9)
    assert exact <= panel.after(3).epsilon


@pytest.mark.parametrize("method", montana.METHODS)
def test_a_trial_measures_the_cost_and_the_error_of_a_way_of_asking(method, file):
    metrics = montana.trial(method=method, width=25, first=1.0, epoch=2.0, rng=Entropy(7))
    k = montana.TOP // 25 + 1
    assert metrics["values"] == k
    assert metrics["changes"] > 0.4
    assert metrics["claimed"] <= metrics["cost"] <= metrics["bound"]
    epsilon = metrics["cost"] / montana.ROUNDS if method == "thrifty" else 1.0
    oracle = RandomizedResponse(epsilon=epsilon, k=k)
    assert metrics["error"] == pytest.approx(math.sqrt(oracle.typical_variance(1 / k, 400)), rel=0.3)


def test_epochs_cost_a_tenth_of_reports_that_are_drawn_anew(file):
    redrawn, epochs = (
        montana.trial(method=method, width=25, first=1.0, epoch=2.0, rng=Entropy(7)) for method in ("redrawn", "epochs")
    )
    assert redrawn["cost"] == pytest.approx(80)
    assert epochs["cost"] == pytest.approx(8, abs=1e-6)


def test_every_weight_that_occurs_is_a_value_of_the_paper(file):
    values, k = montana.people(1)
    assert (values.shape, k) == ((400, montana.ROUNDS), 20)


@pytest.mark.parametrize("place", ["", ".", "nothing.csv"])
def test_without_the_file_trials_are_skipped_and_the_reason_names_the_variable(place, tmp_path, monkeypatch):
    monkeypatch.setenv(montana.VARIABLE, str(tmp_path / place) if place else "")
    with pytest.raises(Skipped, match="set BRUIT_DATA to acs_pwgtp_MT_2018"):
        montana.people(1)


def test_a_file_with_other_columns_is_refused(file):
    file.write_text("a,b\n1,2\n")
    with pytest.raises(FormatError, match="must have the columns PWGTP1"):
        montana.people(1)
