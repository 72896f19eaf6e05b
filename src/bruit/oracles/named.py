"""Oracles by the literature's names."""

from __future__ import annotations

from typing import Any

from bruit import _checks
from bruit.domains import Categories
from bruit.errors import FormatError, ParameterError
from bruit.oracles.base import Oracle
from bruit.oracles.randomized_response import RandomizedResponse

#: The names that `oracle` takes, and what each stands for.
NAMES: dict[str, str] = {
    "Warner": "randomised response for two values; without an epsilon, the survey with two coins (ln 3)",
    "GRR": "generalised randomised response, also called kRR or direct encoding",
}

_ALSO = {"warner": "Warner", "rr": "Warner", "grr": "GRR", "krr": "GRR", "de": "GRR"}
_CLASSES: dict[str, type[Oracle]] = {"GRR": RandomizedResponse}


def oracle(name: str, *, epsilon: float | None = None, **domain: Any) -> Oracle:
    """The oracle with this name in the literature.

    Parameters
    ----------
    name
        ``"Warner"`` or ``"GRR"`` (also ``"kRR"``), in any case.
    epsilon
        The most that one report may tell. ``"Warner"`` without it is the survey with two coins, ε = ln 3.
    **domain
        ``k=…`` or ``labels=[…]``, and ``missing=…``, as for every `Oracle`.

    Examples
    --------
    >>> oracle("GRR", epsilon=1.0, k=16).size
    16
    >>> print(oracle("Warner", labels=["no", "yes"]).guarantee)
    ε = 1.098612 (local, one answer changed)
    """
    known = _ALSO.get(name.lower()) if isinstance(name, str) else None
    if known is None:
        _checks.one_of(NAMES, name=name)
    if known == "Warner":
        return _warner(epsilon, **domain)
    if epsilon is None:
        raise ParameterError(f"epsilon must be given for {known}.")
    return RandomizedResponse(epsilon=epsilon, **domain)


def from_dict(body: Any) -> Oracle:
    """The oracle that `Oracle.to_dict` described."""
    try:
        settings = {key: body[key] for key in body if key not in ("oracle", "epsilon", "domain")}
        kind = _CLASSES[body["oracle"]]
        return kind.from_settings(Categories.from_dict(body["domain"]), body["epsilon"], settings)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError("This document does not describe an oracle that this version knows.") from error


def _warner(epsilon: float | None, **domain: Any) -> Oracle:
    if domain.get("labels") is None:
        domain.setdefault("k", 2)
    found = (
        RandomizedResponse.with_odds(3, 1, **domain)
        if epsilon is None
        else RandomizedResponse(epsilon=epsilon, **domain)
    )
    if found.size != 2:
        raise ParameterError("Warner's survey has two answers; for more, use GRR.")
    return found
