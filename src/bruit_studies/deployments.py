"""Deployments: who collected or published with differential privacy, with which law, and what ε that really is.

A deployment is written in the terms of this library. Its law and its ε are computed by the mechanisms of the library
from the published parameters. Each fact has a source.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from bruit import _checks
from bruit.errors import ParameterError
from bruit.numbers import Duchi
from bruit.open_answers import RAPPOR
from bruit.oracles import UnaryEncoding
from bruit.privacy import zcdp
from bruit.tables import Column, Table


class Fact(NamedTuple):
    """A line of what a deployment does: of what, and the number; a text where there is no single number.

    The overview shows the facts that have a span: "report", "day" or "publication".
    """

    what: str
    number: float | str
    span: str = ""


class Citation(NamedTuple):
    """Where a fact stands."""

    text: str
    link: str


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A use of differential privacy by an organisation.

    Parameters
    ----------
    name
        The name that the command takes.
    who, years, purpose
        The organisation, when, and what was collected or published.
    stated
        The ε that the organisation stated, and of what.
    here
        What it is in the terms of this library.
    law
        How likely each message is, from the mechanism of the library with the published parameters; empty where no law
        was published.
    losses
        The ε of more and more of what it sends or publishes about a person.
    covers
        What the ε of the overview is about.
    remarks
        What these numbers leave out.
    sources
        Where the facts stand.
    """

    name: str
    who: str
    years: str
    purpose: str
    stated: str
    here: str
    law: Callable[[], list[Fact]]
    losses: Callable[[], list[Fact]]
    covers: str
    remarks: tuple[str, ...]
    sources: tuple[Citation, ...]

    def table(self) -> Table:
        """The law and the losses, with remarks and sources below."""
        law, losses = self.law(), self.losses()
        rows = [*(("law", fact) for fact in law), *(("ε", fact) for fact in losses)]
        columns = [
            Column("kind", [kind for kind, _ in rows], kind="label", write=str),
            Column("of", [fact.what for _, fact in rows], kind="text", write=str),
            Column("value", [fact.number for _, fact in rows], write=_written),
        ]
        sources = [f"source: {source.text}. {source.link}" for source in self.sources]
        notes = [f"here: {self.here}", f"stated: {self.stated}", *self.remarks, *sources]
        return Table(f"{self.who}, {self.years}: {self.purpose}", columns, notes)


def find(name: str) -> Deployment:
    """The deployment of a name, in any case."""
    known = {deployment.name: deployment for deployment in DEPLOYMENTS}
    if not isinstance(name, str) or name.strip().lower() not in known:
        near = _of_firm(name, known) or _checks.suggestion(str(name), list(known))
        raise ParameterError(f"There is no deployment {name!r}.{near} The deployments are {', '.join(known)}.")
    return known[name.strip().lower()]


def _of_firm(name: Any, known: dict[str, Deployment]) -> str:
    """The deployment of a firm that was named in place of it, as a suggestion."""
    firm = str(name).strip().lower()
    near = next((other for other, deployment in known.items() if firm and firm in deployment.who.lower()), None)
    return "" if near is None else f" Did you mean {near!r}?"


def overview() -> Table:
    """All deployments: the ε of one report, of a day of reports, or of a publication, and what it is about."""
    columns = [
        Column("name", [deployment.name for deployment in DEPLOYMENTS], kind="label", write=str),
        Column("who", [f"{deployment.who}, {deployment.years}" for deployment in DEPLOYMENTS], kind="text", write=str),
        Column("report", [_of_span(deployment, "report") for deployment in DEPLOYMENTS], "report ε", write=_written),
        Column("day", [_of_span(deployment, "day") for deployment in DEPLOYMENTS], "day ε", write=_written),
        Column(
            "publication",
            [_of_span(deployment, "publication") for deployment in DEPLOYMENTS],
            "publication ε",
            write=_written,
        ),
        Column("covers", [deployment.covers for deployment in DEPLOYMENTS], kind="text", write=str),
    ]
    return Table("", columns, ["bruit study deployments NAME shows a law, all its ε, and the sources."])


