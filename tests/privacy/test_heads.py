"""Signed heads: a ledger that was rolled back, forked, edited or written anew is seen against a copy of its head."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bruit import documents
from bruit.errors import FormatError, LedgerError, ParameterError
from bruit.privacy import Guarantee, Ledger, SignedHead, create_keys
from bruit.privacy.ledger import storage

TENTH = Guarantee(epsilon=0.1, neighbours="add-remove")


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    return create_keys(tmp_path / "steward.key")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger.open(tmp_path / "study.ledger", epsilon=1.0)
    for number in range(3):
        ledger.spend(TENTH, f"release {number}")
    return ledger


def _path(ledger: Ledger) -> Path:
    assert ledger.path is not None
    return ledger.path


def _replaced(ledger: Ledger, content: bytes) -> Ledger:
    """The ledger that whoever opens the file anew sees."""
    _path(ledger).unlink()
    _path(ledger).write_bytes(content)
    return Ledger.open(_path(ledger))


def _rewritten(ledger: Ledger, change: str) -> bytes:
    """Another history, with digests that match."""
    lines = _path(ledger).read_bytes().splitlines(keepends=True)
    _, last = storage.read_header(lines[:1])
    content, previous = lines[0], last
    for number, line in enumerate(lines[1:], 2):
        body, last = storage.read_entry(line, number, last)
        new = storage.entry_line({**body, "label": body["label"].replace("release 1", change)}, previous)
        previous = json.loads(new)["digest"]
        content += new
    return content


def test_a_ledger_that_only_grew_passes_and_says_by_how_much(ledger, keys):
    private, public = keys
    signed = ledger.head.sign(private)
    assert signed.check(ledger, public) == 0
    ledger.spend(TENTH, "one more")
    assert signed.check(Ledger.open(_path(ledger)), public) == 1
    assert ledger.head_at(3) == signed.head
    assert ledger.head_at(0).last == ledger.head_at(0).ledger == signed.head.ledger


def test_an_empty_ledger_has_a_head(tmp_path, keys):
    empty = Ledger.open(tmp_path / "empty.ledger", epsilon=1.0)
    assert empty.head.sign(keys[0]).check(empty, keys[1]) == 0


def test_a_rollback_is_seen(ledger, keys):
    older = _path(ledger).read_bytes()
    ledger.spend(TENTH, "one more")
    signed = ledger.head.sign(keys[0])
    with pytest.raises(LedgerError, match=r"Rolled back: the ledger has 3 entries, and had 4 when"):
        signed.check(_replaced(ledger, older), keys[1])


def test_a_fork_is_seen_also_where_it_has_as_many_entries_or_more(ledger, keys):
    older = _path(ledger).read_bytes()
    ledger.spend(TENTH, "on this side")
    signed = ledger.head.sign(keys[0])
    other = _replaced(ledger, older)
    other.spend(TENTH, "on that side")
    other.spend(TENTH, "and on")
    with pytest.raises(LedgerError, match=r"Another history: the first 4 entries of the ledger are not those"):
        signed.check(other, keys[1])


def test_an_edit_with_matching_digests_is_seen_and_without_a_head_it_is_not(ledger, keys):
    signed = ledger.head.sign(keys[0])
    content = _rewritten(ledger, "release 1")
    assert content == _path(ledger).read_bytes()  # the twin that changes nothing
    other = _replaced(ledger, _rewritten(ledger, "nothing much"))
    assert other.entries[1].label == "nothing much"  # the chain alone believes it
    with pytest.raises(LedgerError, match="Another history"):
        signed.check(other, keys[1])


def test_a_ledger_with_another_budget_is_seen(tmp_path, ledger, keys):
    signed = ledger.head.sign(keys[0])
    other = Ledger.open(tmp_path / "other.ledger", epsilon=2.0)
    with pytest.raises(LedgerError, match="another ledger"):
        signed.check(other, keys[1])


def test_a_plain_edit_is_damage_as_before(ledger, keys):
    signed = ledger.head.sign(keys[0])
    content = _path(ledger).read_bytes().replace(b"release 1", b"release 7")
    with pytest.raises(FormatError, match="Line 3"):
        signed.check(_replaced(ledger, content), keys[1])


def test_an_edit_while_the_ledger_is_open_is_seen(ledger, keys):
    signed = ledger.head.sign(keys[0])
    content = _path(ledger).read_bytes().replace(b"release 1", b"release 7")
    _path(ledger).write_bytes(content)  # the same file, as long as before
    with pytest.raises(FormatError, match="Line 3"):
        signed.check(ledger, keys[1])


def test_only_the_trusted_key_counts(tmp_path, ledger, keys):
    _, stranger = create_keys(tmp_path / "stranger.key")
    signed = ledger.head.sign(keys[0])
    with pytest.raises(LedgerError, match=r"not signed with the key of stranger\.key\.pub"):
        signed.check(ledger, stranger)


@pytest.mark.parametrize("field", ["entries", "last", "ledger", "time", "signature"])
def test_a_head_that_was_changed_is_refused(ledger, keys, field):
    signed = ledger.head.sign(keys[0])
    body = json.loads(signed.to_json())
    change = {"entries": 2, "time": "2020-01-01T00:00:00+00:00"}.get(field, "0" * len(str(body[field])))
    del body["digest"], body["format"]
    forged = SignedHead.from_json(documents.seal("bruit.ledger-head/1", {**body, field: change}))
    with pytest.raises(LedgerError, match="signature of this head is not true"):
        forged.check(ledger, keys[1])


def test_a_head_survives_its_file_and_damage_does_not(tmp_path, ledger, keys):
    signed = ledger.head.sign(keys[0])
    signed.save(tmp_path / "head.json")
    assert SignedHead.load(tmp_path / "head.json") == signed
    text = signed.to_json()
    for wrong in (text[:-20], text.replace(signed.key, "0" * 64), "[]", "{}", text.replace("/1", "/2")):
        with pytest.raises(FormatError):
            SignedHead.from_json(wrong)
    body = {name: value for name, value in json.loads(text).items() if name not in ("digest", "format")}
    for change in ({"key": "zz"}, {"entries": -1}, {"entries": "many"}, {"time": 5}, {"more": 1}):
        with pytest.raises(FormatError):
            SignedHead.from_json(documents.seal("bruit.ledger-head/1", {**body, **change}))
    with pytest.raises(FormatError, match="cannot be read"):
        SignedHead.load(tmp_path / "nowhere")


def test_keys_are_never_replaced_and_the_private_one_is_for_its_owner(tmp_path, keys):
    private, public = keys
    assert private.stat().st_mode & 0o777 == 0o600
    before = private.read_bytes(), public.read_bytes()
    with pytest.raises(ParameterError, match="never replaced"):
        create_keys(private)
    assert (private.read_bytes(), public.read_bytes()) == before
    with pytest.raises(LedgerError, match="existing folder"):
        create_keys(tmp_path / "nowhere" / "key")


def test_what_is_no_key_is_refused(tmp_path, ledger, keys):
    other = rsa.generate_private_key(65537, 2048)
    (tmp_path / "rsa.key").write_bytes(
        other.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 100)
    for name in ("rsa.key", "noise", "steward.key.pub"):
        with pytest.raises(ParameterError, match="is not a private key"):
            ledger.head.sign(tmp_path / name)
    signed = ledger.head.sign(keys[0])
    for name in ("noise", "steward.key"):
        with pytest.raises(ParameterError, match="is not a public key"):
            signed.check(ledger, tmp_path / name)
    with pytest.raises(ParameterError, match="cannot be read"):
        signed.check(ledger, tmp_path / "nowhere")


def test_a_ledger_in_memory_has_no_head():
    with pytest.raises(LedgerError, match=r"in a file, with Ledger\.open"):
        _ = Ledger(1.0).head
