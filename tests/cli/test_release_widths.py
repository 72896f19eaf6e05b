"""`bruit release` with widths in place of ε."""

import pytest

from bruit.releases import Count

from .test_release import BOOK, people  # noqa: F401 # a fixture


@pytest.mark.usefixtures("people")
def test_a_width_takes_the_place_of_epsilon_and_is_what_readers_get(run):
    foreseen = run("release", "people.csv", "--statistic", "count: within=50", "--dry-run")
    assert "0.05931" in foreseen.out
    assert "within" in foreseen.out
    told = run("release", "people.csv", "--statistic", "count: within=50", *BOOK)
    assert f"ε = {Count(within=50).epsilon:.6f} of 1.0 spent" in told.out
    row = next(line for line in told.out.splitlines() if line.startswith("count "))
    value, low, high = (int(row.replace(",", "").split()[place]) for place in (1, 3, 5))
    assert (value - low, high - value) == (50, 50)


@pytest.mark.usefixtures("people")
def test_widths_and_epsilon_together_and_what_is_refused(run):
    mixed = run(
        "release", "people.csv", "--statistic", "count: within=50", "--mean", "age=0..120", "-e", 0.5, "--dry-run"
    )
    assert "0.4407" in mixed.out
    refused = run("release", "people.csv", "--statistic", "count: within=2", "-e", 0.5, code=2)
    assert "count within 6" in refused.err
    refused = run("release", "people.csv", "--statistic", "mean: age=0..120 within=0.5", code=2)
    assert "-n 1000" in refused.err
    refused = run("release", "people.csv", "--statistic", "count: within=50", "--count", code=2)
    assert "--epsilon" in refused.err
    run("release", "people.csv", "--statistic", "mean: age=0..120 within=0.5", "-n", 4000, "--dry-run")
