"""The plan of an open question: promise and reports are those of heavy hitters, and the card draws by its law."""

from __future__ import annotations

import numpy as np
import pytest

from bruit.collection.odds import person_ratio
from bruit.domains import OpenText
from bruit.errors import ParameterError
from bruit.laws import words as law_words
from bruit.open_answers import HeavyHitters
from bruit.survey.open_plan import OpenPlan

DESIGN = HeavyHitters(2.0)


@pytest.fixture
def plan():
    return OpenPlan("problem", DESIGN)


def column(plan, texts):
    """Reports as the collector reads them."""
    form = plan.form["problem"]
    rows = np.frombuffer(bytes.fromhex("".join(texts)), np.uint8).reshape(len(texts), -1)
    return form.from_bytes(rows)


def test_the_promise_is_that_of_the_design(plan) -> None:
    assert plan.guarantee.epsilon == DESIGN.guarantee.epsilon
    assert person_ratio(plan) == DESIGN.law.ratio
    assert plan.form == {"problem": DESIGN.form}
    law = plan.mechanisms["problem"].law
    assert (law.inside, law.outside, law.total) == (DESIGN.law.inside, DESIGN.law.outside, DESIGN.law.total)


@pytest.mark.parametrize("letters", [2, 3, 8])
def test_a_device_and_the_design_put_a_text_into_the_same_bucket(letters) -> None:
    design = HeavyHitters(4.0, domain=OpenText(letters=letters))
    sets = OpenPlan("problem", design).mechanisms["problem"].law.sets
    generator = np.random.default_rng(letters)
    ids = generator.integers(0, 2**64, 400, dtype=np.uint64)
    codes = generator.integers(0, 1 << design.domain.bits, 400)
    ids[:40] = ids[:40] >> np.uint64(10) << np.uint64(10) | generator.integers(428, 432, 40).astype(np.uint64)
    here = [sets.bucket(code, own) for code, own in zip(codes.tolist(), ids.tolist(), strict=True)]
    assert here == design.buckets(ids, codes).tolist()


def test_reports_of_the_card_are_decoded_by_the_design() -> None:
    design = HeavyHitters(4.0, domain=OpenText(letters=3))
    plan, domain = OpenPlan("problem", design), design.domain
    source = law_words.stream(law_words.Entropy(5))
    texts = ["noise"] * 400 + ["bus"] * 300
    drawn = [plan.card().sample_codes([domain.code(text)], source)["problem"] for text in texts]
    answers = plan.answers(column(plan, drawn))
    assert sorted(answers.labels) == ["bus", "noi"]
    low, high = answers.interval(1 - 1e-9).T
    shares = np.array([texts.count(text) / len(texts) for text in ("noise", "bus")])
    order = [answers.labels.index(text) for text in ("noi", "bus")]
    assert (low[order] < shares).all()
    assert (shares < high[order]).all()


def test_a_tally_counts_reports_and_says_no_answer(plan) -> None:
    reports = np.array([(7, 0), (8, 7), (9, 8)], plan.form["problem"].dtype)
    tally = plan.count({"problem": reports})
    assert (tally.n, tally.refused, tally.counts.size) == (2, 1, 0)
    assert plan.valid({"problem": reports}).tolist() == [True, True, False]
    for call in (lambda: plan.estimate(tally), lambda: plan.variance(100)):
        with pytest.raises(ParameterError):
            call()


def test_the_expected_interval_is_that_of_an_estimate() -> None:
    design = HeavyHitters(4.0, domain=OpenText(letters=3))
    plan = OpenPlan("problem", design)
    answers = design.estimate(design.privatize(["bus"] * 400 + ["noise"] * 1600, rng=1))
    low, high = answers.interval(0.95)[answers.labels.index("bus")]
    assert plan.half_width(0.2, 2000) == pytest.approx((high - low) / 2, rel=0.1)


def test_a_dishonest_report_weighs_as_many_people_as_can_undo_it() -> None:
    """It is in the group of 594 of 1,024 people from which shares come, where an honest person is by chance."""
    plan = OpenPlan("why", HeavyHitters(2.0))
    p, q = float(plan.answering.p), float(plan.answering.q)
    n = 3_000
    forged, person = 1 / (n * 594 / 1024 * (p - q)) * (1 - q), 1 / n
    assert plan.votes_per_cheater == pytest.approx(forged / person)
