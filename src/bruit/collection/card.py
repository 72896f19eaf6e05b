"""The card of a plan: the questions, their laws and fakes, and how the attributes of a person are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bruit.cards import Card

if TYPE_CHECKING:
    from bruit.collection.plan import Plan


def card(plan: Plan) -> Card:
    """What a person's device needs to answer the plan."""
    design = plan.design
    if plan.rounds is not None:
        questions = tuple(plan.panel.question(name) for name in plan.schema)
        return Card(plan.digest, plan.kind, questions, design.draws, plan.rounds, plan.epochs)
    return Card(plan.digest, plan.kind, tuple(design.question(name) for name in plan.schema), design.draws)
