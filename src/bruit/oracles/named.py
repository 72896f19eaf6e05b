"""Oracles by the literature's names."""

from __future__ import annotations

from typing import Any

from bruit import _checks
from bruit.domains import Categories
from bruit.errors import BruitError, FormatError, ParameterError, translated
from bruit.oracles.base import Oracle
from bruit.oracles.hadamard_response import HadamardResponse
from bruit.oracles.local_hashing import LocalHashing
from bruit.oracles.projective_geometry import ProjectiveGeometry
from bruit.oracles.randomized_response import RandomizedResponse
from bruit.oracles.subset_selection import SubsetSelection
from bruit.oracles.unary_encoding import UnaryEncoding

#: The names that `oracle` takes, and what each stands for.
NAMES: dict[str, str] = {
    "Warner": "randomised response for two values; without an epsilon, the survey with two coins (ln 3)",
    "GRR": "generalised randomised response, also called kRR or direct encoding",
    "SUE": "symmetric unary encoding, also called basic RAPPOR",
    "OUE": "optimised unary encoding",
    "BLH": "binary local hashing",
    "OLH": "optimised local hashing",
    "SS": "subset selection",
    "HR": "Hadamard response",
    "PGR": "projective geometry response",
}

#: The class behind a name, and the settings that the name stands for.
_KINDS: dict[str, tuple[type[Oracle], dict[str, Any]]] = {
    "GRR": (RandomizedResponse, {}),
    "SUE": (UnaryEncoding, {"kind": "SUE"}),
    "OUE": (UnaryEncoding, {"kind": "OUE"}),
    "UE": (UnaryEncoding, {"kind": "UE"}),
    "BLH": (LocalHashing, {"kind": "BLH"}),
    "OLH": (LocalHashing, {"kind": "OLH"}),
    "LH": (LocalHashing, {"kind": "LH"}),
    "SS": (SubsetSelection, {}),
    "HR": (HadamardResponse, {}),
    "PGR": (ProjectiveGeometry, {}),
}
_ALSO = {"rr": "Warner", "krr": "GRR", "de": "GRR", "rappor": "SUE"}


def oracle(name: str, *, epsilon: float | None = None, **settings: Any) -> Oracle:
    """The oracle with this name in the literature.

    Parameters
    ----------
    name
        One of `NAMES`, in any case: Warner, GRR (also kRR), SUE (also RAPPOR), OUE, BLH, OLH, SS, HR, PGR.
    epsilon
        The most that one report may tell. ``"Warner"`` without it is the survey with two coins, ε = ln 3.
    **settings
        ``k=…`` or ``labels=[…]``, and ``missing=…``, as for every `Oracle`; and what the oracle itself takes.

    Examples
    --------
    >>> oracle("GRR", epsilon=1.0, k=16).size
    16
    >>> print(oracle("Warner", labels=["no", "yes"]).guarantee)
    ε = 1.098612 (local, one answer changed)
    """
    known = _known(name)
    if known == "Warner":
        return _warner(epsilon, **settings)
    if epsilon is None:
        raise ParameterError(f"epsilon must be given for {known}.")
    kind, fixed = _KINDS[known]
    return kind(epsilon=epsilon, **fixed, **settings)


def from_dict(body: Any) -> Oracle:
    """The oracle that `Oracle.to_dict` described."""
    rule = "This document does not describe an oracle that this version knows."
    with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
        settings = {key: body[key] for key in body if key not in ("oracle", "epsilon", "domain")}
        kind, fixed = _KINDS[body["oracle"]]
        return kind.from_settings(Categories.from_dict(body["domain"]), body["epsilon"], {**fixed, **settings})


def _known(name: str) -> str:
    """The name as this library writes it."""
    if isinstance(name, str):
        spelt = {**{known.lower(): known for known in NAMES}, **_ALSO}
        if name.lower() in spelt:
            return spelt[name.lower()]
    return _checks.one_of(NAMES, name=name)


def _warner(epsilon: float | None, **settings: Any) -> Oracle:
    if settings.get("labels") is None:
        settings.setdefault("k", 2)
    found = (
        RandomizedResponse.with_odds(3, 1, **settings)
        if epsilon is None
        else RandomizedResponse(epsilon=epsilon, **settings)
    )
    if found.size != 2:
        raise ParameterError("Warner's survey has two answers; for more, use GRR.")
    return found
