"""A changed file pays for what is new: what is paid for is kept, shown with its date, and never drawn twice."""

import pytest

from bruit.errors import BruitError, LedgerError, ParameterError
from bruit.privacy import Ledger
from bruit.publications import Publication, Published, publish
from bruit.publications.bill import bill_of

HEAD = 'title = "Six"\ntable = "t.csv"\nepsilon = 0.6\nledger = "t.ledger"\nbudget = { epsilon = 5.0 }\npage = false\n'
NAMES = ("a", "b", "c", "d", "e")


def statistic(name, high=60, **options):
    more = "".join(f"{key} = {value}\n" for key, value in options.items())
    return f'[[statistic]]\nname = "{name}"\nkind = "histogram"\nof = "age=0..{high}/6"\n{more}'


SIX = "".join(statistic(name, 60 + 6 * place) for place, name in enumerate(NAMES))
SIX += '[[statistic]]\nname = "people"\nkind = "count"\n'


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
