"""The page of a publication: every statistic with its figure, what is promised in plain words, and how it was done."""

from __future__ import annotations

import math
from collections.abc import Mapping

import bruit
from bruit.figures import picture, plot_result
from bruit.pages import Page, Section, render
from bruit.privacy.guarantee import Guarantee
from bruit.publications.published import Published
from bruit.publications.sentences import reading_table, sentence
from bruit.releases.result import Result
from bruit.tables import counted, number, percent

#: Notes about how intervals are computed, which are for the files.
_OF_METHOD = ("interval of a ratio (Fieller)", "kept within the bounds")
#: What readers of a page cannot do.
_FOR_STEWARDS = " (bruit limits estimates it)"
#: Of a longer table the page shows the figure, and the files have all rows.
MOST_ROWS = 60

_WHOM = {
    "add-remove": ("any record", "that record is in the table or not"),
    "replace": ("any record", "that record is as it is or replaced by any other"),
    "person-add-remove": ("any person with all their rows", "that person is in the table or not"),
    "person-replace": ("any person with all their rows", "the rows are theirs or anybody else's"),
}
_METHODS = {
    "laplace": "Discrete Laplace (geometric) noise: A. Ghosh, T. Roughgarden and M. Sundararajan, Universally "
    "utility-maximizing privacy mechanisms, SIAM Journal on Computing 41 (2012).",
    "gaussian": "Discrete Gaussian noise: C. L. Canonne, G. Kamath and T. Steinke, The discrete Gaussian for "
    "differential privacy, NeurIPS 2020.",
    "quantiles": "Quantiles by ranks: A. Smith, Privacy-preserving statistical estimation with optimal convergence "
    "rates, STOC 2011; H. Kaplan, S. Schnapp and U. Stemmer, Differentially private approximate quantiles, ICML 2022.",
    "joint": "Quantiles drawn together: J. Gillenwater, M. Joseph and A. Kulesza, Differentially private quantiles, "
    "ICML 2021.",
    "histogram": "Quantiles by a histogram: C. Dwork and A. Roth, The algorithmic foundations of differential privacy "
    "(2014), section 3.6.",
    "groups": "Groups of many people: D. Desfontaines, J. Voss, B. Gipson and C. Mandayam, Differentially private "
    "partition selection, PoPETs 2022.",
    "composition": "Differential privacy and its composition: C. Dwork, F. McSherry, K. Nissim and A. Smith, "
    "Calibrating noise to sensitivity in private data analysis, TCC 2006.",
}


def page(published: Published, descriptions: Mapping[str, str] | None = None) -> str:
    """The page as one HTML file that needs nothing else: for readers first, and what was done folded below.

    Parameters
    ----------
    published
        What was published.
    descriptions
        What the author says of a statistic, by its name.
    """
    shared = _shared_notes(published)
    sections = [
        _section(name, result, published.kept_of(name), (descriptions or {}).get(name, ""), shared)
        for name, result in published.results.items()
    ]
    whom = _WHOM[published.guarantee.neighbours][0]
    return render(
        Page(
            published.title,
            f"Published on {published.date[:10]}. Every number has noise, which protects {whom}. An interval holds the "
            "number without noise 95 times of 100. Numbers have noise of their own and need not add up.",
            (*_about(shared), *sections, _promise(published.guarantee), _bounds(published), _method(published)),
            footer=f"Publication {published.digest}, made with bruit {bruit.__version__}. Every digit is in "
            "results.csv, results.parquet and results.json.",
        )
    )


def _notes(result: Result) -> list[str]:
    """What a reader must know of a result."""
    notes = [note for note in result.notes if note not in _OF_METHOD]
    if result.simulated:
        notes.insert(0, "simulated: anyone who has the seed can remove the noise")
    if _is_clamped(result):
        notes.append("values outside the declared bounds count as the nearest bound")
    return [f"{note[:1].upper()}{note[1:]}.".replace(_FOR_STEWARDS, "") for note in notes]


