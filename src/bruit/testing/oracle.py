"""All common laws of a frequency oracle, one after the other."""

from __future__ import annotations

from bruit.entropy import Randomness
from bruit.oracles import Oracle, from_dict
from bruit.testing._evidence import Mechanism
from bruit.testing.bad_input import check_bad_input
from bruit.testing.capabilities import check_capabilities
from bruit.testing.estimates import check_coverage, check_simulate, check_unbiased, check_variance
from bruit.testing.hostile import check_hostile_reports
from bruit.testing.laws import check_guarantee, check_law
from bruit.testing.seeds import check_seeds
from bruit.testing.silence import check_silence
from bruit.testing.single_use import check_single_use
from bruit.testing.sources import check_sources
from bruit.testing.tallies import Read, check_merge, check_round_trip


def check_oracle(oracle: Oracle, *, rng: Randomness = 0, read: Read = from_dict) -> None:
    """Run every common law on an oracle; the first that it breaks raises an `AssertionError` that says which.

    Parameters
    ----------
    oracle
        The mechanism, one of bruit's or a class of your own derived from `bruit.oracles.Oracle`.
    rng
        Randomness of the statistical checks: a seed, so that a failure can be repeated.
    read
        What makes the mechanism again from its `to_dict`, for a class that `bruit.oracles.from_dict` does not know.

    Examples
    --------
    >>> from bruit.oracles import RandomizedResponse
    >>> check_oracle(RandomizedResponse(epsilon=1.0, k=4))
    """
    check_common(oracle, rng=rng, read=read)
    for check in (check_capabilities, check_unbiased, check_variance, check_coverage):
        check(oracle, rng=rng)


def check_common(mechanism: Mechanism, *, rng: Randomness, read: Read) -> None:
    """The laws that mechanisms for categories and for numbers share."""
    check_guarantee(mechanism)
    check_law(mechanism, rng=rng)
    check_simulate(mechanism, rng=rng)
    check_merge(mechanism, rng=rng)
    check_round_trip(mechanism, rng=rng, read=read)
    for check in (check_seeds, check_single_use, check_bad_input, check_hostile_reports, check_silence, check_sources):
        check(mechanism, rng=rng)
