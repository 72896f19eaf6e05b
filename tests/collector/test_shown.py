"""No number of reports below ``shown_from`` is shown, or is one subtraction away from what is shown.

The law looks at what a reader gets: page in all languages with its slides, sliders and what it saves, command line,
CSV, JSON, pictures, tallies. Surveys are random, and so are their counts. These are so large that two of them are equal
by a subtraction only if one follows from the other.
"""

from __future__ import annotations

import csv
import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bruit.cli import estimate as estimate_command
from bruit.cli.survey import _store
from bruit.cli.survey.results import results as results_command
from bruit.collector import open_store, results_page
from bruit.collector import results as module
from bruit.collector.export import export
from bruit.collector.gate import Gate, Gates
from bruit.collector.intake import _Waiting, commit
from bruit.collector.open_survey import OpenSurvey, document
from bruit.collector.results import SurveyResults, results
from bruit.collector.results_page import page, pages
from bruit.collector.store import Opened, StoredTotals
from bruit.errors import DataError
from bruit.estimation import Tally
from bruit.survey import Survey

#: From so many reports on a number is shown, and how many numbers are as large as the largest one.
LEAST, MOST = 10**9, 10**11


# Random surveys with random counts.


def survey_text(chance: random.Random) -> str:
    method = chance.choice(["SMP[GRR]", "SMP[GRR]", "TAB[GRR]", "SPL[GRR]", "RS+FD[GRR]"])
    lines = ['title = "A"', "epsilon = 3.0", f"shown_from = {LEAST}", f'method = "{method}"']
    if method.startswith("SMP") and chance.random() < 0.4:
        times = "[2020-01-01T08:00:00Z, 2020-01-02T08:00:00Z]"
        lines += ["rounds = 2", "epoch_epsilon = 6.0", f"round_opens = {times}"]
    for number in range(chance.randint(2, 3)):
        lines += ["[[question]]", f'name = "asked{number}"', f'text = "Asked {"ABC"[number]}?"', 'kind = "yes-no"']
        lines += ["refusal = true"] * (number == 0)
    if method.startswith("S") and chance.random() < 0.4:
        lines += ["[[question]]", 'name = "seen"', 'text = "Seen?"', 'kind = "several"', 'labels = ["P", "Q"]']
    for number in range(chance.randint(0, 2)):
        labels = json.dumps(list("VWXYZ"[: chance.randint(2, 4)]))
        lines += ["[[question]]", f'name = "clear{number}"', f'text = "Clear {number}?"', 'kind = "choice"']
        lines += [f"labels = {labels}", "clear = true"]
    return "\n".join(lines)


def number_of_reports(chance: random.Random) -> int:
    kind = chance.random()
    if kind < 0.1:
        return 0
    return chance.randint(1, LEAST - 1) if kind < 0.3 else chance.randint(LEAST, MOST)


def split(total: int, cells: int, chance: random.Random) -> list[int]:
    cuts = sorted(chance.randint(0, total) for _ in range(cells - 1))
    return [high - low for low, high in itertools.pairwise([0, *cuts, total])]


