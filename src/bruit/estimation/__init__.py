"""From reports to answers: tallies, estimates, intervals, consistency. Nothing here sees a person's value."""

from bruit.estimation.consistent_tables import ConsistentTable, ConsistentTables
from bruit.estimation.cross_table import Contrast, Independence, TableEstimate
from bruit.estimation.difference import Difference
from bruit.estimation.distribution import DistributionEstimate
from bruit.estimation.estimate import Consistent, Estimate
from bruit.estimation.number import NumberEstimate
from bruit.estimation.scale import Median, ScaleEstimate
from bruit.estimation.support import ExclusiveSupportModel, SupportModel, Target, support_variance
from bruit.estimation.tally import RawTally, Tally

__all__ = [
    "Consistent",
    "ConsistentTable",
    "ConsistentTables",
    "Contrast",
    "Difference",
    "DistributionEstimate",
    "Estimate",
    "ExclusiveSupportModel",
    "Independence",
    "Median",
    "NumberEstimate",
    "RawTally",
    "ScaleEstimate",
    "SupportModel",
    "TableEstimate",
    "Tally",
    "Target",
    "support_variance",
]
