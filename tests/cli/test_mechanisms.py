"""Every mechanism through files, from answers to an estimate, and reports that nobody can have sent."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bruit.oracles import NAMES

LABELS = tuple("abcdefghij")  # ten: two bytes of bits, with six that must be zero
PEOPLE = 3000
WIDE = [name for name in NAMES if name != "Warner"]


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("c\n" + "".join(f"{LABELS[i % 4]}\n" for i in range(PEOPLE)))
    return path


def ask(method, output, *more):
    return (
        "privatize",
        "answers.csv",
        f"c={','.join(LABELS)}",
        "-e",
        3,
        "--method",
        method,
        "-o",
        output,
        *more,
    )


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("method", WIDE)
def test_answers_become_reports_and_an_estimate(run, answers, method, kind):
    output = f"r.{kind}"
    told = run(*ask(method, output, "--seed", 5))
    assert f"{PEOPLE:,} reports" in told.out
    found = run("estimate", output, "--target", "people", "--json").json()
    assert (found["n"], found["refused"], found["mechanism"]) == (PEOPLE, 0, method)
    shares = [row["frequency"] for row in found["values"]]
    assert shares == pytest.approx([0.25] * 4 + [0] * 6, abs=0.15)


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", WIDE)
def test_csv_and_parquet_of_one_seed_hold_the_same_reports(run, answers, method):
    for kind in ("parquet", "csv"):
        run(*ask(method, f"r.{kind}", "--seed", 5))
    found = [run("estimate", f"r.{kind}", "--json").json()["values"] for kind in ("parquet", "csv")]
    assert found[0] == found[1]


@pytest.mark.parametrize("method", ["OUE", "SUE", "SS"])
def test_the_reports_of_bits_are_bytes_of_a_fixed_size(run, answers, tmp_path, method):
    run(*ask(method, "r.parquet"))
    assert pq.read_schema(tmp_path / "r.parquet").field("c").type == pa.binary(2)
    run(*ask(method, "r.csv"))
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[0] == "c"
    assert all(re.fullmatch('"?[0-9a-f]{4}"?', line) for line in lines[1:])


#: What is not four hexadecimal digits is no report of two bytes.
UNREADABLE = ["xyz0", "0", "00000", "-001", "0x01", "1e", "00 0", "é000", "", "00٣0"]


@pytest.mark.parametrize("method", ["OUE", "SS"])
def test_texts_that_are_no_report_are_counted_as_refused(run, answers, tmp_path, method):
    run(*ask(method, "r.csv", "--seed", 5))
    honest = (tmp_path / "r.csv").read_text().splitlines()[1:11]
    rows = [*honest, *UNREADABLE, "ffff"]  # the last one has bits that nobody has
    (tmp_path / "forged.csv").write_text("c,n\n" + "".join(f"{row},1\n" for row in rows))
    found = run("estimate", "forged.csv", "--plan", "r.csv.plan.json", "--json").json()
    assert (found["n"], found["refused"]) == (10, len(UNREADABLE) + 1)


def test_hexadecimal_digits_may_be_capitals(run, answers, tmp_path):
    run(*ask("OUE", "r.csv"))
    text = (tmp_path / "r.csv").read_text()
    (tmp_path / "capitals.csv").write_text("c\n" + text.partition("\n")[2].upper())
    found = [run("estimate", name, "--plan", "r.csv.plan.json", "--json").json() for name in ("r.csv", "capitals.csv")]
    assert found[0] == found[1]


@pytest.mark.parametrize("labels", ["abcdefgh", "abcdefghij"])
def test_texts_that_are_no_report_are_refused_also_where_every_row_of_bits_is_possible(run, tmp_path, labels):
    (tmp_path / "t.csv").write_text("c\na\nb\n")
    run("privatize", "t.csv", f"c={','.join(labels)}", "-e", 1, "--method", "OUE", "-o", "r.csv")
    (tmp_path / "forged.csv").write_text("c\nzz\nhello\n")
    refused = run("estimate", "forged.csv", "--plan", "r.csv.plan.json", "--tally", "t.json", code=3)
    assert "Traceback" not in refused.err
    both = run("estimate", "r.csv", "forged.csv", "--plan", "r.csv.plan.json", "--json").json()
    assert (both["n"], both["refused"]) == (2, 2)


def test_rows_of_bytes_with_bits_that_nobody_has_are_counted_as_refused(run, answers, tmp_path):
    for method in ("OUE", "SS"):
        run(*ask(method, f"{method}.parquet"))
        honest = pq.read_table(tmp_path / f"{method}.parquet")
        forged = pa.array([b"\xff\xff", b"\x00\xfc"], pa.binary(2))
        pq.write_table(
            pa.table({"c": pa.chunked_array([honest["c"].combine_chunks(), forged])}), tmp_path / "f.parquet"
        )
        found = run("estimate", "f.parquet", "--plan", f"{method}.parquet.plan.json", "--json").json()
        assert (found["n"], found["refused"]) == (PEOPLE, 2)


@pytest.mark.parametrize(
    "column",
    [pa.array([b"abc"], pa.binary(3)), pa.array([1, 2]), pa.array([0.5]), pa.array([b"ab", None], pa.binary(2))],
)
def test_reports_of_another_shape_are_refused_as_a_whole(run, answers, tmp_path, column):
    run(*ask("OUE", "r.parquet"))
    pq.write_table(pa.table({"c": column}), tmp_path / "f.parquet")
    refused = run("estimate", "f.parquet", "--plan", "r.parquet.plan.json", code=3)
    assert "Traceback" not in refused.err


def test_hexadecimal_reports_in_a_parquet_column_of_text_are_read_too(run, answers, tmp_path):
    run(*ask("OUE", "r.parquet", "--seed", 5))
    rows = pq.read_table(tmp_path / "r.parquet")["c"].to_pylist()
    pq.write_table(pa.table({"c": [row.hex() for row in rows] + ["?", None]}), tmp_path / "t.parquet")
    found = run("estimate", "t.parquet", "--plan", "r.parquet.plan.json", "--json").json()
    same = run("estimate", "r.parquet", "--json").json()
    assert (found["n"], found["refused"]) == (PEOPLE, 2)
    assert found["values"] == same["values"]


def test_a_report_of_numbers_is_refused_where_it_is_no_whole_number(run, answers, tmp_path):
    run(*ask("GRR", "r.csv"))
    rows = ["3", "9", "10", "-1", "1.0", "٣", "9" * 30, "x"]
    (tmp_path / "f.csv").write_text("c\n" + "\n".join(rows) + "\n")
    found = run("estimate", "f.csv", "--plan", "r.csv.plan.json", "--json").json()
    assert found["n"] + found["refused"] == len(rows)
    assert found["n"] <= 3
    assert np.isfinite([row["frequency"] for row in found["values"]]).all()
