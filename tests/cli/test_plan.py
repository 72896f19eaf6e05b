"""Several attributes on the command line: planned, made private, estimated, compared and attacked."""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bruit
from bruit import attacks
from bruit.collection import RSRFD, SMP, SPL

PEOPLE = 12_000
DECLARED = ("sex=F,M", "degree=none,school,college", "age=17..26")
METHODS = ["SPL[ADP]", "SMP[ADP]", "SMP[OUE]", "SPL[OLH]", "RS+FD[GRR]", "RS+FD[OUE-z]", "RS+FD[SS]"]


@pytest.fixture
def people(tmp_path):
    """The same people as CSV and as Parquet."""
    drawn = np.random.default_rng(1)
    table = {
        "sex": drawn.choice(["F", "M"], PEOPLE, p=[0.3, 0.7]),
        "degree": drawn.choice(["none", "school", "college"], PEOPLE, p=[0.5, 0.3, 0.2]),
        "age": drawn.integers(17, 27, PEOPLE),
    }
    rows = zip(*(column.tolist() for column in table.values()), strict=True)
    (tmp_path / "p.csv").write_text("sex,degree,age\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    pq.write_table(pa.table(table), tmp_path / "p.parquet")
    return table


@pytest.fixture
def planned(run, people):
    def make(method, *more):
        return run("plan", *DECLARED, "-e", 2, "--method", method, "-o", "plan.json", *more)

    return make


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("source", "output"), [("p.csv", "r.parquet"), ("p.parquet", "r.csv")])
def test_a_plan_becomes_reports_and_reports_become_an_estimate_of_each_attribute(
    run, planned, people, method, source, output
):
    planned(method)
    run("privatize", source, "--plan", "plan.json", "-o", output, "--seed", 3)
    sex, degree, age = run("estimate", output, "--json").json()
    assert [each["name"] for each in (sex, degree, age)] == ["sex", "degree", "age"]
    for each in (sex, degree):
        for row in each["values"]:
            truth = (people[each["name"]] == row["label"]).mean()
            assert abs(row["frequency"] - truth) < 5.5 * row["standard_error"]
    if "mean" in age:
        assert abs(age["mean"] - people["age"].mean()) < 5.5 * age["standard_error"]
    assert sex["guarantee"]["epsilon"] <= 2
    assert sex["guarantee"]["neighbours"] == "person"
    assert sex["guarantee_of_an_attribute"]["neighbours"] == "attribute"


@pytest.mark.parametrize("method", ["SMP[ADP]", "RS+FD[OUE-z]"])
def test_a_seed_gives_the_reports_of_the_library_from_both_kinds_of_files(run, planned, people, tmp_path, method):
    planned(method)
    plan = bruit.Plan.from_json((tmp_path / "plan.json").read_text())
    expected = plan.tally(plan.privatize(people, rng=7))
    for source, output in (("p.csv", "a.csv"), ("p.parquet", "b.parquet"), ("p.csv", "c.parquet")):
        run("privatize", source, "--plan", "plan.json", "-o", output, "--seed", 7)
        run("estimate", output, "--tally", "t.json", "--attribute", "sex")
        found = bruit.Tally.from_json((tmp_path / "t.json").read_bytes())
        assert (found.counts == expected.counts).all()
        assert (found.n, found.refused) == (PEOPLE, 0)


def test_a_plan_shows_its_error_and_both_guarantees_and_is_the_library_s(planned, tmp_path):
    told = planned("rs+fd[grr]", "-n", 5000).out
    assert "5,000 people" in told
    assert "the whole record changed" in told
    assert "one attribute of a record changed" in " ".join(told.split())
    assert max(map(len, told.splitlines())) <= 80
    schema = {"sex": ["F", "M"], "degree": ["none", "school", "college"], "age": bruit.Grid(17, 26)}
    plan = bruit.Plan(schema, 2.0, "RS+FD[GRR]")
    assert bruit.Plan.from_json((tmp_path / "plan.json").read_text()) == plan


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("SMP[ADP]", "each person answers one of the 3 questions, chosen by chance"),
        ("SMP2[GRR]", "each person answers 2 of the 3 questions, chosen by chance, each with a share of ε"),
        ("SPL[ADP]", "each person answers all 3 questions, each with a share of ε"),
        ("RS+FD[GRR]", "the other answers are made up, and nobody is told which"),
    ],
)
def test_plan_privatize_and_estimate_say_what_a_person_answers_and_what_both_guarantees_are_of(
    planned, run, method, sentence
):
    outputs = [
        planned(method).out,
        run("privatize", "p.csv", "--plan", "plan.json", "-o", "r.csv").out,
        run("estimate", "r.csv").out,
    ]
    for output in (" ".join(text.split()) for text in outputs):
        assert sentence in output
        assert "guarantee for all answers of a person: ε = 2 (local, the whole record changed)" in output
        assert "guarantee for one answer: ε = " in output
    assert ("where ADP, the mechanism of least error, is" in " ".join(outputs[1].split())) == ("ADP" in method)


