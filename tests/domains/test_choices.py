"""Questions with several choices: each is a yes/no attribute that reads the same column, under one ε."""

from __future__ import annotations

import numpy as np
import pytest

from bruit import Plan
from bruit.domains import Attribute, MultiChoice, Schema
from bruit.domains.declare import question
from bruit.errors import DataError, MissingError, ParameterError, ParameterTypeError

SPORTS = MultiChoice(["run", "swim", "ski"])
VALUES = ["run;ski", "swim", " ski ; run", "ski"]
EXPECTED = {"sports: run": [1, 0, 1, 0], "sports: swim": [0, 1, 0, 0], "sports: ski": [1, 0, 1, 1]}


def encoded(values, choices: MultiChoice = SPORTS) -> dict[str, list[int]]:
    return {name: codes.tolist() for name, codes in Schema({"sports": choices}).encode({"sports": values}).items()}


def test_texts_lists_and_sets_mean_the_same() -> None:
    assert encoded(VALUES) == EXPECTED
    assert encoded([["run", "ski"], ["swim"], {"run", "ski"}, ("ski",)]) == EXPECTED
    assert encoded(np.array(VALUES)) == EXPECTED


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_a_file_gives_the_reports_of_the_same_people_in_memory(name: str, tmp_path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"sports": VALUES * 50, "smokes": ["no", "yes"] * 100})
    frame.to_csv(tmp_path / name, index=False) if name.endswith("csv") else frame.to_parquet(tmp_path / name)
    plan = Plan({"sports": SPORTS, "smokes": ["no", "yes"]}, 2.0)
    memory, reports = plan.privatize(frame, rng=1), []
    plan.privatize(tmp_path / name, 1, to=reports)
    for column in memory:
        assert np.array_equal(np.concatenate([part[column] for part in reports]), memory[column])


def test_a_plan_of_choices_has_one_epsilon_and_finds_the_shares() -> None:
    plan = Plan({"sports": SPORTS}, 4.0)
    assert len(plan.schema) == 3
    assert plan.guarantee.epsilon <= 4.0
    assert Plan.from_json(plan.to_json()) == plan
    answers = plan.estimate(plan.tally(plan.privatize({"sports": VALUES * 3000}, rng=1)))
    for name, codes in EXPECTED.items():
        answer = answers[name]
        assert answer.labels == ("no", "yes")
        assert abs(answer.frequency[1] - np.mean(codes)) < 6 * answer.standard_error[1]


def test_choices_go_together_in_asked_tables_and_attacks() -> None:
    from bruit.attacks import risks

    plan = Plan({"sports": SPORTS}, 4.0, "TAB[ADP]")
    table = plan.table(plan.privatize({"sports": VALUES * 2000}, rng=1), "sports: run", "sports: ski")
    assert (np.abs(table.frequency - [[0.25, 0.25], [0, 0.5]]) < 6 * table.standard_error).all()
    assert {risk.attribute for risk in risks(Plan({"sports": SPORTS}, 1.0))} == {*EXPECTED, None}


def test_an_empty_entry_is_refused_or_means_nothing_as_declared() -> None:
    with pytest.raises(MissingError, match='empty="none"'):
        encoded(["run", None])
    assert encoded([[], "run"])["sports: run"] == [0, 1]
    loose = MultiChoice(["run", "swim", "ski"], empty="none")
    assert encoded(["run", None, "", float("nan")], loose)["sports: run"] == [1, 0, 0, 0]


def test_what_is_not_among_the_choices_is_an_error_that_does_not_show_it() -> None:
    with pytest.raises(DataError, match="among the declared choices") as caught:
        encoded(["run;secret"])
    assert "secret" not in str(caught.value)


def test_choices_are_spelt_in_brackets_and_written_in_documents() -> None:
    assert question("sports=[run,swim,ski]").domain == SPORTS
    schema = Schema({"sports": MultiChoice(["run", "swim"], "|", "none")})
    assert Schema.from_json(schema.to_json()) == schema
    assert schema["sports: run"].column == "sports"


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: MultiChoice(["run"]), ParameterError),
        (lambda: MultiChoice(["run;ski", "swim"]), ParameterError),
        (lambda: MultiChoice([1, 2]), ParameterTypeError),
        (lambda: MultiChoice(["a", "b"], separator=" "), ParameterTypeError),
        (lambda: MultiChoice(["a", "b"], empty="drop"), ParameterError),
        (lambda: Attribute("a", ["0", "1"], column=3), ParameterTypeError),
    ],
)
def test_choices_that_cannot_be_are_refused(make, kind) -> None:
    with pytest.raises(kind):
        make()
