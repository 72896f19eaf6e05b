"""Plans with rounds: guarantees, documents, memos, memories and series."""

from __future__ import annotations

import itertools
import json
import math
import stat
from fractions import Fraction

import numpy as np
import pytest

from bruit import Grid, Plan, documents
from bruit.audit.plans import of_one_report
from bruit.collection import Repeat, files
from bruit.errors import DataError, DesignError, FormatError, ParameterError
from bruit.oracles import Memory

from .. import plans

SCHEMA = {"sex": ["F", "M"], "colour": ["red", "green", "blue"], "city": [f"city {i}" for i in range(11)]}
TABLE = {"sex": ["F", "M"] * 300, "colour": ["red", "green", "red"] * 200, "city": ["city 3"] * 600}
METHODS = ["SPL[GRR]", "SPL[OUE]", "SMP[GRR]", "SMP[ADP]", "SMP[OLH]"]


def planned(method="SMP[ADP]", schema=SCHEMA, **settings):
    return plans.planned(schema, 1.0, method, **{"epoch_epsilon": 2.0, "rounds": 12, "epochs": 4, **settings})


@pytest.mark.parametrize("method", METHODS)
def test_a_plan_promises_a_report_an_epoch_and_all_epochs_and_no_more_than_was_asked(method):
    plan = planned(method)
    promised = {name: guarantee.epsilon for name, guarantee in plan.guarantees.items()}
    assert promised["report"] <= 1.0
    assert promised["report"] == pytest.approx(1.0, abs=1e-9)
    assert promised["epoch"] <= 2.0
    assert promised["epoch"] == pytest.approx(2.0, abs=1e-9)
    assert promised["person"] <= 8.0
    assert promised["person"] == pytest.approx(4 * plan.panel.after(12).epsilon, abs=1e-12)
    assert promised["attribute"] <= promised["person"]
    assert (
        plan.panel.after(1).epsilon <= plan.panel.after(2).epsilon <= plan.panel.after(12).epsilon <= promised["epoch"]
    )
    assert plan.guarantee == plan.guarantees["person"]


def joint(plan, name_of_memo, record, rounds):
    """P(reports of so many rounds | record), from the laws of memo and refresh alone, for GRR."""
    panel = plan.panel.repeated[name_of_memo]
    law, keep, k = panel.memo.law, panel.keep, panel.oracle.size
    row = law.row(record)
    chances = {}
    for reports in itertools.product(range(k), repeat=rounds):
        chances[reports] = sum(
            row[memo] * math.prod(keep * (y == memo) + (1 - keep) / k for y in reports) for memo in range(k)
        )
    return chances


def test_the_epsilon_of_several_rounds_equals_brute_force_over_whole_records():
    schema = {"a": ["0", "1"], "b": ["x", "y", "z"]}
    records = list(itertools.product(range(2), range(3)))
    for rounds in (1, 2):
        split, sample = planned("SPL[GRR]", schema), planned("SMP[GRR]", schema)
        largest = {"SPL": Fraction(1), "SMP": Fraction(1)}
        laws = {
            (plan.method.kind, name, code): joint(plan, name, code, rounds)
            for plan in (split, sample)
            for name in schema
            for code in range(len(schema[name]))
        }
        for x, y in itertools.product(records, repeat=2):
            worst = {
                (kind, name): max(
                    Fraction(laws[kind, name, x[i]][z]) / laws[kind, name, y[i]][z] for z in laws[kind, name, x[i]]
                )
                for kind in ("SPL", "SMP")
                for i, name in enumerate(schema)
            }
            # Reports on the attributes are independent with SPL; with SMP there are those on one, drawn without a look.
            largest["SPL"] = max(largest["SPL"], worst["SPL", "a"] * worst["SPL", "b"])
            largest["SMP"] = max(largest["SMP"], worst["SMP", "a"], worst["SMP", "b"])
        assert split.panel.after(rounds).epsilon == pytest.approx(math.log(largest["SPL"]), abs=1e-12)
        assert sample.panel.after(rounds).epsilon == pytest.approx(math.log(largest["SMP"]), abs=1e-12)