def test_the_expected_error_is_that_of_the_plan(run, tmp_path):
    found = run("plan", *DECLARED, "-e", 2, "-n", 5000, "--json").json()
    schema = {"sex": ["F", "M"], "degree": ["none", "school", "college"], "age": bruit.Grid(17, 26)}
    plan = bruit.Plan(schema, 2.0, "SMP[ADP]")
    variances = plan.variance(5000)
    assert [row["of"] for row in found["attributes"]] == ["frequency", "frequency", "mean"]
    for row in found["attributes"]:
        assert row["half_width"] == pytest.approx(1.959964 * np.sqrt(variances[row["attribute"]].mean()), rel=1e-5)
    assert found["digest"] == plan.digest
    assert list(tmp_path.iterdir()) == []


def test_a_schema_document_serves_as_well(run, tmp_path):
    schema = bruit.Schema({"sex": ["F", "M"], "age": bruit.Grid(17, 90)})
    (tmp_path / "schema.json").write_text(schema.to_json())
    first = run("plan", "schema.json", "-e", 1, "--json").json()
    second = run("plan", "sex=F,M", "age=17..90", "-e", 1, "--json").json()
    assert first == second


def test_one_attribute_and_other_bases_can_be_planned_too(run):
    found = run("plan", "x=0.0..1.0/33", "-e", 1, "--json").json()
    assert (found["method"], found["attributes"][0]["values"]) == ("hybrid", 33)
    assert run("plan", "x=a..b,c", "-e", 1, "--json").json()["method"] == "GRR"
    found = run("plan", *DECLARED, "-e", 1, "--base", "age=square-wave", "--json").json()
    assert found["attributes"][2]["mechanism"] == "square-wave"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "Declare what is asked"),
        (("s.json", *DECLARED), "The answers of 's.json' must be declared"),
        (("data.csv",), "The answers of 'data.csv' must be declared"),
        (("sex",), "answers of 'sex' must be declared: write as in smokes=no,yes"),
        (("sex=F",), "sex must have two answers or more, or a range: write as in smokes=no,yes"),
        (("sex=F;M",), "write sex=F,M."),
        (("sex=?",), "reads the answers from a file of this machine (bruit plan --data)"),
        (("sex=F,M", "sex=a,b"), "stands there twice"),
        (("age=9..1",), "age=9..1 must go upwards: write age=1..9."),
        ((*DECLARED, "--unit", "household"), "--unit must be one of"),
        ((*DECLARED, "--method", "RS+FD[magic]"), "must be one of GRR"),
        ((*DECLARED, "--people", "0"), "--people must be a whole number, 1 or above"),
        ((*DECLARED, "--base", "age"), "--base must read as in"),
        ((*DECLARED, "-o", "plan.txt"), "--output must name a file that ends in .json"),
    ],
)
def test_a_mistake_in_a_plan_is_told_by_its_option(run, tmp_path, options, message):
    refused = run("plan", *options, "-e", 1, code=2)
    assert message in refused.err
    assert list(tmp_path.iterdir()) == []


def test_a_plan_is_not_replaced_unless_forced_and_needs_an_epsilon(run, planned):
    planned("SMP[ADP]")
    assert "exists" in run("plan", *DECLARED, "-e", 3, "-o", "plan.json", code=2).err
    planned("SPL[ADP]", "--force")
    run("plan", *DECLARED, "-e", 3, "-o", "plan.json!")
    assert "--epsilon must be given" in run("plan", *DECLARED, code=2).err


