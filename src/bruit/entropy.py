"""Randomness as a keystream: secure by default, reproducible by seed, one child per block of people.

The stream is AES-256 in counter mode under a key from the operating system. It is faster than NumPy's own generators,
so that secure randomness costs nothing and there is no insecure mode to choose by accident.

Three rules keep noise from ever being used twice:

- A child's key is a keyed hash of its parent's key and its index, never an offset into the parent's stream.
- Copying an `Entropy` gives the same object, and pickling it is refused. A copy would repeat its noise. Where a task on
  another machine *must* repeat the noise of its people when it is run again, a key travels, and what it opens draws
  from children only.
- After a fork the child process takes a new key from the operating system, also for a seeded stream.

Rejected: OpenDP's samplers (cannot be seeded, and slow one by one) and NumPy's bit generators (predictable from
their output).
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from bruit import _checks
from bruit.errors import DataTypeError, RandomnessError

Key: TypeAlias = bytes
Words: TypeAlias = NDArray[np.uint64]
#: What every verb accepts as its `rng`: secure, reproducible, or a stream of the caller's own.
Randomness: TypeAlias = "Entropy | int | None"

_KEY_BYTES = 32
_ZEROS = bytes(1 << 20)
# Counts the forks behind this process: a stream made before the last one must not go on with its old key.
_forks = 0


_after_fork = threading.Lock()


def _note_fork() -> None:
    global _forks, _after_fork  # noqa: PLW0603 -- a process has one history of forks
    _forks += 1
    _after_fork = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


class _State(NamedTuple):
    """A key, the stream under it, the lock of that stream, and how many forks were behind the process that made it."""

    key: Key
    stream: Any
    lock: threading.Lock
    born: int


def _new_state(key: Key) -> _State:
    # The counter may start at zero because every key is used for one stream only.
    stream = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
    return _State(key, stream, threading.Lock(), _forks)


class Entropy:
    """A stream of random words that may be used from several threads.

    Parameters
    ----------
    seed
        None takes a key from the operating system: nobody can predict or repeat the stream. A whole number,
        0 or above, gives a reproducible stream, for studies and tests only: whoever knows the seed can undo the noise.

    Examples
    --------
    >>> Entropy(7).words(2) == Entropy(7).words(2)
    array([ True,  True])
    >>> Entropy().secure
    True
    """

    __slots__ = ("__weakref__", "_secure", "_state")

    def __init__(self, seed: int | None = None) -> None:
        if seed is None:
            self._start(os.urandom(_KEY_BYTES), secure=True)
        else:
            number = _checks.integer(low=0, seed=seed)
            self._start(_hash(b"", b"seed", number), secure=False)

    @classmethod
    def resolve(cls, rng: Randomness, verb: str, design: str) -> Entropy:
        """The stream for one call of `verb` by the design with that digest.

        A seed is mixed with the verb and the design, so that one seed used for two collections does not give them the
        same noise. From an `Entropy` a new key is drawn, so that two calls with it differ.
        """
        if rng is None:
            return cls()
        if isinstance(rng, Entropy):
            return rng.spawn()
        seed = _checks.whole(rng)
        if seed is None or seed < 0:
            raise RandomnessError(
                "rng must be None (secure), a whole number, 0 or above (reproducible), or a bruit.Entropy."
            )
        return cls._from_key(_hash(b"", f"seed/{verb}/{design}".encode(), seed), secure=False)

    @property
    def secure(self) -> bool:
        """Whether the key came from the operating system."""
        return self._secure

    def child(self, index: int) -> Entropy:
        """The stream number `index` below this one; asking again gives the same stream from its start."""
        number = _checks.integer(low=0, index=index)
        return Entropy._from_key(_hash(self._current().key, b"child", number), secure=self._secure)

    def spawn(self) -> Entropy:
        """A new stream whose key is drawn from this one, so that every call gives another."""
        return self._from_key(self.bytes(_KEY_BYTES), secure=self._secure)

    def bytes(self, size: int) -> Key:
        """The next `size` random bytes."""
        out = np.empty(_checks.integer(low=0, size=size), np.uint8)
        self.fill(out)
        return out.tobytes()

    def words(self, size: int) -> Words:
        """The next `size` random 64-bit words."""
        out = np.empty(_checks.integer(low=0, size=size), np.uint64)
        self.fill(out)
        return out

    def fill(self, out: NDArray[Any]) -> None:
        """Overwrite a contiguous array of unsigned integers with random bits."""
        if out.dtype.kind != "u" or not out.flags.c_contiguous or not out.flags.writeable:
            raise DataTypeError("fill needs a writeable, contiguous array of unsigned integers.")
        target = out.reshape(-1).view(np.uint8)
        state = self._current()
        with state.lock:
            for start in range(0, target.size, len(_ZEROS)):
                piece = target[start : start + len(_ZEROS)]
                state.stream.update_into(memoryview(_ZEROS)[: piece.size], piece.data)
        if out.dtype.itemsize > 1 and _BIG_ENDIAN:  # pragma: no cover -- the same stream on every machine
            out.byteswap(inplace=True)

    def integers(self, bound: int, size: int) -> Words:
        """`size` whole numbers, each of 0..bound−1 equally likely, for a bound up to 2⁶⁴.

        By rejection: words at or above the greatest multiple of `bound` are drawn again, so that no number is favoured.
        """
        limit = _checks.integer(low=1, high=2**64, bound=bound)
        out = self.words(size)
        if limit == 2**64:
            return out
        last = np.uint64(2**64 // limit * limit - 1)
        refused = np.flatnonzero(out > last)
        while refused.size:
            out[refused] = self.words(refused.size)
            refused = refused[out[refused] > last]
        out %= np.uint64(limit)
        return out

    def generator(self) -> np.random.Generator:
        """A NumPy generator seeded from this stream, to draw people who do not exist; never for a person's noise."""
        return np.random.Generator(np.random.PCG64(int.from_bytes(self.bytes(16), "little")))

    def key_for_tasks(self) -> Key:
        """The secret by which tasks on other machines get the children of this stream, and get them again when retried.

        It serves this one purpose. Keep it as you keep the raw data, and no longer than the job runs: whoever has it
        and the reports can undo the noise. It must not be printed, logged or written to a file.

        Examples
        --------
        >>> entropy = Entropy()
        >>> there = Entropy.from_task_key(entropy.key_for_tasks())
        >>> there.child(3).bytes(16) == entropy.child(3).bytes(16)
        True
        """
        return (b"s" if self._secure else b"r") + self._current().key

    @staticmethod
    def from_task_key(key: Key) -> Entropy:
        """What gives the children of the stream that `key_for_tasks` was asked of.

        Nothing else can be drawn from it: every task would draw the same.
        """
        if not isinstance(key, bytes) or len(key) != 1 + _KEY_BYTES or key[:1] not in (b"s", b"r"):
            raise RandomnessError("A key for tasks must be what key_for_tasks returned.")
        return _TaskEntropy._from_key(key[1:], secure=key[:1] == b"s")

    @classmethod
    def _from_key(cls, key: Key, *, secure: bool) -> Entropy:
        entropy = cls.__new__(cls)
        entropy._start(key, secure=secure)
        return entropy

    def _start(self, key: Key, *, secure: bool) -> None:
        self._secure = secure
        self._state = _new_state(key)

    def _current(self) -> _State:
        """The state; in a process forked since it was made, a new one under a new key.

        Nothing of the old one is kept: its lock may be held by a thread that the fork did not copy. A state is made
        whole before it is put in place, under a lock that a fork renews, so that threads of the new process share one.
        """
        state = self._state
        if state.born == _forks:
            return state
        with _after_fork:
            if self._state.born != _forks:
                self._state = _new_state(os.urandom(_KEY_BYTES))
            return self._state

    def __copy__(self) -> Entropy:
        return self

    def __deepcopy__(self, memo: object) -> Entropy:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise RandomnessError(
            "An Entropy cannot be pickled: the copy would repeat its noise. "
            "Send a seed, or make an Entropy where it is used."
        )

    def __repr__(self) -> str:
        return f"Entropy({'secure' if self._secure else 'seeded'})"


class _TaskEntropy(Entropy):
    """A stream that several tasks have under one key: only its children, which have numbers, are drawn from."""

    __slots__ = ()

    def fill(self, out: NDArray[Any]) -> None:
        """Refuse: every task, and every retry, would draw the same."""
        raise RandomnessError(
            "In a task, draw from child(first_block), the number that the function is given with its batch: "
            "drawn directly, every task would repeat the same noise."
        )


_BIG_ENDIAN = np.little_endian is False


def _hash(key: bytes, purpose: bytes, number: int) -> bytes:
    """A 256-bit key from a parent key (or none), a purpose and a number."""
    size = max(1, (number.bit_length() + 7) // 8)
    message = len(purpose).to_bytes(8, "little") + purpose + number.to_bytes(size, "little")
    return hashlib.blake2b(message, key=key, digest_size=_KEY_BYTES, person=b"bruit/entropy/1").digest()
