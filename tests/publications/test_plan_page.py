"""The plan of a publication can be read and signed before anything is spent."""

import json

from bruit.publications import Publication
from bruit.publications.bill import bill_of
from bruit.publications.plan_page import plan_page


def test_the_plan_has_every_statistic_its_cost_the_budget_and_a_place_to_sign(plan):
    publication = Publication.load(plan)
    bill = bill_of(publication, None)
    text = plan_page(bill)
    for request in publication.requests:
        assert request.name in text
    assert str(publication.guarantee) in text
    assert "would have" in text
    assert "Signature:" in text
    assert bill.digest in text
    plan.write_text(plan.read_text().replace("18..100:1", "18..99:1"))
    assert bill.digest not in plan_page(bill_of(Publication.load(plan), None))


def test_a_plan_spends_nothing_and_reads_nothing(plan):
    (plan.parent / "visits.csv").unlink()
    before = sorted(plan.parent.iterdir())
    assert json.loads(bill_of(Publication.load(plan), None).prospects().to_json())
    plan_page(bill_of(Publication.load(plan), None))
    assert sorted(plan.parent.iterdir()) == before
