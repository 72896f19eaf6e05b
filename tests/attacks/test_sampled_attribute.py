"""The sampled attribute is found by the exact posterior, and classifiers come near its rate."""

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest

from bruit.attacks import draw_people, sampled_attribute, sampled_posterior
from bruit.attacks.sampled_attribute import features, replay, with_fakes
from bruit.collection import Plan
from bruit.domains import Schema
from bruit.entropy import Words
from bruit.errors import DataError, MissingExtraError, ParameterError, ParameterTypeError

from ..plans import planned

FREQUENCIES = {"a": [Fraction(4, 5), Fraction(1, 5)], "b": [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]}
PRIOR = {"a": [0.25, 0.75], "b": [0.5, 0.25, 0.25]}
SCHEMA = Schema({"a": ["0", "1"], "b": ["0", "1", "2"]})
METHODS = [f"RS+FD[{base}]" for base in ("GRR", "SUE-z", "OUE-z", "SUE-r", "OUE-r", "SS", "ADP")]
METHODS += [f"RS+RFD[{base}]" for base in ("GRR", "SUE-r", "OUE-r")]


def _plan(method, epsilon=1.5, schema=SCHEMA, **settings):
    prior = {"prior": PRIOR} if method.startswith("RS+RFD") and not settings else {}
    return planned(schema, epsilon, method, **prior, **settings)


def _messages(column):
    """Every report on an attribute, in the order of the columns of the mechanism's matrix."""
    name, k = column.mechanism.name, column.mechanism.size
    if name == "GRR":
        return [np.array([y], np.uint8) for y in range(k)]
    numbers = range(2**k) if name != "SS" else [y for y in range(2**k) if y.bit_count() == column.mechanism.omega]
    return [np.array([[y]], np.uint8) for y in numbers]


def _fake_law(column, prior):
    """P(fake report), exactly, from what each kind of fake is."""
    matrix, mechanism = column.mechanism.matrix(), column.mechanism
    if column.base == "GRR":
        return prior
    if column.base.endswith("-z"):
        q, k = mechanism.q, mechanism.size
        return [q ** y.bit_count() * (1 - q) ** (k - y.bit_count()) for y in range(2**k)]
    return [sum(share * row[y] for share, row in zip(prior, matrix, strict=True)) for y in range(len(matrix[0]))]


def _joint(plan):
    """Every combination of reports, and P(sampled attribute and reports), exactly; attributes are independent."""
    columns = list(plan.design.columns.values())
    names = list(plan.schema)
    true, fake = [], []
    for name, column in zip(names, columns, strict=True):
        size = column.mechanism.size
        prior = [Fraction(p) for p in PRIOR[name]] if plan.method.kind == "RS+RFD" else [Fraction(1, size)] * size
        matrix = column.mechanism.matrix()
        true.append(
            [sum(f * row[y] for f, row in zip(FREQUENCIES[name], matrix, strict=True)) for y in range(len(matrix[0]))]
        )
        fake.append(_fake_law(column, prior))
        assert sum(true[-1]) == sum(fake[-1]) == 1
    places = list(itertools.product(*(range(len(law)) for law in true)))
    law = [
        [
            Fraction(1, len(plan.schema)) * math.prod((true if j == i else fake)[i][y] for i, y in enumerate(reports))
            for j in range(len(plan.schema))
        ]
        for reports in places
    ]
    messages = [_messages(column) for column in columns]
    reports = {name: np.concatenate([messages[i][place[i]] for place in places]) for i, name in enumerate(names)}
    return reports, law


@pytest.mark.audit("RS+RFD[SUE-r]")
@pytest.mark.parametrize("method", METHODS)
def test_the_closed_form_is_the_exact_posterior(method):
    plan = _plan(method)
    reports, law = _joint(plan)
    assert sum(map(sum, law)) == 1
    exact = [[float(chance / sum(row)) for chance in row] for row in law]
    np.testing.assert_allclose(sampled_posterior(plan, reports, FREQUENCIES), exact, rtol=1e-12)


def test_the_posterior_needs_no_more_than_marginals_where_attributes_depend_on_each_other():
    plan = Plan({"a": ["0", "1"], "b": ["0", "1"]}, math.log(3), "RS+FD[GRR]")
    records = {(0, 0): 0.5, (0, 1): 0.1, (1, 0): 0.1, (1, 1): 0.3}
    keep = {True: 0.75, False: 0.25}
    exact = []
    for a, b in itertools.product(range(2), range(2)):
        chances = [sum(share * keep[x[i] == (a, b)[i]] / 4 for x, share in records.items()) for i in range(2)]
        exact.append([chance / sum(chances) for chance in chances])
    reports = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    found = sampled_posterior(plan, reports, {"a": [0.6, 0.4], "b": [0.6, 0.4]})
    np.testing.assert_allclose(found, exact, rtol=1e-9)


def _people(n, rng=1):
    return draw_people(SCHEMA, {name: np.array(shares, float) for name, shares in FREQUENCIES.items()}, n, rng)


