"""The digest of a table's bytes: for its owner alone, in one file, and in agreement only with the same bytes."""

import json
import os

import pytest

from bruit import documents
from bruit.engines import TextOptions
from bruit.errors import FormatError, LedgerError
from bruit.privacy import Ledger
from bruit.releases import Count, Release, publish_once
from bruit.releases.sources import SourceRecords

USUAL = TextOptions()


@pytest.fixture
def ledger(tmp_path):
    (tmp_path / "t.csv").write_text("age\n31\n40\n")
    return Ledger.open(tmp_path / "t.ledger", epsilon=5.0)


def test_the_same_bytes_at_the_same_place_agree_and_nothing_else(ledger, tmp_path):
    kept = publish_once(Release(Count(epsilon=0.5)), tmp_path / "t.csv", ledger)
    records = SourceRecords.of(ledger)
    name = kept.path.name
    assert records.agrees(name, records.mark(tmp_path / "t.csv", USUAL))
    assert not records.agrees(name, records.mark(tmp_path / "t.csv", TextOptions(delimiter=";")))
    (tmp_path / "copy.csv").write_bytes((tmp_path / "t.csv").read_bytes())
    assert not records.agrees(name, records.mark(tmp_path / "copy.csv", USUAL))
    (tmp_path / "t.csv").write_text("age\n31\n41\n")
    assert not records.agrees(name, records.mark(tmp_path / "t.csv", USUAL))
    assert records.mark({"age": [1]}, USUAL) is None
    assert records.mark(tmp_path, USUAL) is None


def test_key_and_digest_are_in_a_file_of_mode_600_and_nowhere_else(ledger, tmp_path):
    kept = publish_once(Release(Count(epsilon=0.5)), tmp_path / "t.csv", ledger)
    records = SourceRecords.of(ledger)
    assert records.path.stat().st_mode & 0o777 == 0o600
    secrets = [records.key.hex(), records.draws[kept.path.name]["digest"]]
    for path in (kept.path, tmp_path / "t.ledger"):
        assert not any(secret in path.read_text() for secret in secrets)
    assert not any(secret in repr(records) for secret in secrets)
    records.path.chmod(0o640)
    with pytest.raises(LedgerError, match="chmod 600"):
        SourceRecords.of(ledger)


def test_frames_and_seeds_leave_no_digest(ledger, tmp_path):
    publish_once(Release(Count(epsilon=0.5)), {"age": [1, 2]}, ledger)
    assert not SourceRecords.of(ledger).path.exists()
    kept = publish_once(Release(Count(epsilon=0.25)), tmp_path / "t.csv", ledger, rng=7)
    assert kept.path.name not in SourceRecords.of(ledger).draws


def test_a_file_that_changes_while_it_is_read_leaves_no_digest(ledger, tmp_path):
    records = SourceRecords.of(ledger)
    mark = records.mark(tmp_path / "t.csv", USUAL)
    os.utime(tmp_path / "t.csv", ns=(1, 1))
    records.record("count.json", mark)
    assert records.draws == {}


@pytest.mark.parametrize("damage", [{"key": "00"}, {"draws": []}, {"refined": 3}, {"draws": {"a": {"digest": "x"}}}])
def test_a_damaged_file_is_refused_with_what_to_do(ledger, tmp_path, damage):
    publish_once(Release(Count(epsilon=0.5)), tmp_path / "t.csv", ledger)
    path = SourceRecords.of(ledger).path
    body = {**json.loads(path.read_text()), **damage}
    body.pop("digest")
    path.write_text(documents.seal("bruit.sources/1", body))
    with pytest.raises(FormatError, match="damaged"):
        SourceRecords.of(ledger)


def test_a_ledger_by_another_name_has_the_same_records(tmp_path):
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "a.ledger", tmp_path / "link.ledger"
    Ledger.open(real, epsilon=1.0)
    link.symlink_to(real)
    assert SourceRecords.beside(link).path == SourceRecords.beside(real).path == real.with_name("a.ledger.sources")
