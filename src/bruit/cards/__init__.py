"""Cards: what a person's device needs to draw a report, in whole numbers, for any language."""

from typing import TYPE_CHECKING

from bruit._renamed import answering
from bruit.cards.card import Card, PublicQuestion, javascript
from bruit.cards.question import CardQuestion
from bruit.cards.vectors import Vector

__all__ = ["Card", "CardQuestion", "PublicQuestion", "Vector", "javascript"]

if not TYPE_CHECKING:  # a checker would take any name then
    __getattr__ = answering(__name__)
