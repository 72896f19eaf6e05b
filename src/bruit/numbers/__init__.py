"""One bounded number per person: means and distributions, with an ε that is true."""

from bruit.numbers.affine import AffineNumber
from bruit.numbers.base import Number
from bruit.numbers.bounded_laplace import BoundedLaplace
from bruit.numbers.mean import Duchi, Hybrid, Piecewise
from bruit.numbers.metric import MetricNumber
from bruit.numbers.metric_plane import MetricPlane
from bruit.numbers.named import NAMES, from_dict, number
from bruit.numbers.square_wave import SquareWave
from bruit.numbers.staircase import Staircase

__all__ = [
    "NAMES",
    "AffineNumber",
    "BoundedLaplace",
    "Duchi",
    "Hybrid",
    "MetricNumber",
    "MetricPlane",
    "Number",
    "Piecewise",
    "SquareWave",
    "Staircase",
    "from_dict",
    "number",
]
