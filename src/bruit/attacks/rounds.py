"""Attacks on people who are asked again: averaging their reports, and telling whose answer has changed.

Reports with fresh noise give the value away by their mean: after enough rounds the attacker names everybody's value.
The mean of reports of one memo gives only the memo away. The attack then stops at the best guess from the memo, which
the ε of the epoch bounds. A memo that stays hides a changed answer within its epoch; a memo that follows the answer
does not.

People are simulated, with equally frequent values, so that the attacks need no data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import _checks
from bruit.attacks.result import AttackResult, results_table, scored
from bruit.entropy import Randomness, Words
from bruit.errors import LimitError, ParameterError, ParameterTypeError
from bruit.oracles import Repeated
from bruit.tables import Column, Table, Tabular, counted, percent

Floats = NDArray[np.float64]

#: How many likelihoods are held at most.
MOST_NUMBERS = 1 << 24


@dataclass(frozen=True, kw_only=True, repr=False)
class Averaging(Tabular):
    """How often the value that a person's reports support most is the person's own, by number of rounds.

    Parameters
    ----------
    rounds
        After how many rounds.
    redrawn, memoised
        How often it is right, of people whose every report has fresh noise and of people who keep a memo.
    limit
        How often the best guess from the memo itself is right: no attack on memoised reports does better.
    baseline
        How often somebody is right who has not seen the reports.
    n
        How many people were attacked.
    """

    rounds: tuple[int, ...]
    redrawn: tuple[AttackResult, ...]
    memoised: tuple[AttackResult, ...]
    limit: float
    baseline: float
    n: int

    def table(self) -> Table:
        """After every number of rounds: columns rounds, redrawn, memoised, limit."""
        columns = [
            Column("rounds", list(self.rounds), write=str),
            Column("redrawn", [result.accuracy for result in self.redrawn], "fresh noise", write=_rate),
            Column("memoised", [result.accuracy for result in self.memoised], "with a memo", write=_rate),
            Column("limit", [self.limit] * len(self.rounds), "limit of a memo", write=_rate),
        ]
        title = f"Averaging the reports of {counted(self.n, 'person')}: whose value is named"
        return Table(title, columns, [f"blindly: {_rate(self.baseline)}"], {"baseline": self.baseline, "n": self.n})


def averaging(panel: Repeated, *, rounds: Sequence[int], n: int = 2000, rng: Randomness = None) -> Averaging:
    """Attack simulated people by all their reports together: with fresh noise, and with a memo.

    The attacker multiplies the likelihoods of the reports and names the likeliest value. That is the rule of Bayes for
    reports with fresh noise, and for memoised ones the mean of reports, by which people are known in practice.

    Parameters
    ----------
    panel
        How people are asked again.
    rounds
        After how many rounds to look, in increasing order.
    n
        How many people.
    rng
        As for every verb.

    Examples
    --------
    >>> import bruit
    >>> panel = Repeated(bruit.oracle("GRR", epsilon=1.0, k=10), epoch=2.0)
    >>> attack = averaging(panel, rounds=[1, 64], n=500, rng=7)
    >>> attack.redrawn[-1].accuracy > 0.8 > 0.6 > attack.memoised[-1].accuracy
    True
    """
    _check(panel)
    numbers = [_checks.integer(low=1, high=4096, rounds=number) for number in rounds]
    if not numbers or numbers != sorted(set(numbers)):
        raise ParameterError("rounds must be different whole numbers in increasing order.")
    values, codes, words = _people(panel, n, rng, 2 * numbers[-1] + 1)
    memos = panel.remember(codes, words.pop())
    scores = np.zeros((2, n, panel.oracle.size))
    results: tuple[list[AttackResult], list[AttackResult]] = ([], [])
    for number in range(1, numbers[-1] + 1):
        for way, reports in enumerate((panel.oracle.randomize(codes, words.pop()), panel.report(memos, words.pop()))):
            scores[way] += np.log(panel.oracle.likelihood(reports))
            if number in numbers:
                results[way].append(_named(scores[way], values, number))
    limit, size = panel.memo.guessability, panel.oracle.size
    return Averaging(
        rounds=tuple(numbers),
        redrawn=tuple(results[0]),
        memoised=tuple(results[1]),
        limit=limit,
        baseline=1 / size,
        n=n,
    )


def change_detection(panel: Repeated, *, rounds: int, n: int = 2000, rng: Randomness = None) -> Table:
    """How often, of somebody who changed the answer half-way through an epoch and somebody who did not, both are told.

    The attacker compares the reports before and after. There are three kinds of people: those whose every report has
    fresh noise, those who keep the memo, and those who draw another memo for another answer. A blind guess has 1/2.

    Parameters
    ----------
    panel
        How people are asked again.
    rounds
        How many rounds the epoch has, an even number.
    n
        How many pairs of people.
    rng
        As for every verb.

    Examples
    --------
    >>> import bruit
    >>> panel = Repeated(bruit.oracle("GRR", epsilon=2.0, k=10), epoch=4.0)
    >>> attack = change_detection(panel, rounds=16, n=500, rng=7)
    >>> [row["rate"] > 0.6 for row in attack.to_dict()["attacks"]]
    [True, False, True]
    """
    _check(panel)
    half, odd = divmod(_checks.integer(low=2, high=512, rounds=rounds), 2)
    if odd:
        raise ParameterError("rounds must be an even number: half before the change, half after it.")
    values, codes, words = _people(panel, n, rng, 8 * rounds + 8)
    # Everybody's other value: all of them equally often, and never the true one.
    shift = 1 + np.arange(n) // panel.oracle.size % (panel.oracle.size - 1)
    others = panel.oracle.codes_of((values + shift) % panel.oracle.size)
    memo, again, new = (panel.remember(people, words.pop()) for people in (codes, codes, others))
    oracle = panel.oracle

    def drawn(people: Any) -> Floats:
        return _support(oracle, [oracle.randomize(people, words.pop()) for _ in range(half)])

    def shown(memos: Any) -> Floats:
        return _support(oracle, [panel.report(memos, words.pop()) for _ in range(half)])

    pairs = {
        "fresh noise in every report": ((drawn(codes), drawn(codes)), (drawn(codes), drawn(others))),
        "one memo in the epoch": ((shown(memo), shown(memo)), (shown(again), shown(again))),
        "a memo for every answer": ((shown(memo), shown(memo)), (shown(again), shown(new))),
    }
    results = [_compared(name, *alike) for name, alike in pairs.items()]
    return results_table(f"Who changed the answer: {counted(n, 'pair')}, {counted(rounds, 'round')}", results)


def _check(panel: Any) -> None:
    if not isinstance(panel, Repeated):
        raise ParameterTypeError(
            "panel must be a Repeated oracle; of a plan, plan.panel.repeated has one by attribute."
        )


def _people(panel: Repeated, n: int, rng: Randomness, draws: int) -> tuple[NDArray[np.int64], Any, list[Words]]:
    """Values of simulated people, their codes, and words for their draws."""
    n, size = _checks.integer(low=1, n=n), panel.oracle.size
    if 2 * n * size > MOST_NUMBERS:
        raise LimitError(f"At most {MOST_NUMBERS // 2 // size:,} people with {size:,} values are attacked at a time.")
    values = np.arange(n) % size
    words = Words.resolve(rng, "rounds", panel.digest).split(draws)
    return values, panel.oracle.codes_of(values), words


def _named(scores: Floats, values: NDArray[np.int64], rounds: int) -> AttackResult:
    """How often the likeliest value is the true one; ties are broken by where a row stands, evenly over the values."""
    n, size = scores.shape
    # Rows of one rotation have every value once, so that a tie among all values is right once in as many.
    turn = (np.arange(n) // size)[:, None] + np.arange(size)[None, :]
    rotated = np.take_along_axis(scores, turn % size, axis=1)
    guess = (rotated.argmax(axis=1) + np.arange(n) // size) % size
    text = f"value from {counted(rounds, 'round')}"
    return scored(guess == values, baseline=1 / size, description=text, level=0.95)


def _support(oracle: Any, reports: list[Any]) -> Floats:
    """How often each value is supported, by person."""
    return np.asarray(np.sum([oracle.supports(of_round) for of_round in reports], axis=0, dtype=float))


def _compared(name: str, stayed: tuple[Floats, Floats], changed: tuple[Floats, Floats]) -> AttackResult:
    """How often those who stayed are more alike before and after than those who changed; ties are settled by a coin."""
    alike, other = (_alikeness(*pair) for pair in (stayed, changed))
    coin = np.arange(alike.size) % 2 == 0
    right = (alike > other) | ((alike == other) & coin)
    return scored(right, baseline=0.5, description=name, level=0.95)


def _alikeness(before: Floats, after: Floats) -> Floats:
    middle = before.mean(axis=1, keepdims=True), after.mean(axis=1, keepdims=True)
    return np.asarray(((before - middle[0]) * (after - middle[1])).sum(axis=1))


def _rate(share: float) -> str:
    return percent(share, 1)
