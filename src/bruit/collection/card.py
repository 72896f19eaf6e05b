"""The card of a plan: the questions, their laws and fakes, and how the attributes of a person are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bruit.cards import Card
from bruit.cards.card import PublicQuestion
from bruit.cards.question import texts
from bruit.collection import rotation
from bruit.errors import ParameterError

if TYPE_CHECKING:
    from bruit.collection.plan import Plan


def card(plan: Plan) -> Card:
    """What a person's device needs to answer the plan."""
    rotation.check_alone(plan.design, "A device answers alone")
    return assigned_card(plan)


def assigned_card(plan: Plan) -> Card:
    """The same, also where somebody else assigns the question of each person: the issuer of personal links."""
    design = plan.design
    if plan.repeat is not None and plan.repeat.follow_changes:
        raise ParameterError("A card has one memo in an epoch: leave follow_changes out.")
    if design.card_kind is None:
        raise ParameterError(
            f"A card draws one question or asks all, so that {plan.method} has none: take SMP[…] or SPL[…] where "
            "people answer on devices of their own."
        )
    clear = tuple(PublicQuestion(name, texts(attribute.labels)) for name, attribute in plan.public.items())
    asking = design if plan.repeat is None else plan.panel
    questions = tuple(asking.question(name) for name in design.questions)
    method: Any = design.card_kind  # a card checks it
    rounds, epochs = (None, None) if plan.repeat is None else (plan.repeat.rounds, plan.repeat.epochs)
    return Card(plan.digest, method, questions, design.draws, clear, rounds, epochs)
