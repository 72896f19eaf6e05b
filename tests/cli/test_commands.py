"""The commands, as a user meets them."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bruit

SECRET = "s3cr3t-value"


ASK = ("smokes=no,yes", "--epsilon", "1", "-o", "reports.parquet")


def test_a_file_becomes_reports_and_reports_become_an_estimate(run, survey, tmp_path):
    told = run("privatize", survey, *ASK)
    assert "3,000 reports written to reports.parquet" in told.out
    assert "26 % at least and 74 % at most" in told.out
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["answers.csv", "reports.parquet", "reports.parquet.plan.json"]
    shown = run("estimate", "reports.parquet")
    assert "yes" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    values = run("estimate", "reports.parquet", "--json").json()["values"]
    assert values[1]["label"] == "yes"
    assert values[1]["lower"] - 0.1 < 1 / 3 < values[1]["upper"] + 0.1


def test_reports_hold_nothing_but_the_column_and_the_digest_of_their_plan(run, survey, tmp_path):
    run("privatize", survey, *ASK)
    table = pq.read_table(tmp_path / "reports.parquet")
    assert table.column_names == ["smokes"]
    plan = bruit.Plan.from_json((tmp_path / "reports.parquet.plan.json").read_text())
    metadata = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert metadata["bruit.plan"] == plan.digest
    assert metadata["bruit.simulated"] == "false"


def test_a_seed_gives_the_reports_of_the_library_and_marks_them(run, survey, tmp_path):
    told = run("privatize", survey, *ASK, "--seed", 7)
    assert "not private" in told.err
    plan = bruit.Plan({"smokes": ["no", "yes"]}, epsilon=1.0)
    expected = plan.privatize({"smokes": ["yes" if i % 3 == 0 else "no" for i in range(3000)]}, rng=7)["smokes"]
    found = pq.read_table(tmp_path / "reports.parquet")["smokes"].to_numpy()
    assert (found == expected).all()
    assert run("estimate", "reports.parquet", "--json").json()["simulated"] is True


def test_the_domain_is_not_taken_from_the_data_in_silence(run, survey):
    refused = run("privatize", survey, "smokes", "--epsilon", 1, "-o", "r.parquet", code=2)
    assert "must be declared" in refused.err
    assert "smokes=?" in refused.err
    told = run("privatize", survey, "smokes=?", "--epsilon", 1, "-o", "r.parquet")
    assert "was read from the data" in " ".join(told.err.split())
    assert run("estimate", "r.parquet", "--json").json()["n"] == 3000


def test_a_plan_can_be_given_instead_and_not_besides(run, survey, tmp_path):
    run("privatize", survey, *ASK)
    run("privatize", survey, "--plan", "reports.parquet.plan.json", "-o", "again.csv")
    assert (tmp_path / "again.csv.plan.json").read_text() == (tmp_path / "reports.parquet.plan.json").read_text()
    both = run("privatize", survey, "--plan", "reports.parquet.plan.json", "--epsilon", 2, "-o", "x.parquet", code=2)
    assert "--epsilon" in both.err
    joined = run("estimate", "reports.parquet", "again.csv", "--json").json()
    assert joined["n"] == 6000


def test_reports_are_not_replaced_unless_forced(run, survey):
    run("privatize", survey, *ASK)
    assert "exists" in run("privatize", survey, *ASK, code=2).err
    run("privatize", survey, *ASK, "--force")


def test_a_value_outside_the_domain_is_refused_without_showing_it(run, tmp_path):
    (tmp_path / "bad.csv").write_text(f"smokes\nno\n{SECRET}\n")
    refused = run("privatize", "bad.csv", *ASK, code=3)
    assert "among the declared labels" in refused.err
    assert SECRET not in refused.err + refused.out
    assert not (tmp_path / "reports.parquet").exists()


def test_missing_answers_follow_the_flags(run, tmp_path):
    (tmp_path / "gaps.csv").write_text("smokes;x\nno;1\n;1\n?;1\nyes;1\n")
    csv = ("--csv", "delimiter=;", "--csv", "missing=?")
    assert "missing" in run("privatize", "gaps.csv", *ASK, *csv, code=3).err
    run("privatize", "gaps.csv", *ASK, *csv, "--missing", "drop", "--force")
    assert run("estimate", "reports.parquet", "--json").json()["n"] == 2
    run("privatize", "gaps.csv", *ASK, *csv, "--missing", "category", "--force")
    counted = run("estimate", "reports.parquet", "--json").json()
    assert [row["label"] for row in counted["values"]] == ["no", "yes", "(missing)"]


def test_a_missing_answer_is_not_lost_where_it_is_the_only_column(run, tmp_path):
    answers = "smokes\nno\nyes\n\nno\n\n\nyes\n"
    (tmp_path / "alone.csv").write_text(answers)
    assert "missing" in run("privatize", "alone.csv", *ASK, code=3).err
    for file in ("alone.csv", "-"):
        done = run("privatize", file, *ASK, "--missing", "category", "--force", stdin=answers.encode())
        assert "7 reports" in done.out
    assert run("estimate", "reports.parquet", "--json").json()["n"] == 7
    run("privatize", "alone.csv", *ASK, "--missing", "drop", "--force")
    assert run("estimate", "reports.parquet", "--json").json()["n"] == 4
    counted = run("release", "alone.csv", "--count", "-e", 20, "--seed", 1, "--json").json()
    assert counted["values"][0]["value"] == 7  # at ε = 20 the noise of this seed is 0


def test_standard_input_is_read(shell):
    done = shell("privatize", "-", *ASK, stdin=b"smokes\nno\nyes\n")
    assert done.code == 0, done.err
    assert "2 reports" in done.out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("privatize", "absent.csv", *ASK), (3, 4)),
        (("estimate", "absent.parquet"), (4,)),
        (("estimate",), (2,)),
        (("privatize", "answers.csv", "absent=a,b", "--epsilon", "1", "-o", "r.csv"), (3,)),
        (("privatize", "answers.csv", "smokes=no,yes", "--epsilon", "-1", "-o", "r.csv"), (2,)),
        (("privatize", "answers.csv", "smokes=no,yes", "--epsilon", "1", "-o", "r.txt"), (2,)),
        (("privatize", "answers.csv", "smokes=no", "--epsilon", "1", "-o", "r.csv"), (2,)),
        (("privatize", "answers.csv", "smokes=no,yes", "-o", "r.csv"), (2,)),
        (("privatize", "answers.csv", "--epsilon", "1", "-o", "r.csv"), (2,)),
        (("privatize", "answers.csv", *ASK, "--method", "magic"), (2,)),
        (("audit",), (2,)),
        (("data", "unknown"), (2,)),
        (("nonsense",), (2,)),
    ],
)
def test_a_mistake_ends_with_its_code_and_one_message(run, survey, arguments, code):
    ended = run(*arguments, code=None)
    assert ended.code in code, ended
    assert "Traceback" not in ended.err
    assert ended.err.strip()
    assert ended.out == ""


def test_damaged_files_are_refused(run, survey, tmp_path):
    run("privatize", survey, *ASK)
    plan, reports = tmp_path / "reports.parquet.plan.json", tmp_path / "reports.parquet"
    whole = reports.read_bytes()
    reports.write_bytes(whole[: len(whole) // 2])
    assert "Traceback" not in run("estimate", "reports.parquet", code=4).err
    reports.write_bytes(whole)
    plan.write_text(plan.read_text().replace('"yes"', '"Yes"'))
    assert "changed or damaged" in " ".join(run("estimate", "reports.parquet", code=4).err.split())
    plan.unlink()
    assert "--plan" in run("estimate", "reports.parquet", code=4).err


def test_answers_that_are_not_private_are_no_reports_and_it_is_said_how_they_become_some(run, survey):
    told = " ".join(run("estimate", "answers.csv", code=4).err.split())
    assert "make reports of them first: bruit privatize answers.csv" in told
    run("privatize", "answers.csv", "smokes=no,yes", "-e", 1, "-o", "reports.csv")
    told = " ".join(run("estimate", "answers.csv", "--plan", "reports.csv.plan.json", code=3).err.split())
    assert "Answers that were not made private are no reports" in told


def test_reports_of_another_plan_are_refused(run, survey, tmp_path):
    run("privatize", survey, *ASK)
    other = bruit.Plan({"smokes": ["no", "yes"]}, epsilon=2.0)
    (tmp_path / "other.json").write_text(other.to_json())
    refused = run("estimate", "reports.parquet", "--plan", "other.json", code=4)
    assert "another plan" in refused.err


def test_forged_reports_are_counted_as_refused(run, survey, tmp_path):
    run("privatize", survey, *ASK)
    (tmp_path / "forged.csv").write_text("smokes\n0\n1\n7\n-1\n99999999999999999999999\nx\n\n1.0\n")
    found = run("estimate", "forged.csv", "--plan", "reports.parquet.plan.json", "--json").json()
    assert (found["n"], found["refused"]) == (2, 6)


@pytest.mark.parametrize(
    "forged", [b'"1', b"1,1", b"\xff\xfe", b"1\r1", b"", pytest.param(b"x" * 3_000_000, id="long")]
)
def test_one_forged_line_takes_no_other_report_with_it(run, tmp_path, forged):
    plan = bruit.Plan({"smokes": ["no", "yes"]}, epsilon=1.0)
    (tmp_path / "plan.json").write_text(plan.to_json())
    data = b"smokes\n" + b"0\n1\n" * 250 + forged + b"\n" + b"1\n0\n" * 250
    (tmp_path / "r.csv").write_bytes(data)
    (tmp_path / "r.csv.gz").write_bytes(gzip.compress(data))
    for file in ("r.csv", "r.csv.gz"):
        found = run("estimate", file, "--plan", "plan.json", "--json").json()
        assert (found["n"], found["refused"]) == (1000, 1)
    piped = run("estimate", "-", "--plan", "plan.json", "--json", stdin=data).json()
    assert (piped["n"], piped["refused"]) == (1000, 1)


@pytest.mark.parametrize("method", ["OUE", "OLH", "SS"])
def test_one_forged_row_of_bytes_takes_no_other_report_with_it(run, survey, tmp_path, method):
    run("privatize", survey, *ASK, "--method", method)
    reports = pq.read_table(tmp_path / "reports.parquet")["smokes"].cast(pa.binary()).to_pylist()
    forged = pa.array([None, *reports[:100], b"", b"\xff" * 99, *reports[100:]], pa.binary())
    pq.write_table(pa.table({"smokes": forged}), tmp_path / "forged.parquet")
    found = run("estimate", "forged.parquet", "--plan", "reports.parquet.plan.json", "--json").json()
    assert (found["n"], found["refused"]) == (3000, 3)


def test_forged_reports_do_not_stop_an_attack(run, tmp_path):
    plan = bruit.Plan({"a": ["0", "1"], "b": ["0", "1", "2"]}, 1.0, "RS+FD[GRR]")
    (tmp_path / "plan.json").write_text(plan.to_json())
    made = plan.privatize({"a": ["0", "1"] * 150, "b": ["0", "1", "2"] * 100}, rng=1)
    rows = [f"{a},{b}" for a, b in zip(made["a"], made["b"], strict=True)]
    (tmp_path / "honest.csv").write_text("\n".join(["a,b", *rows, ""]))
    (tmp_path / "r.csv").write_text("\n".join(["a,b", *rows[:9], "1,9", "x,1", '"1', "", *rows[9:], ""]))
    found = run("attack", "r.csv", "--plan", "plan.json", "--json").json()
    assert (found["people"], found["refused"]) == (300, 4)
    assert (
        found["expected_right"] == run("attack", "honest.csv", "--plan", "plan.json", "--json").json()["expected_right"]
    )
    assert "300 people by RS+FD[GRR], 4 refused" in run("attack", "r.csv", "--plan", "plan.json").out


def test_tallies_can_be_written_and_added(run, survey):
    run("privatize", survey, *ASK)
    run("estimate", "reports.parquet", "--tally", "one.json")
    both = run("estimate", "one.json", "reports.parquet", "--plan", "reports.parquet.plan.json", "--json").json()
    assert both["n"] == 6000


def test_options_of_the_estimate_do_what_they_say(run, survey):
    run("privatize", survey, *ASK)
    plain = run("estimate", "reports.parquet", "--json").json()["values"][1]
    people = run("estimate", "reports.parquet", "--json", "--target", "people").json()["values"][1]
    wide = run("estimate", "reports.parquet", "--json", "--level", "0.99", "--simultaneous").json()["values"][1]
    assert people["upper"] - people["lower"] < plain["upper"] - plain["lower"] < wide["upper"] - wide["lower"]
    mended = run("estimate", "reports.parquet", "--consistent", "norm-sub", "--json").json()["values"]
    assert sum(row["consistent"] for row in mended) == pytest.approx(1)
    assert "norm-sub" in run("estimate", "reports.parquet", "--consistent", "norm-sub").out
    run("estimate", "reports.parquet", "--target", "everyone", code=2)
    run("estimate", "reports.parquet", "--consistent", "magic", code=2)


def test_the_audit_confirms_a_mechanism_and_a_plan(run, survey):
    found = run("audit", "--epsilon", 1, "--k", 5, "--trials", 20_000, "--seed", 1, "--json").json()
    assert found["holds"] is True
    assert 0.5 < found["empirical"]["lower"] <= 1 >= found["stated"]
    run("privatize", survey, *ASK)
    assert "holds" in run("audit", "reports.parquet.plan.json", "--trials", 5000, "--seed", 1).out
    assert run("audit", "--method", "Warner", "--trials", 0, "--json").json()["exact"]["ratio"] == "3"


def test_an_audit_that_fails_ends_with_one(run, monkeypatch):
    """The control: a mechanism that states less than it leaks is found out."""
    from bruit.oracles import RandomizedResponse
    from bruit.privacy import Guarantee

    lie = Guarantee(epsilon=0.5, neighbours="value")
    monkeypatch.setattr(RandomizedResponse, "guarantee", property(lambda self: lie))
    assert "DOES NOT HOLD" in run("audit", "--epsilon", 1, "--k", 2, "--trials", 50_000, code=1).out


def test_data_sets_are_listed_described_and_written(run, tmp_path):
    assert "adult" in run("data").out
    assert run("data", "--json").json()["nursery"]["rows"] == 12960
    assert "CC BY" in run("data", "adult").out
    run("data", "adult", "--column", "marital-status", "-o", "adult.csv")
    lines = (tmp_path / "adult.csv").read_text().splitlines()
    assert lines[0] == "marital-status"
    assert len(lines) == 48_843
    assert run("data", "iris", "-c", "species", "-o", "-").out.splitlines()[0] == "species"


def test_help_and_version_are_there_for_every_command(run):
    assert run("--version").out.strip() == f"bruit {bruit.__version__}"
    for command in ((), ("tour",), ("privatize",), ("estimate",), ("choose",), ("people",), ("audit",), ("data",)):
        told = run(*command, "--help")
        assert max(map(len, told.out.splitlines())) <= 80


@pytest.mark.parametrize("group", ["", "attack", "continual", "ledger", "study", "survey"])
def test_no_line_of_a_list_of_commands_is_cut(run, group):
    told = run(*group.split(), "-h").out
    assert "..." not in told.partition("Commands:")[2]
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.audit
def test_colours_are_left_out_when_asked(run, shell, survey):
    run("privatize", survey, *ASK)
    told = shell("estimate", "reports.parquet", env={"NO_COLOR": "1", "FORCE_COLOR": "1"})
    assert "\x1b[3" not in told.out


def test_the_shell_can_complete_commands(shell):
    done = shell(env={"_BRUIT_COMPLETE": "complete_bash", "COMP_WORDS": "bruit priv", "COMP_CWORD": "1"})
    assert "privatize" in done.out


def test_a_hundred_values_fit_the_terminal(run, tmp_path):
    values = [f"category number {i} with a very long name indeed" for i in range(100)]
    (tmp_path / "many.csv").write_text("c\n" + "\n".join(np.repeat(values, 30)) + "\n")
    (tmp_path / "values.txt").write_text("\n".join(values))
    run("privatize", "many.csv", "c=@values.txt", "-e", 5, "-o", "r.parquet")
    shown = run("estimate", "r.parquet")
    assert "and 80 less frequent values" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    assert len(run("estimate", "r.parquet", "--rows", 0).out.splitlines()) > 100


def test_values_with_commas_can_be_declared(run, tmp_path):
    (tmp_path / "a.csv").write_text('c\n"a, b"\nc\n')
    run("privatize", "a.csv", 'c="a, b",c', "-e", 1, "-o", "r.parquet")
    plan = json.loads((tmp_path / "r.parquet.plan.json").read_text())
    assert plan["attributes"][0]["domain"]["labels"] == ["a, b", "c"]
