"""Every study that is registered: its claims find verdicts on small results, and its figures can be drawn."""

import dataclasses
import math
import sys
from pathlib import Path

import pytest

from bruit import datasets
from bruit.tables import typeset
from bruit_studies import (
    DOCUMENTS,
    Block,
    all_studies,
    attack,
    attacker_knowledge,
    attributes_under_attack,
    countermeasure,
    deciles,
    find,
    inverse_sensitivity,
    krr_learning,
    rounds,
    run,
)
from bruit_studies.claim import KINDS
from bruit_studies.report import StudyReport

STUDIES = all_studies()
#: Few repetitions: enough for a deviation.
FEW = 4


def _few(block, **fewer):
    """A block with other values of those factors that it has."""
    return Block({**block.factors, **{name: to for name, to in fewer.items() if name in block.factors}}, FEW)


_LN3, _LN7 = math.log(3), math.log(7)
_BOTH = ["published", "person"]
#: Fewer people, or fewer values of factors, for studies whose quick size is too long for a test.
TINY = {
    "deciles": [
        Block({"part": ["error"], "column": ["uniform", "normal", "lognormal", "age"], "method": deciles.METHODS,
               "epsilon": [0.5, 1.0], "n": [2000]}, FEW),
        *(Block(block.factors, FEW) for block in deciles.STUDY.quick[1:]),
    ],
    "attack": [_few(block, people=[800], epsilon=[1.0, 5.0]) for block in attack.STUDY.quick],
    "attacker-knowledge": [
        Block(_few(block, people=[300], epsilon=[1.0, 10.0]).factors) for block in attacker_knowledge.STUDY.quick
    ],
    "countermeasure": [_few(block, people=[400], epsilon=[1.0, 5.0]) for block in countermeasure.STUDY.quick],
    "attributes-under-attack": [
        Block(_few(block, people=[300], epsilon=[1.0, 10.0], table=["nursery"]).factors, 2)
        for block in attributes_under_attack.STUDY.quick
    ],
    "central-or-local": [
        Block({"part": ["pima"], "epsilon": [0.1, 10.0, 30.0]}, FEW),
        Block({"part": ["iris"], "epsilon": [1.0, 10.0]}, FEW),
        Block({"part": ["logistic"], "epsilon": [0.1, 1.0, 10.0]}, FEW),
    ],
    "krr-learning": [_few(block, n=[2000], trees=[3]) for block in krr_learning.STUDY.quick],
    # The panel of Montana is recorded: its file may not be here.
    "rounds": [_few(block) for block in rounds.STUDY.quick if block.factors["part"] == ("averaging",)],
    "inverse-sensitivity": [_few(block, n=[200]) for block in inverse_sensitivity.STUDY.quick],
    "several-attributes": [
        Block({"part": ["exact"], "data": ["nursery", "adult", "acs_employment"], "calibration": _BOTH,
               "epsilon": [_LN3, _LN7]}, 1),
        Block({"part": ["error"], "data": ["nursery"], "calibration": ["published"],
               "epsilon": [math.log(k) for k in range(2, 8)]}, FEW),
        Block({"part": ["error"], "data": ["nursery"], "calibration": ["person"], "epsilon": [_LN3, _LN7]}, 2),
        Block({"part": ["error"], "data": ["adult", "acs_employment"], "calibration": _BOTH,
               "epsilon": [_LN3, _LN7]}, 2),
    ],
}  # fmt: skip


