"""Documents detect damage, and files are whole or absent."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit import documents
from bruit.errors import FormatError, LimitError

BODY = {"name": "é", "counts": [1, 2**60], "level": 0.1}

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text().filter(lambda key: key not in ("format", "digest")), plain, max_size=4))
def test_any_body_survives_the_round_trip(body):
    assert documents.unseal(documents.seal("bruit.test/1", body), "bruit.test/1") == body


def test_the_digest_does_not_depend_on_the_order_of_keys_or_on_indentation():
    flipped = dict(reversed(BODY.items()))
    assert documents.digest(BODY) == documents.digest(flipped)
    text = documents.seal("bruit.test/1", BODY, indent=2)
    assert documents.unseal(json.dumps(json.loads(text)), "bruit.test/1")


def test_every_single_character_that_is_cut_off_is_noticed():
    text = documents.seal("bruit.test/1", BODY)
    for end in range(len(text)):
        with pytest.raises(FormatError):
            documents.unseal(text[:end], "bruit.test/1")


@given(st.data())
def test_any_changed_value_is_noticed(data):
    document = json.loads(documents.seal("bruit.test/1", BODY))
    key = data.draw(st.sampled_from(["name", "counts", "level", "digest"]))
    document[key] = data.draw(plain.filter(lambda value: value != document[key]))
    with pytest.raises(FormatError, match="changed or damaged"):
        documents.unseal(json.dumps(document), "bruit.test/1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"format": 3}',
        "\x00",
        b"\xff\xfe",
        '{"a": NaN}',
        "[" * 100_000,
        None,
        3,
        '{"format": "bruit.test/1", "a": 1e400, "digest": ""}',
        '{"format": "bruit.test/1"' * 2,
        '{"format": "bruit.test/1", "a": "\\ud800"}',
        '{"format": "bruit.test/1", "a": "\\ud800", "digest": null}',
    ],
)
def test_what_is_not_a_document_is_refused(text):
    with pytest.raises(FormatError):
        documents.unseal(text, "bruit.test/1")


def test_a_key_that_stands_twice_is_refused():
    text = documents.seal("bruit.test/1", {"a": 1})
    with pytest.raises(FormatError):
        documents.unseal(text.replace('"a": 1', '"a": 2, "a": 1'), "bruit.test/1")


def test_endless_nesting_is_refused():
    nested = "[" * 900 + "]" * 900
    with pytest.raises(FormatError):
        documents.unseal(f'{{"format": "bruit.test/1", "a": {nested}, "digest": "x"}}', "bruit.test/1")


def test_another_version_and_another_format_are_told_apart():
    with pytest.raises(FormatError, match="use another version of bruit"):
        documents.unseal(documents.seal("bruit.test/2", BODY), "bruit.test/1")
    with pytest.raises(FormatError, match=r"a bruit\.test/1 document is needed"):
        documents.unseal(documents.seal("bruit.other/1", BODY), "bruit.test/1")


def test_integers_beyond_two_to_the_53_are_written_as_text_and_read_back():
    body = documents.unseal(documents.seal("bruit.test/1", BODY), "bruit.test/1")
    assert [documents.whole_number(count, "count") for count in body["counts"]] == BODY["counts"]


@pytest.mark.parametrize("bad", ["1.5", "", "--1", "٣", 1.0, None, True])
def test_a_whole_number_is_nothing_else(bad):
    with pytest.raises(FormatError):
        documents.whole_number(bad, "count")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "plan.json"
    documents.write_text(path, "old")

    def fail():
        with documents.replacing(path) as partial:
            partial.write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_kill_left_beside_a_file_is_found_and_nothing_else(tmp_path):
    left = [documents.partial_name(tmp_path / "a[b].csv") for _ in range(2)]
    others = [documents.partial_name(tmp_path / "ab.csv"), tmp_path / ".a[b].csv.backup.partial", tmp_path / "a[b].csv"]
    for file in (*left, *others):
        file.touch()
    assert documents.unfinished(tmp_path / "a[b].csv") == sorted(left)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 900 + "]" * 900,
        '{"format": "bruit.x/1", "a": ' + "9" * 41 + ', "digest": ""}',
        '{"format": "bruit.x/1", "a": -' + "9" * 200_000 + "}",
        '{"format": "bruit.x/1", "a": NaN}',
        '{"format": "bruit.x/1", "a": -Infinity}',
        '{"format": "bruit.x/1", "a": 1e999, "digest": "none"}',
        '{"format": "bruit.x/1", "format": "bruit.x/1"}',
        '{"format": "bruit.x/1", "a": {"b": 1, "b": 2}}',
        b"\xff\xfe\xff",
        '{"format": "bruit.x/1", "a": "\\ud800", "digest": "none"}',
    ],
    ids=range(12),
)
def test_bombs_and_what_no_writer_leaves_are_refused_and_nothing_of_them_is_kept(text):
    with pytest.raises(FormatError) as caught:
        documents.unseal(text, "bruit.x/1")
    assert caught.value.__context__ is None


def test_a_document_may_ask_for_so_much_work_and_no_more() -> None:
    documents.work(10**9)  # outside of a document nothing is limited
    with documents.reading():
        documents.work(documents.MOST_WORK)
        with pytest.raises(LimitError, match=r"more than 0\.5 s of computation"):
            documents.work(1)
    with documents.reading(1000):
        documents.work(documents.MOST_WORK + 1000)
    documents.work(10**9)


def test_what_a_part_of_a_document_asks_for_counts_for_the_whole() -> None:
    with documents.reading():
        for _ in range(2):
            with documents.reading(10**9):
                documents.work(documents.MOST_WORK // 2)
        with pytest.raises(LimitError):
            documents.work(2)
