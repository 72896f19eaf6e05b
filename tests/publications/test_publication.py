"""What a publication compiles to, from declared parameters only."""

from fractions import Fraction

import numpy as np
import pytest

from bruit.errors import BudgetError, FormatError, LedgerError, ParameterError, ParameterTypeError
from bruit.privacy import Ledger
from bruit.privacy.zcdp import rho_to_epsilon
from bruit.publications import Publication, publish
from bruit.releases import Release
from bruit.rounding import decimal

HEAD = 'title = "T"\ntable = "t.csv"\nepsilon = 1.0\nledger = "t.ledger"\n'
COUNT = '[[statistic]]\nname = "people"\nkind = "count"\n'
MEAN = '[[statistic]]\nname = "age"\nkind = "mean"\nof = "age=0..100"\n'


def opened(tmp_path, text):
    (tmp_path / "plan.toml").write_text(text)
    return Publication.load(tmp_path / "plan.toml")


def test_parts_of_epsilon_follow_the_weights_and_never_sum_to_more(tmp_path):
    thirds = opened(tmp_path, HEAD + COUNT + MEAN + "weight = 2\n")
    assert thirds.shares == {"people": (0.3333333333333333, 0.0), "age": (0.6666666666666666, 0.0)}
    many = COUNT + "".join(MEAN.replace('"age"', f'"age {i}"', 1) + f"weight = {i}.1\n" for i in range(1, 30))
    shares = opened(tmp_path, HEAD + many).shares.values()
    assert Fraction(9999, 10000) < sum(decimal(epsilon) for epsilon, _ in shares) <= 1


def test_shares_of_all_statistics_sum_to_one(tmp_path):
    plan = opened(tmp_path, HEAD + COUNT + "share = 0.3\n" + MEAN + "share = 0.7\n")
    assert plan.shares == {"people": (0.3, 0.0), "age": (0.7, 0.0)}
    with pytest.raises(ParameterError, match=r"sum to 1, and these sum to 0\.9"):
        opened(tmp_path, HEAD + COUNT + "share = 0.3\n" + MEAN + "share = 0.6\n")
    with pytest.raises(ParameterError, match="all statistics, or to none"):
        opened(tmp_path, HEAD + COUNT + MEAN + "share = 0.6\n")


def test_gaussian_noise_is_taken_where_it_has_less_error_and_delta_is_divided_among_those_who_use_it(tmp_path):
    head = (
        HEAD.replace("ledger", "delta = 1e-6\nledger", 1) + '[person]\ncolumn = "id"\nrows = 60\nrows_per_group = 1\n'
    )
    labels = ",".join(f"z{i}" for i in range(60))
    plan = opened(tmp_path, head + COUNT + COUNT.replace("people", "by zone") + f'by = "zone={labels}"\n')
    assert plan.shares == {"people": (0.5, 0.0), "by zone": (0.5, 1e-6)}
    release = next(item for item in plan.release.parts if "by zone" in item.statistics)
    laplace = Release(
        {"by zone": type(release.statistics["by zone"])(epsilon=0.5)}, release.grouping.by, release.person
    )
    errors = [np.max(item.drawn["by zone"].expected_error()) for item in (release, laplace)]
    assert errors[0] < errors[1]
    forced = opened(tmp_path, head + COUNT + 'noise = "gaussian"\n')
    assert forced.shares == {"people": (1.0, 1e-6)}


def test_the_dry_run_says_the_split_and_the_errors_of_the_releases(tmp_path):
    plan = opened(tmp_path, HEAD + "expected_rows = 5000\n" + COUNT + MEAN + 'by = "sex=F,M"\n')
    rows = plan.prospects().to_dict()["prospects"]
    assert [row["epsilon"] for row in rows] == [0.5, 0.5]
    mean = plan.release.parts[1].statistics["age"]
    assert rows[1]["error"] == f"± {mean.expected_error(n=2500):.3g}"
    assert rows[1]["values"] == 2


def test_statistics_of_the_same_groups_are_one_release_and_labels_come_from_the_folder_of_the_file(tmp_path):
    (tmp_path / "towns.txt").write_text("Paris\nVesoul\n")
    by = 'by = ["town=@towns.txt"]\n'
    plan = opened(tmp_path, HEAD + COUNT + by + MEAN + by + MEAN.replace('"age"', '"all ages"', 1))
    assert [len(release.statistics) for release in plan.release.parts] == [2, 1]
    assert plan.release.groups == ("Paris", "Vesoul")


