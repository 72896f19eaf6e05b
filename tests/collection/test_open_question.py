"""Open questions in files: reports and their document appear together, and hostile rows are refused."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit import Plan
from bruit.collection import OpenQuestion
from bruit.domains import OpenText
from bruit.errors import BruitError, DataError, DesignError, FormatError, MissingError, ParameterError
from bruit.estimation import Tally
from bruit.open_answers import HeavyHitters, OpenReports
from bruit.testing.hostile import LINES


def question(letters=2, epsilon=2.0, name="why"):
    return OpenQuestion(name, HeavyHitters(epsilon, domain=OpenText(letters=letters)))


@pytest.fixture
def answers(tmp_path):
    rows = [("No", "yes", "la vie")[number % 3] for number in range(3000)]
    (tmp_path / "a.csv").write_text("id,why\n" + "".join(f"{place},{text}\n" for place, text in enumerate(rows)))
    return tmp_path / "a.csv"


def test_a_tally_beside_reports_is_refused_with_what_to_name(tmp_path):
    question = OpenQuestion("why", HeavyHitters(2.0))
    question.privatize({"why": ["noise"] * 9}, to=tmp_path / "r.csv")
    tally = Tally(design=question.digest, counts=np.zeros(0, np.int64), n=5)
    (tmp_path / "t.json").write_text(tally.to_json())
    for sources in ((tmp_path / "r.csv", tmp_path / "t.json"), (tmp_path / "t.json",)):
        with pytest.raises(DataError, match="name the files of reports"):
            question.gather(*sources)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_answers_come_back_from_reports_in_files(answers, tmp_path, kind):
    asked, to = question(), tmp_path / f"r.{kind}"
    assert asked.privatize(answers, to=to) == 3000
    assert OpenQuestion.load(to) == asked
    result = OpenQuestion.load(to).estimate(to)
    assert {"no", "ye", "la"} <= set(result.labels)
    assert abs(result.frequency[0] - 1 / 3) < 7 * result.standard_error[0]
    assert (result.name, result.n, result.refused, result.simulated) == ("why", 3000, 0, False)
    asked.privatize(answers, rng=1, to=to, replace=True)
    assert asked.estimate(to).simulated is (kind == "parquet")


def test_a_file_and_a_table_have_the_same_reports(answers, tmp_path):
    asked = question()
    asked.privatize(answers, rng=5, to=tmp_path / "r.parquet")
    rows = asked.privatize({"why": ["No", "yes", "la vie"] * 1000}, rng=5)["why"]
    assert pq.read_table(tmp_path / "r.parquet")["why"].to_pylist() == [row.tobytes() for row in rows]
    assert asked.valid({"why": rows}).all()
    assert asked.gather({"why": rows}).n == asked.gather(tmp_path / "r.parquet").n == 3000


def test_one_row_of_a_file_is_one_report_or_one_refusal(answers, tmp_path):
    asked, to = question(), tmp_path / "r.csv"
    asked.privatize(answers, to=to)
    honest = to.read_bytes()
    dirty = [line + b"\n" for piece in LINES for line in piece.split(b"\n")]
    to.write_bytes(honest + b"".join(dirty))
    gathered = asked.gather(to)
    assert isinstance(gathered, OpenReports)
    assert gathered.n + gathered.refused == 3000 + len(dirty)
    assert gathered.n - 3000 == question().count({"why": [line.strip(b"\r\n").decode("latin-1") for line in dirty]}).n
    cells = [b"", b"x", b"\xff" * 9, None, b"\0" * 9, b"\0" * 10]
    pq.write_table(pa.table({"why": pa.array(cells, pa.binary())}), tmp_path / "h.parquet")
    assert (asked.gather(tmp_path / "h.parquet").n, asked.gather(tmp_path / "h.parquet").refused) == (1, 5)


def test_reports_of_another_design_are_refused(answers, tmp_path):
    for letters in (2, 3):
        question(letters).privatize(answers, to=tmp_path / f"r{letters}.parquet")
    with pytest.raises(DesignError, match="another plan"):
        question(2).estimate(tmp_path / "r2.parquet", tmp_path / "r3.parquet")
    with pytest.raises(ParameterError, match="named twice"):
        question(2).estimate(tmp_path / "r2.parquet", tmp_path / "r2.parquet")
    with pytest.raises(FormatError, match="open-question"):
        Plan.load(tmp_path / "r2.parquet")


def test_reports_are_replaced_only_on_request(answers, tmp_path):
    to = tmp_path / "r.csv"
    question().privatize(answers, to=to)
    with pytest.raises(ParameterError, match="exists"):
        question().privatize(answers, to=to)
    to.unlink()
    question().privatize(answers, to=to)  # the document beside it is of this very question
    to.unlink()
    with pytest.raises(ParameterError, match="another plan"):
        Plan({"why": ["a", "b"]}, 1.0).privatize({"why": ["a"]}, to=to)


def test_gaps_are_refused_before_a_report_appears(tmp_path):
    (tmp_path / "a.csv").write_text("why\nno\n\n  \n")
    with pytest.raises(MissingError):
        question().privatize(tmp_path / "a.csv", to=tmp_path / "r.csv")
    assert not (tmp_path / "r.csv").exists()
    dropping = OpenQuestion("why", HeavyHitters(2.0, domain=OpenText(missing="drop")))
    assert dropping.privatize(tmp_path / "a.csv", to=tmp_path / "r.csv") == 1


def test_a_question_survives_its_document_and_damage_is_refused():
    asked = question()
    assert OpenQuestion.from_json(asked.to_json()) == asked
    body = json.loads(asked.to_json())
    for key in body:
        if key != "digest":
            with pytest.raises(FormatError):
                OpenQuestion.from_json(json.dumps({**body, key: "x"}))
    from bruit import documents

    for change in ({"guarantee": {}}, {"epsilon": 3.0}, {"question": 1}, {"mechanism": "GRR"}, {"more": 1}):
        sealed = documents.seal("bruit.open-question/1", {**asked.to_dict(), **change})
        with pytest.raises(FormatError):
            OpenQuestion.from_json(sealed)
    assert "why" in asked._repr_html_()


@pytest.mark.parametrize(("name", "mechanism"), [("", HeavyHitters(1.0)), (3, HeavyHitters(1.0)), ("why", None)])
def test_a_question_that_cannot_be_is_refused(name, mechanism):
    with pytest.raises(BruitError):
        OpenQuestion(name, mechanism)


def test_one_seed_gives_one_file_whatever_its_kind(answers, tmp_path):
    for kind in ("csv", "parquet"):
        question().privatize(answers, rng=3, to=tmp_path / f"r.{kind}")
    rows = [question().gather(tmp_path / f"r.{kind}").rows for kind in ("csv", "parquet")]
    assert np.array_equal(*rows)


def test_a_table_without_the_column_is_refused():
    question = OpenQuestion("why", HeavyHitters(2.0, domain=OpenText(letters=3)))
    for attempt in (question.privatize, question.count, question.encode):
        with pytest.raises(DataError, match="must have a column 'why'"):
            attempt({"other": ["a"]})
