"""Tables made to agree: one pass is least squares, and the biased steps do what their names say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bruit.estimation import contrasts

SIZES = {"a": 2, "b": 3, "c": 4, "d": 2}


def noisy(tables: list[tuple[str, ...]], seed: int) -> tuple[dict, dict]:
    rng = np.random.default_rng(seed)
    shape = lambda names: tuple(SIZES[name] for name in names)  # noqa: E731
    variances = {names: float(rng.uniform(0.5, 3)) for names in tables}
    return {names: rng.normal(size=shape(names)) for names in tables}, variances


def dense(tables: dict, variances: dict, total: float | None) -> dict:
    """Least squares over the joint table of all attributes, by a matrix: slow and obvious."""
    order = list(SIZES)
    joint = np.arange(np.prod(list(SIZES.values()))).reshape(list(SIZES.values()))
    rows, values, weights = [], [], []
    for names, table in tables.items():
        for codes in np.ndindex(table.shape):
            where = tuple(codes[names.index(name)] if name in names else slice(None) for name in order)
            row = np.zeros(joint.size)
            row[joint[where].ravel()] = 1
            rows.append(row)
            values.append(table[codes])
            weights.append(variances[names] ** -0.5)
    design, target, weight = np.array(rows), np.array(values), np.array(weights)
    if total is None:
        solution = np.linalg.lstsq(design * weight[:, None], target * weight, rcond=None)[0]
    else:
        base = np.full(joint.size, total / joint.size)
        null = np.linalg.svd(np.ones((1, joint.size)))[2][1:].T
        rest = np.linalg.lstsq(design @ null * weight[:, None], (target - design @ base) * weight, rcond=None)[0]
        solution = base + null @ rest
    fitted = design @ solution
    ends = np.cumsum([0] + [table.size for table in tables.values()])
    return {
        names: fitted[start:end].reshape(table.shape)
        for (names, table), (start, end) in zip(tables.items(), itertools.pairwise(ends), strict=True)
    }


@pytest.mark.parametrize("total", [1.0, None])
@pytest.mark.parametrize(
    "tables",
    [
        list(itertools.combinations("abcd", 2)),
        [("a", "b"), ("b", "c")],
        [("a", "b", "c"), ("a", "d"), ("c", "d")],
    ],
)
def test_one_pass_is_dense_least_squares(tables, total) -> None:
    raw, variances = noisy(tables, 1)
    ours, slow = contrasts.least_squares(raw, variances, total), dense(raw, variances, total)
    for names in tables:
        assert np.abs(ours[names] - slow[names]).max() < 1e-11


def test_other_weights_are_not_least_squares() -> None:
    raw, variances = noisy(list(itertools.combinations("abcd", 2)), 1)
    wrong = contrasts.least_squares(raw, dict.fromkeys(variances, 1.0))
    slow = dense(raw, variances, 1.0)
    assert max(np.abs(wrong[names] - slow[names]).max() for names in raw) > 1e-3


def test_effects_and_spread_are_inverse() -> None:
    table = np.random.default_rng(1).normal(size=(2, 3, 4))
    parts = contrasts.effects(table, ("a", "b", "c"))
    assert np.allclose(contrasts.spread(parts, ("a", "b", "c"), table.shape), table)


def test_the_tables_agree_in_every_shared_margin() -> None:
    raw, variances = noisy(list(itertools.combinations("abcd", 2)), 2)
    agreed = contrasts.least_squares(raw, variances)
    margins = [table.sum(axis=1) for names, table in agreed.items() if names[0] == "a"]
    assert np.allclose(margins, margins[0])
    assert np.allclose([table.sum() for table in agreed.values()], 1)


def test_margin_weights_give_the_margin_of_least_squares_where_the_total_is_right() -> None:
    raw, variances = noisy(list(itertools.combinations("abcd", 2)), 3)
    raw = {names: table + (1 - table.sum()) / table.size for names, table in raw.items()}
    weights = contrasts.margin_weights({names: table.size for names, table in raw.items()}, variances, "b")
    mean = sum(weight * raw[names].sum(axis=1 - names.index("b")) for names, weight in weights.items())
    assert np.allclose(mean, contrasts.least_squares(raw, variances)["a", "b"].sum(axis=0))


def test_shrinking_keeps_the_margins_and_helps_where_nothing_depends() -> None:
    rng = np.random.default_rng(4)
    first, second = np.full(5, 0.2), np.full(6, 1 / 6)
    truth, raw_error, shrunk_error = np.outer(first, second), 0.0, 0.0
    for _ in range(200):
        table = truth + 0.01 * contrasts.centred(rng.normal(size=(5, 6)))
        shrunk = contrasts.towards_independence(table, first, second, 0.01**2)
        assert np.allclose(shrunk.sum(axis=1), first)
        raw_error += ((table - truth) ** 2).sum()
        shrunk_error += ((shrunk - truth) ** 2).sum()
    assert shrunk_error < 0.3 * raw_error


def test_a_small_interaction_is_not_shrunk() -> None:
    table = np.array([[0.4, 0.1], [0.2, 0.3]])
    first, second = table.sum(axis=1), table.sum(axis=0)
    assert np.allclose(contrasts.towards_independence(table, first, second, 1.0), table)


def test_scaling_gives_the_margins_and_no_negative_cell_also_where_a_row_is_empty() -> None:
    margins = [np.array([0.3, 0.7]), np.array([0.2, 0.5, 0.3])]
    for table in (np.array([[0.1, -0.2, 0.3], [0.4, 0.1, 0.0]]), np.array([[-0.1, -0.2, 0.0], [0.4, 0.1, 0.2]])):
        scaled = contrasts.scaled_to(table, *margins)
        assert (scaled >= 0).all()
        assert np.allclose(scaled.sum(axis=1), margins[0])
        assert np.allclose(scaled.sum(axis=0), margins[1])