WRONG = [
    ("epsilon = 1.0", "epsilom = 1.0", r"'epsilom' is no key here\. Did you mean 'epsilon'\?"),
    ("kind", "kint", r"Statistic 'people': kind must be there"),
    ('"count"', '"cuont"', r"Statistic 'people': kind must be one of .* Did you mean 'count'\?"),
    (
        '"mean"',
        '"average"',
        r"Statistic 'age': kind must be a known word, got 'average'\. Did you mean kind = \"mean\"\?",
    ),
    ("of =", "off =", r"Statistic 'age': 'off' is no key here\. Did you mean 'of'\?"),
    ("age=0..100", "age", r"age=0\.\.100"),
    ("age=0..100", "age=0-100", r"write age=0\.\.100"),
    ("age=0..100", "age=100..0", r"write age=0\.\.100"),
    ('"age"', '"People"', r"different names"),
    ("1.0", '"1"', r"epsilon must be a finite number above 0"),
    ('title = "T"', "title = T", r"plan\.toml, line 1, column 9: a publication must be TOML.* Texts need quotes"),
    ("[[statistic]]", "[statistics]", "plan.toml|double brackets"),
    ('ledger = "t.ledger"\n', "", r'ledger must be there, as in ledger = "hospital\.ledger"'),
    ('ledger = "t.ledger"', 'ledger = "t.ledger"\nbudget = 2', r"budget must be a table, as in budget = \{ epsilon"),
    ('ledger = "t.ledger"', 'ledger = "t.ledger"\ndelta = 1e-6', None),
    ('kind = "count"', 'kind = "count"\nrows = 3', r"person = \{ column = \"user_id\", rows = 10 \}"),
    ('kind = "count"', 'kind = "count"\nby = "zone=?"', r"delta = 1e-6"),
    (
        'kind = "mean"',
        'kind = "mean"\nby = "zone=?"',
        r"named by a count of the same groups .* Or declare the groups, as in by = \[\"zone=a,b\"\]",
    ),
    (
        'kind = "mean"',
        'kind = "median"\nby = "zone=?"',
        r"groups of a median must be declared, as in by = \[\"zone=a,b\"\]",
    ),
    ('kind = "count"', 'kind = "count"\nweight = 0', r"Statistic 'people': weight must be a finite number above 0"),
    ('kind = "count"', 'kind = "count"\nmissing = "drop"', r"'missing' is no key here"),
]


@pytest.mark.parametrize(("before", "after", "message"), WRONG, ids=[after for _, after, _ in WRONG])
def test_what_is_wrong_in_a_file_is_said_with_the_spelling_that_is_right(tmp_path, before, after, message):
    text = (HEAD + COUNT + MEAN).replace(before, after)
    if message is None:
        opened(tmp_path, text)
        return
    with pytest.raises((ParameterError, ParameterTypeError, FormatError), match=message):
        opened(tmp_path, text)


def test_gaps_of_a_group_dates_and_unknown_bounds_are_declared(tmp_path):
    by = COUNT + 'by = "sex=F,M"\ngaps = "group"\n'
    when = MEAN.replace('"mean"', '"median"').replace("age=0..100", "when=2023-01-01..2023-12-31/month")
    bounds = MEAN.replace('"age"', '"span"', 1).replace('"mean"', '"bounds"').replace("age=0..100", "income")
    plan = opened(tmp_path, HEAD + by + when + bounds)
    assert plan.release.groups == ("F", "M", "(missing)")
    kinds = {name: item.kind for part in plan.release.parts for name, item in part.statistics.items()}
    assert kinds == {"people": "count", "age": "median", "span": "bounds"}
    assert plan.prospects().to_dict()["prospects"][2]["error"].startswith("cells above")


