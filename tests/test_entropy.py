"""Randomness: secure by default, reproducible by seed, and never used twice."""

import copy
import os
import pickle
import sys
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import special

from bruit import entropy as entropy_module
from bruit.entropy import Entropy, TaskKey, Words
from bruit.errors import BruitError, DataTypeError, RandomnessError


def _uniform(counts):
    """The p-value of a χ² test that all cells are equally likely."""
    expected = counts.sum() / counts.size
    return special.chdtrc(counts.size - 1, ((counts - expected) ** 2 / expected).sum())


def test_the_stream_is_aes_in_counter_mode_under_its_key():
    entropy = Entropy(7)
    stream = Cipher(algorithms.AES256(entropy._current().key), modes.CTR(bytes(16))).encryptor()
    assert entropy.bytes(1000) == stream.update(bytes(1000))


def test_a_stream_does_not_depend_on_how_it_is_read():
    whole = Entropy(7).bytes(3 << 20)
    pieces = Entropy(7)
    parts = [pieces.bytes(8), pieces.words(3).tobytes(), pieces.bytes(1 << 20), pieces.bytes((2 << 20) - 32)]
    assert b"".join(parts) == whole


def test_the_same_seed_gives_the_same_stream_and_another_seed_another():
    assert Entropy(7).bytes(32) == Entropy(7).bytes(32)
    assert len({Entropy(seed).bytes(32) for seed in (0, 1, 256, 2**64, 2**200)}) == 5


def test_a_seed_is_mixed_with_the_verb_and_the_design():
    streams = {Entropy.resolve(7, verb, design).bytes(16) for verb in ("a", "b") for design in ("c", "d")}
    assert len(streams) == 4


def test_secure_streams_never_repeat():
    assert len({Entropy().bytes(16) for _ in range(100)}) == 100
    assert Entropy.resolve(None, "a", "b").secure


def test_an_entropy_used_for_two_calls_gives_each_its_own_noise():
    entropy = Entropy(7)
    first, second = (Entropy.resolve(entropy, "privatize", "d") for _ in range(2))
    assert first.bytes(16) != second.bytes(16)


def test_all_words_of_a_call_are_the_stream_of_the_call():
    for rng in (7, Entropy(7)):
        again = rng if isinstance(rng, int) else Entropy(7)
        assert Words.resolve(rng, "verb", "d").stream().bytes(32) == Entropy.resolve(again, "verb", "d").bytes(32)
    assert Words(7).stream().bytes(32) == Entropy(7).bytes(32)


def test_parts_are_distinct_from_each_other_from_parts_of_parts_and_from_the_whole():
    one, two = Words(7), Words(7)
    family = [one.part(0), one.part(1), one.part(256), two.part(0).part(0), two.part(1).part(1), Words(7)]
    family += [Words(7).parts(0, 2), Words(7).parts(0, 3), Words(7).parts(1, 2), *Words(7).parts(1, 2).split(2)]
    assert len({member.stream().bytes(16) for member in family}) == len(family)


@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize("again", [0, 3, 2**300])
def test_a_part_is_taken_once(seed, again):
    words = Words(seed)
    for index in (5, 0, 3, 2**300, 1):
        words.part(index)
    with pytest.raises(RandomnessError, match="used once"):
        words.part(again)
    assert words.part(2).stream().bytes(16) != words.part(4).stream().bytes(16)


USES = {
    "stream": lambda words: words.stream(),
    "split": lambda words: words.split(2),
    "part": lambda words: words.part(3),
    "parts": lambda words: words.parts(2, 2),
    "task_key": lambda words: words.task_key(),
}


@pytest.mark.parametrize("second", USES)
@pytest.mark.parametrize("first", USES)
@pytest.mark.parametrize("make", [Words, lambda: Words().parts(8, 4)], ids=["all", "batch"])
def test_words_are_used_in_one_way_only(make, first, second):
    words = make()
    USES[first](words)
    with pytest.raises(RandomnessError, match="used once"):
        USES[second](words)


def test_parts_of_a_batch_are_those_of_the_call_and_end_with_the_batch():
    words, whole = Words(7), Words(7)
    batches = {first: words.parts(first, 4) for first in (4, 0, 8)}
    taken = {first + i: batch.part(i).stream().bytes(16) for first, batch in batches.items() for i in range(4)}
    assert taken == {index: whole.part(index).stream().bytes(16) for index in range(12)}
    with pytest.raises(RandomnessError, match="4 blocks"):
        batches[4].part(4)
    for first in (11, 3, 0):
        with pytest.raises(RandomnessError, match="used once"):
            words.parts(first, 4)
    assert words.parts(12, 4).secure is False


