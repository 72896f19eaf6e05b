"""Randomness as a keystream: secure by default, reproducible by seed, and used once.

The stream is AES-256 in counter mode under a key from the operating system. It is faster than NumPy's own generators,
so that secure randomness costs nothing and there is no insecure mode to choose by accident.

Two classes keep noise from being used twice:

- An `Entropy` is a stream: every draw moves it on, and nothing moves it back. A verb that takes one draws a new key
  from it for each call.
- `Words` are what one call has under its key, in numbered parts: block *i* of people has part *i*, so that the number
  of threads changes nothing. The key of a part is a keyed hash of the key above it and its number. A part is taken
  once; taking it again is a `RandomnessError`.

Copying either gives the same object, and pickling is refused: a copy would repeat its noise. After a fork the new
process takes a new key from the operating system, also for a seeded stream.

One exception is needed. A task that Spark runs again *must* give the same reports again, or its people would report
twice. `Words.task_key` gives up the words of a call for a `TaskKey`, which travels to the tasks and derives the words
of a batch as often as a task runs. Nothing else can derive words again.

Rejected: OpenDP's samplers (cannot be seeded, and slow one by one), NumPy's bit generators (predictable from their
output), and a method of `Entropy` that gives a child by its number (asked twice, it gives the same noise twice).
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
#: What every verb accepts as its `rng`: secure, reproducible, or a stream of the caller's own.
Randomness: TypeAlias = "Entropy | int | None"

_KEY_BYTES = 32
_ZEROS = bytes(1 << 20)
_FROM_ZERO = modes.CTR(bytes(16))
# Counts the forks behind this process: a stream made before the last one must not go on with its old key.
_forks = 0
# Held while a part is taken or a key renewed; a thread that a fork did not copy may have held the old one.
_lock = threading.Lock()


def _note_fork() -> None:
    global _forks, _lock  # noqa: PLW0603 -- a process has one history of forks
    _forks += 1
    _lock = threading.Lock()


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
    stream = Cipher(algorithms.AES256(key), _FROM_ZERO).encryptor()
    return _State(key, stream, threading.Lock(), _forks)


class Entropy:
    """A stream of random words that may be used from several threads.

    Parameters
    ----------
    seed
        None takes a key from the operating system: nobody can predict or repeat the stream. A whole number,
        0 or above, gives a reproducible stream, for studies and tests only: the seed removes the noise.

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

    @staticmethod
    def resolve(rng: Randomness, verb: str, design: str) -> Entropy:
        """The stream for one call of `verb` by the design with that digest: all `Words` of the call as one stream."""
        return Words.resolve(rng, verb, design).stream()

    @property
    def secure(self) -> bool:
        """Whether the key came from the operating system."""
        return self._secure

    def spawn(self) -> Entropy:
        """A new stream whose key is drawn from this one, so that every call gives another."""
        return self._from_key(self.bytes(_KEY_BYTES), secure=self._secure)

    def bytes(self, size: int) -> Key:
        """The next `size` random bytes."""
        out = np.empty(_checks.integer(low=0, size=size), np.uint8)
        self.fill(out)
        return out.tobytes()

    def words(self, size: int) -> NDArray[np.uint64]:
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

    def integers(self, bound: int, size: int) -> NDArray[np.uint64]:
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
        with _lock:
            if self._state.born != _forks:
                self._state = _new_state(os.urandom(_KEY_BYTES))
            return self._state

    def __copy__(self) -> Entropy:
        return self

    def __deepcopy__(self, memo: object) -> Entropy:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise RandomnessError(
            "An Entropy cannot be pickled: the copy would repeat its noise. Make one where it is used, or send a seed; "
            "a function for engines.map draws from the words that it is given."
        )

    def __repr__(self) -> str:
        return f"Entropy({'secure' if self._secure else 'seeded'})"


