"""A whole class by codes, from a new survey to the page of results, as a teacher does it: eight commands, no server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bruit.cli.app import app
from bruit.survey import Survey


@pytest.fixture
def teacher(tmp_path, monkeypatch):
    """Runs commands in an empty folder; what they print."""
    monkeypatch.chdir(tmp_path)

    def run(command: str, *, code: int = 0, **options) -> str:
        arguments = command.split()[1:]  # without "bruit"
        result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200", "NO_COLOR": "1"}, **options)
        assert result.exit_code == code, result.output
        return re.sub(r"\s+", " ", result.output)

    return run


def pupils(survey: Survey, number: int) -> list[str]:
    """The codes that the phones of a class show; every third pupil says yes."""
    return [survey.answer_code({"answer": "Yes" if pupil % 3 == 0 else "No"}) for pupil in range(number)]


def test_a_class_is_asked_by_codes_without_a_server(teacher) -> None:
    teacher("bruit survey new class.toml")
    assert "shows codes of 12 characters" in teacher("bruit survey check class.toml")
    assert "codes of 12 characters" in teacher("bruit survey page class.toml --code -o class.html")
    teacher("bruit survey handouts class.toml --page class.html -o print")

    # The pupils open class.html on their phones and type their codes into the form of the school.
    codes = pupils(Survey.load("class.toml"), 60)
    form = ["Time,Email,Code", *(f"10:{n},pupil{n}@school.example,{code}" for n, code in enumerate(codes[:40]))]
    Path("answers.csv").write_text("\n".join(form), encoding="utf-8")
    monday = teacher("bruit survey collect class.toml answers.csv --store class.sqlite --per Email")
    assert "Counted: 40 answers of 60 people; new: 40 codes." in monday

    # On Tuesday the form has the others too; one is mistyped, and one pupil sent a code twice.
    late = [*codes[40:], codes[3]]
    late[0] = ("Z" if late[0][0] != "Z" else "Y") + late[0][1:]
    form += [f"11:{n},late{n}@school.example,{code}" for n, code in enumerate(late)]
    Path("answers.csv").write_text("\n".join(form), encoding="utf-8")
    tuesday = teacher("bruit survey collect class.toml answers.csv --store class.sqlite --per Email")
    assert "Counted: 59 answers of 60 people; new: 19 codes." in tuesday
    assert "mistyped: 1 (answers.csv row 42 group 1)" in tuesday
    assert "counted once though it came again: 1 (answers.csv row 62)" in tuesday
    assert "have mistyped codes corrected and collect the file again before you close" in tuesday
    assert "Next, once all codes are in: bruit survey close class --store class.sqlite" in tuesday
    assert "rows without" not in monday + tuesday  # the heading is no such row
    assert "school.example" not in monday + tuesday

    closed = teacher("bruit survey close class --store class.sqlite --all")
    assert "59 are in the results" in closed
    assert "Next: bruit survey results class --store class.sqlite -o results.html" in closed
    teacher("bruit survey results class --store class.sqlite -o results.html")
    page = Path("results.html").read_text(encoding="utf-8")
    assert "59" in page
    assert "A question to our class" in page
    assert not any(code in page for code in codes)
    refused = teacher("bruit survey results class --store class.sqlite -o results.html", code=2)
    assert "exists: write to another name, or replace it with -o results.html!" in refused
    teacher("bruit survey results class --store class.sqlite -o results.html!")


def test_all_codes_that_are_collected_together_are_in_the_results_and_later_ones_wait(teacher) -> None:
    """Of 28 pupils with shown_from = 10: open and closed, with and without --all."""
    teacher("bruit survey new class.toml")
    codes = pupils(Survey.load("class.toml"), 28)
    for store, files in (("once", [codes]), ("twice", [codes[:20], codes])):
        for handed_in in files:
            Path("codes.txt").write_text("\n".join(handed_in), encoding="utf-8")
            output = teacher(f"bruit survey collect class.toml codes.txt --store {store}.sqlite")
        assert ("8 answers came after the last step of 10" in output) is (store == "twice")
        shown = teacher(f"bruit survey results class --store {store}.sqlite")
        assert f"from {28 if store == 'once' else 20} reports" in shown
    assert "28 are in the results" in teacher("bruit survey close class --store once.sqlite")
    refused = teacher("bruit survey close class --store twice.sqlite", code=2)
    assert "bruit survey close class --store twice.sqlite --all to include them" in refused
    assert "28 are in the results" in teacher("bruit survey close class --store twice.sqlite --all")


def test_rows_with_a_second_code_of_a_submitter_are_named_and_the_submitter_is_not(teacher) -> None:
    teacher("bruit survey new class.toml")
    first, second, third = pupils(Survey.load("class.toml"), 3)
    lines = ["Name,Code", f"Anna,{first}", f"Bea,{second}", f"Bea,{first}", f"Anna,{third}", f"Carl,{second}"]
    Path("answers.csv").write_text("\n".join(lines), encoding="utf-8")
    output = teacher("bruit survey collect class.toml answers.csv --store class.sqlite --per Name")
    assert "further codes of the same Name, not counted: 2 (answers.csv row 5, answers.csv row 4)" in output
    assert "counted once though it came again: 1 (answers.csv row 6)" in output
    assert not any(name in output for name in ("Anna", "Bea", "Carl"))


def test_codes_are_read_from_standard_input_and_shown_at_once(teacher) -> None:
    teacher("bruit survey new class.toml")
    codes = "\n".join(pupils(Survey.load("class.toml"), 20))
    output = teacher("bruit survey collect class.toml", input=codes)
    assert "Counted: 20 answers of 60 people; new: 20 codes." in output
    assert "Answers to 'answer', estimated from 20 reports" in output
    assert "That everybody counts once is not assured" in output
    assert "class: 20 answers." in output
    assert "Nothing of this is kept. --store class.sqlite keeps it" in output
    assert sorted(path.name for path in Path().iterdir()) == ["class.toml"]


def test_few_codes_are_not_estimated(teacher) -> None:
    teacher("bruit survey new class.toml")
    codes = "\n".join(pupils(Survey.load("class.toml"), 9))
    assert "Results are shown from 10 answers on." in teacher("bruit survey collect class.toml -", input=codes)


def test_collecting_says_what_does_not_count_and_where_it_stands(teacher) -> None:
    teacher("bruit survey new class.toml")
    survey = Survey.load("class.toml")
    text = Path("class.toml").read_text(encoding="utf-8")
    Path("old.toml").write_text(text.replace("which people", "that people"), encoding="utf-8")
    Path("other.toml").write_text(text.replace("A question to our class", "Sport"), encoding="utf-8")
    good = pupils(survey, 12)
    wrong = max(good, key=lambda code: sum(map(str.isdigit, code))).replace("-", "")
    # One code in 1,024 of another text has the mark of this one by chance.
    earlier = [code for code in pupils(Survey.load("old.toml"), 30) if survey.codes.read(code).report is None]
    lines = [*good, *earlier[:2], *pupils(Survey.load("other.toml"), 3), "hello", wrong[:-1]]
    Path("codes.txt").write_text("\n".join(lines), encoding="utf-8")
    output = teacher("bruit survey collect class.toml codes.txt")
    assert "new: 12 codes." in output
    assert "of another text of this survey, as an earlier one: 2" in output
    assert "of another survey: 3" in output
    assert "rows without a code: 1" in output
    assert "mistyped: 1 (codes.txt row 19)" in output


def test_a_survey_opened_with_links_refuses_codes_and_one_without_says_what_is_not_assured(teacher) -> None:
    pytest.importorskip("starlette", reason="the collector needs bruit[collector]")
    teacher("bruit survey new class.toml")
    Path("codes.txt").write_text("\n".join(pupils(Survey.load("class.toml"), 12)), encoding="utf-8")
    teacher("bruit survey open class.toml --no-serve --links --name linked")
    refused = teacher("bruit survey collect class.toml codes.txt --store surveys.sqlite --name linked", code=2)
    assert "was opened with --links" in refused
    teacher("bruit survey open class.toml --no-serve")
    output = teacher("bruit survey collect class.toml codes.txt --store surveys.sqlite")
    assert "That everybody counts once is not assured" in output
    assert "new: 12 codes." in output


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("bruit survey collect class.toml codes.pdf", "CODES must be files that end with .csv, .txt, .xlsx"),
        ("bruit survey collect class.toml codes.txt --per Email", "--per must name one column of the first row"),
        ("bruit survey collect class.toml codes.txt --name x", "--name is the name in a store"),
        ("bruit survey page class.toml --code --links -o x.html", "A page with codes sends nothing"),
        ("bruit survey handouts class.toml --page codes.txt -o x", "The page must be that of this survey"),
        (
            "bruit survey handouts class.toml --page codes.txt -o x --address http://a",
            "--address must begin with https",
        ),
        ("bruit survey links class --number 1 --address https://a --sheet x.html", "Write --slips"),
    ],
)
def test_mistakes_are_told_with_their_remedy(teacher, command, message) -> None:
    teacher("bruit survey new class.toml")
    Path("codes.txt").write_text("no codes", encoding="utf-8")
    Path("codes.pdf").write_bytes(b"%PDF")
    assert message in teacher(command, code=2)


def test_a_file_that_says_codes_has_pages_with_codes_and_check_says_what_that_adds(teacher) -> None:
    teacher("bruit survey new class.toml")
    text = Path("class.toml").read_text(encoding="utf-8")
    Path("class.toml").write_text(text.replace("# channel", "channel"), encoding="utf-8")
    output = teacher("bruit survey check class.toml")
    assert "Answers come as codes of 12 characters" in output
    assert "links a person to the randomised report" in output
    assert "moves the estimate of 'answer' by up to 1.2 people" in output
    assert "it shows codes of 12 characters" in teacher("bruit survey page class.toml -o class.html")
    refused = teacher("bruit survey open class.toml --no-serve", code=2)
    assert "bruit survey collect" in refused
    assert Survey.load("class.toml").channel == "codes"
