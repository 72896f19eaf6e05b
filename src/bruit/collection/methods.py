"""The grammar of method names: ``GRR`` alone, or ``SPL[x]``, ``SMP[x]``, ``RS+FD[x]``, ``RS+RFD[x]``.

The name outside the brackets says what is done with the attributes of a person, the one inside how an answer is made
private. Names are read in any case and written in one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from bruit import _checks, numbers, oracles
from bruit.errors import ParameterError, ParameterTypeError

#: What is done with the attributes of a person; "one" where there is one only.
Kind: TypeAlias = Literal["one", "SPL", "SMP", "RS+FD", "RS+RFD"]

#: What each kind does, for messages and tables.
KINDS: dict[str, str] = {
    "SPL": "every attribute is reported, with a part of ε each",
    "SMP": "one attribute at random is reported with all of ε, and told which",
    "RS+FD": "one attribute at random is reported, the others are fake, and it is not told which",
    "RS+RFD": "as RS+FD, with fakes that follow a prior",
}

#: The mechanism of least error for each attribute. Alone, it is the default: for one attribute its mechanism of least
#: error, for several the same with SMP, which has the least error with the same ε for a person in nearly all cases.
DEFAULT = ADAPTIVE = "ADP"

#: What may stand in the brackets where there are fakes: -z is noise on zeros, -r noise on a random value.
FAKE_BASES: dict[str, tuple[str, ...]] = {
    "RS+FD": ("GRR", "SUE-z", "OUE-z", "SUE-r", "OUE-r", "SS", ADAPTIVE),
    "RS+RFD": ("GRR", "SUE-r", "OUE-r", ADAPTIVE),
}
#: What may stand there where there are none.
TRUE_BASES: tuple[str, ...] = (*oracles.NAMES, *numbers.NAMES, ADAPTIVE)

_FORM = re.compile(r"\s*(?P<kind>[A-Za-z+]+)\s*\[\s*(?P<base>[^\[\]]*?)\s*\]\s*")


@dataclass(frozen=True)
class Method:
    """A method's name, taken apart.

    Examples
    --------
    >>> parse("rs+fd[oue-Z]")
    Method(kind='RS+FD', base='OUE-z')
    >>> str(parse("SMP[adp]")), parse("GRR").kind
    ('SMP[ADP]', 'one')
    """

    kind: Kind
    base: str

    @property
    def fakes(self) -> bool:
        """Whether most of what is reported is fake."""
        return self.kind in FAKE_BASES

    def __str__(self) -> str:
        return self.base if self.kind == "one" else f"{self.kind}[{self.base}]"


def parse(text: Any) -> Method:
    """A method from its name; a bare name stands for one attribute."""
    if not isinstance(text, str):
        raise ParameterTypeError('method must be a name, as in "GRR" or "SPL[OUE]".')
    form = _FORM.fullmatch(text)
    if form is None:
        if "[" in text or "]" in text or text.strip().upper() in KINDS:
            raise ParameterError('method must read as in "SPL[OUE]": a kind and, in brackets, a mechanism.')
        spelling = {name.lower(): name for name in TRUE_BASES}
        return Method("one", spelling.get(text.strip().lower(), text))
    kind = _spelt(form["kind"], tuple(KINDS), "method")
    return Method(cast(Kind, kind), base_name(kind, form["base"]))


def base_name(kind: str, name: Any) -> str:
    """The name of a mechanism that may stand in the brackets after this kind, as this library writes it."""
    return _spelt(name, FAKE_BASES.get(kind, TRUE_BASES), f"The mechanism in {kind}[…]")


def _spelt(name: Any, known: tuple[str, ...], what: str) -> str:
    spelling = {other.lower(): other for other in known}
    if not isinstance(name, str) or name.lower() not in spelling:
        raise ParameterError(f"{what} must be one of {', '.join(known)}.{_checks.suggestion(name, known)}")
    return spelling[name.lower()]
