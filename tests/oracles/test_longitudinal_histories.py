"""The exact ε of T reports of every longitudinal protocol with a name: all values, all pairs of histories, all reports.

A protocol is written out here as: what is public and drawn first (hash functions, held buckets), from which kind of
memo a value shows, the law of each kind, and the step from a memo to a report. A name that is not in `STATED` fails.
"""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from bruit.oracles import PANELS, DBitFlip, RandomizedResponse
from bruit.oracles.longitudinal import protocol

#: Names that `panel` has no second step for.
OTHERS = ("dBitFlipPM",)


class Written(NamedTuple):
    """A protocol as its definition has it.

    `kinds` maps values to kinds, one map for each public draw. `rows` is P(memo | kind), `step` P(report | memo).
    A memo is drawn of the kind of the first value and kept, or, where `follows`, once for each kind.
    """

    kinds: list[tuple[int, ...]]
    rows: np.ndarray
    step: np.ndarray
    follows: bool


def floats(table):
    return np.array([[float(chance) for chance in row] for row in table])


def shown(keep, messages):
    return keep * np.eye(messages) + (1 - keep) / messages


def bits_of(size):
    return [tuple(message >> place & 1 for place in range(size)) for message in range(2**size)]


def bit_step(size, own, other):
    """P(report | memo) of bits that are shown one by one: a set bit as 1 with `own`, a clear one with `other`."""
    chance = {(1, 1): own, (1, 0): 1 - own, (0, 1): other, (0, 0): 1 - other}
    return np.array(
        [[math.prod(chance[pair] for pair in zip(m, y, strict=True)) for y in bits_of(size)] for m in bits_of(size)]
    )


def of_first_value(design):
    k, rows = design.oracle.size, floats(design.memo.matrix())
    if isinstance(design.oracle, RandomizedResponse):
        step = shown(float(design.panel.keep), k)
    elif design.second is not None:
        step = bit_step(k, float(design.second.p), float(design.second.q))
    else:
        flip = (1 - float(design.panel.keep)) / 2
        step = bit_step(k, 1 - flip, flip)
    return Written([tuple(range(k))], rows, step, follows=False)


def of_hashing(design):
    own, k = design.panel, design.oracle.size
    g, law = own.buckets, own.memo_law
    rows = np.array([[float(law.probability(inside=m == c)) for m in range(g)] for c in range(g)])
    functions = list(itertools.product(range(g), repeat=k))
    return Written(functions, rows, shown(float(own.keep), g), follows=True)


def of_bits(own):
    p, d = float(own.law.p), own.held
    rows = np.array([[math.prod(p if y == (c == i) else 1 - p for i, y in enumerate(m)) for m in bits_of(d)]
                     for c in range(d + 1)])  # fmt: skip
    subsets = itertools.combinations(range(own.buckets), d)
    kinds = [tuple(held.index(c) if c in held else d for c in range(own.buckets)) for held in subsets]
    return Written(kinds, rows, np.eye(2**d), follows=True)


class Statement(NamedTuple):
    """A design, what it is by definition, and what it states of T reports: any two histories, and values that stay."""

    written: Written
    anything: Any
    unchanged: Any
    exact: bool = True


def named(name, k, report=1.0, epoch=2.0):
    if name == "dBitFlipPM":
        own = DBitFlip(epsilon=report, held=min(2, k - 1), k=k)
        return Statement(of_bits(own), own.loss, lambda rounds: own.unchanged(rounds).epsilon)
    design = protocol(name, report, epoch, k=k)
    after = lambda rounds: design.after(rounds).epsilon  # noqa: E731
    if "LOLOHA" in name:
        stays = lambda rounds: design.panel.unchanged(rounds).epsilon  # noqa: E731
        return Statement(of_hashing(design), after, stays, exact=k >= design.panel.buckets)
    return Statement(of_first_value(design), after, after)


#: Every name, and the ε at which it is looked at beside (1, 2).
STATED: dict[str, tuple[float, float]] = {
    "L-SUE": (0.9, 1.0),
    "L-OSUE": (0.9, 1.0),
    "L-GRR": (0.9, 1.0),
    "L-ADP": (0.3, 1.0),
    "LOLOHA": (0.5, 1.0),
    "BiLOLOHA": (1.9, 2.0),
    "L-OUE": (0.5, 1.0),
    "L-SOUE": (0.5, 1.0),
    "dBitFlipPM": (3.0, 3.0),
}


# Enumeration.


