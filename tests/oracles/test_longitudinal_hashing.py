"""LOLOHA: the ε of any two histories by enumeration, what the papers' claim leaves out, the sampler and its memory."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import bruit
from bruit.errors import BruitError, DataError, FormatError, ParameterError
from bruit.oracles import LocalHashing, LongitudinalHashing, Memory, one_report, panel
from bruit.oracles.longitudinal_hashing import published_buckets


def design(g=2, report=1.0, memo=2.0, k=3):
    return LongitudinalHashing(LocalHashing(epsilon=report, k=k, kind="LH", g=g), memo)


# Enumeration: all functions, all pairs of histories of values, all reports.


def table(rows, step, memos):
    """P(all reports), where memos[t] is the memo that round t shows: its number, and the bucket it was drawn from."""
    chances, axes = np.ones(()), []
    for memo in dict.fromkeys(memos):
        rounds = [place for place, other in enumerate(memos) if other == memo]
        part = rows[memo[1]]
        for _ in rounds:
            part = part[..., None] * step.reshape(len(step), *[1] * (part.ndim - 1), -1)
        chances = np.multiply.outer(chances, part.sum(axis=0))
        axes += rounds
    return np.transpose(chances, np.argsort(axes)).ravel()


def kept(buckets):
    """One memo for each bucket, as published and as here."""
    return tuple((bucket, bucket) for bucket in buckets)


def redrawn(buckets):
    """A planted client that forgets its memos."""
    return tuple(enumerate(buckets))


def pattern(history):
    return tuple(a == b for a, b in itertools.combinations(history, 2))


def losses(own, rounds, k, rule=kept):
    """Every function and pair of histories of k values: values, buckets, and the largest loss over all reports."""
    g, keep = own.buckets, float(own.keep)
    rows = np.array([[float(chance) for chance in own._bucket_memo.law.row(bucket)] for bucket in range(g)])
    step = keep * np.eye(g) + (1 - keep) / g
    logs = {buckets: np.log(table(rows, step, rule(buckets))) for buckets in itertools.product(range(g), repeat=rounds)}
    largest = {}
    for function in itertools.product(range(g), repeat=k):
        pairs = itertools.product(itertools.product(range(k), repeat=rounds), repeat=2)
        for values, others in pairs:
            first, second = (tuple(function[value] for value in history) for history in (values, others))
            if (first, second) not in largest:
                largest[first, second] = float((logs[first] - logs[second]).max())
            yield values, others, first, second, largest[first, second]


@pytest.mark.parametrize(("g", "k", "rounds"), [(2, 2, 4), (2, 3, 4), (3, 3, 1), (3, 3, 2), (3, 3, 4)])
def test_the_epsilon_of_rounds_is_the_largest_loss_over_all_functions_and_pairs_of_histories(g, k, rounds):
    own = design(g, k=k)
    largest = 0.0
    assert own.exact_rounds >= rounds
    for values, others, _, _, loss in losses(own, rounds, k):
        largest = max(largest, loss)
        if len(set(values)) == len(set(others)) == 1:
            assert loss <= own.unchanged(rounds).epsilon + 1e-12
        if sum(a != b for a, b in zip(values, others, strict=True)) == 1:
            assert loss <= own.one_round.epsilon + 1e-12
    assert own.after(rounds).epsilon == pytest.approx(largest, rel=1e-11)


def test_fewer_values_than_buckets_make_the_epsilon_a_bound():
    own = design(3, k=2)
    assert max(loss for *_, loss in losses(own, 3, 2)) < own.after(3).epsilon


def test_memos_redrawn_in_every_round_are_caught():
    own = design(report=1.9)
    forgetful = max(
        loss for _, _, first, second, loss in losses(own, 3, 2, redrawn) if pattern(first) == pattern(second)
    )
    assert forgetful == pytest.approx(3 * 1.9)
    assert forgetful > own.published_claim


def test_the_published_claim_holds_where_buckets_agree_at_the_same_pairs_and_fails_for_others():
    own = design(report=1.9)
    assert own.published_claim == 4.0
    worst = {True: 0.0, False: 0.0}
    for _, _, first, second, loss in losses(own, 3, 2):
        same = pattern(first) == pattern(second)
        worst[same] = max(worst[same], loss)
    assert worst[True] <= own.published_claim < worst[False]
    # At the papers' own setting it takes five rounds.
    assert design().after(4).epsilon < design().published_claim < design().after(5).epsilon


def test_values_that_are_equal_at_the_same_pairs_of_rounds_may_have_other_buckets():
    own = design(report=1.9, k=4)
    values, others = (0, 1, 0, 1), (2, 3, 2, 3)
    step = float(own.keep) * np.eye(2) + (1 - float(own.keep)) / 2
    rows = np.array([[float(chance) for chance in own._bucket_memo.law.row(bucket)] for bucket in range(2)])
    function = (0, 1, 0, 0)  # parts the values of the one history, and not those of the other
    first, second = (tuple(function[value] for value in history) for history in (values, others))
    loss = np.log(table(rows, step, kept(first)) / table(rows, step, kept(second))).max()
    assert pattern(values) == pattern(others)
    assert loss > own.published_claim


def test_one_report_is_a_report_of_the_oracle():
    own = design(4, k=9)
    assert own.after(1).epsilon == own.unchanged(1).epsilon == own.oracle.guarantee.epsilon
    assert own.guarantees["report"] == own.oracle.guarantee
    assert own._bucket_memo.law.row(0) == [own.memo.law.probability(inside=not m) for m in range(4)]
    assert own.unchanged(50).epsilon <= own.guarantees["unchanged"].epsilon <= 2.0
    assert own.unchanged(10**6) == own.guarantees["unchanged"]
    assert own.after(3).neighbours == "person"


# The sampler.


def test_stored_memos_have_the_law_of_their_buckets():
    own = design(3, k=5)
    stored = own.start(60_000, rng=5)
    law = [float(chance) for chance in own._bucket_memo.law.row(1)]
    counts = np.bincount(stored["memos"][:, 1], minlength=3)
    assert stats.chisquare(counts, np.array(law) * counts.sum()).pvalue > 1e-7
    assert stats.chisquare(counts, np.roll(law, 1) * counts.sum()).pvalue < 1e-9  # the control: another bucket's memos
    assert len(np.unique(stored["a"])) == 60_000


def test_all_reports_of_a_person_have_one_function_and_show_the_memo_of_the_bucket():
    own = design(3, k=30, report=1.0, memo=2.0)
    people = own.start(40_000, rng=1)
    values = np.arange(40_000) % 30
    reports = [own.answer(people, values + shift, rng=2 + shift) for shift in (0, 0)] + [
        own.answer(people, (values + 1) % 30, rng=9)
    ]
    for report in reports:
        assert (report["a"] == people["a"]).all()
        assert (report["b"] == people["b"]).all()
    memos = own.select(people, own.encode((values + 1) % 30))
    same = float(own.keep + (1 - own.keep) / 3)
    agreeing = int((reports[2]["bucket"] == memos["bucket"]).sum())
    assert stats.binomtest(agreeing, 40_000, same).pvalue > 1e-7
    assert stats.binomtest(agreeing, 40_000, same - 0.05).pvalue < 1e-9
    old = own.select(people, own.encode(values))
    stays = float((old["bucket"] == memos["bucket"]).mean())
    assert stays < 0.7  # another value has another memo for most people
    assert (own.answer(people, values, rng=2) == reports[0]).all()
    assert (own.answer(people, values) != own.answer(people, values)).any()


@pytest.mark.parametrize(
    ("name", "pair", "buckets", "real", "published", "exact"),
    [
        ("LOLOHA", (0.5, 1.0), 2, 0.5, 16.67, 15.82),
        ("LOLOHA", (1.0, 2.0), 3, 0.948, 4.199, 3.692),
        ("LOLOHA", (2.0, 4.0), 7, 1.934, 0.794, 0.725),
        ("LOLOHA", (3.0, 5.0), 17, 2.921, 0.242, 0.221),
        ("BiLOLOHA", (1.0, 2.0), 2, 1.0, 4.683, 3.692),
    ],
)
def test_the_published_protocol_has_the_papers_buckets_and_variance(name, pair, buckets, real, published, exact):
    own = panel(name, epsilon=pair[0], epoch_epsilon=pair[1], k=50)
    assert own.buckets == buckets
    assert own.oracle.epsilon == pytest.approx(real, abs=6e-4)
    assert own.oracle.typical_variance(0.0, 1) == pytest.approx(published, rel=0.002)
    assert one_report(name, epsilon=pair[0], epoch_epsilon=pair[1], k=50) == own.oracle
    better = LongitudinalHashing(bruit.oracle("OLH", epsilon=pair[0], k=50), pair[1])
    assert better.oracle.typical_variance(0.0, 1) == pytest.approx(exact, rel=0.002)


@pytest.mark.parametrize(("name", "one", "of_four"), [("LOLOHA", 4.199, 1.860), ("BiLOLOHA", 4.683, 2.464)])
def test_reports_have_the_variance_of_the_papers_and_the_function_does_not_average_out(name, one, of_four):
    own = panel(name, epsilon=1.0, epoch_epsilon=2.0, k=10)
    people, values = own.start(300_000, rng=3), np.zeros(300_000, np.int64)
    scores = [own.oracle.scores(own.answer(people, values, rng=number))[:, 1] for number in range(4)]
    assert scores[0].var() == pytest.approx(one, rel=0.03)
    assert abs(scores[0].mean()) < 6 * math.sqrt(one / 300_000)
    memo = own.memo.typical_variance(0.0, 1)
    assert (one - memo) / 4 + memo == pytest.approx(of_four, rel=0.002)
    assert np.mean(scores, axis=0).var() == pytest.approx(of_four, rel=0.03)
    assert np.mean(scores, axis=0).var() > 1.2 * one / 4  # reports drawn afresh would have a quarter
    assert memo > 1 / (own.buckets - 1)


def test_estimates_follow_the_values_and_their_differences_are_not_stated_too_sure():
    own = design(3, k=4)
    errors = []
    for trial in range(200):
        people = own.start(300, rng=trial)
        rounds = [np.repeat([0, 1], 150), np.repeat([1, 2], 150)]
        reports = [own.answer(people, values, rng=5 * trial + place) for place, values in enumerate(rounds)]
        change = own.series([own.oracle.tally(report) for report in reports]).difference(0, 1, target="people")
        errors.append((change.frequency - np.array([-0.5, 0.0, 0.5, 0.0])) / change.standard_error)
    assert np.abs(np.mean(errors, axis=0)).max() < 6 / math.sqrt(200)
    assert 0.6 < np.std(errors) < 1.15  # the variance is a bound
    assert np.std(errors) * 1.5 > 1.0


# The edges of the interface.


def test_a_memory_keeps_one_function_and_the_memos_and_no_value(tmp_path):
    own = LongitudinalHashing(bruit.oracle("OLH", epsilon=1.0, labels=["bus", "car", "bike"]), 2.0)
    memory = Memory.create(tmp_path / "memory", own)
    first = memory.report("bus", round=1)
    later = memory.report("car", round=2)
    assert (first["a"], first["b"]) == (later["a"], later["b"])
    assert memory.report("bike", round=1).tobytes() == first.tobytes()  # sent again
    stored = memory._read()[""]["0"]["memo"]
    assert isinstance(stored, str)
    assert len(stored) == 2 * own.stored_bytes
    reports = memory.reports(["bus", "car"], ["Ada", "Bob"], round=2)
    assert own.oracle.tally(reports).n == 2
    assert memory.rounds(person="Ada") == 1
    with pytest.raises(DataError):
        memory.report(None, round=3)
    with pytest.raises(ParameterError, match="no epochs"):
        memory.report("bus", round=3, epoch=1)


def test_a_memory_of_a_forged_memo_is_refused(tmp_path):
    from bruit import documents

    own = design()
    memory = Memory.create(tmp_path / "memory", own)
    memory.report(1, round=1)
    body = documents.unseal(documents.read_state(tmp_path / "memory"), "bruit.memory/1")
    kept_memo = body["people"][""]["0"]["memo"]
    body["people"][""]["0"]["memo"] = kept_memo[:-2] + "ff"
    (tmp_path / "memory").write_text(documents.seal("bruit.memory/1", body))
    with pytest.raises(FormatError, match="damaged"):
        memory.report(1, round=2)


def test_a_design_survives_its_document():
    own = design(3, k=7)
    assert LongitudinalHashing.from_dict(own.to_dict()) == own
    assert own.digest != design(3, memo=2.5, k=7).digest
    for bad in (
        {},
        None,
        {"longitudinal_hashing": bruit.oracle("GRR", epsilon=1.0, k=3).to_dict(), "memo_epsilon": 2.0},
    ):
        with pytest.raises(FormatError):
            LongitudinalHashing.from_dict(bad)


@pytest.mark.parametrize(
    ("oracle", "memo", "rule"),
    [
        (bruit.oracle("GRR", epsilon=1.0, k=3), 2.0, "local hashing"),
        (bruit.oracle("OLH", epsilon=1.0, k=3, pool=20), 2.0, "leave pool out"),
        (bruit.oracle("OLH", epsilon=1.0, k=3), 1.0, "give every change of bucket away"),
        (bruit.oracle("OLH", epsilon=6.0, k=3), 7.0, "g must"),
        (bruit.oracle("OLH", epsilon=1.0, k=3), -1.0, "memo_epsilon"),
    ],
)
def test_a_design_that_cannot_be_is_refused_with_its_reason(oracle, memo, rule):
    with pytest.raises(BruitError, match=rule):
        LongitudinalHashing(oracle, memo)


@pytest.mark.parametrize(("epsilons", "rule"), [((2.0, 2.0), "above epsilon"), ((9.0, 15.0), "buckets here")])
def test_a_name_whose_setting_cannot_be_is_refused_with_its_reason(epsilons, rule):
    with pytest.raises(BruitError, match=rule):
        panel("LOLOHA", epsilon=epsilons[0], epoch_epsilon=epsilons[1], k=3)
    assert published_buckets(1.0, 1.0) == 2


def test_what_is_not_stored_here_is_refused_without_its_value():
    own = design()
    people = own.start(3, rng=1)
    with pytest.raises(DataError, match="a value for every person"):
        own.answer(people, [1, 2])
    broken = people.copy()
    broken["memos"][0, 0] = 77
    for bad in (broken, people["memos"]):
        with pytest.raises(ParameterError) as caught:
            own.answer(bad, [1, 2, 0])
        assert "77" not in str(caught.value)
    assert len(own.start(0)) == 0
    with pytest.raises(BruitError):
        own.after(0)
