"""`bruit ledger keys`, `sign` and `check`: a rollback of the file is seen against a head that was kept."""

from __future__ import annotations

import re

RELEASE = ("release", "people.csv", "--count", "-e", 0.25, "--ledger", "study.ledger", "--budget", 1, "--again")


def test_a_head_is_signed_checked_and_sees_a_rollback(run, tmp_path):
    (tmp_path / "people.csv").write_text("x\nno\nyes\n")
    run(*RELEASE)
    older = (tmp_path / "study.ledger").read_bytes()
    made = run("ledger", "keys", "steward.key").out
    assert "steward.key.pub: the public key. Give it to those who check." in made
    run(*RELEASE)
    signed = run("ledger", "sign", "study.ledger", "--key", "steward.key", "-o", "march.head").out
    assert "march.head: 2 entries of study.ledger, signed. Keep it elsewhere." in signed
    run(*RELEASE)
    checked = run("ledger", "check", "study.ledger", "march.head", "--key", "steward.key.pub").out
    assert re.fullmatch(
        r"All 2 entries of \S+ are there, unchanged, and 1 entry more\.\n", checked.replace("\n", " ").strip() + "\n"
    )

    (tmp_path / "study.ledger").write_bytes(older)
    refused = run("ledger", "check", "study.ledger", "march.head", "--key", "steward.key.pub", code=5)
    assert "Rolled back" in refused.err
    assert "Traceback" not in refused.err


def test_nothing_is_replaced(run, tmp_path):
    (tmp_path / "people.csv").write_text("x\nno\n")
    run(*RELEASE)
    run("ledger", "keys", "steward.key")
    before = (tmp_path / "study.ledger").read_bytes()
    refused = run("ledger", "sign", "study.ledger", "--key", "steward.key", "-o", "study.ledger", code=2)
    assert "write to another name" in refused.err
    assert (tmp_path / "study.ledger").read_bytes() == before
    assert "never replaced" in run("ledger", "keys", "steward.key", code=2).err


def test_a_ledger_that_is_not_there_is_not_started(run, tmp_path):
    run("ledger", "keys", "steward.key")
    refused = run("ledger", "sign", "nowhere", "--key", "steward.key", "-o", "head", code=4)
    assert "There is no ledger nowhere" in refused.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["steward.key", "steward.key.pub"]
