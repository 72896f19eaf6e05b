"""`bruit release` and `bruit ledger`: what is published is booked first, and what is refused leaves no trace."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from bruit import documents, engines, releases
from bruit.errors import ParameterError
from bruit.privacy import Ledger
from bruit.releases.quantiles.ranked import quantile_list
from bruit.tables import Column, Table

BRUIT = Path(sys.executable).with_name("bruit")
SECRET = "s3cr3t-value"
N = 4000
DECILES = ("--statistic", "quantiles: income=0..100 at=0.1:0.9:0.1")
BOOK = ("--ledger", "budget.jsonl", "--budget", 1)


def table():
    rng = np.random.default_rng(11)
    return {
        "income": rng.lognormal(3, 0.5, N).round(2),
        "age": rng.integers(17, 91, N),
        "sex": np.where(rng.random(N) < 0.5, "F", "M"),
        "rooms": rng.integers(1, 4, N),
    }


@pytest.fixture
def people(tmp_path):
    """The same 4,000 people as CSV and as Parquet."""
    columns = table()
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    return columns


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
def test_deciles_of_a_file_are_published_and_booked(run, people, tmp_path, file):
    told = run("release", file, *DECILES, "-e", 0.5, *BOOK, "-o", "result.json")
    assert max(map(len, told.out.splitlines())) <= 80
    assert "ε = 0.5 of 1.0 spent, 0.5 remain" in told.out
    body = documents.unseal((tmp_path / "result.json").read_bytes(), "bruit.result/1")
    assert body["guarantee"] == {"epsilon": 0.5, "delta": 0.0, "neighbours": "add-remove"}
    found = [row["value"] for row in body["values"]]
    ranks = np.searchsorted(np.sort(people["income"]), found) / N
    assert np.abs(ranks - np.arange(1, 10) / 10).max() < 0.1
    (entry,) = Ledger.open(tmp_path / "budget.jsonl").entries
    assert (entry.label, entry.guarantee.epsilon) == ("quantiles of income", 0.5)


def test_a_dry_run_says_the_split_and_the_errors_and_reads_nothing(run, tmp_path):
    told = run("release", "absent.csv", "--count", "--mean", "age=0..100", "-e", 1, *BOOK, "--dry-run")
    assert "± 2.8" in told.out  # of the count: a little below √2/0.5
    # The mean of n records: √2·100/(n·0.5), for several n; a count has one figure.
    text = " ".join(told.out.split())
    assert "± 2.83 (100), ± 0.283 (1,000), ± 0.0283 (10,000), ± 0.00283 (100,000)" in text
    assert "± 2.8 " in text or "± 2.81 " in text
    assert "Ledger would have ε = 0.0 of 1.0 left." in told.out
    assert names(tmp_path) == []
    refused = run("release", "absent.csv", "--count", "-e", 2, *BOOK, "--dry-run", code=5)  # as the release itself
    assert "Budget exceeded" in refused.err
    assert "expected error" in refused.out


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_results_go_to_a_table_with_their_column_group_and_label(run, people, tmp_path, ending):
    output = f"out.{ending}"
    openpyxl = pytest.importorskip("openpyxl") if ending == "xlsx" else None
    options = ("--count", "--mean", "age=0..120", "--by", "sex=F,M", "--by", "rooms=1,2,3", "--label", "wave 1")
    body = run("release", "people.csv", *options, "-e", 2, "--seed", 1, "-o", output, "--json").json()
    values = [row["value"] for item in body["results"] for row in item["result"]["values"]]
    assert all(item["result"]["statistic"]["label"] == "wave 1" for item in body["results"])
    if openpyxl:
        sheet = openpyxl.load_workbook(tmp_path / output).active
        head, *rows = [[cell.value for cell in row] for row in sheet.rows]
        table = {name: [row[place] for row in rows] for place, name in enumerate(head)}
    else:
        table = (pa.csv.read_csv if ending == "csv" else pq.read_table)(tmp_path / output).to_pydict()
    assert list(table) == ["statistic", "column", "group", "label", "value", "error", "lower", "upper"]
    assert table["value"] == pytest.approx(values)
    assert table["group"][:3] == ["F, 1", "F, 2", "F, 3"]
    assert table["column"][-1] == "age"


def test_bounds_that_nobody_knows_are_published_by_the_name_of_a_column(run, people):
    body = run("release", "people.csv", "--statistic", "bounds: income", "-e", 1, "--seed", 1, "--json").json()
    low, high = (row["value"] for row in body["values"])
    assert low <= np.quantile(people["income"], 0.01)
    assert high >= np.quantile(people["income"], 0.99)
    told = run("release", "people.csv", "--statistic", "bounds: income=0..1", "-e", 1, code=2)
    assert "Kind 'bounds' has no option 'income'" in told.err


def test_rows_without_a_group_are_refused_or_a_group(run, tmp_path):
    (tmp_path / "gaps.csv").write_text("sex\n" + 'F\nM\n""\n' * 300)
    told = run("release", "gaps.csv", "--count", "--by", "sex=F,M", "-e", 1, code=3)
    assert "Add --missing sex=category" in told.err
    options = ("--count", "--by", "sex=F,M", "--missing", "sex=category", "-e", 1, "--seed", 1, "--json")
    rows = run("release", "gaps.csv", *options).json()["values"]
    assert [row["label"] for row in rows] == ["F", "M", "(missing)"]
    assert abs(rows[2]["value"] - 300) < 30


@pytest.mark.usefixtures("any_epsilon")
def test_weights_with_a_declared_bound(run, people):
    weighted = [f"{kind} weighted_by=rooms=0..3" for kind in ("count:", "mean: age=0..120", "sum: age=0..120")]
    options = [word for text in weighted for word in ("--statistic", text)]
    body = run("release", "people.csv", *options, "-e", 30, "--seed", 1, "--json").json()
    values = sorted(row["value"] for item in body["results"] for row in item["result"]["values"])
    weights = people["rooms"]
    expected = sorted([weights.sum(), np.average(people["age"], weights=weights), (people["age"] * weights).sum()])
    assert values == pytest.approx(expected, rel=0.01)
    told = run("release", "people.csv", "--statistic", "median: age=0..120 weighted_by=rooms=0..3", "-e", 1, code=2)
    assert "Kind 'median' has no option 'weighted_by'" in told.err
    told = run("release", "people.csv", "--statistic", "count: weighted_by=rooms=1..3", "-e", 1, code=2)
    assert "write rooms=0..3" in told.err


def test_a_median_of_dates(run, tmp_path):
    days = np.datetime64("2023-01-01") + np.arange(364)
    (tmp_path / "days.csv").write_text("when\n" + "".join(f"{day}\n" for day in days for _ in range(5)))
    body = run("release", "days.csv", "--median", "when=2023-01-01..2023-12-31", "-e", 2, "--seed", 1, "--json").json()
    assert abs(np.datetime64(body["values"][0]["value"]) - np.datetime64("2023-07-01")) < np.timedelta64(5, "D")


def test_a_text_in_a_spreadsheet_is_never_a_formula(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    engines.write_table(Table("", [Column("label", ["=1+1", "@x"]), Column("value", [2**60, 1])]), tmp_path / "t.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert [(cell.value, cell.data_type) for cell in sheet["A"]] == [("label", "s"), ("'=1+1", "s"), ("'@x", "s")]
    assert sheet["B"][1].value == str(2**60)


def test_a_row_in_a_ledger_of_people_is_refused_with_what_helps(run, people, tmp_path):
    Ledger.open(tmp_path / "people.ledger", epsilon=1.0, neighbours="person-add-remove")
    told = run("release", "people.csv", "--count", "-e", 1, "--ledger", "people.ledger", code=5)
    assert "protects a row, and the ledger people with all their rows" in told.err
    assert "--person user_id:rows=10" in told.err


def test_a_seed_gives_the_numbers_of_the_library_and_marks_them(run, people):
    told = run("release", "people.csv", *DECILES, "-e", 1, "--seed", 7, "--json")
    assert "not private" in told.err
    asked = releases.Quantiles("income", quantiles=[i / 10 for i in range(1, 10)], bounds=(0.0, 100.0), epsilon=1.0)
    expected = asked.release(asked.fold(people), rng=7)
    assert [row["value"] for row in told.json()["values"]] == expected.values.tolist()
    assert told.json()["simulated"] is True


STATISTICS = [
    (("--count",), lambda people: [N], 100),
    (("--sum", "age=0..120"), lambda people: [people["age"].sum()], 5000),
    (("--mean", "age=0..120"), lambda people: [people["age"].mean()], 3),
    (("--statistic", "variance: age=0..120"), lambda people: [people["age"].var()], 120),
    (
        ("--histogram", "rooms=1,2,3"),
        lambda people: [(people["rooms"] == k).sum() for k in (1, 2, 3)],
        100,
    ),
    (
        ("--histogram", "income=0..100/4"),
        lambda people: np.histogram(people["income"].clip(0, 100), np.linspace(0, 100, 5))[0],
        100,
    ),
    (("--median", "age=0..120:1"), lambda p: [np.median(p["age"])], 5),
    (
        ("--statistic", "quantiles: age=0..120/120 at=1/2 method=histogram"),
        lambda people: [np.median(people["age"])],
        8,
    ),
]


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
@pytest.mark.parametrize(("ask", "truth", "near"), STATISTICS, ids=lambda value: "")
def test_every_statistic_comes_out_near_the_truth_from_both_kinds_of_files(run, people, file, ask, truth, near):
    told = run("release", file, *ask, "-e", 0.5, "--seed", 3, "--json").json()
    found = np.array([row["value"] for row in told["values"]])
    assert found.shape == np.shape(truth(people))
    assert np.abs(found - truth(people)).max() < near
    assert told["guarantee"]["epsilon"] <= 0.5


def test_whole_numbers_with_a_step_give_whole_quantiles(run, people):
    ask = ("--quantiles", "age=0..120:1")
    told = run("release", "people.csv", *ask, "-e", 0.5, "--json").json()
    assert all(float(row["value"]).is_integer() for row in told["values"])


def test_groups_cost_what_one_of_them_costs(run, people, tmp_path):
    ask = ("--mean", "age=0..120", "--by", "sex=F,M", "-e", 0.6)
    told = run("release", "people.csv", *ask, *BOOK)
    assert max(map(len, told.out.splitlines())) <= 80
    shown = run("ledger", "show", "budget.jsonl", "--json").json()
    assert shown["spent"]["epsilon"] == 0.6
    assert [entry["label"] for entry in shown["entries"]] == ["mean of age by sex"]
    found = run("release", "people.parquet", *ask[:-1], 0.4, "--ledger", "budget.jsonl", "--json").json()
    for row in found["values"]:
        assert abs(row["value"] - people["age"][people["sex"] == row["label"]].mean()) < 3


def test_groups_of_whole_numbers_are_read_from_parquet_too(run, people):
    ask = ("--count", "--by", "rooms=1,2,3", "-e", 1)
    for file in ("people.csv", "people.parquet"):
        found = run("release", file, *ask, "--json").json()["values"]
        assert [row["label"] for row in found] == ["1", "2", "3"]
        assert all(abs(row["value"] - (people["rooms"] == int(row["label"])).sum()) < 60 for row in found)


def test_what_exceeds_the_budget_is_refused_and_leaves_no_trace(run, people, tmp_path):
    run("release", "people.csv", *DECILES, "-e", 0.8, *BOOK)
    before = contents(tmp_path)
    refused = run("release", "people.csv", *DECILES, "-e", 0.5, "--ledger", "budget.jsonl", "-o", "r.json", code=5)
    assert "needs ε=0.5, 0.2 remain of 1.0" in refused.err
    assert refused.out == ""
    assert contents(tmp_path) == before


def test_a_spend_by_somebody_else_while_the_file_is_read_is_seen(run, people, tmp_path, monkeypatch):
    """The early look at the ledger is a courtesy; the ledger itself refuses when the time has come."""
    whole = releases.Release.fold

    def slow(*arguments, **options):
        Ledger.open(tmp_path / "budget.jsonl").spend(releases.Count(epsilon=0.9).guarantee, "another")
        return whole(*arguments, **options)

    monkeypatch.setattr(releases.Release, "fold", slow)
    run("release", "people.csv", *DECILES, "-e", 0.5, *BOOK, "-o", "r.json", code=5)
    assert [entry.label for entry in Ledger.open(tmp_path / "budget.jsonl").entries] == ["another"]
    assert names(tmp_path) == ["budget.jsonl", "people.csv", "people.parquet"]


def test_the_spend_is_booked_before_the_noise_is_drawn(run, people, tmp_path, monkeypatch):
    def fail(self, counts, entropy):
        raise KeyError(SECRET)

    monkeypatch.setattr(releases.Quantiles, "publish", fail)
    told = run("release", "people.csv", *DECILES, "-e", 0.5, *BOOK, "-o", "r.json", code=70)
    assert SECRET not in told.err
    assert "the spend is booked, and there is no result" in told.err
    assert len(Ledger.open(tmp_path / "budget.jsonl")) == 1
    assert "lost" in run("ledger", "show", "budget.jsonl").out
    assert names(tmp_path) == ["budget.jsonl", "budget.jsonl.results", "people.csv", "people.parquet"]
    assert [file.stat().st_size for file in (tmp_path / "budget.jsonl.results").iterdir()] == [0]
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    again = run("release", "people.csv", *DECILES, "-e", 0.5, *BOOK, "-o", "r.json")
    assert "published before" not in again.err  # drawn now, under the booking that was there
    assert len(Ledger.open(tmp_path / "budget.jsonl")) == 1
    assert "lost" not in run("ledger", "show", "budget.jsonl").out


def test_a_result_that_cannot_be_written_is_still_shown_because_it_is_paid_for(run, people, monkeypatch):
    from bruit.cli import release

    def full(self, text, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release.Path, "write_bytes", full)
    values = ("--histogram", "age=0..120/60")
    told = run("release", "people.csv", *values, "-e", 0.5, *BOOK, "-o", "r.json", code=4)
    assert told.out.count(" … ") == 60  # all of it: there is nowhere else to read the rest
    assert "No space left" in told.err
    assert "paid for" in told.err
    assert "again" not in told.err


def test_a_result_that_cannot_be_kept_is_not_shown_and_the_same_command_draws_it(run, people, tmp_path, monkeypatch):
    def full(self, text, **options):
        raise OSError(28, "No space left on device")

    ask = ("release", "people.csv", "--count", "-e", 0.25, *BOOK, "--json")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        told = run(*ask, code=4)
    assert told.out == ""  # or the draw that is kept would be the second one that is shown
    assert "No space left" in told.err
    assert "the same command draws it, and spends nothing more" in " ".join(told.err.split())
    printed = run(*ask)
    assert documents.unseal(printed.out, "bruit.result/1")["name"] == "count"
    assert Ledger.open(tmp_path / "budget.jsonl").spent.epsilon == 0.25


MISSING_DECLARATIONS = [
    (("--mean", "age"), "write age=0..100"),
    (("--mean", "age=0-100"), "write age=0..100"),
    (("--quantiles", "age"), "would publish the smallest and the largest record"),
    (("--histogram", "sex=?"), "would tell which values occur"),
    (("--histogram", "sex"), "must be declared"),
    (("--histogram", "sex=F;M"), "write sex=F,M"),
    (("--count", "--by", "sex=?"), "--by sex=? needs a δ"),
    (("--count", "--by", "sex"), "--count --by sex=? --delta 1e-6"),
    (("--mean", "age=0..120", "--by", "sex=?"), "would tell which groups occur"),
    (("--count", "--by", "sex=?", "--delta", "1e-6", "--person", "sex"), "--person sex:groups=3"),
    (("--mean", "age=0..120/7"), "write age=0..120:1"),
]


@pytest.mark.parametrize(("ask", "explanation"), MISSING_DECLARATIONS)
def test_what_must_be_declared_is_asked_for_with_the_reason(run, people, ask, explanation):
    assert explanation in " ".join(run("release", "people.csv", *ask, "-e", 1, code=2).err.split())


NONSENSE = [
    ("-e", 1),
    ("--count",),
    ("--count", "-e", 0),
    ("--count", "-e", 1, "--missing", "drop"),
    ("--count", "-e", 1, "--by", "sex=F"),
    ("--count", "-e", 1, "--ask", "ask.json"),
    ("--ask", "ask.json", "--missing", "drop"),
    ("--ask", "ask.json", "--outside", "clamp"),
    ("--mean", "age=0..1", "--mean", "age=0..1", "-e", 1),
    ("--count", "-e", 1, "--neighbours", "replace"),
    ("--count", "-e", 1, "--neighbours", "friends"),
    ("--count", "-e", 1, "--budget", 1),
    ("--count", "-e", 1, "-o", "result.txt"),
    ("--count", "-e", 1, "-o", "nowhere/result.json"),
    ("--count", "-e", 1, "-n", 0),
    ("--count", "-e", 1, "--budget", "1,1"),
    ("--count", "-e", 1, "--budget", "1,0,0"),
    ("--count", "-e", 1, "--budget", "nan"),
    ("--count", "-e", 1, "--missing", "age=drop"),
    ("--count", "-e", 1, "--by", "sex=F,M", "--missing", "sex=drop"),
    ("--mean", "age=0..1", "-e", 1, "--missing", "age=drop", "--missing", "age=refuse"),
    ("--mean", "age=0..1", "-e", 1, "--missing", "=drop"),
    ("--count", "-e", 1, "--person", "visitor:rows=0"),
    ("--count", "-e", 1, "--person", "visitor:row=3"),
    ("--count", "-e", 1, "--person", "visitor:rows=2,rows=3"),
    ("--statistic", "mean", "-e", 1),
    ("--count", "-e", 1, "--seed", -1),
    ("--mean", "age=5..1", "-e", 1),
    ("--statistic", "mean: age=0..1 method=joint", "-e", 1),
    ("--statistic", "median: age=0..1 method=magic", "-e", 1),
    ("--statistic", "quantiles: age=0..1 at=2", "-e", 1),
    ("--quantiles", "age=0..1:0.3", "-e", 1),
    ("--median", "age=0..1", "--missing", "category", "-e", 1),
    ("--histogram", "age=1..0/3", "-e", 1),
]


@pytest.mark.parametrize("ask", NONSENSE, ids=lambda ask: " ".join(map(str, ask)))
def test_an_option_that_cannot_be_is_a_message_and_spends_nothing(run, people, tmp_path, ask):
    before = names(tmp_path)
    told = run("release", "people.csv", *ask, *(() if "--budget" in ask else BOOK), code=2)
    assert told.err.startswith("bruit: ")
    assert told.out == ""
    assert names(tmp_path) == before


@pytest.mark.parametrize(
    "given", ["", "a", "0.1:0.9", "0.9:0.1:0.1", "0:1:0", "0:1:0.0001", "1.5", "-0.5", "1/0", "nan"]
)
def test_a_list_of_quantiles_that_is_none_is_refused(given):
    with pytest.raises(ParameterError, match="at "):
        quantile_list(given)


def test_bad_data_are_refused_without_showing_them_and_without_a_spend(run, tmp_path):
    (tmp_path / "bad.csv").write_text(f"age,sex\n31,F\n{SECRET},{SECRET}\n")
    asks = [
        ("--mean", "age=0..120"),
        ("--median", "age=0..120"),
        ("--histogram", "sex=F,M"),
        ("--count", "--by", "sex=F,M"),
        ("--mean", "wages=0..1"),
    ]
    for ask in asks:
        told = run("release", "bad.csv", *ask, "-e", 0.5, *BOOK, "-o", "r.json", code=3)
        assert SECRET not in told.err + told.out
    assert len(Ledger.open(tmp_path / "budget.jsonl")) == 0
    assert names(tmp_path) == ["bad.csv", "budget.jsonl"]


def test_missing_values_are_refused_unless_they_are_provided_for(run, tmp_path):
    (tmp_path / "gaps.csv").write_text("age,sex\n" + "31,F\n,F\n40,\n?,M\n" * 50)
    ask = ("gaps.csv", "--mean", "age=0..120", "-e", 5)
    assert "--missing drop" in run("release", *ask, "--csv", "missing=?", code=3).err
    told = run("release", *ask, "--missing", "drop", "--csv", "missing=?", "--json").json()
    assert abs(told["values"][0]["value"] - 35.5) < 10
    grouped = run("release", *ask, "--missing", "drop", "--csv", "missing=?", "--by", "sex=F,M", code=3)
    assert "belong to none" in grouped.err
    count = ("gaps.csv", "--histogram", "sex=F,M", "--missing", "category", "-e", 5, "--json")
    assert run("release", *count).json()["values"][2]["label"] == "(missing)"
    assert abs(run("release", "gaps.csv", "--count", "-e", 5, "--json").json()["values"][0]["value"] - 200) < 10


def test_results_are_not_replaced_unless_forced_and_never_take_the_place_of_data_or_ledger(run, people, tmp_path):
    ask = ("release", "people.csv", "--count", "-e", 0.1)
    run(*ask, "-o", "r.json")
    assert "paid for" in run(*ask, "-o", "r.json", code=2).err
    assert "-o r.json!" in run(*ask, "-o", "r.json", code=2).err
    run(*ask, "-o", "r.json!")
    for ledger in ("b.json", "./b.json"):
        refused = run(*ask, "--ledger", ledger, "--budget", 1, "-o", "b.json!", code=2)
        assert "another file than the ledger" in refused.err
    assert not (tmp_path / "b.json").exists()


def test_without_a_ledger_a_note_says_that_nothing_is_booked(run, people, tmp_path):
    assert "nothing is booked" in run("release", "people.csv", "--count", "-e", 1).err
    assert names(tmp_path) == ["people.csv", "people.parquet"]


def test_what_is_saved_nowhere_is_shown_whole(run, people, tmp_path):
    values = ("--histogram", "age=0..120/60", "-e", 1)
    assert run("release", "people.csv", *values).out.count(" … ") == 60
    told = run("release", "people.csv", *values, "-o", "ages.json")
    assert told.out.count(" … ") == 20
    assert "bruit result ages.json" in told.out
    assert run("result", "ages.json").out.count(" … ") == 60
    assert run("result", "ages.json", "--show", 5).out.count(" … ") == 5
    run("result", "ages.json", "--level", 0.9, "-o", "ages.csv")
    assert len((tmp_path / "ages.csv").read_text().splitlines()) == 61
    assert "-o ages.csv!" in run("result", "ages.json", "-o", "ages.csv", code=2).err
    run("result", "ages.json", "-o", "ages.csv!")


def test_a_ledger_of_other_neighbours_or_another_budget_is_refused(run, people):
    ask = ("--histogram", "sex=F,M", "-e", 0.1)
    run("release", "people.csv", *ask, *BOOK)
    replaced = run("release", "people.csv", *ask, "--ledger", "budget.jsonl", "--neighbours", "replace", code=5)
    assert "neighbours" in replaced.err
    run("release", "people.csv", *ask, "--ledger", "budget.jsonl", "--budget", 2, code=5)
    assert "--budget" in run("release", "people.csv", *ask, "--ledger", "none.jsonl", code=4).err


def test_standard_input_delimiters_and_encodings_are_read(run):
    data = "âge;x\n" + "10;1\n20;2\n" * 500
    ask = ("release", "-", "--mean", "âge=0..30", "-e", 5)
    told = run(*ask, "--csv", "delimiter=;", "--csv", "encoding=latin-1", "--json", stdin=data.encode("latin-1"))
    assert abs(told.json()["values"][0]["value"] - 15) < 1


def test_many_cells_fit_the_terminal(run, people, tmp_path):
    wide = [f"category number {i} with a very long name indeed, longer than any terminal" for i in range(60)]
    (tmp_path / "wide.csv").write_text("c\n" + "\n".join(f'"{name}"' for name in wide) + "\n")
    (tmp_path / "values.txt").write_text("\n".join(wide))
    told = run("release", "wide.csv", "--histogram", "c=@values.txt", "-e", 1, *BOOK)
    assert "and 40 more" in told.out
    assert max(map(len, told.out.splitlines())) <= 80
    ask = ("--sum", "income=-1e14..1e14", "--by", "sex=F,M", "-e", 0.01)
    assert max(map(len, run("release", "people.csv", *ask).out.splitlines())) <= 80


def test_the_ledger_is_shown_with_what_was_spent_on_what(run, people, tmp_path):
    run("release", "people.csv", *DECILES, "-e", 0.5, *BOOK, "--label", "x" * 150)
    run("release", "people.csv", "--count", "--by", "sex=F,M", "-e", 0.25, *BOOK)
    told = run("ledger", "show", "budget.jsonl").out
    assert "spent: ε = 0.75 of 1.0, 0.25 remain" in told
    assert "count by sex" in told
    assert max(map(len, told.splitlines())) <= 80
    whole = (tmp_path / "budget.jsonl").read_text()
    (tmp_path / "budget.jsonl").write_text(whole.replace("0.25", "0.05"))
    assert "was changed" in run("ledger", "show", "budget.jsonl", code=4).err
    run("ledger", "show", "none.jsonl", code=4)


def test_an_empty_ledger_says_so(run, tmp_path):
    Ledger.open(tmp_path / "new.jsonl", epsilon=2.0)
    assert "Nothing was released" in run("ledger", "show", "new.jsonl").out


def test_help_fits_the_terminal(run):
    for words in (("release",), ("result",), ("ledger",), ("ledger", "show")):
        told = run(*words, "--help")
        assert max(map(len, told.out.splitlines())) <= 80


def test_the_json_of_a_release_is_the_document_in_the_file(run, people, tmp_path):
    told = run("release", "people.csv", "--count", "-e", 1, "-o", "r.json", "--json")
    assert json.loads((tmp_path / "r.json").read_text()) == told.json()


def test_several_statistics_are_read_once_booked_together_and_shown_again(run, people, tmp_path, monkeypatch):
    reads = []
    whole = releases.Release.fold
    monkeypatch.setattr(releases.Release, "fold", lambda *a, **o: reads.append(1) or whole(*a, **o))
    ask = ("--count", "--mean", "age=0..120", "--histogram", "sex=F,M", "--median", "income=0..100", "-e", 1)
    told = run("release", "people.csv", *ask, *BOOK, "--json").json()
    assert reads == [1]
    assert [item["name"] for item in told["results"]] == [
        "count",
        "histogram of sex",
        "mean of age",
        "median of income",
    ]
    books = Ledger.open(tmp_path / "budget.jsonl")
    assert [entry.guarantee.epsilon for entry in books.entries] == [0.25] * 4
    assert len({entry.result for entry in books.entries}) == 1
    assert run("result", "budget.jsonl", 2, "--json").json() == told
    assert "Released mean" in run("result", "budget.jsonl", 0).out
    before = contents(tmp_path)
    assert run("release", "people.csv", *ask, "--ledger", "budget.jsonl", "--json").json() == told
    assert contents(tmp_path) == before
    assert reads == [1]


def test_a_file_says_what_is_published(run, people, tmp_path):
    ask = {"statistics": [{"kind": "count", "epsilon": 0.5}, {"kind": "mean", "column": "age", "bounds": [0, 120],
           "epsilon": 0.25, "name": "age"}], "by": {"sex": ["F", "M"]}}  # fmt: skip
    (tmp_path / "ask.json").write_text(json.dumps(ask))
    told = run("release", "people.csv", "--ask", "ask.json", *BOOK, "--json").json()
    assert [item["name"] for item in told["results"]] == ["count", "age"]
    assert [row["label"] for row in told["results"][1]["result"]["values"]] == ["F", "M"]
    (tmp_path / "ask.json").write_text(json.dumps({"statistics": [{"kind": "mode", "epsilon": 1}]}))
    assert "must be one of bounds, count" in run("release", "people.csv", "--ask", "ask.json", code=4).err


def test_a_person_is_bounded_booked_and_asked_for_when_a_file_repeats_an_identifier(run, tmp_path):
    rows = [f"{who},{page}" for who in range(5) for page in ("news", "news", "sport")]
    (tmp_path / "views.csv").write_text("visitor,page\n" + "\n".join(rows) + "\n")
    ask = ("release", "views.csv", "--count", "-e", 1, "--by", "page=news,sport", "--seed", 1)
    bounds = ("--person", "visitor:groups=2,rows_per_group=1")
    kept = run(*ask, *bounds, "--ledger", "l.jsonl", "--budget", 2, "--json").json()
    assert kept["guarantee"]["neighbours"] == "person-add-remove"
    assert kept["statistic"]["person"] == {"column": "visitor", "groups": 2, "rows_per_group": 1, "missing": "refuse"}
    warned = run(*ask)
    assert "--person visitor:rows=10" in warned.err
    assert "looks like an identifier" not in run(*ask, *bounds).err
    assert "--person user_id" in run(*ask, "--rows", 3, code=2).err
    assert "--person visitor:rows=10" in run(*ask, "--person", "visitor", code=2).err
    assert "person-add-remove" in run(*ask, "--ledger", "l.jsonl", code=5).err


def test_tables_of_counts_are_published_and_shown_again(run, tmp_path):
    rows = "F,no,31\nM,no,62\nF,yes,22\nM,no,57\n" * 50
    (tmp_path / "people.csv").write_text("sex,smokes,age\n" + rows)
    columns = "tables: sex=F,M & smokes=no,yes & age=0..90/3"
    booked = ("-e", "1", "--delta", "1e-6", "--ledger", "l.jsonl", "--budget", "1,1e-5")
    shown = run("release", "people.csv", "--statistic", columns, *booked).out
    assert "sex × smokes" in shown
    assert "tables agree" in shown
    document = run("result", "l.jsonl", "0", "--json").json()
    assert len(document["values"]) == 4 + 6 + 6
    assert document["values"][0]["group"] == "sex × smokes"
    assert "tables of sex, smokes, age" in run("ledger", "show", "l.jsonl").out
    chosen = run("release", "people.csv", "--statistic", f"{columns} tables=sex,age;smokes", "-e", "1", "--json").json()
    assert [row["group"] for row in chosen["values"]] == ["sex × age"] * 6 + ["smokes"] * 2


def test_tables_that_cannot_be_are_refused_with_the_option(run, tmp_path):
    (tmp_path / "people.csv").write_text("sex,smokes\nF,no\nM,\n")
    known = ("release", "people.csv", "-e", "1", "--statistic")
    sexes, both = "tables: sex=F,M", "tables: sex=F,M & smokes=no,yes"
    assert "tables must name columns" in run(*known, f"{both} tables=sex,smoke", code=2).err
    assert "declare a column twice" in run(*known, f"{sexes} & sex=F,M", code=2).err
    assert "must be declared, as in smokes=no,yes" in run(*known, f"{sexes} & smokes=?", code=2).err
    assert "--missing drop is not for tables" in run(*known, both, "--missing", "drop", code=2).err
    assert "'smokes': some records have no value. Add --missing category" in " ".join(
        run(*known, both, code=3).err.split()
    )
    run(*known, both, "--missing", "category")
    own = run(*known, both, "--missing", "smokes=category", "--json").json()
    assert len(own["values"]) == 2 * 3


def test_a_release_that_the_ledger_has_is_not_paid_for_twice_unless_again(run, people, tmp_path):
    ask = ("release", "people.csv", "--count", "--mean", "age=0..120", "-e", 0.3, "--ledger", "budget.jsonl")
    first = run(*ask, "--budget", 1)
    repeated = run(*ask)
    assert repeated.out == first.out
    said = " ".join(repeated.err.split())
    assert "published before, on 20" in said
    assert "UTC: nothing was spent. Rows that came since are not in it. Add --again to pay for new noise" in said
    foreseen = " ".join(run(*ask, "--dry-run").out.split())
    assert "It was published before, on 20" in foreseen
    assert "bruit result budget.jsonl 0" in foreseen
    assert "--again" in foreseen
    run("release", "people.parquet", *ask[2:])  # another file
    run("release", "people.csv", "--count", "-e", 0.1, *BOOK)  # another question
    assert "would have ε = 0.0 of 1.0 left" in run(*ask, "--dry-run", "--again").out
    assert "ε = 1.0 of 1.0 spent" in run(*ask, "--again").out
    assert "bruit result budget.jsonl 5" in " ".join(run(*ask, "--dry-run").out.split())  # the newest
    assert "Budget exceeded" in run(*ask, "--dry-run", "--again", code=5).err
    for path in (tmp_path / "budget.jsonl.results").glob("count-mean*"):
        path.unlink()
    assert "Budget exceeded" in run(*ask, code=5).err  # what is lost cannot be shown, and is no reason
    assert "give --ledger" in run("release", "people.csv", "--count", "-e", 1, "--again", code=2).err


def test_a_dry_run_says_the_error_of_means_for_the_rows_that_are_expected(run):
    ask = ("release", "none.csv", "--mean", "age=0..120", "-e", 1, "-n")
    assert "1,500 records in each group" in run(*ask, 3000, "--by", "sex=F,M", "--dry-run").out
    assert "± is one standard deviation of the noise" in run(*ask, 3000, "--dry-run").out
    assert "is for --dry-run" in run(*ask, 3000, code=2).err
    assert "must be" in run(*ask, 0, "--dry-run", code=2).err


def test_sums_of_groups_that_nobody_declared_come_with_their_number_of_people(run, tmp_path):
    rows = [f"{zone},{fare}" for zone, fare, many in (("a", 5, 300), ("b", 2, 200), ("c", 9, 3)) for _ in range(many)]
    (tmp_path / "trips.csv").write_text("\n".join(["zone,fare", *rows]))
    ask = ("release", tmp_path / "trips.csv", "-e", 2, "--delta", 1e-6, "--by", "zone=?", "--sum", "fare=0..10")
    shown = run(*ask, "--count", "--seed", 1).out
    assert "sum of fare by zone" in shown
    assert "count by zone" in shown
    assert "selection" in run(*ask, "--count", "--dry-run").out
    assert "--count --by zone=?" in run(*ask, code=2).err


def test_groups_that_nobody_declares_count_people_where_a_person_is_named_and_say_so(run, tmp_path):
    rows = [f"u{i % 300},s{i % 2}" for i in range(900)]
    (tmp_path / "orders.csv").write_text("\n".join(["user_id,shop", *rows]) + "\n")
    ask = ("release", "orders.csv", "--count", "--by", "shop=?", "-e", 5, "--delta", 1e-6)
    people = run(*ask, "--person", "user_id:groups=2").out
    assert "Released number of people by shop" in people
    assert re.search(r"groups above \d+ people with noise", people)
    counts = [int(row["value"]) for row in run(*ask, "--person", "user_id:groups=2", "--json").json()["values"]]
    assert all(abs(count - 150) < 40 for count in counts)  # and not the 450 rows of each
    rows = run(*ask).out
    assert "Released count by shop" in rows
    assert re.search(r"groups above \d+ records with noise", rows)


def test_a_large_epsilon_is_warned_of_once_and_a_larger_one_is_refused(run, tmp_path):
    (tmp_path / "t.csv").write_text("x\n" + "1\n" * 50)
    told = run("release", "t.csv", "--count", "--sum", "x=0..1", "-e", 15)
    assert told.err.count("ε = 15 protects hardly at all") == 1
    assert "at most 20" in run("release", "t.csv", "--count", "-e", 1000, code=2).err
    assert "protects hardly" not in run("release", "t.csv", "--count", "-e", 1).err
