"""Quantiles: by ranks on a fine grid, one after the other or all at once, and by a histogram with its accuracy."""

from bruit.releases.quantiles.accuracy import (
    Accuracy,
    Distribution,
    above_threshold_accuracy,
    accuracy,
    least_n,
    normal,
    uniform,
)
from bruit.releases.quantiles.histogram import DECILES, HistogramQuantiles
from bruit.releases.quantiles.ranked import Median, Quantiles

__all__ = [
    "DECILES",
    "Accuracy",
    "Distribution",
    "HistogramQuantiles",
    "Median",
    "Quantiles",
    "above_threshold_accuracy",
    "accuracy",
    "least_n",
    "normal",
    "uniform",
]