@pytest.mark.parametrize("method", METHODS)
def test_the_attack_reaches_the_exact_rate_of_bayes(method):
    plan = _plan(method, 3.0)
    _, law = _joint(plan)
    best = float(sum(map(max, law)))
    found = sampled_attribute(plan, _people(40_000), rng=2)
    assert best > 0.5
    assert found.baseline == 0.5
    assert abs(found.accuracy - best) < 5.5 * math.sqrt(best * (1 - best) / found.n)
    assert found.interval[0] < found.accuracy < found.interval[1]


def test_where_nothing_leaks_the_attack_is_no_better_than_a_blind_guess():
    schema = Schema({name: ["0", "1", "2"] for name in "abcd"})
    plan = Plan(schema, 5.0, "RS+FD[GRR]")
    found = sampled_attribute(plan, draw_people(schema, {}, 40_000, rng=1), rng=2)
    assert abs(found.accuracy - 0.25) < 5.5 * math.sqrt(0.25 * 0.75 / 40_000)
    leaking = sampled_attribute(plan, draw_people(schema, {"a": [0.9, 0.1, 0.0]}, 40_000, rng=1), rng=2)
    assert leaking.accuracy > 0.25 + 5.5 * math.sqrt(0.25 * 0.75 / 40_000)
    assert leaking.leaks


FOUR = Schema({name: ["0", "1", "2", "3"] for name in "abc"})
UNEVEN = {"a": [0.9, 0.05, 0.03, 0.02], "b": [0.1, 0.1, 0.1, 0.7], "c": [0.25, 0.25, 0.25, 0.25]}


@pytest.mark.parametrize(("method", "shares"), [("RS+RFD[GRR]", UNEVEN), ("RS+RFD[GRR]", {}), ("RS+RFD[OUE-r]", {})])
def test_an_attacker_who_is_mistaken_about_the_fakes_does_worse(method, shares):
    people = draw_people(FOUR, shares, 40_000, rng=1)
    plan = _plan(method, 3.0 if not shares else 1.0, FOUR, prior=UNEVEN)
    right, wrong = (sampled_attribute(plan, people, fakes=fakes, rng=2) for fakes in ("plan", "uniform"))
    assert right.accuracy - wrong.accuracy > 5.5 * math.sqrt(0.5 / 40_000)
    assert right.leaks
    assert "mistaken uniform fakes" in wrong.description
    assert "mistaken" not in right.description


def test_fakes_that_go_through_the_same_noise_with_the_right_prior_hide_the_attribute():
    plan = _plan("RS+RFD[OUE-r]", 5.0, FOUR, prior=UNEVEN)
    found = sampled_attribute(plan, draw_people(FOUR, UNEVEN, 40_000, rng=1), rng=2)
    assert abs(found.accuracy - 1 / 3) < 5.5 * math.sqrt(2 / 9 / 40_000)


def test_the_mistake_has_no_meaning_without_a_prior():
    with pytest.raises(ParameterError, match="only RS\\+RFD"):
        sampled_attribute(_plan("RS+FD[GRR]"), _people(10), fakes="uniform")


# Replaying.


@pytest.mark.parametrize("method", METHODS)
def test_a_replay_gives_the_very_reports_of_the_plan(method):
    plan = _plan(method)
    people = _people(70_000)
    reports, sampled = replay(with_fakes(plan), plan.schema.encode(people), Words(5))
    again = plan.randomize(plan.schema.encode(people), Words(5))
    assert all((reports[name] == again[name]).all() for name in plan.schema)
    assert abs(np.mean(sampled == 0) - 0.5) < 5.5 * 0.5 / math.sqrt(sampled.size)


def test_a_replay_remembers_the_attribute_that_was_told():
    schema = Schema({name: [str(i) for i in range(100)] for name in "abc"})
    plan = Plan(schema, 20.0, "RS+FD[GRR]")
    codes = schema.encode(draw_people(schema, {}, 5000, rng=1))
    reports, sampled = replay(with_fakes(plan), codes, Words(5))
    kept = np.array([reports[name] == codes[name] for name in schema])
    assert kept[sampled, np.arange(5000)].all()
    assert kept.sum() < 5000 + 2 * 5000 * 0.02


def test_features_are_codes_or_bits():
    assert features(*_some_reports("RS+FD[GRR]")).shape == (50, 2)
    table = features(*_some_reports("RS+FD[OUE-z]"))
    assert table.shape == (50, 5)
    assert set(np.unique(table)) == {0, 1}


def _some_reports(method):
    plan = _plan(method)
    return plan.design, plan.privatize(_people(50), rng=3)


# Knowledge and classifiers.


class Lookup:
    """The most frequent label of each row seen; a classifier that is as good as can be where rows are few."""

    def fit(self, rows, labels):
        self.labels = {}
        for row, label in zip(map(tuple, rows.tolist()), labels.tolist(), strict=True):
            self.labels.setdefault(row, []).append(label)
        self.labels = {row: max(set(seen), key=seen.count) for row, seen in self.labels.items()}
        self.seen = len(labels)
        SIZES.append(self.seen)

    def predict(self, rows):
        return np.array([self.labels.get(row, 0) for row in map(tuple, rows.tolist())])


