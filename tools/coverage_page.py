"""Write docs/reference/coverage.md: what the documents hold, item by item, where each works here, and what is missing.

Claims are taken from the studies themselves. `ITEMS` adds what is no claim: definitions, algorithms, listings,
exercises, experiments and figures. Run ``python tools/coverage_page.py`` after changing either; a test compares the
page with what this writes.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from bruit import _checks
from bruit.errors import ParameterError
from bruit.tables import typeset
from bruit_studies import DOCUMENTS, Study, all_studies

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "coverage.md"

HEADER = """\
<!-- Written by tools/coverage_page.py from the studies and its own list: change them, then run it again. -->

# Coverage

For students and teachers of the courses that bruit follows: every item of their documents, and where it works here.
Of all items: {summary}. Every claim that a [study](../how-to/run_the_studies.md) judges is an item. Its verdict
stands on [Claims](claims.md).
"""

State: TypeAlias = Literal["works", "partly", "missing"]


@dataclass(frozen=True)
class Item:
    """Something that a document has, and where it works.

    Parameters
    ----------
    works
        Public names (``bruit.oracles.RandomizedResponse``), studies (``study:krr``), their figures and claims
        (``figure:krr/dispersion``, ``claim:krr-ldp``), or pages and files of the repository
        (``docs/reference/oracles.md``).
    missing
        What is not there, and why, or that it is planned; nothing where all is.
    """

    document: str
    place: str
    what: str
    works: tuple[str, ...] = ()
    missing: str = ""

    def __post_init__(self) -> None:
        _checks.one_of(DOCUMENTS, document=self.document)
        if not (self.works or self.missing):
            raise ParameterError("An item works somewhere, or says what is missing.")

    @property
    def state(self) -> State:
        """Whether all of it works, a part, or nothing."""
        if not self.missing:
            return "works"
        return "partly" if self.works else "missing"


def claimed(studies: Iterable[Study]) -> list[Item]:
    """Every claim of these studies as an item."""
    return [
        Item(claim.document, claim.place, claim.statement, (f"claim:{claim.id}",))
        for study in studies
        for claim in study.claims
    ]


_LDP, _SEVERAL, _PROJECT = "LDP slides", "several-attributes slides", "student project"
_NOTEBOOK = "examples/student_project.ipynb"
_REPORT, _LEARNING = "internship report", "learning slides"

ITEMS: tuple[Item, ...] = (
    Item(_LDP, "slide “En images”", "DP and LDP in pictures",
         ("docs/explanation/why_local_noise_costs.md",)),
    Item(_LDP, "slide “Définition et propriétés”", "ε-LDP", ("bruit.privacy.Guarantee", "bruit.audit.exact")),
    Item(_LDP, "slide “Définition et propriétés”", "robustness to post-processing",
         ("docs/explanation/stories_of_the_course.md",)),
    Item(_LDP, "slide “Motivation : données embarrassante à nettoyer”", "Warner's survey with two coins",
         ("bruit.oracles.RandomizedResponse.two_coins", "study:warner", "figure:warner/estimates")),
    Item(_LDP, "slide “Définition et propriétés”, reference 1", "Duchi's rates of local privacy",
         ("bruit.numbers.Duchi", "docs/reference/numbers.md"),
         "the lower bounds themselves: they hold up to constants, and exact variances stand in their place"),
    Item(_LDP, "slide “Motivation : estimation du pourcentage de tricheurs”", "Warner's tree of probabilities",
         ("claim:warner-observed", "bruit_studies.warner.Coins")),
    Item(_LDP, "slide “Motivation : estimation du pourcentage de tricheurs”", "other coins: the first one",
         ("figure:warner/coins",)),
    Item(_LDP, "slide “Motivation : estimation du pourcentage de tricheurs”", "other coins: both",
         ("bruit_studies.warner.Coins", "figure:warner/second-coin",
          "docs/explanation/how_randomised_response_works.md")),
    Item(_LDP, "slide “Données catégorielles : M_GRR”", "GRR", ("bruit.oracles.RandomizedResponse",)),
    Item(_LDP, "slide “Données catégorielles : M_GRR”", "bars of its law for ε = 1, k = 9, x = 6",
         ("bruit.oracles.RandomizedResponse.matrix", "figure:krr/law")),
    Item(_LDP, "slide “Données continues, encore Laplace”", "bounded Laplace", ("bruit.numbers.BoundedLaplace",)),
    Item(_LDP, "listing “Nettoyage naïf avec Laplace borné et GRR −1” to “−3”", "cleaning Pima, then naive Bayes",
         ("study:numeric-cleaning", "bruit.learning.LocalPrivatizer")),
    Item(_LDP, "slide “Données continues, par paliers”", "the staircase",
         ("bruit.numbers.Staircase", "bruit.releases.StaircaseNoise", "figure:numeric-cleaning/density")),
    Item(_LDP, "listing “Nettoyage avec stairCase et GRR”", "the staircase drawn again until it fits",
         ("bruit.numbers.Staircase.as_printed", "figure:numeric-cleaning/leak")),
    Item(_LDP, "slide “Utilité de mécanismes v.-à-v. du GNB”", "accuracy against ε, mean and standard deviation",
         ("figure:numeric-cleaning/spread", "figure:numeric-cleaning/printed", "figure:numeric-cleaning/honest")),
    Item(_SEVERAL, "slide “Analyses multidimeelles respectueuses : exemples”", "deployments: Flux Vision, large firms",
         ("docs/reference/deployments.md", "bruit_studies.deployments.Deployment")),
    Item(_SEVERAL, "slide “Ex. de requêtes sur des bases voisines”", "the salary that a difference gives away",
         ("docs/explanation/stories_of_the_course.md",)),
    Item(_SEVERAL, "slide “Formalisation de la DP”", "ε-DP", ("bruit.privacy.Guarantee",)),
    Item(_SEVERAL, "slide “Requête Q1”", "a count with Laplace noise",
         ("bruit.releases.Count", "bruit.releases.DiscreteLaplace")),
    Item(_SEVERAL, "slide “Robustesse au post-traitement”", "the theorem",
         ("docs/explanation/stories_of_the_course.md",)),
    Item(_SEVERAL, "slide “Composition séquentielle”", "the theorem, and the sum of ε",
         ("bruit.privacy.sequential", "bruit.privacy.Ledger")),
    Item(_SEVERAL, "slide “Composition séquentielle”", "averaging repeated answers",
         ("docs/explanation/stories_of_the_course.md", "claim:averaging", "docs/explanation/memos_and_rounds.md")),
    Item(_SEVERAL, "slide “M_SUE”", "SUE, and “M_GRR” where M_SUE is meant",
         ("bruit.oracles.UnaryEncoding", "docs/explanation/stories_of_the_course.md")),
    Item(_SEVERAL, "slide “M_SUE”, reference 8", "RAPPOR",
         ("bruit.open_answers.RAPPOR", "bruit.oracles.UnaryEncoding", "bruit.oracles.Repeated",
          "docs/how-to/count_named_answers.md")),
    Item(_SEVERAL, "slide “Autres mécanismes avec même estimateur/variance”, reference 9", "SHE and THE",
         ("bruit.oracles.UnaryEncoding.thresholded_histogram",),
         "SHE is not built: SUE has half its variance"),
    Item(_SEVERAL, "slide “Autres mécanismes avec même estimateur/variance”", "OUE and BLH",
         ("bruit.oracles.UnaryEncoding", "bruit.oracles.LocalHashing", "docs/explanation/stories_of_the_course.md")),
    Item(_SEVERAL, "slide “Choisir un mécanisme pour un attribut”", "Var* of the mechanisms, N = 10⁵, k = 128",
         ("figure:variance/oracles", "bruit.oracles.choose")),
    Item(_SEVERAL, "slide “Diviser le budget entre attributs”", "SPL and SMP", ("bruit.collection.Plan",)),
    Item(_SEVERAL, "slide “Diviser le budget entre attributs”, reference 11", "k of d attributes sampled",
         ("bruit.collection.Plan", "docs/reference/methods.md")),
    Item(_SEVERAL, "slide “Choix inéquitable de l'attribut partagé : une solution”", "RS+FD",
         ("bruit.collection.RSFD", "docs/explanation/several_attributes.md")),
    Item(_SEVERAL, "slide “Mise en RS+FD de M_GRR”", "estimator and variance of RS+FD[GRR]",
         ("bruit.collection.Plan.variance", "claim:fakes-variance", "docs/explanation/several_attributes.md")),
    Item(_SEVERAL, "slide “Mise en RS+FD de M_GRR”", "RS+FD with SUE",
         ("bruit.collection.Plan", "figure:several-attributes/nursery")),
    Item(_SEVERAL, "slide “Un mécanisme adaptatif ADP”", "ADP and its surface",
         ("bruit.collection.Plan", "figure:variance/surface")),
    Item(_SEVERAL, "slide “Quelques expérimentations”", "MSE on Nursery and Adult, ε = ln 2 … ln 7",
         ("figure:several-attributes/nursery", "figure:several-attributes/adult")),
    Item(_SEVERAL, "slide “Attaque avec connaissances minimales (ε)”", "the attack on the sampled attribute",
         ("bruit.attacks.sampled_attribute", "study:attack")),
    Item(_SEVERAL, "slide “Résultats de l'attaque de RS+FD”", "curves over 1n … 5n and ε = 1 … 10",
         ("figure:attack/profiles", "figure:attack/rates", "figure:attack/protocols", "bench/attack_grid.py"),
         "20 runs of 2n to 4n, and at ε other than 1, 5 and 10: of these one run is recorded, of 4n at five ε"),
    Item(_SEVERAL, "slide “Une contremesure parfois possible”", "RS+RFD",
         ("bruit.collection.Plan", "bruit.collection.learnt_prior", "study:countermeasure")),
    Item(_SEVERAL, "slide “Résultats de l'attaque de RS+ Realistic FD”", "its curves",
         ("figure:countermeasure/attackers", "figure:attacker-knowledge/models", "bench/attack_grid.py"),
         "2n to 4n; 20 runs at ε other than 1, 5 and 10, where 1n and 5n have 20"),
    Item(_SEVERAL, "slide “Résumé, perspectives et références”", "utility against re-identification",
         ("bruit.attacks.reidentification", "figure:attributes-under-attack/trade-off")),
    Item(_SEVERAL, "slide “Résumé, perspectives et références”, “Perspectives”", "few people (N petits)",
         ("claim:one-over-n", "study:few-people", "figure:few-people/worth", "bruit.collection.people_to_beat_uniform",
          "docs/how-to/ask_few_people.md")),
    Item("PVLDB 2023", "attacks with no, partial and both kinds of knowledge", "NK, PK and HM",
         ("bruit.attacks.sampled_attribute", "study:attacker-knowledge", "figure:attacker-knowledge/models")),
    Item(_PROJECT, "§1, equations (1) and (2)", "kRR", ("bruit.oracles.RandomizedResponse",)),
    Item(_PROJECT, "exercise 2.1", "estimator and variance, shown",
         ("claim:krr-unbiased", "claim:krr-variance", "docs/reference/oracles.md", _NOTEBOOK)),
    Item(_PROJECT, "exercise 2.2", "frequencies of marital-status at ε = 1",
         ("figure:krr/frequencies", _NOTEBOOK)),
    Item(_PROJECT, "exercise 2.3", "dispersion of the estimator", ("figure:krr/dispersion", _NOTEBOOK)),
    Item(_PROJECT, "exercise 3.1", "a baseline by a random forest", ("study:krr-learning", _NOTEBOOK)),
    Item(_PROJECT, "exercise 3.2, question 1", "why train and test are randomised so",
         ("bruit.learning.honest_split", "claim:krr-learning-test-features",
          "src/bruit_studies/krr_learning.proof.md")),
    Item(_PROJECT, "exercise 3.2, question 2", "one accuracy", ("bruit.learning.honest_split", _NOTEBOOK)),
    Item(_PROJECT, "exercise 3.3", "accuracy over ε, mean and dispersion",
         ("figure:krr-learning/accuracy", _NOTEBOOK)),
    Item(_REPORT, "§2.1, listing", "AboveThreshold", ("bruit.releases.AboveThreshold",)),
    Item(_REPORT, "§2.1, first paragraph", "paying only for the questions above the threshold, one or several",
         ("bruit.releases.AboveThreshold", "docs/how-to/answer_above_a_threshold.md",
          "src/bruit/releases/above_threshold.proof.md")),
    Item(_REPORT, "§2.1, proof of theorem 2.1.0.1", "the proof, and its slips one by one",
         ("docs/how-to/answer_above_a_threshold.md", "src/bruit/releases/above_threshold.proof.md")),
    Item(_REPORT, "§2.2.1, listing", "HistogramMethod, as printed and mended",
         ("bruit.releases.HistogramQuantiles", "figure:deciles/printed")),
    Item(_REPORT, "§2.2.1, figure 1", "the steps for a = 0, b = 1, steps = 4", ("figure:deciles/steps",)),
    Item(_REPORT, "§2.2.3, theorem 2.2.3.1", "accuracy, uniform",
         ("bruit.releases.quantiles.accuracy", "figure:deciles/theorem")),
    Item(_REPORT, "§2.2.3, first paragraph", "error against deciles of the sample and of the law",
         ("figure:deciles/squared-errors", "figure:deciles/rank-errors")),
    Item(_REPORT, "§2.2.4, theorem 2.2.4.1 and appendix A.3", "accuracy, normal, mended",
         ("bruit.releases.quantiles.accuracy", "bruit.releases.quantiles.normal")),
    Item(_REPORT, "§3.1, definitions 3.1.0.1 to 3.1.0.4", "inverse sensitivity, also ρ-smooth",
         ("bruit.releases.InverseSensitivity", "bruit.releases.LengthFunction")),
    Item(_REPORT, "appendix A", "its proofs as printed and mended, slip by slip",
         ("src/bruit_studies/decile_lemmas.proof.md", "claim:lemma-deciles-normal", "claim:lemma-enough-normal",
          "claim:theorem-normal")),
    Item(_REPORT, "§3.2, title", "near-optimality: error against the local modulus of continuity",
         ("figure:inverse-sensitivity/modulus", "src/bruit_studies/inverse_sensitivity.proof.md",
          "figure:inverse-sensitivity/shapes")),
    Item(_REPORT, "§3.2, definition 3.2.0.1", "sample-monotone functions",
         ("bruit_studies.sample_monotone.first_break",)),
    Item(_LEARNING, "slides “Exemple avec des données discrètes” and “continues”", "naive Bayes by hand",
         ("claim:learning-discrete-example", "claim:learning-continuous-example")),
    Item(_LEARNING, "slide “Evaluer Pr[Y_j] et Pr[X_i|Y_j]”", "noisy histograms, means and variances",
         ("bruit.releases.Histogram", "bruit.releases.Mean", "bruit.releases.Variance")),
    Item(_LEARNING, "slide “Algorithme de Vaidya”", "Vaidya's naive Bayes, corrected", ("bruit.learning.NaiveBayes",)),
    Item(_LEARNING, "slide “Algorithme de Vaidya”", "Vaidya's naive Bayes as printed",
         ("bruit_studies.as_printed.VaidyaAsPrinted", "figure:central-or-local/naive-bayes")),
    Item(_LEARNING, "slide “Remarques et implantation”, listing", "DP-GNB on the income of Adult",
         ("bruit.learning.NaiveBayes", "figure:central-or-local/adult", "bench/documents.py")),
    Item(_LEARNING, "slide “GNB vs M_Stair + GNB vs DP-GNB”", "accuracy over ε",
         ("figure:central-or-local/naive-bayes", "figure:central-or-local/naive-bayes-diffprivlib")),
    Item(_LEARNING, "slides “Introduction” to “Exemple”", "least squares, and the worked example",
         ("bruit.learning.LinearRegression", "claim:least-squares-example")),
    Item(_LEARNING, "slide “Algorithme ε-DP” (linear regression)", "the functional mechanism",
         ("bruit.learning.LinearRegression",)),
    Item(_LEARNING, "slide “Algorithme ε-DP” (linear regression), reference 7", "logistic regression, as printed",
         ("bruit_studies.as_printed.FunctionalLogisticAsPrinted", "figure:central-or-local/logistic",
          "claim:functional-logistic")),
    Item(_LEARNING, "slide “LR vs M_Stair + LR vs DP-LR”", "accuracy over ε",
         ("figure:central-or-local/regression", "figure:central-or-local/regression-diffprivlib",
          "figure:central-or-local/dispersion")),
    Item(_LEARNING, "slide “Exemple, synthèse”", "k-means step by step (0a to 4a)",
         ("figure:central-or-local/kmeans-steps",)),
    Item(_LEARNING, "slide “Algorithme simplifié ε-DP”", "private k-means, as printed and better",
         ("bruit.learning.KMeans", "figure:central-or-local/iris")),
    Item(_LEARNING, "slide “K-means avec DiffPrivLib”", "the listing on Iris",
         ("bruit.learning.KMeans", "figure:central-or-local/iris", "claim:kmeans-listing-labels")),
    Item(_LEARNING, "slide “Exemple avec des données discrètes−1”, reference 2",
         "locally private naive Bayes, of labels and of numbers in cells",
         ("bruit.learning.LocalNaiveBayes",)),
)  # fmt: skip


def page() -> str:
    """The page."""
    items = [*ITEMS, *claimed(all_studies())]
    states = Counter(item.state for item in items)
    works, partly, missing = (states[state] for state in ("works", "partly", "missing"))
    summary = f"{len(items)} in all, {works} work, {partly} work partly, {missing} do not work yet"
    lines = [HEADER.format(summary=summary)]
    for document, citation in DOCUMENTS.items():
        own = [item for item in items if item.document == document]
        lines += [f"## {document[0].upper()}{document[1:]}\n", f"{citation}.\n"]
        lines += ["| Place | Item | Where it works | What is missing |", "|---|---|---|---|"]
        lines += [_row(item) for item in sorted(own, key=lambda item: item.place)]
        lines.append("")
    return "\n".join(lines)


def _row(item: Item) -> str:
    where = ", ".join(_link(target) for target in item.works)
    return f"| {_text(item.place)} | {_text(item.what)} | {where} | {_text(item.missing)} |"


def _link(target: str) -> str:
    kind, _, name = target.partition(":")
    if kind == "figure":
        study, _, figure = name.partition("/")
        return f"figure “{figure}” of `bruit study run {study}`"
    if kind == "claim":
        return f"[judged](claims.md) as `{name}`"
    if kind == "study":
        return f"`bruit study run {name}`"
    if target.startswith("docs/"):
        return f"[{target.removeprefix('docs/')}]({posixpath.relpath(target, 'docs/reference')})"
    return f"`{target}`"


def _text(text: str) -> str:
    marks = str.maketrans({mark: f"\\{mark}" for mark in "|*_<"})
    return typeset(text).translate(marks)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
