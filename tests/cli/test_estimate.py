"""`bruit estimate` on the terminal: what is shown, and options that cannot be."""

import pytest

import bruit

ASK = ("smokes=no,yes", "--epsilon", "1", "-o", "reports.parquet")
LABELS = ["[bold]", "[/x]", "[red]a[/red]", ":smile:", "\\[b]", "two\nlines", "\x1b[2J"]


@pytest.fixture
def reports(run, survey):
    run("privatize", survey, *ASK)
    return "reports.parquet"


def test_labels_and_names_are_shown_as_they_are(run, tmp_path):
    plan = bruit.Plan({"[link]name[/y]": LABELS}, epsilon=1.0)
    (tmp_path / "plan.json").write_text(plan.to_json())
    (tmp_path / "t.json").write_text(plan.simulate([9] * len(LABELS), rng=1).to_json())
    shown = run("estimate", "t.json", "--plan", "plan.json").out
    assert "[link]name[/y]" in shown
    for text in ("[bold]", "[/x]", "[red]a[/red]", ":smile:", "\\[b]", r"two\nlines", r"\x1b[2J"):
        assert text in shown
    assert "\x1b" not in shown


def test_both_commands_state_one_guarantee(run, survey):
    first = run("privatize", survey, *ASK).out
    second = run("estimate", "reports.parquet").out
    (line,) = [line for line in first.splitlines() if line.startswith("guarantee: ")]
    assert line in second.splitlines()
    assert run("estimate", "reports.parquet", "--json").json()["guarantee"]["neighbours"] == "person"


@pytest.mark.parametrize(("people", "told"), [(5, True), (500, False)])
def test_too_few_people_for_an_estimate_are_told(run, tmp_path, people, told):
    plan = bruit.Plan({"smokes": ["no", "yes"]}, epsilon=1.0)
    (tmp_path / "plan.json").write_text(plan.to_json())
    (tmp_path / "t.json").write_text(plan.simulate([people - 2, 2], rng=1).to_json())
    shown = " ".join(run("estimate", "t.json", "--plan", "plan.json").out.split())
    assert ("follow Zipf's law" in shown) == told


@pytest.mark.parametrize("name", ["out.png", "out.svg", "OUT.PNG"])
def test_a_figure_is_the_one_file_that_was_asked_for(run, reports, tmp_path, name):
    before = set(tmp_path.iterdir())
    told = run("estimate", reports, "--figure", name)
    (made,) = set(tmp_path.iterdir()) - before
    assert made.name.lower() == name.lower()
    assert f"figure: {made.name}" in told.err
    assert made.read_bytes().startswith(b"\x89PNG" if name.lower().endswith("png") else b"<?xml")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--figure", "out.foo"), "--figure must name a file that ends in .png or .svg"),
        (("--figure", "out"), "--figure must name a file that ends in .png or .svg"),
        (("--figure", "nodir/out.png"), "The folder nodir does not exist."),
        (("--tally", "nodir/t.json"), "The folder nodir does not exist."),
        (("--tally", "t.csv"), "--tally must name a file that ends in .json"),
        (("--show", "-1"), "--show must be a whole number, 0 or above"),
        (("--target", "everyone"), "--target must be one of"),
        (("--interval", "exact"), "--interval must be one of"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_its_name(run, reports, tmp_path, option, message):
    before = set(tmp_path.iterdir())
    refused = run("estimate", reports, *option, code=2)
    assert message in refused.err
    assert set(tmp_path.iterdir()) == before


def test_the_figure_of_a_choice_is_checked_and_written_too(run, tmp_path):
    common = ("choose", "--k", 8, "--epsilon", 1)
    assert "--figure" in run(*common, "--figure", "x.foo", code=2).err
    assert "figure: x.svg" in run(*common, "--figure", "x.svg").err
    assert [path.name for path in tmp_path.iterdir()] == ["x.svg"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("audit", "--epsilon", 1, "--method", "XYZ"), "--method must be one of"),
        (("audit", "--epsilon", 1, "--seed", -3), "--seed must be a whole number, 0 or above"),
        (("audit", "--epsilon", 1, "--trials", -1), "--trials must be a whole number, 0 or above"),
        (("data", "iris", "-o", "nodir/x.csv"), "The folder nodir does not exist."),
        (("data", "iris", "-o", "x.txt"), "--output must name a file that ends in .csv"),
    ],
)
def test_other_commands_say_it_in_the_same_words(run, arguments, message):
    assert message in run(*arguments, code=2).err