@pytest.mark.parametrize("method", ["GRR", *METHODS])
def test_a_plan_with_rounds_is_read_back_and_differs_from_one_without(method):
    schema = {"colour": SCHEMA["colour"]} if method == "GRR" else SCHEMA
    plan = planned(method, schema)
    assert Plan.from_json(plan.to_json()) == plan
    once = Plan(schema, 1.0, method)
    others = [once, planned(method, schema, rounds=11), planned(method, schema, epochs=3)]
    assert len({plan.digest, *(other.digest for other in others)}) == 4
    body = json.loads(plan.to_json())
    assert body["panel"]["rounds"] == 12
    assert body["panel"]["guarantees"]["epoch"]["epsilon"] <= 2.0


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": 1},
        {"epochs": 10**9},
        {"rounds": "12"},
        {"epoch_epsilon": 0.5},
        {"epoch_epsilon": None},
        {"guarantees": {}},
    ],
)
def test_a_document_whose_rounds_and_promises_disagree_is_refused(change):
    plan = planned()
    body = documents.unseal(plan.to_json(), files.PLAN)
    body["panel"] = {**body["panel"], **change}
    with pytest.raises(FormatError):
        Plan.from_json(documents.seal(files.PLAN, body))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "RS+FD[GRR]"}, "one report per epoch"),
        ({"epoch_epsilon": None}, "epoch_epsilon=2.0"),
        ({"rounds": None}, r"Repeat\(12, epochs=4"),
        ({"epoch_epsilon": 0.9}, "at least the epsilon of one report"),
        ({"rounds": 0}, "rounds must be"),
        ({"schema": {"age": Grid(0, 90), "sex": ["F", "M"]}}, "'age' is asked for as a number"),
    ],
)
def test_what_cannot_be_asked_again_is_refused_with_the_reason(settings, words):
    with pytest.raises(ParameterError, match=words):
        planned(**settings)


def test_a_report_without_memory_is_refused():
    with pytest.raises(ParameterError, match="must keep a memo"):
        planned().privatize(TABLE)
    with pytest.raises(ParameterError, match="asks once"):
        Plan(SCHEMA, 1.0).panel.memoize(TABLE)


@pytest.mark.parametrize("method", METHODS)
def test_memos_and_reports_have_one_form_and_the_sampled_attribute_stays(method):
    plan = planned(method)
    memos = plan.panel.memoize(TABLE, rng=1)
    first, second = plan.panel.answer(memos, rng=2), plan.panel.answer(memos, rng=3)
    assert {name: (column.dtype, column.shape) for name, column in memos.items()} == {
        name: (column.dtype, column.shape) for name, column in first.items()
    }
    assert plan.tally(first).n == 600
    assert plan.tally(first).refused == 0
    if method.startswith("SMP"):
        assert (first["attribute"] == memos["attribute"]).all()
        assert (second["attribute"] == memos["attribute"]).all()
        assert set(memos["attribute"].tolist()) == {0, 1, 2}
    assert any((first[name] != second[name]).any() for name in first)


def test_memos_that_are_kept_as_they_are_when_the_epoch_is_one_report():
    plan = planned("SMP[GRR]", epoch_epsilon=1.0)
    memos = plan.panel.memoize(TABLE, rng=1)
    reports = plan.panel.answer(memos)
    assert all((memos[name] == reports[name]).all() for name in memos)


def test_memos_that_no_plan_gives_are_refused():
    plan = planned("SMP[GRR]")
    memos = plan.panel.memoize(TABLE, rng=1)
    memos["attribute"][0] = 7
    with pytest.raises(ParameterError, match="memos must be"):
        plan.panel.answer(memos)


