"""Central statistics with exact noise, booked in a ledger before the noise is drawn."""

from typing import TYPE_CHECKING

from bruit._renamed import answering
from bruit.releases.above_threshold import AboveThreshold, AboveThresholdSession
from bruit.releases.continual import ContinualCount, ContinualSeries
from bruit.releases.counts import Count, Histogram
from bruit.releases.declared import Declaration
from bruit.releases.exponential import Exponential
from bruit.releases.groups import DeclaredGroups, NoGroups, SelectedGroups
from bruit.releases.inverse_sensitivity import InverseSensitivity
from bruit.releases.kept import Kept, publish_once
from bruit.releases.laws import ChoiceLaw, FirstAboveLaw, NamedLaw, OutcomeLaw, Stretch, SumLaw, TreeLaw
from bruit.releases.lengths import LengthFunction
from bruit.releases.limits import LimitsChoice, LimitsGuide, choose_limits
from bruit.releases.moments import Mean, Sum, Variance
from bruit.releases.noise import DiscreteGaussian, DiscreteLaplace, Noise
from bruit.releases.person import PeopleWarning, Person
from bruit.releases.power_bounds import PowerBounds
from bruit.releases.quantiles import HistogramQuantiles, Median, Quantiles
from bruit.releases.release import Release, release
from bruit.releases.result import Result, Results
from bruit.releases.selection import SelectionNoise
from bruit.releases.staircase import StaircaseNoise
from bruit.releases.statistic import AdditiveStatistic, Statistic
from bruit.releases.tables import Tables, TablesResult
from bruit.releases.weighted import WeightedMean, WeightedSum
from bruit.releases.widths import Within

__all__ = [
    "AboveThreshold",
    "AboveThresholdSession",
    "AdditiveStatistic",
    "ChoiceLaw",
    "ContinualCount",
    "ContinualSeries",
    "Count",
    "Declaration",
    "DeclaredGroups",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "FirstAboveLaw",
    "Histogram",
    "HistogramQuantiles",
    "InverseSensitivity",
    "Kept",
    "LengthFunction",
    "LimitsChoice",
    "LimitsGuide",
    "Mean",
    "Median",
    "NamedLaw",
    "NoGroups",
    "Noise",
    "OutcomeLaw",
    "PeopleWarning",
    "Person",
    "PowerBounds",
    "Quantiles",
    "Release",
    "Result",
    "Results",
    "SelectedGroups",
    "SelectionNoise",
    "StaircaseNoise",
    "Statistic",
    "Stretch",
    "Sum",
    "SumLaw",
    "Tables",
    "TablesResult",
    "TreeLaw",
    "Variance",
    "WeightedMean",
    "WeightedSum",
    "Within",
    "choose_limits",
    "publish_once",
    "release",
]

if not TYPE_CHECKING:  # a checker would take any name then
    __getattr__ = answering(__name__)