@pytest.mark.parametrize(
    ("row", "column"), [("X3,none,20", "sex"), ("F,X3,20", "degree"), ("F,none,7777", "age"), ("F,none,X3", "age")]
)
def test_an_error_names_the_column_and_not_the_value(run, planned, tmp_path, row, column):
    planned("SMP[ADP]")
    (tmp_path / "bad.csv").write_text(f"sex,degree,age\nF,none,20\n{row}\n")
    refused = run("privatize", "bad.csv", "--plan", "plan.json", "-o", "r.parquet", code=3)
    assert f"Column {column!r}" in refused.err
    assert "X3" not in refused.err
    assert "7777" not in refused.err
    assert not (tmp_path / "r.parquet").exists()


def test_gaps_are_refused_unless_the_plan_has_a_category_for_them(run, planned, tmp_path):
    (tmp_path / "gaps.csv").write_text("sex,degree\nF,none\n,school\nM,\n")
    attributes = ("sex=F,M", "degree=none,school")
    run("plan", *attributes, "-e", 1, "-o", "strict.json")
    assert "--missing category" in run("privatize", "gaps.csv", "--plan", "strict.json", "-o", "r.csv", code=3).err
    run("plan", *attributes, "-e", 1, "--method", "SPL[GRR]", "--missing", "category", "-o", "open.json")
    run("privatize", "gaps.csv", "--plan", "open.json", "-o", "r.csv")
    sex, _ = run("estimate", "r.csv", "--json").json()
    assert [row["label"] for row in sex["values"]] == ["F", "M", "(missing)"]


def test_a_person_with_one_unreadable_report_is_refused_once_with_all_of_them(run, planned, tmp_path):
    planned("RS+FD[OUE-z]")
    run("privatize", "p.csv", "--plan", "plan.json", "-o", "r.csv")
    header, *rows = (tmp_path / "r.csv").read_text().splitlines()
    first = [cell.strip('"') for cell in rows[0].split(",")]
    bad = [["zz", *first[1:]], ["zz", "zz", first[2]], ["", *first[1:]], [first[0], "ff", first[2]]]
    (tmp_path / "f.csv").write_text("\n".join([header, *rows, *(",".join(row) for row in bad)]) + "\n")
    found = run("estimate", "f.csv", "--plan", "r.csv.plan.json", "--json").json()
    assert [(each["n"], each["refused"]) for each in found] == [(PEOPLE, len(bad))] * 3


def test_the_tables_of_several_attributes_and_of_one_that_is_named(run, planned, tmp_path):
    planned("SMP[ADP]")
    run("privatize", "p.csv", "--plan", "plan.json", "-o", "r.parquet")
    shown = run("estimate", "r.parquet").out
    assert all(word in shown for word in ("sex", "degree", "age", "mean", "college", "one attribute of a record"))
    assert max(map(len, shown.splitlines())) <= 80
    one = run("estimate", "r.parquet", "--attribute", "sex", "--figure", "sex.png").out
    assert "degree" not in one
    assert (tmp_path / "sex.png").exists()
    assert "--figure draws" in run("estimate", "r.parquet", "--figure", "all.png", code=2).err
    assert "--attribute must name" in run("estimate", "r.parquet", "--attribute", "town", code=2).err


def test_methods_are_compared_as_in_the_library(run):
    found = run("choose", *DECLARED, "-e", 1, "--published", "--json").json()
    schema = {"sex": ["F", "M"], "degree": ["none", "school", "college"], "age": bruit.Grid(17, 26)}
    ranked = bruit.compare(schema, 1.0, published=True)
    assert [row["method"] for row in found["methods"]] == [row.method for row in ranked]
    told = run("choose", *DECLARED, "-e", 1, "--published")
    assert "RS+FD[GRR] (published) ✗" in told.out
    assert "does not hold" in told.out
    assert max(map(len, told.out.splitlines())) <= 80
    (only,) = run("choose", *DECLARED, "-e", 1, "--method", "SPL[OUE]", "--json").json()["methods"]
    assert only["method"] == "SPL[OUE]"