@pytest.mark.parametrize("method", ["SPL[GRR]", "SMP[ADP]", "SMP[OLH]"])
def test_the_mean_over_rounds_is_unbiased_with_the_variance_stated(method):
    plan, truth = planned(method), np.array([2 / 3, 1 / 3, 0.0])
    target = "population" if method.startswith("SMP") else "people"
    scores = []
    for trial in range(60):
        memos = plan.panel.memoize(TABLE, rng=1000 + trial)
        tallies = [plan.tally(plan.panel.answer(memos, rng=10 * trial + number)) for number in range(2)]
        mean = plan.panel.series(tallies)["colour"].mean(target=target)
        scores.append((mean.frequency - truth) / mean.standard_error)
    z = np.array(scores)
    assert np.abs(z.mean(axis=0)).max() < 6 / math.sqrt(60)
    assert z.std(axis=0).min() > 0.55
    assert z.std(axis=0).max() < 1.6


def test_a_series_knows_rounds_epochs_and_labels():
    plan = planned("SMP[GRR]")
    tallies = [plan.tally(plan.panel.answer(plan.panel.memoize(TABLE, rng=i), rng=i)) for i in range(3)]
    series = plan.panel.series(tallies, rounds=[1, 12, 13])["colour"]
    assert series.epochs == (1, 1, 2)
    assert series.labels == ("red", "green", "blue")
    assert series.difference(1, 2, same_people=False).title == "Round 13 less round 12"
    assert "colour" in repr(series)
    with pytest.raises(ParameterError, match="population"):
        series.mean(target="people")
    for rounds in ([1, 1, 2], [3, 2, 1], [1, 2], [0, 1, 2], [47, 48, 49]):
        with pytest.raises(ParameterError):
            plan.panel.series(tallies, rounds=rounds)["colour"]
    with pytest.raises(DesignError):
        plan.panel.series(
            [
                Plan(SCHEMA, 1.0, "SMP[GRR]").simulate(
                    {name: [9] * len(v) for name, v in SCHEMA.items()} | {"sex": [50, 49], "colour": [33] * 3}
                )
            ]
        )


# Memories.


@pytest.mark.parametrize("method", METHODS)
def test_a_memory_keeps_one_memo_per_person_and_epoch_and_sends_the_same_bytes_again(method, tmp_path):
    plan = planned(method)
    memory = Memory.create(tmp_path / "memory.json", plan)
    assert stat.S_IMODE((tmp_path / "memory.json").stat().st_mode) == 0o600
    table = {name: values[:100] for name, values in TABLE.items()}
    people = [f"person {i}" for i in range(100)]
    first = memory.reports(table, people, round=1)
    again = Memory(tmp_path / "memory.json", plan).reports({name: [None] * 100 for name in table}, people, round=1)
    assert all(first[name].tobytes() == again[name].tobytes() for name in first)
    memos = [history["1"]["memo"] for history in memory._read().values()]
    memory.reports({name: values[::-1] for name, values in table.items()}, people, round=12)
    assert [history["1"]["memo"] for history in memory._read().values()] == memos
    memory.reports(table, people, round=13)
    assert memory.rounds(epoch=1, person="person 5") == 2
    assert memory.rounds(epoch=2, person="person 5") == 1
    assert [history["2"]["memo"] for history in memory._read().values()] != memos
    assert plan.tally(first).n == 100


def test_a_person_may_join_later_and_is_the_only_one_whose_values_are_looked_at(tmp_path):
    plan = planned("SPL[GRR]")
    memory = Memory.create(tmp_path / "memory.json", plan)
    memory.report({"sex": "F", "colour": "red", "city": "city 1"}, round=1, person="Ada")
    late = {"sex": [None, "M"], "colour": [None, "red"], "city": [None, "city 2"]}
    assert plan.tally(memory.reports(late, ["Ada", "Bob"], round=2)).n == 2
    with pytest.raises(DataError, match="named twice"):
        memory.reports(late, ["Ada", "Ada"], round=3)
    with pytest.raises(ParameterError, match="leave epoch out"):
        memory.report(None, round=1, epoch=0)


