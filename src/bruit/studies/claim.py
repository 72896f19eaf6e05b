"""A claim of a document, the exact place where it stands, and what the results say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from bruit import _checks
from bruit.errors import ParameterError
from bruit.studies.results import NoData, Results

Kind: TypeAlias = Literal["confirmed", "corrected", "refuted", "not judged"]
#: The kinds of verdict, in the order in which pages list them.
KINDS: tuple[Kind, ...] = get_args(Kind)

#: The documents that claims are taken from: a short name, and how to cite each.
DOCUMENTS: dict[str, str] = {
    "LDP slides": "J.-F. Couchot, ε-LDP, course slides (16 pages), 26 November 2023",
    "several-attributes slides": (
        "J.-F. Couchot and H. H. Arcolezi, Analyses multidimensionnelles & vie privée, slides, GDR Sécurité 2023"
    ),
    "student project": (
        "J.-F. Couchot, M1-ISL, Projet d'évaluation théorique et expérimentale d'une démarche de PVP, 25 January 2022"
    ),
    "internship report": (
        "A. Canesse, Arbitrages statistiques dans l'apprentissage automatique confidentiel, ENS de Lyon, 27 June 2022"
    ),
    "learning slides": (
        "J.-F. Couchot, Apprentissages machine et confidentialité différentielle, course slides, 4 December 2023"
    ),
    "CIKM 2021": (
        "H. H. Arcolezi, J.-F. Couchot, B. Al Bouna, X. Xiao, Random sampling plus fake data, CIKM 2021, pp. 47–57"
    ),
    "PVLDB 2023": (
        "H. H. Arcolezi, S. Gambs, J.-F. Couchot, C. Palamidessi, On the risks of collecting multidimensional data "
        "under local differential privacy, PVLDB 16(5), 1126–1139, 2023"
    ),
}


@dataclass(frozen=True)
class Verdict:
    """What the results say of a claim: the kind, the evidence in one sentence, and its figures by name.

    Made by `confirmed`, `corrected` (the sentence gives the right form), `refuted` and `not_judged` (data are missing).
    """

    kind: Kind
    sentence: str
    figures: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _checks.one_of(KINDS, kind=self.kind)
        if not self.sentence.strip():
            raise ParameterError("sentence must give the evidence.")
        object.__setattr__(self, "figures", {name: float(value) for name, value in self.figures.items()})


def confirmed(sentence: str, **figures: float) -> Verdict:
    """The claim holds."""
    return Verdict("confirmed", sentence, figures)


def corrected(sentence: str, **figures: float) -> Verdict:
    """The claim is nearly right; the sentence gives the right form."""
    return Verdict("corrected", sentence, figures)


def refuted(sentence: str, **figures: float) -> Verdict:
    """The claim does not hold."""
    return Verdict("refuted", sentence, figures)


def not_judged(reason: str) -> Verdict:
    """Nothing can be said, for this reason."""
    return Verdict("not judged", reason)


@dataclass(frozen=True)
class Claim:
    """A statement of a document, where it stands, and how results decide on it.

    Parameters
    ----------
    id
        Unique over all studies, as ``"warner-unbiased"``.
    document, place
        One of `DOCUMENTS`, and the exact place: section, theorem, equation, line of a listing, or title of the slide.
    judge
        A function of the results that gives a `Verdict`. It need not mind missing data: asking `Results` for what is
        not there makes the verdict ``"not judged"``, with the reason.

    Examples
    --------
    >>> claim = Claim("one-is-one", "One is one.", "student project", "§1", lambda results: confirmed("It is.", one=1))
    >>> claim.verdict(Results("toy", {"x": [1.0]})).kind
    'confirmed'
    """

    id: str
    statement: str
    document: str
    place: str
    judge: Callable[[Results], Verdict]

    def __post_init__(self) -> None:
        _checks.one_of(DOCUMENTS, document=self.document)
        if not (self.id and self.statement and self.place):
            raise ParameterError("A claim must have an id, a statement and a place.")

    @property
    def where(self) -> str:
        """Document and place, in one line."""
        return f"{self.document}, {self.place}"

    def verdict(self, results: Results | None) -> Verdict:
        """What the results say; ``"not judged"`` where there are none, or not those that are needed."""
        if results is None:
            return not_judged("This study has not been run.")
        try:
            return self.judge(results)
        except NoData as missing:
            return not_judged(" ".join([str(missing), *results.skipped]))
