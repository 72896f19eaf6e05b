"""From reports to answers: tallies, estimates, intervals, consistency. Nothing here sees a person's value."""

from typing import TYPE_CHECKING

from bruit._renamed import answering
from bruit.estimation.consistent_tables import ConsistentTable, ConsistentTables
from bruit.estimation.cross_table import Independence, TableContrast, TableEstimate
from bruit.estimation.difference import Difference
from bruit.estimation.distribution import DistributionEstimate
from bruit.estimation.estimate import Consistent, Estimate
from bruit.estimation.number import NumberEstimate
from bruit.estimation.scale import MedianEstimate, ScaleEstimate
from bruit.estimation.support import ExclusiveSupportModel, SupportModel, Target, support_variance
from bruit.estimation.tally import RawTally, Tally

__all__ = [
    "Consistent",
    "ConsistentTable",
    "ConsistentTables",
    "Difference",
    "DistributionEstimate",
    "Estimate",
    "ExclusiveSupportModel",
    "Independence",
    "MedianEstimate",
    "NumberEstimate",
    "RawTally",
    "ScaleEstimate",
    "SupportModel",
    "TableContrast",
    "TableEstimate",
    "Tally",
    "Target",
    "support_variance",
]

if not TYPE_CHECKING:  # a checker would take any name then
    __getattr__ = answering(__name__)