class Words:
    """The random words of one call, each used once.

    They are used in one of three ways: opened as one `stream`, divided by `split`, or taken by `part`, one part for
    each block of people. What was taken is gone: taking it again raises a `RandomnessError`. Threads may share them.

    Parameters
    ----------
    seed
        As for `Entropy`. A verb takes its words from its `rng` instead, by `resolve`.

    Examples
    --------
    >>> words = Words.resolve(7, "privatize", "digest of a design")
    >>> words.part(0).stream().bytes(16) == words.part(1).stream().bytes(16)
    False
    >>> words.part(0)
    Traceback (most recent call last):
    bruit.errors.RandomnessError: These random words were used before, and words are used once: ...
    """

    __slots__ = ("__weakref__", "_born", "_count", "_first", "_key", "_kind", "_next", "_secure", "_spent", "_taken")

    def __init__(self, seed: int | None = None) -> None:
        key = os.urandom(_KEY_BYTES) if seed is None else _hash(b"", b"seed", _checks.integer(low=0, seed=seed))
        self._start(key, seed is None, Entropy)

    @classmethod
    def resolve(cls, rng: Randomness, verb: str, design: str) -> Words:
        """The words for one call of `verb` by the design with that digest.

        A seed is mixed with the verb and the design, so that one seed used for two collections does not give them the
        same noise. From an `Entropy` a new key is drawn, so that two calls with it differ.
        """
        if rng is None:
            return cls()
        if isinstance(rng, Entropy):
            return cls._under(rng.bytes(_KEY_BYTES), rng.secure, type(rng))
        seed = _checks.whole(rng)
        if seed is None or seed < 0:
            raise RandomnessError(
                "rng must be None (secure), a whole number, 0 or above (reproducible), or a bruit.Entropy."
            )
        return cls._under(_hash(b"", f"seed/{verb}/{design}".encode(), seed), False, Entropy)

    @property
    def secure(self) -> bool:
        """Whether the key came from the operating system."""
        return self._secure

    def stream(self) -> Entropy:
        """All these words as one stream."""
        return self._kind._from_key(self._spend(), secure=self._secure)

    def split(self, count: int) -> list[Words]:
        """These words divided into `count`, which take their place."""
        size = _checks.integer(low=0, count=count)
        key = self._spend()
        return [self._below(key, number) for number in range(size)]

    def part(self, index: int) -> Words:
        """Part number `index` of these words."""
        number = _checks.integer(low=0, index=index)
        return self._below(self._take(number, 1), self._first + number)

    def parts(self, first: int, count: int) -> Words:
        """Words that have as their own parts the `count` parts from number `first`, and no more: those of a batch."""
        start, size = _checks.integer(low=0, first=first), _checks.integer(low=1, count=count)
        batch = self._under(self._take(start, size), self._secure, self._kind)
        batch._first, batch._count = self._first + start, size
        return batch

    def task_key(self) -> TaskKey:
        """The key by which the tasks of a job on other machines derive the parts of these words, instead of these."""
        return TaskKey(self._spend(), secure=self._secure)

    @classmethod
    def _under(cls, key: Key, secure: bool, kind: type[Entropy]) -> Words:
        words = cls.__new__(cls)
        words._start(key, secure, kind)
        return words

    def _start(self, key: Key, secure: bool, kind: type[Entropy]) -> None:
        self._key, self._secure, self._born = key, secure, _forks
        self._kind = kind  # of the streams that are opened
        self._first, self._count = 0, -1  # all parts
        self._spent = False
        # Parts that were taken: all below a number, and a few above it that threads took ahead of their turn.
        self._next, self._taken = 0, set[int]()

    def _below(self, key: Key, number: int) -> Words:
        return self._under(_hash(key, b"child", number), self._secure, self._kind)

    def _spend(self) -> Key:
        """The key, for a use of all these words."""
        with _lock:
            if self._spent or self._next or self._taken:
                raise RandomnessError(_USED)
            self._spent = True
            key = self._current()
        # The parts of a batch are numbered among those of a call: another key keeps other uses apart from them.
        return key if self._count < 0 else _hash(key, b"batch/%d" % self._count, self._first)

    def _take(self, first: int, count: int) -> Key:
        """The key, for the use of some parts."""
        if 0 <= self._count < first + count:
            raise RandomnessError(f"These random words are for {self._count} blocks of people, and there are more.")
        numbers = range(first, first + count)
        with _lock:
            if self._spent or first < self._next or not self._taken.isdisjoint(numbers):
                raise RandomnessError(_USED)
            self._taken.update(numbers)
            while self._next in self._taken:
                self._taken.remove(self._next)
                self._next += 1
            return self._current()

    def _current(self) -> Key:
        """The key; in a process forked since, a new one."""
        if self._born != _forks:
            self._key, self._born = os.urandom(_KEY_BYTES), _forks
        return self._key

    def __copy__(self) -> Words:
        return self

    def __deepcopy__(self, memo: object) -> Words:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise RandomnessError(
            "Words cannot be pickled: a copy would repeat their noise. Take new ones where they are used."
        )

    def __repr__(self) -> str:
        return f"Words({'secure' if self._secure else 'seeded'})"


_USED = (
    "These random words were used before, and words are used once: noise that repeats can be taken off. Take new ones "
    "for each call, as privatize and draw do with their rng, or split them before they are used."
)


class TaskKey:
    """What the tasks of a Spark job derive their words from, and derive them again when they are run again.

    The only way to have the same words twice, for the engine alone: a task that is run again must repeat the reports of
    its people. Keep it as you keep the raw data, and no longer than the job runs: with it and the reports anyone can
    remove the noise. It must not be printed, logged or written to a file.

    Examples
    --------
    >>> key = Words().task_key()
    >>> there = TaskKey.from_bytes(key.to_bytes())
    >>> first, again = (at.derive_again(8, count=4).part(0).stream().bytes(16) for at in (key, there))
    >>> first == again
    True
    """

    __slots__ = ("_key", "_secure")

    def __init__(self, key: Key, *, secure: bool) -> None:
        self._key, self._secure = key, secure

    @property
    def secure(self) -> bool:
        """Whether the key came from the operating system."""
        return self._secure

    def derive_again(self, first: int, count: int) -> Words:
        """The words of the batch whose `count` blocks of people are numbered from `first`: the same at each call."""
        return Words._under(self._key, self._secure, Entropy).parts(first, count)

    def to_bytes(self) -> bytes:
        """The secret, for its way to the tasks."""
        return (b"s" if self._secure else b"r") + self._key

    @classmethod
    def from_bytes(cls, secret: bytes) -> TaskKey:
        """The inverse of `to_bytes`."""
        if not isinstance(secret, bytes) or len(secret) != 1 + _KEY_BYTES or secret[:1] not in (b"s", b"r"):
            raise RandomnessError("A key for tasks must be what to_bytes returned.")
        return cls(secret[1:], secure=secret[:1] == b"s")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise RandomnessError("A key for tasks travels by the engine alone: any other copy could repeat the noise.")

    def __repr__(self) -> str:
        return f"TaskKey({'secure' if self._secure else 'seeded'})"


_BIG_ENDIAN = np.little_endian is False


def _hash(key: bytes, purpose: bytes, number: int) -> bytes:
    """A 256-bit key from a parent key (or none), a purpose and a number."""
    size = max(1, (number.bit_length() + 7) // 8)
    message = len(purpose).to_bytes(8, "little") + purpose + number.to_bytes(size, "little")
    return hashlib.blake2b(message, key=key, digest_size=_KEY_BYTES, person=b"bruit/entropy/1").digest()