@pytest.mark.parametrize("output", ["r.csv", "r.parquet"])
def test_an_attack_expects_what_it_would_achieve(run, planned, people, tmp_path, output):
    planned("RS+FD[OUE-z]")
    run("privatize", "p.csv", "--plan", "plan.json", "-o", output, "--seed", 3)
    found = run("attack", output, "--json").json()
    plan = bruit.Plan.from_json((tmp_path / "plan.json").read_text())
    achieved = attacks.sampled_attribute(plan, people, rng=1)
    assert found["baseline"] == pytest.approx(1 / 3)
    # Both are averages over 12,000 people: 5.5 standard errors of a share are below 0.026 each.
    assert abs(found["expected_right"] - achieved.accuracy) < 0.05
    assert found["expected_right"] > found["baseline"]
    assert "right, blindly" in run("attack", output).out


def test_an_attack_needs_fakes_and_reports(run, planned, people, tmp_path):
    planned("SMP[ADP]")
    run("privatize", "p.csv", "--plan", "plan.json", "-o", "r.parquet")
    assert "Only RS+FD and RS+RFD hide" in run("attack", "r.parquet", code=2).err
    assert "There is no file t.json" in run("attack", "t.json", code=2).err


def test_a_plan_says_the_same_as_json(run):
    told = run("plan", *DECLARED, "-e", 1, "--unit", "attribute", "--method", "RS+FD[GRR]", "--json")
    found = json.loads(told.out)
    assert found["guarantee_of_an_attribute"]["epsilon"] <= 1 < found["guarantee"]["epsilon"]


SHARES = {"sex": [0.3, 0.7], "degree": [5, 3, 2], "age": [1] * 10}


def test_a_prior_from_a_file_makes_the_plan_of_the_library(run, tmp_path):
    (tmp_path / "prior.json").write_text(json.dumps(SHARES))
    found = run("plan", *DECLARED, "-e", 1, "--method", "RS+RFD[GRR]", "--prior", "prior.json", "--json").json()
    schema = {"sex": ["F", "M"], "degree": ["none", "school", "college"], "age": bruit.Grid(17, 26)}
    assert found["digest"] == bruit.Plan(schema, 1.0, RSRFD("GRR", prior=SHARES)).digest
    assert found["population"] == "prior"
    assert found["guarantee_of_both_rounds"] is None
    assert [row["blindly"] for row in found["attributes"]] == pytest.approx([0.7, 0.5, 0.1])


def test_what_an_earlier_round_estimated_is_a_prior_and_the_same_people_pay_for_both(run, people, tmp_path):
    plan = ("plan", *DECLARED, "--base", "age=OUE")
    run(*plan, "-e", 0.5, "--method", "SMP[OUE]", "-o", "pilot.json")
    run("privatize", "p.csv", "--plan", "pilot.json", "-o", "pilot.parquet", "--seed", 3)
    estimated = run("estimate", "pilot.parquet", "--json").out
    (tmp_path / "pilot-estimate.json").write_text(estimated)
    options = ("--method", "RS+RFD[GRR]", "--prior", "pilot-estimate.json", "-o", "plan.json")
    told = run("plan", *DECLARED, "-e", 1, *options)
    assert "who was asked for the prior too: ε = 1.5" in told.out
    assert max(map(len, told.out.splitlines())) <= 80
    found = bruit.Plan.from_json((tmp_path / "plan.json").read_text())
    pilot = bruit.Plan.from_json((tmp_path / "pilot.json").read_text())
    answers = pilot.estimate(pilot.tally(pilot.privatize(people, rng=3)))
    assert (
        found.method.prior
        == bruit.Plan(found.schema, 1.0, RSRFD("GRR", prior=bruit.collection.learnt_prior(answers))).method.prior
    )
    run("privatize", "p.csv", "--plan", "plan.json", "-o", "r.parquet", "--seed", 4)
    for each in run("estimate", "r.parquet", "--json").json()[:2]:
        for row in each["values"]:
            truth = (people[each["name"]] == row["label"]).mean()
            assert abs(row["frequency"] - truth) < 5.5 * row["standard_error"]


