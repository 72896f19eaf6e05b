"""Pictures: estimates with their intervals, what an ε buys, the error of each oracle. matplotlib lives here.

Importing this package needs the extra ``figures``: ``pip install 'bruit[figures]'``. Nothing here touches pyplot or
changes matplotlib's settings, so that it works alike in a notebook, a script and a server.
"""

from bruit.figures.averaging import plot_averaging
from bruit.figures.beliefs import plot_beliefs
from bruit.figures.continual import plot_continual
from bruit.figures.estimate import plot_estimate
from bruit.figures.files import save
from bruit.figures.leak import plot_leak
from bruit.figures.pictures import picture
from bruit.figures.ranking import plot_ranking
from bruit.figures.regression import plot_regression
from bruit.figures.result import plot_result
from bruit.figures.scores import plot_scores
from bruit.figures.series import plot_loss, plot_series
from bruit.figures.shapes import plot_importances, plot_shape, plot_shapes
from bruit.figures.variance import plot_variance

__all__ = [
    "picture",
    "plot_averaging",
    "plot_beliefs",
    "plot_continual",
    "plot_estimate",
    "plot_importances",
    "plot_leak",
    "plot_loss",
    "plot_ranking",
    "plot_regression",
    "plot_result",
    "plot_scores",
    "plot_series",
    "plot_shape",
    "plot_shapes",
    "plot_variance",
    "save",
]
