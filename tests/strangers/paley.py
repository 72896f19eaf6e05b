"""An oracle from outside: a value's messages are those that differ from it by a square (Paley's difference sets)."""

import itertools
from dataclasses import dataclass
from functools import cached_property

from bruit.laws import Listed, TwoLevelLaw
from bruit.oracles import SetOracle


@dataclass(frozen=True, kw_only=True)
class Paley(SetOracle):
    """Paley response: report a number that differs from one's own by a square, modulo a prime."""

    name = "PALEY"

    @cached_property
    def law(self) -> TwoLevelLaw:
        # Modulo a prime 4i + 3 there are 2i + 1 squares, and any two values share i messages.
        primes = (n for n in itertools.count(max(7, self.size)) if n % 4 == 3 and all(n % i for i in range(2, n)))
        prime = next(primes)
        squares = sorted({i * i % prime for i in range(1, prime)})
        rows = tuple(tuple((value + square) % prime for square in squares) for value in range(self.size))
        return TwoLevelLaw.calibrate(self.epsilon, Listed(prime, rows))
