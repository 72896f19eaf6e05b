"""That no two draws of a secure stream use the same random words: in any order, in threads, and after a fork.

Two things are looked at. *Words*: every stream that is opened below the one under test is written down by its key, and
no key may come twice. This finds all that is derived again from an `Entropy`. *Outputs*: draws must not be equal more
often than those of independent streams are. This finds noise that is kept or comes from elsewhere.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import operator
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.collection import Plan
from bruit.domains import Attribute
from bruit.engines.memory import BLOCK
from bruit.entropy import Entropy, Key, Randomness, Words
from bruit.errors import RandomnessError
from bruit.numbers import Number
from bruit.oracles import Oracle
from bruit.releases import AboveThreshold, Noise, Release, Statistic
from bruit.testing._evidence import ALARM, crowd, declared_values, require, require_error, values_of

#: From a stream to what is drawn with it.
Call = Callable[[Entropy], Any]

#: How many outputs of one stream are compared, and how many pairs of independent streams they are compared with.
OUTPUTS, PAIRS = 300, 300
#: How many calls are mixed at least, by how many threads.
MIXED, THREADS = 40, 4
#: How many people are asked, or at most; how many numbers are drawn; how many answers a session gets.
PEOPLE, MOST_PEOPLE, NUMBERS, ANSWERS = 200, 50_000, 64, 50
#: Several blocks of people.
MANY = 2 * BLOCK + 17
#: The seconds after which a forked process that waits for a lock is ended.
_PATIENCE = 60


def check_single_use(subject: Any, *, outputs: bool = True, rng: Randomness = 0) -> None:
    """No two draws of a secure stream use the same random words: in any order, in threads, and after a fork.

    Parameters
    ----------
    subject
        An oracle, a number mechanism, a plan, a noise, a release or an `AboveThreshold`, of bruit or of your own; or a
        function of an `Entropy` that draws with it, or a mapping from names to such functions, whose calls are mixed.
    outputs
        Whether outputs are compared too, which takes about a thousand calls; without, only the keys of streams are.
    rng
        Chooses the order of the calls. The streams under test are secure.

    Examples
    --------
    >>> from bruit.releases import DiscreteLaplace
    >>> check_single_use(DiscreteLaplace(5))
    >>> held = Entropy().words(100)
    >>> check_single_use(lambda entropy: held)
    Traceback (most recent call last):
    AssertionError: call does not draw from the stream that it is given.
    """
    calls = _calls(subject)
    for name, call in calls.items():
        _check_drawn(name, call)
        if outputs:
            _check_outputs(name, call)
    _check_order(calls, Entropy.resolve(rng, "check_single_use", ",".join(calls)))
    seam = _seam(subject)
    if seam is not None:
        _check_seam(seam)


# What is called.


def _calls(subject: Any) -> dict[str, Call]:
    """The verbs of a subject that draw, each with data of its own."""
    if isinstance(subject, Oracle | Number):
        return _of_mechanism(subject)
    if isinstance(subject, Plan):
        return _of_plan(subject)
    if isinstance(subject, Statistic | Release):
        return _of_release(subject.alone if isinstance(subject, Statistic) else subject)
    if isinstance(subject, AboveThreshold):
        return _of_session(subject)
    if isinstance(subject, Noise):
        return {"draw": lambda entropy: subject.draw(NUMBERS, entropy)}
    return dict(subject) if isinstance(subject, Mapping) else {"call": subject}


def _of_mechanism(mechanism: Oracle | Number) -> dict[str, Call]:
    values, counts = _values(mechanism), np.full(mechanism.size, 50)
    return {
        "privatize": lambda entropy: mechanism.privatize(values, rng=entropy),
        "simulate": lambda entropy: mechanism.simulate(counts, rng=entropy).counts,
    }


def _values(mechanism: Oracle | Number) -> NDArray[Any]:
    """The values of enough people that two draws differ even with the least noise for this ε."""
    truth = 1 / (1 + math.exp(-mechanism.epsilon))
    needed = 5 / (truth * (1 - truth))
    require(needed <= MOST_PEOPLE, "Reports are so seldom noisy at this ε that two draws cannot be told apart.")
    return crowd(mechanism, max(PEOPLE, math.ceil(needed)))


def _of_plan(plan: Plan) -> dict[str, Call]:
    table = {name: _column(attribute, PEOPLE) for name, attribute in plan.schema.items()}
    counts = {name: _even(attribute.size) for name, attribute in plan.schema.items()}
    return {
        "privatize": lambda entropy: plan.privatize(table, rng=entropy),
        "simulate": lambda entropy: plan.simulate(counts, rng=entropy).counts,
    }


def _of_release(release: Release) -> dict[str, Call]:
    raw = release.fold((declared_values(release) * 40)[:40])

    def published(entropy: Entropy) -> NDArray[Any]:
        return np.concatenate([result.values for result in release.publish(raw, rng=entropy).values()])

    return {"publish": published}


def _of_session(design: AboveThreshold) -> dict[str, Call]:
    answers = np.full(ANSWERS, design.threshold - int(design.answer_noise.standard_error))
    return {"start": lambda entropy: design.start(rng=entropy).first(answers)}


def _even(size: int) -> NDArray[np.int64]:
    """How many of some people have each value."""
    return np.bincount(np.arange(PEOPLE) % size, minlength=size)


def _column(attribute: Attribute, size: int) -> NDArray[Any]:
    """Values of `size` people, with gaps where missing is a category."""
    declared, gaps = attribute.domain.declared, attribute.domain.missing == "category"
    places = np.arange(size) % (declared + gaps)
    values = attribute.domain.decode(np.minimum(places, declared - 1)).astype(object)
    values[places == declared] = None
    return values


class _Seam(NamedTuple):
    """A verb that takes the words of a call, for few people and for several blocks of them."""

    name: str
    few: Callable[[Words], Any]
    many: Callable[[Words], Any]


def _seam(subject: Any) -> _Seam | None:
    if isinstance(subject, Noise):
        return _Seam("sample", lambda words: subject.sample(NUMBERS, words), lambda words: subject.sample(MANY, words))
    if isinstance(subject, Plan):
        table = subject.encode({name: _column(attribute, MANY) for name, attribute in subject.schema.items()})
        return _randomize(subject, table, {name: codes[:PEOPLE] for name, codes in table.items()})
    if isinstance(subject, Oracle | Number):
        codes = subject.encode(values_of(subject, np.arange(MANY) % subject.size))
        return _randomize(subject, codes, codes[:PEOPLE])
    return None


def _randomize(subject: Any, many: Any, few: Any) -> _Seam:
    return _Seam("randomize", lambda words: subject.randomize(few, words), lambda words: subject.randomize(many, words))


# Words: the keys of all streams below one.


class _Log:
    """The streams that were opened below one, by a digest of their keys, and whether anything was drawn."""

    def __init__(self) -> None:
        self.opened: list[bytes] = []
        self.drawn = False

    def entropy(self) -> Entropy:
        """A secure stream that is written down here, with all that is derived from it."""
        log = self

        class Logged(Entropy):
            __slots__ = ()

            def _start(self, key: Key, *, secure: bool) -> None:
                log.opened.append(hashlib.blake2b(key, digest_size=16).digest())
                super()._start(key, secure=secure)

            def fill(self, out: NDArray[Any]) -> None:
                log.drawn = True
                super().fill(out)

        return Logged()

    def check(self, name: str) -> None:
        """No stream was opened twice."""
        require(len(set(self.opened)) == len(self.opened), f"{name} uses the same random words twice.")


def _check_drawn(name: str, call: Call) -> None:
    log = _Log()
    call(log.entropy())
    require(log.drawn, f"{name} does not draw from the stream that it is given.")


def _check_order(calls: dict[str, Call], order: Entropy) -> None:
    """Calls in a random order, with other draws between them, by one thread and by several, and in a forked process."""
    log = _Log()
    entropy = log.entropy()
    mixture = list(calls.values()) * max(2, MIXED // len(calls))
    order.generator().shuffle(mixture)
    for call, turn in zip(mixture, order.integers(3, len(mixture)), strict=True):
        if turn == 0:
            entropy.integers(10, 3)
        call(entropy.spawn() if turn == 1 else entropy)
    log.check("A mixture of calls")
    _together([functools.partial(call, entropy) for call in mixture])
    log.check("A mixture of calls in several threads")
    if hasattr(os, "fork"):
        theirs = _in_fork(lambda: _opened(mixture, entropy, log))
        _opened(mixture, entropy, log)
        log.opened += theirs
        log.check("A forked process")


def _opened(mixture: list[Call], entropy: Entropy, log: _Log) -> list[bytes]:
    """The streams that are opened while all calls run once."""
    before = len(log.opened)
    for call in mixture:
        call(entropy)
    return log.opened[before:]


def _check_seam(seam: _Seam) -> None:
    """Blocks of people have words of their own, and words that were used are refused."""
    log = _Log()
    seam.many(Words.resolve(log.entropy(), "check_single_use", seam.name))
    log.check(f"{seam.name} of several blocks")
    for use in (seam.few, seam.many):
        words = Words()
        use(words)
        again = functools.partial(use, words)
        require_error(RandomnessError, again, f"{seam.name} takes words that were used before.")


# Outputs: how often they are equal.


class _Comparison(NamedTuple):
    """A call, and the most that the chance of two equal outputs of it can be."""

    name: str
    chance: float

    def compare(self, first: list[bytes], second: list[bytes], how: str) -> None:
        """Pairs of outputs, none of them in two pairs, are not equal more often than by chance."""
        equal = sum(map(operator.eq, first, second))
        likely = 1.0 if not equal else float(special.betainc(equal, len(first) - equal + 1, self.chance))
        require(likely > ALARM / OUTPUTS, f"{self.name} repeats its output {how}: {equal} of {len(first)} times.")


def _check_outputs(name: str, call: Call) -> None:
    call, chance = _varied(name, call)
    comparison, entropy = _Comparison(name, chance), Entropy()
    outputs = [_text(call(entropy)) for _ in range(OUTPUTS)]
    for lag in range(1, OUTPUTS // 2 + 1):
        _check_lag(comparison, outputs, lag)
    parts = _together([lambda: [_text(call(entropy)) for _ in range(OUTPUTS // THREADS)]] * THREADS)
    for ours, theirs in itertools.pairwise(parts):
        comparison.compare(ours, theirs, "in another thread")
    if hasattr(os, "fork"):
        theirs = _in_fork(lambda: [_text(call(entropy)) for _ in range(OUTPUTS // THREADS)])
        ours = [_text(call(entropy)) for _ in theirs]
        comparison.compare(ours, theirs, "after a fork")


def _check_lag(comparison: _Comparison, outputs: list[bytes], lag: int) -> None:
    """Outputs `lag` calls apart, in two halves, in each of which no output is in two pairs."""
    for half in (0, 1):
        first = [place for place in range(len(outputs) - lag) if place // lag % 2 == half]
        pairs = [outputs[place] for place in first], [outputs[place + lag] for place in first]
        comparison.compare(*pairs, "when it is called again")


def _varied(name: str, call: Call) -> tuple[Call, float]:
    """Enough calls in one for outputs to vary, and an upper bound on the chance of equal ones."""
    for many in (1, 4, 16):
        several = functools.partial(_several, call, many)
        equal = sum(_text(several(Entropy())) == _text(several(Entropy())) for _ in range(PAIRS))
        chance = float(special.betaincinv(equal + 1, PAIRS - equal, 1 - ALARM)) if equal < PAIRS else 1.0
        if chance < 0.5:
            return several, chance
    message = f"Outputs of {name} for independent streams are equal {equal} of {PAIRS} times"
    raise AssertionError(f"{message}: its noise repeats, or is too little to tell.")


def _several(call: Call, many: int, entropy: Entropy) -> list[Any]:
    return [call(entropy) for _ in range(many)]


def _text(output: Any) -> bytes:
    """Outputs are equal if their texts are."""
    if isinstance(output, Mapping):
        return b"".join(_text([name, value]) for name, value in output.items())
    if isinstance(output, list | tuple):
        return b"".join(len(text).to_bytes(8, "little") + text for text in map(_text, output))
    if isinstance(output, np.ndarray) and not output.dtype.hasobject:
        return output.tobytes()
    return repr(output.tolist() if isinstance(output, np.ndarray) else output).encode()


# Threads and processes.


def _together(works: list[Callable[[], Any]]) -> list[Any]:
    """The results of works that several threads begin together; an error of any of them is raised here."""
    results: list[Any] = [None] * len(works)
    barrier = threading.Barrier(min(THREADS, len(works)))

    def run(first: int) -> None:
        barrier.wait()
        for place in range(first, len(works), THREADS):
            try:
                results[place] = works[place]()
            except BaseException as error:
                results[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(barrier.parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def _in_fork(work: Callable[[], list[bytes]]) -> list[bytes]:
    """What `work` gives in a forked process."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that other threads are not copied is what is tested
        child = os.fork()
    if child == 0:  # pragma: no cover -- another process
        _answer(work, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    require(bool(answer), "A forked process cannot draw.")
    result: list[bytes] = pickle.loads(answer)  # noqa: S301 -- of our own process
    return result


def _answer(work: Callable[[], list[bytes]], writer: int) -> None:  # pragma: no cover -- another process
    """Write what `work` gives and end, without anything that the parent would do at its end."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_PATIENCE)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(pickle.dumps(work()))
    finally:
        os._exit(0)
