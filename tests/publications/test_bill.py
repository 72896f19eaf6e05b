"""A changed file pays for what is new: what is paid for is kept, shown with its date, and never drawn twice."""

import contextlib
import itertools
import os
import random
import signal
import time
from dataclasses import replace

import pytest

from bruit.errors import BruitError, LedgerError, ParameterError
from bruit.privacy import Ledger
from bruit.publications import Publication, Published, publish, publishing
from bruit.publications.bill import bill_of

HEAD = 'title = "Six"\ntable = "t.csv"\nepsilon = 0.6\nledger = "t.ledger"\nbudget = { epsilon = 5.0 }\npage = false\n'
NAMES = ("a", "b", "c", "d", "e")


def statistic(name, high=60, **options):
    more = "".join(f"{key} = {value}\n" for key, value in options.items())
    return f'[[statistic]]\nname = "{name}"\nkind = "histogram"\nof = "age=0..{high}/6"\n{more}'


SIX = "".join(statistic(name, 60 + 6 * place) for place, name in enumerate(NAMES))
COUNT = '[[statistic]]\nname = "people"\nkind = "count"\n'
SIX += COUNT


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "t.csv").write_text("age\n" + "\n".join(str(age % 60) for age in range(500)) + "\n")
    path = tmp_path / "six.toml"
    path.write_text(HEAD + SIX)
    return path


def spent(plan):
    return Ledger.open(plan.parent / "t.ledger").spent.epsilon


def values(published):
    return {name: result.values.tolist() for name, result in published.results.items()}


def change(plan, *replacements):
    text = plan.read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    plan.write_text(text)


def test_changing_one_of_six_statistics_spends_one_share(plan):
    first = publish(plan)
    assert spent(plan) == 0.6
    change(plan, ("age=0..66/6", "age=0..66/11"))
    bill = bill_of(Publication.load(plan), Ledger.open(plan.parent / "t.ledger"))
    assert [request.name for request in bill.new] == ["b"]
    second = publish(plan)
    assert spent(plan) == 0.7
    assert second.guarantee.epsilon == 0.6
    before, after = values(first), values(second)
    assert {name for name in before if before[name] == after[name]} == {"a", "c", "d", "e", "people"}
    assert len(after["b"]) == 11
    assert second.kept_of("a") == first.date[:10]
    assert second.kept_of("b") == ""
    again = publish(plan)
    assert not again.is_new
    assert values(again) == after
    assert spent(plan) == 0.7
    assert values(Published.load(plan.parent / "six" / "results.json")) == after


def test_a_seventh_statistic_spends_its_share_and_the_others_nothing(plan):
    first = publish(plan)
    plan.write_text(plan.read_text() + statistic("g", 30))
    second = publish(plan)
    assert spent(plan) == pytest.approx(0.6 + 0.6 / 7)
    assert all(values(second)[name] == value for name, value in values(first).items())


def test_names_titles_order_and_a_lower_total_cost_nothing(plan):
    first = publish(plan)
    change(plan, ('"b"', '"renamed"'), ('title = "Six"', 'title = "Half a dozen"'), ("epsilon = 0.6", "epsilon = 0.3"))
    blocks = plan.read_text().split("[[statistic]]")
    plan.write_text("[[statistic]]".join([blocks[0], *reversed(blocks[1:])]))
    (plan.parent / "t.csv").unlink()  # nothing is read
    second = publish(plan)
    assert spent(plan) == 0.6
    assert values(second)["renamed"] == values(first)["b"]
    assert second.guarantee.epsilon == 0.6  # what was paid, not what the file says now


def test_what_is_dropped_leaves_the_page_and_costs_nothing_when_it_returns(plan):
    first = publish(plan)
    whole = plan.read_text()
    change(plan, (statistic("c", 72), ""))
    assert "c" not in publish(plan).results
    plan.write_text(whole)
    assert values(publish(plan)) == values(first)
    assert spent(plan) == 0.6


@pytest.mark.parametrize(
    "other",
    [
        ('table = "t.csv"', 'table = "u.csv"'),
        ("page = false", 'page = false\nneighbours = "replace"'),
        ("page = false", 'page = false\nedition = "next"'),
        ("page = false", 'page = false\nperson = { column = "age", rows = 2 }'),
    ],
)
def test_another_table_person_edition_or_neighbours_make_everything_new(plan, other):
    change(plan, (SIX[SIX.index('[[statistic]]\nname = "people"') :], ""))  # the count is public under replace
    publish(plan)
    change(plan, other)
    loaded = Publication.load(plan)
    bill = bill_of(loaded, Ledger.open(plan.parent / "t.ledger"))
    assert len(bill.new) == len(loaded.requests)


