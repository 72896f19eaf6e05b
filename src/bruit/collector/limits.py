"""How many requests a survey and an address may make, without keeping an address.

An address, of IPv6 the first 64 bits, which is what a household or a phone has, is hashed under a random key into one
of 65,536 counters. Key and counters are thrown away every ten minutes.
Two addresses that share a counter share a limit: it is high enough for a school behind one address.
"""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections.abc import Callable

from bruit import _checks
from bruit.entropy import Entropy

__all__ = ["AddressLimit", "SurveyLimit"]

_COUNTERS = 1 << 16
#: How long a key lives, in seconds.
LIFETIME = 600.0


class AddressLimit:
    """A limit for each address, in memory only.

    Parameters
    ----------
    most
        How many requests an address may make in ten minutes.
    clock
        Seconds that never go back.

    Examples
    --------
    >>> limit = AddressLimit(2)
    >>> [limit.allows("192.0.2.1") for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = _checks.integer(low=1, most=most)
        self._clock = clock
        self._renew()

    def allows(self, address: str) -> bool:
        """Count a request, and say whether it is within the limit."""
        if self._clock() - self._since >= LIFETIME:
            self._renew()
        digest = hashlib.blake2b(network(address).encode(), key=self._key, digest_size=2).digest()
        place = int.from_bytes(digest, "big")
        self._counts[place] = min(self._counts[place] + 1, self._most + 1)
        return self._counts[place] <= self._most

    def _renew(self) -> None:
        self._key = Entropy().bytes(32)
        self._counts = [0] * _COUNTERS
        self._since = self._clock()


def network(address: str) -> str:
    """What shares a limit: an address of IPv4, in the form of IPv6 too, or the first 64 bits of one of IPv6.

    >>> network("192.0.2.1"), network("::ffff:192.0.2.1"), network("2001:db8::1") == network("2001:db8::2:0:0:1")
    ('192.0.2.1', '192.0.2.1', True)
    """
    if ":" not in address:
        return address
    try:
        number = ipaddress.IPv6Address(address)
    except ValueError:  # a name that a proxy gave
        return address
    return str(number.ipv4_mapped or int(number) >> 64)


class SurveyLimit:
    """A limit for a whole survey: requests per second, and a reserve of ten seconds' worth.

    >>> limit = SurveyLimit(1, clock=lambda: 0.0)
    >>> sum(limit.allows() for _ in range(50))
    10
    """

    RESERVE = 10.0

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = _checks.positive(per_second=per_second)
        self._clock = clock
        self._left = self._most
        self._last = clock()

    def allows(self) -> bool:
        """Count a request, and say whether it is within the limit."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._last) * self._rate)
        self._last = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    @property
    def _most(self) -> float:
        return max(1.0, self._rate * self.RESERVE)
