"""Which reports an honest person can have sent: needed where one impossible report refuses the whole person."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.collection.bases import Mechanism
from bruit.oracles import LocalHashing, SubsetSelection, UnaryEncoding


def honest(mechanism: Mechanism, reports: NDArray[Any]) -> NDArray[np.bool_]:
    """One truth value per report, of reports that passed the mechanism's own check of dtype and shape."""
    if isinstance(mechanism, SubsetSelection):
        return mechanism._honest(reports)
    if isinstance(mechanism, UnaryEncoding):
        limit = 256 >> -mechanism.size % 8
        return np.asarray(reports[:, -1] < limit)
    if isinstance(mechanism, LocalHashing):
        fine = np.asarray(reports["bucket"] < mechanism.g)
        return fine if mechanism.pool is None else fine & (reports["seed"] < mechanism.pool)
    return np.asarray((reports >= 0) & (reports < mechanism._cells()))
