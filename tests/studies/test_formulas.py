"""Formulas of claims: each belongs to a claim, becomes well-formed MathML, and stands on the page without a script."""

import dataclasses
from xml.etree import ElementTree

import pytest

from bruit_studies import all_studies, formulas, run
from bruit_studies.claim import confirmed, corrected
from bruit_studies.formulas import FORMULAS, Formula, mathml
from bruit_studies.report import StudyReport

TEX = [tex for formula in FORMULAS.values() for tex in formula if tex]


def test_every_formula_belongs_to_a_claim():
    claims = {claim.id for study in all_studies() for claim in study.claims}
    assert set(FORMULAS) <= claims


def test_a_right_form_is_not_the_stated_one():
    assert all(formula.stated != formula.right for formula in FORMULAS.values())


@pytest.mark.parametrize("tex", TEX)
def test_a_formula_is_well_formed_mathml_with_nothing_left_of_tex(tex):
    pytest.importorskip("latex2mathml")
    math = ElementTree.fromstring(mathml(tex))
    assert math.tag.endswith("}math")
    text = "".join(math.itertext())
    assert text.strip()
    assert not set(text) & set("\\{}$&")


def page_with(toy, folder, monkeypatch, kind):
    monkeypatch.setitem(FORMULAS, "toy-b", Formula(r"\frac{a}{b}", r"\sqrt{2}"))
    claim = dataclasses.replace(toy.claims[0], judge=lambda _: kind("So it is."))
    study = dataclasses.replace(toy, claims=[claim])
    run(study, workers=0, folder=folder)
    return StudyReport.of([study], folder).to_html()


@pytest.mark.parametrize(("kind", "roots"), [(corrected, 1), (confirmed, 0)])
def test_the_right_form_stands_beside_the_stated_one_only_where_that_is_wrong(toy, tmp_path, monkeypatch, kind, roots):
    pytest.importorskip("latex2mathml")
    page = page_with(toy, tmp_path, monkeypatch, kind)
    assert page.count("<mfrac>") == 1
    assert page.count("<msqrt>") == roots
    assert "<script" not in page


def test_without_the_library_the_page_has_the_words_only(toy, tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    mathml.cache_clear()
    monkeypatch.setattr(formulas, "import_module", missing)
    page = page_with(toy, tmp_path, monkeypatch, corrected)
    mathml.cache_clear()
    assert "<math" not in page
    assert "b is good." in page