def test_what_happens_outside_is_declared(tmp_path):
    by = COUNT + 'by = "town=Bern,Basel,..."\n'
    refusing = MEAN + 'outside = "refuse"\n'
    plan = opened(tmp_path, HEAD + by + refusing)
    assert plan.release.groups == ("Bern", "Basel", "other")
    statistics = {name: item for part in plan.release.parts for name, item in part.statistics.items()}
    assert statistics["age"].bounds.outside == "refuse"
    with pytest.raises(ParameterError, match="Statistic 'age': outside must be one of 'clamp', 'refuse'"):
        opened(tmp_path, HEAD + COUNT + MEAN + 'outside = "other"\n')


def test_tables_are_published_and_some_may_be_named(tmp_path):
    columns = 'of = ["sex=F,M", "smokes=no,yes", "age=17..20"]\n'
    tables = f'[[statistic]]\nname = "tables"\nkind = "tables"\n{columns}'
    (release,) = opened(tmp_path, HEAD + tables).release.parts
    assert len(release.statistics["tables"].tables) == 3
    named = opened(tmp_path, HEAD + tables + 'tables = [["sex", "smokes"], "age"]\nmissing = "category"\n')
    assert named.release.parts[0].statistics["tables"].tables == (("sex", "smokes"), ("age",))
    for wrong in ('tables = [["sex", "shoes"]]', "tables = 3", "tables = [[3]]", 'of = "sex=F,M"\ntables = "shoes"'):
        text = HEAD + (tables.replace(columns, "") if "of" in wrong else tables) + wrong
        with pytest.raises((ParameterError, ParameterTypeError), match="tables must name columns"):
            opened(tmp_path, text)


def test_a_ledger_that_is_not_there_needs_a_budget(tmp_path):
    with pytest.raises(ParameterError, match=r"budget = \{ epsilon = 1\.0, delta = 0\.0 \}"):
        opened(tmp_path, HEAD + COUNT).open_ledger()


# A part of ρ.

RHO = HEAD.replace("epsilon = 1.0", "rho = 0.05")
QUARTILES = '[[statistic]]\nname = "quartiles"\nkind = "quantiles"\nof = "age=0..100:1"\n'


def test_statistics_cost_their_parts_of_rho_and_nearly_all_of_them(tmp_path):
    median = QUARTILES.replace("quartiles", "median").replace("quantiles", "median") + 'method = "exponential"\n'
    text = RHO + COUNT + MEAN + "weight = 2\n" + QUARTILES + median
    plan = opened(tmp_path, text)
    lines = {line.label: line for line in plan.release.lines()}
    for name, share in plan.rho_shares.items():
        assert 0.999999 * share < lines[name].rho <= share
    assert sum(map(decimal, plan.rho_shares.values())) <= decimal(0.05)
    assert plan.guarantee.epsilon == rho_to_epsilon(0.05, 1e-6)
    assert plan.guarantee.delta == 1e-6
    # An exponential choice proves an eighth: it has twice the ε of what proves half a square.
    pure = opened(tmp_path, RHO + COUNT + 'noise = "laplace"\n' + median)
    (laplace, _), (choice, _) = pure.shares.values()
    assert choice == pytest.approx(2 * laplace, rel=1e-6)


def test_the_noise_of_less_error_is_taken_at_the_same_rho_and_one_that_is_named_always(tmp_path):
    zones = COUNT.replace("people", "zones") + 'by = "zone=a,b"\n'
    person = '[person]\ncolumn = "id"\nrows = 60\nrows_per_group = 1\n'
    plan = opened(tmp_path, RHO + "at = 1e-7\n" + person + zones)
    assert plan.shares["zones"][1] == 1e-7
    assert opened(tmp_path, RHO + zones + 'noise = "laplace"\n').shares["zones"][1] == 0
    assert opened(tmp_path, RHO + zones + 'noise = "gaussian"\n').shares["zones"][1] == 1e-6


