"""The lemmas on deciles: what they say of is computed exactly, and their mended bounds hold."""

import math

import pytest
from scipy import special

from bruit_studies.decile_lemmas import allowed, empirical_decile, enough_records, normal_theorem, share_below

LAWS = ("uniform", "normal")


def binomial(n, p):
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("decile", [1, 5, 9])
def test_the_probability_of_the_decile_is_that_over_all_counts_of_three_cells(law, decile):
    n, gamma = 20, 0.1
    m = decile * n // 10
    low, high = share_below(law, decile, -gamma / 2), share_below(law, decile, gamma / 2)
    within = 0.0
    for below, outer in enumerate(binomial(n, low)):
        for inside, inner in enumerate(binomial(n - below, (high - low) / (1 - low))):
            # The m-th smallest is inside if fewer than m are below and at least m are below or inside.
            within += outer * inner if below < m <= below + inside else 0.0
    assert empirical_decile(n, decile, gamma, law).exact == pytest.approx(within, abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("alpha", [1, 2, 4])
def test_the_probability_of_enough_records_is_that_over_all_counts_of_two_cells(law, alpha):
    n, gamma, decile = 25, 0.2, 5
    left = share_below(law, decile, -gamma / 2) - share_below(law, decile, -gamma)
    right = share_below(law, decile, gamma) - share_below(law, decile, gamma / 2)
    enough = sum(
        outer * inner
        for a, outer in enumerate(binomial(n, left))
        for b, inner in enumerate(binomial(n - a, right / (1 - left)))
        if a >= alpha and b >= alpha
    )
    assert enough_records(n, decile, gamma, law, alpha).exact == pytest.approx(enough, abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_mended_bounds_hold_for_every_decile_and_promise_much_for_many_records(law):
    for n in (10, 100, 1000, 100_000):
        for decile in range(1, 10):
            bound = empirical_decile(n, decile, 0.1, law)
            assert bound.mended <= bound.exact + 1e-12
    assert empirical_decile(100_000, 5, 0.1, law).mended > 0.999


def test_with_the_other_sign_the_printed_bound_still_says_nothing():
    bound = empirical_decile(30_000, 5, 0.05, "uniform")
    assert bound.printed == pytest.approx(-1, abs=1e-12)
    assert bound.mended > 1 - 1e-12


def test_a_bound_with_one_of_its_two_sums_would_be_caught():
    n, decile, gamma = 1000, 5, 0.02
    one_side = 1 - float(special.bdtr(decile * n // 10, n, 0.5 + gamma / 2))
    assert one_side > empirical_decile(n, decile, gamma, "uniform").exact + 0.1


def test_the_theorem_for_the_normal_law_as_printed_is_negative():
    assert all(normal_theorem(n, decile) < 0 for n in (1000, 100_000) for decile in range(1, 10))


def test_the_printed_gamma_of_the_normal_lemmas_leaves_nothing_up_to_the_median():
    assert [decile for decile in range(1, 10) if allowed("normal", decile) > 0] == [6, 7, 8, 9]


def test_the_printed_sums_of_the_normal_lemma_do_not_depend_on_gamma_and_the_probability_does():
    narrow, wide = (empirical_decile(1000, 5, gamma, "normal") for gamma in (1e-6, 1.0))
    assert narrow.printed == wide.printed
    assert narrow.exact < 0.05 < 0.95 < wide.exact