def _shared_notes(published: Published) -> list[str]:
    """The notes that stand once because all results have them."""
    lists = [_notes(result) for result in published.results.values()]
    return [note for note in lists[0] if len(lists) > 1 and all(note in other for other in lists)]


def _about(shared: list[str]) -> tuple[Section, ...]:
    return (Section("About all of these numbers", tuple(shared)),) if shared else ()


def _section(name: str, result: Result, kept: str, description: str, shared: list[str]) -> Section:
    """A statistic: what it is, the sentence, the picture, the numbers."""
    paragraphs = [description] if description else []
    paragraphs.append(sentence(result))
    if kept:
        numbers = "This number is" if len(result) == 1 else "These numbers are"
        paragraphs.append(f"{numbers} of {kept}, and of the table as it was then.")
    paragraphs += [note for note in _notes(result) if note not in shared]
    is_number = result.values.dtype.kind in "iuf"
    figure = picture(plot_result(result)) if len(result) > 1 and is_number and result.ends is not None else None
    if len(result) > MOST_ROWS:
        paragraphs.append(f"The picture is about {counted(len(result), 'value')}; the files have all.")
    shown = reading_table(result) if 1 < len(result) <= MOST_ROWS else None
    return Section(name, tuple(paragraphs), shown, figure)


def _is_clamped(result: Result) -> bool:
    """Whether values outside their bounds count as the nearest bound."""
    return "bounds" in result.statistic and result.statistic.get("outside", "clamp") == "clamp"


def _promise(guarantee: Guarantee) -> Section:
    """What ε and δ say, without a formula."""
    whom, alternative = _WHOM[guarantee.neighbours]
    factor = math.exp(min(guarantee.epsilon, 700.0))
    rest = f" (and one chance in {1 / guarantee.delta:,.0f} more)" if guarantee.delta else ""
    sentences = [
        f"Noise was added to every number on this page, so that together they tell little about {whom}. Whatever "
        f"anybody concludes from them is at most {factor:.3g} times as likely{rest} whether {alternative}. This holds "
        "whatever else they know, and however they compute."
    ]
    if not guarantee.delta:
        low, high = guarantee.belief(0.5)
        sentences.append(
            f"A reader who gave it even chances before now holds it for at least {percent(low, 0)} and at most "
            f"{percent(high, 0)} likely afterwards."
        )
    sentences.append(f"In the language of differential privacy: {guarantee}, for all numbers together.")
    sentences.append(
        "Intervals are about the noise alone. They do not speak of rows that are missing from the table or beyond what "
        "counts of a person, nor of people whom the table does not have."
    )
    return Section("What is promised", tuple(sentences), folded=True)


def _bounds(published: Published) -> Section:
    """What was declared and not read from the data."""
    statistics = published.plan.get("statistics", {})
    lines = []
    for name, result in published.results.items():
        own = statistics.get(name, {})
        delta = f", δ = {result.guarantee.delta:.3g}" if result.guarantee.delta else ""
        bounds = own.get("bounds")
        limits = f", numbers from {number(bounds[0])} to {number(bounds[1])}" if isinstance(bounds, list) else ""
        lines.append(f"{name}: ε = {result.guarantee.epsilon:.4g}{delta}{limits}")
    intro = "Bounds, categories and groups were declared before the table was read; numbers beyond count as the bound."
    if "rho" in published.plan:
        intro += f" Together they cost ρ = {published.plan['rho']:.4g} (zCDP), which is less than the sum of these ε."
    return Section("What each number cost", (intro,), code="\n".join(lines), folded=True)


def _method(published: Published) -> Section:
    names = dict.fromkeys(_cited(result) for result in published.results.values())
    return Section("How it was done", tuple(_METHODS[name] for name in [*names, "composition"]), folded=True)


def _cited(result: Result) -> str:
    kind = result.statistic.get("kind")
    if kind == "groups":
        return "groups"
    if kind == "quantiles by histogram":
        return "histogram"
    if kind in ("median", "quantiles"):
        return "joint" if result.statistic.get("method") == "joint" else "quantiles"
    return "gaussian" if result.guarantee.delta else "laplace"