def test_a_damaged_memory_and_one_of_another_plan_are_refused(tmp_path):
    plan, path = planned("SMP[GRR]"), tmp_path / "memory.json"
    memory = Memory.create(path, plan)
    memory.report({"sex": "F", "colour": "red", "city": "city 1"}, round=1)
    with pytest.raises(DesignError):
        Memory(path, planned("SMP[GRR]", rounds=5))
    people = memory._read()
    for memo in ({"attribute": "07", "report": "00"}, {"attribute": "00"}, "00", {"attribute": "0000", "report": "00"}):
        people[""]["1"]["memo"] = memo
        path.write_text(documents.seal("bruit.memory/1", {"design": plan.digest, "people": people}))
        with pytest.raises(FormatError, match="damaged"):
            Memory(path, plan).report(None, round=2)


def test_a_twin_that_draws_the_attribute_anew_in_every_round_passes_the_epsilon_of_the_epoch():
    """Control: with d attributes drawn anew, all memos are seen, and they cost as much as d epochs."""
    plan = planned("SMP[GRR]")
    panels = plan.panel.repeated.values()
    redrawn = sum(panel.after(4).epsilon for panel in panels)
    assert redrawn > 2.5 * plan.guarantees["epoch"].epsilon


def test_a_panel_sends_what_is_public_in_clear_in_every_round_and_its_card_does_too():
    plan = Plan(
        {"smokes": ["no", "yes"], "school": ["A", "B"]},
        1.0,
        public=["school"],
        repeat=Repeat(3, epochs=2, epoch_epsilon=2.0),
    )
    memos = plan.panel.memoize({"smokes": ["no", "yes"] * 30, "school": ["A"] * 20 + ["B"] * 40}, rng=1)
    tallies = [plan.tally(plan.panel.answer(memos, rng=number)) for number in (1, 2, 3)]
    assert [plan.estimate(tally).by("school")["B"]["smokes"].n for tally in tallies] == [40, 40, 40]
    assert plan.panel.series(tallies)["smokes"].estimates()[0].n == 60
    card = plan.card()
    memo = card.draw_memo({"smokes": "no", "school": "B"})
    assert memo["school"] == card.refresh(memo)["school"] == "1"
    with pytest.raises(ParameterError, match="that this plan gave"):
        plan.panel.answer({**memos, "school": memos["school"] + 2}, rng=1)


# Following changes.


def following(method="GRR", schema=None, epsilon=0.9, **settings):
    rest = {"epoch_epsilon": 1.0, "rounds": 3, "epochs": 2, "follow_changes": True, **settings}
    return plans.planned(schema or {"colour": SCHEMA["colour"]}, epsilon, method, **rest)


def test_what_holds_for_any_two_histories_is_the_guarantee_and_the_claim_of_the_literature_is_not():
    from bruit_studies.rounds import lifetime

    plan = following(epochs=1)
    refresh = 1 - float(plan.panel.repeated["colour"].keep)
    alike, largest = lifetime(3, 1.0, refresh, 3)
    assert alike <= plan.guarantees["same-changes"].epsilon == pytest.approx(3, abs=1e-9)
    assert plan.guarantees["same-changes"].epsilon < largest  # it is not for people who change at other times
    assert largest <= plan.panel.after(3).epsilon == plan.guarantee.epsilon
    assert plan.guarantees["same-changes"].neighbours == "same-changes"
    assert plan.guarantees["report"].epsilon <= 0.9
    assert "epoch" not in plan.guarantees
    twice = following()
    assert twice.guarantee.epsilon == pytest.approx(2 * plan.guarantee.epsilon, abs=1e-9)
    assert twice.guarantees["same-changes"].epsilon == pytest.approx(6, abs=1e-9)
    # In two rounds nobody has three values.
    assert following(rounds=2).guarantees["same-changes"].epsilon == pytest.approx(4, abs=1e-9)


def test_a_plan_that_follows_changes_is_read_back_and_is_another_plan():
    plan, without = following(), following(follow_changes=False)
    assert Plan.from_json(plan.to_json()) == plan
    assert Plan.from_json(plan.to_json()).repeat.follow_changes
    assert plan.digest != without.digest
    assert "follow_changes" not in without.to_json()