def joint(written, memos):
    """P(all reports), where memos[t] is the memo that round t shows: its number and its kind."""
    parts, axes = [], []
    for memo in dict.fromkeys(memos):
        rounds = [place for place, other in enumerate(memos) if other == memo]
        part = written.rows[memo[1]]
        for _ in rounds:
            part = part[..., None] * written.step.reshape(len(written.step), *[1] * (part.ndim - 1), -1)
        parts.append(part.sum(axis=0))
        axes += rounds
    table = parts[0]
    for part in parts[1:]:
        table = np.multiply.outer(table, part)
    return np.transpose(table, np.argsort(axes)).ravel()


def kept(written, history):
    return tuple((kind, kind) if written.follows else (0, history[0]) for kind in history)


def redrawn(_, history):
    return tuple(enumerate(history))


def of_current_value(_, history):
    return tuple((kind, kind) for kind in history)


def largest(written, rounds, rule=kept, *, stays=False):
    """The largest loss over all public draws, pairs of histories of values, and reports."""
    worst = 0.0
    for kinds in written.kinds:
        values = itertools.product(range(len(kinds)), repeat=1 if stays else rounds)
        histories = {tuple(kinds[value] for value in (history * rounds if stays else history)) for history in values}
        laws = np.array([joint(written, memos) for memos in {rule(written, history) for history in histories}])
        laws = laws[:, laws.any(axis=0)]
        if (laws == 0).any():
            return math.inf
        worst = max(worst, float(np.log(laws.max(axis=0) / laws.min(axis=0)).max()))
    return worst


def holds(statement, rounds, rule=kept):
    """Whether what is stated is what the enumeration has; a bound, where it is said to be one."""
    for stays, stated in ((False, statement.anything(rounds)), (True, statement.unchanged(rounds))):
        loss = largest(statement.written, rounds, rule, stays=stays)
        if stated == loss:
            continue
        rounding = 1e-10 * min(stated, loss)
        if stated < loss - rounding or ((statement.exact or stays) and stated > loss + rounding):
            return False
    return True


def test_every_name_is_enumerated():
    assert set(STATED) == {*PANELS, *OTHERS}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", STATED)
def test_what_is_stated_of_rounds_is_the_largest_loss_over_all_pairs_of_histories(name, k):
    for pair in ((1.0, 2.0), STATED[name]):
        statement = named(name, k, *pair)
        for rounds in (1, 2, 3, 4):
            assert holds(statement, rounds), (pair, rounds)


@pytest.mark.parametrize("name", STATED)
def test_a_memo_redrawn_in_every_round_is_caught(name):
    statement = named(name, 3)
    loss = largest(statement.written, 4, redrawn, stays=True)
    assert loss > statement.unchanged(4) + 0.5
    assert not holds(statement, 4, redrawn)


@pytest.mark.parametrize("name", [name for name in STATED if name not in ("LOLOHA", "BiLOLOHA", "dBitFlipPM")])
def test_a_memo_that_follows_the_current_value_is_caught(name):
    statement = named(name, 3, *STATED[name])
    assert not holds(statement, 3, of_current_value)
    assert largest(statement.written, 3, of_current_value) > statement.anything(3) + 0.03


@pytest.mark.parametrize("name", ["L-SUE", "L-OSUE", "L-OUE", "L-SOUE", "dBitFlipPM"])
def test_a_client_that_never_clears_the_bit_of_the_value_is_caught(name):
    statement = named(name, 3)
    rows = statement.written.rows.copy()
    messages = np.arange(rows.shape[1])
    for kind in range(len(rows)):
        own = (messages >> kind & 1).astype(bool)
        if own.any():  # the values in no held bucket have no bit
            rows[kind, own], rows[kind, ~own] = rows[kind, own] / rows[kind, own].sum(), 0.0
    planted = statement._replace(written=statement.written._replace(rows=rows))
    assert largest(planted.written, 4, stays=True) > statement.unchanged(4) + 0.5
    assert not holds(planted, 4)


def test_one_held_bit_stated_at_the_whole_epsilon_is_caught():
    """As published: the bit of two held buckets for one, at ε."""
    own = DBitFlip.as_published(epsilon=1.0, held=1, k=3)
    assert largest(of_bits(own), 1) == pytest.approx(own.guarantee.epsilon) == pytest.approx(0.5)
    assert not holds(Statement(of_bits(own), lambda _: 1.0, lambda _: 1.0), 1)


def test_the_published_claim_of_buckets_is_no_bound_of_five_rounds():
    statement = named("BiLOLOHA", 2)
    assert largest(statement.written, 5) == pytest.approx(statement.anything(5))
    assert largest(statement.written, 4) < 2 * 2.0 < largest(statement.written, 5)