def test_again_redraws_one_statistic_and_the_newest_draw_is_kept_afterwards(plan):
    first = publish(plan)
    second = publish(plan, again=["a"])
    assert spent(plan) == 0.7
    assert values(second)["a"] != values(first)["a"] or values(publish(plan, again=["a"]))["a"] != values(first)["a"]
    last = spent(plan)
    newest = publish(plan)
    assert spent(plan) == last
    assert newest.digest != first.digest
    with pytest.raises(BruitError, match="again"):
        publish(plan, again=["nobody"])


def test_a_ledger_that_was_put_back_keeps_nothing(plan):
    publish(plan)
    path = plan.parent / "t.ledger"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0])
    change(plan, ("age=0..66/6", "age=0..66/11"))
    with pytest.raises(LedgerError, match="put back"):
        publish(plan)


def test_a_ledger_that_was_put_back_shows_nothing_that_it_has_not_booked(plan):
    ledger = plan.parent / "t.ledger"
    Ledger.open(ledger, epsilon=5.0)
    empty, whole = ledger.read_bytes(), plan.read_text()
    first = publish(plan)
    change(plan, (statistic("b", 66), ""))
    publish(plan)  # all is kept
    ledger.write_bytes(empty)
    with pytest.raises(LedgerError, match="put back"):
        publish(plan)
    assert spent(plan) == 0.0
    plan.write_text(whole)
    (plan.parent / "six").rename(plan.parent / "elsewhere")
    assert values(publish(plan)) == values(first)
    assert spent(plan) == 0.6  # booked again


def test_a_file_that_keeps_a_draw_is_refused_beside_another_ledger(plan):
    publish(plan)
    change(plan, (statistic("b", 66), ""))
    second = publish(plan)
    for name in ("t.ledger", "t.ledger.results", "six"):
        (plan.parent / name).rename(plan.parent / f"old-{name}")
    Ledger.open(plan.parent / "t.ledger", epsilon=5.0)
    (plan.parent / "t.ledger.results").mkdir()
    file = f"publication-{second.digest}.json"
    (plan.parent / "t.ledger.results" / file).write_bytes((plan.parent / "old-t.ledger.results" / file).read_bytes())
    change(plan, (statistic("c", 72), ""))
    with pytest.raises(LedgerError, match="is another one"):
        publish(plan)


def test_a_draw_that_was_refined_before_the_ledger_was_put_back_is_refined_by_nothing_else(plan):
    publish(plan)
    ledger = plan.parent / "t.ledger"
    old, whole = ledger.read_bytes(), plan.read_text()
    change(plan, ("epsilon = 0.6", "epsilon = 1.2"))
    second, refined = publish(plan), plan.read_text()
    ledger.write_bytes(old)
    plan.write_text(whole.replace("epsilon = 0.6", 'epsilon = 1.8\noutput = "other"'))
    with pytest.raises(LedgerError, match="put back"):
        publish(plan)
    plan.write_text(refined)
    assert (values(publish(plan)), spent(plan)) == (values(second), 1.2)


def test_a_folder_of_somebody_else_is_not_replaced(plan):
    publish(plan)
    (plan.parent / "six" / "notes.txt").write_text("mine")
    change(plan, ("age=0..66/6", "age=0..66/11"))
    with pytest.raises(ParameterError, match="exists and is not this publication"):
        publish(plan)
    assert spent(plan) == 0.6


def test_undeclared_groups_are_kept_or_drawn_together(plan):
    change(
        plan,
        ("epsilon = 0.6", "epsilon = 0.6\ndelta = 1e-6"),
        ("{ epsilon = 5.0 }", "{ epsilon = 5.0, delta = 1e-3 }"),
        (SIX, '[[statistic]]\nname = "n"\nkind = "count"\nby = "age=?"\n'),
    )
    publish(plan)
    plan.write_text(plan.read_text() + '[[statistic]]\nname = "s"\nkind = "sum"\nof = "age=0..60"\nby = "age=?"\n')
    bill = bill_of(Publication.load(plan), Ledger.open(plan.parent / "t.ledger"))
    assert [request.name for request in bill.new] == ["n", "s"]


