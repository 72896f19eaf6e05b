"""Reports follow the declared law, jointly over all attributes; and they do not depend on threads or batches."""

import numpy as np
import pytest
from scipy import special

import bruit
from bruit.collection import Plan
from bruit.collection.fake import Fake
from bruit.collection.fake_column import fair_draws
from bruit.collection.sample import Sample, _from_rows
from bruit.engines.memory import BLOCK
from bruit.entropy import Entropy, Words
from bruit.kernels import fake as kernel

METHODS = [
    "SPL[GRR]",
    "SPL[OUE]",
    "SMP[GRR]",
    "SMP[ADP]",
    "SMP[OUE]",
    "RS+FD[GRR]",
    "RS+FD[SUE-z]",
    "RS+FD[OUE-z]",
    "RS+FD[OUE-r]",
    "RS+FD[SS]",
    "RS+RFD[GRR]",
    "RS+RFD[SUE-r]",
]


def _messages(plan, reports):
    """Every person's reports as one tuple of messages, the keys of the written law."""
    if not isinstance(plan.design, Sample):
        columns = [found.message(reports[name]).tolist() for name, found in plan.mechanisms.items()]
        return list(zip(*columns, strict=True))
    found = []
    for place, report in zip(reports["attribute"].tolist(), reports["report"], strict=True):
        mechanism = list(plan.mechanisms.values())[place]
        form = mechanism._empty_reports(0)
        width = form.shape[1] if form.ndim == 2 else form.dtype.itemsize
        own = _from_rows(report[None, :width], form) if report.ndim else np.array([report], form.dtype)
        found.append((place, int(mechanism.message(own)[0])))
    return found


def _p_value(seen, law):
    """Pearson's test, of all cells that expect 20 or more and of the others together."""
    n = sum(seen.values())
    large = [key for key, chance in law.items() if chance * n >= 20]
    pairs = [(seen.get(key, 0), float(law[key]) * n) for key in large]
    rest = (n - sum(count for count, _ in pairs), n - sum(mean for _, mean in pairs))
    pairs += [rest] if rest[1] > 5 else []
    statistic = sum((count - mean) ** 2 / mean for count, mean in pairs)
    return float(special.chdtrc(len(pairs) - 1, statistic))


@pytest.mark.audit(share=3)
@pytest.mark.parametrize("method", METHODS)
def test_reports_of_a_record_follow_the_written_law_and_no_other(make, exact, method):
    """The controls are the law of another record, and the same method with a smaller and a greater ε."""
    n, shape, record = 40_000, (2, 3), (1, 2)
    plan = make(method, shape, 2.0)
    people = {f"a{j}": np.full(n, code) for j, code in enumerate(record)}
    reports = plan.privatize(people, rng=11)
    seen = {}
    for message in _messages(plan, reports):
        seen[message] = seen.get(message, 0) + 1
    assert _p_value(seen, exact.law(plan)[record]) > 1e-7
    assert _p_value(seen, exact.law(plan)[0, 2]) < 1e-7
    for other in (1.4, 2.8):
        assert _p_value(seen, exact.law(make(method, shape, other))[record]) < 1e-7


@pytest.mark.parametrize("method", ["RS+FD[ADP]", "RS+FD[GRR]", "RS+RFD[GRR]"])
def test_every_attribute_is_the_true_one_equally_often(make, method):
    plan = make(method, (2, 3, 4, 5, 6, 7, 8))
    assert isinstance(plan.design, Fake)
    out = plan.design.empty_reports(BLOCK)
    codes = {name: np.zeros(BLOCK, np.uint8) for name in plan.schema}
    sampled = plan.design.randomize_knowing(codes, Words(3), out)
    counts, mean = np.bincount(sampled, minlength=7), BLOCK / 7
    assert counts.size == 7
    assert special.chdtrc(6, float(((counts - mean) ** 2 / mean).sum())) > 1e-7


def test_attributes_are_drawn_by_their_weights(make):
    plan = make("SMP[GRR]", (2, 3, 4), weights={"a0": 1, "a1": 2, "a2": 5})
    people = {name: np.zeros(80_000, int) for name in plan.schema}
    counts = np.bincount(plan.privatize(people, rng=1)["attribute"], minlength=3)
    expected = np.array([1, 2, 5]) * 10_000
    assert special.chdtrc(2, float(((counts - expected) ** 2 / expected).sum())) > 1e-7


@pytest.mark.parametrize("method", ["SPL[ADP]", "SMP[ADP]", "SMP[OUE]", "RS+FD[ADP]", "RS+FD[OUE-r]", "RS+RFD[GRR]"])
def test_reports_depend_neither_on_the_number_of_threads_nor_on_how_a_source_is_cut(make, method, monkeypatch):
    plan = make(method, (2, 9, 40))
    n = 2 * BLOCK + 77
    people = {f"a{j}": np.arange(n) % k for j, k in enumerate((2, 9, 40))}
    made = []
    for threads in ("1", "3"):
        monkeypatch.setenv("BRUIT_THREADS", threads)
        made.append(plan.privatize(people, rng=7))
    codes, words = plan.schema.encode(people), Words.resolve(7, "privatize", plan.digest)
    cuts = [(words.parts(0, 1), slice(0, BLOCK)), (words.parts(1, 2), slice(BLOCK, n))]
    parts = [plan.randomize({name: column[cut] for name, column in codes.items()}, part) for part, cut in cuts]
    for name, column in made[0].items():
        assert (column == made[1][name]).all()
        assert (column == np.concatenate([part[name] for part in parts])).all()
    other = plan.privatize(people, rng=8)
    assert any((column != other[name]).any() for name, column in made[0].items())


