"""Recompute every vector of vectors/ from vectors.md and cards.md alone.

    python independent.py vectors/

Plain Python, the standard library, and AES from `cryptography`.
"""

import decimal
import hashlib
import json
import math
import sys
from bisect import bisect_left
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

TOP = 2**64
CAP = 2**62


class Mismatch(Exception):
    pass


def same(got, expected, what):
    if got != expected:
        raise Mismatch(f"{what}: got {got!r}, expected {expected!r}")


def number(text):
    """A whole number of a vector file: a decimal text, with a sign where it is negative."""
    if not isinstance(text, str) or str(int(text)) != text:
        raise Mismatch(f"not a decimal text: {text!r}")
    return int(text)


def fraction(pair):
    a, b = map(number, pair)
    return Fraction(a, b)


# ---------------------------------------------------------------- sources


class Bytes:
    """Stated bytes."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def take(self, n):
        if self.at + n > len(self.content):
            raise Mismatch("more bytes were needed than the vector has")
        self.at += n
        return self.content[self.at - n : self.at]

    def word(self):
        return int.from_bytes(self.take(8), "little")

    def done(self):
        same(len(self.content) - self.at, 0, "bytes left over")


class Words:
    """Stated words."""

    def __init__(self, texts):
        self.words, self.at = [number(t) for t in texts], 0
        if any(not 0 <= w < TOP for w in self.words):
            raise Mismatch("a word out of range")

    def word(self):
        if self.at >= len(self.words):
            raise Mismatch("more words were needed than the vector has")
        self.at += 1
        return self.words[self.at - 1]

    def done(self):
        same(len(self.words) - self.at, 0, "words left over")


class Stream(Bytes):
    """AES-256 in counter mode over zeros, from a counter of 16 zero bytes."""

    def __init__(self, key):
        self.cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def take(self, n):
        return self.cipher.update(bytes(n))


# ---------------------------------------------------------------- keystream


def hash_key(key, purpose, n):
    text = purpose.encode("utf-8")
    tail = n.to_bytes(max(1, (n.bit_length() + 7) // 8), "little")
    message = len(text).to_bytes(8, "little") + text + tail
    return hashlib.blake2b(message, digest_size=32, key=key, person=b"bruit/entropy/1").digest()


def seed_key(seed, purpose=""):
    return hash_key(b"", "seed/" + purpose if purpose else "seed", seed)


def part_key(key, i):
    return hash_key(key, "child", i)


def check_keystream(vector):
    key = seed_key(number(vector["seed"]), vector["purpose"])
    for i in vector["path"]:
        key = part_key(key, number(i))
    same(key.hex(), vector["key"], "key")
    stream = Stream(key)
    same([str(stream.word()) for _ in vector["words"]], vector["words"], "words")


# ---------------------------------------------------------------- digests

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def canonical_text(text):
    return '"' + "".join(ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text) + '"'


def canonical_double(x):
    sign = "-" if math.copysign(1.0, x) < 0 else ""
    if x == 0:
        return sign + "0.0"
    # repr has the shortest digits that give the double back; only its digits are used
    _, digits, exponent = decimal.Decimal(repr(abs(x))).as_tuple()
    digits = "".join(map(str, digits))
    d = exponent + len(digits) - 1
    digits = digits.rstrip("0")
    if -4 <= d < 16:
        if d < 0:
            return sign + "0." + "0" * (-d - 1) + digits
        digits = digits.ljust(d + 1, "0")
        return sign + digits[: d + 1] + "." + (digits[d + 1 :] or "0")
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'-' if d < 0 else '+'}{abs(d):02d}"


def canonical(value):
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(value) if abs(value) <= 2**53 - 1 else f'"{value}"'
    if isinstance(value, float):
        return canonical_double(value)
    if isinstance(value, str):
        return canonical_text(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return "{" + ",".join(canonical_text(k) + ":" + canonical(value[k]) for k in sorted(value)) + "}"


def digest(value):
    return hashlib.sha256(canonical(value).encode("utf-8")).hexdigest()[:32]


def without(document, *keys):
    return {k: v for k, v in document.items() if k not in keys}


def check_digest(vector):
    if "sealed" in vector:
        document = json.loads(vector["sealed"])
        same(digest(without(document, "digest")), vector["digest"], "digest")
        same(document["digest"], vector["digest"], "digest in the document")
    else:
        value = json.loads(vector["text"])
        same(canonical(value), vector["canonical"], "canonical text")
        same(digest(value), vector["digest"], "digest")


# ---------------------------------------------------------------- noise


def mask(bound):
    return (1 << (bound - 1).bit_length()) - 1


def below(source, bound):
    m = mask(bound)
    while True:
        x = source.word() & m
        if x < bound:
            return x


def one_in(source, k):
    if k == 2:
        return source.word() >= 2**63
    s = (TOP - 1) // k
    while True:
        w = source.word()
        if w < s * k:
            return w < s


def exp_fraction(source, a, b):
    k = 1
    while True:
        if below(source, b) >= a:
            break
        k += 1
        if not one_in(source, k):
            break
    return k % 2 == 1


LIMIT = TOP // math.factorial(15) * math.factorial(15)


def exp_one(source):
    w = source.word()
    while w >= LIMIT:
        w = source.word()
    k = 2
    while k <= 15 and w < LIMIT // math.factorial(k):
        k += 1
    if k == 16:
        while one_in(source, k):
            k += 1
    return k % 2 == 1


def laplace(source, scale):
    t, b = scale.numerator, scale.denominator
    m = mask(t)
    while True:
        w = source.word()
        u = w & m
        if u >= t:
            continue
        if u > 0 and not exp_fraction(source, u, t):
            continue
        n = 0
        while exp_one(source):
            n += 1
        size = min((u + n * t) // b, CAP)
        if w < 2**63:
            return size
        if size:
            return -size


def gaussian(source, sigma2):
    t = math.isqrt(math.floor(sigma2))
    if t * t != sigma2:
        t += 1
    ratio = sigma2 / t
    c, d = ratio.numerator, ratio.denominator
    f, h = t * d, 2 * c

    def once(g, p):
        k = 1
        while True:
            if below(source, f * p) >= g:
                break
            if below(source, h * p) >= g:
                break
            k += 1
            if not one_in(source, k):
                break
        return k % 2 == 1

    while True:
        y = laplace(source, Fraction(t))
        if abs(y) > 127 * t:
            continue
        g = abs(abs(y) * d - c)
        p = -(-g // min(f, h))
        if all(once(g, p) for _ in range(p * p)):
            return y


def staircase(source, step, inner, outside, decay):
    if source.word() >= outside:
        return below(source, 2 * inner - 1) - inner + 1
    v = inner
    while source.word() < decay:
        v = min(v + step, CAP)
    z = below(source, 2 * step)
    size = min(v + z // 2, CAP)
    return -size if z % 2 else size


def noise_law(vector):
    law = vector["law"]
    if law == "laplace":
        scale = fraction(vector["scale"])
        return lambda source: laplace(source, scale)
    if law == "gaussian":
        sigma2 = fraction(vector["sigma2"])
        return lambda source: gaussian(source, sigma2)
    if law == "staircase":
        parameters = [number(vector[k]) for k in ("step", "inner", "outside", "decay")]
        return lambda source: staircase(source, *parameters)
    raise Mismatch(f"unknown law {law}")


def check_noise(vector):
    law = noise_law(vector)
    for draw in vector["draws"]:

        def one(draw=draw):
            source = Words(draw["words"])
            same(str(law(source)), draw["noise"], "noise")
            source.done()

        yield one

    def seeded():
        stated = vector["seeded"]
        stream = Stream(part_key(seed_key(number(stated["seed"]), "draw/" + stated["design"]), 0))
        same(len(stated["noise"]), 20, "number of seeded draws")
        same([str(law(stream)) for _ in stated["noise"]], stated["noise"], "seeded noise")

    if "seeded" in vector:
        yield seeded


def simplest(low, high):
    """The fraction in [low, high] with the smallest denominator, and of these the smallest."""
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    whole = math.floor(low)
    rest = simplest(1 / (high - whole), 1 / (low - whole))
    return whole + 1 / rest


def laplace_scale(sensitivity, epsilon):
    exact = Fraction(epsilon)
    return Fraction(sensitivity) / simplest(exact * (1 - Fraction(1, 10**9)), exact)


def check_calibration(vector):
    scale = laplace_scale(number(vector["sensitivity"]), vector["epsilon"])
    same([str(scale.numerator), str(scale.denominator)], vector["scale"], "scale")


# ---------------------------------------------------------------- choices


class Weights:
    """W[s], as far as asked for; `last` is the score of the last weight once it is known."""

    known: ClassVar[dict] = {}

    @classmethod
    def of(cls, step):
        if step not in cls.known:
            cls.known[step] = cls(step)
        return cls.known[step]

    def __init__(self, step):
        with decimal.localcontext() as context:
            context.prec = 80
            power = (decimal.Decimal(-step.numerator) / decimal.Decimal(step.denominator)).exp()
        self.factor = math.ceil(2**192 * Fraction(power) * (1 + Fraction(1, 10**70)))
        self.weights = [2**96]
        self.last = None

    def reach(self, score):
        """Compute weights up to this score, or until they settle."""
        while self.last is None and len(self.weights) <= score:
            following = -(-self.weights[-1] * self.factor // 2**192)
            if following == self.weights[-1]:
                self.last = len(self.weights) - 1
            else:
                self.weights.append(following)

    def place(self, score):
        """The score that counts for this one."""
        self.reach(score + 1)
        return score if self.last is None else min(score, self.last)


def large(source, bound):
    n = (bound - 1).bit_length()
    size = -(-n // 8)
    while True:
        x = int.from_bytes(source.take(size), "little") >> (8 * size - n)
        if x < bound:
            return x


def choose(source, step, sizes):
    """`sizes` as a dict from scores to how many cells have them, scores beyond the last merged."""
    weights = Weights.of(step).weights
    u = large(source, sum(size * weights[s] for s, size in sizes.items()))
    for s in sorted(sizes):
        here = sizes[s] * weights[s]
        if u < here:
            return s, u // weights[s]
        u -= here
    raise AssertionError


def check_choices(vector):
    step = fraction(vector["step"])

    def weights():
        w = Weights.of(step)
        w.reach(3000)
        same(w.last is not None and w.last < 3000, vector["settled"], "settled")
        for s, stated in vector["weights"].items():
            same(str(w.weights[w.place(number(s))]), stated, f"weight {s}")
        if vector["settled"]:
            same(str(w.last), max(vector["weights"], key=int), "score of the last weight")

    yield weights

    for draw in vector["draws"]:

        def one(draw=draw):
            sizes = {}
            for s, size in enumerate(map(number, draw["sizes"])):
                place = Weights.of(step).place(s)
                sizes[place] = sizes.get(place, 0) + size
            source = Bytes(bytes.fromhex(draw["bytes"]))
            score, offset = choose(source, step, sizes)
            same((str(score), str(offset)), (draw["score"], draw["offset"]), "score and offset")
            source.done()

        yield one


# ---------------------------------------------------------------- places

CELL = 2**32


def stand(counts):
    """The places of all records, in order."""
    places = []
    for j, count in enumerate(counts):
        some = (int(f"{i:032b}"[::-1], 2) for i in range(1, min(count, CELL - 1) + 1))
        places.extend(sorted(j * CELL + place for place in some))
    return places


def draw_node(source, records, node, low, high, first, last, points):
    """A place in the part with records first..last-1 and places low..high."""
    share, step, grain = node["share"], fraction(node["step"]), number(node["grain"])
    a, b = map(number, share)
    n = last - first
    runs = []  # (score, lowest place, highest place), in order
    if points and node["left"] is None and node["right"] is None:
        for j in range(low // CELL, high // CELL + 1):
            before = bisect_left(records, j * CELL, first, last) - first
            through = bisect_left(records, (j + 1) * CELL, first, last) - first
            score = max(0, a * n - b * through, b * before - a * n) // grain
            runs.append((score, max(low, j * CELL), min(high, (j + 1) * CELL - 1)))
    else:
        start = low
        for r in range(n + 1):
            end = records[first + r] if r < n else high
            if start <= end:
                runs.append((abs(b * r - a * n) // grain, start, end))
            start = end + 1
    weights = Weights.of(step)
    runs = [(weights.place(score), start, end) for score, start, end in runs]
    sizes = {}
    for score, start, end in runs:
        sizes[score] = sizes.get(score, 0) + end - start + 1
    chosen, offset = choose(source, step, sizes)
    for score, start, end in runs:
        if score == chosen:
            if offset <= end - start:
                return start + offset
            offset -= end - start + 1
    raise AssertionError


def draw_tree(source, records, node, low, high, first, last, points, result):
    if node is None:
        return
    place = draw_node(source, records, node, low, high, first, last, points)
    result.append(place)
    split = bisect_left(records, place, first, last)
    draw_tree(source, records, node["left"], low, place, first, split, points, result)
    draw_tree(source, records, node["right"], place, high, split, last, points, result)


def draw_forest(source, counts, forest, points):
    records, result = stand(counts), []
    for tree in forest:
        draw_tree(source, records, tree, 0, len(counts) * CELL - 1, 0, len(records), points, result)
    return sorted(result)


def check_places(vector):
    counts = list(map(number, vector["counts"]))
    for draw in vector["draws"]:

        def one(draw=draw):
            source = Bytes(bytes.fromhex(draw["bytes"]))
            places = draw_forest(source, counts, vector["forest"], vector["points"])
            same([str(p) for p in places], draw["places"], "places")
            source.done()

        yield one


# ---------------------------------------------------------------- trees


def node(place, share, epsilon, public):
    a, b = share.numerator, share.denominator
    change = b if public else max(a, b - a)
    grain = change if epsilon <= Fraction(1, 16) else -(-change // 64)
    step = epsilon / (2 * -(-change // grain))
    pairs = {name: [str(x.numerator), str(x.denominator)] for name, x in (("share", share), ("step", step))}
    return {"quantile": str(place), **pairs, "grain": str(grain), "left": None, "right": None}


class Order:
    """Which quantile of a span is drawn first, and with which portion of what is left."""

    def __init__(self, quantiles, replace):
        self.x, self.replace, self.known = [0.0, *map(float, quantiles), 1.0], replace, {}

    def best(self, low, high):
        if high - low == 1:
            return 0.0, None, None
        if (low, high) not in self.known:
            tried = range(low + 1, high) if high - low - 1 <= 32 else [(low + high) // 2]
            best = None
            for first in tried:
                cost, portion = self.cost(low, first, high)
                if best is None or cost < best[0] * (1 - 1e-9):
                    best = cost, first, portion
            self.known[low, high] = best
        return self.known[low, high]

    def cost(self, low, first, high):
        x = self.x
        w = 1.0
        w += sum(((x[u] - x[low]) / (x[first] - x[low])) ** 2 for u in range(low + 1, first))
        w += sum(((x[high] - x[u]) / (x[high] - x[first])) ** 2 for u in range(first + 1, high))
        share = (x[first] - x[low]) / (x[high] - x[low])
        s = 2 * max(share, 1 - share) * (2 if self.replace else 1)
        if self.replace and (low, high) == (0, len(x) - 1):
            s = 2.0
        own = (w * s * s) ** (1 / 3)
        rest = (self.best(low, first)[0] + self.best(first, high)[0]) ** (1 / 3)
        return (own + rest) ** 3, own / (own + rest)


def recursive_tree(quantiles, epsilon, replace):
    order, ends = Order(quantiles, replace), [Fraction(0), *quantiles, Fraction(1)]

    def build(low, high, left):
        if high - low == 1:
            return None
        _, first, portion = order.best(low, high)
        leaf = high - low == 2
        mine = left if leaf else left * Fraction(min(max(round(portion * 4096), 1), 4095), 4096)
        share = ((ends[first] - ends[low]) / (ends[high] - ends[low])).limit_denominator(10**6)
        whole = (low, high) == (0, len(ends) - 1)
        halved = replace and not whole
        result = node(first - 1, share, mine / 2 if halved else mine, replace and whole)
        result["left"], result["right"] = build(low, first, left - mine), build(first, high, left - mine)
        return result

    return build(0, len(ends) - 1, epsilon)


def check_trees(vector):
    quantiles = sorted({Fraction(q).limit_denominator(10**6) for q in vector["quantiles"]})
    epsilon, replace = Fraction(vector["epsilon"]), vector["neighbours"] == "replace"
    if vector["method"] == "approximate":
        forest = [recursive_tree(quantiles, epsilon, replace)]
    else:
        forest = [node(i, q, epsilon / len(quantiles), replace) for i, q in enumerate(quantiles)]
    same(forest, vector["forest"], "forest")


# ---------------------------------------------------------------- joint


DIGITS = decimal.Context(prec=60, Emin=-(10**9), Emax=10**9)


class Joint:
    """All quantiles at once; weights with 60 decimal digits, rounded to 53 binary ones where one is chosen."""

    def __init__(self, vector):
        self.counts = list(map(number, vector["counts"]))
        self.records = stand(self.counts)
        self.n, self.places = len(self.records), len(self.counts) * CELL
        self.quantiles = [fraction(q) for q in vector["quantiles"]]
        self.calibrate(Fraction(vector["epsilon"]), vector["neighbours"] == "replace")
        self.target = [q * self.n for q in self.quantiles]
        self.gap = [self.target[0], *(b - a for a, b in pairwise(self.target))]
        self.known = {}

    def calibrate(self, epsilon, replace):
        m, ends = len(self.quantiles), [Fraction(0), *self.quantiles, Fraction(1)]
        smallest = min(b - a for a, b in pairwise(ends))
        change = Fraction(2) if replace else 2 * (1 - smallest)
        ln2 = Fraction(69315, 100000)
        vectors = (self.places**m // math.factorial(m)).bit_length()
        self.floor_bits = vectors + math.ceil(epsilon / (2 * change) * m / ln2) + 40
        self.reach = math.ceil((self.floor_bits + 60) * ln2 / (2 * epsilon * Fraction(63, 64) / (2 * change)))
        roundings = (5 * (2 * self.reach + 3) + 5 * m + 10) * (2 * m * m + 5 * m + 1)
        error = Fraction(roundings, 2**52) + Fraction(2, 2**60)
        self.rate = (epsilon - 4 * error) / (2 * change)

    def weight(self, score):
        if score > 2 * self.reach + 1:
            return decimal.Decimal(0)
        x = self.rate * score
        return DIGITS.exp(DIGITS.divide(decimal.Decimal(-x.numerator), decimal.Decimal(x.denominator)))

    def row(self, j):
        return range(
            max(0, math.ceil(self.target[j] - self.reach)), min(self.n, math.floor(self.target[j] + self.reach)) + 1
        )

    def span(self, rank):
        start = self.records[rank - 1] + 1 if rank else 0
        return start, (self.records[rank] if rank < self.n else self.places - 1) - start + 1

    def entry(self, j, rank):
        """Quantile j comes to this rank from a smaller one, or is the first."""
        if j == 0:
            return self.weight(abs(rank - self.target[0]))
        if ("entry", j, rank) not in self.known:
            total = decimal.Decimal(0)
            for s in self.row(j - 1):
                if s < rank:
                    step = self.weight(abs(rank - s - self.gap[j]))
                    total = DIGITS.add(total, DIGITS.multiply(self.ending(j - 1, s), step))
            self.known["entry", j, rank] = total
        return self.known["entry", j, rank]

    def sharing(self, j, rank):
        """The weights of 1, 2, ... quantiles up to j at this rank."""
        result, shared, width = [], decimal.Decimal(1), self.span(rank)[1]
        for k in range(1, j + 2):
            i = j - k + 1
            if rank not in self.row(i):
                return result
            shared = DIGITS.divide(DIGITS.multiply(shared, decimal.Decimal(width)), decimal.Decimal(k))
            result.append(DIGITS.multiply(shared, self.entry(i, rank)))
            shared = DIGITS.multiply(shared, self.weight(self.gap[i]))
        return result

    def ending(self, j, rank):
        if (j, rank) not in self.known:
            total = decimal.Decimal(0)
            for weight in self.sharing(j, rank):
                total = DIGITS.add(total, weight)
            self.known[j, rank] = total
        return self.known[j, rank]

    def draw(self, source):
        m = len(self.quantiles)
        last = WholeWeights(
            {r: DIGITS.multiply(self.ending(m - 1, r), self.weight(abs(r - self.target[-1]))) for r in self.row(m - 1)}
        )
        scale = last.lowest + self.floor_bits
        mine = last.total * math.factorial(m) << max(scale, 0)
        floor = self.places**m << max(-scale, 0)
        if large(source, mine + floor) >= mine:
            return sorted(large(source, self.places) for _ in range(m))
        j, rank, drawn = m - 1, last.choose(source), []
        while True:
            many = WholeWeights(dict(enumerate(self.sharing(j, rank), 1))).choose(source)
            drawn.append((rank, many))
            j -= many
            if j < 0:
                break
            following = {
                s: DIGITS.multiply(self.ending(j, s), self.weight(abs(s - (rank - self.gap[j + 1]))))
                for s in self.row(j)
                if s < rank
            }
            rank = WholeWeights(following).choose(source)
        places = []
        for rank, many in drawn:
            start, size = self.span(rank)
            places += [start + large(source, size) for _ in range(many)]
        return sorted(places)


class WholeWeights:
    """Weights as whole numbers of 53 binary digits, times powers of two."""

    def __init__(self, weights):
        self.entries = []
        for name, weight in weights.items():
            if weight:
                exact = Fraction(weight)
                power = exact.numerator.bit_length() - exact.denominator.bit_length() - 53
                power -= exact / Fraction(2) ** power < 2**52
                power += exact / Fraction(2) ** power >= 2**53
                digits = round(exact / Fraction(2) ** power)
                self.entries.append((power, digits, name))
        self.entries.sort(key=lambda entry: entry[0])  # equal powers stay in their order
        self.lowest = self.entries[0][0]
        self.total = sum(digits << power - self.lowest for power, digits, _ in self.entries)

    def choose(self, source):
        u = large(source, self.total)
        for power, digits, name in self.entries:
            here = digits << power - self.lowest
            if u < here:
                return name
            u -= here
        raise AssertionError


def check_joint(vector):
    law = Joint(vector)

    def parameters():
        same([str(law.rate.numerator), str(law.rate.denominator)], vector["rate"], "rate")
        same([str(law.floor_bits), str(law.reach)], [vector["floor_bits"], vector["reach"]], "floor and reach")

    yield parameters

    for draw in vector["draws"]:

        def one(draw=draw):
            source = Bytes(bytes.fromhex(draw["bytes"]))
            same([str(place) for place in law.draw(source)], draw["places"], "places")
            source.done()

        yield one


# ---------------------------------------------------------------- releases


def check_release(vector):
    document = json.loads(vector["document"])
    same(digest(without(document, "digest")), document["digest"], "seal of the release")
    design = digest(without(document, "format", "digest"))
    master = Stream(seed_key(number(vector["seed"]), "release/" + design)).take(32)
    published = {}
    for i, statistic in enumerate(document["statistics"]):
        key = part_key(master, i)
        counts = list(map(number, vector["counts"][statistic["name"]]))
        if statistic["kind"] == "median":
            (place,) = draw_forest(Stream(key), counts, vector["forest"], True)
            result = [place // CELL]
        else:
            stream, scale = Stream(part_key(key, 0)), laplace_scale(1, statistic["epsilon"])
            result = [count + laplace(stream, scale) for count in counts]
        published[statistic["name"]] = [str(x) for x in result]
    same(published, vector["published"], "published")


# ---------------------------------------------------------------- reports


def card_numbers(value):
    """A law or sets with its numbers as numbers; kinds and shapes stay texts."""
    if isinstance(value, dict):
        return {k: v if k in ("shape", "kind", "ends") else card_numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [card_numbers(v) for v in value]
    return number(value)


def card_below(source, total):
    w = source.word()
    while w >= total:
        w = source.word()
    return w


def uniform(source, n):
    while True:
        product = source.word() * n
        if product % TOP >= TOP % n:
            return product // TOP


def stretch(weights, x):
    total = 0
    for i, weight in enumerate(weights):
        total += weight
        if x < total:
            return i
    raise AssertionError


def weighted(source, weights):
    return stretch(weights, uniform(source, sum(weights)))


def complete(source, sets, f):
    k, size = sets["values"], sets["size"]
    bits = 0
    for j in range(k - size, k - 1):
        t = uniform(source, j + 1)
        bits |= 1 << (j if bits >> t & 1 else t)
    lower = bits & ((1 << f) - 1)
    return lower | 1 << f | (bits >> f) << (f + 1)


def bucket(x, a, b, g):
    z = (x + 0xA54FF53A) % 2**32
    for s, f in ((16, 0x6A09E667), (15, 0xBB67AE85), (17, 0x3C6EF373)):
        z = (z ^ z >> s) * f % 2**32
    z ^= z >> 16
    h = (a * z + b) % TOP >> 32
    return h * g >> 32


def point(z, q, coordinates):
    """The coordinates of the point of a number, place 0 first, and the place of its leading 1."""
    i = 0
    while (q ** (i + 1) - 1) // (q - 1) <= z:
        i += 1
    rest, digits = z - (q**i - 1) // (q - 1), []
    for _ in range(i):
        rest, digit = divmod(rest, q)
        digits.append(digit)
    return digits + [1] + [0] * (coordinates - i - 1), i


def projective_member(sets, x, n):
    q, t = sets["prime"], sets["dimension"]
    X, i = point(x, q, t)
    Y, _ = point(n, q, t - 1)
    Y.insert(t - 1 - i, 0)
    Y[t - 1 - i] = -sum(X[j] * Y[t - 1 - j] for j in range(t)) % q
    leading = max(j for j in range(t) if Y[j])
    return (q**leading - 1) // (q - 1) + sum(Y[j] * q**j for j in range(leading))


def hadamard_member(sets, x, n):
    b = sets["rows"]
    j, c = x // (b - 1), x % (b - 1) + 1
    low = c & -c
    r = n % low
    f = 2 * (n - r) + r
    if (f & c).bit_count() % 2:
        f += low
    return j * b + f


def hash_message(source, sets, of):
    """`of(a, b)` gives the bucket."""
    if "pool" in sets:
        i = uniform(source, len(sets["pool"]))
        a, b = sets["pool"][i]
        return i + 2**32 * of(a, b)
    a = source.word()
    b = source.word()
    return a + TOP * b + 2**128 * of(a, b)


def parities(sets, x, own):
    w, n, v = own // 1024, sets["bits"], x
    if own % 1024 < sets["share"]:
        n, v = sets["prefix"], x // 2 ** (sets["bits"] - sets["prefix"])
    ones = [(w // 2**i % 2**n & v).bit_count() for i in range(sets["parities"])]
    return sum(2**i for i, count in enumerate(ones) if count % 2)


def member(source, sets, x, n):
    kind = sets["kind"]
    if kind == "self":
        return x
    if kind == "window":
        return x + n
    if kind == "listed":
        return sets["rows"][x][n]
    if kind == "subset":
        return complete(source, sets, x)
    if kind == "hadamard":
        return hadamard_member(sets, x, n)
    if kind == "projective":
        return projective_member(sets, x, n)
    if kind == "hash":
        return hash_message(source, sets, lambda a, b: bucket(x, a, b, sets["buckets"]))
    if kind == "parity":
        own = source.word()
        return own + TOP * parities(sets, x, own)
    raise Mismatch(f"unknown sets {kind}")


def message_number(source, sets, n):
    if sets["kind"] == "subset":
        return complete(source, sets, n)
    if sets["kind"] == "hash":
        return hash_message(source, sets, lambda a, b: n)
    if sets["kind"] == "parity":
        return source.word() + TOP * n
    return n


def two_level_total(law):
    return law["inside"] * law["members"] + law["outside"] * (law["outcomes"] - law["members"])


def two_level(source, law, sets, code, u):
    gap = law["inside"] - law["outside"]
    if u < gap * law["members"]:
        return member(source, sets, code, u // gap)
    return message_number(source, sets, (u - gap * law["members"]) // law["outside"])


def message(source, law, sets, code):
    """Code None is no code."""
    shape = law["shape"]
    if shape == "two_level":
        return two_level(source, law, sets, code, card_below(source, two_level_total(law)))
    if shape == "bits":
        result = 0
        for v in range(sets["values"]):
            if source.word() < law["own" if v == code else "other"]:
                result |= 1 << v
        return result
    if shape == "distance":
        w, x = law["weights"], code * law["stride"]
        m = len(w)
        if law["ends"] == "cut":
            left, right = sum(w[: x + 1]), sum(w[1 : m - x])
        else:
            left, right = sum(w), sum(w[1:])
        u = uniform(source, left + right)
        y = x - stretch(w, u) if u < left else x + stretch(w, u - left + w[0])
        return max(0, min(m - 1, y))
    if shape == "leaning":
        u = card_below(source, 2 * law["least"] + (law["cells"] - 1) * law["slope"])
        return 1 if u < law["least"] + code * law["slope"] else 0
    if shape == "mixed":
        coin, window = law["coin"], law["window"]
        c = 2 * coin["least"] + (coin["cells"] - 1) * coin["slope"]
        u = card_below(source, c + two_level_total(window))
        if u < c:
            return window["outcomes"] + (u < coin["least"] + code * coin["slope"])
        return two_level(source, window, sets, code, u - c)
    raise Mismatch(f"unknown shape {shape}")


class Card:
    def __init__(self, text):
        card = json.loads(text)
        same(card["format"], "bruit.card/1", "format of the card")
        self.method = card["method"]
        self.columns = card["columns"]
        self.weights = [number(w) for w in card.get("weights", [])]
        self.public = card.get("public", [])
        self.rounds = "rounds" in card
        self.questions = [
            {
                "values": len(q["values"]),
                "law": card_numbers(q["memo"] if self.rounds else q["law"]),
                "sets": card_numbers(q["sets"]) if "sets" in q else None,
                "fake": q.get("fake"),
                "prior": card_numbers(q["prior"]) if "prior" in q else None,
                "refresh": number(q["refresh"]) if self.rounds else None,
            }
            for q in card["questions"]
        ]

    def draw(self, source, codes):
        """The messages of a report, or with rounds of a memo."""
        qs = self.questions
        answers, clear = codes[: len(qs)], codes[len(qs) :]
        same(len(clear), len(self.public), "number of codes")
        if self.method in ("one", "SPL"):
            result = [message(source, q["law"], q["sets"], x) for q, x in zip(qs, answers, strict=False)]
        elif self.method == "SMP":
            i = weighted(source, self.weights)
            result = [i, message(source, qs[i]["law"], qs[i]["sets"], answers[i])]
        elif self.method in ("RS+FD", "RS+RFD"):
            true, result = uniform(source, len(qs)), []
            for j, (q, code) in enumerate(zip(qs, answers, strict=False)):
                if q["fake"] == "zeros":
                    result.append(message(source, q["law"], q["sets"], code if j == true else None))
                    continue
                v = uniform(source, q["values"]) if q["prior"] is None else weighted(source, q["prior"])
                if q["fake"] == "noise":
                    result.append(message(source, q["law"], q["sets"], code if j == true else v))
                elif q["fake"] == "value":
                    y = message(source, q["law"], q["sets"], code)
                    result.append(y if j == true else v)
                else:
                    raise Mismatch(f"unknown fake {q['fake']}")
        else:
            raise Mismatch(f"unknown method {self.method}")
        return result + clear

    def refresh_one(self, source, q, memo):
        law, sets, chance = q["law"], q["sets"], q["refresh"]
        if law["shape"] == "bits":
            for v in range(sets["values"]):
                if source.word() < chance:
                    memo ^= 1 << v
            return memo
        if source.word() >= chance:
            return memo
        if sets["kind"] == "hash":
            unit = 2**32 if "pool" in sets else 2**128
            return memo % unit + unit * uniform(source, sets["buckets"])
        return message_number(source, sets, uniform(source, law["outcomes"]))

    def refresh(self, source, memo):
        if self.method == "SMP":
            return [memo[0], self.refresh_one(source, self.questions[memo[0]], memo[1]), *memo[2:]]
        n = len(self.questions)
        return [self.refresh_one(source, q, m) for q, m in zip(self.questions, memo, strict=False)] + memo[n:]

    def texts(self, messages):
        result = {}
        for column, value in zip(self.columns, messages, strict=True):
            if column["dtype"] == "bytes":
                result[column["name"]] = value.to_bytes(number(column["bytes"]), "little").hex()
            else:
                result[column["name"]] = str(value)
        return result


def check_reports(vector):
    card = Card(vector["card"])

    def identity():
        same(hashlib.sha256(vector["card"].encode("utf-8")).hexdigest(), vector["digest"], "digest of the card")

    yield identity

    for stated in vector["vectors"]:

        def one(stated=stated):
            source = Words(stated["words"])
            drawn = card.draw(source, [number(c) for c in stated["codes"]])
            same("memo" in stated, card.rounds, "has a memo")
            if card.rounds:
                same(card.texts(drawn), stated["memo"], "memo")
                drawn = card.refresh(source, drawn)
            same(card.texts(drawn), stated["report"], "report")
            source.done()

        yield one


# ---------------------------------------------------------------- bulk


def many_words(stream, n):
    content = stream.take(8 * n)
    return [int.from_bytes(content[i : i + 8], "little") for i in range(0, 8 * n, 8)]


def redraw(stream, words, total):
    late = [i for i, w in enumerate(words) if w >= total]
    while late:
        for i, w in zip(late, many_words(stream, len(late)), strict=True):
            words[i] = w
        late = [i for i in late if words[i] >= total]


def keep_or_other(law, x, u):
    keep = law["inside"] - law["outside"]
    return x if u < keep else (u - keep) // law["outside"]


def bulk_values(stream, law, sets, codes):
    words = many_words(stream, len(codes))
    redraw(stream, words, two_level_total(law))
    return [keep_or_other(law, x, u) for x, u in zip(codes, words, strict=True)]


def bulk_hashes(stream, law, sets, codes):
    n = len(codes)
    words, first, second = (many_words(stream, n) for _ in range(3))
    own = [bucket(x, a, b, sets["buckets"]) for x, a, b in zip(codes, first, second, strict=True)]
    redraw(stream, words, two_level_total(law))
    drawn = [keep_or_other(law, x, u) for x, u in zip(own, words, strict=True)]
    return [a + TOP * b + 2**128 * h for a, b, h in zip(first, second, drawn, strict=True)]


def bulk_bits(stream, law, sets, codes):
    k = sets["values"]
    width = -(-k // 8)
    people = max(1, 65536 // (width + 1))
    result = []
    for start in range(0, len(codes), people):
        result += bits_slice(stream, law, k, width, codes[start : start + people])
    return result


def bits_slice(stream, law, k, width, codes):
    lanes = -(-len(codes) * width // 8)
    words = many_words(stream, 8 * lanes + len(codes))
    values, tied = [], []
    for i in range(lanes):
        ones, open_ = 0, TOP - 1
        for plane in range(8):
            w, digit = words[plane * lanes + i], law["other"] >> (56 + plane) & 1
            ones = w | ones if digit else w & ones
            open_ &= w ^ (TOP - 1 if digit else 0)
        values.append(ones)
        tied.append(open_)
    further = iter(many_words(stream, sum(t.bit_count() for t in tied)))
    rest = (law["other"] << 8) % TOP
    for i, t in enumerate(tied):
        for place in range(64):
            if t >> place & 1 and next(further) < rest:
                values[i] |= 1 << place
    content = b"".join(value.to_bytes(8, "little") for value in values)
    rows = []
    for i, code in enumerate(codes):
        row = int.from_bytes(content[i * width : (i + 1) * width], "little") & ((1 << k) - 1)
        row &= ~(1 << code)
        row |= (words[8 * lanes + i] < law["own"]) << code
        rows.append(row)
    return rows


BULK = {"self": bulk_values, "hash": bulk_hashes, "subset": bulk_bits}


def check_bulk(vector):
    card = Card(vector["card"])
    plan = json.loads(vector["card"])["plan"]
    question = card.questions[0]
    people = number(vector["people"])
    codes = [7 * i % question["values"] for i in range(people)]
    key, reports = seed_key(number(vector["seed"]), "privatize/" + plan), []
    for block, start in enumerate(range(0, people, 65536)):
        stream = Stream(part_key(key, block))
        draw = BULK[question["sets"]["kind"]]
        reports += draw(stream, question["law"], question["sets"], codes[start : start + 65536])
    for i, stated in vector["reports"].items():
        same(card.texts([reports[number(i)]])[card.columns[0]["name"]], stated, f"report of person {i}")


# ---------------------------------------------------------------- files


def single(check):
    def checks(vector):
        yield lambda: check(vector)

    return checks


CHECKS = {
    "keystream": single(check_keystream),
    "digests": single(check_digest),
    "reports": check_reports,
    "noise": check_noise,
    "calibration": single(check_calibration),
    "choices": check_choices,
    "places": check_places,
    "trees": single(check_trees),
    "joint": check_joint,
    "bulk": single(check_bulk),
    "releases": single(check_release),
}


def run(folder, *names):
    failed = 0
    for about, checks in CHECKS.items():
        if names and about not in names:
            continue
        content = json.loads((Path(folder) / f"{about}.json").read_text(encoding="utf-8"))
        same((content["format"], content["about"]), ("bruit.vectors/1", about), "head of the file")
        right = wrong = right_checks = wrong_checks = 0
        for place, vector in enumerate(content["vectors"]):
            bad = 0
            for which, check in enumerate(checks(vector)):
                try:
                    check()
                    right_checks += 1
                except (Mismatch, AssertionError, ArithmeticError, LookupError, ValueError) as error:
                    bad += 1
                    if wrong_checks + bad <= 5:
                        print(f"  {about}[{place}] check {which}: {type(error).__name__} {error}")
            wrong_checks += bad
            right, wrong = right + (not bad), wrong + bool(bad)
        print(
            f"{about}.json: {right} vectors reproduced, {wrong} not "
            f"({right_checks} single checks right, {wrong_checks} wrong)"
        )
        failed += wrong
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1] if len(sys.argv) > 1 else "vectors"))