def test_estimates_of_two_plans_with_one_promise_are_not_taken_for_one_plan(run, people, tmp_path):
    """The same people may have answered both: what they paid adds up."""
    parts = []
    for name, method in (("first", "SMP[OUE]"), ("second", "SMP[GRR]")):
        run("plan", *DECLARED, "--base", "age=OUE", "-e", 0.5, "--method", method, "-o", f"{name}.json")
        run("privatize", "p.csv", "--plan", f"{name}.json", "-o", f"{name}.parquet", "--seed", 3)
        parts.append(run("estimate", f"{name}.parquet", "--json").json())
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text(json.dumps(parts[0]))
    two.write_text(json.dumps([parts[0][0], *parts[1][1:]]))
    plan = ("plan", *DECLARED, "-e", 1, "--method", "RS+RFD[GRR]")
    assert "who was asked for the prior too: ε = 1.5" in run(*plan, "--prior", str(one)).out
    assert "who was asked for the prior too: ε = 2.5" in run(*plan, "--prior", str(two)).out


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (None, 4, "There is no prior"),
        ("{", 4, "must be JSON"),
        ("{1: 2}", 4, "must be JSON"),
        (f'{{"sex": [{"1" * 4000}, 1]}}', 4, "must be JSON"),
        ('"text"', 4, "--prior must be a file with the frequencies"),
        ('{"sex": "often"}', 4, "--prior must be a file with the frequencies"),
        ('{"sex": [0.5, 0.5]}', 2, "prior must name every attribute"),
        (json.dumps({**SHARES, "sex": [1, 0]}), 2, "must be above 0"),
        (json.dumps({**SHARES, "sex": [1, 1, 1]}), 2, "must have 2 frequencies"),
        ("[]", 2, "one estimate of each attribute"),
        ('[{"format": "bruit.result/1"}]', 4, "changed or damaged"),
    ],
)
def test_a_prior_that_is_none_is_told(run, tmp_path, text, code, message):
    if text is not None:
        (tmp_path / "prior.json").write_text(text)
    options = ("--method", "RS+RFD[GRR]", "--prior", "prior.json", "-o", "plan.json")
    assert message in run("plan", *DECLARED, "-e", 1, *options, code=code).err
    assert not (tmp_path / "plan.json").exists()


def test_an_estimate_of_other_values_or_of_a_mean_is_no_prior(run, planned, people, tmp_path):
    planned("SMP[ADP]")
    run("privatize", "p.csv", "--plan", "plan.json", "-o", "r.parquet")
    (tmp_path / "all.json").write_text(run("estimate", "r.parquet", "--json").out)
    (tmp_path / "sex.json").write_text(run("estimate", "r.parquet", "--attribute", "sex", "--json").out)
    rfd = ("-e", 1, "--method", "RS+RFD[GRR]", "--prior")
    assert "--base age=OUE" in run("plan", *DECLARED, *rfd, "all.json", code=2).err
    other = ("sex=M,F", "x=a,b")
    assert "in another order" in run("plan", *other, *rfd, "sex.json", code=4).err
    assert "it estimates another one" in run("plan", other[1], "y=a,b", *rfd, "sex.json", code=2).err


def test_budgets_and_weights_are_those_of_the_plan(run):
    schema = {"sex": ["F", "M"], "degree": ["none", "school", "college"], "age": bruit.Grid(17, 26)}
    parts = {"sex": 0.2, "degree": 0.3, "age": 0.5}
    options = [text for name, part in parts.items() for text in ("--budgets", f"{name}={part}")]
    found = run("plan", *DECLARED, "-e", 1, "--method", "SPL[ADP]", *options, "--json").json()
    assert found["digest"] == bruit.Plan(schema, 1.0, SPL(budgets=parts)).digest
    shares = {"sex": 1, "degree": 2, "age": 5}
    options = [text for name, share in shares.items() for text in ("--weights", f"{name}={share}")]
    found = run("plan", *DECLARED, "-e", 1, *options, "--json").json()
    assert found["digest"] == bruit.Plan(schema, 1.0, SMP(weights=shares)).digest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--budgets", "sex"), '--budgets must read as in "sex=0.2"'),
        (("--budgets", "sex=much"), '--budgets must read as in "sex=0.2"'),
        (("--budgets", "sex=0.2"), "budgets belongs to SPL"),
        (("--weights", "sex=1.5"), '--weights must read as in "sex=1"'),
        (("--weights", "sex=1", "--weights", "sex=2"), "once for each attribute"),
        (("--weights", "sex=1"), "weights must name every attribute"),
    ],
)
def test_a_mistake_in_what_is_said_of_single_attributes_is_told(run, options, message):
    assert message in run("plan", *DECLARED, "-e", 1, *options, code=2).err


