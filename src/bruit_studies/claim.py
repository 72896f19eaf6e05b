"""A claim of a document, the exact place where it stands, and what the results say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from bruit import _checks
from bruit.errors import ParameterError
from bruit_studies.results import NoData, StudyResults

Kind: TypeAlias = Literal["confirmed", "improved", "slip", "corrected", "refuted", "open", "not judged"]
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
        "H. H. Arcolezi, J.-F. Couchot, B. Al Bouna, X. Xiao, Random sampling plus fake data: multidimensional "
        "frequency estimates with local differential privacy, CIKM 2021, pp. 47–57"
    ),
    "DCN 2022": (
        "H. H. Arcolezi, J.-F. Couchot, B. Al Bouna, X. Xiao, Improving the utility of locally differentially private "
        "protocols for longitudinal and multidimensional frequency estimates, Digital Communications and Networks, 2022"
    ),
    "EDBT 2023": (
        "H. H. Arcolezi, C. Pinzón, C. Palamidessi, S. Gambs, Frequency estimation of evolving data under local "
        "differential privacy, EDBT 2023, pp. 512–525"
    ),
    "PVLDB 2023": (
        "H. H. Arcolezi, S. Gambs, J.-F. Couchot, C. Palamidessi, On the risks of collecting multidimensional data "
        "under local differential privacy, PVLDB 16(5), 1126–1139, 2023"
    ),
}

#: The works that these documents cite for what is judged here: who, what, where and when.
REFERENCES: tuple[str, ...] = (
    "H. Asi, J. C. Duchi, Near instance-optimality in differential privacy, arXiv:2005.10630, 2020",
    "R. Bassily, A. Smith, Local, private, efficient protocols for succinct histograms, STOC 2015, pp. 127–135",
    "F. Ding, M. Hardt, J. Miller, L. Schmidt, Retiring Adult: new datasets for fair machine learning, NeurIPS 2021",
    "J. C. Duchi, M. I. Jordan, M. J. Wainwright, Local privacy and statistical minimax rates, FOCS 2013, pp. 429–438",
    "C. Dwork, F. McSherry, K. Nissim, A. Smith, Calibrating noise to sensitivity in private data analysis, TCC 2006, "
    "pp. 265–284",
    "C. Dwork, A. Roth, The algorithmic foundations of differential privacy, Foundations and Trends in Theoretical "
    "Computer Science 9, 211–407, 2014",
    "Ú. Erlingsson, V. Pihur, A. Korolova, RAPPOR: randomized aggregatable privacy-preserving ordinal response, CCS "
    "2014, pp. 1054–1067",
    "Q. Geng, P. Kairouz, S. Oh, P. Viswanath, The staircase mechanism in differential privacy, IEEE Journal of "
    "Selected Topics in Signal Processing 9(7), 1176–1184, 2015",
    "P. Kairouz, K. Bonawitz, D. Ramage, Discrete distribution estimation under local privacy, ICML 2016, "
    "pp. 2436–2444",
    "J. Vaidya et al., Differentially private naive Bayes classification, WI-IAT 2013",
    "N. Wang et al., Collecting and analyzing multidimensional data with local differential privacy, ICDE 2019, "
    "pp. 638–649",
    "T. Wang, J. Blocki, N. Li, S. Jha, Locally differentially private protocols for frequency estimation, USENIX "
    "Security 2017, pp. 729–745",
    "S. L. Warner, Randomized response: a survey technique for eliminating evasive answer bias, Journal of the "
    "American Statistical Association 60(309), 63–69, 1965",
    "E. Yilmaz, M. Al-Rubaie, J. M. Chang, Locally differentially private naive Bayes classification, "
    "arXiv:1905.01039, 2019",
    "J. Zhang, Z. Zhang, X. Xiao, Y. Yang, M. Winslett, Functional mechanism: regression analysis under differential "
    "privacy, arXiv:1208.0219, 2012",
)


@dataclass(frozen=True)
class Verdict:
    """What the results say of a claim: the kind, the evidence in one sentence, and its figures by name.

    Made by `confirmed`, `improved` (right, and the sentence says what does better), `slip` (a slip of the pen),
    `corrected` (the sentence gives the right form), `refuted`, `open_question` (these results cannot settle it) and
    `not_judged` (data are missing).
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


def improved(sentence: str, **figures: float) -> Verdict:
    """The claim holds on its own terms, and the sentence says what does better."""
    return Verdict("improved", sentence, figures)


def slip(sentence: str, **figures: float) -> Verdict:
    """A slip of the pen: what is meant is plain and holds; the sentence says where the pen slipped."""
    return Verdict("slip", sentence, figures)


def corrected(sentence: str, **figures: float) -> Verdict:
    """The claim is nearly right; the sentence gives the right form."""
    return Verdict("corrected", sentence, figures)


def refuted(sentence: str, **figures: float) -> Verdict:
    """The claim does not hold."""
    return Verdict("refuted", sentence, figures)


def open_question(sentence: str, **figures: float) -> Verdict:
    """These results cannot settle it: too few runs, or another program than the document's."""
    return Verdict("open", sentence, figures)


def not_judged(reason: str) -> Verdict:
    """Nothing can be said, for this reason."""
    return Verdict("not judged", reason)


@dataclass(frozen=True)
class Claim:
    """A statement of a document, in our words, where it stands, and how results decide on it.

    Parameters
    ----------
    id
        Unique over all studies, as ``"warner-unbiased"``.
    document, place
        One of `DOCUMENTS`, and the exact place: section, theorem, equation, line of a listing, or title of the slide.
    judge
        A function of the results that gives a `Verdict`. It need not mind missing data: asking `StudyResults` for
        what is not there makes the verdict ``"not judged"``, with the reason.

    Examples
    --------
    >>> claim = Claim("one-is-one", "One is one.", "student project", "§1", lambda results: confirmed("It is.", one=1))
    >>> claim.verdict(StudyResults("toy", {"x": [1.0]})).kind
    'confirmed'
    """

    id: str
    statement: str
    document: str
    place: str
    judge: Callable[[StudyResults], Verdict]

    def __post_init__(self) -> None:
        _checks.one_of(DOCUMENTS, document=self.document)
        if not (self.id and self.statement and self.place):
            raise ParameterError("A claim must have an id, a statement and a place.")

    @property
    def where(self) -> str:
        """Document and place, in one line."""
        return f"{self.document}, {self.place}"

    def verdict(self, results: StudyResults | None) -> Verdict:
        """What the results say; ``"not judged"`` where there are none, or not those that are needed."""
        if results is None:
            return not_judged("This study has not been run.")
        try:
            return self.judge(results)
        except NoData as missing:
            return not_judged(" ".join([str(missing), *results.skipped]))