@pytest.mark.parametrize(
    "change",
    [*({"follow_changes": value} for value in (False, None, "yes", 1, [True])), {"rounds": "3"}, {"epoch_epsilon": 0}],
)
def test_a_document_of_one_question_whose_rounds_are_not_what_it_promises_is_refused(change):
    body = documents.unseal(following().to_json(), files.PLAN)
    body["panel"] = {**body["panel"], **change}
    with pytest.raises(FormatError):
        Plan.from_json(documents.seal(files.PLAN, body))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"schema": SCHEMA, "method": "SPL[GRR]"}, "one question"),
        ({"method": "OLH"}, "not for hashing"),
        ({"epoch_epsilon": 0.9}, "needs an epoch above"),
        ({"rounds": None, "epoch_epsilon": None, "epochs": None}, "Rounds need"),
        ({"schema": {"a": ["0", "1"], "b": ["0", "1"]}, "public": ["b"]}, "leave public out"),
    ],
)
def test_changes_that_cannot_be_followed_are_refused_with_the_reason(settings, words):
    with pytest.raises(ParameterError, match=words):
        following(**settings)


def test_what_has_one_memo_in_an_epoch_refuses_to_follow_changes():
    from bruit.sheets import sheet

    plan = following()
    for use in (plan.card, lambda: plan.panel.memoize({"colour": ["red"]}), lambda: sheet(plan, "en", n=100)):
        with pytest.raises(ParameterError, match="memo"):
            use()


@pytest.mark.parametrize("method", ["GRR", "OUE", "SS"])
def test_a_memory_of_a_plan_has_a_memo_for_every_value_and_takes_the_old_one_again(method, tmp_path):
    plan = following(method)
    memory = Memory.create(tmp_path / "memory.json", plan)
    people = [f"person {number}" for number in range(20)]
    first = memory.reports({"colour": ["red"] * 20}, people, round=1)
    again = memory.reports({"colour": ["blue"] * 20}, people, round=1)
    assert first["colour"].tobytes() == again["colour"].tobytes()
    red = [history["1"]["memo"] for history in memory._read().values()]
    assert [list(memos) for memos in red] == [["0"]] * 20
    memory.reports({"colour": ["blue"] * 20}, people, round=2)
    memory.reports({"colour": ["red"] * 20}, people, round=3)
    kept = [history["1"]["memo"] for history in memory._read().values()]
    assert [sorted(memos) for memos in kept] == [["0", "2"]] * 20
    assert [memos["0"] for memos in kept] == [memos["0"] for memos in red]
    tallies = [plan.tally(memory.reports({"colour": [None] * 20}, people, round=number)) for number in (1, 2, 3)]
    assert plan.panel.series(tallies)["colour"].follow_changes


def test_tables_are_not_asked_again():
    with pytest.raises(ParameterError, match="Tables are asked once"):
        Plan({"a": ["0", "1"], "b": ["0", "1"]}, 1.0, "TAB[ADP]", repeat=Repeat(3, epoch_epsilon=2.0))


def test_an_audit_of_a_plan_with_rounds_is_about_one_report():
    from bruit.audit import exact_plan

    plan = planned("SMP[GRR]", {"a": ["0", "1"], "b": ["x", "y", "z"]})
    audit = exact_plan(plan)
    assert audit.holds
    assert audit.stated == plan.guarantees["report"].epsilon == of_one_report(plan).epsilon
    assert audit.stated <= 1.0 < plan.guarantee.epsilon


def test_a_file_of_a_round_has_what_is_sent_in_clear(tmp_path):
    schema = {"smokes": ["no", "yes"], "school": ["A", "B"]}
    plan = Plan(schema, 1.0, public=["school"], repeat=Repeat(3, epoch_epsilon=2.0))
    rows = [f"{number},{'yes' if number % 3 else 'no'},{'A' if number < 6 else 'B'}" for number in range(20)]
    (tmp_path / "people.csv").write_text("\n".join(["id,smokes,school", *rows]))
    memory = Memory.create(tmp_path / "memory.json", plan)
    plan.privatize(tmp_path / "people.csv", to=tmp_path / "r.parquet", memory=memory, round=1, person="id")
    assert plan.estimate(plan.tally(tmp_path / "r.parquet")).by("school")["B"]["smokes"].n == 14
