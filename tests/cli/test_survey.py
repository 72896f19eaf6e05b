"""`bruit survey`: the commands around the file of a survey."""

import pytest


def test_a_new_survey_is_checked_and_becomes_a_page(run, tmp_path):
    assert "next: bruit survey check class.toml" in run("survey", "new", "class.toml").out
    shown = run("survey", "check", "class.toml").out
    assert "88 of 100" in shown
    assert "± 17 points" in shown
    assert "1.2 people" in shown
    assert "unwise" not in shown
    assert shown.splitlines()[-1] == "Verdict: nothing speaks against asking."
    assert "can come to think 89 % at most" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    written = run("survey", "page", "class.toml", "-o", "class.html").out
    page = (tmp_path / "class.html").read_bytes()
    import hashlib

    assert hashlib.sha256(page).hexdigest() in written
    assert "frame-ancestors 'none'" in written


def test_the_full_example_is_a_survey_of_every_kind(run, tmp_path):
    run("survey", "new", "full.toml", "--full")
    document = run("survey", "check", "full.toml", "--json").json()
    assert document["people"] == 400
    assert document["warnings"] == []
    from bruit.survey import Survey

    kinds = {question.kind for question in Survey.load(tmp_path / "full.toml").questions}
    assert kinds == {"choice", "yes-no", "scale", "number", "several"}


def test_sheets_of_paper_are_written_with_their_plan_and_counted(run, tmp_path):
    run("survey", "new", "class.toml")
    shown = run("survey", "paper", "class.toml", "-o", "paper").out
    assert "die-5, odds 5:1" in shown
    assert sorted(path.name for path in (tmp_path / "paper").iterdir()) == [
        "entry.en.html", "plan.json", "sheet.en.html",
    ]  # fmt: skip
    (tmp_path / "answer.csv").write_text("answer\n" + "0\n" * 60 + "1\n" * 40)
    values = run("estimate", "answer.csv", "--plan", "paper/plan.json", "--json").json()["values"]
    # (0.4 − 1/6)/(5/6 − 1/6) = 0.35
    assert values[1]["label"] == "Yes"
    assert values[1]["frequency"] == pytest.approx(0.35)


def test_nothing_that_exists_is_replaced(run, tmp_path):
    run("survey", "new", "class.toml")
    run("survey", "page", "class.toml", "--code", "-o", "page.html")
    for command in (
        ("new", "class.toml"),
        ("page", "class.toml", "-o", "class.html"),
        ("paper", "class.toml", "-o", "p"),
        ("handouts", "class.toml", "--page", "page.html", "-o", "p"),
    ):
        (tmp_path / "class.html").write_text("mine")
        (tmp_path / "p").mkdir(exist_ok=True)
        assert "exists" in run("survey", *command, code=2).err
    run("survey", "page", "class.toml", "-o", "class.html", "--force")
    run("survey", "page", "class.toml", "-o", "class.html!")
    run("survey", "handouts", "class.toml", "--page", "page.html", "-o", "p!")
    assert (tmp_path / "p" / "poster.en.html").exists()


def test_a_survey_with_a_mistake_ends_with_its_place_and_the_right_spelling(run, tmp_path):
    (tmp_path / "bad.toml").write_text('title = "x"\nepsilon = 1\n[[question]]\nname = "a"\nkind = "yesno"\ntext = "?"')
    assert "Did you mean 'yes-no'?" in run("survey", "check", "bad.toml", code=2).err
    (tmp_path / "bad.toml").write_text("title =\nepsilon = 1")
    assert "line 1" in run("survey", "check", "bad.toml", code=4).err
    assert run("survey", "check", "none.toml", code=4).err
