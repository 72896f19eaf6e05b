"""Additive models lose at most their ε or ρ: every release by enumeration, whole fits given the same answers.

Each planted defect is a model that differs in one line, and the same checks find it.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bruit import Entropy, audit
from bruit.learning import AdditiveClassifier, AdditiveRegressor, LogisticRegression
from bruit.learning._features import FeatureRows
from bruit.learning._sums import SumNoise, observer
from bruit.learning.additive.classes import SeveralClasses, TwoClasses, class_problem
from bruit.learning.additive.columns import Cells, ShapeColumns
from bruit.learning.additive.fitting import Fitting, Residuals, Size, TargetTables
from bruit.learning.additive.problem import Problem, Shapes
from bruit.learning.additive.releases import Promise, Releases
from bruit.learning.additive.target import TargetProblem
from bruit.privacy.zcdp import epsilon_to_rho

EPSILON, DELTA = 1.0, 1e-6
COLUMNS = ShapeColumns(np.zeros(2), np.ones(2), (1024, 1024), (False, False), (), ("a", "b"))
#: Numbers at knots, between them, and next to a bound.
POINTS = (0.0, 0.2, 0.25, 0.5, 0.999, 1.0)
PROBLEMS: dict[str, tuple[Problem, list[int]]] = {
    "two classes": (TwoClasses(2), [0, 1]),
    "three classes": (SeveralClasses(3), [0, 1, 2]),
    "number": (TargetProblem(), [-(2**13), 0, 2**13]),
}
PROMISES = [Promise(EPSILON, delta, replaced) for delta in (0.0, DELTA) for replaced in (False, True)]


def records(targets: list[int]) -> list[tuple[FeatureRows, np.ndarray]]:
    """Every record of two numbers and a target, one at a time."""
    return [
        (FeatureRows(np.array([point], float), ()), np.array([target]))
        for point in itertools.product(POINTS, POINTS)
        for target in targets
    ]


def steep(problem: Problem, cells: Cells, sign: float = 1.0) -> Shapes:
    """Shapes that take P, or what is predicted, to both of its ends."""
    most = problem.most_effect * sign
    effects = [np.outer(np.linspace(-most, most, size), np.linspace(1, -1, problem.outputs)) for size in cells.sizes]
    return Shapes(effects, np.zeros(problem.outputs), effects, [np.ones(size) for size in cells.sizes], {})


def worst(noise: SumNoise, sums: list[np.ndarray], *, replaced: bool) -> Fraction:
    """The largest exact loss between neighbours: a record more, or another record."""
    table = np.array(sums if replaced else [*sums, np.zeros_like(sums[0])]) / (noise.errors * np.array(noise.units))
    apart = np.abs(table[:, None] - (table if replaced else table[-1:]))
    rough = (apart**2 if noise.delta else apart).sum(axis=2)  # in floats; the largest ones are then compared exactly
    largest = np.argsort(-rough, axis=None)[:20]
    exact = [np.zeros_like(sums[0]), *sums, np.zeros_like(sums[0])]
    firsts, seconds = np.unravel_index(largest, rough.shape)
    others = seconds + 1 if replaced else 0 * seconds
    losses = [noise.loss_between(exact[first + 1], exact[other]) for first, other in zip(firsts, others, strict=True)]
    return max(losses)


def budget(promise: Promise) -> Fraction:
    return Fraction(epsilon_to_rho(EPSILON, DELTA) if promise.gaussian else EPSILON)


def distinct(sums: list[np.ndarray]) -> list[np.ndarray]:
    return [np.array(own) for own in {tuple(own.tolist()) for own in sums}]


def losses(promise: Promise, problem: Problem, targets: list[int], knots: int = 3) -> dict[str, Fraction]:
    """The largest loss of each release over enumerated neighbours, as a part of its share."""
    cells, kinds = Cells.even(COLUMNS, knots), Releases(promise, problem, 2, 2, passes=True)
    whole = records(targets)
    tables = distinct([TargetTables(cells, problem)(*record) for record in whole])
    fine = TargetTables(Cells.fine(COLUMNS), problem)
    histograms = [
        np.asarray(problem.records(fine(*record).reshape(-1, len(problem.units)) // 1024)) for record in whole
    ]
    found = {
        "tables": worst(kinds.tables(cells.total), tables, replaced=promise.replaced),
        "fine": worst(kinds.fine(2 * 257), distinct(histograms), replaced=promise.replaced),
    }
    if promise.size is not None:
        found["size"] = promise.size.loss_between([7], [8])
    passes = []
    for sign in (-1.0, 1.0):
        sums = Residuals(cells, problem, steep(problem, cells, sign), (0, 1), problem.lookup())
        changes = distinct([sums(*record) for record in whole])
        passes.append(worst(kinds.block(2, cells.total), changes, replaced=promise.replaced))
    found["pass"] = max(passes)
    return {name: loss / (kinds.shares[name] * budget(promise)) for name, loss in found.items()}


@pytest.mark.parametrize("promise", PROMISES, ids=lambda p: f"{p.delta:g}-{'replace' if p.replaced else 'add-remove'}")
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_release_loses_at_most_its_share_over_enumerated_neighbours(name: str, promise: Promise) -> None:
    parts = losses(promise, *PROBLEMS[name])
    assert all(part <= 1 for part in parts.values())
    # Attained up to the slack of scales, but for replaced records in the pass: see the proof note.
    loose = {"pass"} if promise.replaced and (promise.gaussian or name != "two classes") else set()
    if name == "number" and promise.gaussian and promise.replaced:
        loose.add("tables")
    assert all(part > 0.999 for release, part in parts.items() if release not in loose), parts
    assert all(parts[release] > 0.4 for release in loose)


@pytest.mark.parametrize("passes", [False, True])
@pytest.mark.parametrize("dense", [0, 2])
@pytest.mark.parametrize("replaced", [False, True])
def test_the_shares_of_all_releases_sum_to_one(passes: bool, dense: int, replaced: bool) -> None:
    kinds = Releases(Promise(1.0, 0.0, replaced), TwoClasses(2), 3, dense, passes)
    assert sum(kinds.shares.values()) == 1
    if passes:
        blocks = [kinds.block(columns, 5) for columns in (1, 2)]
        assert sum(block.share for block in blocks) == kinds.shares["pass"]
        assert blocks[0].by_unit.keys() == blocks[1].by_unit.keys()
        assert blocks[0].errors[0] == pytest.approx(blocks[1].errors[0], rel=1e-9)


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_a_person_with_several_rows_loses_no_more(times: int, delta: float) -> None:
    promise = Promise(EPSILON, delta, times=times, size_times=times)
    kinds, cells = Releases(promise, TwoClasses(2), 2, 2, passes=True), Cells.even(COLUMNS, 3)
    rows = [TargetTables(cells, TwoClasses(2))(*record) for record in records([0, 1])]
    most = max(kinds.tables(cells.total).loss_between(times * row, 0 * row) for row in rows)
    share = kinds.shares["tables"] * budget(promise)
    assert share * Fraction(999, 1000) < most <= share
    root = Releases(Promise(EPSILON, delta, times=math.isqrt(times)), TwoClasses(2), 2, 2, passes=True)
    assert max(root.tables(cells.total).loss_between(times * row, 0 * row) for row in rows) > share  # √r is not enough


# Whole fits, given the same answers


class Replay:
    """Keeps the laws and answers of a fit, and gives the answers of another one in their place."""

    def __init__(self, answers: list[np.ndarray] | None = None) -> None:
        self.laws: list[Any] = []
        self.answers: list[np.ndarray] = []
        self._stated = answers

    def released(self, law: Any, noisy: np.ndarray) -> np.ndarray:
        place = len(self.answers)
        if self._stated is not None:
            assert place < len(self._stated), "it releases more often"
            assert self._stated[place].shape == noisy.shape, "it releases another number of sums"
            noisy = self._stated[place].copy()
        self.laws.append(law)
        self.answers.append(noisy)
        return noisy


def run(model: Any, X: Any, y: Any, answers: list[np.ndarray] | None = None) -> tuple[Replay, Any]:
    replay = Replay(answers)
    token = observer.set(replay)
    try:
        fitted = type(model)(**{**model.get_params(deep=False), "rng": Entropy(5)}).fit(X, y)
    finally:
        observer.reset(token)
    return replay, fitted


def learned(model: Any) -> list[Any]:
    fitted = model._fitted
    return [part.tolist() for part in fitted.shapes.effects] + [fitted.shapes.intercept.tolist(), fitted.size]


def check(model: Any, X: Any, y: Any, neighbours: list[tuple[Any, Any]]) -> float:
    """The largest loss of a fit against its neighbours; an error where it exceeds ε, or the data show without noise."""
    first, fitted = run(model, X, y)
    most = 0.0
    for other in neighbours:
        second, same = run(model, *other, answers=first.answers)
        assert len(second.answers) == len(first.answers), "it releases less often"
        assert learned(fitted) == learned(same), "what is learned depends on the data without noise"
        if model.delta:
            total = sum((ours.rho(theirs) for ours, theirs in zip(first.laws, second.laws, strict=True)), Fraction(0))
            most = max(most, float(total / Fraction(epsilon_to_rho(model.epsilon, model.delta))))
        else:
            total = sum((ours.loss(theirs) for ours, theirs in zip(first.laws, second.laws, strict=True)), Fraction(0))
            most = max(most, float(total / Fraction(model.epsilon)))
    assert most <= 1, "it loses more than it promises"
    return most


#: So few records have a pass at this ε.
N = 96
_DRAW = np.random.default_rng(4)
X = _DRAW.choice([0.0, 0.1, 0.5, 0.77, 1.0], (N, 2))
Y = (X[:, 0] + _DRAW.normal(0, 0.3, N) > 0.5).astype(int)
CORNERS = [(np.array([[a, b]]), [c]) for a in (0.0, 0.3, 1.0) for b in (0.0, 1.0) for c in (0, 1)]
OPTIONS: dict[str, Any] = {"epsilon": 10.0, "bounds": (0, 1), "classes": [0, 1]}


def neighbours_of(kind: str) -> list[tuple[Any, Any]]:
    """TargetTables without the first record; or with another one in its place, at the corners and between them."""
    if kind == "add-remove":
        removed = [(np.delete(X, place, axis=0), np.delete(Y, place)) for place in range(0, N, 12)]
        return removed + [(np.vstack([X, row]), [*Y, *label]) for row, label in CORNERS]
    return [(np.vstack([row, X[1:]]), [*label, *Y[1:]]) for row, label in CORNERS]


MODELS: dict[str, Any] = {
    "pure": AdditiveClassifier(**OPTIONS),
    "Gaussian": AdditiveClassifier(**OPTIONS, delta=DELTA),
    "replace": AdditiveClassifier(**OPTIONS, neighbours="replace"),
    "replace, Gaussian": AdditiveClassifier(**OPTIONS, neighbours="replace", delta=DELTA),
    "three classes": AdditiveClassifier(**{**OPTIONS, "classes": [0, 1, 2]}),
    "logistic": LogisticRegression(**OPTIONS),
    "no pass": AdditiveClassifier(**{**OPTIONS, "epsilon": 1.0}),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_loses_at_most_what_it_promises_and_learns_from_its_answers_alone(name: str) -> None:
    model = MODELS[name]
    most = check(model, X, Y, neighbours_of(model.neighbours))
    assert most > (0.3 if model.neighbours == "replace" else 0.5)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_a_fit_of_people_loses_at_most_what_it_promises(neighbours: str) -> None:
    table = {"a": np.repeat(X[:, 0], 2), "b": np.repeat(X[:, 1], 2), "who": np.repeat(np.arange(N), 2)}
    y, bounds = np.repeat(Y, 2), {"a": (0, 1), "b": (0, 1)}
    people = {"person": "who", "rows": 2, "neighbours": neighbours}
    model = AdditiveClassifier(**{**OPTIONS, "bounds": bounds}, **people)
    without = [({name: column[2:] for name, column in table.items()}, y[2:])]
    another = [({**table, "a": np.append([1 - X[0, 0]] * 2, table["a"][2:])}, np.append([1 - Y[0]] * 2, y[2:]))]
    assert check(model, table, y, another if neighbours == "replace" else without) > 0.2


def test_a_regressor_loses_at_most_what_it_promises_with_shapes_and_with_a_line() -> None:
    rng = np.random.default_rng(2)
    rows = rng.choice([0.0, 0.2, 1.0], (1800, 2))
    target = rows[:, 0] - rows[:, 1]
    for delta, size in ((0.0, 1800), (DELTA, 1200), (0.0, 50)):
        model = AdditiveRegressor(epsilon=10.0, bounds=(0, 1), target_bounds=(-1, 1), delta=delta)
        with pytest.warns(UserWarning, match="too few") if size == 50 else pytest.MonkeyPatch.context():
            check(model, rows[:size], target[:size], [(rows[1:size], target[1:size])])


# Planted defects


def caught(model: Any, table: tuple[Any, Any] = (X, Y), neighbours: Any = None) -> str:
    """What the check says of a defective model."""
    with pytest.raises(AssertionError) as error:
        check(model, *table, neighbours_of(model.neighbours) if neighbours is None else neighbours)
    return str(error.value)


def test_noise_for_one_column_only_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: Promise, units: Any, norms: Any, columns: int, share: Fraction) -> SumNoise:
        return SumNoise(units, norms.l2_squared if self.gaussian else norms.l1, self.epsilon, self.delta, share)

    monkeypatch.setattr(Promise, "noise", forgetful)
    assert "loses more" in caught(MODELS["pure"])
    assert "loses more" in caught(MODELS["Gaussian"])


def test_weights_that_do_not_sum_to_one_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def generous(self: TargetTables, rows: FeatureRows, target: Any) -> Any:
        places = self.cells.places(rows)
        sums = self.problem.count(places, target, self.cells)
        return sums + self.problem.count(places >> 10 << 10, target, self.cells) // 2  # and half a record more

    monkeypatch.setattr(TargetTables, "__call__", generous)
    assert "loses more" in caught(MODELS["pure"])
    cells = Cells.even(COLUMNS, 3)
    tables = [TargetTables(cells, TwoClasses(2))(*record) for record in records([0, 1])]
    noise = Releases(PROMISES[0], TwoClasses(2), 2, 2, passes=True)
    assert worst(noise.tables(cells.total), tables, replaced=False) > noise.shares["tables"]


def test_an_exact_number_of_records_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def exact(self: Fitting, fine: Any, entropy: Any) -> Size:
        records = float(self._records(fine)[self.fine.part(0)].sum())
        return Size(records, records / self.promise.spread(len(self.columns)))

    monkeypatch.setattr(Fitting, "size", exact)
    assert "depends on the data" in caught(MODELS["pure"])


def test_exact_shares_of_labels_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    class Peeking(AdditiveClassifier):
        def fit(self, X: Any, y: Any = None, **unsupported: Any) -> Any:
            super().fit(X, y, **unsupported)
            share = np.mean(np.asarray(y))
            shapes = self._fitted.shapes._replace(intercept=np.array([math.log(share / (1 - share))]))
            self._fitted = self._fitted._replace(shapes=shapes)
            return self

    assert "depends on the data" in caught(Peeking(**OPTIONS))


def test_residuals_of_exact_tables_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    learn = Fitting.learn

    def exact(self: Fitting, fine: Any, size: Size, read: Any, entropy: Any) -> Any:
        tables: list[Any] = []

        def leak(count: Any) -> Any:
            sums = read(count)
            if isinstance(count, TargetTables):
                tables.append(sums.reshape(-1, 2) / 1024)
            elif tables:
                exact_shape = np.log((tables[0][:, 1:] + 1) / (tables[0][:, :1] + 1))
                shapes = count.shapes._replace(effects=np.split(exact_shape, count.cells.starts[1:-1]))
                sums = read(Residuals(count.cells, count.problem, shapes, count.block, count.lookup))
            return sums

        return learn(self, fine, size, leak, entropy)

    monkeypatch.setattr(Fitting, "learn", exact)
    # Every record's residual moves by a little; in a crowd that is more than one record may change.
    crowd = np.repeat([[0.0, 0.0]], 4000, axis=0), np.tile([0, 1], 2000)
    gone = [(crowd[0][1:], crowd[1][1:])]
    model = AdditiveClassifier(**{**OPTIONS, "epsilon": 1.0})
    assert "loses more" in caught(model, crowd, gone)
    monkeypatch.undo()
    check(model, *crowd, gone)


def test_replaced_records_with_the_noise_of_added_ones_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    for problem in (TwoClasses, SeveralClasses):
        single = dict.fromkeys((False, True), problem.table_norms[False])
        monkeypatch.setattr(problem, "table_norms", single)
        monkeypatch.setattr(problem, "pass_norms", dict.fromkeys((False, True), problem.pass_norms[False]))
        targets = [0, 1] if problem is TwoClasses else [0, 1, 2]
        parts = losses(Promise(EPSILON, 0.0, replaced=True), class_problem(len(targets)), targets)
        assert parts["tables"] > 1.9
        assert parts["pass"] > 1.3
    assert "loses more" in caught(MODELS["replace"])


def test_noise_that_is_used_again_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(model: Any) -> list[np.ndarray]:
        replay, _ = run(model, X, Y)
        noises = [answer - np.array(law.sums) for law, answer in zip(replay.laws, replay.answers, strict=True)]
        return [noise for noise in noises if noise.size > 3]

    def repeats(noises: list[np.ndarray]) -> bool:
        """Whether some release has the noise of another, in steps or in standard deviations."""
        heads = [noise[:4] / np.abs(noise[:4]).sum() for noise in noises]
        return any(np.allclose(first, second, atol=1e-3) for first, second in itertools.combinations(heads, 2))

    assert not repeats(drawn(MODELS["pure"]))
    original = SumNoise.draw
    monkeypatch.setattr(SumNoise, "draw", lambda self, sums, entropy: original(self, sums, Entropy(9)))
    assert repeats(drawn(MODELS["pure"]))


def test_a_pass_that_stops_by_its_loss_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    block = Fitting._block

    def stopping(self: Fitting, fitted: Any, columns: Any, sums: Any, *rest: Any) -> None:
        """Skips a block whose residuals, without noise, are small."""
        if int(np.abs(np.asarray(sums)).sum()) > limit:
            block(self, fitted, columns, sums, *rest)

    limits = []
    monkeypatch.setattr(
        Fitting,
        "_block",
        lambda self, f, c, sums, *rest: (limits.append(int(np.abs(sums).sum())), block(self, f, c, sums, *rest)),
    )
    run(MODELS["pure"], X, Y)
    limit = limits[-1] - 1
    monkeypatch.setattr(Fitting, "_block", stopping)
    assert "releases" in caught(MODELS["pure"])


# Residuals


def test_residuals_do_not_depend_on_order_batches_or_other_rows() -> None:
    rng = np.random.default_rng(1)
    columns = ShapeColumns(
        np.zeros(3), np.ones(3), (1024,) * 3, (False, True, False), (("u", "v"),), ("a", "b", "c", "d")
    )
    cells = Cells.even(columns, 7)
    rows = FeatureRows(rng.random((500, 3)), (rng.integers(0, 2, 500),))
    rows.numbers[::7, 1] = np.nan
    for problem, target in ((TwoClasses(2), rng.integers(0, 2, 500)), (SeveralClasses(3), rng.integers(0, 3, 500))):
        effects = [np.round(rng.normal(0, 1, (size, problem.outputs)), 3) for size in cells.sizes]
        shapes = Shapes(effects, np.full(problem.outputs, 0.1), effects, [], {})
        count = Residuals(cells, problem, shapes, (2, 0, 3), problem.lookup())

        def of(places: Any, count: Any = count, target: Any = target) -> Any:
            part = FeatureRows(rows.numbers[places], tuple(code[places] for code in rows.codes))
            return count(part, target[places])

        whole = of(np.arange(500))
        assert np.array_equal(whole, of(rng.permutation(500)))
        assert np.array_equal(whole, sum(of(places) for places in np.array_split(np.arange(500), 37)))
        assert np.array_equal(whole, sum(of(np.array([place])) for place in range(500)))


def test_the_number_of_knots_the_pass_and_the_order_follow_from_noisy_numbers() -> None:
    fit = Fitting(COLUMNS, TwoClasses(2), Promise(1.0))
    assert [fit._knots(ratio) for ratio in (1.0, 100.0, 1000.0, 1e9)] == [4, 7, 22, 32]
    assert Fitting(COLUMNS, TwoClasses(2), Promise(1.0), 8)._knots(1e9) == 8
    assert Promise(1.0).spread(3) == pytest.approx(3 * math.sqrt(2))
    assert Promise(1.0, DELTA).spread(3) == pytest.approx(math.sqrt(3 / (2 * epsilon_to_rho(1.0, DELTA))))
    assert Promise(1.0, replaced=True).spread(3) == pytest.approx(6 * math.sqrt(2))
    assert Promise(1.0, times=2).spread(3) == pytest.approx(6 * math.sqrt(2))


def _fits(table: Any, trials: int, entropy: Entropy) -> np.ndarray:
    """What fits release of the cell that neighbours differ in: the number of records, the tables and the pass."""
    rows = []
    for _ in range(trials):
        replay = Replay()
        token = observer.set(replay)
        try:
            AdditiveClassifier(1.0, bounds=(0, 1), classes=[0, 1], rng=entropy).fit(*table)
        finally:
            observer.reset(token)
        size, _, tables, *blocks = replay.answers
        rows.append([size[0] / 100, tables.reshape(-1, 2)[-1, 1] / 1024, sum(own[-1] for own in blocks) / 2**24])
    return np.array(rows)


@pytest.mark.audit
def test_no_audit_of_whole_fits_certifies_more_than_epsilon_and_one_finds_a_defect(monkeypatch: Any) -> None:
    many = np.zeros((3000, 1)), np.tile([0, 1], 1500)  # all in one cell, and enough for a pass
    more = np.vstack([many[0], [[1.0]]]), [*many[1], 1]
    lower = audit.empirical(_fits, many, more, trials=2000, level=0.999999, rng=3)
    assert lower.epsilon_lower <= 1
    original = Promise.noise

    def quiet(self: Promise, units: Any, norms: Any, columns: int, share: Fraction) -> SumNoise:
        return original(self, units, type(norms)(norms.l1 / 10, norms.l2_squared / 100), columns, share)

    monkeypatch.setattr(Promise, "noise", quiet)
    assert audit.empirical(_fits, many, more, trials=2000, level=0.999999, rng=3).epsilon_lower > 1
