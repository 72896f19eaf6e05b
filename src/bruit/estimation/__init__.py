"""From reports to answers: tallies, estimates, intervals, consistency. Nothing here sees a person's value."""

from bruit.estimation.distribution import DistributionEstimate
from bruit.estimation.estimate import Consistent, Estimate
from bruit.estimation.number import NumberEstimate
from bruit.estimation.support import ExclusiveSupportModel, SupportModel, Target, support_variance
from bruit.estimation.tally import RawTally, Tally

__all__ = [
    "Consistent",
    "DistributionEstimate",
    "Estimate",
    "ExclusiveSupportModel",
    "NumberEstimate",
    "RawTally",
    "SupportModel",
    "Tally",
    "Target",
    "support_variance",
]