def test_reports_of_a_plan_with_fakes_have_one_form_for_everybody(make):
    for method in ("RS+FD[GRR]", "RS+FD[ADP]", "RS+FD[OUE-z]", "RS+RFD[OUE-r]"):
        plan = make(method, (2, 9, 300))
        reports = plan.privatize({name: [0, 1] for name in plan.schema})
        assert list(reports) == list(plan.schema)
        for name, column in plan.records.empty_reports(0).items():
            assert (reports[name].dtype, reports[name].shape[1:]) == (column.dtype, column.shape[1:])
            assert len(reports[name]) == 2


# Kernels against slow versions.


@pytest.mark.parametrize("k", [2, 3, 100, 128, 257, 10**6])
def test_a_fair_draw_gives_every_value_equally_many_words(k):
    """A word is fair when its value's stretch of ⌊2³²/k⌋ words has it: checked at both sides of every border."""
    least = 2**32 % k
    words = np.array(
        sorted(
            {
                min(max(-(-value * 2**32 // k) + shift, 0), 2**32 - 1)
                for value in {0, 1, k // 2, k - 1}
                for shift in range(-2, 3)
            }
        ),
        np.uint32,
    )
    slow = [int(word) * k % 2**32 < least for word in words.tolist()]
    places = np.empty(words.size, np.int64)
    found = kernel.unfair_places(words, k, places)
    assert kernel.unfair(words, k) == found == sum(slow)
    assert places[:found].tolist() == np.flatnonzero(slow).tolist()
    codes, kept = np.full(words.size, k - 1, np.uint32), np.zeros(words.size, np.uint8)
    out = np.empty(words.size, np.uint32)
    kernel.values(codes, kept, 1, words, k, out)
    assert out.tolist() == [int(word) * k >> 32 for word in words.tolist()]
    kernel.values(codes, kept, 0, words, k, out)
    assert set(out.tolist()) == {k - 1}


def test_all_words_of_a_small_range_are_shared_out_evenly():
    """The same arithmetic with 8-bit words, all 256 of them: what is not refused gives each of k values ⌊256/k⌋."""
    for k in (2, 3, 7, 100, 255):
        fair = [word * k >> 8 for word in range(256) if word * k % 256 >= 256 % k]
        assert np.bincount(fair, minlength=k).tolist() == [256 // k] * k


def test_unfair_draws_are_drawn_again():
    k = 3 * 2**30  # a quarter of all draws is unfair
    draws = fair_draws(Entropy(5), k, 20_000)
    assert kernel.unfair(draws, k) == 0
    third = np.bincount((draws.astype(np.uint64) * np.uint64(k) >> np.uint64(32)) // 2**30, minlength=3)
    assert special.chdtrc(2, float(((third - 20_000 / 3) ** 2 / (20_000 / 3)).sum())) > 1e-7


def test_words_beyond_a_persons_own_law_are_found_and_the_limits_are_exact():
    words = np.array([0, 9, 10, 11, 2**64 - 1, 99, 100], np.uint64)
    sampled = np.array([0, 0, 0, 0, 1, 2, 2], np.uint8)
    last = np.array([10, 2**64 - 1, 99], np.uint64)
    places = np.empty(7, np.int64)
    assert places[: kernel.beyond(words, sampled, last, places)].tolist() == [3, 6]
    kept = np.empty(7, np.uint8)
    kernel.keep(words, sampled, np.array([10, 0, 99], np.uint64), 3, kept)
    assert kept.tolist() == [0, 0, 3, 3, 3, 3, 3]


def test_own_bits_are_set_by_the_chance_of_the_true_and_of_the_others():
    codes, words = np.array([0, 9, 9, 3], np.uint8), np.array([4, 4, 6, 2], np.uint64)
    rows = np.full((4, 2), 0xFF, np.uint8)
    true = np.array([False, True, True, False])
    kernel.own_bits(codes, true, words, (np.uint64(5), np.uint64(3)), 0b11, rows)
    assert rows.tolist() == [[0xFE, 0b11], [0xFF, 0b11], [0xFF, 0b01], [0xFF, 0b11]]


def test_a_plan_without_seed_differs_every_time():
    plan = Plan({"a": bruit.Categories(k=200), "b": bruit.Categories(k=200)}, 1.0, "RS+FD[GRR]")
    people = {"a": np.zeros(50, int), "b": np.zeros(50, int)}
    assert (plan.privatize(people)["a"] != plan.privatize(people)["a"]).any()
