"""Which longitudinal protocol to take: every published name with its variance, its real ε and what it stores."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bruit import _checks
from bruit.errors import LimitError, ParameterError
from bruit.estimation import intervals
from bruit.oracles.base import Oracle
from bruit.oracles.choosing import Ranking
from bruit.oracles.longitudinal import PANELS, Protocol, protocol
from bruit.oracles.longitudinal_hashing import LongitudinalHashing
from bruit.oracles.named import oracle
from bruit.oracles.repeated import ROUNDS_LIMIT, Repeated
from bruit.privacy.composition import sequential
from bruit.tables import Column, Table, counted, digits, upwards

#: What has no memo of an epoch, or is for a number, and so is no row.
_APART = (
    "dBitFlipPM (bruit.oracles.DBitFlip) and 1BitMean (bruit.collection.LongitudinalMean, for a number) are not among "
    "these"
)
_FIRST = "keeps the first value"
#: What the variance of a row leaves out where a first value is kept.
_FIRST_VALUES = "what keeps the first value estimates first values: Var* does not count that values moved since"
#: The row to compare with: reports without a memo, each with all of ε₁.
FRESH = "fresh OUE"
#: L-ADP is one of two others: it is no row, and a note says which.
_ADAPTIVE = "L-ADP"


@dataclass(frozen=True)
class PanelChoice:
    """One published protocol and what it would cost.

    Parameters
    ----------
    name
        Its name in the literature, or `FRESH`.
    oracle
        What one report is.
    panel
        The panel, ready to use; None for a protocol that is offered for one round, and for fresh reports.
    variance
        Var* of one round with n people: of a value that nobody has.
    mean_variance
        The same of the mean over all rounds, of values that do not change.
    report_epsilon, rounds_epsilon, epoch_epsilon
        What one report tells, what all rounds tell, and what any number of reports tells; None where that has no limit.
    stored_bytes
        What a person stores: for one epoch, or permanently where changes are followed.
    changes
        What happens when a value changes.
    """

    name: str
    oracle: Oracle
    panel: Repeated | LongitudinalHashing | None
    variance: float
    mean_variance: float
    report_epsilon: float
    rounds_epsilon: float
    epoch_epsilon: float | None
    stored_bytes: float
    changes: str


class PanelRanking(Ranking[PanelChoice]):
    """Published protocols, the least variance of the mean over rounds first, and `FRESH`; prints as a table.

    Attributes
    ----------
    left_out
        Protocols that cannot serve here, with the reason.
    """

    def __init__(self, rows: list[PanelChoice], *, n: int, rounds: int, left_out: dict[str, str]) -> None:
        ordered = sorted(rows, key=lambda row: (row.name == FRESH, row.mean_variance))
        super().__init__(ordered, n=n, left_out=left_out)
        self.rounds = rounds

    @property
    def best(self) -> Repeated:
        """The panel of least variance whose ε has a limit."""
        return next(row.panel for row in self if isinstance(row.panel, Repeated))

    def table(self) -> Table:
        """Every protocol with its variance, its ε and what it stores."""
        columns = [
            Column("protocol", self._field("name"), kind="label", write=str),
            Column("variance", self._field("variance"), "Var* of a round", write=digits(3)),
            Column("mean_variance", self._field("mean_variance"), "of the mean", write=digits(3)),
            Column("half_width", [_half_width(row) for row in self], hidden=True),
            Column("report_epsilon", self._field("report_epsilon"), "ε of one", write=upwards(3)),
            Column("rounds_epsilon", self._field("rounds_epsilon"), f"ε of {self.rounds}", write=upwards(3)),
            Column("epoch_epsilon", self._field("epoch_epsilon"), "at most", write=_limit),
            Column("stored_bytes", self._field("stored_bytes"), "bytes kept"),
            Column("changes", self._field("changes"), "when values change", kind="text", write=str),
        ]
        title = f"Protocols for {counted(self.n, 'person')} in {counted(self.rounds, 'round')}, by Var* of the mean"
        about = {"n": self.n, "rounds": self.rounds, "left_out": self.left_out}
        return Table(title, columns, self._notes(), about, noun="protocol")

    def _notes(self) -> list[str]:
        left_out = [f"left out: {name} ({reason})" for name, reason in self.left_out.items()]
        return [*_advice({row.name: row for row in self}), *left_out]


def choose_panel(k: int, epsilon: float, n: int | None = None, *, epoch_epsilon: float, rounds: int) -> PanelRanking:
    """The longitudinal protocols of `PANELS` for k values, ranked by the variance of the mean over rounds.

    `choose` with rounds ranks all oracles with memos, also those without a published name: SS often has the least
    variance of a round.

    Parameters
    ----------
    k, epsilon
        The number of values, and the most that one report may tell.
    n
        How many people will answer; 10,000 by default.
    epoch_epsilon, rounds
        The most that all reports of an epoch may tell, and how many rounds it has.

    Examples
    --------
    >>> ranking = choose_panel(10, 1.0, 1, epoch_epsilon=2.0, rounds=4)
    >>> {row.name: round(row.variance, 2) for row in ranking if row.panel}
    {'L-OSUE': 3.68, 'L-SUE': 3.92, 'LOLOHA': 4.2, 'BiLOLOHA': 4.68, 'L-GRR': 9.77}
    """
    people = 10_000 if n is None else _checks.integer(low=1, n=n)
    rounds = _checks.integer(low=1, high=ROUNDS_LIMIT, rounds=rounds)
    _checks.domain_size(k=k)
    rows: list[PanelChoice] = []
    left_out: dict[str, str] = {}
    for name in PANELS:
        if name == _ADAPTIVE:
            continue
        try:
            design = protocol(name, epsilon, epoch_epsilon, k=k)
        except LimitError as error:
            left_out[name] = str(error)
        except ParameterError as error:
            if name not in str(error):
                raise
            left_out[name] = str(error)
        else:
            rows.append(_weigh(name, design, people, rounds))
    fresh = _without_memo(oracle("OUE", epsilon=epsilon, k=k), people, rounds)
    return PanelRanking([*rows, fresh], n=people, rounds=rounds, left_out=left_out)


def _weigh(name: str, design: Protocol, n: int, rounds: int) -> PanelChoice:
    follows = isinstance(design.panel, LongitudinalHashing)
    whole, memo = (step.typical_variance(0.0, n) for step in (design.oracle, design.memo))
    return PanelChoice(
        name=name,
        oracle=design.oracle,
        panel=design.panel,
        variance=whole,
        # (V − W)/T + W, where W is that of the memo, which does not average out.
        mean_variance=(whole - memo) / rounds + memo,
        report_epsilon=design.after(1).epsilon,
        rounds_epsilon=design.after(rounds).epsilon,
        epoch_epsilon=None if follows else design.memo.guarantee.epsilon,
        stored_bytes=float(getattr(design.panel, "stored_bytes", design.memo.report_bytes)),
        changes="follows them"
        if follows
        else "keeps the first value" + ("" if design.panel else "; offered for one round"),
    )


def _without_memo(report: Oracle, n: int, rounds: int) -> PanelChoice:
    """Reports that have nothing to do with each other: their ε adds up, and their noise averages out."""
    variance = report.typical_variance(0.0, n)
    return PanelChoice(
        name=FRESH,
        oracle=report,
        panel=None,
        variance=variance,
        mean_variance=variance / rounds,
        report_epsilon=report.guarantee.epsilon,
        rounds_epsilon=sequential([report.guarantee] * rounds).epsilon,
        epoch_epsilon=None,
        stored_bytes=0.0,
        changes="follows them",
    )


def _limit(epsilon: float | None) -> str:
    return "grows" if epsilon is None else upwards(3)(epsilon)


def _half_width(row: PanelChoice) -> float:
    """Of the 95 % interval of the mean over rounds."""
    return intervals.normal_quantile(0.95) * math.sqrt(row.mean_variance)


def _advice(rows: dict[str, PanelChoice]) -> list[str]:
    """What L-ADP takes, what exact calibration saves, and what the papers' ε of LOLOHA leaves out."""
    direct, bits = rows.get("L-GRR"), rows["L-OSUE"]
    taken = "L-GRR" if direct is not None and direct.variance <= bits.variance else "L-OSUE"
    exact = {"L-GRR": "Repeated GRR", "LOLOHA": "LongitudinalHashing of OLH"}
    notes = [_saving(rows[name], bits, better) for name, better in exact.items() if name in rows]
    return [f"{_ADAPTIVE} takes {taken} here", *filter(None, notes), *_claims(rows), _FIRST_VALUES, _APART]


