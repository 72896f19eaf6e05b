"""The card of a plan: the questions, their laws and fakes, and how the attributes of a person are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bruit.cards import Card
from bruit.cards.card import PublicQuestion
from bruit.cards.question import texts

if TYPE_CHECKING:
    from bruit.collection.plan import Plan


def card(plan: Plan) -> Card:
    """What a person's device needs to answer the plan."""
    design = plan.design
    clear = tuple(PublicQuestion(name, texts(attribute.labels)) for name, attribute in plan.public.items())
    return Card(plan.digest, plan.kind, tuple(design.question(name) for name in plan.schema), design.draws, clear)
