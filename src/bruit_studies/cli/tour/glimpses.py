"""The end of the tour: a few claims of the documents, judged by studies that are cut down to a second or two."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bruit_studies
from bruit_studies import Block, Study, StudyResults
from bruit_studies.report import Judged, StudyReport


@dataclass(frozen=True)
class Glimpse:
    """A part of a study: the claims that are shown, and no more trials than these need.

    Parameters
    ----------
    study
        Its name.
    claims
        Which of its claims, by id.
    only
        Values of factors that are kept; a block of the study without any of them is left out.
    repetitions
        The most of each combination.
    """

    study: str
    claims: tuple[str, ...]
    only: Mapping[str, Sequence[str | float]]
    repetitions: int

    def cut(self, study: Study) -> Study:
        """The study with these trials only; each draws what it draws in the whole study."""
        blocks = []
        for block in study.quick:
            factors = {
                name: [value for value in values if name not in self.only or value in self.only[name]]
                for name, values in block.factors.items()
            }
            if all(factors.values()):
                blocks.append(Block(factors, min(block.repetitions, self.repetitions)))
        return replace(study, quick=blocks)


#: Claims that hold, that can be improved on, a slip, one that is nearly right, and one that is not.
GLIMPSES = (
    Glimpse("warner", ("warner-unbiased", "warner-number"), {"part": ["coins"]}, 100),
    Glimpse("krr", ("krr-ldp", "krr-similar"), {"epsilon": [1.0], "people": ["these"]}, 100),
    Glimpse("numeric-cleaning", ("resampled-staircase-ldp",), {"protocol": ["clean"]}, 1),
    Glimpse("deciles", ("histogram-theorem",), {"part": ["theorem"], "steps": [100]}, 10),
)


def judged(seed: int) -> list[Judged]:
    """The claims with their verdicts, after the trials were made in this process."""
    whole = [bruit_studies.find(glimpse.study) for glimpse in GLIMPSES]
    results = {study.name: _run(glimpse.cut(study), seed) for glimpse, study in zip(GLIMPSES, whole, strict=True)}
    shown = {claim for glimpse in GLIMPSES for claim in glimpse.claims}
    return [verdict for verdict in StudyReport(whole, results).judged if verdict.claim.id in shown]


def trials() -> int:
    """How many trials that takes."""
    return sum(len(glimpse.cut(bruit_studies.find(glimpse.study)).trials("quick")) for glimpse in GLIMPSES)


def facts(judged: Judged) -> dict[str, Any]:
    """Plain values."""
    return {"id": judged.claim.id, "verdict": judged.verdict.kind, "evidence": judged.verdict.sentence}


def _run(study: Study, seed: int) -> StudyResults:
    with tempfile.TemporaryDirectory() as folder:
        return bruit_studies.run(study, seed=seed, folder=folder, workers=0)