def test_undeclared_groups_are_kept_of_one_draw(plan):
    mean = '[[statistic]]\nname = "{0}"\nkind = "mean"\nof = "age=0..{1}"\nby = "age=?"\n'
    change(
        plan,
        ("epsilon = 0.6", "epsilon = 0.6\ndelta = 1e-6"),
        ("{ epsilon = 5.0 }", "{ epsilon = 5.0, delta = 1e-3 }"),
        (SIX, '[[statistic]]\nname = "n"\nkind = "count"\nby = "age=?"\n' + mean.format("m", 60)),
    )
    first, whole = publish(plan), plan.read_text()
    change(plan, (mean.format("m", 60), mean.format("m2", 90)))
    publish(plan)
    plan.write_text(whole)
    assert {origin.publication for origin in publish(plan).origins.values()} == {first.digest}


def test_what_came_from_a_seed_is_shown_and_not_kept_in_another_publication(plan):
    change(plan, (SIX, COUNT))
    first = publish(plan, rng=7)
    assert values(publish(plan)) == values(first)
    plan.write_text(plan.read_text() + statistic("x"))
    second = publish(plan)
    assert not any(result.simulated for result in second.results.values())
    assert spent(plan) == pytest.approx(1.2)
    assert values(publish(plan)) == values(second)
    assert spent(plan) == pytest.approx(1.2)


def test_under_rho_the_delta_of_kept_undeclared_groups_is_what_was_paid(plan):
    change(
        plan,
        ("epsilon = 0.6", "rho = 0.5\ndelta = 1e-2"),
        ("{ epsilon = 5.0 }", "{ rho = 5.0, delta = 0.5 }"),
        (SIX, '[[statistic]]\nname = "n"\nkind = "count"\nby = "age=?"\n'),
    )
    first = publish(plan)
    change(plan, ("delta = 1e-2", "delta = 1e-9"))
    plan.write_text(plan.read_text() + COUNT)
    second = publish(plan)
    assert second.origins["n"].publication == first.digest
    assert second.guarantee.delta == first.guarantee.delta == pytest.approx(1e-2 + 1e-6)


def test_tables_of_one_name_in_two_folders_are_two_tables_of_a_shared_ledger(plan):
    change(plan, ('"t.ledger"', '"../t.ledger"'), (SIX, COUNT))
    for folder, rows in (("north", 500), ("south", 9000)):
        (plan.parent / folder).mkdir()
        (plan.parent / folder / "t.csv").write_text("age\n" + "5\n" * rows)
        (plan.parent / folder / "six.toml").write_text(plan.read_text())
    north, south = (publish(plan.parent / folder / "six.toml") for folder in ("north", "south"))
    assert (north.is_new, south.is_new, spent(plan)) == (True, True, 1.2)
    assert south["people"].value > 5000 > north["people"].value
    assert north.plan["table"] == "t.csv"  # readers see the name


@pytest.mark.parametrize(("csv", "is_new"), [('missing = ["-9"]', True), ('delimiter = ","', False)])
def test_another_way_to_read_the_text_makes_everything_new(plan, csv, is_new):
    first = publish(plan)
    change(plan, ("page = false", f"page = false\ncsv = {{ {csv} }}"))
    second = publish(plan)
    assert (second.is_new, second.digest != first.digest) == (is_new, is_new)
    assert spent(plan) == (1.2 if is_new else 0.6)


# Refined.


def draws(published, name):
    return len(published.results[name].draws.draws)


def test_a_raised_total_refines_what_is_paid_for_the_difference(plan):
    publish(plan)
    change(plan, ("epsilon = 0.6", "epsilon = 1.2"))
    bill = bill_of(Publication.load(plan), Ledger.open(plan.parent / "t.ledger"))
    assert list(bill.refined) == [*NAMES, "people"]
    assert bill.new == []
    assert {line.guarantee.epsilon for line in bill.lines} == {0.1}
    assert "refined, for ε = 0.1 more" in str(bill.prospects()).replace("\n", " ") or "refined" in str(bill.prospects())
    second = publish(plan)
    assert spent(plan) == 1.2
    assert second.guarantee.epsilon == 1.2
    assert all(result.guarantee.epsilon == 0.2 for result in second.results.values())
    assert second.kept_of("a") == ""
    again = publish(plan)
    assert (again.is_new, values(again), spent(plan)) == (False, values(second), 1.2)
    change(plan, ("epsilon = 1.2", "epsilon = 0.3"))  # a lowered ε keeps what was paid
    assert values(publish(plan)) == values(second)
    change(plan, ("epsilon = 0.3", "epsilon = 1.2"))
    assert values(publish(plan)) == values(second)
    assert spent(plan) == 1.2


