"""Documents that are known to have cost far too much, as they are: nothing of them grows."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from document_readers import PUBLICATION, PUBLICATION_OF_GROUPS, _of_bytes, _of_text
from forms import JSON, TEXT, TOML, DocumentReader, write_json

from bruit import Plan
from bruit.domains import Categories
from bruit.domains.declare import number_question, question
from bruit.publications import Publication
from bruit.releases import Release, Results

NAMES = ("plan", "release", "publication", "question", "number question", "results")

_CODES = {"kind": "categories", "k": 10**6, "missing": "refuse"}
_MARKS = "\u0327\u0301" * 50_000


def _plan() -> bytes:
    """A thousand attributes of a million codes; their mechanisms are those of one."""
    body = json.loads(Plan({"a": Categories(k=5), "b": ["x", "y"]}, 1.0, "SMP[GRR]").to_json())
    body["attributes"] = [{"name": f"a{place}", "domain": _CODES} for place in range(1000)]
    body["mechanisms"] = {f"a{place}": body["mechanisms"]["a"] for place in range(3)}
    return write_json(body)


def _release(*statistics: dict[str, Any]) -> bytes:
    return json.dumps({"statistics": [{"name": str(place), **item} for place, item in enumerate(statistics)]}).encode()


def _tables(columns: int, tables: list[Any], **options: Any) -> dict[str, Any]:
    domain = {"kind": "categories", "k": 2, "missing": "refuse"}
    attributes = [{"name": f"a{place}", "domain": domain} for place in range(columns)]
    named = [[f"a{place}" for place in names] for names in tables]
    return {"kind": "tables", "attributes": attributes, "tables": named, "epsilon": 1.0, "delta": 1e-6, **options}


def _releases() -> list[bytes]:
    histogram = {"kind": "histogram", "column": "a", "domain": _CODES, "epsilon": 0.001, "neighbours": "add-remove"}
    ten = list(range(10))
    return [
        _release(*[histogram] * 1000),
        _release(_tables(10, [ten], neighbours="replace")),
        _release(_tables(10, list(itertools.combinations(ten, 3)), neighbours="replace")),
        _release(_tables(12, [ten, [*ten[2:], 10, 11]], neighbours="replace")),
        _release(*[_tables(8, [ten[:8]], neighbours="replace")] * 50),
        _release(_tables(2000, [[place] for place in range(2000)])),
        _release(_tables(2000, [[place] for place in range(2000)], delta=0)),
        *(_undeclared(epsilon, groups) for epsilon, groups in ((1.0, 300), (1.0, 10**6), (20.0, 10**6))),
        write_json({"parts": [json.loads(_undeclared(0.001, 1, place)) for place in range(300)]}),
    ]


def _undeclared(epsilon: float, groups: int, place: int = 0) -> bytes:
    """A count that names groups, of people who are in so many."""
    count = {"kind": "count", "name": f"n{place}", "epsilon": epsilon, "delta": 1e-6 * (1 + place / 1000)}
    person = {"column": "who", "groups": groups, "rows_per_group": 1, "missing": "refuse"}
    return write_json({"statistics": [count], "by": ["zone"], "person": person})


def _publications() -> list[bytes]:
    """Persons in many groups, thresholds of millions, and a thousand thresholds that are all different."""
    selections = "".join(
        f'[[statistic]]\nname = "n{place}"\nkind = "count"\nby = ["zone=?"]\nweight = {1 + place / 1000}\n'
        for place in range(900)
    )
    head = PUBLICATION[: PUBLICATION.index("[[statistic]]")]
    return [
        *(PUBLICATION_OF_GROUPS.replace("groups = 3", f"groups = {many}").encode() for many in (300, 10_000, 10**6)),
        PUBLICATION_OF_GROUPS.replace("groups = 3", "groups = 1_000_000").replace("1.0", "20.0").encode(),
        PUBLICATION.replace("weight = 2", "weight = 2147483647").encode(),
        PUBLICATION.replace('edition = "first"', f'edition = "{_MARKS}"').encode(),
        (head + selections).encode(),
    ]


def _results() -> bytes:
    from document_readers import ROWS, Count

    release = Release({"n": Count(epsilon=0.5)}, by={"smokes": ["no", "yes"]})
    body = json.loads(release.publish(release.fold(ROWS), rng=1).to_json())
    body["results"][0]["result"]["values"][0]["label"] = _MARKS
    return write_json(body)


def readers(folder: Path) -> dict[str, DocumentReader]:
    """Each reader with what it took long to read."""
    texts = [b"a=0..1:1e-9999999", b"a=0..1:0." + b"0" * 4000 + b"1", b" " * 100_000, b"a=" + b"9" * 100_000]
    return {
        "plan": DocumentReader(_of_bytes(Plan.from_json), [_plan()], JSON),
        "release": DocumentReader(_of_bytes(Release.from_json), _releases(), JSON),
        "publication": DocumentReader(Publication.load, _publications(), TOML, ".toml"),
        "question": DocumentReader(_of_text(question), texts, TEXT, ".txt"),
        "number question": DocumentReader(_of_text(number_question), texts, TEXT, ".txt"),
        "results": DocumentReader(_of_bytes(Results.from_json), [_results()], JSON),
    }
