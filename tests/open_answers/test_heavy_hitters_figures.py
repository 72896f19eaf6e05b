"""Heavy hitters on a long tail: how many of the frequent answers are found, how many names are false, and how fast."""

import time

import numpy as np
import pytest

from bruit.domains.open_text import SIGNS
from bruit.entropy import Words
from bruit.open_answers import HeavyHitters
from bruit.open_answers.letter_weights import LetterWeights

STRINGS, TOP, RUNS = 100_000, 20, 20


def population(seed, people):
    """Codes of texts of eight letters from a to z, frequencies by Zipf's law with 1.2, and the code of each person."""
    rng = np.random.default_rng(seed)
    letters = SIGNS.index("a") + rng.integers(0, 26, (STRINGS, 8))
    codes = (letters << np.arange(42, -1, -6)).sum(axis=1)
    weights = (1.0 + np.arange(STRINGS)) ** -1.2
    return codes, codes[rng.choice(STRINGS, people, p=weights / weights.sum())]


def run(design, people, seed):
    """The share of the 20 most frequent texts that are shown, how many names are false, and the seconds of decoding."""
    codes, own = population(seed, people)
    reports = design.randomize(own, Words.resolve(seed, "privatize", design.digest))
    start = time.process_time()
    texts = set(design.estimate(reports).labels)
    seconds = time.process_time() - start
    known = {design.domain.text(int(code)) for code in np.unique(own)}
    top = {design.domain.text(int(code)) for code in codes[:TOP]}
    return len(texts & top) / TOP, len(texts - known), seconds


@pytest.mark.audit
@pytest.mark.parametrize(
    ("epsilon", "people", "recall"), [(2.0, 1_000_000, 0.804), (1.0, 100_000, 0.137), (4.0, 100_000, 0.766)]
)
def test_the_frequent_texts_of_a_long_tail_are_found_as_often_as_two_binomials_say(epsilon, people, recall, capsys):
    design = HeavyHitters(epsilon)
    results = np.array([run(design, people, seed) for seed in range(RUNS)])
    means, false = results.mean(axis=0), int((results[:, 1] > 0).sum())
    with capsys.disabled():
        print(f"\nε = {epsilon:g}, n = {people:,}: recall {means[0]:.3f} ({recall}), runs with a false name {false}, "
              f"decoding {means[2]:.1f} s of processor time")  # fmt: skip
    shares = (1.0 + np.arange(STRINGS)) ** -1.2
    common = LetterWeights(24).by_rarity[0]
    expected = np.mean([design._chance_at(people, share, common, common) for share in shares[:TOP] / shares.sum()])
    assert expected == pytest.approx(recall, abs=0.005)
    assert means[0] == pytest.approx(expected, abs=0.04)
    assert false <= 4


@pytest.mark.audit
def test_a_million_reports_are_decoded_in_half_a_minute():
    assert run(HeavyHitters(2.0), 1_000_000, 1)[2] < 30


def test_a_small_tail_is_found_as_often_as_people_needed_says():
    from bruit.domains import OpenText

    design = HeavyHitters(2.0, domain=OpenText(letters=4))
    codes, _ = population(1, 1)
    people = design.people_needed(0.1)
    own = np.concatenate([np.repeat(codes[:3] >> 24, people // 10), codes[3 : people - 3 * (people // 10) + 3] >> 24])
    hits = 0
    for seed in range(20):
        reports = design.randomize(own, Words.resolve(seed, "privatize", design.digest))
        hits += len({design.domain.text(int(code)) for code in codes[:3] >> 24} & set(design.estimate(reports).labels))
    assert 42 <= hits <= 60  # 54 expected of 60