def test_what_was_taken_is_remembered_in_little_memory():
    words = Words()
    for index in reversed(range(100)):
        words.part(index)
    for index in range(100, 10_000):
        words.part(index)
    assert words._next == 10_000
    assert not words._taken


def _all_together(workers, work):
    """Run `work` with the number of each thread, all at the same time and often interrupted."""
    barrier, before = threading.Barrier(workers), sys.getswitchinterval()

    def run(number):
        barrier.wait()
        work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(workers)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)


def test_of_threads_that_take_the_same_parts_one_gets_each():
    words, taken = Words(), []

    def take(number):
        for index in range(number, 500 + number):
            try:
                taken.append(words.part(index % 500).stream().bytes(16))
            except RandomnessError:
                continue

    _all_together(4, take)
    assert len(taken) == len(set(taken)) == 500


@pytest.mark.parametrize("stream", [Entropy(7), Words(7)], ids=repr)
def test_copies_are_the_same_object_and_pickling_is_refused(stream):
    assert copy.copy(stream) is stream
    assert copy.deepcopy({"rng": stream})["rng"] is stream
    with pytest.raises(RandomnessError, match="cannot be pickled"):
        pickle.dumps(stream)


@pytest.mark.parametrize("seed", [None, 7])
def test_a_key_for_tasks_derives_the_words_of_a_batch_as_often_as_a_task_runs(seed):
    words = Words(seed)
    key = words.task_key()
    there = TaskKey.from_bytes(key.to_bytes())
    assert there.secure is key.secure is words.secure is (seed is None)
    for first in (0, 4, 2**300):
        runs = [at.derive_again(first, 4).part(1).stream().bytes(32) for at in (key, key, there)]
        assert len(set(runs)) == 1
    assert there.derive_again(4, 4).part(0).stream().bytes(32) != there.derive_again(8, 4).part(0).stream().bytes(32)


def test_within_one_run_of_a_task_words_are_used_once():
    words = Words().task_key().derive_again(0, 4)
    words.part(0)
    with pytest.raises(RandomnessError, match="used once"):
        words.part(0)


def test_a_seeded_key_for_tasks_gives_the_parts_that_the_words_would_have_given():
    words = Words(7)
    assert Words(7).task_key().derive_again(4, 4).part(1).stream().bytes(32) == words.part(5).stream().bytes(32)


def test_a_key_for_tasks_draws_nothing_is_not_shown_and_no_other_bytes_are_a_key():
    key = Words().task_key()
    secret = key.to_bytes()
    assert repr(key) == "TaskKey(secure)"
    assert repr(Words(7).task_key()) == "TaskKey(seeded)"
    assert not {"stream", "part", "parts", "split", "bytes", "words", "fill", "spawn"} & set(dir(key))
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(RandomnessError, match="by the engine alone"):
            copied(key)
    for wrong in (secret[1:], secret + b"x", b"x" + secret[1:], secret.hex(), None, b""):
        with pytest.raises(RandomnessError, match="key for tasks") as error:
            TaskKey.from_bytes(wrong)
        assert secret.hex() not in str(error.value)


def test_no_public_method_gives_a_stream_by_its_number():
    """What `child` did: the same number twice was the same noise twice."""
    for name in ("child", "key_for_tasks", "from_task_key"):
        assert not hasattr(Entropy, name)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("seed", [None, 7])
def test_a_forked_process_takes_a_new_key_even_if_the_lock_was_held(seed):
    entropy = Entropy(seed)
    reader, writer = os.pipe()
    lock = entropy._current().lock
    lock.acquire()
    child = os.fork()
    if child == 0:  # only os calls and the stream itself: pytest must not wake up here
        try:
            os.write(writer, entropy.bytes(32) + Words.resolve(entropy, "a", "b").part(0).stream().bytes(32))
        finally:
            os._exit(0)
    lock.release()
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as pipe:
        theirs = pipe.read()
    ours = Entropy(seed) if seed is not None else entropy
    assert len(theirs) == 64
    assert theirs[:32] != ours.bytes(32)
    assert theirs[32:] != Words.resolve(ours, "a", "b").part(0).stream().bytes(32)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("seed", [None, 7])