def test_a_raised_weight_refines_one_and_shares_that_move_refine_none(plan):
    first = publish(plan)
    change(plan, (statistic("c", 72), statistic("c", 72, weight=3)))
    bill = bill_of(Publication.load(plan), Ledger.open(plan.parent / "t.ledger"))
    assert list(bill.refined) == ["c"]
    second = publish(plan)
    assert spent(plan) == pytest.approx(0.6 + 0.225 - 0.1)
    assert {name for name, value in values(first).items() if value == values(second)[name]} >= {*NAMES, "people"} - {
        "c"
    }
    change(plan, (statistic("a", 60), ""), (statistic("b", 66), ""))  # larger shares for all others
    assert publish(plan).is_new
    assert spent(plan) == pytest.approx(0.725)


def test_a_narrower_width_refines_and_a_wider_one_keeps(plan):
    change(plan, ('name = "people"\nkind = "count"', 'name = "people"\nkind = "count"\nwithin = 40'))
    publish(plan)
    paid = spent(plan)
    change(plan, ("within = 40", "within = 60"))
    publish(plan)
    assert spent(plan) == paid
    change(plan, ("within = 60", "within = 20"), ("epsilon = 0.6", "epsilon = 0.7"))
    bill = bill_of(Publication.load(plan), Ledger.open(plan.parent / "t.ledger"))
    assert "people" in bill.refined
    published = publish(plan)
    low, high = published["people"].interval()
    assert high - low <= 40


def test_what_cannot_be_refined_is_kept_and_says_why(plan):
    plan.write_text(plan.read_text() + '[[statistic]]\nname = "q"\nkind = "median"\nof = "age=0..60:1"\n')
    first = publish(plan)
    change(plan, ("epsilon = 0.6", "epsilon = 1.2"))
    bill = bill_of(Publication.load(plan), Ledger.open(plan.parent / "t.ledger"))
    assert bill.reasons["q"].startswith("median is no function")
    assert "stays as it is" in bill.remarks()[0]
    second = publish(plan)
    assert values(second)["q"] == values(first)["q"]
    assert not publish(plan).is_new


def test_a_table_that_changed_is_not_mixed_with_what_is_paid(plan):
    publish(plan)
    change(plan, ("epsilon = 0.6", "epsilon = 1.2"))
    table = plan.parent / "t.csv"
    text = table.read_text()
    table.write_text(text + "33\n")
    with pytest.raises(ParameterError, match="changed"):
        publish(plan)
    with pytest.raises(ParameterError, match="changed"):
        publish(plan, {"age": list(range(60))})
    table.write_text(text)
    with pytest.raises(ParameterError, match="seed"):
        publish(plan, rng=7)
    assert spent(plan) == 0.6
    assert publish(plan).guarantee.epsilon == 1.2


def test_what_came_from_a_frame_or_a_seed_is_kept_when_the_total_is_raised(plan):
    first = publish(plan, {"age": [age % 60 for age in range(500)]})
    change(plan, ("epsilon = 0.6", "epsilon = 1.2"))
    bill = bill_of(Publication.load(plan), Ledger.open(plan.parent / "t.ledger"))
    assert (bill.refined, set(bill.reasons.values())) == ({}, {"it is not known of which bytes it was drawn"})
    assert values(publish(plan)) == values(first)


def test_a_raised_rho_adds_independent_draws_and_the_ledger_books_the_difference(plan):
    change(plan, ("epsilon = 0.6", "rho = 0.06"), ("budget = { epsilon = 5.0 }", "budget = { rho = 1.0 }"))
    publish(plan)
    change(plan, ("rho = 0.06", "rho = 0.12"))
    second = publish(plan)
    entries = Ledger.open(plan.parent / "t.ledger").entries
    assert sum(entry.rho or 0 for entry in entries) == pytest.approx(0.12, rel=1e-6)
    assert draws(second, "a") == 2
    assert second.guarantee.epsilon == pytest.approx(Publication.load(plan).guarantee.epsilon, rel=1e-6)


def test_a_draw_is_refined_by_one_publication_only(plan):
    publish(plan)
    change(plan, ("epsilon = 0.6", "epsilon = 1.2"))
    second = publish(plan)
    (plan.parent / "t.ledger.results" / f"publication-{second.digest}.json").unlink()
    (plan.parent / "six" / "results.json").unlink()
    change(plan, ("epsilon = 1.2", "epsilon = 1.8"))
    (plan.parent / "six").rename(plan.parent / "elsewhere")
    with pytest.raises(LedgerError, match="refined before"):
        publish(plan)
    assert spent(plan) == 1.2


