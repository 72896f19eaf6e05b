"""A store is hostile input: whatever stands in it, a command reads it or refuses it, and changes no other file."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from bruit.cli.app import app
from bruit.cli.survey import app as survey_app
from bruit.collector import Outcome, open_store, open_survey, rows
from bruit.collector import sqlite as sqlite_module
from bruit.collector.demo import running
from bruit.collector.intake import _Waiting, commit
from bruit.collector.open_survey import OpenSurvey, link_hash
from bruit.collector.serving import Listening
from bruit.collector.sql import TABLES
from bruit.errors import BruitError, FormatError
from bruit.survey import PersonalLink, Survey, wording

sys.path.insert(0, str(Path(__file__).parent))
from serving import post, request

from ..survey.test_language import WORKED as GERMAN
from ..surveys import ALCOHOL, ASSIGNED, OPEN, opened_in

#: Every command that reads a store, and its words; a name in capitals stands for a path or the store.
COMMANDS = {
    "results": ("results", "NAME", "--store", "STORE"),
    "export": ("export", "NAME", "--to", "OUT/export", "--store", "STORE"),
    "close": ("close", "NAME", "--no-all", "--store", "STORE"),
    "delete": ("delete", "NAME", "--yes", "--store", "STORE"),
    "links": ("links", "NAME", "--number", "2", "--address", "https://x", "--store", "STORE", "--slips", "OUT/s.html"),
    "backup": ("backup", "OUT/copy.sqlite", "--store", "STORE"),
    "page": ("page", "FILE", "-o", "OUT/page.html", "--store", "STORE", "--name", "NAME"),
    "open": ("open", "FILE", "--no-serve", "--name", "NAME", "--store", "STORE"),
    "collect": ("collect", "FILE", "-", "--name", "NAME", "--store", "STORE"),
}  # fmt: skip
#: Answers to the survey in rotation.
OWN = {"smokes": "Yes", "sport": "often"}
#: How a command may end: well, or with a refusal. 70 is a defect.
REFUSALS = (2, 3, 4)
NAMES = ("alcohol", "linked")
#: The columns of all tables with their types, from the statements that make them.
COLUMNS = [
    (table, *re.match(r"\s*(\w+) (\S+)", column).groups())
    for table, body in re.findall(r"CREATE TABLE \{(\w+)\} \((.*?)\n\)", TABLES, re.DOTALL)
    for column in body.partition(", PRIMARY KEY (")[0].split(",")
]
#: What bruit writes into a column of each type.
KINDS = {"TEXT": "text", "{flag}": "integer", "{bytes}": "blob", "{number}": "integer", "INTEGER": "integer"}


class Place(NamedTuple):
    """Folders of a test: where the store is, where commands write to, and what nobody may change."""

    store: str
    file: Path
    out: Path
    victims: Path


@pytest.fixture
def place(tmp_path, monkeypatch) -> Place:
    """A home, a temporary folder and a working folder with files that must stay as they are."""
    victims = tmp_path / "victims"
    for name in ("tmp", "home", "work"):
        (victims / name).mkdir(parents=True)
        (victims / name / "victim.txt").write_text("mine")
    for name, folder in (("TMPDIR", "tmp"), ("HOME", "home")):
        monkeypatch.setenv(name, str(victims / folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(victims / "work")
    for name in ("store", "out"):
        (tmp_path / name).mkdir()
    file = tmp_path / "alcohol.toml"
    file.write_text(ALCOHOL, encoding="utf-8")
    return Place(str(tmp_path / "store" / "surveys.sqlite"), file, tmp_path / "out", victims)


#: The link of a survey with links that nobody used.
LAST = PersonalLink("linked13xxxxxxxxxxxxxxxx")


def _fill(address: str, file: Path) -> None:
    """Two surveys with answers, one of them by links."""
    store = open_store(address)
    for name in NAMES:
        own = opened_in(store, file, name, links=name == "linked", opening="first")
        tokens = [f"{name}{i:02}xxxxxxxxxxxxxxxx" for i in range(14)]
        store.add_links(name, [link_hash(token) for token in tokens] if name == "linked" else [])
        bodies = [
            own.survey.answer(
                {"drinks": "Yes", "class": "AB"[i % 2]}, link=PersonalLink(token).text if name == "linked" else ""
            )
            for i, token in enumerate(tokens[:-2])
        ]
        assert {*commit(store, [_Waiting(own, own.read(body), None) for body in bodies])} == {Outcome.COUNTED}
    store.disconnect()


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> bytes:
    """The file of a good store."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "alcohol.toml").write_text(ALCOHOL, encoding="utf-8")
    _fill(str(folder / "surveys.sqlite"), folder / "alcohol.toml")
    return (folder / "surveys.sqlite").read_bytes()


