"""Names of the literature that stand for no oracle and no number mechanism, and what to write in their place.

All places that take a name ask here before they refuse one: `bruit.oracle`, `bruit.panel`, `bruit.numbers.number`,
plans, files and commands. So a name is answered alike wherever a person writes it.
"""

from __future__ import annotations

import re
from typing import Any

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
_NEARBY = "{name} is bruit.numbers.MetricPlane(epsilon=…, x=…, y=…) on a map, and the number 'metric' on a line."

#: What to write for each name.
REFERRALS: dict[str, str] = {
    "L-SUE": f"{{name}} {_AGAIN}. In a plan it is SUE with rounds.",
    "L-OSUE": f"{{name}} {_AGAIN}. In a plan it is OUE with rounds.",
    "L-GRR": f"{{name}} {_AGAIN}. In a plan take GRR with rounds, which uses all of epsilon.",
    "L-ADP": f"{{name}} {_AGAIN}. In a plan take ADP with rounds.",
    "L-OUE": _ONE_ROUND,
    "L-SOUE": _ONE_ROUND,
    "LOLOHA": _FOLLOWS,
    "BiLOLOHA": _FOLLOWS,
    "dBitFlipPM": "{name} has no second step and no epoch_epsilon: bruit.oracles.DBitFlip(epsilon=…, held=…, k=…).",
    "1BitMean": "{name} is for a number: bruit.numbers.Duchi(epsilon=…, bounds=…), over rounds with "
    "bruit.collection.LongitudinalMean.",
    "RAPPOR": f"{{name}} with cohorts and filters is bruit.open_answers.RAPPOR(…), {_OPEN}. For k listed values, one "
    "report is bruit.oracle('SUE', …), and with memos it is bruit.panel('L-SUE', …).",
    "basic RAPPOR": "{name} is bruit.panel('L-SUE', …) with memos. One report is bruit.oracle('SUE', …).",
    "O-RAPPOR": f"{{name}} is bruit.open_answers.RAPPOR(…), {_OPEN}.",
    "O-RR": f"{{name}} is bruit.open_answers.HashedResponse(…), {_OPEN}. For k listed values take "
    "bruit.oracle('OLH', …).",
    "CMS": f"{{name}} is bruit.open_answers.RAPPOR.count_mean_sketch(epsilon=…, buckets=…, functions=…), {_OPEN}. For "
    "k listed values bruit.oracle('OLH', …) has .94 of its variance at ε = 1 and .42 at ε = 4.",
    "HCMS": "{name} is not built: bruit.oracle('BLH', …) has its law and variance, and bruit.oracle('OLH', …) .79 of "
    "it at ε = 1 and .07 at ε = 4.",
    "HE": "{name}, thresholded, is bruit.oracle('THE', …). Summed (SHE) it is not built: bruit.oracle('SUE', …) has at "
    "most half of its variance.",
    "SHE": "{name} is not built: bruit.oracle('SUE', …) has at most half of its variance.",
    "THE": "{name} is bruit.oracle('THE', …), an oracle of a smaller ε than its published one; bruit.oracle('OUE', …) "
    "has less variance.",
    "PEM": f"{{name}} is {_LISTLESS}",
    "heavy hitters": f"{{name}} are {_LISTLESS}",
    "SFP": _FINDS,
    "TreeHist": _FINDS,
    "UE": "{name} is bruit.oracle('SUE', …), or with the optimised chances bruit.oracle('OUE', …).",
    "LH": "{name} is bruit.oracle('BLH', …), or with the best number of buckets bruit.oracle('OLH', …).",
    "FastLH": "{name} is bruit.oracle('OLH', …, pool=…), whose functions come from a public pool.",
    "PCS": "{name} is not built: bruit.oracle('OLH', …) has .79 of its variance at ε = 1.",
    "geo-indistinguishability": _NEARBY,
    "planar Laplace": _NEARBY,
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
    "HadamardMech": "HCMS",
    "FLH": "FastLH",
    "private count sketch": "PCS",
    "geo-ind": "geo-indistinguishability",
}


def advice(name: Any) -> str:
    """What to write for a name, in any case and with any - or _; nothing for a name that is not of the literature.

    >>> advice("basic_rappor")
    "basic RAPPOR is bruit.panel('L-SUE', …) with memos. One report is bruit.oracle('SUE', …)."
    """
    known = _KNOWN.get(folded(name)) if isinstance(name, str) else None
    return REFERRALS[known].format(name=known) if known else ""


def check(name: Any) -> None:
    """Refuse such a name, or one that belongs elsewhere, with what to write in its place."""
    if answer := advice(name):
        raise ParameterError(answer)
    for known, text in ELSEWHERE.items():
        if isinstance(name, str) and folded(name) == folded(known):
            raise ParameterError(text.format(name=known))


def folded(name: str) -> str:
    """A name as it is compared: in lower case, without -, _ and spaces."""
    return re.sub(r"[\s_-]", "", name).lower()


_KNOWN = {folded(name): known for name, known in {**{name: name for name in REFERRALS}, **_ALSO}.items()}
