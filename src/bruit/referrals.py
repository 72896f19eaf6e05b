"""Names of the literature that stand for no oracle and no number mechanism, and what to write in their place.

All places that take a name ask here before they refuse one: `bruit.oracle`, `bruit.panel`, `bruit.numbers.number`,
plans, files and commands. So a name is answered alike wherever a person writes it.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from bruit.errors import ParameterError

_OPEN = "for texts from no list, whose candidates are named afterwards"
_AGAIN = "asks the same people again: bruit.panel({name!r}, epsilon=…, epoch_epsilon=…, k=…)"
_ONE_ROUND = (
    "{name} is offered for one round: bruit.oracles.one_report({name!r}, epsilon=…, epoch_epsilon=…, k=…). For more "
    "rounds take L-OSUE, which has less variance."
)
_FOLLOWS = f"{{name}} {_AGAIN}. Plans and surveys do not take it."
_NUMBER = "{name} is for a number: bruit.numbers.number({name!r}, epsilon=…, bounds=…)."
_LISTLESS = "bruit.open_answers.HeavyHitters(epsilon=…), or bruit privatize --open-ended: frequent texts from no list."
_FINDS = "{name} is not built: bruit.open_answers.HeavyHitters(epsilon=…) finds more of the frequent texts."
_NEARBY = (
    "{name} is bruit.numbers.MetricPlane(epsilon=…, x=…, y=…) on a map, with geometric noise on both axes, and the "
    "number 'metric' on a line."
)


class Referral(NamedTuple):
    """What to write for a name: in general, and in a plan and after --method where these have something like it."""

    text: str
    in_plans: str = ""


_ROUNDS = "with rounds (--rounds 4 --epoch-epsilon 2)"

#: What to write for each name.
REFERRALS: dict[str, Referral] = {
    "L-SUE": Referral(f"{{name}} {_AGAIN}.", f"SUE {_ROUNDS}"),
    "L-OSUE": Referral(f"{{name}} {_AGAIN}.", f"OUE {_ROUNDS}"),
    "L-GRR": Referral(f"{{name}} {_AGAIN}.", f"GRR {_ROUNDS}, which uses all of epsilon"),
    "L-ADP": Referral(f"{{name}} {_AGAIN}.", f"ADP {_ROUNDS}"),
    "L-OUE": Referral(_ONE_ROUND),
    "L-SOUE": Referral(_ONE_ROUND),
    **{
        name: Referral(
            f"{{name}} is no published protocol. With memos, {oracle} is bruit.oracles.Repeated(bruit.oracle("
            f"{oracle!r}, epsilon=…, k=…), epoch=…).",
            f"{oracle} {_ROUNDS}",
        )
        for name, oracle in {"L-SS": "SS", "L-HR": "HR", "L-PGR": "PGR"}.items()
    },
    "LOLOHA": Referral(_FOLLOWS),
    "BiLOLOHA": Referral(_FOLLOWS),
    "dBitFlipPM": Referral(
        "{name} has no second step and no epoch_epsilon: bruit.oracles.DBitFlip(epsilon=…, held=…, k=…)."
    ),
    "1BitMean": Referral(
        "{name} is for a number: bruit.numbers.Duchi(epsilon=…, bounds=…), over rounds with "
        "bruit.collection.LongitudinalMean."
    ),
    "RAPPOR": Referral(
        f"{{name}} with cohorts and filters is bruit.open_answers.RAPPOR(…), {_OPEN}. For k listed values, one report "
        "is bruit.oracle('SUE', …), and with memos it is bruit.panel('L-SUE', …).",
        "SUE",
    ),
    "basic RAPPOR": Referral(
        "{name} is bruit.panel('L-SUE', …) with memos. One report is bruit.oracle('SUE', …).", "SUE"
    ),
    "O-RAPPOR": Referral(f"{{name}} is bruit.open_answers.RAPPOR(…), {_OPEN}."),
    "O-RR": Referral(
        f"{{name}} is bruit.open_answers.HashedResponse(…), {_OPEN}. For k listed values take bruit.oracle('OLH', …).",
        "OLH",
    ),
    "CMS": Referral(
        f"{{name}} is bruit.open_answers.RAPPOR.count_mean_sketch(epsilon=…, buckets=…, functions=…), {_OPEN}. For k "
        "listed values bruit.oracle('OLH', …) has .94 of its variance at ε = 1 and .42 at ε = 4.",
        "OLH",
    ),
    "HCMS": Referral(
        "{name} is not built: bruit.oracle('BLH', …) has its law and variance, and bruit.oracle('OLH', …) .79 of it at "
        "ε = 1 and .07 at ε = 4.",
        "BLH or OLH",
    ),
    "HE": Referral(
        "{name}, thresholded, is bruit.oracle('THE', …). Summed (SHE) it is not built: bruit.oracle('SUE', …) has at "
        "most half of its variance.",
        "SUE",
    ),
    "SHE": Referral("{name} is not built: bruit.oracle('SUE', …) has at most half of its variance.", "SUE"),
    "THE": Referral(
        "{name} is bruit.oracle('THE', …), an oracle of a smaller ε than its published one; bruit.oracle('OUE', …) has "
        "less variance.",
        "OUE",
    ),
    "PEM": Referral(f"{{name}} is {_LISTLESS}"),
    "heavy hitters": Referral(f"{{name}} are {_LISTLESS}"),
    "SFP": Referral(_FINDS),
    "TreeHist": Referral(_FINDS),
    "UE": Referral(
        "{name} is bruit.oracle('SUE', …), or with the optimised chances bruit.oracle('OUE', …).", "SUE or OUE"
    ),
    "LH": Referral(
        "{name} is bruit.oracle('BLH', …), or with the best number of buckets bruit.oracle('OLH', …).", "BLH or OLH"
    ),
    "FastLH": Referral("{name} is bruit.oracle('OLH', …, pool=…), whose functions come from a public pool.", "OLH"),
    "PCS": Referral("{name} is not built: bruit.oracle('OLH', …) has .79 of its variance at ε = 1.", "OLH"),
    "geo-indistinguishability": Referral(_NEARBY),
    "planar Laplace": Referral(_NEARBY),
}
#: The same for names that mean something to plans or numbers, and are written where they do not.
ELSEWHERE: dict[str, str] = {
    "ADP": "{name} is the mechanism of least error: bruit.choose(k=…, epsilon=…) ranks them. In plans it is a name.",
    **dict.fromkeys(("duchi", "piecewise", "hybrid", "square-wave"), _NUMBER),
}
#: Other words for some of them.
_ALSO = {
    "L-LH": "LOLOHA",
    "OLOLOHA": "LOLOHA",
    "dBitFlip": "dBitFlipPM",
    "OneBitMean": "1BitMean",
    "heavy hitter": "heavy hitters",
    "count mean sketch": "CMS",
    "Hadamard count mean sketch": "HCMS",
    "HadamardMech": "HCMS",
    "FLH": "FastLH",
    "private count sketch": "PCS",
    "geo-ind": "geo-indistinguishability",
}


def known(name: Any) -> Referral | None:
    """What to write for a name, in any case and with any - or _; None for a name that is not of the literature.

    A client or server of another package is answered as what it is of.

    >>> known("basic_rappor").text
    "basic RAPPOR is bruit.panel('L-SUE', …) with memos. One report is bruit.oracle('SUE', …)."
    >>> known("SMP_GRR_Client").text
    "A call of bruit.Plan(…) with the method 'SMP[GRR]' does this. All functions: docs/reference/peers.md."
    """
    if not isinstance(name, str):
        return None
    if spelt := _KNOWN.get(folded(name)):
        referral = REFERRALS[spelt]
        return referral._replace(text=referral.text.format(name=spelt))
    method = _METHOD.fullmatch(_FUNCTION.sub("", name))
    if method:
        kind = {"RSPFD": "RS+FD"}.get(method[1].upper(), method[1].upper())
        return Referral(f"A call of bruit.Plan(…) with the method '{kind}[{method[2].upper()}]' does this. {_PEERS}")
    if _FUNCTION.search(name):
        own = known(_FUNCTION.sub("", name))
        return Referral(f"{own.text if own else f'{name} is a name of another package.'} {_PEERS}")
    return None


def advice(name: Any) -> str:
    """The text of `known`, or nothing.

    >>> advice("ZZTOP")
    ''
    """
    referral = known(name)
    return referral.text if referral else ""


def check(name: Any) -> None:
    """Refuse such a name, or one that belongs elsewhere, with what to write in its place."""
    if answer := advice(name):
        raise ParameterError(answer)
    for place, text in ELSEWHERE.items():
        if isinstance(name, str) and folded(name) == folded(place):
            raise ParameterError(text.format(name=place))


def folded(name: str) -> str:
    """A name as it is compared: in lower case, without -, _, dots and spaces."""
    return re.sub(r"[\s._-]", "", name).lower()


#: How functions of multi-freq-ldpy and pure-ldp end or begin.
_FUNCTION = re.compile(r"^VAR_|_?(Client|Server|Aggregator_(MI|IBU))$")
_METHOD = re.compile(r"(SPL|SMP|RSpFD)_(GRR|OUE|SUE|OLH|BLH|SS|ADP)", re.IGNORECASE)
_PEERS = "All functions: docs/reference/peers.md."
_KNOWN = {folded(name): known for name, known in {**{name: name for name in REFERRALS}, **_ALSO}.items()}
