"""Every study that is registered: its claims find verdicts on small results, and its figures can be drawn."""

import dataclasses
from pathlib import Path

import pytest

from bruit.studies import DOCUMENTS, Block, all_studies, find, run
from bruit.studies.claim import KINDS

STUDIES = all_studies()
#: Few repetitions: enough for a deviation.
FEW = 4


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Results of a study with few repetitions, made once."""
    made = {}

    def make(study):
        if study.name not in made:
            blocks = [Block(block.factors, min(block.repetitions, FEW)) for block in study.quick]
            tiny = dataclasses.replace(study, quick=blocks)
            made[study.name] = run(tiny, workers=0, folder=tmp_path_factory.mktemp("studies"))
        return made[study.name]

    return make


def test_names_of_studies_and_claims_are_unique():
    names = [study.name for study in STUDIES]
    ids = [claim.id for study in STUDIES for claim in study.claims]
    assert len(set(names)) == len(names)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_claim_yields_a_verdict_on_small_results(study, small):
    results = small(study)
    for claim in study.claims:
        verdict = claim.verdict(results)
        assert verdict.kind in KINDS
        assert verdict.sentence
        if not results.skipped:
            assert verdict.kind != "not judged", claim.id


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_figure_and_table_can_be_made_and_no_text_is_cut_off(study, small):
    results = small(study)
    if results.skipped:
        pytest.skip(next(iter(results.skipped)))
    from bruit.studies import drawing

    for plot in study.plots:
        assert drawing.cut_off(plot.figure(results)) == [], f"texts of {plot.name} are cut off"
    assert study.table is None or study.table(results).rows


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_is_told_in_whole_sentences(study):
    assert study.question.endswith("?")
    assert study.method.endswith(".")
    assert all(claim.statement.endswith(".") for claim in study.claims)
    assert all(claim.document in DOCUMENTS for claim in study.claims)


def test_every_claim_stands_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "claims.md").read_text()
    missing = [claim.place for study in STUDIES for claim in study.claims if claim.place.split("_")[0] not in page]
    assert missing == [], "run bruit study run --all && bruit study report --out docs/claims.md"


def test_an_unknown_study_is_refused_with_the_names_of_all():
    with pytest.raises(ValueError, match="'warner', 'krr'"):
        find("nothing")
