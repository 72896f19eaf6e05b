"""Tables on the terminal and in a pipe: every number whole, and no two rows alike, however long the labels are."""

import re
import unicodedata

import pytest

import bruit

LENGTH = 200
ROW = re.compile(r"(?P<label>.*?)\s+(?P<numbers>-?\d\.\d{4}\s+-?\d\.\d{4} … -?\d\.\d{4})")

KINDS = {
    "middle": lambda i: "a" * (LENGTH // 2) + f"{i:02}" + "b" * (LENGTH // 2 - 2),
    "end": lambda i: "c" * (LENGTH - 2) + f"{i:02}",
    "invisible": lambda i: "d" * (LENGTH // 2) + "\u200b" * (i + 1) + "d" * (LENGTH // 2),
    "spaces": lambda i: "é" * 10 + " " * (i + 1) + "日本" * 20 + "\xa0" * (i % 3),
    "scripts": lambda i: "שלום " * 30 + "e\u0301" * i + "مرحبا " * 10,
    "words": lambda i: f"category number {i} with a very long name indeed, " * 3,
}


@pytest.fixture(params=KINDS)
def labels(request):
    return [KINDS[request.param](i) for i in range(8)]


@pytest.fixture
def expected(tmp_path, labels):
    """The numbers of each row, as they must be shown."""
    plan = bruit.Plan({"answer": labels}, epsilon=5.0)
    tally = plan.simulate([100 + 10 * i for i in range(8)], rng=1)
    (tmp_path / "plan.json").write_text(plan.to_json())
    (tmp_path / "t.json").write_text(tally.to_json())
    answer = plan.estimate(tally)["answer"]
    return [
        (f"{f:.4f}", f"{low:.4f}", f"{high:.4f}")
        for f, (low, high) in zip(answer.frequency, answer.interval(), strict=True)
    ]


def rows(text):
    """The label and the numbers of each row: a row starts where its numbers are, and its label may go on below."""
    found = []
    for line in text.split("frequency", 1)[1].splitlines()[1:]:
        match = ROW.fullmatch(line)
        if match:
            found.append(([match["label"]], tuple(re.findall(r"-?\d\.\d{4}", match["numbers"]))))
        elif line.startswith(("guarantee", "intervals for")):
            break
        else:
            found[-1][0].append(line)
    return found


def look(lines):
    """What the eye sees of a label: nothing that has no width, and one kind of space."""
    kept = "".join(mark for line in lines for mark in line if unicodedata.category(mark) not in ("Cf", "Cc"))
    return "".join(unicodedata.normalize("NFKC", kept).split())


@pytest.mark.parametrize("columns", [40, 60, 80, 200, ""])
def test_numbers_are_whole_and_no_two_rows_look_alike(run, monkeypatch, expected, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    found = rows(run("estimate", "t.json", "--plan", "plan.json").out)
    assert [numbers for _, numbers in found] == expected
    assert len({look(label) for label, _ in found}) == len(expected)


def test_a_pipe_shows_labels_whole_on_one_line_each(run, monkeypatch, expected):
    monkeypatch.delenv("COLUMNS")
    found = rows(run("estimate", "t.json", "--plan", "plan.json").out)
    assert all(len(label) == 1 for label, _ in found)
    assert not any("…" in label for (label,), _ in found)


def test_what_was_paid_for_is_shown_whole_unless_it_is_in_a_file(run, monkeypatch, tmp_path):
    """Asking again for the rows that are left out would be another release, and cost another ε."""
    from bruit import documents

    names = [f"v{i:02}" for i in range(60)]
    (tmp_path / "t.csv").write_text("c\n" + "\n".join(names) + "\n")
    ask = ("release", "t.csv", "--histogram", f"c={','.join(names)}", "-e", 1)

    def missing(told):
        return [name for name in names if name not in told.out]

    assert missing(run(*ask)) == []
    assert "bruit result my.ledger 0 --show 5" in run(*ask, "--show", 5, code=2).err
    kept = run(*ask, "-o", "r.json")
    assert len(missing(kept)) == 40
    assert "and 40 more values (the next command shows all, and spends nothing)" in " ".join(kept.out.split())
    assert "bruit result r.json" in kept.out
    assert missing(run("result", "r.json")) == []

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(documents, "sync", full)
    assert missing(run(*ask, "-o", "again.json", code=4)) == []


@pytest.mark.audit("study")
@pytest.mark.parametrize(
    "command",
    [
        ("choose", "--k", 64, "-e", 1),
        ("choose", "-e", 1, "sex=F,M", "age=0..9", "--published"),
        ("size", "--k", 5, "-e", 1, "--half-width", 0.01),
        ("plan", "-e", 1, "sex=F,M", "age=0..9"),
        ("audit", "-e", 1, "--k", 5, "--trials", 2000, "--level", 1 - 1e-7),
        ("data",),
        ("data", "adult"),
        ("study", "list"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_keeps_to_the_screen_and_drops_no_number(run, monkeypatch, command):
    numbers = {}
    for columns in (40, 60, 80, 200, ""):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = run(*command).out
        if columns:
            assert max(map(len, text.splitlines())) <= columns
        numbers[columns] = sorted(re.findall(r"(?<=  )[\d.,]+(?= %|  |$)", text, re.MULTILINE))
    assert bool(numbers[""]) == (command != ("data", "adult"))  # which has texts only
    if command[0] != "audit" and command != ("data", "adult"):  # the attack of an audit is another one each time
        assert all(found == numbers[""] for found in numbers.values())