def test_words_that_a_fork_leaves_in_two_processes_are_others_in_the_new_one(seed):
    """Also while another thread takes a part: the new process must not wait for it."""
    words, batch = Words(seed), Words(seed).parts(0, 4)
    words.part(0)
    reader, writer = os.pipe()
    lock = entropy_module._lock
    lock.acquire()
    child = os.fork()
    if child == 0:
        try:
            taken = b"".join(each.part(index).stream().bytes(32) for each in (words, batch) for index in (1, 2))
            try:
                words.part(0)
            except RandomnessError:
                os.write(writer, taken)
        finally:
            os._exit(0)
    lock.release()
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as pipe:
        theirs = pipe.read()
    assert len(theirs) == 4 * 32
    ours = [each.part(index).stream().bytes(32) for each in (words, batch) for index in (1, 2)]
    pieces = [theirs[i : i + 32] for i in range(0, len(theirs), 32)]
    assert len({*pieces, *ours}) == (8 if seed is None else 6)  # two seeded Words(7) give the same to this process


def _draw_together(barrier, entropy, found):
    barrier.wait()
    found.append(entropy.bytes(32))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_threads_of_a_forked_process_share_one_new_stream():
    """Forty forks, six threads each that start together: no thread reads the parent's stream or another's part."""
    entropy = Entropy(7)
    parent = Entropy(7).bytes(32 * 6)
    barrier = threading.Barrier(6)
    for _ in range(40):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                sys.setswitchinterval(1e-6)
                found = []
                workers = [threading.Thread(target=_draw_together, args=(barrier, entropy, found)) for _ in range(6)]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
                os.write(writer, b"".join(found))
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            theirs = pipe.read()
        os.waitpid(child, 0)
        pieces = {theirs[i : i + 32] for i in range(0, len(theirs), 32)}
        assert len(pieces) == 6
        assert not any(piece in parent for piece in pieces)


def test_threads_share_a_stream_without_repeating_any_part_of_it():
    entropy, chunks, lock = Entropy(7), [], threading.Lock()

    def draw():
        mine = [entropy.bytes(64) for _ in range(200)]
        with lock:
            chunks.extend(mine)

    workers = [threading.Thread(target=draw) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    whole = Entropy(7).bytes(64 * 800)
    assert sorted(chunks) == sorted(whole[i : i + 64] for i in range(0, len(whole), 64))


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**32 + 1, 2**63 + 1, 2**64 - 1, 2**64])
def test_integers_are_uniform_below_any_bound(bound):
    draws = Entropy(11).integers(bound, 200_000)
    assert draws.dtype == np.uint64
    assert int(draws.max()) < bound
    cells = min(bound, 16)
    edges = [bound * i // cells for i in range(cells)]
    counts = np.bincount(np.searchsorted(np.array(edges, np.uint64), draws, side="right") - 1, minlength=cells)
    if cells > 1:
        assert _uniform(counts) > 1e-7


def test_without_rejection_the_same_test_finds_the_bias():
    """The control: words modulo 2⁶³ + 2⁶² favour the lower half of the range."""
    bound = 2**63 + 2**62
    biased = Entropy(11).words(200_000) % np.uint64(bound)
    counts = np.array([(biased < bound // 2).sum(), (biased >= bound // 2).sum()])
    assert _uniform(counts) < 1e-7


@pytest.mark.parametrize("rng", ["7", 1.5, -1, True, np.random.default_rng(0), [7]])
def test_an_rng_of_another_kind_is_refused(rng):
    with pytest.raises(RandomnessError, match="rng must be None"):
        Entropy.resolve(rng, "privatize", "d")


def test_bad_parameters_are_refused():
    with pytest.raises(BruitError):
        Entropy(-1)
    with pytest.raises(BruitError):
        Entropy(7).integers(0, 1)
    with pytest.raises(DataTypeError):
        Entropy(7).fill(np.zeros(3))
    with pytest.raises(DataTypeError):
        Entropy(7).fill(np.zeros(6, np.uint64)[::2])


def test_the_repr_shows_neither_seed_nor_key():
    assert repr(Entropy(123456)) == "Entropy(seeded)"
    assert repr(Entropy()) == "Entropy(secure)"
    assert (repr(Words(123456)), repr(Words())) == ("Words(seeded)", "Words(secure)")