# What stands in a store.


def documents(victims: Path) -> Iterator[str]:
    """Documents of a survey: other paths as names, other values, and documents that cost."""
    good = {"survey.toml": ALCOHOL}
    paths = [str(victims / "work" / "victim.txt"), "../victim.txt", "../../home/victim.txt", "..", "a/b.toml", "", "\0"]
    for name in [*paths, "de.toml", "survey.toml/x", "SURVEY.TOML", "x" * 5_000]:
        yield json.dumps({**good, name: "written"})
        yield json.dumps({name: ALCOHOL})
    yield from map(json.dumps, (None, 1, [], {}, {"survey.toml": 1}, {"survey.toml": None}, [ALCOHOL]))
    yield json.dumps({"survey.toml": "\ud800"})
    for old, new in (
        ("Alcohol at school", "\\u001b[2J"),
        ("Alcohol at school", "<script>alert(1)</script>\u202e"),
        ('["A", "B"]', '["\\u001b[31m", "B"]'),
        ("title =", '"\\u001b]0;x" = 1\ntitle ='),
        ("title =", 'languages = ["\\u001b[2J"]\ntitle ='),
        ("title =", 'languages = ["../../../../etc/x"]\ntitle ='),
        ("epsilon = 1.0", "epsilon = nan"),
        ("people = 30", f"people = {'9' * 5_000}"),
        ("shown_from = 10", f"shown_from = {'9' * 4_000}"),
        ('["A", "B"]', '["x"' + ', "x"' * 100_000 + "]"),
        ("title =", f"{'a.' * 200_000}a = 1\ntitle ="),
        ("title =", f"a = {'[' * 100_000}\ntitle ="),
    ):
        yield json.dumps({"survey.toml": ALCOHOL.replace(old, new)})
    yield "[" * 100_000
    yield "{" + '"a":1,' * 100_000
    yield json.dumps({f"x{number}.toml": "" for number in range(50_000)} | good)


#: Expressions of SQL with what they stand for.
VALUES: list[tuple[str, Any]] = [
    *(("?", value) for value in (None, 0, 1, -1, 2, 7, 2**31, 2**63 - 1, -(2**63), 0.0, 1.5, -1e308, 1e308)),
    *(("?", value) for value in ("", "x", "0", "alcohol", "../../victim", "\x1b[2J", "a\0b", "<b>x", "é", "\u202e")),
    *(("?", value) for value in (b"", b"x", b"\0" * 32, b"\xff" * 33)),
    *((f"CAST(x'{text}' AS TEXT)", None) for text in ("ff", "eda080", "00", "61ff62")),
    ("zeroblob(6000000)", None),
    ("printf('%.*c', 2000000, 'x')", None),
]  # fmt: skip


def put(path: Path, table: str, column: str, value: tuple[str, Any], survey: str) -> str | None:
    """Put a value into a row of a survey; the type under which it is kept, or None where a key keeps it out."""
    expression, content = value
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        (statement,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = ?", (table,))
    key = "name" if table == "surveys" else "survey"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        first = f"SELECT * FROM {table} WHERE {key} = ? LIMIT 1"
        row = connection.execute(first, (survey,)).fetchone()
        names = [description[0] for description in connection.execute(f"SELECT * FROM {table} LIMIT 0").description]
        where = " AND ".join(f"{name} IS ?" for name in names)
        values = () if content is None and expression != "?" else (content,)
        try:
            connection.execute(f"UPDATE {table} SET {column} = {expression} WHERE {where}", (*values, *row))
        except sqlite3.IntegrityError:
            return None
        kinds = {kind for (kind,) in connection.execute(f"SELECT typeof({column}) FROM {table}")}
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (statement, table))
        (kept,) = connection.execute(f"SELECT typeof({expression})", values).fetchone()
    return kept if kept in kinds else next(iter(kinds))