def _of_span(deployment: Deployment, span: str) -> float | str:
    return next((fact.number for fact in deployment.losses() if fact.span == span), "-")


def _written(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


# Chrome: RAPPOR with Bloom filters.


def _rappor() -> RAPPOR:
    return RAPPOR.as_published(f=0.5, p=0.25, q=0.75, bits=128, hashes=2, cohorts=128)


def _chrome_law() -> list[Fact]:
    steps = _rappor().steps
    return _bit_facts(float(steps.p), float(steps.q))


def _chrome_losses() -> list[Fact]:
    design = _rappor()
    counts = [
        (1, "one report", "report"),
        (2, "two reports", ""),
        (48, "a day of one home page, at most: a report each half hour", "day"),
    ]
    facts = [Fact(what, design.after(rounds).epsilon, span) for rounds, what, span in counts]
    return [*facts, Fact("all reports of one home page", design.guarantees["epoch"].epsilon)]


def _bit_facts(own: float, other: float) -> list[Fact]:
    return [
        Fact("a bit of the own value is reported as 1", own),
        Fact("any other bit is reported as 1", other),
    ]


# Apple: symmetric unary encoding over a hashed vector, renewed every day.

_EMOJI = 4.0
_SIERRA_DAY = 16.0


def _emoji() -> UnaryEncoding:
    return UnaryEncoding(epsilon=_EMOJI, kind="SUE", k=1024)


def _apple_losses() -> list[Fact]:
    return [
        Fact("one report of macOS 10.12 (read by researchers)", "1 or 2", "report"),
        Fact("a day of Health types (Apple)", 2.0),
        Fact("a day of emoji (Apple)", _emoji().epsilon),
        Fact("a day of Lookup Hints (Apple)", 2 * 4.0),
        Fact("a day of QuickType (Apple)", 2 * 8.0),
        Fact("a day of four features of macOS 10.12, at most (read by researchers)", _SIERRA_DAY, "day"),
        Fact("30 days at 16 a day", 30 * _SIERRA_DAY),
    ]


# Microsoft: Duchi's mechanism, a bit for each app.

# With ε for each app, and six hours in all of them together, the worst case is ε + e^ε - 1 for any number of apps:
# bits 1 gain at most Σ log(1 + (e^ε - 1)·x_j/m) ≤ e^ε - 1, and bits 0 at most ε, in one app. 0.686 makes it 1.672.
_ONE_APP = 0.686


def _app() -> Duchi:
    return Duchi(epsilon=_ONE_APP, bounds=(0, 21_600))


def _microsoft_law() -> list[Fact]:
    lowest, highest = (_app().law.row(cell) for cell in (0, _app().cells - 1))
    return [
        Fact("an app that was not used is reported as 1", float(lowest[1])),
        Fact("an app that was used all the time is reported as 1", float(highest[1])),
    ]


def _microsoft_losses() -> list[Fact]:
    epsilon = _app().guarantee.epsilon
    apps = epsilon + math.expm1(epsilon)
    return [
        Fact("one app in six hours (derived from 1.672)", epsilon),
        Fact("all apps in six hours", apps, "report"),
        Fact("all apps in a day, at most: four times six hours", 4 * apps, "day"),
    ]


# The census of the United States: discrete Gaussian noise.

_PERSONS, _UNITS, _DELTA = 17.14, 2.47, 1e-10


def _census_rho() -> tuple[float, float]:
    persons, units = (zcdp.epsilon_to_rho(epsilon, _DELTA) for epsilon in (_PERSONS, _UNITS))
    return persons, units


def _census_law() -> list[Fact]:
    persons, units = _census_rho()
    return [
        Fact("ρ of the tables of persons, for their ε", persons),
        Fact("ρ of the tables of housing units, for their ε", units),
    ]


def _census_losses() -> list[Fact]:
    return [
        Fact("tables of housing units, δ = 10⁻¹⁰ (stated)", _UNITS),
        Fact("tables of persons, δ = 10⁻¹⁰ (stated)", _PERSONS),
        Fact(
            "persons and housing units together, δ = 10⁻¹⁰",
            zcdp.rho_to_epsilon(sum(_census_rho()), _DELTA),
            "publication",
        ),
    ]


def _nothing() -> list[Fact]:
    return []


_LIST = Citation(
    "D. Desfontaines, A list of real-world uses of differential privacy",
    "https://desfontain.es/blog/real-world-differential-privacy.html",
)
_REGISTRY = Citation(
    "OpenDP, Deployments registry, with quotations of the sources",
    "https://github.com/opendp/deployments-registry-data",
)

#: The deployments, oldest first.
DEPLOYMENTS: tuple[Deployment, ...] = (
    Deployment(
        name="flux-vision",
        who="Orange, Flux Vision",
        years="since 2013",
        purpose="how many people are in a place, stay there and move between places, from mobile phones",
        stated="none",
        here="none: a blurring of volumes between 0 and 20 is named, and its law is not published",
        law=_nothing,
        losses=lambda: [Fact("all that is published", "not stated", "publication")],
        covers="indicators of at least 20 people",
        remarks=(
            "The smallest sample stands for at least twenty people. Orange names a blurring of volumes between 0 and "
            "20 and does not describe it. It calls the indicators rectified.",
            "A least count alone is no differential privacy. bruit release --count adds noise, and bruit release --by "
            "COLUMN hides small groups by a noisy threshold.",
        ),
        sources=(
            Citation(
                "Orange, Population Density Data, questions and answers",
                "https://developer.orange.com/apis/population-density-data/faq",
            ),
            Citation(
                "Hit West, L'été, on compte les touristes grâce aux téléphones, 22 May 2019 (for the year)",
                "https://www.hitwest.com/news/l-ete-on-compte-les-touristes-grace-aux-telephones-33705",
            ),
        ),
    ),
    Deployment(
        name="chrome",
        who="Google, Chrome",
        years="from 2014",
        purpose="home pages and other settings of the browser (RAPPOR)",
        stated="none: ε follows from f, p and q in the source of Chromium, by the theorems of the paper",
        here="bruit.open_answers.RAPPOR.as_published(f=0.5, p=0.25, q=0.75, bits=128, hashes=2, cohorts=128)",
        law=_chrome_law,
        losses=_chrome_losses,
        covers="one home page",
        remarks=(
            "f, p, q, 128 bits, 2 hash functions, 128 cohorts and the half hour are from the source of Chromium, type "
            "ETLD_PLUS_ONE of the metric Settings.HomePage2. The figure that explains the paper has p = 0.5 instead.",
            "A home page sets one or two bits, as the two hash functions may agree. ε is for two.",
            "The memo was computed from a stored secret and the value: another home page had another memo. So each "
            "page that a person ever had costs as much again.",
            "The cohort is the same in all reports of a browser.",
        ),
        sources=(
            Citation(
                "Ú. Erlingsson, V. Pihur, A. Korolova, RAPPOR: randomized aggregatable privacy-preserving ordinal "
                "response, CCS 2014",
                "https://arxiv.org/abs/1407.6981",
            ),
            Citation(
                "Chromium, RAPPOR, design document",
                "https://www.chromium.org/developers/design-documents/rappor",
            ),
            Citation(
                "Chromium, components/rappor: rappor_service.cc of 2014, public/rappor_parameters.h of 2016, "
                "bloom_filter.cc",
                "https://chromium.googlesource.com/chromium/src",
            ),
        ),
    ),
    Deployment(
        name="apple",
        who="Apple, iOS and macOS",
        years="from 2016",
        purpose="emoji, new words, searches, web pages that use much energy (CMS, HCMS)",
        stated="for each donation ε = 2 for Health types, 4 for emoji and Lookup Hints, 8 for QuickType",
        here="bruit.oracle('SUE', epsilon=4, k=1024), of a hash of the value into 1024 bits",
        law=lambda: _bit_facts(float(_emoji().law.p), float(_emoji().law.q)),
        losses=_apple_losses,
        covers="four features of macOS 10.12",
        remarks=(
            "The law is of one donation about emoji.",
            "Apple limits donations of a feature: one a day for Health types and emoji, two a day for Lookup Hints and "
            "QuickType. Days of Apple are these products.",
            "For macOS 10.12 researchers read 1 or 2 for each report out of the program, and up to 16 for each day of "
            "emoji, new words, deep links and Lookup Hints together. Apple did not state these.",
            "The budget was renewed every day: the ε of a person grows with every day.",
        ),
        sources=(
            Citation(
                "Apple, Differential Privacy Team, Learning with privacy at scale, 2017",
                "https://machinelearning.apple.com/research/learning-with-privacy-at-scale",
            ),
            Citation(
                "Apple, Differential privacy overview",
                "https://www.apple.com/privacy/docs/Differential_Privacy_Overview.pdf",
            ),
            Citation(
                "J. Tang, A. Korolova, X. Bai, X. Wang, X. Wang, Privacy loss in Apple's implementation of "
                "differential privacy on MacOS 10.12, 2017",
                "https://arxiv.org/abs/1709.02753",
            ),
            _LIST,
            _REGISTRY,
        ),
    ),
    Deployment(
        name="windows",
        who="Microsoft, Windows 10",
        years="from 2017",
        purpose="how long apps are used, by people in the Insider programme (1BitMean)",
        stated="ε = 1.672 for all apps in six hours",
        here="bruit.numbers.Duchi(epsilon=0.686, bounds=(0, 21600)) for each app, bruit.collection.LongitudinalMean "
        "for memos, and bruit.oracles.DBitFlip for the histograms of the paper",
        law=_microsoft_law,
        losses=_microsoft_losses,
        covers="all apps of six hours",
        remarks=(
            "1.672 holds for any number of apps, which share six hours. With ε for each app the worst case is "
            "ε + e^ε - 1, and ε = 0.686 makes it 1.672. 0.686 and the law are computed from 1.672.",
            "The paper also flips a sent bit with chance γ. 1BitMean with such flips is 1BitMean with a smaller ε: "
            "0.686 includes them, whatever γ is. The stored memo has a larger ε, which is not listed here.",
            "Memos make a counter that stays cost less than the sum. A counter that changes may cost it.",
        ),
        sources=(
            Citation(
                "B. Ding, J. Kulkarni, S. Yekhanin, Collecting telemetry data privately, NIPS 2017",
                "https://arxiv.org/abs/1712.01524",
            ),
            _REGISTRY,
        ),
    ),
    Deployment(
        name="census",
        who="US Census Bureau, redistricting data of 2020",
        years="2021",
        purpose="counts of people and of housing units by place, age group, race and origin (TopDown)",
        stated="ε = 17.14 for persons and 2.47 for housing units, at δ = 10⁻¹⁰",
        here="discrete Gaussian noise under zCDP, as in bruit release --delta and bruit ledger new --zcdp",
        law=_census_law,
        losses=_census_losses,
        covers="persons and housing units, δ = 10⁻¹⁰",
        remarks=(
            "The sum of both, 19.61, is often quoted. Added as ρ they cost less, and that is shown here.",
            "Three kinds of counts have no noise and are outside of ε: the population of each state, the housing units "
            "of each block, and the group-quarters facilities of each type in each block.",
            "Later publications of the same census add to it.",
        ),
        sources=(
            Citation(
                "J. M. Abowd et al., The 2020 Census Disclosure Avoidance System TopDown algorithm, Harvard Data "
                "Science Review, 2022",
                "https://arxiv.org/abs/2204.08986",
            ),
            Citation(
                "US Census Bureau, Census Bureau sets key parameters to protect privacy in 2020 Census results, "
                "9 June 2021",
                "https://www.census.gov/newsroom/press-releases/2021/2020-census-key-parameters.html",
            ),
            Citation(
                "US Census Bureau, Invariants set for 2020 Census data products, November 2020",
                "https://content.govdelivery.com/accounts/USCENSUS/bulletins/2ae5eda",
            ),
            _REGISTRY,
        ),
    ),
)  # fmt: skip
