"""The card of a plan: the questions, their laws and fakes, and how the attributes of a person are drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bruit.cards import Card, Question
from bruit.collection.fake import Fake
from bruit.collection.sample import Sample

if TYPE_CHECKING:
    from bruit.collection.plan import Plan


def card(plan: Plan) -> Card:
    """What a person's device needs to answer the plan."""
    design = plan.design
    questions = tuple(found.question(name, plan.schema[name].labels) for name, found in design.mechanisms.items())
    if isinstance(design, Fake):
        questions = tuple(_faked(design, question) for question in questions)
    weights = tuple(design.weights.values()) if isinstance(design, Sample) else None
    return Card(plan.digest, plan.kind, questions, weights)


def _faked(design: Fake, question: Question) -> Question:
    column = design.columns[question.name]
    return replace(question, fake=column.fake, prior=column.weights)
