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

from bruit.entropy import Entropy
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


def test_children_are_distinct_from_each_other_from_grandchildren_and_from_their_parent():
    root = Entropy(7)
    family = [root.child(0), root.child(1), root.child(256), root.child(0).child(0), root.child(0).child(1), root]
    assert len({member.bytes(16) for member in family}) == len(family)


def test_a_child_does_not_depend_on_what_its_parent_has_drawn():
    parent = Entropy(7)
    before = parent.child(3).bytes(16)
    parent.words(1000)
    assert parent.child(3).bytes(16) == before


def test_an_entropy_used_for_two_calls_gives_each_its_own_noise():
    entropy = Entropy(7)
    first, second = (Entropy.resolve(entropy, "privatize", "d") for _ in range(2))
    assert first.child(0).bytes(16) != second.child(0).bytes(16)


def test_copies_are_the_same_object_and_pickling_is_refused():
    entropy = Entropy(7)
    assert copy.copy(entropy) is entropy
    assert copy.deepcopy({"rng": entropy})["rng"] is entropy
    with pytest.raises(RandomnessError, match="cannot be pickled"):
        pickle.dumps(entropy)


@pytest.mark.parametrize("seed", [None, 7])
def test_a_key_for_tasks_gives_the_same_children_and_nothing_else(seed):
    entropy = Entropy(seed)
    there, again = (Entropy.from_task_key(entropy.key_for_tasks()) for _ in range(2))
    assert there.secure is entropy.secure
    for index in (0, 5, 2**300):
        assert there.child(index).bytes(32) == entropy.child(index).bytes(32) == again.child(index).bytes(32)
    assert there.child(5).child(1).bytes(32) == entropy.child(5).child(1).bytes(32)
    assert there.child(5).spawn().bytes(32) != there.child(6).spawn().bytes(32)
    for draw in (lambda: there.bytes(1), lambda: there.words(1), there.spawn, there.generator):
        with pytest.raises(RandomnessError, match="child"):
            draw()
    with pytest.raises(RandomnessError, match="child"):
        Entropy.resolve(there, "privatize", "d")


def test_a_key_for_tasks_is_not_shown_and_no_other_bytes_are_one():
    entropy = Entropy()
    key = entropy.key_for_tasks()
    there = Entropy.from_task_key(key)
    assert repr(there) == repr(entropy) == "Entropy(secure)"
    with pytest.raises(RandomnessError, match="cannot be pickled"):
        pickle.dumps(there)
    assert copy.deepcopy(there) is there
    for wrong in (key[1:], key + b"x", b"x" + key[1:], key.hex(), None, b""):
        with pytest.raises(RandomnessError, match="key for tasks") as error:
            Entropy.from_task_key(wrong)
        assert key.hex() not in str(error.value)


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
            os.write(writer, entropy.bytes(32) + entropy.child(0).bytes(32))
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
    assert theirs[32:] != ours.child(0).bytes(32)


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