# The law.


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All files below a folder with their contents and times."""
    files = {path: path.lstat() for path in sorted(folder.rglob("*"))}
    return {
        str(path): (state.st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path, state in files.items()
    }


def refusal(place: Place, command: str, name: str) -> str | None:
    """Run a command, or count a report; what it says in refusal, None if it ends well. All else breaks the law."""
    before = snapshot(place.victims)
    if command == "answer":
        message = _answer(place, name)
    else:
        words = [
            word.replace("NAME", name).replace("STORE", place.store).replace("FILE", str(place.file))
            .replace("OUT", str(place.out))
            for word in COMMANDS[command]
        ]  # fmt: skip
        result = CliRunner().invoke(app, ["survey", *words], env={"COLUMNS": "200", "NO_COLOR": "1"})
        assert result.exit_code in (0, *REFUSALS), (command, result.exit_code, result.output[-300:])
        assert "Traceback" not in result.output
        assert "\x1b" not in result.output
        assert "\u202e" not in result.output
        message = result.output if result.exit_code else None
    assert snapshot(place.victims) == before, "a file of whoever looks was changed"
    return message


def _answer(place: Place, name: str) -> str | None:
    """Count a report, as a server does."""
    own = Survey.load(place.file)
    try:
        store = open_store(place.store)
    except BruitError as error:
        return str(error)
    try:
        opened = store.survey(name)
        if opened is not None:
            own = OpenSurvey(opened)
            body = own.survey.answer({"drinks": "Yes", "class": "A"}, link=LAST.text if opened.links else "")
            commit(store, [_Waiting(own, own.read(body), None)])
    except BruitError as error:
        return str(error)
    finally:
        store.disconnect()
    return None


EVERY = (*COMMANDS, "answer")
#: What results read of a row; of the table of all counters, those of whole rounds.
READ = [
    (table, field, kind)
    for table, field, kind in COLUMNS
    if (table in ("surveys", "shown") and field not in ("name", "survey")) or (table, field) in (
        ("tallies", "cell"), ("tallies", "count"), ("links", "spent")
    )
]  # fmt: skip


def afresh(place: Place, content: bytes) -> Path:
    """A store with this content, and no other files."""
    path = Path(place.store)
    for old in [*path.parent.iterdir(), *(child for child in place.out.rglob("*") if child.is_file())]:
        old.unlink()
    for folder in list(place.out.iterdir()):
        folder.rmdir()
    path.write_bytes(content)
    return path


def hold(
    place: Place, good: bytes, column: tuple[str, str, str], value: tuple[str, Any], command: str, name: str
) -> bool:
    """The law for one value at one place; whether it could be put there."""
    table, field, kind = column
    path = afresh(place, good)
    kept = put(path, table, field, value, name)
    if kept is None:
        return False
    message = refusal(place, command, name)
    if command == "results" and column in READ and kept != KINDS[kind]:
        assert message is not None, f"{table}.{field} was read as {kept}"
    return True


def test_every_command_with_a_store_is_tried() -> None:
    commands = typer.main.get_command(survey_app).commands
    assert {name for name, command in commands.items() if any(p.name == "store" for p in command.params)} == {*COMMANDS}
    assert len(COLUMNS) == 26


def test_a_good_store_is_read_by_every_command(place, good) -> None:
    for command, name in itertools.product(EVERY, NAMES):
        afresh(place, good)
        message = refusal(place, command, name)
        allowed = (command, name) in {("links", "alcohol"), ("open", "linked"), ("collect", "linked")}  # by links
        assert (message is None) != allowed, (command, name, message)


#: All that the law ranges over. A test that is not heavy takes a part, in which every value, column and command is.
CASES = list(itertools.product(COLUMNS, VALUES, EVERY))
SOME = CASES[::61]


@pytest.mark.parametrize("table", sorted({table for table, *_ in COLUMNS}))
def test_any_value_in_any_column_is_read_or_refused(place, good, table) -> None:
    assert [len({*map(repr, part)}) for part in zip(*SOME, strict=True)] == [len(COLUMNS), len(VALUES), len(EVERY)]
    cases = [case for case in SOME if case[0][0] == table]
    tried = [hold(place, good, *case, "linked") for case in cases]
    assert sum(tried) >= 0.6 * len(cases) > 8


@pytest.mark.audit
@pytest.mark.parametrize("command", EVERY)
def test_any_value_in_any_column_is_read_or_refused_by_every_command(place, good, command) -> None:
    tried = [hold(place, good, *case, "linked") for case in CASES if case[2] == command]
    assert sum(tried) > 600


def test_any_document_is_read_or_refused(place, good) -> None:
    column = ("surveys", "document", "TEXT")
    for text, command in zip(documents(place.victims), itertools.cycle(EVERY), strict=False):
        assert hold(place, good, column, ("?", text), command, "alcohol")
        if command not in ("open", "delete"):  # which replace it
            assert refusal(place, "results", "alcohol") is not None, text[:300]


def _old_read(text: str) -> Survey:
    """As documents were read before: whoever made the store chose where their files go."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in json.loads(text).items():
            (Path(folder) / name).write_text(content, encoding="utf-8")
        return Survey.load(Path(folder) / "survey.toml")