def tally_of(survey: Survey, rare: set[str], strata: int, chance: random.Random) -> Tally:
    """Any counts that reports can have; of rare parts, in all strata together below the gate."""
    design = survey.plan.design
    drawn = design.draws is not None and design.is_tested
    everybody = number_of_reports(chance)
    reports = {part: number_of_reports(chance) if drawn else everybody for part in design.parts}
    if drawn:
        reports |= {part: chance.randint(0, LEAST // strata - 1) for part in sorted(rare)}
    counts = np.zeros(design.cells, np.int64)
    if drawn:
        counts[: len(reports)] = list(reports.values())
    for part, number in reports.items():
        place = design.places[part]
        counts[place] = split(number, place.stop - place.start, chance)
    n = sum(reports.values()) if drawn else everybody
    return Tally(design=survey.plan.digest, counts=counts, n=n)


class Counted:
    """A store with one survey, of which these tallies are shown."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        path = folder / "class.toml"
        path.write_text(survey_text(chance), encoding="utf-8")
        survey = Survey.load(path)
        links = survey.has_rounds
        self.opened = Opened("class", survey.digest, document(path), links, False, bytes(32))
        self.open_survey = OpenSurvey(self.opened)
        rare = {part for part in survey.units if chance.random() < 0.25}
        self.by_key = {
            (stratum, number): tally_of(survey, rare, self.open_survey.strata, chance)
            for stratum in range(self.open_survey.strata)
            for number in range(1, survey.rounds + 1)
        }
        counted = sum(tally.n for tally in self.by_key.values())
        others = [chance.randint(MOST, 2 * MOST) for _ in range(3)]
        self.all = StoredTotals(counted + others[0], *others[1:])

    def survey(self, name: str) -> Opened:
        return self.opened

    def tallies(self, *_: Any) -> dict[tuple[int, int], Tally]:
        return self.by_key

    def totals(self, name: str) -> StoredTotals:
        return self.all

    def links(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(issued=MOST * 7, spent=self.all.answered)

    def waiting(self, name: str) -> int:
        return self.all.answered - sum(tally.n for tally in self.by_key.values())

    def disconnect(self) -> None:
        pass


def counted_surveys(folder: Path, seed: int, number: int) -> Iterator[Counted]:
    chance = random.Random(seed)
    for _ in range(number):
        store = Counted(folder, chance)
        if results(store, store.open_survey).rounds:
            yield store


# What a reader gets.


def numbers_in(value: Any) -> Iterator[int]:
    """Every whole number in a document, a text or a name."""
    if isinstance(value, dict):
        yield from itertools.chain.from_iterable(numbers_in(inner) for pair in value.items() for inner in pair)
    elif isinstance(value, list):
        yield from itertools.chain.from_iterable(map(numbers_in, value))
    elif isinstance(value, str):
        yield from map(int, re.findall("[0-9]+", re.sub(r"(?<=\d),(?=\d{3})", "", value)))
    elif isinstance(value, float):
        yield from [round(value), round(100 * value)] if np.isfinite(value) else []
    elif isinstance(value, int):
        yield value


def printed(store: Counted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command line says."""
    monkeypatch.setattr(_store, "opened", lambda _: store)
    monkeypatch.setattr(_store, "open_survey", lambda *_: store.open_survey)
    results_command("class")
    said = capsys.readouterr()
    return said.out + said.err


def every_page(shown: SurveyResults) -> Iterator[bytes]:
    """The page in every language, for the asker and for everybody; slides, sliders and files to save are in it."""
    for public in (False, True):
        yield from pages(shown, public=public).values()


class Reader:
    """All numbers that a reader has, and the families of numbers of which sums are taken."""

    def __init__(self, shown: SurveyResults, folder: Path, said: str) -> None:
        for file in folder.glob("*"):
            file.unlink()
        export(shown, folder, replace=True)
        texts = {file.name: file.read_text() for file in folder.glob("*") if file.suffix != ".parquet"}
        rows = list(csv.DictReader(texts["results.csv"].splitlines()))
        self.numbers = {number for own in every_page(shown) for number in numbers_in(own.decode())}
        self.numbers |= {number for name in texts if not name.endswith(".json") for number in numbers_in(texts[name])}
        self.numbers |= {*numbers_in(said)}
        self.numbers |= {
            number for name in texts if name.endswith(".json") for number in numbers_in(json.loads(texts[name]))
        }
        #: Numbers of people in groups, strata, or by question, that somebody may add up.
        self.families: dict[Any, Counter[Any]] = {}
        for row in rows:
            answers = int(row["answers"])
            assert answers >= LEAST
            which = (row["round"], row["attribute"], row["group"])
            self._add(which, row["member"], answers)
            self._add(("questions", row["round"], row["group"], row["member"]), row["attribute"], answers)
        self._add_strata(shown, json.loads(texts.get("strata.json", '{"strata": []}'))["strata"])

    def _add(self, family: Any, member: Any, number: int) -> None:
        self.families.setdefault(family, Counter())[member] = number

    def _add_strata(self, shown: SurveyResults, strata: list[dict[str, Any]]) -> None:
        survey = shown.survey
        for entry in strata:
            tally = Tally.from_dict(entry["tally"])
            sizes = {None: tally.n, **{part: survey.plan.design.reported_on(part, tally) for part in survey.units}}
            sizes |= {name: survey.plan.design.reported(name, tally) for name in survey.plan.schema}
            labels = np.unravel_index(entry["stratum"], [len(own) for own in survey.public.values()])
            for name, size in sizes.items():
                self.numbers.add(size)
                assert name is None or size >= LEAST
                for block in [None, *enumerate(map(int, labels))]:
                    self._add(("strata", entry["round"], name, block), entry["stratum"], size)

    def subtractions(self) -> set[int]:
        """The sums of some numbers of a family, from which any number may be taken or which may be taken from any."""
        sums = {0, *self.numbers}
        for family in self.families.values():
            sizes = list(family.values())
            if len(sizes) <= 5:
                lengths: Any = range(2, len(sizes) + 1)
            else:
                lengths = [len(sizes)]
            sums |= {sum(some) for length in lengths for some in itertools.combinations(sizes, length)}
        return sums


def hidden_numbers(store: Counted) -> dict[int, Any]:
    """The numbers of reports below the gate: on a question or table in a round, of all people, a group, a stratum."""
    open_survey, design = store.open_survey, store.open_survey.survey.plan.design
    sizes: Counter[Any] = Counter()
    answered: Counter[int] = Counter()
    for (stratum, number), tally in store.by_key.items():
        answered[number] += tally.n
        blocks = [None, ("stratum", stratum), *enumerate(open_survey.public(stratum))]
        measures = {part: design.reported_on(part, tally) for part in open_survey.survey.units}
        measures |= {name: design.reported(name, tally) for name in open_survey.survey.plan.schema}
        for block, (name, size) in itertools.product(blocks, measures.items()):
            sizes[number, block, name] += size
    shown = {key: size for key, size in sizes.items() if answered[key[0]] >= LEAST}
    return {size: key for key, size in shown.items() if 0 < size < LEAST}


def leaks(store: Counted, folder: Path, monkeypatch: Any, capsys: Any) -> dict[int, Any]:
    """The hidden numbers that a reader has or gets by one subtraction."""
    shown = results(store, store.open_survey)
    if not any(shown.parts.values()):
        return {}
    reader = Reader(shown, folder, printed(store, monkeypatch, capsys))
    sums = reader.subtractions()
    return {
        size: key
        for size, key in hidden_numbers(store).items()
        if any(size + total in reader.numbers or total - size in reader.numbers for total in sums)
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where exports go."""
    path = tmp_path / "out"
    path.mkdir()
    return path


def test_no_hidden_number_is_shown_or_one_subtraction_away(tmp_path, folder, monkeypatch, capsys) -> None:
    hidden = shown = groups = strata = 0
    for store in counted_surveys(tmp_path, 1, 50):
        assert leaks(store, folder, monkeypatch, capsys) == {}
        look = results(store, store.open_survey)
        hidden += len(hidden_numbers(store))
        shown += sum(question.hidden is None for known in look.rounds.values() for question in known)
        groups += sum(
            group.hidden is None for known in look.rounds.values() for question in known for group in question.groups
        )
        strata += len(look.strata)
    assert min(hidden, shown, groups, strata) > 50  # there was something to hide, and something to show


class ByPeople(Gates):
    """The gate as it was: by the answers of a group on all questions together."""

    def __init__(self, reports: Any, least: int) -> None:
        super().__init__(reports, least)
        answers = Counter[Any]()
        for own in reports.values():
            answers.update(own)
        gate = Gate(answers, least)
        self.parts = {part for part, own in reports.items() if any(own.values())}
        self.strata = gate.strata
        self._gates = dict.fromkeys(reports, gate)


class QuestionsAlone(Gates):
    """Questions with few reports are hidden, and follow from all answers less the others."""

    def __init__(self, reports: Any, least: int) -> None:
        super().__init__(reports, least)
        self.parts = {part for part, own in reports.items() if sum(own.values()) >= least}
        self._gates = {part: Gate(reports[part], least) for part in self.parts}


class StrataByPeople(Gates):
    """Strata are shown by their answers on all questions together."""

    def __init__(self, reports: Any, least: int) -> None:
        super().__init__(reports, least)
        self.strata = ByPeople(reports, least).strata


@pytest.mark.parametrize("twin", [ByPeople, QuestionsAlone, StrataByPeople])
def test_the_law_catches_a_gate_that_is_not_by_question_and_group(twin, tmp_path, folder, monkeypatch, capsys) -> None:
    monkeypatch.setattr(module, "Gates", twin)
    stores = counted_surveys(tmp_path, 2, 40)
    with pytest.raises(AssertionError):
        assert all(not leaks(store, folder, monkeypatch, capsys) for store in stores)


def test_the_law_catches_an_export_of_the_whole_tally(tmp_path, folder, monkeypatch, capsys) -> None:
    monkeypatch.setattr(SurveyResults, "tally", lambda self, number: module._whole(self.tallies, number))
    assert any(leaks(store, folder, monkeypatch, capsys) for store in counted_surveys(tmp_path, 3, 40))


def _outspoken_table(shown: SurveyResults, attributes: Any, round_number: int | None = None) -> Any:
    """The table of a question with the reports of every stratum, whether it is shown or not."""
    sizes = [
        shown.survey.plan.design.reported(name, tally)
        for (_, number), tally in shown.tallies.items()
        for name in attributes
        if round_number in (None, number) and name in shown.survey.plan.schema
    ]
    return SimpleNamespace(to_csv=lambda: "\n".join(map(str, sizes)))


def test_the_law_catches_a_file_of_a_question_with_hidden_groups(tmp_path, folder, monkeypatch, capsys) -> None:
    monkeypatch.setattr(results_page, "question_table", _outspoken_table)
    assert any(leaks(store, folder, monkeypatch, capsys) for store in counted_surveys(tmp_path, 3, 40))


def test_the_law_catches_a_slider_that_knows_hidden_numbers(tmp_path, folder, monkeypatch, capsys) -> None:
    original = results_page._data

    def outspoken(shown: SurveyResults, articles: Any) -> dict[str, Any]:
        sizes = _outspoken_table(shown, list(shown.survey.plan.schema)).to_csv()
        return {**original(shown, articles), "observed": sizes}

    monkeypatch.setattr(results_page, "_data", outspoken)
    assert any(leaks(store, folder, monkeypatch, capsys) for store in counted_surveys(tmp_path, 3, 40))


def test_the_law_catches_a_picture_with_a_hidden_number(tmp_path, folder, monkeypatch, capsys) -> None:
    hidden: list[str] = []
    monkeypatch.setattr(results_page, "drawing", lambda *_: " ".join(hidden))

    def leak(store: Counted) -> dict[int, Any]:
        hidden[:] = map(str, hidden_numbers(store))
        return leaks(store, folder, monkeypatch, capsys)

    assert any(leak(store) for store in counted_surveys(tmp_path, 3, 40))


def test_the_law_catches_an_alarm_about_a_question_that_is_hidden(tmp_path, folder, monkeypatch, capsys) -> None:
    original = module._alarms

    def outspoken(survey: Survey, wholes: Any, gates: Any) -> Any:
        everything = {number: SimpleNamespace(shows=lambda _: True) for number in gates}
        return original(survey, wholes, everything)

    monkeypatch.setattr(module, "_alarms", outspoken)
    assert any(leaks(store, folder, monkeypatch, capsys) for store in counted_surveys(tmp_path, 4, 40))


# Two surveys that differ in what is hidden.


class Given(Counted):
    """A survey of two questions, with these numbers of reports on the first and on the second in each class."""

    def __init__(self, folder: Path, numbers: list[tuple[int, int]]) -> None:
        path = folder / "two.toml"
        path.write_text(TWO, encoding="utf-8")
        survey = Survey.load(path)
        self.opened = Opened("two", survey.digest, document(path), False, False, bytes(32))
        self.open_survey = OpenSurvey(self.opened)
        self.by_key = {
            (stratum, 1): Tally(
                design=survey.plan.digest, counts=[first, second, first, 0, 0, 0, second], n=first + second
            )
            for stratum, (first, second) in enumerate(numbers)
        }
        self.all = StoredTotals(sum(map(sum, numbers)), 0, 0)


def everything(store: Counted, folder: Path) -> list[bytes]:
    """All bytes that a reader gets."""
    shown = results(store, store.open_survey)
    names = export(shown, folder, replace=True)
    return [*every_page(shown), *((folder / name).read_bytes() for name in sorted(names))]


def test_other_numbers_in_hidden_groups_change_no_byte(tmp_path, folder) -> None:
    """Reports on the second question move between two classes of which neither is shown for it."""
    numbers = [[(40, small), (40, 13 - small), (40, 30), (40, 30)] for small in (1, 2, 3)]
    first, *rest = (everything(Given(tmp_path, own), folder) for own in numbers)
    assert all(other == first for other in rest)
    assert everything(Given(tmp_path, [(40, 1), (40, 12), (40, 31), (40, 29)]), folder) != first


# Closing.


def test_after_closing_there_is_one_page(store, opened, survey_file) -> None:
    """What came since the last step is shown from then on, or is gone."""
    for number, decision in enumerate((True, False)):
        open_survey = opened(store, survey_file, f"closed{number}")
        sent = [open_survey.survey.answer({"drinks": "Yes", "class": "A"}) for _ in range(15)]
        for body in sent:
            commit(store, [_Waiting(open_survey, open_survey.read(body), None)])
        before = results(store, open_survey)
        assert (before.shown, store.waiting(open_survey.name)) == (10, 5)
        store.close(open_survey.name, whole=decision)
        decided = results(store, open_survey)
        assert (decided.shown, store.waiting(open_survey.name), decided.undecided) == (15 if decision else 10, 0, False)
        pages = {page(decided)}
        for later in (True, False, None):
            store.close(open_survey.name, whole=later)
            pages.add(page(results(store, open_survey)))
        assert len(pages) == 1
        assert store.totals(open_survey.name).answered == 15


def test_a_survey_that_closed_at_its_time_is_decided_later(store, opened, survey_file) -> None:
    open_survey = opened(store, survey_file)
    for body in [open_survey.survey.answer({"drinks": "Yes", "class": "A"}) for _ in range(12)]:
        commit(store, [_Waiting(open_survey, open_survey.read(body), None)])
    store.close(open_survey.name)
    shown = results(store, open_survey)
    assert (shown.closed, shown.undecided, shown.shown) == (True, True, 10)
    assert "bruit survey close alcohol --no-all" in page(shown).decode()
    store.close(open_survey.name, whole=False)
    assert "2 answers came after the last step and are left out" in page(results(store, open_survey)).decode()
    assert "bruit survey close" not in page(results(store, open_survey)).decode()


# The same with people.

TWO = """
title = "Two questions"
epsilon = 2.0
shown_from = 10
[[question]]
name = "drinks"
text = "Do you drink?"
kind = "yes-no"
refusal = true
[[question]]
name = "smokes"
text = "Do you smoke?"
kind = "yes-no"
[[question]]
name = "class"
text = "Your class"
kind = "choice"
labels = ["A", "B", "C", "D"]
clear = true
"""


def bodies(open_survey: OpenSurvey, label: str, question: int, number: int) -> Iterator[bytes]:
    """Reports of people in a class whose device drew this question."""
    while number:
        body = open_survey.survey.answer({"drinks": "Yes", "smokes": "No", "class": label})
        if open_survey.survey.parse(body).columns["attribute"] == str(question):
            number -= 1
            yield body


@pytest.fixture
def two(tmp_path, opened):
    """A survey with two questions, of which one is drawn, and a function that sends reports and looks at results."""
    path = tmp_path / "two.toml"
    path.write_text(TWO, encoding="utf-8")
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, path, "two")

    def look(sent: dict[tuple[str, int], int]) -> SurveyResults:
        reports = [
            body for (label, question), number in sent.items() for body in bodies(open_survey, label, question, number)
        ]
        commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in reports])
        return results(store, open_survey)

    yield look
    store.disconnect()


def test_one_question_in_one_group_does_not_rest_on_a_single_report(two, tmp_path) -> None:
    """Class A has 31 answers, of which one is on smoking."""
    shown = two({("A", 0): 30, ("A", 1): 1, ("B", 0): 30, ("B", 1): 12, ("C", 0): 30, ("C", 1): 20})
    drinks, smokes = shown.rounds[1]
    assert [(group.label, group.n, group.hidden) for group in drinks.groups] == [
        ("A", 30, None), ("B", 30, None), ("C", 30, None), ("D", None, "few"),
    ]  # fmt: skip
    assert [(group.label, group.n, group.hidden) for group in smokes.groups] == [
        ("A", None, "few"), ("B", None, "follows"), ("C", 20, None), ("D", None, "few"),
    ]  # fmt: skip
    assert (drinks.n, smokes.n) == (90, 33)
    text = page(shown).decode()
    assert "Too few answers to show: A, D." in text
    assert "C: 20 answers" in text
    assert not re.search("[AB]: [0-9]+ answer.*Do you smoke", text)
    names = export(shown, tmp_path / "out")
    assert "tally.json" in names
    rows = list(csv.DictReader((tmp_path / "out" / "results.csv").read_text().splitlines()))
    sizes = {(row["attribute"], row["member"]): int(row["answers"]) for row in rows}
    assert sizes == {
        ("drinks", ""): 90, ("drinks", "A"): 30, ("drinks", "B"): 30, ("drinks", "C"): 30,
        ("smokes", ""): 33, ("smokes", "C"): 20,
    }  # fmt: skip
    strata = json.loads((tmp_path / "out" / "strata.json").read_text())
    assert [part["stratum"] for part in strata["strata"]] == [2]
    assert strata["answers_in_strata_not_shown"] == {"1": 73}


def test_a_question_with_few_reports_is_in_no_file_and_the_tally_says_why(two, tmp_path, capsys) -> None:
    shown = two({("A", 0): 60, ("B", 1): 9})
    assert [question.hidden for question in shown.rounds[1]] == ["follows", "few"]
    assert "Too few people reported on this to show it: 10 reports are needed." in page(shown).decode()
    with pytest.raises(DataError, match="too few"):
        export(shown, tmp_path / "out")


def test_a_tally_without_a_question_is_one_that_bruit_estimate_takes(tmp_path, opened, capsys) -> None:
    path = tmp_path / "three.toml"
    third = '[[question]]\nname = "sleeps"\ntext = "Do you sleep?"\nkind = "yes-no"\n'
    path.write_text(TWO.partition('[[question]]\nname = "class"')[0] + third, encoding="utf-8")
    store = open_store(tmp_path / "surveys.sqlite")
    open_survey = opened(store, path, "three")
    wanted, reports = Counter({"0": 40, "1": 9, "2": 30}), []
    while wanted.total():
        body = open_survey.survey.answer({"drinks": "Yes", "smokes": "No", "sleeps": "Yes"})
        drawn = open_survey.survey.parse(body).columns["attribute"]
        if wanted[drawn]:
            wanted[drawn] -= 1
            reports.append(body)
    commit(store, [_Waiting(open_survey, open_survey.read(body), None) for body in reports])
    shown = results(store, open_survey)
    assert [question.hidden for question in shown.rounds[1]] == [None, "few", "follows"]
    export(shown, tmp_path / "out")
    written = json.loads((tmp_path / "out" / "tally.json").read_text())
    assert written["n"] == 40
    assert set(written["left_out"]) == {"smokes", "sleeps"}
    assert all("fewer than 10 reports" in reason for reason in written["left_out"].values())
    files = {"plan": tmp_path / "out" / "plan.json", "attribute": ["drinks"], "as_json": True}
    estimate_command.estimate([tmp_path / "out" / "tally.json"], **files)
    (document,) = json.loads(capsys.readouterr().out)
    assert [row["frequency"] for row in document["values"]] == shown.rounds[1][0].answer.frequency.tolist()
    store.disconnect()


def test_the_alarm_about_a_question_with_few_reports_has_no_number(two) -> None:
    shown = two({("A", 0): 87, ("B", 1): 4})
    assert set(shown.silent_deviations) == {"drinks", "smokes"}
    section = re.search('<section class="alarm".*?</section>', page(shown).decode())[0]
    assert "The reports on smokes do not follow it; their counts are not shown." in section
    assert not re.search("[0-9]", section.replace("h2", ""))
