"""The list of possible answers, and answers that are no texts."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bruit

SECRET = "s3cr3t-value"


def write(path, values, kind=None):
    pq.write_table(pa.table({"a": pa.array(values, kind)}), path)


def labels_of(path):
    (mechanism,) = bruit.Plan.from_json(path.read_text()).mechanisms.values()
    return mechanism.labels


COLUMNS = {
    "whole numbers": ([10, 9, 1] * 40, pa.int16(), ("1", "9", "10")),
    "whole numbers with gaps": ([10, None, 9, 1] * 40, pa.int64(), ("1", "9", "10")),
    "large numbers": ([2**60 + 1, 2**60 + 2] * 50, pa.int64(), ("1152921504606846977", "1152921504606846978")),
    "booleans": ([True, False] * 50, None, ("false", "true")),
    "booleans with gaps": ([True, None, False] * 50, None, ("false", "true")),
    "whole floats with gaps": ([2.0, None, 1.0, -0.0] * 40, None, ("0", "1", "2")),
    "halves": ([0.1, 2.5, 1.0] * 40, pa.float32(), ("0.1", "1", "2.5")),
    "a dictionary of numbers": (pa.array([3, 1, 3, 1]).dictionary_encode(), None, ("1", "3")),
    "texts": (["b", "a", None] * 40, None, ("a", "b")),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_a_column_of_any_kind_is_compared_as_text(run, tmp_path, case):
    values, kind, labels = COLUMNS[case]
    write(tmp_path / "t.parquet", values, kind)
    common = ("-e", 8, "--missing", "drop", "--seed", 5, "--method", "GRR")
    run("privatize", "t.parquet", f"a={','.join(labels)}", *common, "-o", "r.parquet")
    assert labels_of(tmp_path / "r.parquet.plan.json") == labels
    present = [value for value in pa.array(values, kind).to_pylist() if value is not None]
    found = run("estimate", "r.parquet", "--target", "people", "--json").json()
    assert found["n"] == len(present)
    assert found["values"][0]["frequency"] == pytest.approx(1 / len(labels), abs=0.2)


def test_the_same_answers_give_the_same_plan_from_csv_and_parquet(run, tmp_path):
    write(tmp_path / "t.parquet", [10, 9, 1] * 10)
    (tmp_path / "t.csv").write_text("a\n" + "10\n9\n1\n" * 10)
    for kind in ("parquet", "csv"):
        run("privatize", f"t.{kind}", "a=?", "-e", 1, "-o", f"r.{kind}", "--seed", 3)
    plans = [(tmp_path / f"r.{kind}.plan.json").read_text() for kind in ("parquet", "csv")]
    assert plans[0] == plans[1]
    found = [run("estimate", f"r.{kind}", "--json").json()["values"] for kind in ("parquet", "csv")]
    assert found[0] == found[1]


def test_a_boolean_takes_the_spelling_that_was_declared(run, tmp_path):
    write(tmp_path / "t.parquet", [True, False] * 10)
    run("privatize", "t.parquet", "a=False,True", "-e", 1, "-o", "r.parquet")
    assert run("estimate", "r.parquet", "--json").json()["n"] == 20


def test_a_number_outside_the_list_is_refused_without_showing_it(run, tmp_path):
    write(tmp_path / "t.parquet", [1, 2, 987654])
    refused = run("privatize", "t.parquet", "a=1,2", "-e", 1, "-o", "r.parquet", code=3)
    assert "declared labels" in refused.err
    assert "987654" not in refused.err


def test_a_plan_with_labels_that_are_numbers_reads_numbers_as_before(run, tmp_path):
    (tmp_path / "plan.json").write_text(bruit.Plan({"a": [1, 2]}, epsilon=1.0).to_json())
    write(tmp_path / "t.parquet", [1, 2, 2])
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    for kind, rows in (("parquet", 3), ("csv", 2)):
        assert f"{rows} reports" in run("privatize", f"t.{kind}", "--plan", "plan.json", "-o", f"r.{kind}").out


def test_a_file_without_a_header_does_not_show_a_person(run, tmp_path):
    (tmp_path / "t.csv").write_text("HIV-positive,Ann\nHIV-negative,Bob\n")
    refused = run("privatize", "t.csv", "status=a,b", "-e", 1, "-o", "r.csv", code=3)
    assert "2 cells" in refused.err
    assert "HIV" not in refused.err
    assert "Ann" not in refused.err


def test_numbers_without_a_header_are_refused_by_every_command_that_reads_a_table(run, tmp_path):
    (tmp_path / "t.csv").write_text("41,0\n52,1\n")
    for command in (
        ("privatize", "t.csv", "41=0..100", "-e", 1, "-o", "r.csv"),
        ("release", "t.csv", "--mean", "41=0..100", "-e", 1),
        ("release", "t.csv", "--count", "-e", 1),
    ):
        told = run(*command, code=3)
        assert "put a line of column names above it" in " ".join(told.err.split())
        assert "52" not in told.err


def test_another_delimiter_is_hinted_at(run, tmp_path):
    (tmp_path / "t.csv").write_text("a;b\nx;y\n")
    refused = run("privatize", "t.csv", "a=x,y", "-e", 1, "-o", "r.csv", code=3)
    assert "--csv delimiter=" in refused.err
    run("privatize", "t.csv", "a=x,y", "-e", 1, "-o", "r.csv", "--csv", "delimiter=;")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_missing_answers_are_refused_with_the_option_that_helps(run, tmp_path, name):
    (tmp_path / "t.csv").write_text("a,b\nx,1\n,1\n")
    write(tmp_path / "t.parquet", [1.0, None])
    refused = run("privatize", name, "a=x,1", "-e", 1, "-o", "r.csv", code=3)
    assert "--missing drop" in refused.err


@pytest.mark.parametrize("values", ["no", "", "@one.txt", "@none.txt"])
def test_a_list_of_one_answer_is_refused_with_the_right_spelling(run, survey, tmp_path, values):
    (tmp_path / "one.txt").write_text("no\n\n")
    (tmp_path / "none.txt").write_text("")
    refused = run("privatize", survey, f"smokes={values}", "-e", 1, "-o", "r.csv", code=4 if "@" in values else 2)
    assert ("two lines or more" if "@" in values else "write as in smokes=no,yes") in " ".join(refused.err.split())


def test_data_with_one_answer_give_no_list(run, tmp_path):
    (tmp_path / "t.csv").write_text(f"a\n{SECRET}\n{SECRET}\n")
    refused = run("privatize", "t.csv", "a=?", "-e", 1, "-o", "r.csv", code=3)
    assert "two or more different values" in refused.err
    assert SECRET not in refused.err


def test_a_list_in_a_file_must_be_utf_8_and_may_have_a_mark_and_any_line_end(run, survey, tmp_path):
    ask = ("privatize", survey, "smokes=@list.txt", "-e", 1, "-o", "r.csv")
    (tmp_path / "list.txt").write_bytes("no\nyes\nperdüe\n".encode("latin-1"))
    refused = run(*ask, code=4)
    assert "list.txt' must be a text in UTF-8" in refused.err
    (tmp_path / "list.txt").write_bytes("\ufeffno\r\nyes\r\nseparated\u2028line".encode())
    run(*ask)
    assert labels_of(tmp_path / "r.csv.plan.json") == ("no", "yes", "separated\u2028line")


def test_a_list_over_two_lines_is_refused(run, survey):
    refused = run("privatize", survey, "smokes=no\nyes", "-e", 1, "-o", "r.csv", code=2)
    assert "smokes must list its answers with commas" in refused.err


@pytest.mark.parametrize(
    "option",
    [
        ("--missing", "drop"),
        ("--method", "GRR"),
        ("--epsilon", "1"),
        ("smokes=no,yes",),
    ],
)
def test_a_plan_and_an_option_that_it_settles_are_not_given_together(run, survey, tmp_path, option):
    (tmp_path / "plan.json").write_text(bruit.Plan({"smokes": ["no", "yes"]}, epsilon=1.0).to_json())
    refused = run("privatize", survey, "--plan", "plan.json", *option, "-o", "r.csv", code=2)
    assert (option[0] if option[0].startswith("--") else "a question") in refused.err
    run("privatize", survey, "--plan", "plan.json", "-o", "r.csv")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--method", "XYZ"), "--method must be one of 'Warner', 'GRR'"),
        (("--seed", "-3"), "--seed must be a whole number, 0 or above"),
        (("--missing", "ignore"), "--missing must be one of 'refuse', 'drop', 'category'"),
    ],
)
def test_a_bad_option_is_named_as_it_is_typed(run, survey, option, message):
    refused = run("privatize", survey, "smokes=no,yes", "-e", 1, "-o", "r.csv", *option, code=2)
    assert message in refused.err


def test_a_seed_to_csv_warns_that_the_file_cannot_say_so(run, survey):
    common = ("privatize", survey, "smokes=no,yes", "-e", 1, "--seed", 1, "-o")
    assert "CSV file cannot say so" in " ".join(run(*common, "r.csv").err.split())
    assert "CSV" not in run(*common, "r.parquet").err


def test_a_method_in_any_case_is_one_method(run, survey, tmp_path):
    for name, output in (("oue", "a.csv"), ("OUE", "b.csv")):
        run("privatize", survey, "smokes=no,yes", "-e", 1, "--method", name, "-o", output)
    assert (tmp_path / "a.csv.plan.json").read_text() == (tmp_path / "b.csv.plan.json").read_text()