def test_the_law_sees_a_store_that_writes_files(place, good, monkeypatch) -> None:
    monkeypatch.setattr(open_survey, "_read", _old_read)
    with pytest.raises(AssertionError, match="a file of whoever looks was changed"):
        test_any_document_is_read_or_refused(place, good)


def test_the_law_sees_values_that_are_not_looked_at(place, good, monkeypatch) -> None:
    monkeypatch.setattr(rows, "whole", lambda value, *_, **__: value)
    column = next(column for column in COLUMNS if column[:2] == ("shown", "count"))
    with pytest.raises(AssertionError, match="was read as real"):
        hold(place, good, column, ("?", 1.5), "results", "alcohol")


@pytest.fixture
def linkless(place) -> Path:
    """A store in which a survey in rotation takes reports without links, as bruit does not keep it."""
    place.file.write_text(ASSIGNED, encoding="utf-8")
    store = open_store(place.store)
    opened_in(store, place.file, "rotated", links=True)
    store.disconnect()
    put(Path(place.store), "surveys", "links", ("?", 0), "rotated")
    return Path(place.store)


@pytest.mark.parametrize("command", sorted(set(EVERY) - {"delete", "backup"}))
def test_a_survey_without_the_links_that_it_needs_is_read_by_no_command(command, place, linkless) -> None:
    message = refusal(place, command, "rotated")
    assert message is not None
    if command not in ("open", "collect"):  # these say how the file is opened
        assert "personal links only" in " ".join(message.split())


def test_a_survey_without_the_links_that_it_needs_is_deleted(place, linkless) -> None:
    assert refusal(place, "delete", "rotated") is None
    store = open_store(place.store)
    assert store.names() == []
    store.disconnect()


