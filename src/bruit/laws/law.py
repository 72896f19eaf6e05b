"""What every exact law has, whatever its shape."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Protocol

from bruit.laws.sets import Sets
from bruit.laws.words import Words
from bruit.rounding import log_ceiling


class Law(Protocol):
    """Whole-number weights of the messages that each value may send, and the ε that follows from them."""

    @property
    def shape(self) -> str:
        """The name of the shape on a card: two_level, bits, distance, leaning or mixed."""
        ...

    @property
    def sets(self) -> Sets | None:
        """Which messages support a value; None where a message belongs to no value."""
        ...

    @property
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one message under two values, exactly."""
        ...

    @property
    def epsilon(self) -> float:
        """Its logarithm, rounded up."""
        ...

    def row(self, code: int) -> list[Fraction]:
        """P(message | value) for all messages, exactly."""
        ...

    def sample(self, code: int, words: Words) -> int:
        """The message of one person, by random words that are used in order."""
        ...


class Loss(ABC):
    """The ε of a law, which is the logarithm of its largest ratio."""

    @property
    @abstractmethod
    def ratio(self) -> Fraction:
        """The largest ratio between the probabilities of one message under two values, exactly."""

    @property
    def epsilon(self) -> float:
        """Its logarithm, rounded up."""
        return log_ceiling(self.ratio)
