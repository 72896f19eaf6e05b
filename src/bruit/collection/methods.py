"""The grammar of method names: ``GRR`` alone, or ``SPL[x]``, ``SMP[x]``, ``SMP2[x]``, ``RS+FD[x]``, ``TAB[x]``, ….

The name outside the brackets says what is done with the attributes of a person, the one inside how an answer is made
private. Names are read in any case and written in one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from bruit import _checks
from bruit.errors import ParameterError, ParameterTypeError
from bruit.mechanism import FakeKind
from bruit.numbers import Number
from bruit.oracles import Oracle

#: What is done with the attributes of a person; "one" where there is one only.
Kind: TypeAlias = Literal["one", "SPL", "SMP", "SMPk", "RS+FD", "RS+RFD", "TAB"]

#: What each kind does with the d questions that a person has, k of which SMPk draws.
KINDS: dict[str, str] = {
    "SPL": "each person answers all {d} questions, each with a share of ε",
    "SMP": "each person answers one of the {d} questions, chosen by chance, with all of ε",
    "SMPk": "each person answers {k} of the {d} questions, chosen by chance, each with a share of ε",
    "RS+FD": "each person answers one of the {d} questions, chosen by chance; the other answers are made up, and "
    "nobody is told which",
    "RS+RFD": "each person answers one of the {d} questions, chosen by chance; the other answers are made up by a "
    "prior, and nobody is told which",
    "TAB": "each person answers the questions of one table, chosen by chance, with all of ε",
}

#: The mechanism of least error for each attribute. Alone, it is the default: for one attribute its mechanism of least
#: error, for several the same with SMP, which has the least error with the same ε for a person in nearly all cases.
DEFAULT = ADAPTIVE = "ADP"

#: The kinds whose reports are fakes but for one.
FAKED = ("RS+FD", "RS+RFD")
#: What stands behind the name of an oracle that is faked in several ways.
_SUFFIXES: dict[str, FakeKind] = {"-z": "zeros", "-r": "noise", "-v": "value"}

_FORM = re.compile(r"\s*(?P<kind>[A-Za-z+]+)(?P<sampled>[0-9]{0,4})\s*\[\s*(?P<base>[^\[\]]*?)\s*\]\s*")


@dataclass(frozen=True)
class Method:
    """A method's name, taken apart.

    Examples
    --------
    >>> parse("rs+fd[oue-Z]")
    Method(kind='RS+FD', base='OUE-z')
    >>> str(parse("SMP[adp]")), parse("GRR").kind
    ('SMP[ADP]', 'one')
    >>> parse("smp2[oue]").sampled, str(parse("SMP1[OUE]")), str(parse("smpK[OUE]"))
    (2, 'SMP[OUE]', 'SMPk[OUE]')
    """

    kind: Kind
    base: str
    #: For SMPk: how many attributes a person reports; None for the number of least error.
    sampled: int | None = field(default=None, repr=False)

    @property
    def fakes(self) -> bool:
        """Whether most of what is reported is fake."""
        return self.kind in FAKED

    def in_words(self, d: int) -> str:
        """What is done with the d questions that a person has; nothing where there is one.

        >>> parse("SMP2[OUE]").in_words(3)
        'each person answers 2 of the 3 questions, chosen by chance, each with a share of ε'
        """
        return "" if self.kind == "one" else KINDS[self.kind].format(d=d, k=self.sampled)

    def __str__(self) -> str:
        if self.sampled is not None:
            return f"SMP{self.sampled}[{self.base}]"
        return self.base if self.kind == "one" else f"{self.kind}[{self.base}]"


def parse(text: Any) -> Method:
    """A method from its name; a bare name stands for one attribute."""
    if not isinstance(text, str):
        raise ParameterTypeError('method must be a name, as in "GRR" or "SPL[OUE]".')
    form = _FORM.fullmatch(text)
    if form is None:
        if "[" in text or "]" in text or text.strip().upper() in KINDS:
            raise ParameterError('method must read as in "SPL[OUE]": a kind and, in brackets, a mechanism.')
        spelling = {name.lower(): name for name in (*Oracle.kinds.meanings, *Number.kinds.meanings, ADAPTIVE)}
        return Method("one", spelling.get(text.strip().lower(), text))
    kind = _spelt(form["kind"], tuple(KINDS), "method")
    if form["sampled"]:
        return _sampled(kind, int(form["sampled"]), form["base"])
    return Method(cast(Kind, kind), base_name(kind, form["base"]))


def _sampled(kind: str, sampled: int, base: str) -> Method:
    """SMP with a number of attributes; with one it is SMP itself."""
    if kind != "SMP" or not sampled:
        raise ParameterError("Only SMP takes a number of attributes, 1 or above, as in SMP2[OUE].")
    if sampled == 1:
        return Method("SMP", base_name("SMP", base))
    return Method("SMPk", base_name("SMPk", base), sampled)


def base_name(kind: str, name: Any) -> str:
    """The name of a mechanism that may stand in the brackets after this kind, as this library writes it."""
    what, loaded = f"The mechanism in {kind}[…]", (Oracle.kinds.meanings, Number.kinds.meanings)
    if isinstance(name, str) and name.lower() in map(str.lower, bases(kind, *loaded)):
        return _spelt(name, bases(kind, *loaded), what)
    return _spelt(name, bases(kind, Oracle.kinds, Number.kinds), what)


def bases(kind: str, oracles: Iterable[str], numbers: Iterable[str]) -> tuple[str, ...]:
    """What may stand in the brackets after this kind, of these oracles and numbers."""
    if kind == "TAB":  # a cell is a category
        return (*(name for name in oracles if name != "Warner"), ADAPTIVE)
    if kind not in FAKED:
        return (*oracles, *numbers, ADAPTIVE)
    return (*(base for name in oracles if name != "Warner" for base in _fake_bases(kind, name)), ADAPTIVE)


def _fake_bases(kind: str, name: str) -> list[str]:
    """The names of an oracle with each of its fakes; noise on zeros follows no prior."""
    fakes = Oracle.kinds[name].kind.fakes
    if len(fakes) == 1:
        return [name]
    return [
        name + suffix for suffix, fake in _SUFFIXES.items() if fake in fakes and (kind, fake) != ("RS+RFD", "zeros")
    ]


def fake_of(base: str) -> tuple[str, FakeKind]:
    """The oracle that a name in the brackets stands for, and its fakes.

    >>> fake_of("OUE-z"), fake_of("SS")
    (('OUE', 'zeros'), ('SS', 'noise'))
    """
    if base in Oracle.kinds:
        return base, Oracle.kinds[base].kind.fakes[0]
    return base[:-2], _SUFFIXES[base[-2:]]


def _spelt(name: Any, known: tuple[str, ...], what: str) -> str:
    spelling = {other.lower(): other for other in known}
    if not isinstance(name, str) or name.lower() not in spelling:
        raise ParameterError(f"{what} must be one of {', '.join(known)}.{_checks.suggestion(name, known)}")
    return spelling[name.lower()]