def test_a_plan_shows_the_risk_of_each_attack_beside_what_is_known_without_reports(run):
    found = run("plan", *DECLARED, "-e", 2, "--method", "RS+FD[OUE-z]", "--json").json()
    schema = {"sex": ["F", "M"], "degree": ["none", "school", "college"], "age": bruit.Grid(17, 26)}
    risks = [risk.to_dict() for risk in attacks.risks(bruit.Plan(schema, 2.0, "RS+FD[OUE-z]"))]
    assert found["risks"] == risks[3:]
    assert [row["guessed"] for row in found["attributes"]] == [risk["rate"] for risk in risks[:3]]
    assert [row["blindly"] for row in found["attributes"]] == pytest.approx([1 / 2, 1 / 3, 1 / 10])
    told = run("plan", *DECLARED, "-e", 2, "--method", "RS+FD[OUE-z]").out
    assert "Nothing was read from data" in " ".join(told.split())
    assert all(word in told for word in ("sampled attribute", "re-identification", "blindly", "guessed"))
    assert "sampled attribute" not in run("plan", *DECLARED, "-e", 2, "--method", "SPL[GRR]").out


@pytest.mark.parametrize("source", ["p.csv", "p.parquet"])
def test_a_schema_is_read_from_data_with_a_warning_and_then_serves(run, people, tmp_path, source):
    told = run("plan", "--data", source, "-e", 1, "-o", "plan.json")
    assert "was read from the data: of 'sex' which values occur; of 'degree' which values occur" in told.err
    assert "no guarantee covers it" in told.err
    assert "Beyond the schema, nothing was read" in " ".join(told.out.split())
    plan = bruit.Plan.from_json((tmp_path / "plan.json").read_text())
    assert plan.schema["sex"].labels == ("F", "M")
    assert plan.schema["age"].labels == tuple(range(17, 27))
    run("privatize", source, "--plan", "plan.json", "-o", "r.parquet")
    assert run("estimate", "r.parquet", "--attribute", "age", "--json").json()[0]["n"] > 0
    some = run("plan", "sex=?", "--data", source, "-e", 1, "--json")
    assert [row["attribute"] for row in some.json()["attributes"]] == ["sex"]
    assert "degree" not in some.err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_very_many_numbers_become_a_grid_and_very_many_texts_an_error(run, tmp_path, kind):
    many = 30_000
    table = {"x": np.arange(many) / 8 - 7, "n": np.arange(many) * 3, "name": [f"s3cr3t-{i}" for i in range(many)]}
    if kind == "csv":
        rows = zip(*(list(column) for column in table.values()), strict=True)
        (tmp_path / "t.csv").write_text("x,n,name\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    else:
        pq.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=7000)
    columns = ("x=?", "n=?", "--method", "SMP[GRR]")
    run("plan", "--data", f"t.{kind}", *columns, "-e", 1, "-o", "plan.json")
    schema = bruit.Plan.from_json((tmp_path / "plan.json").read_text()).schema
    with pytest.warns(bruit.errors.DisclosureWarning):
        expected = bruit.Schema.from_frame({"x": table["x"], "n": table["n"]})
    assert schema == expected
    refused = run("plan", "--data", f"t.{kind}", "-e", 1, code=2).err
    assert "Column 'name' has more than 10,000 different entries" in refused
    assert "s3cr3t" not in refused


def test_gaps_become_a_category_and_numbers_with_leading_zeros_stay_texts(run, tmp_path):
    (tmp_path / "g.csv").write_text("town,zip\nA,007\nB,010\n,007\n")
    told = run("plan", "--data", "g.csv", "-e", 1, "-o", "plan.json")
    assert "and that some are missing" in told.err
    schema = bruit.Plan.from_json((tmp_path / "plan.json").read_text()).schema
    assert schema["town"].labels == ("A", "B", "(missing)")
    assert schema["zip"].labels == ("007", "010")
    run("privatize", "g.csv", "--plan", "plan.json", "-o", "r.csv")
    assert "drops missing values" in run("plan", "--data", "g.csv", "-e", 1, "--missing", "drop", code=2).err


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", ["SPL[GRR]", "SMP[ADP]", "RS+FD[GRR]", "RS+FD[OUE-z]"])
def test_an_audit_checks_both_guarantees_of_a_plan_for_several_attributes(run, tmp_path, method):
    few = ("sex=F,M", "degree=none,school,college")
    run("plan", *few, "-e", 1, "--method", method, "-o", "plan.json")
    found = run("audit", "plan.json", "--trials", 20_000, "--level", 1 - 1e-7, "--seed", 1, "--json").json()
    plan = bruit.Plan.from_json((tmp_path / "plan.json").read_text())
    assert found["holds"] is True
    for unit in ("person", "attribute"):
        assert found[unit]["exact"]["method"] == "enumeration"
        assert found[unit]["exact"]["epsilon"] == found[unit]["stated"] == plan.guarantees[unit].epsilon
        assert 0 < found[unit]["empirical"]["lower"] <= found[unit]["stated"]
    told = run("audit", "plan.json", "--trials", 0)
    assert "attribute: largest ratio, exact (enumeration)" in told.out
    assert max(map(len, told.out.splitlines())) <= 80


