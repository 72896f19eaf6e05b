"""The page of a publication: every statistic with its figure, what is promised in plain words, and how it was done."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

import bruit
from bruit.figures import picture, plot_result
from bruit.pages import Page, Section, render
from bruit.privacy.guarantee import Guarantee
from bruit.publications.published import Published
from bruit.releases.result import Result
from bruit.tables import Table, counted, number, percent

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


def page(published: Published) -> str:
    """The page as one HTML file that needs nothing else."""
    sections = [_section(name, result) for name, result in published.results.items()]
    return render(
        Page(
            published.title,
            f"Published on {published.date[:10]}, with noise that protects {_WHOM[published.guarantee.neighbours][0]}.",
            (*sections, _promise(published.guarantee), _bounds(published), _method(published)),
            footer=f"Publication {published.digest}, made with bruit {bruit.__version__}. The same numbers are in "
            "results.csv, results.parquet and results.json.",
        )
    )


def _section(name: str, result: Result) -> Section:
    table = result.table()
    paragraphs = [f"{table.title.removeprefix('Released ').capitalize()}."]
    if result.simulated:
        paragraphs.append("Simulated: anyone who has the seed can remove the noise.")
    paragraphs += [f"{note[:1].upper()}{note[1:]}." for note in result.notes]
    if _is_clamped(result):
        paragraphs.append(
            "Values outside the declared bounds count as the nearest bound, in what is published and in its interval."
        )
    if len(result) == 1:
        paragraphs[0] = f"{paragraphs[0]} {_single(result)}"
    is_number = result.values.dtype.kind in "iuf"
    figure = picture(plot_result(result)) if len(result) > 1 and is_number else None
    if len(result) > MOST_ROWS:
        paragraphs.append(f"The figure is about {counted(len(result), 'value')}; the files have all.")
    shown = _plain_table(table) if 1 < len(result) <= MOST_ROWS else None
    return Section(name, tuple(paragraphs), shown, figure)


def _plain_table(table: Table) -> Table:
    """A table without its notes and title, which stand beside it."""
    return replace(table, title="", notes=())


def _single(result: Result) -> str:
    """One value in a sentence."""
    (value,) = result.values.tolist()
    text = value if isinstance(value, str) else number(value)
    if result.ends is None:
        return f"It is {text}."
    low, high = (end if isinstance(end, str) else number(end) for end in np.ravel(result.ends(0.95)).tolist())
    limits = ["of the rows that count"] if "person" in result.statistic else []
    limits += ["with values kept within their bounds"] if _is_clamped(result) else []
    meant = f", {' and '.join(limits)}," if limits else ""
    return f"It is {text}; without noise{meant} it is from {low} to {high}, with probability 95 %."


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
    return Section("What is promised", tuple(sentences))


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
    return Section("What each number cost", (intro,), code="\n".join(lines))


def _method(published: Published) -> Section:
    names = dict.fromkeys(_cited(result) for result in published.results.values())
    return Section("How it was done", tuple(_METHODS[name] for name in [*names, "composition"]))


def _cited(result: Result) -> str:
    kind = result.statistic.get("kind")
    if kind == "groups":
        return "groups"
    if kind == "quantiles by histogram":
        return "histogram"
    if kind in ("median", "quantiles"):
        return "joint" if result.statistic.get("method") == "joint" else "quantiles"
    return "gaussian" if result.guarantee.delta else "laplace"
