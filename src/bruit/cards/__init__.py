"""Cards: what a person's device needs to draw a report, in whole numbers, for any language."""

from bruit.cards.card import Card, PublicQuestion, javascript
from bruit.cards.question import Question
from bruit.cards.vectors import Vector

__all__ = ["Card", "PublicQuestion", "Question", "Vector", "javascript"]