def test_groups_that_nobody_declares_have_a_part_of_rho_and_delta_on_top(tmp_path):
    zones = COUNT.replace("people", "zones") + 'by = "zone=?"\n'
    plan = opened(tmp_path, RHO + "delta = 1e-7\n" + COUNT + zones)
    line = next(line for line in plan.release.lines() if line.rho is None)
    assert (line.guarantee.delta, plan.guarantee.delta) == (1e-7, 1.1e-6)
    assert 0.999999 * 0.025 < line.guarantee.epsilon**2 / 2 <= 0.025
    ledger = Ledger(rho=0.05, delta=1e-7)
    ledger.book(plan.release.lines())
    assert ledger.spent.epsilon == pytest.approx(plan.guarantee.epsilon, rel=1e-6)
    assert ledger.spent.epsilon <= plan.guarantee.epsilon
    with pytest.raises(BudgetError):
        Ledger(rho=0.0499, delta=1e-7).book(plan.release.lines())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rho = 0.05", "rho = 0.05\nepsilon = 1.0"), "leave epsilon or rho out"),
        (("rho = 0.05", "rho = -1"), "rho must be"),
        (("rho = 0.05", "rho = 0.05\ndelta = 1e-6"), "No statistic of this publication uses delta"),
        (("rho = 0.05", "epsilon = 1.0\nat = 1e-6"), "write rho in place of epsilon"),
    ],
)
def test_a_rho_that_cannot_be_is_refused(tmp_path, change, message):
    with pytest.raises(ParameterError, match=message):
        opened(tmp_path, (RHO + COUNT).replace(*change))


def test_a_rho_is_booked_in_a_ledger_in_rho_and_in_no_other(tmp_path):
    (tmp_path / "t.csv").write_text("age\n" + "40\n" * 50)
    text = RHO + "page = false\n" + COUNT + MEAN
    with pytest.raises(ParameterError, match=r"budget = \{ rho = 0\.05"):
        publish(opened(tmp_path, text))
    epsilon = text.replace("ledger =", "budget = { epsilon = 2.0 }\nledger =")
    with pytest.raises(ParameterError, match="needs a ledger in ρ"):
        publish(opened(tmp_path, epsilon))
    assert not (tmp_path / "t.ledger").exists()
    publish(opened(tmp_path, text.replace("ledger =", "budget = { rho = 0.06 }\nledger =")))
    ledger = Ledger.open(tmp_path / "t.ledger")
    assert 0.00999 < ledger.remaining_rho < 0.01001
    Ledger.open(tmp_path / "e.ledger", epsilon=2.0)
    with pytest.raises(LedgerError, match="needs a ledger in ρ"):
        publish(opened(tmp_path, text.replace("t.ledger", "e.ledger")))


def test_a_name_that_says_its_groups_says_them_once_in_the_ledger(tmp_path):
    head = HEAD.replace("ledger", "delta = 1e-6\nledger", 1)
    zones = COUNT.replace("people", "rides by zone") + 'by = "zone=?"\n'
    plan = opened(tmp_path, head + zones + COUNT.replace("people", "people by sex") + 'by = "sex=F,M"\n')
    assert {line.label for line in plan.release.lines()} == {"rides by zone", "people by sex"}


ZONES = COUNT.replace("people", "zones") + 'by = "zone=?"\n'
AGES = MEAN.replace("age", "mean age", 1) + 'by = "zone=?"\n'


@pytest.mark.parametrize("head", [HEAD.replace("ledger", "delta = 1e-6\nledger", 1), RHO + "delta = 1e-7\n"])
def test_means_of_undeclared_groups_stand_beside_the_count_that_names_them(tmp_path, head):
    plan = opened(tmp_path, head + COUNT + ZONES + AGES)
    assert [list(part.statistics) for part in plan.release.parts] == [["people"], ["zones", "mean age"]]
    table = {"zone": ["a"] * 400 + ["b"] * 300 + ["alone"], "age": [40] * 701}
    results = plan.release.publish(plan.release.fold(table), rng=7)
    assert results["mean age"].labels == results["zones"].labels == ("a", "b")
    assert abs(results["mean age"]["a"] - 40) < 10
    labels = [line.label for line in plan.release.lines()]
    assert labels == ["people", "zones by zone", "mean age by zone"]
    if plan.rho is not None:
        assert sum(line.rho or 0.0 for line in plan.release.lines()) <= plan.rho
    twice = opened(tmp_path, head + ZONES + ZONES.replace("zones", "zones again") + AGES)
    assert len(twice.release.parts) == 2  # named twice, and paid for twice


def test_the_order_of_statistics_of_undeclared_groups_is_no_part_of_the_identity(tmp_path):
    head = HEAD.replace("ledger", "delta = 1e-6\nledger", 1)
    digests = {opened(tmp_path, head + text).digest for text in (COUNT + ZONES + AGES, AGES + ZONES + COUNT)}
    assert len(digests) == 1
