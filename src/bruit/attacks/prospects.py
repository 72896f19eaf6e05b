"""What to expect of a plan before anybody is asked: errors of estimates, risks of people, and promises.

All of it is about simulated people, whose values are all equally frequent or follow the prior. It stands beside the
attacks, because what a plan gives away is measured by them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from bruit import _checks
from bruit.attacks.risks import risks
from bruit.collection import Plan, compare_groups
from bruit.collection.cross_tables import expected_cells
from bruit.collection.mechanisms import metric_facts, metric_of
from bruit.collection.prior import Prior
from bruit.collection.uniform_guess import few_people, people_to_beat_uniform, reference
from bruit.estimation import intervals
from bruit.privacy.guarantee import Guarantee, in_lines
from bruit.tables import Column, Table, counted, decimals, percent

#: With fewer people than this in a group, if all groups are alike, some groups have hardly anybody.
FEW_PER_STRATUM = 10
#: The most answers of a question whose shares are compared between groups.
FEW_ANSWERS = 8


def prospects(plan: Plan, n: int, *, prior: Prior | None = None, from_data: bool = False) -> Prospects:
    """What a plan would estimate, and what it would give away, with n people.

    Parameters
    ----------
    plan
        The plan.
    n
        How many people answer.
    prior
        The prior of its fakes, if it was estimated from an earlier round: who was asked then is promised less.
    from_data
        Whether the schema was read from data.

    Examples
    --------
    >>> from bruit import Plan
    >>> expected = prospects(Plan({"smokes": ["no", "yes"]}, 1.0, "GRR"), n=10_000)
    >>> round(expected.attributes[0]["half_width"], 3), round(expected.attributes[0]["guessed"], 3)
    (0.021, 0.731)
    """
    _checks.integer(low=1, n=n)
    computed = [risk.to_dict() for risk in risks(plan, _frequencies(plan))]
    guesses = {risk["attribute"]: risk for risk in computed if risk["attribute"] is not None}
    others = [risk for risk in computed if risk["attribute"] is None]
    return Prospects(plan, n, _attributes(plan, n, guesses), others, prior, from_data)


def promises(plan: Plan) -> list[str]:
    """What is done with the questions of a person, and what that guarantees, in lines."""
    if len(plan.schema) == 1:
        return in_lines(plan.guarantee, metric_of(plan.mechanisms))
    return [
        plan.method.in_words(len(plan.schema)),
        f"guarantee for all answers of a person: {plan.guarantee}",
        f"guarantee for one answer: {plan.guarantees['attribute']}",
    ]


@dataclass(frozen=True)
class Prospects:
    """What a plan would give, and what it would give away; `prospects` computes it.

    Parameters
    ----------
    plan, n
        As in `prospects`.
    attributes
        One mapping for each attribute: its values, mechanism, half-width of a 95 % interval, how often it is guessed,
        and how many people it takes for an estimate to be nearer to the truth than the uniform guess.
    risks
        The other attacks, as `Risk.to_dict` has them.
    prior, from_data
        As in `prospects`.
    """

    plan: Plan
    n: int
    attributes: list[dict[str, Any]]
    risks: list[dict[str, Any]]
    prior: Prior | None = None
    from_data: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plan, both = self.plan, self._both_rounds
        return {
            "method": str(plan.method),
            "unit": plan.unit,
            "people": self.n,
            "attributes": self.attributes,
            "risks": self.risks,
            "population": "prior" if plan.method.known_frequencies() else "uniform",
            "uniform_guess_for": reference(plan),
            "sent_in_clear": list(plan.public),
            "people_to_see_30_against_20": self._people_by_design,
            "schema_from_data": self.from_data,
            "guarantee": plan.guarantee.to_dict(),
            "guarantee_of_an_attribute": plan.guarantees["attribute"].to_dict(),
            **metric_facts(plan.mechanisms),
            **self._rounds,
            "guarantee_of_both_rounds": both and both.to_dict(),
            "digest": plan.digest,
        }

    @property
    def tables(self) -> list[Table]:
        """The attributes, the tables that are asked for, and the other attacks; notes stand under the last."""
        plan = self.plan
        notes = [self._remark, *few_people(plan, self.n), *self._promises]
        notes += [_in_clear(plan, self.n)] if plan.public else []
        notes += self._groups_seen
        notes += [f"who was asked for the prior too: {self._both_rounds}"] if self._both_rounds else []
        tables = [self._attribute_table(), *self._cell_tables(), *([self._risk_table()] if self.risks else [])]
        return [*tables[:-1], replace(tables[-1], notes=notes)]

    @property
    def warning(self) -> str:
        """That what is sent in clear would single people out; nothing if it would not."""
        groups = self.plan.records.size
        if not self.plan.public or self.n >= FEW_PER_STRATUM * groups:
            return ""
        return (
            f"{counted(self.n, 'person')} in {counted(groups, 'group')}: what is sent in clear would single "
            "people out. Declare fewer, wider values of what is public."
        )

    @property
    def _both_rounds(self) -> Guarantee | None:
        """What is promised to those who are asked for the prior and by the plan."""
        return None if self.prior is None else self.prior.both_rounds(self.plan.guarantee)

    @property
    def _groups_seen(self) -> list[str]:
        """How many people it takes to see a difference between two groups, where this plan can show one."""
        plan, alone = self.plan, self._people_by_design
        if alone is None:
            return []
        own, other = ("clear", "joint") if plan.public else ("joint", "clear")
        ways = {"clear": "with the group in clear", "joint": "with group and answer as one question"}
        needed = f"To see 30 % against 20 % in two groups takes {counted(alone[own], 'person')} {ways[own]}"
        instead = f"It would take {alone[other]:,} {ways[other]}, and {alone['split']:,} with half of ε for each."
        drawn = math.ceil(round(1 / self._drawn, 6))
        what = "attributes" if plan.public else "tables"
        as_here = f", and {drawn} times as many here, where each person reports on one of several {what}"
        return [f"{needed}{as_here if drawn > 1 else ', as here'} (80 % power, 5 % level). {instead}"]

    @property
    def _people_by_design(self) -> dict[str, int] | None:
        """People to see 30 % against 20 % in two groups, by how the group is known, at the ε of this plan."""
        plan = self.plan
        sizes = [attribute.size for attribute in plan.schema.values() if plan.design.gives(attribute.name) != "mean"]
        alone = plan.method.parts(len(plan.schema)) == 1 and not plan.design.hides
        shows = plan.design.counted_tables or (plan.public and alone)
        if not shows or not sizes or min(sizes) > FEW_ANSWERS or plan.repeat is not None:
            return None
        ways = compare_groups(0.3, 0.2, epsilon=plan.epsilon, power=0.8, answers=min(sizes))
        people = {row.design: row.n for row in ways.rows}
        return people if {"clear", "joint", "split"} <= set(people) else None

    @property
    def _drawn(self) -> float:
        """The least chance with which a person reports on what is compared."""
        design = self.plan.design
        if design.counted_tables and design.draws is not None:
            return min(design.draws) / sum(design.draws)
        return min(design.chance(name) for name in self.plan.schema)

    @property
    def _promises(self) -> list[str]:
        """What is guaranteed, in lines."""
        plan, repeat = self.plan, self.plan.repeat
        if repeat is None:
            return promises(plan)
        epochs = counted(repeat.epochs, "epoch")
        first = [f"one report: {plan.guarantees['report']}", f"two reports of an epoch: {plan.panel.after(2)}"]
        if repeat.follow_changes:
            return [
                *first,
                f"all {counted(repeat.rounds, 'round')} of {epochs}: {plan.guarantees['same-changes']}",
                f"all {counted(repeat.rounds, 'round')} of {epochs}, any two histories: {plan.guarantee}",
                "When somebody changes is not hidden: what holds for any two histories grows with every report.",
            ]
        return [
            *first,
            f"any number of reports of an epoch: {plan.guarantees['epoch']}",
            f"all {counted(repeat.rounds, 'round')} of {epochs}: {plan.guarantee}",
            f"all {counted(repeat.rounds, 'round')} of {epochs}: {plan.guarantees['attribute']}",
        ]

    @property
    def _rounds(self) -> dict[str, Any]:
        """What a document says of rounds."""
        plan, repeat = self.plan, self.plan.repeat
        if repeat is None:
            return {}
        return {
            "rounds": repeat.rounds,
            "epochs": repeat.epochs,
            "guarantee_of_a_report": plan.guarantees["report"].to_dict(),
            "guarantee_of_two_reports": plan.panel.after(2).to_dict(),
            **self._of_an_epoch,
        }

    @property
    def _of_an_epoch(self) -> dict[str, Any]:
        guarantees = self.plan.guarantees
        if self.plan.panel.follow_changes:
            return {"follow_changes": True, "guarantee_of_same_changes": guarantees["same-changes"].to_dict()}
        return {"guarantee_of_an_epoch": guarantees["epoch"].to_dict()}

    def _attribute_table(self) -> Table:
        rows = {name: [row[name] for row in self.attributes] for name in self.attributes[0]}
        columns = [
            Column("attribute", rows["attribute"], kind="label", write=str),
            Column("mechanism", rows["mechanism"], kind="text", write=str),
            Column("of", rows["of"], kind="text", write=str),
            Column("values", rows["values"]),
            Column("half_width", rows["half_width"], "95 % interval ±", write=decimals(4)),
            Column("guessed", rows["guessed"], write=_rate),
            *self._by_epoch(rows),
            Column("blindly", rows["blindly"], write=_rate),
        ]
        return Table(f"{self.plan.method}, expected with {counted(self.n, 'person')} {self._whose}", columns)

    def _cell_tables(self) -> list[Table]:
        """Every table that is asked for, with the error of a cell."""
        rows = expected_cells(self.plan.design, self.n)
        if not rows:
            return []
        columns = [
            Column("table", [row.title for row in rows], kind="label", write=str),
            Column("mechanism", [row.mechanism for row in rows], kind="text", write=str),
            Column("cells", [row.cells for row in rows]),
            Column("people", [row.people for row in rows], write=lambda n: f"{n:,.0f}"),
            Column("half_width", [row.half_width for row in rows], "95 % interval ±", write=decimals(4)),
        ]
        return [Table("", columns)]

    def _by_epoch(self, rows: dict[str, list[Any]]) -> list[Column]:
        if self.plan.repeat is None or self.plan.repeat.follow_changes:
            return []
        return [Column("guessed_by_epoch", rows["guessed_by_epoch"], "by epoch", write=_rate)]

    def _risk_table(self) -> Table:
        columns = [
            Column("attack", [row["attack"] for row in self.risks], "other attacks", "text", str),
            Column("rate", [row["rate"] for row in self.risks], "right", write=percent),
            Column("baseline", [row["baseline"] for row in self.risks], "blindly", write=percent),
        ]
        return Table("", columns)

    @property
    def _whose(self) -> str:
        return (
            "who follow the prior" if self.plan.method.known_frequencies() else "whose values are all equally frequent"
        )

    @property
    def _remark(self) -> str:
        read = "Beyond the schema, nothing" if self.from_data else "Nothing"
        return (
            f"Attacks on simulated people {self._whose}. {read} was read from data. Real people, with uneven and "
            "dependent values, may be told apart more often."
        )


def _in_clear(plan: Plan, people: int) -> str:
    """What is sent in clear, and how many groups it makes."""
    names, groups = ", ".join(plan.public), counted(plan.records.size, "group")
    share = f"about {people // plan.records.size:,}" if people >= plan.records.size else "fewer than one"
    return f"sent in clear: {names}; {groups}, with {share} of {counted(people, 'person')} each if all are alike"


def _rate(share: float | None) -> str:
    return "" if share is None else percent(share)


def _frequencies(plan: Plan) -> dict[str, Any] | None:
    """The population that the risks are about."""
    return plan.method.known_frequencies() or None


def _attributes(plan: Plan, n: int, guesses: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per attribute."""
    rows, needed = [], people_to_beat_uniform(plan)
    for name, variance in plan.variance(n, _frequencies(plan)).items():
        guess = guesses.get(name)
        size = plan.schema[name].size
        rows.append(
            {
                "attribute": name,
                "values": size,
                "mechanism": plan.design.mechanism_name(name),
                "of": plan.design.gives(name),
                "half_width": intervals.normal_quantile(0.95) * float(variance.mean()) ** 0.5,
                "guessed": guess and guess["rate"],
                "blindly": guess["baseline"] if guess else 1 / size,
                "people_to_beat_uniform": needed.get(name),
                **_guessed_by_epoch(plan, name),
            }
        )
    return rows


def _guessed_by_epoch(plan: Plan, name: str) -> dict[str, float]:
    """How often the best guess of an attacker who knows the memo is right, where all values are equally likely."""
    if plan.repeat is None or plan.repeat.follow_changes:
        return {}
    chance = plan.design.chance(name)
    memo = plan.panel.repeated[name].memo
    return {"guessed_by_epoch": chance * memo.guessability + (1 - chance) / memo.size}
