"""Oracles by the literature's names."""

from __future__ import annotations

from typing import Any

from bruit.domains import Categories
from bruit.errors import BruitError, FormatError, ParameterError, translated
from bruit.oracles.base import Oracle
from bruit.oracles.hadamard_response import HadamardResponse
from bruit.oracles.local_hashing import LocalHashing
from bruit.oracles.projective_geometry import ProjectiveGeometry
from bruit.oracles.randomized_response import RandomizedResponse
from bruit.oracles.subset_selection import SubsetSelection
from bruit.oracles.unary_encoding import UnaryEncoding
from bruit.registry import Registry

_ORACLES: Registry[Oracle] = Oracle.kinds
#: The names that `oracle` takes, and what each stands for.
NAMES: dict[str, str] = _ORACLES.meanings

NAMES["Warner"] = "randomised response for two values; without an epsilon, the survey with two coins (ln 3)"
for _name, _kind, _meaning, _also in (
    ("GRR", RandomizedResponse, "generalised randomised response, also called kRR or direct encoding", ("kRR", "DE")),
    ("SUE", UnaryEncoding, "symmetric unary encoding, one report of basic RAPPOR", ()),
    ("OUE", UnaryEncoding, "optimised unary encoding", ()),
    ("UE", UnaryEncoding, None, ()),
    ("BLH", LocalHashing, "binary local hashing", ()),
    ("OLH", LocalHashing, "optimised local hashing", ()),
    ("LH", LocalHashing, None, ()),
    ("SS", SubsetSelection, "subset selection", ()),
    ("HR", HadamardResponse, "Hadamard response", ("HadamardResponse", "Hadamard")),
    ("PGR", ProjectiveGeometry, "projective geometry response", ()),
):
    _settings = {"kind": _name} if _kind in (UnaryEncoding, LocalHashing) else None
    _ORACLES.add(_name, _kind, _meaning, _settings, _also)


def oracle(name: str, *, epsilon: float | None = None, **settings: Any) -> Oracle:
    """The oracle with this name in the literature.

    Parameters
    ----------
    name
        One of `NAMES`, in any case: Warner, GRR (also kRR), SUE, OUE, BLH, OLH, SS, HR, PGR. Also THE, to compare.
    epsilon
        The most that one report may tell. ``"Warner"`` without it is the survey with two coins, ε = ln 3. Of ``"THE"``
        it is the published ε: the oracle has the true one, which is smaller.
    **settings
        ``k=…``, ``labels=[…]`` or ``domain=…``, as for every `Oracle`; and what the oracle itself takes.

    Examples
    --------
    >>> oracle("GRR", epsilon=1.0, k=16).size
    16
    >>> print(oracle("Warner", labels=["no", "yes"]).guarantee)
    ε = 1.098612 (local, one answer changed)
    """
    if isinstance(name, str) and name.upper() == "THE":
        if epsilon is None:
            raise ParameterError("epsilon must be given for THE.")
        return UnaryEncoding.thresholded_histogram(epsilon, **settings)
    known = "Warner" if isinstance(name, str) and name.lower() == "rr" else _ORACLES.spelt(name)
    if known == "Warner":
        return _warner(epsilon, **settings)
    if epsilon is None:
        raise ParameterError(f"epsilon must be given for {known}.")
    kind, fixed = _ORACLES[known]
    return kind(epsilon=epsilon, **fixed, **settings)


def from_dict(body: Any) -> Oracle:
    """The oracle that `Oracle.to_dict` described."""
    rule = "This document does not describe an oracle that this version knows."
    with translated((KeyError, TypeError, ValueError, BruitError), lambda _: FormatError(rule)):
        settings = {key: body[key] for key in body if key not in ("oracle", "epsilon", "domain")}
        kind, fixed = _ORACLES[body["oracle"]]
        return kind.from_settings(Categories.from_dict(body["domain"]), body["epsilon"], {**fixed, **settings})


def _warner(epsilon: float | None, **settings: Any) -> Oracle:
    if settings.get("labels") is None and settings.get("domain") is None:
        settings.setdefault("k", 2)
    survey = (
        RandomizedResponse.with_odds(3, 1, **settings)
        if epsilon is None
        else RandomizedResponse(epsilon=epsilon, **settings)
    )
    if survey.size != 2:
        raise ParameterError("Warner's survey has two answers; for more, use GRR.")
    return survey