def test_in_a_ledger_in_rho_a_raised_epsilon_adds_an_independent_draw(plan):
    change(plan, ("budget = { epsilon = 5.0 }", "budget = { rho = 9.0 }"), (SIX, COUNT), ("0.6", "1.0"))
    publish(plan)
    change(plan, ("epsilon = 1.0", "epsilon = 2.0"))
    bill = bill_of(Publication.load(plan), Ledger.open(plan.parent / "t.ledger"))
    assert [item.depends for item in bill.refined.values()] == [False]
    assert draws(publish(plan), "people") == 2


def test_one_draw_is_kept_and_refined_under_one_name_whatever_files_keep_it(plan):
    change(plan, (SIX, COUNT))
    first = publish(plan)
    plan.write_text(plan.read_text() + statistic("x"))
    publish(plan)
    change(plan, (statistic("x"), ""), ('"people"', '"b1"'), ("epsilon = 0.6", "epsilon = 4.0"))
    plan.write_text(plan.read_text() + COUNT.replace("people", "b2"))
    bill = bill_of(Publication.load(plan), Ledger.open(plan.parent / "t.ledger"))
    assert (list(bill.refined), [request.name for request in bill.new]) == (["b1"], ["b2"])
    both = dict.fromkeys(("b1", "b2"), bill.kept["b1"])
    twice = replace(bill, kept=both, refined=dict.fromkeys(both, bill.refined["b1"]))
    with pytest.raises(LedgerError, match="refine one draw"):
        publishing._refined_draws(twice)
    published = publish(plan)
    assert published.origins["b1"].publication == published.digest != first.digest
    assert spent(plan) == pytest.approx(0.6 + 0.3 + (2.0 - 0.6) + 2.0)


def test_a_renamed_draw_is_known_by_the_name_it_was_drawn_under(plan):
    first = publish(plan)
    change(plan, ('"b"', '"renamed"'))
    second = publish(plan)
    origin = Published.load(plan.parent / "six" / "results.json").origins["renamed"]
    assert origin.draw == second.origins["renamed"].draw == (first.digest, "b")


def killed_at(plan, seconds, again=()):
    """Publish in a process of its own, which is killed after some time; whether it was."""
    child = os.fork()
    if not child:
        try:
            publish(plan, again=again)
        finally:
            os._exit(0)
    time.sleep(seconds)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def kill_changes(plan, kills, seed):
    """Change and refine a publication again and again, killed at random times; the ledger must add up."""
    rng, text, total, count = random.Random(seed), plan.read_text(), 0.6, 0
    started = time.perf_counter()
    publish(plan)
    took = time.perf_counter() - started
    for step in itertools.count():
        if count >= kills:
            break
        total = round(total + 0.03, 2)
        bins = 6 * (1 + step % 9)
        plan.write_text(text.replace("epsilon = 0.6", f"epsilon = {total}").replace("age=0..66/6", f"age=0..66/{bins}"))
        count += sum(killed_at(plan, rng.random() * took) for _ in range(3))
        bill = bill_of(Publication.load(plan), Ledger.open(plan.parent / "t.ledger"))
        published = publish(plan)
        assert values(publish(plan)) == values(published)
        entries = Ledger.open(plan.parent / "t.ledger").entries
        own = [entry for entry in entries if entry.result == f"publication-{published.digest}.json"]
        drawn = [name for name, origin in published.origins.items() if origin.publication == published.digest]
        assert len([entry for entry in own if entry.guarantee.epsilon]) == len(drawn)
        # What each statistic promises is what its draws were booked at, all of them, once.
        for name, result in published.results.items():
            assert sum(draw.epsilon for draw in result.draws.draws) == pytest.approx(result.guarantee.epsilon), name
        paid = sum(entry.guarantee.epsilon for entry in entries)
        assert Ledger.open(plan.parent / "t.ledger").spent.epsilon == pytest.approx(paid)
        assert bill.plan.total == total
        assert not list((plan.parent / "t.ledger.results").glob(".*partial"))
    return count


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the test forks")
def test_a_few_kills_of_changed_and_refined_publications_leave_a_ledger_that_adds_up(plan):
    change(plan, ("epsilon = 5.0", "epsilon = 2000.0"))
    assert kill_changes(plan, 4, seed=1) >= 4


@pytest.mark.audit
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the test forks")
def test_two_hundred_kills_of_changed_and_refined_publications_leave_a_ledger_that_adds_up(plan):
    change(plan, ("epsilon = 5.0", "epsilon = 2000.0"))
    assert kill_changes(plan, 200, seed=2) >= 200
