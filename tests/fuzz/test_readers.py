"""Whatever bytes a reader is handed, it reads them or refuses them with an error of bruit's own.

`make test` tries a few changes of each kind of file, always the same. `make audit` tries many more, from a seed that it
draws and names (`BRUIT_FUZZ_SEED` repeats it).
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit.cards import Card
from bruit.collection import Plan, Repeat
from bruit.collection.prior import read_prior
from bruit.domains import Schema
from bruit.errors import BruitError
from bruit.estimation import Tally
from bruit.privacy import Guarantee, Ledger, SignedHead, create_keys
from bruit.releases import Count, Histogram, Mean, Median, Release, Result, Results

sys.path.insert(0, str(Path(__file__).parent))
from mutations import changed_bytes, changed_document, changed_settings, changes, other_columns

from ..surveys import ALCOHOL, OPEN, opened_in

FEW, MANY = 100, 3000
#: The longest that one read may take, of contents that are all small; the machine may be busy.
SECONDS = 60.0
SCHEMA = {"smokes": ["no", "yes"], "age": ["young", "old", "very old"]}
ROWS = {"smokes": ["no", "yes", "no", "yes"], "age": ["young", "old", "old", "very old"], "wage": [1.5, 2.0, 0.0, 9.0]}

#: How files of Parquet are changed.
COLUMNS = (other_columns, changed_bytes)


class Reader(NamedTuple):
    """How a content is read from a file, some contents that are whole, and how they are changed."""

    read: Callable[[Path], Any]
    seeds: list[bytes]
    kinds: tuple[Callable[[bytes, random.Random], bytes], ...] = (changed_bytes,)
    ending: str = ""


def _json(read: Callable[[bytes], Any], *seeds: str | bytes) -> Reader:
    contents = [seed.encode() if isinstance(seed, str) else seed for seed in seeds]
    return Reader(lambda path: read(path.read_bytes()), contents, (changed_document, changed_bytes))


def _csv(rows: dict[str, list[Any]]) -> bytes:
    return "\n".join(
        [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True)), ""]
    ).encode()


def _parquet(rows: dict[str, list[Any]], folder: Path) -> bytes:
    path = folder / "rows.parquet"
    pq.write_table(pa.table(rows), path)
    return path.read_bytes()


def _readers(folder: Path) -> dict[str, Reader]:
    plan, several = Plan({"smokes": ["no", "yes"]}, 1.0), Plan(SCHEMA, 1.0, "SMP[ADP]")
    again = Plan({"smokes": ["no", "yes"]}, 1.0, repeat=Repeat(3, epochs=2, epoch_epsilon=2.0))
    release = Release(
        {"n": Count(epsilon=0.5), "wages": Mean("wage", bounds=(0, 9), epsilon=0.5)}, by={"smokes": ["no", "yes"]}
    )
    results = release.publish(release.fold(ROWS), rng=1)
    tables = Release({
        "n": Count(epsilon=1.0),
        "smokes": Histogram("smokes", domain=["no", "yes"], epsilon=1.0),
        "wage": Median("wage", bounds=(0, 9), cells=16, epsilon=1.0),
    })  # fmt: skip
    book, private = folder / "book.ledger", create_keys(folder / "key")[0]
    ledger = Ledger.open(book, epsilon=1.0)
    for label in ("count", "mean"):
        ledger.spend(Guarantee(epsilon=0.25, neighbours="add-remove"), label)
    reports = {"smokes": ["0", "1", "1", "0"]}
    own = folder / "reports.csv"
    plan.privatize({"smokes": ROWS["smokes"]}, 1, to=own)
    estimate = plan.estimate(plan.tally(own))["smokes"]
    schema = several.schema
    return {
        "plan": _json(Plan.from_json, plan.to_json(), several.to_json(), again.to_json()),
        "tally": _json(Tally.from_json, plan.tally(own).to_json()),
        "release": _json(Release.from_json, release.to_json(), tables.to_json()),
        "result": _json(Result.from_json, results["n"].to_json(), results["wages"].to_json()),
        "results": _json(Results.from_json, results.to_json()),
        "card": _json(Card.from_bytes, plan.card().to_bytes(), several.card().to_bytes(), again.card().to_bytes()),
        "head": _json(SignedHead.from_json, ledger.head.sign(private).to_json()),
        "schema": _json(lambda content: Schema.from_json(content.decode("utf-8", "replace")), schema.to_json()),
        "prior": Reader(
            lambda path: read_prior(path, schema),
            [b'{"smokes": [0.4, 0.6]}', estimate.to_json().encode()],
            (changed_document, changed_bytes),
        ),
        "ledger": Reader(lambda path: Ledger.open(path).entries, [book.read_bytes()]),
        "survey": Reader(_survey, [ALCOHOL.encode(), OPEN.encode()], (changed_settings, changed_bytes), ".toml"),
        "codes in text": Reader(_codes, [b"Email,Code\na@x,G2J8-SWVV-EKZP\n"], ending=".csv"),
        "codes in a workbook": Reader(_codes, [_workbook(folder)], ending=".xlsx"),
        "table of CSV": Reader(lambda path: tables.publish(tables.fold(path), rng=1), [_csv(ROWS)], ending=".csv"),
        "table of Parquet": Reader(
            lambda path: tables.publish(tables.fold(path), rng=1), [_parquet(ROWS, folder)], COLUMNS, ".parquet"
        ),
        "privatise CSV": Reader(lambda path: several.privatize(path, 1), [_csv(ROWS)], ending=".csv"),
        "privatise Parquet": Reader(
            lambda path: several.privatize(path, 1), [_parquet(ROWS, folder)], COLUMNS, ".parquet"
        ),
        "reports of CSV": Reader(plan.tally, [_csv(reports), own.read_bytes()], ending=".csv"),
        "reports of Parquet": Reader(plan.tally, [_parquet({"smokes": [0, 1, 1]}, folder)], COLUMNS, ".parquet"),
    }


def _survey(path: Path) -> Any:
    from bruit.survey import Survey

    survey = Survey.load(path)
    return survey.check(), survey.card, survey.body_length


def _codes(path: Path) -> Any:
    from bruit.survey.code_files import find_codes, read_rows
    from bruit.survey.reading import parse

    survey = parse(ALCOHOL.encode(), lambda _: None)
    return find_codes(survey.codes, read_rows(path.name, path.read_bytes()))


def _workbook(folder: Path) -> bytes:
    """A worksheet that is stored and not packed, so that changes reach its content."""
    path = folder / "codes.xlsx"
    cells = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>G2J8-SWVV-EKZP</t></is></c></row>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet><sheetData>{cells}</sheetData></worksheet>")
        archive.writestr("xl/sharedStrings.xml", "<sst><si><t>G2J8SWVVEKZP</t></si></sst>")
    return path.read_bytes()


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reader]:
    return _readers(tmp_path_factory.mktemp("whole"))


NAMES = (
    *("plan", "tally", "release", "result", "results", "card", "head", "schema", "prior", "ledger", "survey"),
    *("codes in text", "codes in a workbook"),
    *("table of CSV", "table of Parquet", "privatise CSV", "privatise Parquet", "reports of CSV", "reports of Parquet"),
)


def _try(reader: Reader, folder: Path, times: int, seed: int) -> tuple[int, int]:
    """How many contents were read, and how many refused; all else is a failure, and its content stays."""
    read = refused = 0
    for number, content in enumerate(changes(reader.seeds, times, seed, *reader.kinds)):
        path = folder / f"content{number}{reader.ending}"
        path.write_bytes(content)
        started = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                reader.read(path)
            read += 1
        except BruitError:
            refused += 1
        except Exception as error:
            raise AssertionError(
                f"content {number} of seed {seed}, in {path}: {type(error).__name__}: {error}"
            ) from error
        assert time.monotonic() - started < SECONDS, path
        path.unlink()
    return read, refused


def test_every_reader_is_tried(readers: dict[str, Reader]) -> None:
    assert sorted(NAMES) == sorted(readers)


@pytest.mark.parametrize("name", NAMES)
def test_whole_contents_are_read(readers: dict[str, Reader], name: str, tmp_path: Path) -> None:
    reader = readers[name]
    for number, content in enumerate(reader.seeds):
        path = tmp_path / f"whole{number}{reader.ending}"
        path.write_bytes(content)
        reader.read(path)


@pytest.mark.parametrize("name", NAMES)
def test_changed_contents_are_read_or_refused(readers: dict[str, Reader], name: str, tmp_path: Path) -> None:
    _, refused = _try(readers[name], tmp_path, FEW, 20)
    assert refused or name.startswith(("reports", "codes in text"))  # a row is one report or one refusal, no error


@pytest.mark.audit
@pytest.mark.parametrize("name", NAMES)
def test_many_changed_contents_are_read_or_refused(readers: dict[str, Reader], name: str, tmp_path: Path) -> None:
    seed = int(os.environ.get("BRUIT_FUZZ_SEED", random.SystemRandom().getrandbits(32)))
    _try(readers[name], tmp_path, MANY, seed)


def test_a_reader_that_fails_otherwise_is_caught(tmp_path: Path) -> None:
    broken = Reader(lambda path: path.read_bytes().decode("ascii").index("epsilon"), [b'{"epsilon": 1}'])
    with pytest.raises(AssertionError, match=r"content \d+ of seed 20, in"):
        _try(broken, tmp_path, FEW, 20)


# HTTP: requests as bytes of their parts, to the application itself.

#: What a request may end with: counted, known already, and refusals of every kind; never 500.
STATUSES = {200, 201, 204, 400, 404, 405, 408, 409, 413, 415, 422}


def _scope(draw: random.Random, length: int) -> dict[str, Any]:
    names = ["alcohol", "", "x" * 300, "alcohol/../alcohol", "%00", "é", "Alcohol", "..", "alcohol\n"]
    paths = [f"/s/{draw.choice(names)}{end}" for end in ("", "/report", "/results", "/report/", "//report")]
    kinds = [b"application/json", b"text/plain", b"", b"application/json; charset=utf-8", b"\xff\xfe", b"A" * 5000]
    sizes = [str(length).encode(), b"0", b"-1", b"99999999999999999999", b"\xb2", b"1e3", b"", b" 12", b"0" * 5000]
    headers = [
        (b"content-type", draw.choice([kinds[0]] * 12 + kinds)),
        (b"content-length", draw.choice([sizes[0]] * 12 + sizes)),
    ]
    extra = [
        (b"transfer-encoding", b"chunked"),
        (b"host", b"\xff"),
        (b"content-length", b"5"),
        (b"cookie", b"=;=" * 999),
        (b"accept", b"text/html;\xff"),
        (b"accept-language", b",;=\xff" * 99),
    ]
    headers += draw.sample(extra, draw.choice((0, 0, 0, 1, 2)))
    query = draw.choice((b"", b"token=", b"token=%ff%00", b"token=a&token=b", b"=" * 500, bytes(range(128, 160))))
    path = draw.choice([*paths, "/health", "/", "", "/s", "*"]) if draw.random() < 0.3 else "/s/alcohol/report"
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": draw.choice((*["POST"] * 30, "GET", "HEAD", "PUT", "OPTIONS", "DELETE", "BREW", "")),
        "scheme": draw.choice(("http", "https")),
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": draw.choice((None, ("127.0.0.1", 1), ("::1", 2))),
        "server": ("127.0.0.1", 80),
    }


def _exchange(application: Any, scope: dict[str, Any], pieces: list[dict[str, Any]]) -> Any:
    answer: dict[str, Any] = {}

    async def receive() -> dict[str, Any]:
        return pieces.pop(0) if pieces else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        answer.update({name: value for name, value in message.items() if name in ("status", "body")})

    return application(scope, receive, send), answer


def _requests(folder: Path, times: int, seed: int) -> dict[int, int]:
    """The statuses of so many requests to a server of one survey; every whole report must count once."""
    from bruit.collector import open_store
    from bruit.collector.server import Limits, application

    (folder / "survey.toml").write_text(ALCOHOL, encoding="utf-8")
    store = open_store(str(folder / "store.sqlite"))
    survey = opened_in(store, folder / "survey.toml", public=True).survey
    draw = random.Random(seed)
    body = survey.body
    whole = body.fill(body_report(draw, survey))
    server = application(store, limits=Limits(per_second=1e9, per_address=10**9))
    statuses: dict[int, int] = {}

    async def run() -> None:
        async with server.router.lifespan_context(server):
            for _ in range(times):
                content = draw.choice(
                    (whole, changed_bytes(whole, draw), whole[:-1], b"", whole + b"0", bytes(len(whole)))
                )
                cut = draw.randrange(len(content) + 1)
                pieces = draw.choice((
                    [{"type": "http.request", "body": content, "more_body": False}],
                    [{"type": "http.request", "body": content[:cut], "more_body": True},
                     {"type": "http.request", "body": content[cut:]}],
                    [{"type": "http.request", "body": content, "more_body": True}],
                    [{"type": "http.disconnect"}],
                ))  # fmt: skip
                task, answer = _exchange(server, _scope(draw, len(content)), pieces)
                await asyncio.wait_for(task, SECONDS)
                statuses[answer["status"]] = statuses.get(answer["status"], 0) + 1
            honest = body.fill(body_report(draw, survey))
            scope = {**_scope(draw, 0), "method": "POST", "path": "/s/alcohol/report", "raw_path": b"/s/alcohol/report"}
            scope["headers"] = [(b"content-type", b"application/json"), (b"content-length", str(len(honest)).encode())]
            task, answer = _exchange(server, scope, [{"type": "http.request", "body": honest}])
            await task
            assert answer["status"] == 201  # an honest report is counted among all that

    asyncio.run(run())
    return statuses


def body_report(draw: random.Random, survey: Any) -> Any:
    from bruit.survey.body import Report

    columns = dict.fromkeys(survey.body.columns, "1")
    return Report(draw.randbytes(16), "", tuple(0 for _ in survey.body.public), 1, columns)


def test_requests_of_any_kind_are_answered_and_none_is_a_defect(tmp_path: Path) -> None:
    statuses = _requests(tmp_path, 150, 20)
    assert set(statuses) <= STATUSES
    assert {200, 201, 404, 413, 415} <= set(statuses)


@pytest.mark.audit
def test_many_requests_of_any_kind_are_answered_and_none_is_a_defect(tmp_path: Path) -> None:
    seed = int(os.environ.get("BRUIT_FUZZ_SEED", random.SystemRandom().getrandbits(32)))
    assert set(_requests(tmp_path, 5000, seed)) <= STATUSES, seed
