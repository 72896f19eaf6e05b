"""One page of all studies: the claims with their verdicts first, then each study with its figures.

The page is one HTML file that loads nothing, fits a phone, prints, and is filtered without any script. The table of
claims is also made as Markdown, for the documentation.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bruit import __version__, documents, pages
from bruit.errors import MissingExtraError
from bruit.tables import Table, counted, typeset
from bruit_studies import recorded
from bruit_studies.claim import DOCUMENTS, KINDS, REFERENCES, Claim, Verdict
from bruit_studies.formulas import FORMULAS, mathml
from bruit_studies.results import NoData, StudyResults
from bruit_studies.runner import FOLDER, read
from bruit_studies.study import Study

#: What each verdict says, for the page.
MEANINGS = {
    "confirmed": "the results agree",
    "improved": "right on its own terms; the evidence says what does better",
    "slip": "a slip of the pen: what is meant is plain, and holds",
    "corrected": "nearly right; the evidence gives the right form",
    "refuted": "the results contradict it",
    "open": "these results cannot settle it",
    "not judged": "a part of the study could not be run",
}


@dataclass(frozen=True)
class Judged:
    """A claim, the study that judges it, and its verdict."""

    study: Study
    claim: Claim
    verdict: Verdict

    @property
    def stated(self) -> str:
        """The formula that is claimed, in TeX; nothing where there is none."""
        return FORMULAS[self.claim.id].stated if self.claim.id in FORMULAS else ""

    @property
    def right(self) -> str:
        """The right form, where the verdict is that the claimed one is not."""
        wrong = self.verdict.kind in ("slip", "corrected", "refuted") and self.claim.id in FORMULAS
        return FORMULAS[self.claim.id].right if wrong else ""


@dataclass(frozen=True)
class StudyReport:
    """Studies in the order of the page, with results by name; a study that was not run is named, and that is all."""

    studies: Sequence[Study]
    results: Mapping[str, StudyResults]

    @classmethod
    def of(cls, studies: Sequence[Study], folder: str | os.PathLike[str] = FOLDER) -> StudyReport:
        """The report of what is in a folder: full results where there are, quick ones elsewhere."""
        runs = ((study.name, read(study, folder)) for study in studies)
        return cls(studies, {name: results for name, results in runs if results is not None})

    @cached_property
    def judged(self) -> list[Judged]:
        """Every claim of the studies that were run, with its verdict."""
        return [
            Judged(study, claim, claim.verdict(self.results[study.name]))
            for study in self.studies
            if study.name in self.results
            for claim in study.claims
        ]

    @property
    def waiting(self) -> list[Study]:
        """The studies that were not run."""
        return [study for study in self.studies if study.name not in self.results]

    @property
    def summary(self) -> str:
        """How many claims there are, and how many of each verdict."""
        return counted(len(self.judged), "claim") + (f": {self._kinds}" if self._kinds else "")

    @property
    def documents(self) -> dict[str, str]:
        """The documents that these claims are taken from."""
        cited = {judged.claim.document for judged in self.judged}
        return {name: text for name, text in DOCUMENTS.items() if name in cited}

    @property
    def by_document(self) -> list[tuple[str, list[Judged]]]:
        """The claims by document, and within it by place, in the order in which the studies name the places."""
        groups = []
        for name in self.documents:
            own = [judged for judged in self.judged if judged.claim.document == name]
            places = list(dict.fromkeys(_slide(judged.claim.place) for judged in own))
            groups.append((name, sorted(own, key=lambda judged: places.index(_slide(judged.claim.place)))))
        return groups

    @property
    def _kinds(self) -> str:
        return ", ".join(f"{count} {kind}" for kind, count in self.counts.items() if count)

    @property
    def not_run(self) -> str:
        """What was not run, and how to run it; nothing where all was."""
        if not self.waiting:
            return ""
        claims = sum(len(study.claims) for study in self.waiting)
        whose = f"{counted(len(self.waiting), 'study')} with {counted(claims, 'claim')}"
        return f"Not run yet: {whose}. To run: {self.command}"

    @property
    def command(self) -> str:
        """What runs the studies that were not run."""
        names = " ".join(study.name for study in self.waiting)
        return f"bruit study run {'--all' if len(self.waiting) == len(self.studies) > 1 else names}"

    @property
    def counts(self) -> dict[str, int]:
        """How many claims have each kind of verdict."""
        kinds = Counter(judged.verdict.kind for judged in self.judged)
        return {kind: kinds[kind] for kind in KINDS}

    def to_list(self) -> list[dict[str, Any]]:
        """The claims for a program."""
        return [
            {
                "id": judged.claim.id,
                "study": judged.study.name,
                "statement": judged.claim.statement,
                "document": judged.claim.document,
                "place": judged.claim.place,
                "verdict": judged.verdict.kind,
                "evidence": judged.verdict.sentence,
                "figures": dict(judged.verdict.figures),
            }
            for judged in self.judged
        ]

    def to_html(self) -> str:
        """The page."""
        try:
            import bruit.figures  # noqa: F401 -- the figures of each study
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "matplotlib":
                raise
            raise MissingExtraError("The report", "figures") from None
        return pages.fill(
            "report.html.j2",
            "bruit_studies",
            language="en",
            title="Claims and studies",
            report=self,
            parts=[_part(study, self.results[study.name]) for study in self.studies if study.name in self.results],
            kinds=KINDS,
            meanings=MEANINGS,
            documents=self.documents,
            references=REFERENCES,
            counted=counted,
            mathml=mathml,
            slug=_slug,
            version=__version__,
        )

    def to_markdown(self) -> str:
        """The table of claims as a page of the documentation."""
        lines = [_HEADER.format(summary=self._kinds or "no study was run yet")]
        lines += [f"{self.not_run}\n"] if self.waiting else []
        for study in (study for study in self.studies if study.name in self.results):
            lines += [f"## {study.title}\n", f"*Study* `{study.name}`. {typeset(study.question)}\n"]
            lines += ["| Claim | Where | Verdict | Evidence |", "|---|---|---|---|"]
            for judged in self.judged:
                if judged.study is study:
                    cells = (
                        judged.claim.statement,
                        judged.claim.where,
                        f"**{judged.verdict.kind}**",
                        judged.verdict.sentence,
                    )
                    lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
            lines.append("")
        lines += ["## The documents\n", *(f"- *{name}*: {text}." for name, text in self.documents.items())]
        lines += ["\n## What they build on\n", *(f"- {text}." for text in REFERENCES)]
        return "\n".join(lines) + "\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page (.html), or the table of claims (.md)."""
        text = self.to_markdown() if Path(path).suffix == ".md" else self.to_html()
        documents.write_text(path, text)


