"""Every reader of documents: how it reads a file, small documents that are whole, and how these become trees and back.

`COVERS` names, for each reader here, the functions of bruit that it goes through; a test holds that to what the code
has, so that a new reader cannot be left out.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from forms import CANONICAL, JSON, TEXT, TOML, DocumentReader, Form, plain, write_json

from bruit import Plan, documents, numbers, oracles
from bruit.cards import Card
from bruit.collection import RSFD, RSRFD, SMP, SPL, TAB, LongitudinalMean, OpenQuestion, Repeat
from bruit.collection.prior import read_prior
from bruit.domains import Bins, Categories, Dates, Grid, MultiChoice, OpenText, Scale, Schema
from bruit.domains.declare import number_question, question
from bruit.domains.schema import Attribute, domain_from_dict
from bruit.engines.parquet import metadata_of
from bruit.errors import BruitError
from bruit.estimation import Tally
from bruit.open_answers import RAPPOR, HashedResponse, HeavyHitters
from bruit.oracles import DBitFlip, LongitudinalHashing, Memory, Repeated
from bruit.privacy import Guarantee, Ledger, SignedHead, create_keys
from bruit.privacy.ledger import storage
from bruit.publications import Publication, Published
from bruit.releases import (
    ContinualCount,
    ContinualSeries,
    Count,
    Histogram,
    HistogramQuantiles,
    InverseSensitivity,
    LimitsChoice,
    Mean,
    Median,
    Person,
    PowerBounds,
    Quantiles,
    Release,
    Result,
    Results,
    Statistic,
    Sum,
    Tables,
    Variance,
    WeightedMean,
    WeightedSum,
    choose_limits,
)
from bruit.releases.draws import Draw, DrawnSums, Draws
from bruit.releases.limits import LimitsGuide
from bruit.releases.noise import DiscreteGaussian, DiscreteLaplace
from bruit.survey import Survey
from bruit.survey.open_plan import OpenPlan

SCHEMA: dict[str, Any] = {
    "smokes": ["no", "yes"],
    "age": Grid(17, 40),
    "when": Dates("2023-01-01", "2023-03-31", every="month"),
    "agree": Scale(labels=["no", "hardly", "yes"]),
    "code": Categories(k=5, missing="category", outside="other"),
    "pay": Bins([0, 10, 20.5]),
    "sports": MultiChoice(["run", "swim"]),
}
SMALL = {"smokes": ["no", "yes"], "age": ["young", "old", "very old"]}
ROWS = {"smokes": ["no", "yes"] * 4, "age": [18, 20, 30, 39] * 2, "wage": [1.5, 2.0, 0.0, 9.0] * 2, "who": [1, 2] * 4}
PUBLICATION = """
title = "Visits"
table = "visits.csv"
epsilon = 1.0
delta = 1e-6
ledger = "visits.ledger"
edition = "first"
expected_rows = 2000
budget = { epsilon = 2.0, delta = 1e-5 }
page = false
csv = { delimiter = ";", missing = ["NA"] }
person = { column = "visitor", rows = 4, groups = 2, rows_per_group = 2 }
[[statistic]]
name = "visits"
kind = "count"
[[statistic]]
name = "zones"
kind = "count"
by = ["zone=?"]
groups = 3
[[statistic]]
name = "mean age"
kind = "mean"
of = "age=18..100"
by = ["sex=F,M"]
weight = 2
[[statistic]]
name = "quartiles"
kind = "quantiles"
of = "age=18..100:1"
at = [0.25, 0.5, 0.75]
[[statistic]]
name = "months"
kind = "histogram"
of = "when=2023-01-01..2023-12-31/month"
"""
PUBLICATION_OF_GROUPS = """
title = "Groups"
table = "rows.csv"
epsilon = 1.0
delta = 1e-6
ledger = "rows.ledger"
person = { column = "visitor", groups = 3, rows_per_group = 1 }
[[statistic]]
name = "zones"
kind = "count"
by = ["zone=?", "hour=?"]
weight = 1.5
[[statistic]]
name = "days"
kind = "count"
by = ["day=?"]
"""
PUBLICATION_IN_RHO = """
title = "Rows"
table = "rows.csv"
rho = 0.5
at = 1e-6
ledger = "rows.ledger"
neighbours = "add-remove"
[[statistic]]
name = "shares"
kind = "sum"
of = "share=0..1"
weighted_by = "stands_for=0..5"
share = 0.5
[[statistic]]
name = "spread"
kind = "variance"
of = "age=0..120"
share = 0.3
[[statistic]]
name = "range"
kind = "bounds"
of = "income"
share = 0.2
"""


#: Which functions each reader goes through, as module:name.
COVERS: dict[str, tuple[str, ...]] = {
    "plan": ("collection/plan:Plan.from_json", "collection/files:_digest"),
    "card": ("cards/card:Card.from_bytes", "cards/question:CardQuestion.from_dict"),
    "tally": ("estimation/tally:Tally.from_json", "estimation/tally:Tally.from_dict"),
    "bytes of a tally": ("estimation/tally:Tally.from_bytes",),
    "schema": ("domains/schema:Schema.from_json", "domains/schema:Schema.from_list"),
    "prior": ("collection/prior:read_prior", "collection/prior:_prior_of", "collection/prior:_labels"),
    "release": ("releases/release:Release.from_json", "releases/release:Release.from_dict"),
    "release by hand": (),
    "result": (
        "releases/result:Result.from_json",
        "releases/draws:Draws.from_dict",
        "releases/draws:DrawnSums.from_dict",
    ),
    "results": ("releases/result:Results.from_json",),
    "published": ("publications/published:Published.from_json",),
    "publication": ("publications/reading:read",),
    "bounds": ("releases/limits:LimitsChoice.from_json",),
    "bounds guide": ("releases/limits:LimitsGuide.from_dict",),
    "series": ("releases/continual:_State.from_json",),
    "continual count": ("releases/continual:ContinualCount.from_dict",),
    "memory": ("oracles/memory:Memory._read",),
    "ledger": ("privacy/ledger/storage:read_header", "privacy/ledger/storage:read_entry"),
    "head": ("privacy/ledger/heads:SignedHead.from_json",),
    "survey": ("survey/reading:_load",),
    "language": ("pages/texts:Wording.translation",),
    "metadata of Parquet": ("engines/parquet:_carried",),
    "study": ("bruit_studies/runner:StudyFolder.manifest",),
    "domain": (
        *("domains/bins:Bins.from_dict", "domains/categories:Categories.from_dict", "domains/choices:Chosen.from_dict"),
        *("domains/dates:Dates.from_dict", "domains/grid:Grid.from_dict", "domains/open_text:OpenText.from_dict"),
    ),
    "attribute": ("domains/schema:Attribute.from_dict",),
    "statistic": ("releases/statistic:Statistic.from_dict",),
    "person": ("releases/person:Person.from_dict",),
    "guarantee": ("privacy/guarantee:Guarantee.from_dict",),
    "oracle": ("oracles/named:from_dict",),
    "repeated oracle": ("oracles/repeated:Repeated.from_dict",),
    "longitudinal hashing": ("oracles/longitudinal_hashing:LongitudinalHashing.from_dict",),
    "bit flip": ("oracles/bit_flip:DBitFlip.from_dict",),
    "RAPPOR": ("open_answers/rappor:RAPPOR.from_dict",),
    "O-RR": ("open_answers/hashed_response:HashedResponse.from_dict",),
    "longitudinal mean": ("collection/longitudinal_mean:LongitudinalMean.from_dict",),
    "open question": (
        "collection/open_question:OpenQuestion.from_json",
        "collection/files:is_open_question",
        "open_answers/heavy_hitters:HeavyHitters.from_dict",
    ),
    "number": ("numbers/named:from_dict",),
    "plane": ("numbers/metric_plane:MetricPlane.from_dict",),
    "question": (),
    "number question": (),
}
#: What reads no document of others, and why.
ELSEWHERE: dict[str, str] = {
    "documents:parsed": "what every reader of JSON goes through",
    "documents:parse_toml": "what every reader of TOML goes through",
    "collector/open_survey:_read": "the texts of a survey in a store, which are read as the survey is",
    "pages/texts:_shipped": "texts that come with bruit",
    "laws/form:Form.from_bytes": "reports, a row at a time",
    "entropy:TaskKey.from_bytes": "a key of fixed length",
    "testing/tallies:check_round_trip": "what it wrote itself",
    "releases/sources:SourceRecords.beside": "a file of the steward's own, of mode 600",
}


def _parse_ledger(content: bytes) -> Any:
    return [json.loads(line) for line in content.splitlines()]


def _write_ledger(lines: Any) -> bytes:
    """Lines that are chained anew."""
    try:
        header = {key: value for key, value in lines[0].items() if key not in ("format", "digest")}
        first = storage.header_line(plain(header))
        content, (_, last) = first, storage.read_header([first])
        for index, line in enumerate(lines[1:]):
            body = {key: value for key, value in plain(line).items() if key not in ("digest", "previous")}
            if lines.count(line) == 1 and body.get("index") is not None and index:
                body["index"] = index
            content += storage.entry_line(body, last)
            last = json.loads(content.splitlines()[-1])["digest"]
    except (BruitError, ValueError, AttributeError, TypeError):
        return b"\n".join(write_json(line) for line in lines)
    return content


LEDGER = Form(_parse_ledger, _write_ledger)


# Seeds.


def plans() -> list[Plan]:
    """A plan of every method and mechanism, and of everything that a plan may have besides."""
    categories = [Plan({"a": ["x", "y"] if name == "Warner" else ["x", "y", "z"]}, 1.0, name) for name in oracles.NAMES]
    reals = [Plan({"a": Grid(0, 7)}, 1.0, name) for name in numbers.NAMES]
    several = [Plan(SMALL, 1.0, f"{kind}[{base}]") for kind in ("SPL", "SMP") for base in ("GRR", "OUE", "ADP")]
    faked = [Plan(SMALL, 1.0, f"RS+FD[{base}]") for base in ("GRR", "SUE-r", "OLH", "SS", "PGR", "ADP")]
    tabled = Plan(SMALL | {"sex": ["F", "M"]}, 1.0, TAB("GRR", tables=[("smokes", "sex"), ("age", "sex")]))
    mixed = {name: domain for name, domain in SCHEMA.items() if name != "age"}
    return [
        *categories,
        *reals,
        *several,
        *faked,
        Plan(SMALL, 1.0, "RS+FD[OUE-z]", unit="attribute"),
        Plan(SMALL, 1.0, "RS+FD[ADP]", unit="attribute"),
        Plan(SMALL, 1.0, RSRFD("GRR", prior={"smokes": [0.25, 0.75], "age": [1, 2, 1]})),
        Plan(SMALL | {"sex": ["F", "M"]}, 1.0, "SMP2[OUE]"),
        Plan(SMALL, 1.0, SPL("GRR", budgets={"smokes": 0.5, "age": 0.5})),
        Plan(SMALL, 1.0, SMP("GRR", weights={"smokes": 1, "age": 3})),
        Plan(SMALL, 1.0, SMP("GRR", assign="rotation")),
        Plan(SMALL | {"pay": Grid(0, 9)}, 1.0, SMP(mechanisms={"pay": "hybrid", "age": "SS"})),
        Plan(SMALL, 1.0, RSFD(published=True)),
        tabled,
        Plan(mixed, 1.0),
        Plan(SMALL, 1.0, public=["age"]),
        Plan({"smokes": ["no", "yes"]}, 1.0, repeat=Repeat(3, epochs=2, epoch_epsilon=2.0)),
        Plan({"smokes": ["no", "yes"]}, 1.0, repeat=Repeat(3, epochs=2, epoch_epsilon=2.0, follow_changes=True)),
        Plan(SMALL, 1.0, "SPL[GRR]", repeat=Repeat(3, epochs=2, epoch_epsilon=2.0)),
    ]


def releases() -> list[Release]:
    """A release of every statistic, of several, by groups, and of people with several rows."""
    wage: dict[str, Any] = {"column": "wage", "bounds": (0, 9)}
    statistics: list[Statistic] = [
        PowerBounds("wage", epsilon=0.5),
        Count(epsilon=0.5),
        Count(epsilon=0.5, delta=1e-6),
        Histogram("smokes", domain=["no", "yes"], epsilon=1.0),
        Histogram("age", domain=Categories(k=50), epsilon=1.0, delta=1e-6),
        Sum(**wage, epsilon=0.3),
        Sum(**wage, epsilon=2.0, delta=1e-3),
        Mean(**wage, epsilon=2.0),
        Variance(**wage, epsilon=1.0, neighbours="replace"),
        WeightedMean("wage", bounds=(0, 9), weight="age", weight_bounds=(0, 40), epsilon=1.0),
        WeightedSum("wage", bounds=(0, 9), weight="age", weight_bounds=(0, 40), epsilon=1.0),
        HistogramQuantiles(**wage, cells=10, epsilon=1.0, quantiles=(0.5,)),
        Quantiles("wage", bounds=Grid(0, 10), epsilon=1.0, quantiles=(0.3, 0.5), method="exponential"),
        Quantiles(**wage, epsilon=1.0, quantiles=(0.3, 0.8), cells=100),
        Quantiles(**wage, epsilon=1.0, quantiles=(0.3, 0.8), method="joint", cells=100),
        Median(**wage, epsilon=1.0, cells=16),
        InverseSensitivity("wage", statistic="mean", bounds=(0, 10), epsilon=1.0),
        Tables({"smokes": ["no", "yes"], "age": Grid(17, 40)}, epsilon=1.0),
        Tables({"smokes": ["no", "yes"], "age": Grid(17, 40)}, epsilon=1.0, delta=1e-6, neighbours="replace"),
        Tables(
            {"smokes": ["no", "yes"], "age": Grid(17, 40), "who": ["1", "2"]},
            tables=[("smokes", "age"), ("age", "who")], epsilon=1.0, delta=1e-6,
        ),
    ]  # fmt: skip
    person = Person("who", rows=3)
    return [
        *(Release(statistic) for statistic in statistics),
        Release({"n": Count(epsilon=0.5), "wages": Mean(**wage, epsilon=0.5)}, by={"smokes": ["no", "yes"]}),
        Release({"n": Count(epsilon=0.5), "h": Histogram("smokes", domain=["no", "yes"], epsilon=1.0)}, person=person),
        Release(
            {"n": Count(epsilon=0.5), "t": Sum(**wage, epsilon=2.0, delta=1e-3)},
            by={"age": Grid(17, 40), "when": Dates("2023-01-01", "2023-03-31", every="month")},
            person=Person("who", rows=4, groups=2, rows_per_group=2),
        ),
        Release(
            Tables({"smokes": ["no", "yes"], "age": Grid(17, 40)}, epsilon=1.0, delta=1e-6),
            person=Person("who", rows=2),
        ),
        Release([Count(epsilon=0.5, delta=1e-6), Sum(**wage, epsilon=0.5)], "smokes", Person("who", rows=3)),
        Release.union([Release({"a": Count(epsilon=0.5)}), Release({"b": Count(epsilon=0.5, delta=1e-6)}, ["age"])]),
    ]


def _results() -> list[Results]:
    names = ("count", "histogram", "mean", "quantiles", "bounds", "tables", "weighted mean")
    published = [item for item in releases() if item.person is None and item.by is None]
    wanted = {item.digest: item for item in published if next(iter(item.statistics.values())).name in names}
    grouped = Release({"n": Count(epsilon=0.5)}, by={"smokes": ["no", "yes"]})
    return [item.publish(item.fold(ROWS), rng=1) for item in [*wanted.values(), grouped]]


def _surveys() -> list[bytes]:
    from tests import surveys

    own = (surveys.ALCOHOL, surveys.HEALTH, surveys.TABLES, surveys.MANY, surveys.ROUNDS, surveys.OPEN)
    return [survey.encode() for survey in own]


def _language() -> bytes:
    from importlib import resources

    return resources.files("bruit.survey").joinpath("texts", "en.toml").read_bytes()


def _parquet(path: Path) -> Any:
    """The texts that a Parquet file carries, from the texts themselves."""
    try:
        texts = json.loads(path.read_bytes())
    except RecursionError:  # of Python's own reader: the whole content is then the text that Spark left
        texts = {"org.apache.spark.sql.parquet.row.metadata": path.read_text("utf-8", "replace")}
    metadata = {str(key): text if isinstance(text, str) else json.dumps(text) for key, text in texts.items()}
    table = pa.table({"a": [1]}).replace_schema_metadata(metadata)
    file = path.with_suffix(".parquet")
    pq.write_table(table, file)
    try:
        return metadata_of(str(file))
    finally:
        file.unlink()


def _first(results: list[Results]) -> list[Result]:
    return [next(iter(item.values())) for item in results]


def _encoded(*texts: str) -> list[bytes]:
    return [text.encode() for text in texts]


def _of_bytes(read: Callable[[bytes], Any]) -> Callable[[Path], Any]:
    return lambda path: read(path.read_bytes())


def _of_dict(read: Callable[[Any], Any]) -> Callable[[Path], Any]:
    return lambda path: read(documents.parsed(path.read_bytes(), "part of a document"))


def _of_text(read: Callable[[str], Any]) -> Callable[[Path], Any]:
    return lambda path: read(path.read_bytes().decode("utf-8", "surrogatepass"))


def _bodies(items: Any) -> list[bytes]:
    return [json.dumps(item.to_dict()).encode() for item in items]


def _sealed(items: Any) -> list[bytes]:
    return [item.to_json().encode() for item in items]


def _cards() -> list[bytes]:
    contents = []
    for plan in plans():
        with contextlib.suppress(BruitError):  # not every plan has one
            contents.append(plan.card().to_bytes())
    return [*contents, OpenPlan("problem", HeavyHitters(2.0)).card().to_bytes()]


def _with_draws(results: Results) -> Result:
    """A result that keeps its noisy sums, which those of a seed do not."""
    result = next(iter(results.values()))
    sums = DrawnSums(DiscreteLaplace(Fraction(7, 2)), np.array([31, -4, 2**60]), 12)
    others = DrawnSums(DiscreteGaussian(Fraction(20)), np.array([30, 5, 7]), 12)
    draws = tuple(Draw(0.5, delta, (own,)) for delta, own in ((0.0, sums), (1e-6, others)))
    return replace(result, draws=Draws(draws, Release(Count(epsilon=1.0)).to_dict()))


def readers(folder: Path) -> dict[str, DocumentReader]:
    """All readers of documents, by what they read."""
    own, asked, results = plans(), releases(), _results()
    kept = [*_first(results), _with_draws(results[0])]
    linked = LongitudinalHashing(oracles.oracle("OLH", epsilon=1.0, k=4), 2.0)
    flipped = DBitFlip(epsilon=1.0, held=2, buckets=3, k=5)
    thresholds = LongitudinalMean(numbers.Duchi(epsilon=1.0, bounds=(0.0, 10.0)), 2.0)
    questions = [OpenQuestion("why", HeavyHitters(2.0)), OpenQuestion("x", HeavyHitters(1, domain=OpenText(letters=3)))]
    panel = Repeated(oracles.oracle("GRR", epsilon=1.0, labels=["bus", "car", "bike"]), epoch=2.0)
    memory = Memory.create(folder / "memory.json", panel)
    memory.reports(["car", "bus"], ["Ada", "Bob"], epoch=0, round=1, rng=1)
    series = ContinualCount(steps=30, epsilon=1.0, delta=1e-6)
    days = series.start(folder / "series.json", rng=1)
    days.add(12, "2026-01-01", rng=1)
    days.add(9, "2026-01-02", rng=1)
    book, private = folder / "book.ledger", create_keys(folder / "key")[0]
    ledger = Ledger.open(book, epsilon=1.0, delta=1e-5)
    ledger.spend(Guarantee(epsilon=0.25, neighbours="add-remove"), "count")
    with ledger.parallel("years") as years:
        years.part("2025").spend(Guarantee(epsilon=0.25, neighbours="add-remove"), "mean")
    zcdp = folder / "rho.ledger"
    Ledger.open(zcdp, rho=0.5).spend(Guarantee(epsilon=0.25, neighbours="add-remove"), "count")
    (folder / "plan.toml").write_text(PUBLICATION)
    publication = Publication.load(folder / "plan.toml")
    published = Published("Visits", "2026-01-01T00:00:00", publication.digest, publication.guarantee,
                          publication.to_dict(), results[0])  # fmt: skip
    schema = Schema(SCHEMA)
    small = Plan(SMALL, 1.0)
    tally = small.tally(small.privatize({"smokes": ["no"] * 40, "age": ["old"] * 40}, rng=1))
    views = {"visitor": list(range(300)) * 4, "page": ["a", "b"] * 600}
    choices = [
        choose_limits(views, Count(epsilon=1.0), person="visitor", epsilon=0.5, most=8, rng=7),
        choose_limits(views, Count(epsilon=1.0), person="visitor", by={"page": ["a", "b"]}, epsilon=0.5, rng=7),
    ]
    estimates = [answer.to_json().encode() for answer in small.estimate(tally).values()]
    language = folder / "language"
    language.mkdir()
    (language / "survey.toml").write_text('title = "T"\nlanguages = ["de"]\nepsilon = 1.0\n' + _ONE_QUESTION)
    texts = {"org.apache.spark.sql.parquet.row.metadata": {"type": "struct", "fields": [
        {"name": "a", "type": "integer", "metadata": {"bruit": "x"}}]}, "bruit": "x"}  # fmt: skip
    domains = [*(attribute.domain for attribute in schema.values()), OpenText(letters=5)]
    statistics = [statistic for release in asked for statistic in release.statistics.values()]
    made = [oracles.oracle(name, epsilon=1.0, k=2 if name == "Warner" else 5) for name in oracles.NAMES]
    reals = [numbers.number(name, epsilon=1.0, bounds=(0.0, 1.0), cells=8) for name in numbers.NAMES]
    plane = numbers.MetricPlane(epsilon=1.0, x=(0, 5), y=(0, 4), unit="km")
    return {
        "plan": DocumentReader(_of_bytes(Plan.from_json), _sealed(own), JSON),
        "card": DocumentReader(_of_bytes(Card.from_bytes), _cards(), CANONICAL),
        "tally": DocumentReader(_of_bytes(Tally.from_json), _sealed([tally]), JSON),
        "bytes of a tally": DocumentReader(_tally_of_bytes, [tally.to_bytes().split(b"\n")[1]], JSON),
        "schema": DocumentReader(_of_text(Schema.from_json), _sealed([schema]), JSON),
        "prior": DocumentReader(
            lambda path: read_prior(path, small.schema),
            [b'{"smokes": [0.4, 0.6], "age": [1, 2, 3]}', estimates[0], b"[" + b",".join(estimates) + b"]"],
            JSON,
        ),
        "release": DocumentReader(_of_bytes(Release.from_json), _sealed(asked), JSON),
        "release by hand": DocumentReader(_of_bytes(Release.from_json), _bodies(asked[-4:]), JSON),
        "result": DocumentReader(_of_bytes(Result.from_json), _sealed(kept), JSON),
        "results": DocumentReader(_of_bytes(Results.from_json), _sealed(results[-2:]), JSON),
        "published": DocumentReader(Published.load, _sealed([published]), JSON),
        "publication": DocumentReader(
            Publication.load, _encoded(PUBLICATION, PUBLICATION_OF_GROUPS, PUBLICATION_IN_RHO), TOML, ".toml"
        ),
        "bounds": DocumentReader(_of_bytes(LimitsChoice.from_json), _sealed(choices), JSON),
        "bounds guide": DocumentReader(_of_dict(LimitsGuide.from_dict), _bodies(c.guide for c in choices), JSON),
        "series": DocumentReader(ContinualSeries.open, [(folder / "series.json").read_bytes()], JSON),
        "continual count": DocumentReader(_of_dict(ContinualCount.from_dict), _bodies([series]), JSON),
        "memory": DocumentReader(lambda path: Memory(path, panel), [memory.path.read_bytes()], JSON),
        "ledger": DocumentReader(Ledger.open, [book.read_bytes(), zcdp.read_bytes()], LEDGER, ".ledger"),
        "head": DocumentReader(SignedHead.load, _sealed([ledger.head.sign(private)]), JSON),
        "survey": DocumentReader(_survey, _surveys(), TOML, ".toml"),
        "language": DocumentReader(lambda path: _in_language(language, path), [_language()], TOML, ".toml"),
        "metadata of Parquet": DocumentReader(_parquet, [json.dumps(texts).encode()], JSON),
        "study": DocumentReader(_manifest, [_study_document()], JSON),
        "domain": DocumentReader(_of_dict(domain_from_dict), _bodies(domains), JSON),
        "attribute": DocumentReader(_of_dict(Attribute.from_dict), _bodies(schema.values()), JSON),
        "statistic": DocumentReader(_of_dict(Statistic.from_dict), _bodies(statistics), JSON),
        "person": DocumentReader(_of_dict(Person.from_dict), _bodies([Person("a", rows=3, groups=2)]), JSON),
        "guarantee": DocumentReader(_of_dict(Guarantee.from_dict), _bodies([small.guarantee, plane.metric]), JSON),
        "oracle": DocumentReader(_of_dict(oracles.from_dict), _bodies(made), JSON),
        "repeated oracle": DocumentReader(_of_dict(Repeated.from_dict), _bodies([panel]), JSON),
        "longitudinal hashing": DocumentReader(_of_dict(LongitudinalHashing.from_dict), _bodies([linked]), JSON),
        "bit flip": DocumentReader(_of_dict(DBitFlip.from_dict), _bodies([flipped]), JSON),
        "O-RR": DocumentReader(_of_dict(HashedResponse.from_dict), _bodies([HashedResponse(epsilon=1.0)]), JSON),
        "RAPPOR": DocumentReader(
            _of_dict(RAPPOR.from_dict),
            _bodies([RAPPOR(epsilon=1.0, epoch_epsilon=2.0), RAPPOR.as_published(f=0.5, p=0.5, q=0.75)]),
            JSON,
        ),
        "longitudinal mean": DocumentReader(_of_dict(LongitudinalMean.from_dict), _bodies([thresholds]), JSON),
        "open question": DocumentReader(_of_bytes(OpenQuestion.from_json), _sealed(questions), JSON),
        "number": DocumentReader(_of_dict(numbers.from_dict), _bodies(reals), JSON),
        "plane": DocumentReader(_of_dict(numbers.MetricPlane.from_dict), _bodies([plane]), JSON),
        "question": DocumentReader(
            _of_text(question),
            [b"smokes=no,yes", b"age=17..90", b"share=0..1:0.01", b"a=0..1/12", b"when=2023-01-01..2023-12-31/month",
             b"agree=no<hardly<yes", b"sports=[run,swim]", b"town=Bern,Basel,...", b'"a b"="x,y","z"'],
            TEXT,
            ".txt",
        ),
        "number question": DocumentReader(_of_text(number_question), [b"age=17..90", b"share=0..1:0.01"], TEXT, ".txt"),
    }  # fmt: skip


def _tally_of_bytes(path: Path) -> Any:
    """A tally from its bytes, whose header these are."""
    magic = Tally(design="d", counts=[1], n=1).to_bytes().partition(b"{")[0]
    body = magic + path.read_bytes() + b"\n" + bytes(8 * 7)
    return Tally.from_bytes(body + hashlib.sha256(body).digest())


_ONE_QUESTION = '[[question]]\nname = "drinks"\ntext = "?"\nkind = "yes-no"\n'


def _survey(path: Path) -> Any:
    survey = Survey.load(path)
    return survey, survey.card, survey.check(), survey.body_length


def _in_language(folder: Path, path: Path) -> Any:
    (folder / "de.toml").write_bytes(path.read_bytes())
    return Survey.load(folder / "survey.toml")


def _study() -> Any:
    from bruit_studies import all_studies

    return next(iter(all_studies()))


def _study_document() -> bytes:
    from bruit_studies.runner import FORMAT

    study = _study()
    body = {"study": study.name, "definition": study.definition("quick"), "seed": 0, "state": "running", "skipped": {}}
    return documents.seal(FORMAT, body).encode()


def _manifest(path: Path) -> Any:
    from bruit_studies.runner import StudyFolder

    store = StudyFolder(path.parent, _study(), "quick")
    store.folder.mkdir(parents=True, exist_ok=True)
    (store.folder / "manifest.json").write_bytes(path.read_bytes())
    return store.manifest()
