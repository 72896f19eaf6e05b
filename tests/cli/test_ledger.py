"""`bruit ledger new`: a ledger with a budget of ε and δ, or of ρ."""

from __future__ import annotations

import pytest

from bruit.privacy import Ledger


def test_a_ledger_starts_with_the_budget_that_is_declared(run, tmp_path):
    assert "ε = 2" in run("ledger", "new", "plain.ledger", "-e", 2).out
    run("ledger", "new", "both.ledger", "-e", 2, "--delta", 1e-6, "--neighbours", "person-add-remove")
    run("ledger", "new", "rho.ledger", "--rho", 0.02)
    run("ledger", "new", "zcdp.ledger", "-e", 1, "--delta", 1e-6, "--zcdp")
    plain, both, rho, zcdp = (Ledger.open(tmp_path / f"{name}.ledger") for name in ("plain", "both", "rho", "zcdp"))
    assert (plain.promise.epsilon, plain.promise.delta, plain.rho) == (2.0, 0.0, None)
    assert (both.promise.delta, both.neighbours) == (1e-6, "person-add-remove")
    assert rho.rho == 0.02
    assert zcdp.rho is not None
    assert zcdp.promise.epsilon <= 1.0


def test_releases_are_booked_in_it(run, tmp_path):
    (tmp_path / "people.csv").write_text("sex\n" + "F\nM\n" * 50)
    run("ledger", "new", "my.ledger", "--rho", 0.02)
    run("release", "people.csv", "--count", "-e", 0.1, "--ledger", "my.ledger")
    assert len(Ledger.open(tmp_path / "my.ledger")) == 1
    other = run(
        "release", "people.csv", "--count", "-e", 0.1, "--ledger", "my.ledger", "--person", "sex:rows=1", code=5
    )
    assert "person-add-remove" in other.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "give --epsilon 1, or --rho 0.02"),
        (("-e", 1, "--rho", 0.1), "give --epsilon 1, or --rho 0.02"),
        (("-e", 0), "--epsilon must be"),
        (("-e", 1, "--delta", 2), "--delta must be"),
        (("-e", 1, "--zcdp"), "give --epsilon 1 --delta 1e-6"),
        (("--rho", 0.1, "--zcdp"), "give --epsilon 1 --delta 1e-6"),
        (("-e", 1, "--neighbours", "friends"), "--neighbours must be one of"),
    ],
)
def test_what_is_no_budget_is_refused_and_nothing_is_written(run, tmp_path, options, words):
    assert words in " ".join(run("ledger", "new", "my.ledger", *options, code=2).err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_is_never_replaced(run, tmp_path):
    run("ledger", "new", "my.ledger", "-e", 1)
    before = (tmp_path / "my.ledger").read_bytes()
    assert "bruit ledger show my.ledger" in run("ledger", "new", "my.ledger", "-e", 5, code=2).err
    assert (tmp_path / "my.ledger").read_bytes() == before
    assert "does not exist" in run("ledger", "new", "nowhere/my.ledger", "-e", 5, code=2).err