def test_an_audit_of_a_plan_that_states_too_little_ends_with_one(run, monkeypatch):
    """The control: where the formula of the guarantee is wrong, the written law and the reports tell."""
    few = ("sex=F,M", "degree=none,school,college")
    monkeypatch.setattr("bruit.collection.fake.Fake.ratio", lambda self, unit: Fraction(3, 2))
    run("plan", *few, "-e", 1, "--method", "RS+FD[GRR]", "-o", "plan.json")
    found = run("audit", "plan.json", "--trials", 50_000, "--seed", 1, "--json", code=1).json()
    assert found["person"]["exact"]["holds"] is found["person"]["empirical"]["holds"] is False
    assert "DOES NOT HOLD" in run("audit", "plan.json", "--trials", 0, code=1).out


def test_a_plan_for_a_number_is_audited_too(run):
    run("plan", "age=17..26", "-e", 1, "-o", "plan.json")
    assert run("audit", "plan.json", "--trials", 20_000, "--seed", 1, "--json").json()["holds"] is True


@pytest.mark.parametrize(
    ("question", "domain"),
    [
        ("x=a,b", ["a", "b"]),
        ("x=@many.txt", [f"v{place}" for place in range(60)]),
        ("x=0..20", bruit.Grid(0, 20)),
    ],
)
def test_the_shell_takes_the_default_of_the_library_for_one_question(run, tmp_path, question, domain):
    (tmp_path / "many.txt").write_text("\n".join(f"v{place}" for place in range(60)))
    (tmp_path / "p.csv").write_text("x\n" + str(bruit.Schema({"x": domain})["x"].labels[0]) + "\n")
    plan = bruit.Plan({"x": domain}, 1.0)
    assert run("plan", question, "-e", 1, "--json").json()["digest"] == plan.digest
    ended = run("privatize", "p.csv", question, "-e", 1, "-o", "r.parquet", "--json")
    assert ended.json()["digest"] == plan.digest
    for method in ("ADP", "adp"):
        ended = run("privatize", "p.csv", question, "-e", 1, "--method", method, "-o", "r.csv", "--force")
        assert f"mechanism: {next(iter(plan.mechanisms.values())).name}\n" in ended.out
        assert bruit.Plan.from_json((tmp_path / "r.csv.plan.json").read_text()) == plan


def test_the_shell_takes_the_default_of_the_library_for_several_questions(run):
    schema = {"sex": ["F", "M"], "degree": ["none", "school", "college"], "age": bruit.Grid(17, 26)}
    assert run("plan", *DECLARED, "-e", 1, "--json").json()["digest"] == bruit.Plan(schema, 1.0).digest


def test_attributes_in_rotation_have_equal_shares_of_the_people_in_a_file(run, people, tmp_path):
    run("plan", *DECLARED, "-e", 2, "--weights", "rotation", "-n", 60, "-o", "plan.json")
    assert bruit.Plan.load(tmp_path / "plan.json").method == SMP(assign="rotation")
    run("privatize", "p.csv", "--plan", "plan.json", "-o", "r.parquet")
    assert np.bincount(pq.read_table(tmp_path / "r.parquet")["attribute"].to_numpy()).tolist() == [PEOPLE // 3] * 3
    refused = run("plan", *DECLARED, "-e", 2, "--method", "SPL[ADP]", "--weights", "rotation", code=2)
    assert "belongs to SMP" in refused.err