def test_open_names_the_survey_that_it_does_not_serve_and_says_why(place, linkless) -> None:
    result = CliRunner().invoke(app, ["survey", "open", "--no-serve", "--store", place.store], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert "Warning: rotated is not served." in result.output
    assert "personal links only" in " ".join(result.output.split())


def test_a_survey_without_the_links_that_it_needs_is_not_served(place, linkless, caplog, capfd) -> None:
    survey = Survey.load(place.file)
    store = open_store(place.store)
    with running(store, Listening(port=0)) as port:
        for path in ("/s/rotated", "/s/rotated/results", "/s/rotated/report"):
            assert request(port, "GET", path)[0] == 404
        bodies = [survey.answer(OWN, link=PersonalLink("abcdefghijklmnop", place).text) for place in (0, 1)]
        assert [post(port, body, "rotated") for body in bodies] == [404, 404]
    assert store.totals("rotated") == (0, 0, 0)
    store.disconnect()
    assert "The survey rotated in the store cannot be served" in caplog.text
    assert "defect" not in caplog.text
    assert "Traceback" not in caplog.text + "".join(capfd.readouterr())


def test_a_survey_without_the_words_of_its_page_is_not_served(place, monkeypatch, caplog, capfd) -> None:
    text = OPEN.replace("title.fr", "title.de").replace("text.fr", "text.de")
    place.file.write_text(text, encoding="utf-8")
    (place.file.parent / "de.toml").write_bytes(GERMAN.read_bytes())  # without the texts of open questions
    store = open_store(place.store)
    with monkeypatch.context() as patch:
        patch.setattr(wording, "check", lambda _: None)  # as an earlier bruit kept it
        opened_in(store, place.file, "open")
    with running(store, Listening(port=0)) as port:
        assert request(port, "GET", "/s/open")[0] == 404
    store.disconnect()
    assert "The survey open in the store cannot be served" in caplog.text
    assert "Traceback" not in caplog.text + "".join(capfd.readouterr())


# What a file declares.


def declarations() -> Iterator[str]:
    """Statements after which a statement of bruit would do something else."""
    tables = sorted({table for table, *_ in COLUMNS})
    for table in tables:
        for event in ("INSERT", "UPDATE", "DELETE"):
            yield f"CREATE TRIGGER t AFTER {event} ON {table} BEGIN DELETE FROM tallies; END"
        yield f"ALTER TABLE {table} RENAME TO other; CREATE VIEW {table} AS SELECT * FROM other"
        yield f"ALTER TABLE {table} ADD COLUMN more TEXT"
        yield f"ALTER TABLE {table} ADD COLUMN more TEXT AS (hex(1)) VIRTUAL"
        yield f"DROP TABLE {table}"
        yield f"CREATE INDEX i ON {table} ({next(name for own, name, _ in COLUMNS if own == table)})"
    yield "CREATE TABLE more (x)"
    yield "CREATE TEMP TABLE more (x); ANALYZE"
    yield "PRAGMA user_version = 3"
    yield "PRAGMA application_id = 1"


@pytest.mark.parametrize("statement", list(declarations()))
def test_a_store_with_other_tables_triggers_or_views_is_refused_and_stays_as_it_is(place, good, statement) -> None:
    path = afresh(place, good)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.executescript(statement)
    content = path.read_bytes()
    for command in EVERY:
        assert refusal(place, command, "alcohol") is not None
    assert path.read_bytes() == content
    assert [child.name for child in path.parent.iterdir()] == [path.name]


def test_the_check_of_tables_sees_a_trigger_that_would_run(place, good, monkeypatch) -> None:
    """The control: without the check the trigger does its work."""
    monkeypatch.setattr(sqlite_module, "_check", lambda *_: None)
    path = afresh(place, good)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TRIGGER t AFTER UPDATE ON surveys BEGIN DELETE FROM ids; END")
    assert refusal(place, "close", "alcohol") is None
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM ids").fetchone() == (0,)


@pytest.mark.parametrize("seed", range(4))
def test_a_file_with_other_bytes_is_read_or_refused(place, good, seed) -> None:
    draw = random.Random(seed)
    for command in EVERY:
        content = bytearray(good)
        for _ in range(draw.choice((1, 3, 30))):
            content[draw.randrange(len(good)) if draw.random() < 0.7 else draw.randrange(200)] = draw.randrange(256)
        afresh(place, bytes(content[: draw.choice((None, None, None, len(good) // 2, 100))]))
        refusal(place, command, "alcohol")


# Files beside the store.


def _journal(name: bytes) -> bytes:
    """A journal that SQLite would play back, and whose end names another file."""
    magic = bytes.fromhex("d9d505f920a163d7")
    header = magic + b"\0" * 4 + b"\0" * 8 + (512).to_bytes(4) + (4096).to_bytes(4)
    named = (1 << 30).to_bytes(4) + name + len(name).to_bytes(4) + sum(name).to_bytes(4) + magic
    return header.ljust(512, b"\0") + named


def test_a_journal_that_names_another_file_does_not_delete_it(place, good) -> None:
    victim = place.victims / "home" / "victim.txt"
    for command in EVERY:
        path = afresh(place, good)
        path.with_name("surveys.sqlite-journal").write_bytes(_journal(os.fsencode(victim)))
        assert "names another file" in (refusal(place, command, "alcohol") or "")
    # The control: SQLite alone deletes it.
    with contextlib.closing(sqlite3.connect(path)) as connection, contextlib.suppress(sqlite3.Error):
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    assert not victim.exists()


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_a_link_beside_a_store_is_not_followed(place, good, end) -> None:
    for command in EVERY:
        path = afresh(place, good)
        path.with_name(f"{path.name}{end}").symlink_to(place.victims / "home" / "victim.txt")
        refusal(place, command, "alcohol")


def test_what_is_no_file_is_refused(place) -> None:
    path = Path(place.store)
    path.mkdir()
    assert all(refusal(place, command, "alcohol") for command in EVERY)
    path.rmdir()
    os.mkfifo(path)
    assert all(refusal(place, command, "alcohol") for command in EVERY)


def test_many_strata_that_nobody_answered_do_not_take_the_memory(place, good, monkeypatch) -> None:
    monkeypatch.setattr("bruit.collector.store.MOST_CELLS", 3_000)
    path = afresh(place, good)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        many = [("alcohol", stratum, 1, -1, 1) for stratum in range(2, 3_000)]
        connection.executemany("INSERT INTO shown VALUES (?, ?, ?, ?, ?)", many)
        connection.commit()
    assert "too many combinations" in (refusal(place, "results", "alcohol") or "")


# A database of PostgreSQL.


HOSTILE_TABLES = [
    "CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN DELETE FROM bruit.tallies; RETURN NEW; END $$;"
    " CREATE TRIGGER t BEFORE UPDATE ON bruit.surveys FOR EACH ROW EXECUTE FUNCTION public.f()",
    "CREATE RULE r AS ON UPDATE TO bruit.surveys DO ALSO DELETE FROM bruit.tallies",
    "ALTER TABLE bruit.ids RENAME TO other; CREATE VIEW bruit.ids AS SELECT * FROM bruit.other",
    "ALTER TABLE bruit.tallies ADD COLUMN more integer DEFAULT random()",
    "ALTER TABLE bruit.shown ALTER COLUMN count TYPE numeric",
    "ALTER TABLE bruit_links.links ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE bruit.ids ADD CHECK (random() > -1)",
    "CREATE INDEX ON bruit.ids ((length(id)))",
    "CREATE TABLE bruit.child () INHERITS (bruit.tallies)",
    "CREATE TABLE public.child () INHERITS (bruit.tallies)",
    "CREATE TABLE bruit.more (x integer)",
    "DROP TABLE bruit.shown",
    "DELETE FROM bruit.version",
    "INSERT INTO bruit.version VALUES (3)",
]  # fmt: skip


@pytest.fixture
def shared(place, database) -> Place:
    """The same surveys in a database."""
    _fill(database, place.file)
    return place._replace(store=database)


def _execute(address: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_database_that_is_good_is_read_by_every_command(shared) -> None:
    for command in sorted(EVERY, key=("close", "delete").__contains__):
        message = refusal(shared, command, "linked")
        assert (message is None) == (command not in ("backup", "open", "collect")), message


@pytest.mark.parametrize("statement", HOSTILE_TABLES)
def test_a_database_with_other_tables_triggers_or_rules_is_refused(place, database, statement) -> None:
    open_store(database).disconnect()
    _execute(database, statement)
    with pytest.raises(FormatError):
        open_store(database)
    assert refusal(place._replace(store=database), "results", "alcohol") is not None


def test_any_value_in_a_database_is_read_or_refused(shared) -> None:
    import psycopg

    values = [value for expression, value in VALUES if expression == "?"]
    documented = [(("surveys", "document", "TEXT"), text) for text in documents(shared.victims)]
    tried = 0
    with psycopg.connect(shared.store, autocommit=True) as connection:
        for (table, field, _), value in [*itertools.product(COLUMNS, values), *documented][::5]:
            name = "bruit_links.links" if table == "links" else f"bruit.{table}"
            where = f"{'name' if table == 'surveys' else 'survey'} = 'linked'"
            (before,) = connection.execute(f"SELECT {field} FROM {name} WHERE {where} ORDER BY ctid LIMIT 1").fetchone()
            change = f"UPDATE {name} SET {field} = %s WHERE ctid = (SELECT min(ctid) FROM {name} WHERE {where})"
            try:
                (place,) = connection.execute(f"{change} RETURNING ctid::text", (value,)).fetchone()
            except (psycopg.Error, UnicodeError):
                continue
            tried += 1
            message = refusal(shared, "results", "linked")
            assert message is not None or field != "document", value
            connection.execute(f"UPDATE {name} SET {field} = %s WHERE ctid = '{place}'", (before,))
    assert tried > 30