def _saving(row: PanelChoice, bits: PanelChoice, better: str) -> str:
    """What the exact second step saves at the ε that was asked for; nothing where the published one is exact."""
    allowed = bits.oracle.epsilon
    if row.report_epsilon > allowed * (1 - 1e-6):
        return ""
    plain = oracle("GRR" if row.name == "L-GRR" else "OLH", epsilon=allowed, k=row.oracle.size)
    share = plain.typical_variance(0.0, 1) / row.oracle.typical_variance(0.0, 1)
    return (
        f"one report of {row.name} tells {upwards(3)(row.report_epsilon)} where {allowed:.3g} is allowed; {better}, "
        f"calibrated exactly, has {share:.2g} of its variance in a round"
    )


def _claims(rows: dict[str, PanelChoice]) -> list[str]:
    """What the papers state of designs that follow changes."""
    claims = [
        f"{row.panel.published_claim:g} for {row.name}"
        for row in rows.values()
        if isinstance(row.panel, LongitudinalHashing)
    ]
    if not claims:
        return []
    return [
        f"the papers state an ε of {' and '.join(claims)}, which holds only between histories whose buckets are equal "
        "at the same pairs of rounds; the function links all reports of a person",
        f"for people who never change all their reports tell {_unchanged(rows)} at most; for others compare the ε of "
        f"all rounds with that of {FRESH}",
    ]


def _unchanged(rows: dict[str, PanelChoice]) -> str:
    """What all rounds of a person who never changes tell."""
    memos = [row.panel.memo.guarantee.epsilon for row in rows.values() if isinstance(row.panel, LongitudinalHashing)]
    return upwards(3)(max(memos))
