"""The common laws, as checks that anybody can run on a mechanism of their own.

Each check takes a mechanism and raises `AssertionError`, with what is wrong, if it breaks the law; `check_oracle` runs
them all on a mechanism for categories, `check_number` on one for numbers, and `check_release` runs its own on a release
from raw records. `check_sources` takes plans too, and `check_single_use` any of these, a noise, or a function that
draws. Whatever else spends a budget can be held to `check_after_booking`. Statistical checks compare with limits that
an honest mechanism passes with probability above 1 − 10⁻⁶; they are reproducible, because their `rng` is a seed unless
you say otherwise. All are made for domains up to about a thousand values.
"""

from bruit.testing.after_booking import check_after_booking, check_model_after_booking, check_release_after_booking
from bruit.testing.bad_input import check_bad_input
from bruit.testing.capabilities import check_capabilities
from bruit.testing.estimates import check_coverage, check_simulate, check_unbiased, check_variance
from bruit.testing.hostile import check_hostile_reports
from bruit.testing.laws import check_guarantee, check_law
from bruit.testing.number import check_mean, check_number
from bruit.testing.oracle import check_oracle
from bruit.testing.release import check_release
from bruit.testing.seeds import check_seeds
from bruit.testing.silence import check_canary, check_silence
from bruit.testing.single_use import check_single_use
from bruit.testing.sources import check_sources
from bruit.testing.tallies import check_merge, check_round_trip

__all__ = [
    "check_after_booking",
    "check_bad_input",
    "check_canary",
    "check_capabilities",
    "check_coverage",
    "check_guarantee",
    "check_hostile_reports",
    "check_law",
    "check_mean",
    "check_merge",
    "check_model_after_booking",
    "check_number",
    "check_oracle",
    "check_release",
    "check_release_after_booking",
    "check_round_trip",
    "check_seeds",
    "check_silence",
    "check_simulate",
    "check_single_use",
    "check_sources",
    "check_unbiased",
    "check_variance",
]