SIZES = []


@pytest.mark.parametrize(
    ("knowledge", "learnt", "attacked"), [("none", 24_000, 8000), ("partial", 2000, 6000), ("hybrid", 26_000, 6000)]
)
def test_a_classifier_learns_from_what_the_attacker_knows(knowledge, learnt, attacked):
    plan = _plan("RS+FD[GRR]", 3.0)
    best = float(sum(map(max, _joint(plan)[1])))
    machine = Lookup()
    found = sampled_attribute(
        plan, _people(8000), attacker=machine, knowledge=knowledge, synthetic=3, share=0.25, rng=2
    )
    assert not hasattr(machine, "labels"), "the caller's own classifier must stay as it is"
    assert SIZES[-1] == learnt
    assert found.n == attacked
    assert abs(found.accuracy - best) < 5.5 * math.sqrt(best * (1 - best) / attacked)
    assert "Lookup" in found.description
    assert knowledge == "none" or "25%" in found.description


@pytest.mark.parametrize("knowledge", ["partial", "hybrid"])
def test_the_closed_form_takes_the_frequencies_from_what_is_known(knowledge):
    plan = _plan("RS+FD[OUE-z]", 3.0)
    best = float(sum(map(max, _joint(plan)[1])))
    found = sampled_attribute(plan, _people(40_000), knowledge=knowledge, share=0.2, rng=2)
    assert found.n == 32_000
    assert abs(found.accuracy - best) < 5.5 * math.sqrt(best * (1 - best) / 32_000)


def test_nearly_nobody_known_is_nearly_no_knowledge():
    found = sampled_attribute(_plan("RS+FD[GRR]", 3.0), _people(50), knowledge="partial", share=1e-6, rng=2)
    assert found.n == 49


def test_a_classifier_of_scikit_learn_comes_near_the_rate_of_bayes():
    tree = pytest.importorskip("sklearn.tree", reason="scikit-learn is not installed (bruit[learn])")
    _check_near_bayes(tree.DecisionTreeClassifier(max_depth=6, random_state=0))


def test_xgboost_comes_near_the_rate_of_bayes():
    pytest.importorskip("xgboost", reason="XGBoost is not installed (bruit[attack])")
    _check_near_bayes("xgboost")


def _check_near_bayes(attacker):
    plan = _plan("RS+FD[SUE-z]", 3.0)
    people = _people(10_000)
    bayes, learnt = (sampled_attribute(plan, people, attacker=one, rng=2) for one in ("bayes", attacker))
    assert learnt.leaks
    assert abs(bayes.accuracy - learnt.accuracy) < 0.02


def test_without_xgboost_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingExtraError, match=r"bruit\[attack\]"):
        sampled_attribute(_plan("RS+FD[GRR]"), _people(10), attacker="xgboost")


def test_the_same_seed_gives_the_same_result():
    plan, people = _plan("RS+FD[GRR]"), _people(500)
    assert sampled_attribute(plan, people, rng=3) == sampled_attribute(plan, people, rng=3)
    assert len({sampled_attribute(plan, people, rng=seed).hits for seed in range(6)}) > 1


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"attacker": "forest"}, ParameterError),
        ({"attacker": 3}, ParameterTypeError),
        ({"attacker": Lookup}, ParameterTypeError),
        ({"knowledge": "full"}, ParameterError),
        ({"share": 1.0}, ParameterError),
        ({"synthetic": 0}, ParameterError),
        ({"fakes": "honest"}, ParameterError),
        ({"level": 2}, ParameterError),
    ],
)
def test_a_bad_setting_is_refused(settings, error):
    with pytest.raises(error):
        sampled_attribute(_plan("RS+FD[GRR]"), _people(10), **settings)


def test_only_a_plan_with_fakes_hides_an_attribute():
    with pytest.raises(ParameterError, match=r"SMP\[GRR\]"):
        sampled_attribute(Plan(SCHEMA, 1.0, "SMP[GRR]"), _people(10))
    with pytest.raises(ParameterTypeError):
        sampled_posterior(SCHEMA, {"a": [0], "b": [0]})


def test_bad_reports_and_frequencies_are_refused_without_being_shown():
    plan = _plan("RS+FD[GRR]")
    with pytest.raises(DataError) as caught:
        sampled_posterior(plan, {"a": [0, 111], "b": [0, 1]})
    assert "111" not in str(caught.value)
    with pytest.raises(DataError, match="nobody"):
        sampled_attribute(plan, {"a": [], "b": []})
    with pytest.raises(DataError, match="as many entries"):
        sampled_attribute(plan, {"a": ["0", "1"], "b": ["0"]})
    for bad in ({"a": [1, 0]}, {"a": [1, 0], "b": [1, 0]}, {"a": [0, 0], "b": [1, 0, 0]}):
        with pytest.raises(ParameterError):
            sampled_posterior(plan, {"a": [0], "b": [1]}, bad)
