"""How good a model is on held-out records, by noisy tables: accuracy, log loss, AUROC, calibration, R²."""

from bruit.learning.scores.cross import private_cross_score
from bruit.learning.scores.result import Scores
from bruit.learning.scores.score import private_score

__all__ = ["Scores", "private_cross_score", "private_score"]
