"""An oracle from outside with a bit per value: one's own is set two times in three."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from bruit.laws import BitsLaw, Subset
from bruit.oracles import BitOracle


@dataclass(frozen=True, kw_only=True)
class Thirds(BitOracle):
    """Two thirds: one bit per value, one's own set two times in three."""

    name = "THIRDS"

    @cached_property
    def law(self) -> BitsLaw:
        return BitsLaw.calibrate(self.epsilon, Subset(values=self.size), own=Fraction(2, 3))