@dataclass(frozen=True)
class _Part:
    """A study on the page."""

    study: Study
    results: StudyResults
    figures: Sequence[tuple[Any, str]]
    table: Table | None

    @property
    def setting(self) -> str:
        """What was run."""
        results = self.results
        return f"{counted(results.trials, 'trial')}, {results.size} size, seed {results.seed}."

    @property
    def recorded(self) -> str:
        """Which rows were made elsewhere, and how; nothing where none were."""
        how = recorded.about(self.study.name)
        return f"Recorded before, and not run here: {how}." if how else ""

    @property
    def skipped(self) -> list[str]:
        """What was not, and why."""
        return [
            f"{counted(count, 'trial')} {'was' if count == 1 else 'were'} skipped: {reason}"
            for reason, count in self.results.skipped.items()
        ]


def _part(study: Study, results: StudyResults) -> _Part:
    from bruit.figures import picture

    figures = []
    for plot in study.plots:
        try:
            drawn = picture(plot.figure(results))
        except NoData:  # a part of the study was skipped; the page gives the reason
            continue
        alike = pages.Picture(drawn.svg, typeset(drawn.alt))
        figures.append((pages.inline(alike, f"{study.name}-{plot.name}-"), plot.caption))
    try:
        table = study.table(results) if study.table else None
    except NoData:
        table = None
    return _Part(study, results, figures, table)


def _cell(text: str) -> str:
    return re.sub(r"([|*_<])", r"\\\1", typeset(text)) if not text.startswith("**") else text


def _slide(place: str) -> str:
    """The slide, section or figure of a place: what comes before its first comma."""
    return place.partition(",")[0]


def _slug(text: str) -> str:
    return text.replace(" ", "-")


_HEADER = """\
<!-- Written by `bruit study report --out claims.md`, from results of `bruit study run --all` and from the rows recorded
in `src/bruit_studies/_recorded`. -->

# Claims

For students and teachers: what the courses and reports that bruit follows claim, and what the studies say of it.

There are {summary}.
*Improved* means right on its own terms, and the evidence says what does better. *Slip* means a slip of the pen: the
meaning is plain, and holds. *Corrected* means nearly right, with the right form in the evidence. *Open* means that
these results cannot settle it. Claims are in our words. The rule of judgement, and why some labels changed, is on
[Judgements](../explanation/judgements.md). To run the studies, see [Run the studies](../how-to/run_the_studies.md).
"""
