"""Central statistics with exact noise, booked in a ledger before the noise is drawn."""

from bruit.releases.above_threshold import AboveThreshold, AboveThresholdSession
from bruit.releases.accuracy import (
    Accuracy,
    Distribution,
    above_threshold_accuracy,
    accuracy,
    accuracy_as_printed,
    least_n,
    normal,
    uniform,
)
from bruit.releases.base import Books, CentralNeighbours, Release, fold_column
from bruit.releases.counts import Count, Histogram, count, histogram
from bruit.releases.exponential import Exponential
from bruit.releases.grouped import Grouped
from bruit.releases.histogram_method import DECILES, HistogramQuantiles
from bruit.releases.inverse_sensitivity import InverseSensitivity, inverse_sensitivity
from bruit.releases.lengths import LengthFunction, MeanLength, QuantileLength, Statistic, VarianceLength
from bruit.releases.moments import Mean, Sum, mean, sum
from bruit.releases.noise import DiscreteGaussian, DiscreteLaplace, Noise, discrete_gaussian, discrete_laplace
from bruit.releases.quantiles import Quantiles, quantiles
from bruit.releases.released import Released
from bruit.releases.staircase import StaircaseNoise, staircase
from bruit.releases.variance import Variance, variance

__all__ = [
    "DECILES",
    "AboveThreshold",
    "AboveThresholdSession",
    "Accuracy",
    "Books",
    "CentralNeighbours",
    "Count",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Distribution",
    "Exponential",
    "Grouped",
    "Histogram",
    "HistogramQuantiles",
    "InverseSensitivity",
    "LengthFunction",
    "Mean",
    "MeanLength",
    "Noise",
    "QuantileLength",
    "Quantiles",
    "Release",
    "Released",
    "StaircaseNoise",
    "Statistic",
    "Sum",
    "Variance",
    "VarianceLength",
    "above_threshold_accuracy",
    "accuracy",
    "accuracy_as_printed",
    "count",
    "discrete_gaussian",
    "discrete_laplace",
    "fold_column",
    "histogram",
    "inverse_sensitivity",
    "least_n",
    "mean",
    "normal",
    "quantiles",
    "staircase",
    "sum",
    "uniform",
    "variance",
]