def tiny_blocks(study):
    """What `TINY` says, or the blocks of the quick size with few repetitions."""
    few = [Block(block.factors, min(block.repetitions, FEW)) for block in study.quick]
    return TINY.get(study.name, few)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Results of a study with few repetitions, made once."""
    made = {}

    def make(study):
        if study.name not in made:
            tiny = dataclasses.replace(study, quick=tiny_blocks(study))
            made[study.name] = run(tiny, workers=0, folder=tmp_path_factory.mktemp("studies"))
        return made[study.name]

    return make


def test_names_of_studies_and_claims_are_unique():
    names = [study.name for study in STUDIES]
    ids = [claim.id for study in STUDIES for claim in study.claims]
    assert len(set(names)) == len(names)
    assert len(set(ids)) == len(ids)


@pytest.mark.audit(
    "attack",
    "attacker-knowledge",
    "attributes-under-attack",
    "central-or-local",
    "countermeasure",
    "deciles",
    "krr-learning",
    "numeric-cleaning",
    "several-attributes",
    share=3,
)
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_claim_yields_a_verdict_on_small_results(study, small):
    results = small(study)
    for claim in study.claims:
        verdict = claim.verdict(results)
        assert verdict.kind in KINDS
        assert verdict.sentence
        if not results.skipped:
            assert verdict.kind != "not judged", claim.id


def cut_off(figure):
    """Titles, labels and notes that do not lie wholly within the figure: shorten them, or make it larger."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from bruit.figures import style

    with style.applied():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        (width, height), slack = canvas.get_width_height(), 2
        shown = [
            text for ax in figure.axes for text in (ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.texts)
        ]
        boxes = [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in shown if text.get_text()]
    return [
        text
        for text, box in boxes
        if box.x0 < -slack or box.y0 < -slack or box.x1 > width + slack or box.y1 > height + slack
    ]


@pytest.mark.audit
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_figure_and_table_can_be_made_and_no_text_is_cut_off(study, small):
    results = small(study)
    if results.skipped:
        pytest.skip(next(iter(results.skipped)))
    for plot in study.plots:
        assert cut_off(plot.figure(results)) == [], f"texts of {plot.name} are cut off"
    assert study.table is None or len(study.table(results))


#: Parts of studies that read ACSEmployment, cut to seconds.
ON_ACS = {
    "attack": [
        Block({**block.factors, "people": [0], "epsilon": [1.0, 5.0]}, 2)
        for block in attack.STUDY.quick
        if "xgboost" not in block.factors.get("attacker", ())
    ],
    "countermeasure": [
        Block({**block.factors, "people": [0], "epsilon": [1.0, 5.0]}, 2)
        for block in countermeasure.STUDY.quick
        if "xgboost" not in block.factors.get("attacker", ())
    ],
    "attributes-under-attack": [
        Block({**block.factors, "people": [30], "epsilon": [1.0, 10.0], "table": ["acs"]}, 1)
        for block in attributes_under_attack.STUDY.quick
    ],
    "several-attributes": [
        Block({"part": [part], "data": ["acs_employment"], "calibration": _BOTH, "epsilon": [_LN3, _LN7]}, runs)
        for part, runs in (("exact", 1), ("error", 2))
    ],
}


@pytest.fixture
def fewer(monkeypatch):
    """Every thirtieth person in the place of all of ACSEmployment; and what a study keeps of them is forgotten."""
    everybody = datasets.load("acs_employment")
    few = dataclasses.replace(everybody, _table={name: everybody[name][::30] for name in everybody})
    monkeypatch.setattr(datasets, "load", lambda name: few)
    _forget()
    yield monkeypatch
    _forget()


def _forget():
    for name, module in list(sys.modules.items()):
        if name.startswith("bruit_studies"):
            for item in vars(module).values():
                if hasattr(item, "cache_clear"):
                    item.cache_clear()


@pytest.mark.audit("attributes-under-attack", "several-attributes")
@pytest.mark.parametrize("name", ON_ACS)
def test_a_report_needs_the_results_and_not_the_data_that_were_there_at_the_run(name, fewer, tmp_path):
    study = find(name)
    results = run(dataclasses.replace(study, quick=ON_ACS[name]), workers=0, folder=tmp_path)
    assert not results.skipped
    fewer.delattr(datasets, "load")
    _forget()
    report = StudyReport([study], {name: results})
    page = report.to_html()
    assert page.count("<figure>") > 0
    if name == "attack":
        assert "Who is found out at ε = 1" in page
        assert "SEX (2)" in page


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_is_told_in_whole_sentences(study):
    assert study.question.endswith("?")
    assert study.method.endswith(".")
    assert all(claim.statement.endswith(".") for claim in study.claims)
    assert all(claim.document in DOCUMENTS for claim in study.claims)


def test_every_claim_stands_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "claims.md").read_text()
    places = [typeset(claim.place) for study in STUDIES for claim in study.claims]
    missing = [place for place in places if place.split("_")[0] not in page]
    assert missing == [], "run bruit study run --all && bruit study report --out docs/reference/claims.md"


def test_an_unknown_study_is_refused_with_the_names_of_all():
    with pytest.raises(ValueError, match="'warner', 'krr'"):
        find("nothing")
